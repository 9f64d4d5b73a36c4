//! The host's side while firmware runs.

use std::collections::VecDeque;

use super::image::Firmware;
use crate::cosim::{host_interrupt, CosimError, Device, Host, MESSAGE_WORDS};

/// Word 0 of MAILBOX_OUT: the firmware ended otherwise than by its `main`.
const FAILED: u32 = 1 << 31;
/// Bit of a cause: an interrupt.
const INTERRUPT: u32 = 1 << 30;
/// The code of a stack overflow.
const STACK_OVERFLOW: u32 = 0x8000_00ff;
/// The instruction that ends a handler of a user-level interrupt.
const ERETURN: u32 = 0x0000_100b;
/// INVALIDATE: instruction caches and data caches.
const INVALIDATE: u32 = 3;

/// How firmware ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirmwareEnd {
    /// `main` returned, or `firmware_end` was called.
    Value(u32),
    /// An exception or interrupt without a handler.
    Trap {
        /// `mcause`; of an interrupt bit 30 is set.
        cause: u32,
        /// `mepc`.
        pc: u32,
        /// `mtval`.
        value: u32,
        /// The hart.
        hart: u32,
    },
    /// The guard word below a stack was changed, or a trap found no room.
    StackOverflow {
        /// Where that was noticed.
        pc: u32,
        /// The stack pointer then.
        stack: u32,
        /// The hart.
        hart: u32,
    },
    /// The trap handler could not execute its first instruction.
    LockedUp {
        /// The hart.
        hart: u32,
        /// Its PC.
        pc: u32,
    },
    /// `ebreak` stopped a hart.
    Stopped {
        /// The hart.
        hart: u32,
        /// Its PC.
        pc: u32,
    },
}

impl FirmwareEnd {
    /// What the four words of MAILBOX_OUT say.
    #[must_use]
    pub fn of_words([code, pc, value, hart]: [u32; MESSAGE_WORDS]) -> Self {
        match code {
            STACK_OVERFLOW => Self::StackOverflow { pc, stack: value, hart },
            _ if code & FAILED == 0 => Self::Value(code),
            _ => Self::Trap { cause: code & !FAILED, pc, value, hart },
        }
    }

    /// What happened, with functions and lines of `firmware`.
    #[must_use]
    pub fn explain(&self, firmware: &Firmware) -> String {
        match *self {
            Self::Value(value) => format!("main returned {value}"),
            Self::Trap { cause, pc, value, hart } => format!(
                "hart {hart}: {} at {}; cause {}, value {value:#010x}{}",
                cause_name(cause),
                firmware.place(pc),
                cause & 0xff,
                illegal(cause, value).unwrap_or_default()
            ),
            Self::StackOverflow { pc, stack, hart } => format!(
                "hart {hart}: stack overflow, noticed at {}; stack pointer {stack:#010x}: a hart has 2048 bytes, 1024 if there are more than four",
                firmware.place(pc)
            ),
            Self::LockedUp { hart, pc } => format!(
                "hart {hart} is locked up at {}: an exception came before the trap handler had executed an instruction",
                firmware.place(pc)
            ),
            Self::Stopped { hart, pc } => format!("hart {hart} stopped at {}: ebreak", firmware.place(pc)),
        }
    }
}

/// What the illegal instruction `word` asked for: ERETURN where nothing is blocked, or EMONITOR of
/// a channel or scenario that the array does not have.
fn illegal(cause: u32, word: u32) -> Option<String> {
    if cause == 2 && word == ERETURN {
        return Some(
            ": ERETURN outside of a user-level interrupt; handlers of `interrupt_handle` and `exception_handle` are plain functions, none of ULI_HANDLER"
                .into(),
        );
    }
    // custom-0 with function 0; the scenario and the channel are bits 31:28 and 27:25.
    let is_emonitor = cause == 2 && word & 0x707f == 0x000b;
    let (scenario, channel) = (word >> 28, word >> 25 & 7);
    is_emonitor.then(|| {
        format!(
            ": EMONITOR of channel {channel}, scenario {scenario}, which the array does not have; --uli-channels says how many channels a hart has, and 2, 3 and 11 need a thread spawner, events and a network interface"
        )
    })
}

/// The name of a cause of `mcause`.
fn cause_name(cause: u32) -> &'static str {
    match cause {
        0 => "jump to an address that is no multiple of 4",
        1 => "no instruction can be fetched",
        2 => "illegal instruction",
        3 => "ebreak",
        4 => "load from an address that is not aligned",
        5 => "load where there is no memory or register",
        6 => "store to an address that is not aligned",
        7 => "store where there is no memory or register",
        11 => "ecall",
        _ if cause & INTERRUPT != 0 => "interrupt without a handler",
        _ => "trap",
    }
}

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
