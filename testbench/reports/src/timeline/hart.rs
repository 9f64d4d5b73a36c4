//! A hart of the command processor over time.

use crate::command::CommandRetired;
use crate::iss::{Class, Instruction, Isa};

/// Cycles without an instruction that still belong to one stretch: four harts in turns with their
/// branches and replays.
const SHORT_WAIT: u64 = 12;
/// Instructions of a stretch at most, so that what is not written yet stays small.
const MOST_INSTRUCTIONS: u64 = 1_000;
/// Bytes of a line of the instruction cache.
const LINE: u32 = crate::cosim::LINE as u32;

const MRET: u32 = 0x3020_0073;
const ERETURN: u32 = 0x0000_100b;
const WFI: u32 = 0x1050_0073;

/// What a hart waited for, as far as its retired instructions tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HartWait {
    /// An event or an interrupt, after `wfi`.
    Sleep,
    /// A load, or its line.
    Load,
    /// An atomic operation.
    Atomic,
    /// A quotient or remainder.
    Division,
    /// Perhaps the line of its next instruction: it stands in another line than the one before.
    Fetch,
    /// Something else: its stores, the other harts.
    Other,
}

impl HartWait {
    /// A few words for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sleep => "asleep (wfi)",
            Self::Load => "wait: load",
            Self::Atomic => "wait: atomic",
            Self::Division => "wait: division",
            Self::Fetch => "wait: fetch",
            Self::Other => "wait: other",
        }
    }
}

/// Instructions of a hart that retired one soon after the other, in one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HartStretch {
    /// The function, or the address of the first instruction where it is not known.
    pub function: String,
    /// Cycle of the first instruction.
    pub from: u64,
    /// The cycle behind the last.
    pub to: u64,
    /// Instructions, those that raised an exception too.
    pub instructions: u64,
    /// Address of the first.
    pub first_pc: u32,
    /// Address of the last.
    pub last_pc: u32,
    /// Lines of the readable trace.
    pub(super) lines: String,
}

/// What the first instruction of a handler answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled {
    /// A user-level interrupt.
    User,
    /// An interrupt of machine mode.
    Interrupt,
    /// An exception.
    Exception,
}

impl Handled {
    /// A few words for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user-level interrupt",
            Self::Interrupt => "interrupt",
            Self::Exception => "exception",
        }
    }
}

/// A part of a hart's time, in the order in which it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HartPart {
    /// Instructions.
    Stretch(HartStretch),
    /// Cycles `from` to `to - 1` without an instruction.
    Wait(u64, u64, HartWait),
    /// A handler begins in this cycle.
    Enter(u64, Handled),
    /// The handler that began last ends before this cycle.
    Leave(u64),
    /// In this cycle the instruction at this address raised an exception.
    Exception(u64, u32),
}

/// Where functions and labels begin, ascending.
pub type Functions = Vec<(u32, String)>;

/// Follows one hart.
#[derive(Clone, Debug, Default)]
pub(super) struct HartTimeline {
    stretch: Option<HartStretch>,
    last: Option<CommandRetired>,
    last_cycle: u64,
    handlers: usize,
}

impl HartTimeline {
    /// An instruction retired or raised an exception; `line` is its line of the readable trace.
    /// Gives what ended by that.
    pub(super) fn retire(
        &mut self,
        cycle: u64,
        got: &CommandRetired,
        functions: &Functions,
        line: &str,
        parts: &mut Vec<HartPart>,
    ) {
        let function = function(functions, got.pc);
        let begins = got.uli || got.intr;
        let waited =
            self.last.map(|last| (last, cycle - self.last_cycle - 1)).filter(|wait| wait.1 > SHORT_WAIT);
        let ends = |stretch: &HartStretch| {
            stretch.function != function || stretch.instructions == MOST_INSTRUCTIONS || begins
        };
        if waited.is_some() || self.stretch.as_ref().is_some_and(ends) {
            self.end(parts);
        }
        if let Some((last, _)) = waited {
            parts.push(HartPart::Wait(self.last_cycle + 1, cycle, reason(&last, got)));
        }
        if begins {
            let exception = got.intr && self.last.is_some_and(|last| last.trap);
            let what = match (got.uli, exception) {
                (true, _) => Handled::User,
                (false, true) => Handled::Exception,
                (false, false) => Handled::Interrupt,
            };
            self.handlers += 1;
            parts.push(HartPart::Enter(cycle, what));
        }
        let stretch = self.stretch.get_or_insert_with(|| HartStretch {
            function,
            from: cycle,
            to: cycle,
            instructions: 0,
            first_pc: got.pc,
            last_pc: got.pc,
            lines: String::new(),
        });
        stretch.to = cycle + 1;
        stretch.instructions += 1;
        stretch.last_pc = got.pc;
        stretch.lines.push_str(line);
        self.last = Some(*got);
        self.last_cycle = cycle;
        if got.trap {
            parts.push(HartPart::Exception(cycle, got.pc));
        } else if matches!(got.word, MRET | ERETURN) && self.handlers > 0 {
            self.handlers -= 1;
            self.end(parts);
            parts.push(HartPart::Leave(cycle + 1));
        }
    }

    /// Ends the stretch, if there is one.
    pub(super) fn end(&mut self, parts: &mut Vec<HartPart>) {
        parts.extend(self.stretch.take().map(HartPart::Stretch));
    }

