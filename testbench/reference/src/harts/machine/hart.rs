//! One hart in machine mode.

use std::fmt;

use super::channels::Channels;
use super::csrs::{Csr, MachineCsrs, Volatile};
use hermes_rtl::config::Config;

use super::memory::{Registers, Shared, View, OUTSIDE};
use crate::iss::{Cause, Fault, Hart, Isa, Memory, NoCsrs, Op};

/// What a hart can do, as the array's configuration has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Multiplication and division.
    pub m: bool,
    /// Atomic operations.
    pub atomics: bool,
    /// Compare-and-swap.
    pub compare_and_swap: bool,
    /// Channels of user-level interrupts: 0, 1, 2, 4 or 8.
    pub channels: usize,
    /// The CSRs 0x810 to 0x83f, and scenarios 2 and 3.
    pub channel_csrs: bool,
    /// Local memory, timer, and registers of the array.
    pub devices: bool,
    /// CSR `muncached`.
    pub uncached: bool,
    /// The window of a network interface: which accesses are faults, and scenario 11; nothing is
    /// behind it.
    pub window: bool,
}

impl Abilities {
    /// All that docs/command-processor.md has to come, without network interface.
    pub const ALL: Self = Self {
        m: true,
        atomics: true,
        compare_and_swap: true,
        channels: 2,
        channel_csrs: true,
        devices: true,
        uncached: true,
        window: false,
    };

    /// What an array with all options has now.
    pub const PRESENT: Self = Self::ALL;

    /// What the harts of an array with this configuration can do.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        Self {
            atomics: config.atomics,
            compare_and_swap: config.compare_and_swap,
            channels: config.uli_channels,
            uncached: config.command_cache_lines > 0,
            window: config.network,
            ..Self::PRESENT
        }
    }

    fn isa(&self) -> Isa {
        Isa { m: self.m, atomics: self.atomics, compare_and_swap: self.compare_and_swap, ..Isa::RV32IM_ZBB }
    }

    /// `misa`: I, M, instructions that are no standard ones, and A where it is.
    #[must_use]
    pub fn misa(&self) -> u32 {
        0x4080_1100 | u32::from(self.atomics)
    }
}

/// What a hart does between two instructions, before the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It takes the interrupt of machine mode with this number: 3, 7 or 11.
    Interrupt(u32),
    /// It takes the user-level interrupt of this channel.
    Channel(usize),
}

/// Whether a hart goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It executes instructions.
    Running,
    /// It waits for an interrupt (`wfi`).
    Waiting,
    /// `ebreak` stopped it; the PC is there.
    Stopped,
    /// An exception came before an instruction had retired since the last trap.
    LockedUp,
}

/// An instruction that retired, or that raised an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retired {
    /// Its address.
    pub pc: u32,
    /// Address of the next.
    pub next_pc: u32,
    /// Its word; 0 if it could not be fetched.
    pub word: u32,
    /// Register that it writes and the value.
    pub result: Option<(u8, u32)>,
    /// Address of a load, store or atomic operation.
    pub address: Option<u32>,
    /// Value of a store or atomic operation.
    pub stored: Option<u32>,
    /// The exception that it raises.
    pub trap: Option<Fault>,
    /// What was taken before it.
    pub taken: Option<Taken>,
    /// Its result is a counter, the time, pending interrupts or a register of the array.
    pub volatile: bool,
}

/// How what the array does cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// An interrupt that is not enabled, not pending, or not the most urgent.
    Interrupt {
        /// The interrupt that was taken.
        taken: u32,
        /// `mip` and `mie`.
        pending: u32,
        /// `mie`.
        enable: u32,
        /// `mstatus.MIE`.
        enabled: bool,
    },
    /// A channel that is not to be delivered.
    Channel {
        /// The channel that was taken.
        taken: usize,
        /// The channel that is to be delivered, but for `block` and interrupts of machine mode.
        deliverable: Option<usize>,
        /// `ulictl` bit 0.
        block: bool,
    },
    /// An instruction of a hart that waits for an interrupt, though nothing wakes it.
    Asleep,
    /// An instruction of a hart that is stopped or locked up.
    Ended(State),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupt { taken, pending, enable, enabled } => write!(
                f,
                "interrupt {taken} is taken; mip {pending:#x}, mie {enable:#x}, mstatus.MIE {}",
                u32::from(*enabled)
            ),
            Self::Channel { taken, deliverable, block } => write!(
                f,
                "channel {taken} is delivered; to be delivered: {deliverable:?}, block {}",
                u32::from(*block)
            ),
            Self::Asleep => {
                f.write_str("an instruction while the hart waits for an interrupt, and none is pending")
            }
            Self::Ended(state) => write!(f, "an instruction of a hart that is {state:?}"),
        }
    }
}

