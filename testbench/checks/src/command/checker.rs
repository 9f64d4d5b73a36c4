//! The reference of the harts, in lock-step with what the array retires.

use crate::harts::machine::{
    Abilities, Difference, MachineHart, Registers, Shared, State, Taken, Timer, INTERRUPTS, REGISTERS_BASE,
};
use crate::iss::{disassemble, Fault, Isa, MemoryImage};

/// An instruction in the trace of the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandRetired {
    /// Its hart.
    pub hart: u32,
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
    /// It is the first of a trap handler.
    pub intr: bool,
    /// It is the first of a handler of user-level interrupts.
    pub uli: bool,
}

/// What the array says to the reference: time and registers are its own.
#[derive(Debug, Default)]
struct FromArray {
    /// The cycle.
    cycle: u64,
    /// Offsets of the registers that are there.
    registers: Vec<u32>,
    /// Bits of CP_IRQ_PENDING, which only the program sets, by doorbells, and of CP_IRQ_ENABLE_0.
    pending: u32,
    enable: u32,
}

/// Offsets of the registers whose writes the hart notices.
const CP_DOORBELL: u32 = 0x30c;
const CP_IRQ_PENDING: u32 = 0x310;
const CP_IRQ_ENABLE: u32 = 0x320;
/// Bits of CP_DOORBELL that are bits of CP_IRQ_PENDING.
const BELLS: u32 = 0xffff_0000;

impl Registers for FromArray {
    fn read(&mut self, _: u32, offset: u32) -> Option<u32> {
        self.registers.contains(&offset).then_some(0)
    }

    fn write(&mut self, _: u32, offset: u32, value: u32) -> bool {
        match offset {
            CP_DOORBELL => self.pending |= value & BELLS,
            CP_IRQ_PENDING => self.pending &= !value,
            CP_IRQ_ENABLE => self.enable = value,
            _ => {}
        }
        self.registers.contains(&offset)
    }

    fn time(&mut self, _: &Timer) -> u64 {
        self.cycle
    }

    fn cycle(&mut self, _: u32) -> u64 {
        self.cycle
    }

    fn external(&mut self, _: u32) -> bool {
        self.pending & self.enable != 0
    }

    fn spawn_busy(&mut self, _: u32) -> u32 {
        0
    }

    fn move_page(&mut self, _: u32, _: u32) -> bool {
        true
    }
}

/// Counts of what a checker has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Instructions, those that raised an exception too.
    pub instructions: u64,
    /// Exceptions.
    pub exceptions: u64,
    /// Interrupts of machine mode.
    pub interrupts: u64,
    /// User-level interrupts.
    pub user_interrupts: u64,
    /// External interrupts, which are among `interrupts`.
    pub external: u64,
    /// User-level interrupts by a bit of CP_IRQ_PENDING, which are among `user_interrupts`.
    pub events: u64,
    /// `sc.w` that stored where the reference has a reservation.
    pub conditional: u64,
    /// `sc.w` that did not: another hart had the reservation of the bank of the L2.
    pub refused: u64,
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, more: Self) {
        self.instructions += more.instructions;
        self.exceptions += more.exceptions;
        self.interrupts += more.interrupts;
        self.user_interrupts += more.user_interrupts;
        self.external += more.external;
        self.events += more.events;
        self.conditional += more.conditional;
        self.refused += more.refused;
    }
}

/// Compares the harts with the reference simulator. When an interrupt is taken, the array decides;
/// that it was allowed, and all that follows, the checker.
pub struct CommandChecker {
    harts: Vec<CheckedHart>,
    shared: Shared<FromArray>,
    seen: Seen,
}

struct CheckedHart {
    hart: MachineHart,
    /// The last instruction raised an exception.
    trapped: bool,
}

impl CheckedHart {
    /// The channel whose handler this instruction begins, or the one that an interrupt of machine
    /// mode put off.
    fn channel(&self, seen: &CommandRetired) -> Option<Taken> {
        seen.uli.then(|| Taken::Channel(self.hart.channels.deliverable().unwrap_or(usize::MAX)))
    }

