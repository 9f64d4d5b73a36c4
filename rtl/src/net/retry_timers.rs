//! When a queue pair has waited for too long.

use hermes_hdl::prelude::*;

/// A timer for each of 16 queue pairs. One of them is looked at in a cycle.
///
/// 1. `start` starts the timer of `pair`, or starts it anew: it expires `timeout` x 2^`doublings`
///    cycles later, of which fewer than 2^31, with `patience` in place of `timeout` if that is
///    more. `stop` stops it.
/// 2. With `rest` it expires when the time of an RNR NAK is over, whose syndrome has the bits
///    `rest_code` (InfiniBand Architecture Specification, volume 1, table 45): 10 microseconds to
///    0.66 s, a cycle being 1 ns, and up to 2.4 % more; 15 with the code for 10.
/// 3. `expired` with `expired_pair` at most 16 cycles after a timer has expired, or after those
///    that are told before it, until it is started anew or stopped.
#[clocked("no timer runs")]
#[derive(Clone, Default, LogicBlock)]
pub struct RetryTimers {
    /// Cycles until a timer expires, if there was no time-out before.
    pub timeout: Signal<In, Bits<24>>,
    /// Cycles that the time has at least.
    pub patience: Signal<In, Bits<24>>,
    /// The time is that of an RNR NAK.
    pub rest: Signal<In, Bit>,
    /// Bits 4:0 of the syndrome of that.
    pub rest_code: Signal<In, Bits<5>>,
    /// A timer starts.
    pub start: Signal<In, Bit>,
    /// A timer stops.
    pub stop: Signal<In, Bit>,
    /// Queue pair whose timer starts or stops.
    pub pair: Signal<In, Bits<4>>,
    /// Times that its time is doubled, at most 7.
    pub doublings: Signal<In, Bits<3>>,
    /// Cycles since the reset, modulo 2^24.
    pub time: Signal<Out, Bits<24>>,
    /// Timers that run.
    pub runs: Signal<Out, Bits<16>>,
    /// A timer has expired.
    pub expired: Signal<Out, Bit>,
    /// Queue pair whose timer expired.
    pub expired_pair: Signal<Out, Bits<4>>,
    cycle: Register<Bits<32>>,
    running: Register<Bits<16>>,
    ends: RamAsync<Bits<32>, 4>,
    looked_at: Register<Bits<4>>,
}

impl Logic for RetryTimers {
    #[hdl_gen]
    fn update(&mut self) {
        self.cycle.d.next = self.cycle.q.val() + bits::<32>(1);
        self.time.next = self.cycle.q.val().get_bits::<24>(0);
        let mut once = self.timeout.val();
        if self.patience.val() > once {
            once = self.patience.val();
        }
        let code = self.rest_code.val();
        let mut until_ready = bits::<32>(10_240) << bit_cast::<5, 4>(code.get_bits::<4>(1));
        if code.get_bit(0) {
            until_ready = bits::<32>(15_360) << bit_cast::<5, 4>(code.get_bits::<4>(1));
        }
        if !code.any() {
            until_ready = bits::<32>(10_240) << bits::<5>(16);
        }
        let mut cycles = bit_cast::<32, 24>(once) << bit_cast::<5, 3>(self.doublings.val());
        if self.rest.val() {
            cycles = until_ready;
        }
        self.ends.write_enable.next = self.start.val();
        self.ends.write_address.next = self.pair.val();
        self.ends.write_data.next = self.cycle.q.val() + cycles;
        let mut marks = self.running.q.val();
        if self.start.val() || self.stop.val() {
            marks = marks.replace_bit(self.pair.val().index(), self.start.val());
        }
        self.running.d.next = marks;
        self.runs.next = self.running.q.val();

        self.ends.read_address.next = self.looked_at.q.val();
        let left = self.ends.read_data.val() - self.cycle.q.val();
        let is_over =
            self.running.q.val().get_bit(self.looked_at.q.val().index()) && (left.get_bit(31) || !left.any());
        self.expired.next = is_over;
        self.expired_pair.next = self.looked_at.q.val();
        if !is_over {
            self.looked_at.d.next = self.looked_at.q.val() + bits::<4>(1);
        }
    }
}

#[cfg(test)]
#[path = "retry_timers_tests.rs"]
mod tests;