/// What an instruction that only the command processor has does.
struct Effect {
    next_pc: u32,
    rd: u8,
    result: Option<u32>,
    address: Option<u32>,
    stored: Option<u32>,
    /// It does not count in `minstret`, which it writes.
    uncounted: bool,
}

/// A hart of the command processor.
#[derive(Clone, Debug)]
pub struct MachineHart {
    /// PC, registers and reservation.
    pub hart: Hart,
    /// CSRs of machine mode.
    pub csrs: MachineCsrs,
    /// User-level interrupts.
    pub channels: Channels,
    /// Whether it goes on.
    pub state: State,
    /// `ebreak` stops it (CP_CONTROL bit 8).
    pub stops_on_break: bool,
    abilities: Abilities,
    /// No instruction has retired since the last trap.
    fresh_trap: bool,
}

impl MachineHart {
    /// Hart `number` as it starts at `entry`. Its registers are 0, which those of the array need
    /// not be.
    #[must_use]
    pub fn new(number: u32, entry: u32, abilities: Abilities) -> Self {
        Self {
            hart: Hart::new(entry),
            csrs: MachineCsrs::new(number),
            channels: Channels::new(abilities.channels),
            state: State::Running,
            stops_on_break: false,
            abilities,
            fresh_trap: false,
        }
    }

    /// Whether `wfi` ends, if `pending` is `mip`.
    #[must_use]
    pub fn wakes(&self, pending: u32) -> bool {
        self.channels.wakes() || pending & self.csrs.enable != 0
    }

    /// What a hart that nobody tells takes before its next instruction, if `pending` is `mip`.
    #[must_use]
    pub fn due(&self, pending: u32) -> Option<Taken> {
        let channel = || self.channels.deliverable().filter(|_| !self.channels.block).map(Taken::Channel);
        self.csrs.interrupt(pending).map(Taken::Interrupt).or_else(channel)
    }

    /// Ends a sleep: `wfi` may end at any time, and does when a debugger stops the hart.
    pub fn wake_up(&mut self) {
        if self.state == State::Waiting {
            self.state = State::Running;
        }
    }

    /// The hart takes `event`: it goes on at the first instruction of a handler.
    ///
    /// # Errors
    /// [`Difference`]: the event was not allowed; the hart is as before then.
    pub fn take<R: Registers>(&mut self, shared: &mut Shared<R>, event: Taken) -> Result<(), Difference> {
        if matches!(self.state, State::Stopped | State::LockedUp) {
            return Err(Difference::Ended(self.state));
        }
        let pending = shared.pending(self.csrs.hart);
        match event {
            Taken::Interrupt(number) => {
                if self.csrs.interrupt(pending) != Some(number) {
                    let MachineCsrs { enable, enabled, .. } = self.csrs;
                    return Err(Difference::Interrupt { taken: number, pending, enable, enabled });
                }
                self.trap(1 << 31 | number, 0);
            }
            Taken::Channel(number) => {
                let (deliverable, block) = (self.channels.deliverable(), self.channels.block);
                if deliverable != Some(number) || block {
                    return Err(Difference::Channel { taken: number, deliverable, block });
                }
                let channel = &mut self.channels.channel[number];
                channel.pending = false;
                self.hart.reservation = None;
                self.channels.pc = self.hart.pc;
                self.channels.cause = channel.scenario << 8 | number as u32;
                self.hart.pc = channel.handler;
                self.channels.block = true;
            }
        }
        self.state = State::Running;
        Ok(())
    }

