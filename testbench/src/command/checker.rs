//! The reference of one hart, in lock-step with what the array retires.

use crate::cosim::MemoryImage;
use crate::iss::{disassemble, Cause, Fault, Hart, Isa, Memory, NoCsrs};

/// From here on there is no memory for the command processor.
const OUTSIDE: u32 = 0xfff0_0000;
/// `fence.i`, which the cores do not have, and the reference simulator neither.
const FENCE_I: u32 = 0x0000_100f;

/// An instruction in the trace of the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandRetired {
    /// Its address.
    pub pc: u32,
    /// Address of the next.
    pub next_pc: u32,
    /// Its word.
    pub word: u32,
    /// Destination register, 0 for none.
    pub rd: u32,
    /// Its value.
    pub value: u32,
    /// Address of a load or store.
    pub address: u32,
    /// It raised an exception.
    pub trap: bool,
}

/// The shared memory as the command processor sees it.
struct View<'a>(&'a mut MemoryImage);

impl Memory for View<'_> {
    fn fetch(&mut self, address: u32) -> Result<u32, Cause> {
        if address >= OUTSIDE {
            return Err(Cause::InstructionAccess);
        }
        self.0.read_u32(address).map_err(|_| Cause::InstructionAccess)
    }

    fn load(&mut self, address: u32, bytes: u32) -> Result<u32, Cause> {
        let mut value = [0; 4];
        if address >= OUTSIDE {
            return Err(Cause::LoadAccess);
        }
        self.0.read(address, &mut value[..bytes as usize]).map_err(|_| Cause::LoadAccess)?;
        Ok(u32::from_le_bytes(value))
    }

    fn store(&mut self, address: u32, bytes: u32, value: u32) -> Result<(), Cause> {
        if address >= OUTSIDE {
            return Err(Cause::StoreAccess);
        }
        self.0.write(address, &value.to_le_bytes()[..bytes as usize]).map_err(|_| Cause::StoreAccess)
    }

    fn load_reserved(&mut self, _: u32) -> Result<u32, Cause> {
        Err(Cause::LoadAccess)
    }

    fn exchange(&mut self, _: u32, _: impl FnOnce(u32) -> Option<u32>) -> Result<u32, Cause> {
        Err(Cause::StoreAccess)
    }
}

/// Compares one hart with the reference simulator: RV32IM_Zbb_Zifencei in shared memory, without CSRs and without a trap handler.
pub struct CommandChecker {
    hart: Hart,
    memory: MemoryImage,
    compared: u64,
    ended: Option<Fault>,
    locked: bool,
}

impl CommandChecker {
    /// A hart that starts at `entry` with this memory. Its registers are 0, which those of the array need not be: a program
    /// must write a register before it reads it.
    #[must_use]
    pub fn new(entry: u32, memory: MemoryImage) -> Self {
        Self { hart: Hart::new(entry), memory, compared: 0, ended: None, locked: false }
    }

    /// Instructions that were compared.
    #[must_use]
    pub fn compared(&self) -> u64 {
        self.compared
    }

    /// The exception that ended the program.
    #[must_use]
    pub fn ended(&self) -> Option<Fault> {
        self.ended
    }

    /// What memory must hold.
    #[must_use]
    pub fn memory(&self) -> &MemoryImage {
        &self.memory
    }

    /// The array retired an instruction.
    ///
    /// # Errors
    /// Says how it differs from the reference.
    pub fn retire(&mut self, seen: &CommandRetired) -> Result<(), String> {
        let isa = Isa::RV32IM_ZBB;
        let pc = self.hart.pc;
        if let Some(fault) = self.ended {
            // An exception goes to mtvec, 0 after the reset of the hart, where no program has a handler: lock-up.
            if fault.cause != Cause::Breakpoint && seen.pc == 0 && seen.trap && !self.locked {
                self.locked = true;
                return Ok(());
            }
            return Err(format!("an instruction at {:#010x} after the program ended", seen.pc));
        }
        let mut view = View(&mut self.memory);
        let word = view.fetch(pc).unwrap_or(seen.word);
        // What an instruction does not have says nothing.
        let mut expected = CommandRetired { pc, word, rd: 0, ..*seen };
        if word == FENCE_I {
            self.hart.pc = pc.wrapping_add(4);
            expected.next_pc = self.hart.pc;
            expected.trap = false;
        } else {
            match self.hart.step(&isa, &mut view, &NoCsrs) {
                Ok((instruction, outcome)) => {
                    expected.next_pc = self.hart.pc;
                    expected.trap = false;
                    expected.address = outcome.address.unwrap_or(seen.address);
                    if let (Some(rd), Some(value)) = (instruction.writes(), outcome.result) {
                        expected.rd = rd.into();
                        expected.value = value;
                    }
                }
                Err(fault) => {
                    expected.trap = true;
                    expected.rd = seen.rd;
                    self.ended = Some(fault);
                }
            }
        }
        self.compared += 1;
        if *seen == expected {
            return Ok(());
        }
        Err(format!(
            "instruction {} ({}): expected {expected:x?}, found {seen:x?}",
            self.compared,
            disassemble(pc, word, &isa)
        ))
    }
}
