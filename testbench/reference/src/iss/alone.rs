//! A bare-metal program alone on one hart.

use hermes_rtl::config::EXIT_ADDRESS;

use super::hart::{Cause, Csrs, Fault, Hart, Outcome};
use super::image::{AddressError, MemoryImage};
use super::memory::{CoreMemory, Protection};
use super::{Instruction, Isa};
use crate::kernel::{Executable, RegisterClass};

/// Where the stack starts to grow down.
const STACK_TOP: u32 = 0x8000_0000;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It returned to the address that `ra` had at its start.
    Exit,
    /// It executed `ecall`.
    EnvironmentCall,
    /// It executed `ebreak`.
    Breakpoint,
    /// An instruction faulted.
    Fault(Fault),
    /// It did not end within the instructions that it was given.
    Limit,
}

/// An instruction that was executed.
#[derive(Clone, Copy, Debug)]
pub struct Executed {
    /// Its address.
    pub pc: u32,
    /// The instruction.
    pub instruction: Instruction,
    /// What it did.
    pub outcome: Outcome,
}

/// A program, its memory and its hart. All 4 GiB are memory.
pub struct Alone {
    /// What the hart executes.
    pub isa: Isa,
    /// PC and registers.
    pub hart: Hart,
    /// The memory.
    pub memory: MemoryImage,
    /// Instructions executed.
    pub count: u64,
}

/// The counters; what tells threads of the array apart reads 0.
struct AloneCsrs(u64);

impl Csrs for AloneCsrs {
    fn read(&self, number: u32) -> Option<u32> {
        match number {
            0xc00 | 0xc02 => Some(self.0 as u32),
            0xc80 | 0xc82 => Some((self.0 >> 32) as u32),
            0xcc0..=0xcc6 => Some(0),
            _ => None,
        }
    }
}

impl Alone {
    /// Loads `executable` for a hart with the extensions of `isa`; its file says how many registers
    /// the hart has. `ra` is EXIT, `sp` 0x8000_0000.
    ///
    /// # Errors
    /// A segment is outside the address space.
    pub fn new(executable: &Executable, isa: Isa) -> Result<Self, AddressError> {
        let mut memory = MemoryImage::new(1 << 32);
        for segment in &executable.segments {
            memory.write(segment.address, &segment.bytes)?;
        }
        let mut hart = Hart::new(executable.entry);
        hart.x[1] = EXIT_ADDRESS;
        hart.x[2] = STACK_TOP;
        let embedded = executable.registers == RegisterClass::Rv32e;
        Ok(Self { isa: Isa { embedded, ..isa }, hart, memory, count: 0 })
    }

    /// Runs until the program ends or `limit` instructions are executed in all; shows every one to
    /// `trace`.
    ///
    /// # Errors
    /// Those of `trace`.
    pub fn run<E>(
        &mut self,
        limit: u64,
        mut trace: impl FnMut(&Executed) -> Result<(), E>,
    ) -> Result<End, E> {
        while self.hart.pc != EXIT_ADDRESS {
            if self.count >= limit {
                return Ok(End::Limit);
            }
            let pc = self.hart.pc;
            let mut memory = CoreMemory {
                shared: &mut self.memory,
                scratchpad: None,
                protection: &Protection::Off,
                local: None,
            };
            match self.hart.step(&self.isa, &mut memory, &AloneCsrs(self.count)) {
                Ok((instruction, outcome)) => {
                    self.count += 1;
                    trace(&Executed { pc, instruction, outcome })?;
                }
                Err(Fault { cause: Cause::EnvironmentCall, .. }) => return Ok(End::EnvironmentCall),
                Err(Fault { cause: Cause::Breakpoint, .. }) => return Ok(End::Breakpoint),
                Err(fault) => return Ok(End::Fault(fault)),
            }
        }
        Ok(End::Exit)
    }
}