    /// The hart takes `event`, then executes one instruction. Gives the instruction, which may have
    /// raised an exception.
    ///
    /// # Errors
    /// [`Difference`]: the event was not allowed, or the hart executes nothing; it is as before
    /// then.
    pub fn step<R: Registers>(
        &mut self,
        shared: &mut Shared<R>,
        event: Option<Taken>,
    ) -> Result<Retired, Difference> {
        match event {
            Some(event) => self.take(shared, event)?,
            None => match self.state {
                State::Stopped | State::LockedUp => return Err(Difference::Ended(self.state)),
                State::Waiting if !self.wakes(shared.pending(self.csrs.hart)) => {
                    return Err(Difference::Asleep);
                }
                State::Waiting | State::Running => self.state = State::Running,
            },
        }
        Ok(self.execute(shared, event))
    }

    /// Enters a trap at the present PC.
    fn trap(&mut self, cause: u32, value: u32) {
        self.hart.reservation = None;
        self.hart.pc = self.csrs.enter(self.hart.pc, cause, value);
        self.channels.blocked_before = self.channels.block;
        self.channels.block = !self.channels.channel.is_empty();
        self.fresh_trap = true;
    }

    fn execute<R: Registers>(&mut self, shared: &mut Shared<R>, taken: Option<Taken>) -> Retired {
        let pc = self.hart.pc;
        let abilities = self.abilities;
        let mut view = View { shared, hart: self.csrs.hart, abilities: &abilities, volatile: false };
        let fetched = view.fetch(pc).map_err(|cause| Fault { cause, value: pc });
        let word = fetched.unwrap_or(0);
        let outcome = fetched.and_then(|word| match word & 0x7f {
            0x73 | 0x0f | 0x0b => self.system(word, &mut view),
            _ => {
                let before = self.hart.x;
                let (instruction, outcome) = self.hart.step(&abilities.isa(), &mut view, &NoCsrs)?;
                // A comparison that fails writes nothing.
                let keeps = instruction.op == Op::AmocasW
                    && outcome.result != Some(before[usize::from(instruction.rd)]);
                Ok(Effect {
                    next_pc: outcome.next_pc,
                    rd: instruction.rd,
                    result: outcome.result,
                    address: outcome.address,
                    stored: outcome.stored.filter(|_| !keeps),
                    uncounted: false,
                })
            }
        });
        let nothing = Retired {
            pc,
            next_pc: pc,
            word,
            result: None,
            address: None,
            stored: None,
            trap: None,
            taken,
            volatile: view.volatile,
        };
        match outcome {
            Ok(effect) => {
                if let (Some(value), 1..) = (effect.result, effect.rd) {
                    self.hart.x[usize::from(effect.rd)] = value;
                }
                self.hart.pc = effect.next_pc;
                self.fresh_trap = false;
                if !effect.uncounted {
                    self.csrs.retired = self.csrs.retired.wrapping_add(1);
                }
                let result = effect.result.filter(|_| effect.rd != 0).map(|value| (effect.rd, value));
                let Effect { next_pc, address, stored, .. } = effect;
                Retired { next_pc, result, address, stored, ..nothing }
            }
            Err(fault) => {
                if fault.cause == Cause::Breakpoint && self.stops_on_break {
                    self.state = State::Stopped;
                } else if self.fresh_trap {
                    self.state = State::LockedUp;
                } else {
                    self.trap(fault.cause as u32, fault.value);
                }
                Retired { next_pc: self.hart.pc, trap: Some(fault), ..nothing }
            }
        }
    }

