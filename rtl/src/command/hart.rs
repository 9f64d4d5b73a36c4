//! One hart: where it is, its CSRs, its traps.

use super::{CommandOutcome, CommandResult, HartCsrs, HartState, TrapUnit};
use hermes_hdl::prelude::*;

/// A hart of the command processor: [`HartState`], [`HartCsrs`] and [`TrapUnit`].
///
/// It picks from what happens in the stages what is about the hart `number`.
///
/// 1. `take_valid` makes the hart go on at `take_pc`, if it is not a trap that is entered: it is
///    legal while `boundary` is high.
/// 2. A machine interrupt that is to be taken keeps `boundary` low and is taken at this boundary
///    itself.
/// 3. `goes` is high when the hart goes on elsewhere at this edge, by `take_valid` or a trap: its
///    younger instructions leave.
/// 4. `debug_stop` stops the hart at this edge: it is legal while `between` is high, or with a
///    trap. While `closed` is high neither an interrupt nor `take_valid` comes between two
///    instructions. The word that the host has executed (`execute`) counts as no instruction: no
///    trap, no sleep, not in `minstret`.
#[clocked("the hart is held")]
#[derive(LogicBlock)]
#[new(windows: bool)]
pub struct CommandHart {
    /// Number of the hart; constant.
    pub number: Signal<In, Bits<3>>,
    /// There are atomic instructions; constant.
    pub atomics: Signal<In, Bit>,
    /// The hart runs; else it is held.
    pub run: Signal<In, Bit>,
    /// `ebreak` stops it.
    pub breakpoint_stops: Signal<In, Bit>,
    /// PC after a reset of the hart, bits 31:2.
    pub entry: Signal<In, Bits<30>>,
    /// Nothing of the hart is outstanding.
    pub quiet: Signal<In, Bit>,
    /// Stage F: the instruction at `fetch_pc` is fetched.
    pub issue: Signal<In, Bit>,
    /// Stage D: hart of the instruction.
    pub decode_hart: Signal<In, Bits<3>>,
    /// Stage D: the hart goes on at `decode_pc`.
    pub decode_redirect: Signal<In, Bit>,
    /// Stage D: the instruction at `decode_pc` is not in the cache.
    pub miss: Signal<In, Bit>,
    /// Stage D: target, or PC of the miss, bits 31:2.
    pub decode_pc: Signal<In, Bits<30>>,
    /// From the cache: harts that wait for a line look up again.
    pub filled: Signal<In, Bit>,
    /// Stage X: hart of the instruction.
    pub execute_hart: Signal<In, Bits<3>>,
    /// Stage X: the hart goes on at `execute_pc`.
    pub execute_redirect: Signal<In, Bit>,
    /// Stage X: target, bits 31:2.
    pub execute_pc: Signal<In, Bits<30>>,
    /// Stage W: the instruction.
    pub result: Signal<In, CommandResult>,
    /// Stage W: outcome of the instruction.
    pub outcome: Signal<In, CommandOutcome>,
    /// No store of the hart is outstanding.
    pub stores_none: Signal<In, Bit>,
    /// The hart has as many stores outstanding as it may.
    pub stores_full: Signal<In, Bit>,
    /// No access to a device is under way.
    pub device_free: Signal<In, Bit>,
    /// No division is under way.
    pub divide_free: Signal<In, Bit>,
    /// A load, access or division of the hart is outstanding.
    pub loading: Signal<In, Bit>,
    /// An answer waits for the instruction that is replayed.
    pub answer_waits: Signal<In, Bit>,
    /// The hart goes on at `take_pc`.
    pub take_valid: Signal<In, Bit>,
    /// PC at which the hart goes on, bits 31:2.
    pub take_pc: Signal<In, Bits<30>>,
    /// The host stops the hart at this edge.
    pub debug_stop: Signal<In, Bit>,
    /// The hart is stopped, and goes on.
    pub resume: Signal<In, Bit>,
    /// The hart is to stop, or executes one instruction: nothing is taken between two instructions.
    pub closed: Signal<In, Bit>,
    /// The hart is stopped, and is to fetch a word of the host.
    pub execute: Signal<In, Bit>,
    /// Stage X: number of a CSR.
    pub read_number: Signal<In, Bits<12>>,
    /// Stage X: value of the CSR, 0 for one that is not of machine mode.
    pub read_value: Signal<Out, Bits<32>>,
    /// Stage X: PC to which `mret` goes, bits 31:2.
    pub return_pc: Signal<Out, Bits<30>>,
    /// An external interrupt is pending.
    pub external: Signal<In, Bit>,
    /// A software interrupt is pending.
    pub software: Signal<In, Bit>,
    /// A timer interrupt is pending.
    pub timer: Signal<In, Bit>,
    /// A channel of user-level interrupts is armed and pending.
    pub channel_wake: Signal<In, Bit>,
    /// Cycles since reset of the array.
    pub cycle: Signal<In, Bits<64>>,
    /// The hart may fetch in this cycle.
    pub ready: Signal<Out, Bit>,
    /// PC to fetch, bits 31:2.
    pub fetch_pc: Signal<Out, Bits<30>>,
    /// The hart is at an instruction boundary at the end of this cycle, and may be made to go on
    /// elsewhere.
    pub boundary: Signal<Out, Bit>,
    /// Architectural PC at the end of this cycle, if no exception, bits 31:2.
    pub boundary_pc: Signal<Out, Bits<30>>,
    /// The hart is at an instruction boundary at the end of this cycle; also if it must not be made
    /// to go on elsewhere.
    pub between: Signal<Out, Bit>,
    /// Architectural PC, bits 31:2.
    pub pc: Signal<Out, Bits<30>>,
    /// A trap is entered at this edge.
    pub trap: Signal<Out, Bit>,
    /// PC to which the trap goes, bits 31:2.
    pub trap_target: Signal<Out, Bits<30>>,
    /// The hart goes on elsewhere at this edge, or the host stops it.
    pub goes: Signal<Out, Bit>,
    /// The hart is stopped.
    pub stopped: Signal<Out, Bit>,
    /// The hart sleeps in `wfi`.
    pub waiting: Signal<Out, Bit>,
    /// The hart was stopped since its trap handler cannot run.
    pub locked: Signal<Out, Bit>,
    /// No instruction retired since `take_valid`.
    pub taken: Signal<Out, Bit>,
    /// No instruction retired since a trap was entered.
    pub entered: Signal<Out, Bit>,
    /// The hart is to wake: what ends `wfi` is there (only with a window of a network interface).
    #[there(windows)]
    pub wake: Part<Signal<Out, Bit>>,
    state: HartState,
    csrs: HartCsrs,
    traps: TrapUnit,
}

