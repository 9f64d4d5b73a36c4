//! How much stack a kernel needs, from its instructions: so it holds for C, assembly and the
//! compiler's library alike.
//!
//! All paths from the entry are followed with what is known of the registers: constants, and
//! addresses that are so many bytes above or below the stack pointer at the function's entry. A
//! call adds the need of what it calls. Nothing is run.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use super::elf::Kernel;
use super::symbols::Symbol;
use crate::isa::{Class, Instruction, Isa, Op};

/// Registers by their use in the calling convention.
const RA: u8 = 1;
const SP: u8 = 2;
/// Registers that a function gives back as it found them: `s0` to `s11`.
const SAVED: [u8; 12] = [8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];

/// Instructions that are looked at; more take too long.
const MOST_VISITS: usize = 1_000_000;
/// Paths that wait to be followed.
const MOST_PATHS: usize = 100_000;
/// Entries of a jump table.
const MOST_ENTRIES: u32 = 4096;
/// Calls within calls that are followed.
const MOST_NESTED: usize = 200;

/// Stack bytes that a thread of a kernel needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StackNeed {
    /// So many.
    Bytes(u32),
    /// It cannot be told, for this reason.
    NotKnown(String),
}

impl StackNeed {
    /// The need of `kernel`, whose threads start at its entry.
    #[must_use]
    pub fn of(kernel: &Kernel) -> Self {
        let words = kernel.segments.iter().flat_map(|segment| segment.bytes.chunks_exact(4));
        let words = words.map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        let addresses = words.filter(|word| word % 4 == 0 && kernel.holds(*word, 4)).collect();
        let mut analysis = Analysis { kernel, addresses, needs: HashMap::new(), nested: 0, visits: 0 };
        match analysis.need(kernel.entry, RA) {
            Ok(bytes) => Self::Bytes(bytes),
            Err(reason) => Self::NotKnown(reason),
        }
    }
}

impl StackNeed {
    /// The smallest stack that is enough, a power of two of bytes, if that is known.
    #[must_use]
    pub fn stack_bytes(&self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(u64::from(*bytes).next_power_of_two()),
            Self::NotKnown(_) => None,
        }
    }
}

impl fmt::Display for StackNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes} bytes"),
            Self::NotKnown(reason) => write!(f, "not known: {reason}"),
        }
    }
}

/// What is known of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Unknown,
    Constant(u32),
    /// The stack pointer at the function's entry, and so many bytes.
    Stack(i32),
    /// A constant and something that is not known: an address in a table, or what a table of
    /// distances leads to.
    Relative(u32),
}

impl Value {
    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant(a), Self::Constant(b)) => Self::Constant(a.wrapping_add(b)),
            (Self::Stack(a), Self::Constant(b)) | (Self::Constant(b), Self::Stack(a)) => {
                Self::Stack(a.wrapping_add(b as i32))
            }
            (Self::Relative(a), Self::Constant(b)) | (Self::Constant(b), Self::Relative(a)) => {
                Self::Relative(a.wrapping_add(b))
            }
            _ => Self::Unknown,
        }
    }

    fn negated(self) -> Self {
        match self {
            Self::Constant(a) => Self::Constant(a.wrapping_neg()),
            _ => Self::Unknown,
        }
    }
}

/// What is known of all registers.
type Registers = [Value; 32];

/// What both paths to an instruction know.
fn meet(a: &Registers, b: &Registers) -> Registers {
    std::array::from_fn(|number| if a[number] == b[number] { a[number] } else { Value::Unknown })
}

struct Analysis<'a> {
    kernel: &'a Kernel,
    /// Words of the kernel that are addresses of it: among them the entries of jump tables.
    /// Instructions are none, since their lowest bits are set.
    addresses: BTreeSet<u32>,
    /// Needs of the functions by address and register of the return address; `None` while one is
    /// looked at.
    needs: HashMap<(u32, u8), Option<u32>>,
    nested: usize,
    visits: usize,
}