    /// Executes an instruction of opcode 0x73, 0x0f or custom-0.
    fn system<R: Registers>(&mut self, word: u32, view: &mut View<'_, R>) -> Result<Effect, Fault> {
        let pc = self.hart.pc;
        let illegal = Fault { cause: Cause::Illegal, value: word };
        let register = |low: u32| (word >> low & 31) as u8;
        let (rd, rs1, rs2, funct3) = (register(7), register(15), register(20), word >> 12 & 7);
        let (a, b) = (self.hart.x[usize::from(rs1)], self.hart.x[usize::from(rs2)]);
        let mut effect = Effect {
            next_pc: pc.wrapping_add(4),
            rd: 0,
            result: None,
            address: None,
            stored: None,
            uncounted: false,
        };
        // All of these but reads of CSRs end a reservation.
        let reads = word & 0x7f == 0x73 && funct3 & 3 >= 2 && rs1 == 0;
        if !reads {
            self.hart.reservation = None;
        }
        match word & 0x7f {
            0x0f if funct3 <= 1 => return Ok(effect),
            0x73 if funct3 == 0 => match word {
                0x0000_0073 => return Err(Fault { cause: Cause::EnvironmentCall, value: 0 }),
                0x0010_0073 => return Err(Fault { cause: Cause::Breakpoint, value: pc }),
                0x3020_0073 => {
                    effect.next_pc = self.csrs.leave();
                    self.channels.block = self.channels.blocked_before;
                }
                0x1050_0073 => self.state = State::Waiting,
                _ => return Err(illegal),
            },
            0x73 if funct3 != 4 => {
                let number = word >> 20;
                let operand = if funct3 & 4 != 0 { rs1.into() } else { a };
                let writes = funct3 & 3 == 1 || rs1 != 0;
                let channel = self.channels.read(number, &self.abilities).map(Csr::Value);
                let busy = (number == 0x805 && !self.channels.channel.is_empty())
                    .then_some(Csr::Volatile(Volatile::SpawnBusy));
                let known = channel.or(busy).or_else(|| self.csrs.read(number, &self.abilities));
                let own = number >> 8 == 8;
                let read_only = number >> 10 == 3 || (own && !Channels::is_writable(number));
                let Some(csr) = known.filter(|_| !writes || !read_only) else { return Err(illegal) };
                let old = match csr {
                    Csr::Value(value) => value,
                    Csr::Volatile(what) => {
                        view.volatile = true;
                        self.volatile(what, view.shared)
                    }
                };
                if writes {
                    let value = match funct3 & 3 {
                        1 => operand,
                        2 => old | operand,
                        _ => old & !operand,
                    };
                    if own {
                        self.channels.write(number, value);
                    } else {
                        let cycle = view.shared.registers.cycle(self.csrs.hart);
                        effect.uncounted = self.csrs.write(number, value, cycle);
                    }
                }
                effect.rd = rd;
                effect.result = Some(old);
            }
            0x0b if !self.channels.channel.is_empty() => match funct3 {
                0 => {
                    let before = self.channels.monitor(word, a, b, &self.abilities).ok_or(illegal)?;
                    effect.rd = rd;
                    effect.result = Some(before);
                }
                1 if word == 0x100b && self.channels.block => {
                    effect.next_pc = self.channels.pc;
                    self.channels.block = false;
                }
                2 => {
                    let offset = (word as i32 >> 25 << 5) as u32 | word >> 7 & 31;
                    let address = a.wrapping_add(offset);
                    let fault = |cause| Fault { cause, value: address };
                    if address % 4 != 0 {
                        return Err(fault(Cause::StoreMisaligned));
                    }
                    if address >= OUTSIDE {
                        return Err(fault(Cause::StoreAccess));
                    }
                    view.store(address, 4, b).map_err(fault)?;
                    effect.address = Some(address);
                    effect.stored = Some(b);
                }
                3 if word >> 20 == 0 => {
                    let moved = view.shared.registers.move_page(self.csrs.hart, a);
                    effect.rd = rd;
                    effect.result = Some(u32::from(!moved));
                }
                _ => return Err(illegal),
            },
            _ => return Err(illegal),
        }
        Ok(effect)
    }

    fn volatile<R: Registers>(&self, what: Volatile, shared: &mut Shared<R>) -> u32 {
        let hart = self.csrs.hart;
        match what {
            Volatile::Cycle => self.csrs.cycle(shared.registers.cycle(hart)) as u32,
            Volatile::CycleHigh => (self.csrs.cycle(shared.registers.cycle(hart)) >> 32) as u32,
            Volatile::Time => shared.registers.time(&shared.timer) as u32,
            Volatile::TimeHigh => (shared.registers.time(&shared.timer) >> 32) as u32,
            Volatile::Pending => shared.pending(hart),
            Volatile::SpawnBusy => shared.registers.spawn_busy(hart),
        }
    }
}