    /// The interrupt of machine mode whose handler this instruction begins; `pending`: `mip`.
    fn interrupt(&self, seen: &CommandRetired, pending: u32) -> Option<Taken> {
        // The first instruction of an exception's handler is no news.
        if !seen.intr || self.trapped {
            return None;
        }
        let vector = self.hart.csrs.vector;
        let by_address =
            INTERRUPTS.into_iter().find(|number| seen.pc == (vector & !3).wrapping_add(4 * number));
        let number = if vector & 1 != 0 { by_address } else { self.hart.csrs.interrupt(pending) };
        Some(Taken::Interrupt(number.unwrap_or(u32::MAX)))
    }
}

impl CommandChecker {
    /// Harts that start at `entries`, hart 0 first, with this memory, and can do what `abilities`
    /// say; `registers` are the offsets of those that the array has. Its registers are 0, which
    /// those of the array need not be: a program must write a register before it reads it.
    #[must_use]
    pub fn new(entries: &[u32], memory: MemoryImage, abilities: Abilities, registers: Vec<u32>) -> Self {
        let hart = |(number, entry): (u32, &u32)| CheckedHart {
            hart: MachineHart::new(number, *entry, abilities),
            trapped: false,
        };
        let harts: Vec<_> = (0..).zip(entries).map(hart).collect();
        let shared = Shared::new(memory, harts.len() as u32, FromArray { registers, ..FromArray::default() });
        Self { harts, shared, seen: Seen::default() }
    }

    /// `ebreak` stops its hart, instead of raising an exception.
    #[must_use]
    pub fn stopping_on_break(mut self) -> Self {
        for checked in &mut self.harts {
            checked.hart.stops_on_break = true;
        }
        self
    }

