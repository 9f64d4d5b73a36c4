//! The host's side of the command processor: mailboxes, console, doorbell, interrupt.

use super::device::Device;
use super::error::CosimError;
use super::host::Host;
use super::simulation::Simulation;
use crate::firmware::MESSAGE_WORDS;

/// CP_STATUS: MAILBOX_IN is full.
const IN_FULL: u32 = 1 << 28;
/// CP_STATUS: MAILBOX_OUT is full.
const OUT_FULL: u32 = 1 << 29;
/// CONSOLE: there is no byte.
const NO_BYTE: u32 = 1 << 31;
/// Bytes that wait in CONSOLE, at most.
const CONSOLE_BYTES: usize = 64;
/// CONSOLE_IN: free places, and how many there are.
const FREE_PLACES: u32 = 0x1f;
const PLACES: u32 = 16;
/// CONSOLE_IN: takes back the oldest byte.
const REMOVE: u32 = 1 << 31;
/// CP_CONTROL: FAULT_POP is the firmware's.
pub(super) const FIRMWARE_FAULTS: u32 = 1 << 10;

const MAILBOX_IN: [&str; MESSAGE_WORDS] = ["MAILBOX_IN_0", "MAILBOX_IN_1", "MAILBOX_IN_2", "MAILBOX_IN_3"];
const MAILBOX_OUT: [&str; MESSAGE_WORDS] =
    ["MAILBOX_OUT_0", "MAILBOX_OUT_1", "MAILBOX_OUT_2", "MAILBOX_OUT_3"];

/// Bits of HOST_IRQ_PENDING.
pub mod host_interrupt {
    /// Raised by the command processor.
    pub const RAISED: u32 = 1 << 0;
    /// A fault record.
    pub const FAULT: u32 = 1 << 1;
    /// A hart is locked up.
    pub const LOCKED_UP: u32 = 1 << 2;
    /// MAILBOX_OUT is full; clearing it makes the mailbox empty.
    pub const MAILBOX: u32 = 1 << 3;
    /// COMMITTED_PACKETS reached COMMIT_WATERMARK.
    pub const WATERMARK: u32 = 1 << 4;
    /// An error that SPAWN_ERRORS counts.
    pub const SPAWN_ERROR: u32 = 1 << 5;
    /// The firmware has ended.
    pub const ENDED: u32 = 1 << 6;
    /// A hart stopped.
    pub const STOPPED: u32 = 1 << 8;
    /// A byte for the console.
    pub const CONSOLE: u32 = 1 << 9;
}

impl<D: Device> Host<D> {
    /// Empties both mailboxes and both directions of the console, and takes back what is pending on
    /// both sides. For the time before firmware starts, with all harts held.
    ///
    /// # Errors
    /// The array has no command processor, or a register does not answer.
    pub fn reset_link(&mut self) -> Result<(), CosimError> {
        while self.read("CONSOLE_IN")? & FREE_PLACES != PLACES {
            self.write("CONSOLE_IN", REMOVE)?;
        }
        self.write("CP_IRQ_PENDING", u32::MAX)?;
        self.write("HOST_IRQ_PENDING", u32::MAX)?;
        self.read_console().map(|_| ())
    }

    /// Makes fault records the host's again, if firmware took them (CP_CONTROL bit 10).
    ///
    /// # Errors
    /// The array has no command processor, or a register does not answer.
    pub fn take_back_faults(&mut self) -> Result<(), CosimError> {
        let control = self.read("CP_CONTROL")?;
        if control & FIRMWARE_FAULTS != 0 {
            self.write("CP_CONTROL", control & !FIRMWARE_FAULTS)?;
        }
        Ok(())
    }

    /// Puts a message into the mailbox to the command processor.
    ///
    /// # Errors
    /// [`CosimError::MailboxFull`] if the message before was not taken; or a register does not
    /// answer.
    pub fn send_message(&mut self, message: [u32; MESSAGE_WORDS]) -> Result<(), CosimError> {
        if self.read("CP_STATUS")? & IN_FULL != 0 {
            return Err(CosimError::MailboxFull);
        }
        // Word 0 last: it makes the mailbox full.
        for (name, word) in MAILBOX_IN.iter().zip(message).rev() {
            self.write(name, word)?;
        }
        Ok(())
    }

