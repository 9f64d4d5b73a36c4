//! Where the cycles of a hart go, from the retire trace.

use std::fmt;

use super::checker::CommandRetired;
use crate::iss::{Class, Instruction, Isa, Op};

/// Why an instruction of a hart retires later than a cycle after the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lost {
    /// It uses a value of the instruction before it that comes a cycle later: a load.
    LoadUse,
    /// The same, a product.
    ProductUse,
    /// It is the target of `jal` or of a branch backward, which was predicted.
    Jump,
    /// The branch before it went the other way.
    Mispredicted,
    /// It is the target of `jalr` or `mret`.
    Indirect,
    /// A load whose data is not there yet: the data cache does not have it, or it is a device.
    Load,
    /// A store, which waits for a number, or for its device.
    Store,
    /// An atomic operation, a division, or a `fence` that waits for stores.
    Long,
    /// A trap, or a write of a CSR, was before it.
    System,
    /// It was not fetched yet: the instruction cache did not have it, or it was another hart's
    /// turn.
    Fetch,
}

impl Lost {
    /// All causes, in the order of the table.
    pub const ALL: [Self; 10] = [
        Self::LoadUse,
        Self::ProductUse,
        Self::Jump,
        Self::Mispredicted,
        Self::Indirect,
        Self::Load,
        Self::Store,
        Self::Long,
        Self::System,
        Self::Fetch,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::LoadUse => "use of a load",
            Self::ProductUse => "use of a product",
            Self::Jump => "jumps, branches as predicted",
            Self::Mispredicted => "branches, mispredicted",
            Self::Indirect => "jalr, mret",
            Self::Load => "loads that wait",
            Self::Store => "stores that wait",
            Self::Long => "atomics, divisions, fences",
            Self::System => "traps, writes of CSRs",
            Self::Fetch => "fetch: instruction cache, turns",
        }
    }
}

/// Cycles by which the next instruction is later, if nothing else is: the table of
/// docs/command-processor.md.
const USE: u64 = 1;
const JUMP: u64 = 2;
const REDIRECTED: u64 = 4;
const REFETCHED: u64 = 5;
/// Opcode of CSRs and traps.
const SYSTEM: u32 = 0x73;
/// `csrr` of `mcycle` without its destination, which is in the bits of the mask that are 0.
const READ_MCYCLE: u32 = 0xb000_2073;
const ALL_BUT_RD: u32 = 0xffff_f07f;

/// Counts the cycles of one hart between its instructions by their cause. If the program reads
/// `mcycle` at least twice, as one that measures itself does, only what lies between its first and
/// its last read is counted.
///
/// The trace tells when an instruction retires, not when it was fetched: a load, store or long
/// operation that the instruction cache did not have counts as one that waits.
#[derive(Clone, Debug, Default)]
pub struct CycleProfile {
    before: Option<(u64, CommandRetired)>,
    counts: Counts,
    /// What was counted at the last read of `mcycle`; `None` before the first.
    marked: Option<Counts>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    cycles: u64,
    instructions: u64,
    lost: [u64; Lost::ALL.len()],
}

/// The instruction in a word, if it is none of machine mode.
fn decode(word: u32) -> Option<Instruction> {
    Instruction::decode(word, &Isa::RV32IMA_ZBB)
}

/// What the instruction after `before` loses by it.
fn behind(before: &CommandRetired, next: Option<&Instruction>) -> Option<(Lost, u64)> {
    let writes_csr = before.word & 0x7f == SYSTEM && before.word & 0x000f_8000 != 0;
    if before.trap || writes_csr {
        return Some((Lost::System, REFETCHED));
    }
    // `mret`, ERETURN.
    let Some(first) = decode(before.word) else { return Some((Lost::Indirect, REDIRECTED)) };
    let goes_on = before.next_pc == before.pc.wrapping_add(4);
    let uses =
        first.writes().is_some_and(|rd| next.is_some_and(|next| next.reads().any(|source| source == rd)));
    match first.op.class() {
        Class::Branch if goes_on == (first.immediate < 0) => Some((Lost::Mispredicted, REDIRECTED)),
        Class::Branch if goes_on => None,
        Class::Branch | Class::Jump => Some((Lost::Jump, JUMP)),
        Class::Jalr => Some((Lost::Indirect, REDIRECTED)),
        Class::Load if uses => Some((Lost::LoadUse, USE)),
        Class::Mul if uses => Some((Lost::ProductUse, USE)),
        _ => None,
    }
}

/// What an instruction waits for, beyond what it loses by the one before it.
fn waits(instruction: Option<&Instruction>) -> Lost {
    let Some(instruction) = instruction else { return Lost::Fetch };
    match instruction.op.class() {
        Class::Load => Lost::Load,
        Class::Store => Lost::Store,
        Class::Atomic | Class::Fence => Lost::Long,
        _ if matches!(instruction.op, Op::Div | Op::Divu | Op::Rem | Op::Remu) => Lost::Long,
        _ => Lost::Fetch,
    }
}

