//! Whether a program uses the global pointer `gp` (x3) and never sets it: a linker that relaxes
//! against `__global_pointer$` lets loads and stores use it, and a start-up code has to set it.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use crate::isa::{Class, Instruction, Isa, Op};

const GP: u8 = 3;
/// Instructions that are looked at; more take too long, and nothing is found then.
const MOST_VISITS: usize = 2_000_000;

/// The first instruction found that uses `gp` as an address on a path from `entry` on which nothing
/// has set it. `word` gives the program's words. Calls through registers are not followed; so if
/// nothing that can be seen sets `gp`, all `functions` are looked at as well.
pub(super) fn used_unset(
    entry: u32,
    functions: impl IntoIterator<Item = u32>,
    word: impl Fn(u32) -> Option<u32>,
) -> Option<u32> {
    let program = Program { word, left: Cell::new(MOST_VISITS) };
    let others = || program.use_behind(functions.into_iter().collect());
    program.use_behind(vec![entry]).or_else(|| if program.sets(entry) { None } else { others() })
}

/// Whether the instruction computes an address from `gp`, as a linker lets it.
fn uses(instruction: &Instruction) -> bool {
    let by_address =
        matches!(instruction.op.class(), Class::Load | Class::Store) || instruction.op == Op::Addi;
    by_address && instruction.rs1 == GP
}

/// The instructions of a program.
struct Program<F> {
    word: F,
    /// How many more are looked at.
    left: Cell<usize>,
}

impl<F: Fn(u32) -> Option<u32>> Program<F> {
    /// The first use of `gp` on a path from one of these addresses on which it is not set.
    fn use_behind(&self, mut paths: Vec<u32>) -> Option<u32> {
        let (mut seen, mut sets) = (HashSet::new(), HashMap::new());
        while let Some(pc) = paths.pop() {
            if !seen.insert(pc) {
                continue;
            }
            let Some(instruction) = self.instruction(pc) else { continue };
            if uses(&instruction) {
                return Some(pc);
            }
            if instruction.rd == GP {
                continue;
            }
            let (targets, falls_through) = self.targets(pc, &instruction);
            // Behind a call of a function that sets it, it is set.
            let call = instruction.rd != 0 && matches!(instruction.op.class(), Class::Jump | Class::Jalr);
            let set = call
                && targets.iter().any(|target| *sets.entry(*target).or_insert_with(|| self.sets(*target)));
            paths.extend(targets);
            if falls_through && !set {
                paths.push(pc.wrapping_add(4));
            }
        }
        None
    }

    fn instruction(&self, pc: u32) -> Option<Instruction> {
        self.left.set(self.left.get().checked_sub(1)?);
        Instruction::decode((self.word)(pc)?, &Isa::EVERYTHING)
    }

    /// Where the instruction at `pc` jumps to, as far as it tells, and whether the next one follows
    /// it.
    fn targets(&self, pc: u32, instruction: &Instruction) -> (Vec<u32>, bool) {
        let Instruction { op, rd, rs1, immediate, .. } = *instruction;
        let there = pc.wrapping_add(immediate as u32);
        match op.class() {
            Class::Branch => (vec![there], true),
            Class::Jump => (vec![there], rd != 0),
            // Behind `auipc` of the same register: a far call.
            Class::Jalr => {
                let before = self.instruction(pc.wrapping_sub(4));
                let base = before.filter(|before| before.op == Op::Auipc && before.rd == rs1);
                let base = base.map(|before| pc.wrapping_sub(4).wrapping_add(before.immediate as u32));
                let target = base.map(|base| base.wrapping_add(immediate as u32) & !1);
                (target.into_iter().collect(), rd != 0)
            }
            Class::System => (vec![], false),
            _ => (vec![], true),
        }
    }

    /// Whether some instruction that can be reached from `entry` sets `gp`.
    fn sets(&self, entry: u32) -> bool {
        let (mut seen, mut paths) = (HashSet::new(), vec![entry]);
        while let Some(pc) = paths.pop() {
            if !seen.insert(pc) {
                continue;
            }
            let Some(instruction) = self.instruction(pc) else { continue };
            if instruction.rd == GP {
                return true;
            }
            let (targets, falls_through) = self.targets(pc, &instruction);
            paths.extend(targets);
            paths.extend(falls_through.then(|| pc.wrapping_add(4)));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::build_words;

    /// The index of the word at which `gp` is used unset.
    fn found(text: &str) -> Option<u32> {
        let (words, labels) = build_words(text, 0x1000);
        let word = |at: u32| words.get(at.checked_sub(0x1000)? as usize / 4).copied();
        let functions = labels.into_iter().filter(|(name, _)| name.starts_with("f"));
        used_unset(0x1000, functions.map(|(_, address)| address), word).map(|pc| (pc - 0x1000) / 4)
    }

    #[test]
    fn uses_without_a_value() {
        assert_eq!(found("lw a0, -2028(gp)\nret"), Some(0));
        assert_eq!(found("beqz a0, 1f\nli gp, 5\n1: sw a0, 4(gp)\nret"), Some(2));
        assert_eq!(found("mv s0, ra\ncall f\nmv ra, s0\nret\nf: addi a0, gp, 8\nret"), Some(5));
        assert_eq!(found("jr a2\nf: lw a0, 4(gp)\nret"), Some(1), "through a pointer");
        assert_eq!(found("j 1f\nlw a0, 0(gp)\n1: ret"), None, "no path leads there");
    }

    #[test]
    fn uses_with_a_value() {
        assert_eq!(found("la gp, 0x2000\nlw a0, 8(gp)\nret"), None);
        assert_eq!(found("lw gp, 4(a1)\nsrli t0, gp, 16\nlw a0, 8(gp)\nret"), None);
        let call = "mv s0, ra\ncall f\nlw a0, 4(gp)\nmv ra, s0\nret\nf: li gp, 8\nret";
        assert_eq!(found(call), None, "the function sets it");
        assert_eq!(found("li gp, 5\njr a2\nf: lw a0, 4(gp)\nret"), None, "set before the call");
        assert_eq!(found("sw gp, 0(sp)\nlw gp, 0(sp)\nret"), None, "saved, not used");
    }
}