    /// Ends everything in this cycle.
    pub(super) fn end_all(&mut self, cycle: u64, parts: &mut Vec<HartPart>) {
        self.end(parts);
        for _ in 0..std::mem::take(&mut self.handlers) {
            parts.push(HartPart::Leave(cycle));
        }
    }
}

/// The function or label at `pc`, or the address.
fn function(functions: &Functions, pc: u32) -> String {
    let behind = functions.partition_point(|(address, _)| *address <= pc);
    match behind.checked_sub(1) {
        Some(index) => functions[index].1.clone(),
        None => format!("{pc:#010x}"),
    }
}

/// Why a hart retired nothing between two instructions. What is replayed retires when it has what
/// it waited for.
fn reason(last: &CommandRetired, got: &CommandRetired) -> HartWait {
    if last.word == WFI {
        return HartWait::Sleep;
    }
    match Instruction::decode(got.word, &Isa::RV32IMA_ZBB).map(|code| code.op.class()) {
        Some(Class::Load) => HartWait::Load,
        Some(Class::Atomic) => HartWait::Atomic,
        // Counts of bits are of this class for the lanes of a core; a hart does not wait for them.
        Some(Class::Div) if got.word >> 25 == 1 => HartWait::Division,
        _ if got.pc / LINE != last.pc / LINE => HartWait::Fetch,
        _ => HartWait::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOP: u32 = 0x0000_0013;
    const LW: u32 = 0x0005_2503;
    const DIVU: u32 = 0x02c5_d533;

    /// Instructions of a hart: cycle, PC, word, and whether a handler begins.
    fn follow(instructions: &[(u64, u32, u32, Option<Handled>)]) -> Vec<HartPart> {
        let functions = vec![(0x100, "main".to_string()), (0x200, "handler".to_string())];
        let (mut hart, mut parts) = (HartTimeline::default(), Vec::new());
        for &(cycle, pc, word, begins) in instructions {
            let got = CommandRetired {
                pc,
                word,
                uli: begins == Some(Handled::User),
                intr: matches!(begins, Some(Handled::Interrupt | Handled::Exception)),
                trap: word == 0,
                ..CommandRetired::default()
            };
            hart.retire(cycle, &got, &functions, "x", &mut parts);
        }
        hart.end_all(1_000, &mut parts);
        parts
    }

    fn stretch(function: &str, from: u64, to: u64, pcs: (u32, u32), instructions: u64) -> HartPart {
        let (first_pc, last_pc) = pcs;
        let lines = "x".repeat(instructions as usize);
        HartPart::Stretch(HartStretch {
            function: function.into(),
            from,
            to,
            instructions,
            first_pc,
            last_pc,
            lines,
        })
    }

    #[test]
    fn handlers_stand_between_stretches() {
        let parts = follow(&[
            (10, 0x100, NOP, None),
            (11, 0x104, NOP, None),
            (16, 0x200, NOP, Some(Handled::User)),
            (17, 0x204, ERETURN, None),
            (22, 0x108, NOP, None),
            (23, 0x10c, MRET, None),
        ]);
        let expected = [
            stretch("main", 10, 12, (0x100, 0x104), 2),
            HartPart::Enter(16, Handled::User),
            stretch("handler", 16, 18, (0x200, 0x204), 2),
            HartPart::Leave(18),
            // An mret without a handler ends nothing.
            stretch("main", 22, 24, (0x108, 0x10c), 2),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn an_exception_and_an_interrupt_in_its_handler() {
        let parts = follow(&[
            (10, 0x100, 0, None),
            (15, 0x200, NOP, Some(Handled::Exception)),
            (20, 0x200, NOP, Some(Handled::Interrupt)),
            (21, 0x204, MRET, None),
        ]);
        let expected = [
            HartPart::Exception(10, 0x100),
            stretch("main", 10, 11, (0x100, 0x100), 1),
            HartPart::Enter(15, Handled::Exception),
            stretch("handler", 15, 16, (0x200, 0x200), 1),
            HartPart::Enter(20, Handled::Interrupt),
            stretch("handler", 20, 22, (0x200, 0x204), 2),
            HartPart::Leave(22),
            HartPart::Leave(1_000),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn waits_have_a_reason() {
        let steps = [
            (10, 0x100, WFI, HartWait::Other),
            (50, 0x104, NOP, HartWait::Sleep),
            (80, 0x108, LW, HartWait::Load),
            (130, 0x10c, DIVU, HartWait::Division),
            (160, 0x140, NOP, HartWait::Fetch),
            (190, 0x144, NOP, HartWait::Other),
        ];
        let parts = follow(&steps.map(|(cycle, pc, word, _)| (cycle, pc, word, None)));
        let waits: Vec<_> = parts.iter().filter(|part| matches!(part, HartPart::Wait(..))).cloned().collect();
        let expected: Vec<_> =
            steps.windows(2).map(|pair| HartPart::Wait(pair[0].0 + 1, pair[1].0, pair[1].3)).collect();
        assert_eq!(waits, expected);
    }

    #[test]
    fn long_stretches_are_cut() {
        let many: Vec<_> = (0..2_500).map(|cycle| (cycle, 0x100, NOP, None)).collect();
        let lengths: Vec<_> = follow(&many)
            .iter()
            .map(|part| match part {
                HartPart::Stretch(stretch) => stretch.instructions,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(lengths, [1_000, 1_000, 500]);
    }
}
