//! The host's side while firmware runs.

use std::collections::VecDeque;

use super::device::Device;
use super::error::CosimError;
use super::host::Host;
use super::link::host_interrupt;
use crate::firmware::{Firmware, FirmwareEnd, MESSAGE_WORDS};

/// INVALIDATE: instruction caches and data caches.
const INVALIDATE: u32 = 3;

/// What goes between the host and running firmware.
#[derive(Debug, Default)]
pub struct FirmwareLink {
    /// Console output that nobody has taken yet.
    output: Vec<u8>,
    input: VecDeque<u8>,
    received: VecDeque<[u32; MESSAGE_WORDS]>,
    to_send: VecDeque<[u32; MESSAGE_WORDS]>,
    end: Option<FirmwareEnd>,
    /// A hart that stops or is locked up is the debugger's.
    debugged: bool,
}

impl FirmwareLink {
    /// Loads `firmware` and starts all harts. Firmware that ran before is ended, and the thread
    /// spawner is off. Addresses must be free: [`Firmware::check`].
    ///
    /// # Errors
    /// A hart does not become quiet (memory does not answer), threads that other firmware started
    /// do not end, or a register does not answer.
    pub fn load<D: Device>(host: &mut Host<D>, firmware: &Firmware) -> Result<Self, CosimError> {
        Self::load_with(host, firmware, &[])
    }

