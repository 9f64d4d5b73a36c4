//! A warp on a core, as the checker follows it.

use std::collections::{BTreeMap, VecDeque};

use super::mismatch::{Mismatch, Past};
use crate::iss::{lanes, register_name, Class, Expected, Instruction, Isa, Op, Retired, Warp, WarpStart};

/// Warp-instructions that a report shows.
const HISTORY: usize = 20;
/// Registers that the boot sequence sets or that hold a constant: x0, ra, sp, a0, a1, a2. The
/// others hold what the warp before left there.
const BOOT_REGISTERS: u32 = 1 | 1 << 1 | 1 << 2 | 1 << 10 | 1 << 11 | 1 << 12;

/// A value on its way to a register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outstanding {
    /// The value; `None` if it depends on a register that nobody wrote.
    pub value: Option<u32>,
    pub pc: u32,
    pub instruction: u32,
    /// Of `sc.w`, whose value tells whether it stored.
    pub conditional: Option<ConditionalStore>,
}

/// What the reference did at an `sc.w`, before the array told whether it stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConditionalStore {
    /// The address.
    pub address: u32,
    /// The word that was there.
    pub before: u32,
    /// The thread had a reservation, and the reference stored.
    pub stored: bool,
}

/// The reference warp, and what its core still owes it.
pub(super) struct Running {
    pub warp: Warp,
    /// Late writes that must come, by lane and register.
    pub outstanding: BTreeMap<(usize, u8), Outstanding>,
    /// Registers of every lane whose value is known.
    known: Vec<u32>,
    history: VecDeque<Past>,
}

/// A difference: lane, what it is in, what was expected, what was got.
pub(super) struct Difference {
    pub lane: Option<usize>,
    pub what: String,
    pub expected: String,
    pub got: String,
}

impl Difference {
    pub fn new(lane: Option<usize>, what: &str, expected: impl ToString, got: impl ToString) -> Self {
        Self { lane, what: what.to_string(), expected: expected.to_string(), got: got.to_string() }
    }

    /// As [`Difference::new`] of two words, in hexadecimal.
    pub fn words(lane: Option<usize>, what: &str, expected: u32, got: u32) -> Self {
        Self::new(lane, what, hex(expected), hex(got))
    }
}

pub(super) fn hex(value: u32) -> String {
    format!("{value:#010x}")
}

impl Running {
    pub fn new(start: WarpStart) -> Self {
        let warp = Warp::new(start);
        let known = vec![BOOT_REGISTERS; warp.threads.len()];
        Self { warp, outstanding: BTreeMap::new(), known, history: VecDeque::new() }
    }

    /// Notes a warp-instruction that retired.
    pub fn remember(&mut self, cycle: u64, got: &Retired) {
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        let (pc, instruction, active) = (got.pc, got.instruction, got.active);
        self.history.push_back(Past { cycle, pc, instruction, active });
    }

    /// The report of a difference at the instruction at `pc`.
    pub fn report(&self, cycle: u64, isa: &Isa, pc: u32, instruction: u32, d: Difference) -> Box<Mismatch> {
        let line = |past: &Past| {
            format!("{:>8} {:08x} {:#010x} {}", past.cycle, past.active, past.pc, past.text(isa))
        };
        Box::new(Mismatch {
            cycle,
            core: self.warp.start.core,
            slot: self.warp.start.slot,
            lane: d.lane,
            pc,
            instruction: Past { cycle, pc, instruction, active: 0 }.text(isa),
            what: d.what,
            expected: d.expected,
            got: d.got,
            history: self.history.iter().map(line).collect(),
        })
    }

    /// What is missing if the warp is to be at its end.
    pub fn missing(&self) -> Option<(u32, u32, Difference)> {
        if let Some((pc, set)) = self.warp.preferred() {
            let waiting = format!("lanes {set:#x} at {}", hex(pc));
            return Some((pc, 0, Difference::new(None, "the warp", "at its end", waiting)));
        }
        let ((lane, rd), late) = self.outstanding.iter().next()?;
        let what = format!("late write of {}", register_name(*rd));
        let value = late.value.map_or("any value".to_string(), hex);
        Some((late.pc, late.instruction, Difference::new(Some(*lane), &what, value, "none")))
    }

    /// Gives registers that a store or atomic operation shows and nobody wrote the value that the
    /// array has there.
    pub fn adopt_store_data(&mut self, code: Option<&Instruction>, got: &Retired) {
        let Some(code) = code.filter(|code| matches!(code.op.class(), Class::Store | Class::Atomic)) else {
            return;
        };
        for lane in lanes(got.active) {
            if self.known[lane] >> code.rs2 & 1 == 0 {
                self.known[lane] |= 1 << code.rs2;
                self.warp.threads[lane].hart.x[usize::from(code.rs2)] = element(&got.store_data, lane);
            }
        }
    }

    /// After a step: what depends on registers that nobody wrote gets the value that the array has,
    /// or nothing if it is late.
    ///
    /// # Errors
    /// An address, a branch or a jump depends on such a register.
    pub fn adopt_results(&mut self, expected: &mut Expected, got: &Retired) -> Result<(), Difference> {
        let sound = expected.sound();
        // A fault writes a0, one that goes to the trap entry tp.
        let written = if expected.trapped { 4 } else { 10 };
        expected.faults.iter().for_each(|(lane, _)| self.known[*lane] |= 1 << written);
        let Some(code) = expected.instruction else { return Ok(()) };
        let computes = matches!(code.op.class(), Class::Alu | Class::Mul | Class::Div);
        for lane in lanes(expected.retired.active) {
            let unknown = code.reads().find(|register| self.known[lane] >> register & 1 == 0);
            if let (Some(register), false) = (unknown, computes) {
                let what = format!("{}, which no instruction of the warp wrote", register_name(register));
                return Err(Difference::new(Some(lane), &what, "no use", "a use"));
            }
            if code.rd == 0 || sound >> lane & 1 == 0 {
                continue;
            }
            self.known[lane] |= 1 << code.rd;
            // Whether `sc.w` stores is the array's to say.
            let array_says = unknown.is_some() || code.op == Op::ScW;
            if array_says && got.late {
                self.known[lane] &= !(1 << code.rd);
            } else if array_says {
                self.set(lane, code.rd, element(&got.values, lane));
                expected.results[lane] = element(&got.values, lane);
            }
        }
        Ok(())
    }

    /// Whether the value of a register is known.
    pub fn knows(&self, lane: usize, register: u8) -> bool {
        self.known[lane] >> register & 1 != 0
    }

    /// Gives a register of a lane the value that the array has.
    pub fn set(&mut self, lane: usize, register: u8, value: u32) {
        self.known[lane] |= 1 << register;
        self.warp.threads[lane].hart.x[usize::from(register)] = value;
    }
}

/// The value of a lane; 0 if the trace has none.
pub(super) fn element(values: &[u32], lane: usize) -> u32 {
    values.get(lane).copied().unwrap_or(0)
}
