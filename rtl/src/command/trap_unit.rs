//! Traps of one hart: when they are entered, and where they go.

use hermes_hdl::prelude::*;

/// Decides for one hart whether a trap is entered at this edge, and keeps whether the hart sleeps.
///
/// 1. An exception in stage W enters a trap with the PC of its instruction, and goes to `base`. It
///    stops the hart instead (`stop`) if it `halts`, as `ebreak` may, or if no instruction has
///    retired since the last trap was entered: the handler itself cannot run (lock-up, `locked`).
/// 2. An interrupt is taken at an instruction boundary, with the PC of the next instruction; it
///    goes to `base`, or if `vectored` to `base` + 4 x cause.
/// 3. `sleep` (`wfi` retires) makes the hart sleep: `asleep` is high until `wake`, in whose cycle
///    the hart may fetch again, or until a trap or `take` makes it go on elsewhere.
/// 4. `hold` ends all of it, `resume` the lock-up.
///
/// `trap`, `target`, `stop` answer the inputs in the same cycle; `waiting` and `locked` are
/// registers' values.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct TrapUnit {
    /// The hart is held.
    pub hold: Signal<In, Bit>,
    /// Stage W: an instruction of the hart raises an exception.
    pub exception: Signal<In, Bit>,
    /// The exception stops the hart.
    pub halts: Signal<In, Bit>,
    /// Stage W: cause of the exception.
    pub cause: Signal<In, Bits<5>>,
    /// Stage W: value of the exception, for `mtval`.
    pub value: Signal<In, Bits<32>>,
    /// PC of the instruction, bits 31:2.
    pub pc: Signal<In, Bits<30>>,
    /// The hart is between two instructions at the end of this cycle.
    pub boundary: Signal<In, Bit>,
    /// PC of the second one, bits 31:2.
    pub boundary_pc: Signal<In, Bits<30>>,
    /// An interrupt is to be taken.
    pub interrupt: Signal<In, Bit>,
    /// Cause of the interrupt.
    pub interrupt_cause: Signal<In, Bits<5>>,
    /// PC to which traps go, bits 31:2; with `vectored` a multiple of 16.
    pub base: Signal<In, Bits<30>>,
    /// Interrupts go to `base` + 4 x cause.
    pub vectored: Signal<In, Bit>,
    /// Stage W: an instruction of the hart retires.
    pub retire: Signal<In, Bit>,
    /// Stage W: the instruction is `wfi`.
    pub sleep: Signal<In, Bit>,
    /// An event that ends the sleep is there.
    pub wake: Signal<In, Bit>,
    /// The hart is stopped, and goes on.
    pub resume: Signal<In, Bit>,
    /// The hart is made to go on elsewhere at this edge, not by a trap, or the host stops it.
    pub take: Signal<In, Bit>,
    /// A trap is entered at this edge.
    pub trap: Signal<Out, Bit>,
    /// For `mepc`, bits 31:2.
    pub trap_pc: Signal<Out, Bits<30>>,
    /// For `mcause`; bit 5: an interrupt.
    pub trap_cause: Signal<Out, Bits<6>>,
    /// For `mtval`.
    pub trap_value: Signal<Out, Bits<32>>,
    /// PC at which the hart goes on, bits 31:2.
    pub target: Signal<Out, Bits<30>>,
    /// The exception stops the hart at this edge.
    pub stop: Signal<Out, Bit>,
    /// The hart may not fetch: it sleeps.
    pub asleep: Signal<Out, Bit>,
    /// The hart sleeps.
    pub waiting: Signal<Out, Bit>,
    /// The hart was stopped by an exception of its trap handler's first instruction.
    pub locked: Signal<Out, Bit>,
    /// No instruction has retired since a trap was entered.
    pub entered: Signal<Out, Bit>,
    entered_q: Register<Bit>,
    asleep_q: Register<Bit>,
    locked_q: Register<Bit>,
}