    /// As [`Self::load`], with words that are stored behind the firmware's own: addresses and
    /// values.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_with<D: Device>(
        host: &mut Host<D>,
        firmware: &Firmware,
        words: &[(u32, u32)],
    ) -> Result<Self, CosimError> {
        let all = Self::prepare(host, firmware, words)?;
        host.write("CP_CONTROL", all)?;
        Ok(Self::default())
    }

    /// As [`Self::load_with`], but all harts stop before their first instruction, for a
    /// [`Debugger`](super::Debugger). A hart that stops is then no end of the firmware.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_stopped<D: Device>(
        host: &mut Host<D>,
        firmware: &Firmware,
        words: &[(u32, u32)],
    ) -> Result<Self, CosimError> {
        let all = Self::prepare(host, firmware, words)?;
        // A hart that is held when it is told to stop does so when it starts.
        host.write("CP_STEP", all << 16)?;
        host.write("CP_CONTROL", all)?;
        host.wait_until("CP_STATUS", |status| status & all == all)?;
        Ok(Self { debugged: true, ..Self::default() })
    }

    /// The debugger has gone: a hart that stops or is locked up is an end again.
    pub fn undebugged(&mut self) {
        self.debugged = false;
    }

    /// Loads `firmware` and then `words`, all harts held; a bit for each.
    fn prepare<D: Device>(
        host: &mut Host<D>,
        firmware: &Firmware,
        words: &[(u32, u32)],
    ) -> Result<u32, CosimError> {
        let all = Self::hold(host)?;
        // Threads that it started may still run.
        if host.registers().any(|register| register.name == "SPAWN_BUSY") {
            host.write("SPAWN_CONTROL", 0)?;
            host.wait_until("SPAWN_BUSY", |busy| busy == 0)?;
        }
        host.clean_caches()?;
        for segment in &firmware.executable.segments {
            host.device_mut().write_memory(segment.address, &segment.bytes)?;
        }
        for (address, value) in words {
            host.device_mut().write_memory(*address, &value.to_le_bytes())?;
        }
        host.write("INVALIDATE", INVALIDATE)?;
        // What is left of other firmware: its events, messages, bytes.
        host.reset_link()?;
        host.write("CP_ENTRY", firmware.executable.entry)?;
        Ok(all)
    }

    /// Holds all harts.
    ///
    /// # Errors
    /// [`CosimError::HartBusy`] if memory does not answer a hart for 100,000 cycles; a register
    /// does not answer.
    pub fn stop<D: Device>(host: &mut Host<D>) -> Result<(), CosimError> {
        Self::hold(host).map(|_| ())
    }

    /// Holds all harts until they are quiet; a bit for each.
    fn hold<D: Device>(host: &mut Host<D>) -> Result<u32, CosimError> {
        let harts = host.read("CP_STATUS")? >> 24 & 15;
        let all = (1 << harts) - 1;
        // The PC of a hart that is held is where it begins.
        let pcs = (0..harts).map(|hart| Self::pc(host, hart)).collect::<Result<Vec<_>, _>>()?;
        host.write("CP_CONTROL", 0)?;
        match host.wait_until("CP_QUIET", |quiet| quiet & all == all) {
            Ok(()) => Ok(all),
            Err(CosimError::StillBusy { cycles, .. }) => {
                let hart = (!host.read("CP_QUIET")? & all).trailing_zeros();
                Err(CosimError::HartBusy { hart, pc: pcs[hart as usize], cycles })
            }
            Err(error) => Err(error),
        }
    }

    /// Bytes for the console of the firmware.
    pub fn type_in(&mut self, bytes: &[u8]) {
        self.input.extend(bytes);
    }

    /// A message for the firmware, which gets it when it has taken those before.
    pub fn send(&mut self, words: [u32; MESSAGE_WORDS]) {
        self.to_send.push_back(words);
    }

    /// The oldest message of the firmware.
    pub fn receive(&mut self) -> Option<[u32; MESSAGE_WORDS]> {
        self.received.pop_front()
    }

    /// Console output since the last call.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// How the firmware ended, if it has.
    #[must_use]
    pub fn end(&self) -> Option<FirmwareEnd> {
        self.end
    }

    /// Does what the firmware waits for: takes its console output and messages, gives it input.
    /// Gives how it ended, if it has; fault records are the host's then.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn attend<D: Device>(&mut self, host: &mut Host<D>) -> Result<Option<FirmwareEnd>, CosimError> {
        if self.end.is_none() {
            self.end = self.look(host)?;
            if self.end.is_some() {
                self.output.extend(host.drain_console()?);
                host.take_back_faults()?;
            }
        }
        Ok(self.end)
    }

    /// As [`Self::attend`], while it runs.
    fn look<D: Device>(&mut self, host: &mut Host<D>) -> Result<Option<FirmwareEnd>, CosimError> {
        let pending = host.read("HOST_IRQ_PENDING")?;
        if pending & host_interrupt::CONSOLE != 0 {
            self.output.extend(host.read_console()?);
        }
        if pending & host_interrupt::MAILBOX != 0 {
            let words = host.read_message()?;
            // The hart that ends holds the others, waits until the mailbox is empty, says that it
            // ends, and then fills it.
            if pending & host_interrupt::ENDED != 0 {
                return Ok(Some(FirmwareEnd::of_words(words)));
            }
            self.received.push_back(words);
        }
        if !self.debugged && pending & (host_interrupt::LOCKED_UP | host_interrupt::STOPPED) != 0 {
            let status = host.read("CP_STATUS")?;
            let first = |bits: u32| (bits & 0xff != 0).then(|| (bits & 0xff).trailing_zeros());
            let locked = first(status >> 16);
            if let Some(hart) = locked.or_else(|| first(status)) {
                let pc = Self::pc(host, hart)?;
                return Ok(Some(match locked {
                    Some(_) => FirmwareEnd::LockedUp { hart, pc },
                    None => FirmwareEnd::Stopped { hart, pc },
                }));
            }
        }
        self.give(host)?;
        Ok(None)
    }

    /// The PC of a hart.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn pc<D: Device>(host: &mut Host<D>, hart: u32) -> Result<u32, CosimError> {
        host.write("CP_SELECT", hart)?;
        host.read("CP_PC")
    }

    fn give<D: Device>(&mut self, host: &mut Host<D>) -> Result<(), CosimError> {
        if !self.input.is_empty() {
            let given = host.write_console(self.input.make_contiguous())?;
            self.input.drain(..given);
        }
        if let Some(words) = self.to_send.front() {
            match host.send_message(*words) {
                Err(CosimError::MailboxFull) => {}
                sent => {
                    sent?;
                    self.to_send.pop_front();
                }
            }
        }
        Ok(())
    }
}
