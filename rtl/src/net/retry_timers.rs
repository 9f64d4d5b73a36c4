//! When a queue pair has waited for too long.

use hermes_hdl::prelude::*;

/// A timer for each of 16 queue pairs. One of them is looked at in a cycle.
///
/// 1. `start` starts the timer of `pair`, or starts it anew: it expires `timeout` x 2^`doublings`
///    cycles later, of which fewer than 2^31. `stop` stops it.
/// 2. `expired` with `expired_pair` at most 16 cycles after a timer has expired, or after those
///    that are told before it, until it is started anew or stopped.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct RetryTimers {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high: no timer runs.
    pub reset: Signal<In, Bit>,
    /// Cycles until a timer expires, if there was no time-out before.
    pub timeout: Signal<In, Bits<24>>,
    /// A timer starts.
    pub start: Signal<In, Bit>,
    /// A timer stops.
    pub stop: Signal<In, Bit>,
    /// Which one.
    pub pair: Signal<In, Bits<4>>,
    /// How often its time is doubled, at most 7 times.
    pub doublings: Signal<In, Bits<3>>,
    /// Timers that run.
    pub runs: Signal<Out, Bits<16>>,
    /// A timer has expired.
    pub expired: Signal<Out, Bit>,
    /// Which one.
    pub expired_pair: Signal<Out, Bits<4>>,
    now: Register<Bits<32>>,
    running: Register<Bits<16>>,
    ends: RamAsync<Bits<32>, 4>,
    looked_at: Register<Bits<4>>,
}

impl Logic for RetryTimers {
    #[hdl_gen]
    fn update(&mut self) {
        self.now.d.next = self.now.q.val() + bits::<32>(1);
        let cycles = bit_cast::<32, 24>(self.timeout.val()) << bit_cast::<5, 3>(self.doublings.val());
        self.ends.write_enable.next = self.start.val();
        self.ends.write_address.next = self.pair.val();
        self.ends.write_data.next = self.now.q.val() + cycles;
        let mut marks = self.running.q.val();
        if self.start.val() || self.stop.val() {
            marks = marks.replace_bit(self.pair.val().index(), self.start.val());
        }
        self.running.d.next = marks;
        self.runs.next = self.running.q.val();

        self.ends.read_address.next = self.looked_at.q.val();
        let left = self.ends.read_data.val() - self.now.q.val();
        let is_over =
            self.running.q.val().get_bit(self.looked_at.q.val().index()) && (left.get_bit(31) || !left.any());
        self.expired.next = is_over;
        self.expired_pair.next = self.looked_at.q.val();
        if !is_over {
            self.looked_at.d.next = self.looked_at.q.val() + bits::<4>(1);
        }
    }
}