impl Logic for TrapUnit {
    #[hdl_gen]
    fn update(&mut self) {
        let locks = self.exception.val() & self.entered_q.q.val() & !self.halts.val();
        let stops = self.exception.val() & (self.entered_q.q.val() | self.halts.val());
        let interrupted = self.boundary.val() & self.interrupt.val();
        let enters = (self.exception.val() & !stops) | interrupted;
        always!(a_hart_that_stops_enters_no_trap, !(stops & enters));
        always!(a_hart_that_entered_a_trap_does_not_sleep, !(self.entered_q.q.val() & self.asleep_q.q.val()));
        self.stop.next = stops;
        self.trap.next = enters;
        self.trap_pc.next = self.pc.val();
        self.trap_cause.next = bit_cast::<6, 5>(self.cause.val());
        self.trap_value.next = self.value.val();
        self.target.next = self.base.val();
        if interrupted {
            self.trap_pc.next = self.boundary_pc.val();
            self.trap_cause.next = bit_cast::<6, 5>(self.interrupt_cause.val()) | bits::<6>(0x20);
            self.trap_value.next = bits::<32>(0);
            if self.vectored.val() {
                self.target.next = self.base.val() | bit_cast::<30, 5>(self.interrupt_cause.val());
            }
        }
        self.asleep.next = self.asleep_q.q.val() & !self.wake.val();
        self.waiting.next = self.asleep_q.q.val();
        self.locked.next = self.locked_q.q.val();
        self.entered.next = self.entered_q.q.val();

        if self.retire.val() {
            self.entered_q.d.next = false;
        }
        if self.wake.val() {
            self.asleep_q.d.next = false;
        } else if self.sleep.val() {
            self.asleep_q.d.next = true;
        }
        if self.resume.val() {
            self.locked_q.d.next = false;
        }
        if locks {
            self.locked_q.d.next = true;
        }
        if self.take.val() {
            self.asleep_q.d.next = false;
        }
        if enters {
            self.entered_q.d.next = true;
            self.asleep_q.d.next = false;
        }
        if self.hold.val() {
            self.entered_q.d.next = false;
            self.asleep_q.d.next = false;
            self.locked_q.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// Exceptions, interrupts, sleep at random, against the rules.
    #[test]
    fn follows_the_rules() {
        let mut random = random();
        let mut unit = TrapUnit::default();
        reset!(unit);
        let (mut entered, mut asleep, mut locked, mut stopped) = (false, false, false, false);
        let (mut locks, mut interrupts, mut naps, mut both) = (0, 0, 0, 0);
        for cycle in 0..50_000 {
            let hold = random.gen_bool(if stopped { 0.3 } else { 0.002 });
            // Stage W holds something or not; an exception is no boundary, a stopped or sleeping
            // hart has nothing there.
            let kind = if stopped || asleep || hold { 3 } else { random.gen_range(0..8) };
            let exception = kind == 0;
            let retire = (4..8).contains(&kind);
            let boundary = !exception && !stopped && !hold && (retire || random.gen_bool(0.7));
            let halts = random.gen_bool(0.2);
            let interrupt = random.gen_bool(0.2);
            let vectored = random.gen();
            let wait = retire && random.gen_bool(0.2);
            let wake = interrupt || random.gen_bool(0.1);
            let take = boundary && !interrupt && random.gen_bool(0.05);
            let resume = stopped && random.gen_bool(0.2);
            let (cause, interrupt_cause) =
                (random.gen_range(0..12u64), [3u64, 7, 11][random.gen_range(0..3)]);
            let (value, pc, next) =
                (random.gen::<u32>(), random.gen_range(0..1u64 << 30), random.gen_range(0..1u64 << 30));
            let base = random.gen_range(0..1u64 << 26) << 4;
            unit.hold.next = hold;
            unit.exception.next = exception;
            unit.halts.next = halts;
            unit.cause.next = cause.into();
            unit.value.next = u64::from(value).into();
            unit.pc.next = pc.into();
            unit.boundary.next = boundary;
            unit.boundary_pc.next = next.into();
            unit.interrupt.next = interrupt;
            unit.interrupt_cause.next = interrupt_cause.into();
            unit.base.next = base.into();
            unit.vectored.next = vectored;
            unit.retire.next = retire;
            unit.sleep.next = wait;
            unit.wake.next = wake;
            unit.take.next = take;
            unit.resume.next = resume;
            settle(&mut unit);
            let stop = exception && (halts || entered);
            let trap = exception && !stop || boundary && interrupt;
            assert_eq!((unit.stop.val(), unit.trap.val()), (stop, trap), "cycle {cycle}");
            if trap {
                let (from, code, tval) =
                    if exception { (pc, cause, value) } else { (next, 0x20 | interrupt_cause, 0) };
                let target = base + if vectored && !exception { interrupt_cause } else { 0 };
                assert_eq!(unit.trap_pc.val().to_u64(), from, "cycle {cycle}");
                assert_eq!(unit.trap_cause.val().to_u64(), code, "cycle {cycle}");
                assert_eq!(unit.trap_value.val().to_u32(), tval, "cycle {cycle}");
                assert_eq!(unit.target.val().to_u64(), target, "cycle {cycle}");
            }
            assert_eq!(unit.asleep.val(), asleep && !wake, "cycle {cycle}");
            assert_eq!((unit.waiting.val(), unit.locked.val()), (asleep, locked), "cycle {cycle}");
            assert_eq!(unit.entered.val(), entered, "cycle {cycle}");
            locks += usize::from(stop && !halts);
            interrupts += usize::from(trap && !exception);
            naps += usize::from(wait && !wake);
            both += usize::from(trap && !exception && asleep);
            locked = stop && !halts || locked && !resume;
            stopped = stop || stopped && !resume;
            asleep = (asleep || wait) && !wake && !trap && !take;
            entered = trap || entered && !retire;
            if hold {
                (entered, asleep, locked, stopped) = (false, false, false, false);
            }
            tick!(unit);
        }
        assert!(
            locks > 100 && interrupts > 500 && naps > 300 && both > 100,
            "{locks} {interrupts} {naps} {both}"
        );
    }
}
