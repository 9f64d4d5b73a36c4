//! Debugging of harts from the host: stop, step, resume, registers, CSRs, memory as a hart sees it,
//! breakpoints.

use std::collections::BTreeMap;

use super::device::Device;
use super::error::CosimError;
use super::host::Host;
use crate::isa::{Instruction, Op};

/// Bits of CP_STATUS.
const DEBUG_ERROR: u32 = 1 << 30;
const DEBUG_BUSY: u32 = 1 << 31;
/// CP_CONTROL: `ebreak` stops its hart.
const BREAK_STOPS: u32 = 1 << 8;
/// The CSR that is CP_DATA.
const DATA_CSR: u32 = 0x7b2;
const EBREAK: u32 = 0x0010_0073;
const FENCE_I: u32 = 0x0000_100f;
/// Registers that accesses to memory and CSRs use; they get their values back.
const BASE: u8 = 5;
const VALUE: u8 = 6;
/// Looks at CP_STATUS until a hart has stopped or a word is executed.
const LOOKS: u32 = 20_000;

/// Why something could not be done with a hart.
#[derive(Debug, thiserror::Error)]
pub enum DebugError {
    /// The array failed.
    #[error(transparent)]
    Cosim(#[from] CosimError),
    /// There is no such hart.
    #[error("hart {hart} is not there; expected 0 to {last}")]
    NoHart {
        /// Its number.
        hart: u32,
        /// The last that is there.
        last: u32,
    },
    /// The hart runs, or is held.
    #[error("hart {hart} is not stopped; expected one that is")]
    NotStopped {
        /// The hart.
        hart: u32,
    },
    /// The hart waits for memory that does not answer, or is held.
    #[error("hart {hart} does not stop, or does not execute what it should: it waits for memory that does not answer, or is held")]
    NoAnswer {
        /// The hart.
        hart: u32,
    },
    /// A register that a hart does not have.
    #[error("x{0} is no register; expected x0 to x31")]
    NoRegister(u32),
    /// A CSR that is not there, or is read-only.
    #[error("CSR {number:#05x} of hart {hart} cannot be {what}")]
    Csr {
        /// The hart.
        hart: u32,
        /// The CSR.
        number: u32,
        /// Read, or written.
        what: &'static str,
    },
    /// Memory that the hart cannot access: a device, or none.
    #[error("hart {hart} cannot {what} {address:#010x}: no memory, or a device")]
    Memory {
        /// The hart.
        hart: u32,
        /// Read, or write.
        what: &'static str,
        /// The address.
        address: u32,
    },
    /// Where no instruction can be.
    #[error("{address:#010x} is no address of an instruction; expected a multiple of 4")]
    Misaligned {
        /// The address.
        address: u32,
    },
}

/// What CP_STATUS says of the harts, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HartsStatus {
    /// Stopped.
    pub stopped: u32,
    /// In `wfi`.
    pub waiting: u32,
    /// Locked up.
    pub locked: u32,
}

/// Debugs the harts of an array with the registers CP_STEP, CP_EXECUTE and CP_DATA. Several may
/// stop, step and go on independently.
///
/// What is asked of a hart's registers, CSRs, memory and PC needs it stopped. Memory is accessed by
/// loads and stores that the hart executes, so it is what the hart sees: its data cache, its stores
/// that are on their way, the local memory. Devices are not accessed.
#[derive(Debug)]
pub struct Debugger {
    harts: u32,
    /// The words whose places breakpoints take.
    breakpoints: BTreeMap<u32, u32>,
}