    /// Takes the message in the mailbox to the host, if there is one.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn take_message(&mut self) -> Result<Option<[u32; MESSAGE_WORDS]>, CosimError> {
        if self.read("CP_STATUS")? & OUT_FULL == 0 {
            return Ok(None);
        }
        self.read_message().map(Some)
    }

    /// Takes the message that is in the mailbox to the host.
    pub(crate) fn read_message(&mut self) -> Result<[u32; MESSAGE_WORDS], CosimError> {
        let mut message = [0; MESSAGE_WORDS];
        for (name, word) in MAILBOX_OUT.iter().zip(&mut message) {
            *word = self.read(name)?;
        }
        self.write("HOST_IRQ_PENDING", host_interrupt::MAILBOX)?;
        Ok(message)
    }

    /// What the firmware has written to the console since the last call, 64 bytes at most: firmware
    /// that always writes is as quick as this reads on a slow line. Those that are left, or come
    /// later, set HOST_IRQ_PENDING bit 9 again.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn read_console(&mut self) -> Result<Vec<u8>, CosimError> {
        // Cleared first: a byte that comes afterwards sets it again. All that came before are read.
        self.write("HOST_IRQ_PENDING", host_interrupt::CONSOLE)?;
        self.drain_console()
    }

    /// Reads the bytes that wait in the console.
    pub(crate) fn drain_console(&mut self) -> Result<Vec<u8>, CosimError> {
        let mut bytes = Vec::new();
        while bytes.len() < CONSOLE_BYTES {
            let word = self.read("CONSOLE")?;
            if word & NO_BYTE != 0 {
                break;
            }
            bytes.push(word as u8);
        }
        Ok(bytes)
    }

    /// Gives bytes to the console input, as many as there is room for; returns how many.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn write_console(&mut self, bytes: &[u8]) -> Result<usize, CosimError> {
        let free = (self.read("CONSOLE_IN")? & FREE_PLACES) as usize;
        let count = bytes.len().min(free);
        for byte in &bytes[..count] {
            self.write("CONSOLE_IN", u32::from(*byte))?;
        }
        Ok(count)
    }

    /// Sets the software interrupt of the harts in `harts`, and the bits in `events`, 31:16, of
    /// CP_IRQ_PENDING.
    ///
    /// # Errors
    /// [`CosimError::Option`] for a hart or an event that cannot be, or a register does not answer.
    pub fn ring(&mut self, harts: u32, events: u32) -> Result<(), CosimError> {
        super::host::option("doorbell of harts", harts, harts <= 0xff, "a bit for each of 8 harts")?;
        super::host::option("doorbell events", events, events & 0xffff == 0, "bits 31 to 16")?;
        self.write("CP_DOORBELL", harts | events)
    }

    /// Which events raise the output `irq`: bits of [`host_interrupt`].
    ///
    /// # Errors
    /// A register does not answer.
    pub fn enable_interrupts(&mut self, mask: u32) -> Result<(), CosimError> {
        self.write("HOST_IRQ_ENABLE", mask)
    }

    /// The events that are pending, which are cleared by it; that of the mailbox stays until
    /// [`Host::take_message`].
    ///
    /// # Errors
    /// A register does not answer.
    pub fn take_interrupts(&mut self) -> Result<u32, CosimError> {
        let pending = self.read("HOST_IRQ_PENDING")?;
        self.write("HOST_IRQ_PENDING", pending & !host_interrupt::MAILBOX)?;
        Ok(pending)
    }
}

impl Host<Simulation> {
    /// Lets the array work until its output `irq` is high, at most `cycles`; returns whether it is.
    ///
    /// # Errors
    /// The array breaks a rule of a bus, or stops by itself.
    pub fn wait_for_interrupt(&mut self, cycles: u64) -> Result<bool, CosimError> {
        for _ in 0..cycles {
            if self.device_mut().irq() {
                return Ok(true);
            }
            self.device_mut().step()?;
        }
        Ok(self.device_mut().irq())
    }
}
