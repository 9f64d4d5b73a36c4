//! The channels of user-level interrupts of a hart.

use super::hart::Abilities;
use super::memory::OUTSIDE;

/// Scenario 1: a byte of a range is written.
pub const WRITTEN: u32 = 1;
/// Scenario 11: a command of a warp waits for a hart. There is none where this model runs.
pub const COMMAND: u32 = 11;

/// A channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    /// What it waits for; 0: it is disarmed.
    pub scenario: u32,
    /// The context that armed it.
    pub context: u32,
    /// PC of its handler.
    pub handler: u32,
    /// What it watches.
    pub parameter: u32,
    /// An event is to be delivered.
    pub pending: bool,
}

impl Channel {
    /// Whether it waits for something.
    #[must_use]
    pub fn armed(&self) -> bool {
        self.scenario != 0
    }

    /// First byte of the range that a parameter of scenario 1 names, and its bytes.
    #[must_use]
    pub fn range(parameter: u32) -> (u32, u64) {
        match parameter & 3 {
            3 => {
                let bytes = 2 << u64::from(parameter.trailing_ones());
                (parameter & !(bytes - 1) as u32, bytes)
            }
            _ => (parameter & !3, 4),
        }
    }

    /// Whether a write to these bytes is an event of the channel.
    #[must_use]
    pub fn watches(&self, address: u32, bytes: u32) -> bool {
        let (base, size) = Self::range(self.parameter);
        let (from, base) = (u64::from(address), u64::from(base));
        self.scenario == WRITTEN && from < base + size && base < from + u64::from(bytes)
    }
}

/// The channels of a hart and their CSRs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels {
    /// The channels; none: the hart has no user-level interrupts.
    pub channel: Vec<Channel>,
    /// `ulictl` bit 0: nothing is delivered.
    pub block: bool,
    /// `ulictl` bit 1: that was so before the trap.
    pub blocked_before: bool,
    /// `ulictl` bits 15:8.
    pub context: u32,
    /// `uliepc`.
    pub pc: u32,
    /// `ulicause`.
    pub cause: u32,
}

impl Channels {
    /// `count` channels, as after reset.
    #[must_use]
    pub fn new(count: usize) -> Self {
        let channel = vec![Channel::default(); count];
        Self { channel, block: false, blocked_before: false, context: 0, pc: 0, cause: 0 }
    }

    /// The bits of the channels for which `has` holds.
    fn mask(&self, has: impl Fn(&Channel) -> bool) -> u32 {
        self.channel.iter().enumerate().map(|(index, channel)| u32::from(has(channel)) << index).sum()
    }

    /// The CSR with this number, `spawnbusy` left out; `None` if it is illegal to name it.
    #[must_use]
    pub fn read(&self, number: u32, abilities: &Abilities) -> Option<u32> {
        if self.channel.is_empty() {
            return None;
        }
        let channel = || self.channel.get((number & 0xf) as usize).filter(|_| abilities.channel_csrs);
        Some(match number {
            0x800 => self.pc,
            0x801 => self.context << 8 | u32::from(self.blocked_before) << 1 | u32::from(self.block),
            0x802 => self.mask(|channel| channel.pending),
            0x803 => self.mask(Channel::armed),
            0x804 => self.cause,
            0x810..=0x81f => channel()?.handler,
            0x820..=0x82f => channel()?.parameter,
            0x830..=0x83f => {
                let channel = channel()?;
                status(channel)
            }
            _ => return None,
        })
    }

    /// Whether the CSR with this number can be written.
    #[must_use]
    pub fn is_writable(number: u32) -> bool {
        matches!(number, 0x800 | 0x801 | 0x802 | 0x804)
    }

    /// Writes a CSR that can be written.
    pub fn write(&mut self, number: u32, value: u32) {
        match number {
            0x800 => self.pc = value & !3,
            0x801 => {
                self.block = value & 1 != 0;
                self.blocked_before = value & 2 != 0;
                self.context = value >> 8 & 0xff;
            }
            0x802 => {
                for (index, channel) in self.channel.iter_mut().enumerate() {
                    channel.pending = value >> index & 1 != 0;
                }
            }
            _ => self.cause = value & 0xf1f,
        }
    }

    /// EMONITOR: gives what the channel was; `None` if the instruction is illegal.
    pub fn monitor(&mut self, word: u32, handler: u32, parameter: u32, abilities: &Abilities) -> Option<u32> {
        let (scenario, number) = (word >> 28, (word >> 25 & 7) as usize);
        let context = self.context;
        let channel = self.channel.get_mut(number)?;
        let legal = match scenario {
            0 => true,
            _ if handler & 3 != 0 => false,
            WRITTEN => matches!(parameter & 3, 0 | 3) && Channel::range(parameter).0 < OUTSIDE,
            2 | 3 => abilities.channel_csrs,
            COMMAND => abilities.window,
            _ => false,
        };
        if !legal {
            return None;
        }
        let refused = channel.armed() && channel.context != context;
        let before = status(channel) | u32::from(refused) << 31;
        if !refused {
            *channel = Channel { scenario, context, handler, parameter, pending: false };
        }
        Some(before)
    }

    /// The channel that is to be delivered, whether or not delivery is blocked.
    #[must_use]
    pub fn deliverable(&self) -> Option<usize> {
        self.channel.iter().position(|c| c.armed() && c.pending && c.context == self.context)
    }

    /// Whether a channel ends `wfi`.
    #[must_use]
    pub fn wakes(&self) -> bool {
        self.channel.iter().any(|channel| channel.armed() && channel.pending)
    }

    /// Somebody else wrote these bytes.
    pub fn written(&mut self, address: u32, bytes: u32) {
        for channel in &mut self.channel {
            channel.pending |= channel.watches(address, bytes);
        }
    }

    /// An event of scenario 2 or 3: the bits of it that are set.
    pub fn event(&mut self, scenario: u32, bits: u32) {
        for channel in self.channel.iter_mut().filter(|channel| channel.scenario == scenario) {
            channel.pending |= channel.parameter & bits != 0;
        }
    }
}

/// What EMONITOR and the CSRs 0x830 to 0x83f say of a channel.
fn status(channel: &Channel) -> u32 {
    u32::from(channel.armed()) << 30
        | u32::from(channel.pending) << 29
        | channel.context << 16
        | channel.scenario << 8
}
