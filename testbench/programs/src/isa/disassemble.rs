//! Instructions as text, as GNU objdump prints them with `-M no-aliases`.

use std::fmt;

use super::instruction::{Instruction, Isa};
use super::op::Format;

/// Names of the registers in the ABI.
const REGISTERS: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6",
    "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];

/// Name of a register in the ABI.
pub fn register_name(register: u8) -> &'static str {
    REGISTERS[usize::from(register & 31)]
}

/// Name of a CSR, or its number.
pub fn csr_name(number: u32) -> String {
    let name = match number {
        0xc00 => "cycle",
        0xc02 => "instret",
        0xc80 => "cycleh",
        0xc82 => "instreth",
        _ => return format!("{number:#x}"),
    };
    name.to_string()
}

/// The sets of a fence, such as `rw`.
fn fence_set(set: i32) -> String {
    let letters: String = [(8, 'i'), (4, 'o'), (2, 'r'), (1, 'w')]
        .iter()
        .filter(|(bit, _)| set & bit != 0)
        .map(|x| x.1)
        .collect();
    if letters.is_empty() {
        "unknown".to_string()
    } else {
        letters
    }
}

/// The bits `aq` and `rl` in the name of an atomic operation.
fn order(bits: i32) -> &'static str {
    ["", ".rl", ".aq", ".aqrl"][(bits & 3) as usize]
}

/// An instruction at its address: targets of jumps are printed as addresses.
#[derive(Clone, Copy, Debug)]
pub struct Disassembly {
    /// Address of the instruction.
    pub pc: u32,
    /// The instruction.
    pub instruction: Instruction,
}

impl fmt::Display for Disassembly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Instruction { op, rd, rs1, rs2, immediate } = self.instruction;
        let (rd, rs1, rs2) = (register_name(rd), register_name(rs1), register_name(rs2));
        let target = self.pc.wrapping_add(immediate as u32);
        let name = op.name();
        match op.encoding().format {
            Format::Register => write!(f, "{name} {rd},{rs1},{rs2}"),
            Format::Unary => write!(f, "{name} {rd},{rs1}"),
            Format::Immediate => write!(f, "{name} {rd},{rs1},{immediate}"),
            Format::Shift => write!(f, "{name} {rd},{rs1},{immediate:#x}"),
            Format::Indirect => write!(f, "{name} {rd},{immediate}({rs1})"),
            Format::Store => write!(f, "{name} {rs2},{immediate}({rs1})"),
            Format::Branch => write!(f, "{name} {rs1},{rs2},{target:x}"),
            Format::Upper => write!(f, "{name} {rd},{:#x}", immediate as u32 >> 12),
            Format::Jump => write!(f, "{name} {rd},{target:x}"),
            Format::Csr => write!(f, "{name} {rd},{},zero", csr_name(immediate as u32)),
            Format::CsrImmediate => write!(f, "{name} {rd},{},0", csr_name(immediate as u32)),
            Format::Byte => write!(f, "{name} {rd},{rs1},{rs2},{immediate:#x}"),
            Format::Atomic => write!(f, "{name}{} {rd},{rs2},({rs1})", order(immediate)),
            Format::Reserve => write!(f, "{name}{} {rd},({rs1})", order(immediate)),
            Format::Fence if immediate == 0x833 => f.write_str("fence.tso"),
            Format::Fence => {
                write!(f, "{name} {},{}", fence_set(immediate >> 4 & 15), fence_set(immediate & 15))
            }
            Format::None => f.write_str(name),
        }
    }
}

/// The text of `word` at `pc`; a word that is illegal under `isa` is printed as such.
pub fn disassemble(pc: u32, word: u32, isa: &Isa) -> String {
    match Instruction::decode(word, isa) {
        Some(instruction) => Disassembly { pc, instruction }.to_string(),
        None => format!(".word {word:#010x}"),
    }
}