impl Analysis<'_> {
    /// The need of the function at `entry`, which returns to the address in the register `link`.
    fn need(&mut self, entry: u32, link: u8) -> Result<u32, String> {
        match self.needs.get(&(entry, link)) {
            Some(Some(need)) => return Ok(*need),
            Some(None) => return Err(format!("{} calls itself", self.name(entry))),
            None => {}
        }
        if self.nested == MOST_NESTED {
            return Err(format!("more than {MOST_NESTED} calls within each other"));
        }
        self.needs.insert((entry, link), None);
        self.nested += 1;
        let need = self.follow(entry, link)?;
        self.nested -= 1;
        self.needs.insert((entry, link), Some(need));
        Ok(need)
    }

    /// Follows all paths of a function.
    fn follow(&mut self, entry: u32, link: u8) -> Result<u32, String> {
        let mut registers = [Value::Unknown; 32];
        registers[0] = Value::Constant(0);
        registers[usize::from(SP)] = Value::Stack(0);
        let (mut need, mut seen, mut paths) = (0, HashMap::new(), vec![(entry, registers)]);
        while let Some((pc, mut registers)) = paths.pop() {
            if let Some(known) = seen.get(&pc) {
                registers = meet(known, &registers);
                if registers == *known {
                    continue;
                }
            }
            self.visits += 1;
            if self.visits > MOST_VISITS || paths.len() > MOST_PATHS {
                return Err(format!("more than {MOST_VISITS} instructions"));
            }
            seen.insert(pc, registers);
            let place = || format!("{} at {pc:#010x}", self.name(pc));
            let word = self.kernel.word(pc).ok_or_else(|| format!("{} leaves the kernel", place()))?;
            // An illegal instruction ends the thread.
            let Some(instruction) = Instruction::decode(word, &Isa::EVERYTHING) else { continue };
            let Value::Stack(depth) = registers[usize::from(SP)] else {
                return Err(format!("{} sets the stack pointer to what only a run can tell", place()));
            };
            let depth = u32::try_from(-i64::from(depth))
                .map_err(|_| format!("{} moves the stack pointer above the stack", place()))?;
            need = need.max(depth);
            let Instruction { op, rd, rs1, immediate, .. } = instruction;
            let (next, offset) = (pc.wrapping_add(4), immediate as u32);
            let jump = match op {
                Op::Jal => Some(pc.wrapping_add(offset)),
                Op::Jalr => match registers[usize::from(rs1)].plus(Value::Constant(offset)) {
                    Value::Constant(target) => Some(target & !1),
                    _ => None,
                },
                _ => None,
            };
            match (op.class(), jump) {
                (Class::System, _) => {}
                (Class::Branch, _) => {
                    paths.push((pc.wrapping_add(offset), registers));
                    paths.push((next, registers));
                }
                (Class::Jump | Class::Jalr, Some(target)) if rd == 0 => paths.push((target, registers)),
                (Class::Jump | Class::Jalr, Some(target)) => {
                    need = need.max(depth.saturating_add(self.need(target, rd)?));
                    let kept =
                        |number: usize| SAVED.contains(&(number as u8)) || [0, SP.into()].contains(&number);
                    let after = |number| if kept(number) { registers[number] } else { Value::Unknown };
                    paths.push((next, std::array::from_fn(after)));
                }
                (Class::Jalr, None) if rd != 0 => {
                    return Err(format!("{} calls what only a run can tell", place()))
                }
                (Class::Jalr, None) if rs1 == link || rs1 == RA => {
                    if rs1 == link && depth != 0 {
                        return Err(format!("{} returns with {depth} bytes on its stack", place()));
                    }
                }
                (Class::Jalr, None) => {
                    let targets = self.jump_table(pc, registers[usize::from(rs1)]);
                    if targets.is_empty() {
                        return Err(format!("{} jumps to what only a run can tell", place()));
                    }
                    paths.extend(targets.into_iter().map(|target| (target, registers)));
                }
                _ => {
                    let result = result(&instruction, pc, &registers);
                    if rd != 0 {
                        registers[usize::from(rd)] = result;
                    }
                    paths.push((next, registers));
                }
            }
        }
        Ok(need)
    }

    /// Where a jump through a register at `pc` may lead to, as compilers make them of `switch`.
    /// Either the register is the address of a table and an entry of it, which is a distance from
    /// the table; or it is an entry, an address. In the latter case these are all addresses that
    /// stand in the kernel and are inside the same function.
    fn jump_table(&self, pc: u32, register: Value) -> Vec<u32> {
        if let Value::Relative(table) = register {
            let entry =
                |number: u32| Some(table.wrapping_add(self.kernel.word(table.checked_add(4 * number)?)?));
            let is_code = |address: &u32| address % 4 == 0 && self.function(*address).is_some();
            return (0..MOST_ENTRIES).map_while(|number| entry(number).filter(is_code)).collect();
        }
        let Some(function) = self.function(pc) else { return Vec::new() };
        // Not the function's own first address: that is a pointer to it.
        let inside = function.address.saturating_add(1)..function.address.saturating_add(function.size);
        self.addresses.range(inside).copied().collect()
    }

    /// The function that holds `address`, if the symbols tell.
    fn function(&self, address: u32) -> Option<&Symbol> {
        let holds = |symbol: &&Symbol| {
            symbol.is_function && symbol.address <= address && address - symbol.address < symbol.size
        };
        self.kernel.symbols.iter().find(holds)
    }

    /// The function that holds `address`, for people.
    fn name(&self, address: u32) -> String {
        let before = self.kernel.symbols.iter().filter(|symbol| symbol.address <= address);
        let named = before.filter(|symbol| !symbol.is_absolute && !symbol.name.starts_with('.'));
        named
            .max_by_key(|symbol| (symbol.address, symbol.is_function))
            .map_or_else(|| format!("the function at {address:#010x}"), |symbol| format!("`{}`", symbol.name))
    }
}

