//! The report of a difference between the array and the reference.

use std::fmt;

use crate::iss::{disassemble, Isa, BOOT_ADDRESS};

/// A warp-instruction of a warp's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Past {
    pub cycle: u64,
    pub pc: u32,
    pub instruction: u32,
    pub active: u32,
}

impl Past {
    /// The instruction as text.
    pub fn text(&self, isa: &Isa) -> String {
        if self.pc >= BOOT_ADDRESS && self.instruction == 0 {
            return if self.pc == hermes_rtl::config::EXIT_ADDRESS {
                "EXIT".into()
            } else {
                ".word 0".into()
            };
        }
        disassemble(self.pc, self.instruction, isa)
    }
}

/// Where array and reference differ. Prints as one line, then the last warp-instructions of the
/// warp.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Mismatch {
    /// Cycles since reset.
    pub cycle: u64,
    /// The core.
    pub core: u8,
    /// The warp slot.
    pub slot: u8,
    /// The lane, if the difference is in one.
    pub lane: Option<usize>,
    /// Address of the instruction.
    pub pc: u32,
    /// The instruction as text.
    pub instruction: String,
    /// What differs.
    pub what: String,
    /// What the reference has.
    pub expected: String,
    /// What the array has.
    pub got: String,
    /// The last warp-instructions of the warp, the oldest first.
    pub history: Vec<String>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cycle {}, core {}, slot {}", self.cycle, self.core, self.slot)?;
        if let Some(lane) = self.lane {
            write!(f, ", lane {lane}")?;
        }
        write!(f, ", pc {:#010x} `{}`: ", self.pc, self.instruction)?;
        write!(f, "{}: expected {}, got {}", self.what, self.expected, self.got)?;
        if !self.history.is_empty() {
            write!(f, "\nlast warp-instructions of this warp (cycle, active lanes, pc):")?;
            for line in &self.history {
                write!(f, "\n  {line}")?;
            }
        }
        Ok(())
    }
}
