//! Harts with memory, timer, mailboxes and console, without an array: runs firmware on the
//! reference simulator.

use std::collections::{BTreeMap, VecDeque};

use super::hart::{Abilities, MachineHart, Retired, State};
use super::memory::{Registers, Shared};
use crate::iss::{AddressError, MemoryImage};
use crate::kernel::Executable;
use hermes_rtl::host::registers::REGISTERS;

/// Bytes of the shared memory.
const MEMORY_BYTES: u64 = 1 << 32;
/// Registers of mailbox, console and interrupts (docs/registers.md).
const CP_CONTROL: u32 = 0x300;
const CP_DOORBELL: u32 = 0x30c;
const CP_IRQ_PENDING: u32 = 0x310;
const CP_IRQ_ENABLE: u32 = 0x320;
const MAILBOX_IN: u32 = 0x340;
const MAILBOX_OUT: u32 = 0x350;
const CONSOLE: u32 = 0x360;
const HOST_IRQ_PENDING: u32 = 0x364;
const HOST_IRQ_RAISE: u32 = 0x36c;
const CONSOLE_IN: u32 = 0x3ac;
/// Bits of `CP_IRQ_PENDING`.
const MAILBOX_FILLED: u32 = 1 << 4;
const CONSOLE_BYTE: u32 = 1 << 7;
/// Bit of `HOST_IRQ_PENDING`: the firmware has ended.
const ENDED: u32 = 1 << 6;

/// The registers of the array as firmware meets them: mailboxes, console and interrupts work, the
/// others keep what was written to them.
#[derive(Debug, Default)]
pub struct Array {
    /// What the firmware wrote to the console.
    pub output: Vec<u8>,
    /// What `MAILBOX_OUT` got, when word 0 was written.
    pub sent: Vec<[u32; 4]>,
    /// Bits of `HOST_IRQ_PENDING`.
    pub host_pending: u32,
    /// The cycle.
    pub now: u64,
    input: VecDeque<u8>,
    mailbox_in: [u32; 4],
    mailbox_out: [u32; 4],
    pending: u32,
    /// Harts that one of them holds, a bit each.
    held: u32,
    /// Messages sent before the firmware said that it ends.
    sent_before_end: usize,
    others: BTreeMap<u32, u32>,
}

impl Array {
    /// The host writes to the console.
    pub fn type_in(&mut self, bytes: &[u8]) {
        self.input.extend(bytes);
        if !bytes.is_empty() {
            self.pending |= CONSOLE_BYTE;
        }
    }

    /// The host fills the mailbox. `false`: it is full.
    pub fn send(&mut self, words: [u32; 4]) -> bool {
        if self.pending & MAILBOX_FILLED != 0 {
            return false;
        }
        self.mailbox_in = words;
        self.pending |= MAILBOX_FILLED;
        true
    }

    /// The message with which the firmware ended.
    fn last_words(&self) -> Option<[u32; 4]> {
        let ended = self.host_pending & ENDED != 0;
        self.sent.get(self.sent_before_end).copied().filter(|_| ended)
    }

    /// Sets the register at `offset`, as the hardware does.
    pub fn set(&mut self, offset: u32, value: u32) {
        self.others.insert(offset, value);
    }

    /// What was last written to the register at `offset`.
    #[must_use]
    pub fn get(&self, offset: u32) -> u32 {
        self.others.get(&offset).copied().unwrap_or(0)
    }

    /// Bytes of the console on their way to the processor that it has not read.
    #[must_use]
    pub fn unread(&self) -> usize {
        self.input.len()
    }
}

impl Registers for Array {
    fn read(&mut self, _: u32, offset: u32) -> Option<u32> {
        let word = ((offset & 0xf) / 4) as usize;
        Some(match offset {
            CP_IRQ_PENDING => self.pending,
            MAILBOX_IN..=0x34c => self.mailbox_in[word],
            MAILBOX_OUT..=0x35c => self.mailbox_out[word],
            CONSOLE => 64,
            CONSOLE_IN => self.input.pop_front().map_or(1 << 31, u32::from),
            HOST_IRQ_PENDING => self.host_pending,
            _ if self.others.contains_key(&offset) || is_register(offset) => self.get(offset),
            _ => return None,
        })
    }