/// What an instruction that neither jumps nor stores writes.
fn result(instruction: &Instruction, pc: u32, registers: &Registers) -> Value {
    let Instruction { op, rs1, rs2, immediate, .. } = *instruction;
    let (a, b) = (registers[usize::from(rs1)], registers[usize::from(rs2)]);
    match op {
        Op::Lui => Value::Constant(immediate as u32),
        Op::Auipc => Value::Constant(pc.wrapping_add(immediate as u32)),
        Op::Addi => a.plus(Value::Constant(immediate as u32)),
        Op::Add => match (a, b) {
            (Value::Constant(table), Value::Unknown) | (Value::Unknown, Value::Constant(table)) => {
                Value::Relative(table)
            }
            _ => a.plus(b),
        },
        Op::Sub => a.plus(b.negated()),
        _ => Value::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{build_source, RegisterClass};

    /// The need of a kernel with this text.
    fn need(name: &str, text: &str) -> StackNeed {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("k.elf");
        build_source(name, text, RegisterClass::Rv32i, &output).unwrap();
        StackNeed::of(&Kernel::read(&output).unwrap())
    }

    fn assembly(text: &str) -> StackNeed {
        need("k.S", &format!(".text\n.globl kernel\nkernel:\n{text}\n"))
    }

    fn reason(need: StackNeed) -> String {
        match need {
            StackNeed::NotKnown(reason) => reason,
            StackNeed::Bytes(bytes) => panic!("{bytes} bytes"),
        }
    }

    #[test]
    fn assembly_with_calls_branches_and_loops() {
        assert_eq!(assembly("ret"), StackNeed::Bytes(0));
        let calls = "addi sp, sp, -16\nsw ra, 12(sp)\n1: jal f\nbnez a0, 1b\nlw ra, 12(sp)\naddi sp, sp, 16\nret\n\
                     f: beqz a0, 2f\nli t0, -4096\nadd sp, sp, t0\ncall g\nli t0, 4096\nadd sp, sp, t0\n2: ret\n\
                     g: addi sp, sp, -32\naddi sp, sp, 32\nret";
        assert_eq!(assembly(calls), StackNeed::Bytes(16 + 4096 + 32));
        // Another register for the return address, a frame pointer, and code behind the end of a
        // thread.
        let frame = "jal t2, f\nret\nf: addi sp, sp, -48\naddi s0, sp, 48\naddi sp, s0, 0\njr t2\n addi sp, sp, -2000";
        assert_eq!(assembly(frame), StackNeed::Bytes(48));
    }

    #[test]
    fn what_cannot_be_told() {
        for (text, expected) in [
            ("addi sp, sp, -16\ncall kernel\naddi sp, sp, 16\nret", "`kernel` calls itself"),
            ("lw t0, 0(a2)\njalr t0\nret", "`kernel` at 0x00001004 calls what only a run can tell"),
            ("lw t0, 0(a2)\njr t0", "jumps to what only a run can tell"),
            ("sub sp, sp, a0\nmv sp, s0\nret", "sets the stack pointer to what only a run can tell"),
            ("addi sp, sp, 16\nret", "moves the stack pointer above the stack"),
            (
                "addi sp, sp, -16\nbeqz a0, 1f\naddi sp, sp, -16\n1: addi sp, sp, 32\nret",
                "sets the stack pointer",
            ),
            ("call f\nret\nf: addi sp, sp, -16\nret", "`f` at 0x00001010 returns with 16 bytes"),
            // Which of two functions is called
            (
                "la t0, f\nbeqz a0, 1f\nla t0, g\n1: jalr t0\nret\nf: ret\ng: ret",
                "calls what only a run can tell",
            ),
        ] {
            let reason = reason(assembly(text));
            assert!(reason.contains(expected), "{text}: {reason}");
        }
    }

    /// C with a large frame, a jump table, a division of 64 bits, functions of the library.
    #[test]
    fn kernels_in_c() {
        let text = "#include <hermes.h>\n#include <string.h>\n\
            uint32_t g(uint32_t n, uint32_t *b) { uint32_t c[8]; memcpy(c, b + n, 32); return c[n & 7]; }\n\
            uint32_t kernel(uint32_t n, struct packet_slot *s, void *a) {\n\
            uint32_t b[600]; memset(b, (int)n, sizeof b);\n\
            switch (b[n]) { case 0: return g(n, b); case 1: return n / 3; case 2: return *(uint64_t *)a / n;\n\
            case 3: return n << 3; case 4: return g(5, b) + g(n, b); case 5: return b[7]; case 6: return 77; }\n\
            return 0; }";
        let StackNeed::Bytes(bytes) = need("k.c", text) else { panic!("{}", need("k.c", text)) };
        assert!((2400..2600).contains(&bytes), "{bytes}");
        let text = "#include <hermes.h>\nuint32_t kernel(uint32_t n, struct packet_slot *s, void *a) {\n\
                    volatile char b[n]; b[n - 1] = 1; return b[0]; }";
        assert!(reason(need("k.c", text)).contains("sets the stack pointer"));
    }
}