    /// What was compared.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.seen
    }

    /// The exception that ended the program of a hart: `ebreak` that stopped it, or the one whose
    /// handler could not begin.
    #[must_use]
    pub fn ended(&self, number: usize) -> Option<Fault> {
        let hart = &self.harts.get(number)?.hart;
        let csrs = &hart.csrs;
        match hart.state {
            State::Stopped => Some(Fault { cause: crate::iss::Cause::Breakpoint, value: hart.hart.pc }),
            State::LockedUp => {
                let cause = crate::iss::Cause::ALL.into_iter().find(|cause| *cause as u32 == csrs.cause);
                cause.map(|cause| Fault { cause, value: csrs.value })
            }
            State::Running | State::Waiting => None,
        }
    }

    /// Harts that have not ended, a bit for each.
    #[must_use]
    pub fn running(&self) -> u32 {
        let runs = |checked: &CheckedHart| !matches!(checked.hart.state, State::Stopped | State::LockedUp);
        (0..).zip(&self.harts).fold(0, |bits, (hart, checked)| bits | u32::from(runs(checked)) << hart)
    }

    /// A debugger has stopped these harts: one that slept goes on behind its `wfi`.
    pub fn debugged(&mut self, harts: u32) {
        for (hart, checked) in (0..).zip(&mut self.harts) {
            if harts >> hart & 1 == 1 {
                checked.hart.wake_up();
            }
        }
    }

    /// Registers x0 to x31 and the PC of a hart, as they must be behind the last instruction.
    #[must_use]
    pub fn registers(&self, hart: usize) -> Option<([u32; 32], u32)> {
        self.harts.get(hart).map(|checked| (checked.hart.hart.x, checked.hart.hart.pc))
    }

    /// The harts of the bits `harts`, each with the PC that is next.
    #[must_use]
    pub fn pcs(&self, harts: u32) -> Vec<(u32, u32)> {
        let chosen = (0..).zip(&self.harts).filter(|(hart, _)| harts >> hart & 1 == 1);
        chosen.map(|(hart, checked)| (hart, checked.hart.hart.pc)).collect()
    }

    /// What memory must hold.
    #[must_use]
    pub fn memory(&self) -> &MemoryImage {
        &self.shared.memory
    }

    /// The array retired an instruction in `cycle`.
    ///
    /// # Errors
    /// Says how it differs from the reference.
    pub fn retire(&mut self, cycle: u64, seen: &CommandRetired) -> Result<(), String> {
        self.shared.registers.cycle = cycle;
        let number = self.seen.instructions + 1;
        let text = |difference: &dyn std::fmt::Display| {
            let isa = Isa::RV32IMA_ZBB;
            format!(
                "instruction {number}, of hart {} ({}): {difference}",
                seen.hart,
                disassemble(seen.pc, seen.word, &isa)
            )
        };
        let pending = self.shared.pending(seen.hart);
        let several = self.harts.len() > 1;
        let Some(checked) = self.harts.get_mut(seen.hart as usize) else {
            return Err(text(&format_args!("hart {} does not run", seen.hart)));
        };
        let channel = checked.channel(seen);
        if let Some(channel) = channel {
            checked.hart.take(&mut self.shared, channel).map_err(|difference| text(&difference))?;
        }
        let by_event = channel.is_some() && checked.hart.channels.cause >> 8 == 3;
        self.seen.events += u64::from(by_event);
        let interrupt = checked.interrupt(seen, pending);
        self.seen.external += u64::from(interrupt == Some(Taken::Interrupt(11)));
        // A bank of the L2 has one reservation: of several harts one may find it taken, and its
        // `sc.w` stores nothing.
        let conditional = crate::iss::Instruction::decode(seen.word, &Isa::RV32IMA_ZBB)
            .is_some_and(|instruction| instruction.op == crate::iss::Op::ScW);
        if conditional && !seen.trap && checked.hart.hart.reservation.is_some() {
            let refused = several && seen.rd != 0 && seen.value == 1;
            self.seen.refused += u64::from(refused);
            self.seen.conditional += u64::from(seen.value == 0);
            if refused {
                checked.hart.hart.reservation = None;
            }
        }
        let retired = checked.hart.step(&mut self.shared, interrupt);
        let retired = retired.map_err(|difference: Difference| text(&difference))?;
        self.seen.instructions = number;
        self.seen.exceptions += u64::from(retired.trap.is_some());
        self.seen.interrupts += u64::from(interrupt.is_some());
        self.seen.user_interrupts += u64::from(channel.is_some());
        // What an instruction does not have says nothing; where one that raises an exception goes
        // is seen at the next.
        let trap = retired.trap.is_some();
        let (rd, mut value) = match retired.result {
            Some((rd, value)) => (rd.into(), value),
            None => (if trap { seen.rd } else { 0 }, seen.value),
        };
        if retired.volatile && rd != 0 {
            value = seen.value;
            checked.hart.hart.x[rd as usize] = value;
        }
        let expected = CommandRetired {
            pc: retired.pc,
            next_pc: if trap { seen.next_pc } else { retired.next_pc },
            word: if retired.word == 0 && trap { seen.word } else { retired.word },
            rd,
            value,
            address: retired.address.unwrap_or(seen.address),
            trap,
            ..*seen
        };
        // The first of a handler must be told as that.
        let marked = seen.intr || !checked.trapped || checked.hart.state == State::Stopped;
        checked.trapped = trap && checked.hart.state != State::Stopped;
        let agrees = *seen == expected && (marked || checked.hart.state == State::LockedUp);
        if retired.address == Some(REGISTERS_BASE + CP_DOORBELL) {
            let rung = retired.stored.unwrap_or(0) & BELLS;
            self.harts.iter_mut().for_each(|checked| checked.hart.channels.event(3, rung));
        }
        if agrees {
            return Ok(());
        }
        Err(text(&format_args!("expected {expected:x?}, found {seen:x?}")))
    }
}