    fn write(&mut self, _: u32, offset: u32, value: u32) -> bool {
        let word = ((offset & 0xf) / 4) as usize;
        match offset {
            CP_IRQ_PENDING => self.pending &= !value,
            CP_CONTROL => {
                self.held = !value & 0xff;
                self.set(offset, value);
            }
            CP_DOORBELL => self.pending |= value & 0xffff_0000,
            MAILBOX_IN..=0x34c | CONSOLE_IN => {}
            MAILBOX_OUT..=0x35c => {
                self.mailbox_out[word] = value;
                if word == 0 {
                    self.sent.push(self.mailbox_out);
                }
            }
            CONSOLE => self.output.push(value as u8),
            HOST_IRQ_RAISE => {
                self.host_pending |= value & (ENDED | 1);
                self.sent_before_end = self.sent.len();
            }
            CP_IRQ_ENABLE..=0x33c => self.set(offset, value),
            _ if is_register(offset) => self.set(offset, value),
            _ => return false,
        }
        true
    }

    fn cycle(&mut self, _: u32) -> u64 {
        self.now
    }

    fn external(&mut self, hart: u32) -> bool {
        self.pending & self.get(CP_IRQ_ENABLE + 4 * hart) != 0
    }

    fn spawn_busy(&mut self, _: u32) -> u32 {
        0
    }

    fn move_page(&mut self, _: u32, _: u32) -> bool {
        true
    }
}

fn is_register(offset: u32) -> bool {
    REGISTERS.iter().any(|register| register.offset == offset)
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemEnd {
    /// The firmware raised bit 6 of `HOST_IRQ_PENDING`; the words that it then sent by
    /// `MAILBOX_OUT`.
    Ended([u32; 4]),
    /// This hart is locked up.
    LockedUp(u32),
    /// This hart is stopped at `ebreak`.
    Stopped(u32),
    /// Every hart waits for an interrupt, and none will come.
    Idle,
    /// So many cycles have passed.
    Limit,
}

/// Harts that take turns, an instruction each; an instruction takes a cycle.
pub struct MachineSystem {
    /// The harts.
    pub harts: Vec<MachineHart>,
    /// What they share.
    pub shared: Shared<Array>,
}

impl MachineSystem {
    /// `harts` harts at the entry of `program`.
    ///
    /// # Errors
    /// A segment is outside the memory.
    pub fn new(program: &Executable, harts: u32, abilities: Abilities) -> Result<Self, AddressError> {
        let mut memory = MemoryImage::new(MEMORY_BYTES);
        for segment in &program.segments {
            memory.write(segment.address, &segment.bytes)?;
        }
        let hart = |number| MachineHart::new(number, program.entry, abilities);
        let shared = Shared::new(memory, harts, Array::default());
        Ok(Self { harts: (0..harts).map(hart).collect(), shared })
    }

    /// Runs at most `cycles` cycles; `see` is told every instruction with the hart that executed
    /// it.
    pub fn run(&mut self, cycles: u64, mut see: impl FnMut(&MachineHart, &Retired)) -> SystemEnd {
        let end = self.shared.timer.time.saturating_add(cycles);
        while self.shared.timer.time < end {
            let mut idle = true;
            for index in 0..self.harts.len() {
                let hart = &mut self.harts[index];
                let number = hart.csrs.hart;
                let pending = self.shared.pending(number);
                if self.shared.registers.held >> number & 1 == 1 {
                    continue;
                }
                match hart.state {
                    State::LockedUp => return SystemEnd::LockedUp(number),
                    State::Stopped => return SystemEnd::Stopped(number),
                    State::Waiting if !hart.wakes(pending) => continue,
                    State::Running | State::Waiting => {}
                }
                idle = false;
                let event = hart.due(pending);
                let retired = hart.step(&mut self.shared, event);
                let retired = retired.unwrap_or_else(|error| unreachable!("hart {number}: {error}"));
                see(hart, &retired);
                if let (Some(address), Some(_)) = (retired.address, retired.stored) {
                    self.harts.iter_mut().filter(|hart| hart.csrs.hart != number).for_each(|hart| {
                        hart.channels.written(address & !3, 4);
                        hart.hart.reservation = hart.hart.reservation.filter(|line| *line != address / 64);
                    });
                }
            }
            self.shared.registers.now += 1;
            self.shared.timer.time += 1;
            if let Some(words) = self.shared.registers.last_words() {
                return SystemEnd::Ended(words);
            }
            if idle && !self.skip_to_timer(end) {
                return SystemEnd::Idle;
            }
        }
        SystemEnd::Limit
    }

    /// Goes on to the cycle in which the first timer rings, or to `end`; `false` if none will wake
    /// a hart.
    fn skip_to_timer(&mut self, end: u64) -> bool {
        let timers = self.harts.iter().filter(|hart| hart.csrs.enable >> 7 & 1 != 0);
        let next = timers.map(|hart| self.shared.timer.compare[hart.csrs.hart as usize]).min();
        match next {
            Some(u64::MAX) | None => false,
            Some(time) => {
                let ahead = time.min(end).saturating_sub(self.shared.timer.time);
                self.shared.timer.time += ahead;
                self.shared.registers.now += ahead;
                true
            }
        }
    }
}