impl CycleProfile {
    /// An instruction of the hart retires in `cycle`.
    pub fn retire(&mut self, cycle: u64, retired: &CommandRetired) {
        if let Some((last, before)) = self.before.replace((cycle, *retired)) {
            let mut late = cycle - last - 1;
            self.counts.cycles += cycle - last;
            self.counts.instructions += 1;
            let next = decode(retired.word);
            if let Some((cause, cycles)) = behind(&before, next.as_ref()) {
                let cycles = cycles.min(late);
                self.counts.lost[cause as usize] += cycles;
                late -= cycles;
            }
            let cause = if retired.intr || retired.uli { Lost::System } else { waits(next.as_ref()) };
            self.counts.lost[cause as usize] += late;
        }
        if retired.word & ALL_BUT_RD == READ_MCYCLE {
            if self.marked.is_none() {
                self.counts = Counts::default();
            }
            self.marked = Some(self.counts);
        }
    }

    /// What is told: up to the last read of `mcycle`, if there are two.
    fn counted(&self) -> Counts {
        self.marked.filter(|marked| marked.instructions > 0).unwrap_or(self.counts)
    }

    /// Cycles from the first instruction to the last.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.counted().cycles
    }

    /// Instructions without the first.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.counted().instructions
    }

    /// Cycles in which no instruction of the hart retired, for this reason. With a cycle for each
    /// instruction their sum is [`Self::cycles`].
    #[must_use]
    pub fn lost(&self, cause: Lost) -> u64 {
        self.counted().lost[cause as usize]
    }
}

/// The table of causes: cycles, and cycles an instruction.
impl fmt::Display for CycleProfile {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let instructions = self.instructions().max(1);
        let mut line = |name: &str, cycles: u64| {
            writeln!(f, "  {name:<32} {cycles:>12} {:>7.3}", cycles as f64 / instructions as f64)
        };
        line("instructions", self.instructions())?;
        for cause in Lost::ALL {
            line(cause.name(), self.lost(cause))?;
        }
        line("cycles", self.cycles())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Retires words one after the other, each so many cycles after the one before it.
    fn profile(words: &[(u32, u32, u64)]) -> CycleProfile {
        let (mut profile, mut cycle) = (CycleProfile::default(), 0);
        for (index, &(word, pc, later)) in words.iter().enumerate() {
            cycle += later;
            let next_pc = words.get(index + 1).map_or(0, |next| next.1);
            profile.retire(cycle, &CommandRetired { word, pc, next_pc, ..CommandRetired::default() });
        }
        profile
    }

    #[test]
    fn each_cycle_has_its_cause() {
        let (load, product, add) = (0x0005_2583, 0x02a5_05b3, 0x0015_8593); // lw a1, 0(a0); mul a1, a0, a0; addi a1, a1, 1
        let (store, quotient) = (0x00b5_2023, 0x02a5_45b3); // sw a1, 0(a0); div a1, a0, a0
        let (forward, backward, jump, ret) = (0x00b5_0463, 0xfeb5_0ce3, 0x0080_006f, 0x0000_8067);
        let counted = profile(&[
            (load, 0, 1),
            (add, 4, 2),          // use of the load
            (product, 8, 27),     // fetch 26
            (add, 12, 2),         // use of the product
            (forward, 16, 1),     // not taken
            (load, 20, 12),       // the load waits 11
            (forward, 24, 1),     // taken
            (store, 32, 13),      // mispredicted 4, the store waits 8
            (backward, 36, 1),    // taken
            (jump, 28, 3),        // as predicted 2
            (ret, 36, 3),         // jump 2
            (backward, 40, 5),    // jalr 4
            (quotient, 44, 47),   // mispredicted 4, the division 42
            (0x3045_9073, 48, 1), // csrw mie, a1
            (add, 52, 6),         // refetched 5
        ]);
        let expected = [1, 1, 4, 8, 4, 11, 8, 42, 5, 26];
        assert_eq!(Lost::ALL.map(|cause| counted.lost(cause)), expected);
        assert_eq!((counted.instructions(), counted.cycles()), (14, 14 + expected.iter().sum::<u64>()));
        let line = format!("  {:<32} {:>12}   0.571\n", "branches, mispredicted", 8);
        assert!(counted.to_string().contains(&line), "{counted}");
    }

    #[test]
    fn only_what_lies_between_reads_of_mcycle() {
        let (add, read) = (0x0015_8593, 0xb000_2573);
        let counted =
            profile(&[(add, 0, 1), (add, 4, 100), (read, 8, 1), (add, 12, 7), (read, 16, 1), (add, 20, 50)]);
        assert_eq!((counted.instructions(), counted.cycles(), counted.lost(Lost::Fetch)), (2, 8, 6));
        let once = profile(&[(add, 0, 1), (read, 4, 1), (add, 8, 1), (add, 12, 1)]);
        assert_eq!((once.instructions(), once.cycles()), (2, 2), "from the only read on");
    }
}