impl Debugger {
    /// For an array with a command processor.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn new<D: Device>(host: &mut Host<D>) -> Result<Self, DebugError> {
        let harts = host.read("CP_STATUS")? >> 24 & 15;
        Ok(Self { harts, breakpoints: BTreeMap::new() })
    }

    /// Lets `ebreak` stop its hart, or be an exception. Breakpoints need that it stops.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn stop_at_ebreak<D: Device>(&self, host: &mut Host<D>, stops: bool) -> Result<(), DebugError> {
        let control = host.read("CP_CONTROL")? & !BREAK_STOPS;
        Ok(host.write("CP_CONTROL", control | if stops { BREAK_STOPS } else { 0 })?)
    }

    /// Removes the breakpoints, makes `ebreak` an exception again, and lets all harts go on.
    ///
    /// # Errors
    /// A hart does not answer.
    pub fn detach<D: Device>(mut self, host: &mut Host<D>) -> Result<(), DebugError> {
        self.stop(host, self.all())?;
        for address in self.breakpoints.keys().copied().collect::<Vec<_>>() {
            self.remove_breakpoint(host, 0, address)?;
        }
        self.stop_at_ebreak(host, false)?;
        self.resume(host, self.all())
    }

    /// Harts that are there.
    #[must_use]
    pub fn harts(&self) -> u32 {
        self.harts
    }

    /// A bit for each hart.
    #[must_use]
    pub fn all(&self) -> u32 {
        (1 << self.harts) - 1
    }

    /// What the harts are doing.
    ///
    /// # Errors
    /// The register does not answer.
    pub fn status<D: Device>(&self, host: &mut Host<D>) -> Result<HartsStatus, DebugError> {
        let status = host.read("CP_STATUS")?;
        Ok(HartsStatus { stopped: status & 0xff, waiting: status >> 8 & 0xff, locked: status >> 16 & 0xff })
    }

    /// Stops the harts of the mask; returns when they are stopped. One in `wfi` stops behind it.
    ///
    /// # Errors
    /// [`DebugError::NoAnswer`].
    pub fn stop<D: Device>(&self, host: &mut Host<D>, harts: u32) -> Result<(), DebugError> {
        host.write("CP_STEP", harts << 16)?;
        self.until_stopped(host, harts)
    }

    /// Lets harts that are stopped go on. One at a breakpoint executes the instruction that was
    /// there first; what other harts execute meanwhile does not stop at this breakpoint.
    ///
    /// # Errors
    /// [`DebugError::NoAnswer`], [`DebugError::NotStopped`].
    pub fn resume<D: Device>(&mut self, host: &mut Host<D>, harts: u32) -> Result<(), DebugError> {
        for hart in self.of_mask(harts) {
            if self.breakpoints.contains_key(&self.pc(host, hart)?) {
                self.step(host, hart)?;
            }
        }
        self.start(host, harts, 0)
    }

    /// Lets the harts of `resume` go on and those of `step` execute one instruction, all in the
    /// same cycle, and returns at once. Breakpoints are not passed over.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn start<D: Device>(&self, host: &mut Host<D>, resume: u32, step: u32) -> Result<(), DebugError> {
        Ok(host.write("CP_STEP", step | resume << 8)?)
    }

    /// The hart executes one instruction, or enters the trap that it raises; it takes no interrupt.
    /// At a breakpoint that is the instruction whose place it took.
    ///
    /// # Errors
    /// [`DebugError::NotStopped`], [`DebugError::NoAnswer`].
    pub fn step<D: Device>(&mut self, host: &mut Host<D>, hart: u32) -> Result<(), DebugError> {
        let place = self.pc(host, hart)?;
        let breakpoint = self.breakpoints.get(&place).copied();
        if let Some(word) = breakpoint {
            self.patch(host, hart, place, word)?;
        } else {
            self.check_stopped(host, hart)?;
        }
        host.write("CP_STEP", 1 << hart)?;
        self.until_stopped(host, 1 << hart)?;
        if breakpoint.is_some() {
            self.patch(host, hart, place, EBREAK)?;
        }
        Ok(())
    }

    /// PC of a hart, of the next instruction to retire; it may run.
    ///
    /// # Errors
    /// [`DebugError::NoHart`].
    pub fn pc<D: Device>(&self, host: &mut Host<D>, hart: u32) -> Result<u32, DebugError> {
        self.select(host, hart)?;
        Ok(host.read("CP_PC")?)
    }

    /// Sets the PC.
    ///
    /// # Errors
    /// [`DebugError::Misaligned`], [`DebugError::NotStopped`].
    pub fn set_pc<D: Device>(&self, host: &mut Host<D>, hart: u32, pc: u32) -> Result<(), DebugError> {
        if pc % 4 != 0 {
            return Err(DebugError::Misaligned { address: pc });
        }
        self.with_scratch(host, hart, |this, host| {
            this.put(host, hart, BASE, pc)?;
            let jump = Instruction { op: Op::Jalr, rd: 0, rs1: BASE, rs2: 0, immediate: 0 };
            this.must(host, hart, jump.encode())
        })
    }

    /// Value of x0 to x31.
    ///
    /// # Errors
    /// [`DebugError::NoRegister`], [`DebugError::NotStopped`].
    pub fn register<D: Device>(&self, host: &mut Host<D>, hart: u32, number: u32) -> Result<u32, DebugError> {
        if number > 31 {
            return Err(DebugError::NoRegister(number));
        }
        self.check_stopped(host, hart)?;
        self.get(host, hart, number as u8)
    }

    /// Gives a register a value; x0 stays 0.
    ///
    /// # Errors
    /// As [`Self::register`].
    pub fn set_register<D: Device>(
        &self,
        host: &mut Host<D>,
        hart: u32,
        number: u32,
        value: u32,
    ) -> Result<(), DebugError> {
        if number > 31 {
            return Err(DebugError::NoRegister(number));
        }
        self.check_stopped(host, hart)?;
        self.put(host, hart, number as u8, value)
    }

    /// Value of a CSR.
    ///
    /// # Errors
    /// [`DebugError::Csr`] if there is none, [`DebugError::NotStopped`].
    pub fn csr<D: Device>(&self, host: &mut Host<D>, hart: u32, number: u32) -> Result<u32, DebugError> {
        self.with_scratch(host, hart, |this, host| {
            // csrrs value, number, x0
            if !this.execute(host, hart, csr_word(2, VALUE, number, 0))? {
                return Err(DebugError::Csr { hart, number, what: "read" });
            }
            this.get(host, hart, VALUE)
        })
    }

    /// Writes a CSR.
    ///
    /// # Errors
    /// [`DebugError::Csr`] if it cannot be written, [`DebugError::NotStopped`].
    pub fn set_csr<D: Device>(
        &self,
        host: &mut Host<D>,
        hart: u32,
        number: u32,
        value: u32,
    ) -> Result<(), DebugError> {
        self.with_scratch(host, hart, |this, host| {
            this.put(host, hart, VALUE, value)?;
            // csrrw x0, number, value
            if this.execute(host, hart, csr_word(1, 0, number, VALUE))? {
                Ok(())
            } else {
                Err(DebugError::Csr { hart, number, what: "written" })
            }
        })
    }

    /// Reads memory as the hart sees it; where breakpoints are, the words whose places they took.
    ///
    /// # Errors
    /// [`DebugError::Memory`] at the first byte that cannot be read; those before it are read.
    /// [`DebugError::NotStopped`].
    pub fn read_memory<D: Device>(
        &self,
        host: &mut Host<D>,
        hart: u32,
        address: u32,
        bytes: &mut [u8],
    ) -> Result<(), DebugError> {
        let pieces = pieces(address, bytes.len());
        let read = self.with_scratch(host, hart, |this, host| {
            for &(at, size) in &pieces {
                let op = if size == 4 { Op::Lw } else { Op::Lbu };
                this.put(host, hart, BASE, at)?;
                let load = Instruction { op, rd: VALUE, rs1: BASE, rs2: 0, immediate: 0 };
                if !this.execute(host, hart, load.encode())? {
                    return Err(DebugError::Memory { hart, what: "read", address: at });
                }
                let value = this.get(host, hart, VALUE)?;
                let offset = at.wrapping_sub(address) as usize;
                bytes[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
            }
            Ok(())
        });
        for (place, word) in &self.breakpoints {
            for (byte, at) in word.to_le_bytes().into_iter().zip(*place..) {
                if let Some(shown) = bytes.get_mut(at.wrapping_sub(address) as usize) {
                    *shown = byte;
                }
            }
        }
        read
    }

    /// Writes memory as the hart would; also code, which is fetched anew. Breakpoints stay.
    ///
    /// # Errors
    /// [`DebugError::Memory`] at the first byte that cannot be written; those before it are
    /// written. [`DebugError::NotStopped`].
    pub fn write_memory<D: Device>(
        &mut self,
        host: &mut Host<D>,
        hart: u32,
        address: u32,
        bytes: &[u8],
    ) -> Result<(), DebugError> {
        let mut shown = bytes.to_vec();
        let mut kept = self.breakpoints.clone();
        for (place, word) in &mut kept {
            let mut below = word.to_le_bytes();
            for (i, byte) in below.iter_mut().enumerate() {
                let offset = place.wrapping_add(i as u32).wrapping_sub(address) as usize;
                if let Some(new) = shown.get_mut(offset) {
                    *byte = *new;
                    *new = EBREAK.to_le_bytes()[i];
                }
            }
            *word = u32::from_le_bytes(below);
        }
        self.with_scratch(host, hart, |this, host| {
            for (at, size) in pieces(address, shown.len()) {
                let offset = at.wrapping_sub(address) as usize;
                let mut word = [0; 4];
                word[..size].copy_from_slice(&shown[offset..offset + size]);
                let op = if size == 4 { Op::Sw } else { Op::Sb };
                this.store(host, hart, op, at, u32::from_le_bytes(word))?;
            }
            this.must(host, hart, FENCE_I)
        })?;
        self.breakpoints = kept;
        Ok(())
    }

    /// Puts `ebreak` at an address, for all harts; the given one, which is stopped, stores it. From
    /// then on `ebreak` stops its hart. No effect if there is a breakpoint.
    ///
    /// # Errors
    /// [`DebugError::Misaligned`], [`DebugError::Memory`] if it is no shared memory,
    /// [`DebugError::NotStopped`].
    pub fn insert_breakpoint<D: Device>(
        &mut self,
        host: &mut Host<D>,
        hart: u32,
        address: u32,
    ) -> Result<(), DebugError> {
        if address % 4 != 0 {
            return Err(DebugError::Misaligned { address });
        }
        if self.breakpoints.contains_key(&address) {
            return Ok(());
        }
        // Nothing is fetched from the local memory.
        if address >> 20 == 0xfff {
            return Err(DebugError::Memory { hart, what: "fetch from", address });
        }
        let mut word = [0; 4];
        self.read_memory(host, hart, address, &mut word)?;
        self.stop_at_ebreak(host, true)?;
        self.patch(host, hart, address, EBREAK)?;
        self.breakpoints.insert(address, u32::from_le_bytes(word));
        Ok(())
    }

    /// Removes a breakpoint; whether there was one.
    ///
    /// # Errors
    /// [`DebugError::NotStopped`].
    pub fn remove_breakpoint<D: Device>(
        &mut self,
        host: &mut Host<D>,
        hart: u32,
        address: u32,
    ) -> Result<bool, DebugError> {
        let Some(word) = self.breakpoints.get(&address).copied() else { return Ok(false) };
        self.patch(host, hart, address, word)?;
        self.breakpoints.remove(&address);
        Ok(true)
    }

    /// Whether there is a breakpoint.
    #[must_use]
    pub fn has_breakpoint(&self, address: u32) -> bool {
        self.breakpoints.contains_key(&address)
    }

    /// Stores a word of code.
    fn patch<D: Device>(
        &self,
        host: &mut Host<D>,
        hart: u32,
        address: u32,
        word: u32,
    ) -> Result<(), DebugError> {
        self.with_scratch(host, hart, |this, host| {
            this.store(host, hart, Op::Sw, address, word)?;
            this.must(host, hart, FENCE_I)
        })
    }

    /// The selected hart stores `value` by `op`; it changes the scratch registers.
    fn store<D: Device>(
        &self,
        host: &mut Host<D>,
        hart: u32,
        op: Op,
        address: u32,
        value: u32,
    ) -> Result<(), DebugError> {
        self.put(host, hart, BASE, address)?;
        self.put(host, hart, VALUE, value)?;
        let store = Instruction { op, rd: 0, rs1: BASE, rs2: VALUE, immediate: 0 };
        if self.execute(host, hart, store.encode())? {
            Ok(())
        } else {
            Err(DebugError::Memory { hart, what: "write", address })
        }
    }

    /// The harts of a mask.
    fn of_mask(&self, harts: u32) -> impl Iterator<Item = u32> {
        (0..self.harts).filter(move |hart| harts >> hart & 1 == 1)
    }

    fn until_stopped<D: Device>(&self, host: &mut Host<D>, harts: u32) -> Result<(), DebugError> {
        let mut running = harts;
        for _ in 0..LOOKS {
            running = harts & !host.read("CP_STATUS")?;
            if running == 0 {
                return Ok(());
            }
        }
        Err(DebugError::NoAnswer { hart: running.trailing_zeros() })
    }

    fn select<D: Device>(&self, host: &mut Host<D>, hart: u32) -> Result<(), DebugError> {
        if hart >= self.harts {
            return Err(DebugError::NoHart { hart, last: self.harts - 1 });
        }
        Ok(host.write("CP_SELECT", hart)?)
    }

    fn check_stopped<D: Device>(&self, host: &mut Host<D>, hart: u32) -> Result<(), DebugError> {
        self.select(host, hart)?;
        if self.status(host)?.stopped >> hart & 1 == 0 {
            return Err(DebugError::NotStopped { hart });
        }
        Ok(())
    }

    /// Lets `body` change the two scratch registers, which get their values back whatever happens.
    fn with_scratch<D: Device, T>(
        &self,
        host: &mut Host<D>,
        hart: u32,
        body: impl FnOnce(&Self, &mut Host<D>) -> Result<T, DebugError>,
    ) -> Result<T, DebugError> {
        self.check_stopped(host, hart)?;
        let saved = [self.get(host, hart, BASE)?, self.get(host, hart, VALUE)?];
        let result = body(self, host);
        for (register, value) in [BASE, VALUE].into_iter().zip(saved) {
            self.put(host, hart, register, value)?;
        }
        result
    }

    /// A register of the selected hart.
    fn get<D: Device>(&self, host: &mut Host<D>, hart: u32, register: u8) -> Result<u32, DebugError> {
        self.must(host, hart, csr_word(1, 0, DATA_CSR, register))?;
        Ok(host.read("CP_DATA")?)
    }

    /// Gives a register of the selected hart a value.
    fn put<D: Device>(
        &self,
        host: &mut Host<D>,
        hart: u32,
        register: u8,
        value: u32,
    ) -> Result<(), DebugError> {
        host.write("CP_DATA", value)?;
        self.must(host, hart, csr_word(2, register, DATA_CSR, 0))
    }

    /// The selected hart executes a word that raises no exception.
    fn must<D: Device>(&self, host: &mut Host<D>, hart: u32, word: u32) -> Result<(), DebugError> {
        if self.execute(host, hart, word)? {
            Ok(())
        } else {
            Err(DebugError::NotStopped { hart })
        }
    }

    /// The selected hart executes a word; whether it raised no exception.
    fn execute<D: Device>(&self, host: &mut Host<D>, hart: u32, word: u32) -> Result<bool, DebugError> {
        host.write("CP_EXECUTE", word)?;
        for _ in 0..LOOKS {
            let status = host.read("CP_STATUS")?;
            if status & DEBUG_BUSY == 0 {
                return Ok(status & DEBUG_ERROR == 0);
            }
        }
        Err(DebugError::NoAnswer { hart })
    }
}

/// `csrrw` 1, `csrrs` 2.
fn csr_word(funct3: u32, rd: u8, number: u32, rs1: u8) -> u32 {
    number << 20 | u32::from(rs1) << 15 | funct3 << 12 | u32::from(rd) << 7 | 0x73
}

/// The words, and at the ends bytes, that make up so many bytes at `address`.
fn pieces(address: u32, length: usize) -> Vec<(u32, usize)> {
    let (mut all, mut done) = (Vec::new(), 0);
    while done < length {
        let at = address.wrapping_add(done as u32);
        let size = if at % 4 == 0 && length - done >= 4 { 4 } else { 1 };
        all.push((at, size));
        done += size;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn memory_is_accessed_by_words_where_it_can() {
        assert_eq!(pieces(8, 8), [(8, 4), (12, 4)]);
        assert_eq!(pieces(7, 6), [(7, 1), (8, 4), (12, 1)]);
        assert_eq!(pieces(9, 3), [(9, 1), (10, 1), (11, 1)]);
        assert_eq!(pieces(0xffff_ffff, 2), [(0xffff_ffff, 1), (0, 1)]);
        assert_eq!(pieces(5, 0), []);
    }
}