impl CommandHart {
    /// A hart that sees a window of a network interface (`windows`), or none.
    #[must_use]
    pub fn new(windows: bool) -> Self {
        Self::wired(windows)
    }
}

impl Logic for CommandHart {
    #[hdl_gen]
    fn update(&mut self) {
        let instruction = self.result.val();
        let becomes = self.outcome.val();
        let in_decode = self.decode_hart.val() == self.number.val();
        let in_execute = self.execute_hart.val() == self.number.val();
        let in_write = instruction.hart == self.number.val();
        let retires = in_write & becomes.retire;
        let counts = retires & !instruction.debug;

        // PCs
        connect!(self.run, self.state.run);
        connect!(self.entry, self.state.entry);
        connect!(self.quiet, self.state.quiet);
        connect!(self.issue, self.state.issue);
        connect!(self.decode_pc, self.state.decode_pc);
        connect!(self.filled, self.state.filled);
        connect!(self.execute_pc, self.state.execute_pc);
        connect!(self.stores_none, self.state.stores_none);
        connect!(self.stores_full, self.state.stores_full);
        connect!(self.device_free, self.state.device_free);
        connect!(self.divide_free, self.state.divide_free);
        connect!(self.loading, self.state.loading);
        connect!(self.answer_waits, self.state.answer_waits);
        connect!(self.ready, self.state.ready);
        connect!(self.fetch_pc, self.state.fetch_pc);
        connect!(self.boundary_pc, self.state.boundary_pc);
        connect!(self.stopped, self.state.stopped);
        self.state.decode_redirect.next = in_decode & self.decode_redirect.val();
        self.state.miss.next = in_decode & self.miss.val();
        self.state.execute_redirect.next = in_execute & self.execute_redirect.val();
        self.state.write_valid.next = in_write & becomes.live;
        self.state.retire.next = retires;
        self.state.next_pc.next = instruction.next_pc;
        self.state.refetch.next = in_write & becomes.restart;
        self.state.wait_stores.next = in_write & becomes.wait_stores;
        self.state.wait_place.next = in_write & becomes.wait_place;
        self.state.wait_device.next = in_write & becomes.wait_device;
        self.state.wait_divide.next = in_write & becomes.wait_divide;
        self.state.load.next = in_write & becomes.starts;
        self.state.changes.next = in_write & becomes.changes;
        self.state.stop.next = self.traps.stop.val() | self.debug_stop.val();
        connect!(self.resume, self.state.resume);
        connect!(self.execute, self.state.execute);
        self.state.executed.next = in_write & instruction.debug;
        connect!(self.pc, self.state.pc);
        connect!(self.between, self.state.boundary);
        self.state.asleep.next = self.traps.asleep.val();
        self.state.take_valid.next = self.take_valid.val() | self.traps.trap.val();
        self.state.take_pc.next = self.take_pc.val();
        if self.traps.trap.val() {
            self.state.take_pc.next = self.traps.target.val();
        }
        self.state.trapped.next = self.traps.trap.val();
        connect!(self.taken, self.state.taken);
        self.boundary.next = self.state.boundary.val() & !self.csrs.interrupt.val() & !self.closed.val();
        self.goes.next = self.take_valid.val() | self.traps.trap.val() | self.debug_stop.val();

        // Traps
        self.traps.hold.next = !self.run.val();
        self.traps.exception.next = in_write & becomes.exception & !instruction.debug;
        self.traps.halts.next = becomes.breakpoint & self.breakpoint_stops.val();
        self.traps.cause.next = becomes.cause;
        self.traps.value.next = becomes.value;
        self.traps.pc.next = instruction.pc;
        self.traps.boundary.next = self.state.boundary.val();
        self.traps.boundary_pc.next = self.state.boundary_pc.val();
        self.traps.interrupt.next = self.csrs.interrupt.val() & !self.closed.val();
        self.traps.interrupt_cause.next = self.csrs.interrupt_cause.val();
        self.traps.base.next = self.csrs.base.val();
        self.traps.vectored.next = self.csrs.vectored.val();
        self.traps.retire.next = counts;
        self.traps.sleep.next = counts & instruction.sleep;
        self.traps.wake.next = self.csrs.wake.val() | self.channel_wake.val();
        self.traps.take.next = self.take_valid.val() | self.debug_stop.val();
        connect!(self.resume, self.traps.resume);
        connect!(self.trap, self.traps.trap);
        connect!(self.trap_target, self.traps.target);
        connect!(self.waiting, self.traps.waiting);
        connect!(self.locked, self.traps.locked);
        connect!(self.entered, self.traps.entered);

        // CSRs
        connect!(self.number, self.csrs.number);
        connect!(self.atomics, self.csrs.atomics);
        connect!(self.read_number, self.csrs.read_number);
        connect!(self.read_value, self.csrs.read_value);
        connect!(self.return_pc, self.csrs.return_pc);
        connect!(self.external, self.csrs.external);
        connect!(self.software, self.csrs.software);
        connect!(self.timer, self.csrs.timer);
        connect!(self.cycle, self.csrs.cycle);
        self.csrs.hold.next = !self.run.val();
        self.csrs.write_valid.next = retires & instruction.csr_write;
        self.csrs.write_number.next = instruction.word.get_bits::<12>(20);
        self.csrs.write_value.next = becomes.csr_value;
        self.csrs.retire.next = counts;
        self.csrs.trap_valid.next = self.traps.trap.val();
        self.csrs.trap_pc.next = self.traps.trap_pc.val();
        self.csrs.trap_cause.next = self.traps.trap_cause.val();
        self.csrs.trap_value.next = self.traps.trap_value.val();
        self.csrs.trap_return.next = retires & instruction.trap_return;
        if self.wake.is_there() {
            self.wake.next = self.csrs.wake.val() | self.channel_wake.val();
        }
    }
}
