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
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct RetryTimers {
    /// Cycles until a timer expires, if there was no time-out before.
    pub timeout: Signal<In, Bits<24>>,
    /// It is at least so long.
    pub patience: Signal<In, Bits<24>>,
    /// It is the time of an RNR NAK.
    pub rest: Signal<In, Bit>,
    /// Bits 4:0 of the syndrome of that.
    pub rest_code: Signal<In, Bits<5>>,
    /// A timer starts.
    pub start: Signal<In, Bit>,
    /// A timer stops.
    pub stop: Signal<In, Bit>,
    /// Which one.
    pub pair: Signal<In, Bits<4>>,
    /// How often its time is doubled, at most 7 times.
    pub doublings: Signal<In, Bits<3>>,
    /// Cycles since the reset, modulo 2^24.
    pub time: Signal<Out, Bits<24>>,
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
        self.time.next = self.now.q.val().get_bits::<24>(0);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// Cycles of an RNR NAK's code: 15,360 or 10,240, doubled.
    fn rest_cycles(code: u64) -> u64 {
        match code {
            0 => 10_240 << 16,
            code if code % 2 == 1 => 15_360 << (code / 2),
            code => 10_240 << (code / 2),
        }
    }

    /// Timers are started, started anew and stopped at random; the counter of cycles begins with
    /// `now`. None is told before its time, and each is told within 16 cycles of silence after it.
    fn timers_expire_when_they_are_due(now: u32) {
        let mut random = random();
        let mut unit = RetryTimers { now: Register::new(u64::from(now).into()), ..RetryTimers::default() };
        reset!(unit);
        let mut ends: [Option<u64>; 16] = [None; 16];
        let mut late = [0; 16];
        let (mut told, mut rested, mut doubled) = (0, 0, 0);
        for cycle in 0..60_000u64 {
            let timeout =
                if random.gen_bool(0.1) { random.gen_range(0..1 << 24) } else { random.gen_range(0..700) };
            let patience = random.gen_range(0..400);
            let doublings = if random.gen_bool(0.3) { random.gen_range(0..8) } else { 0 };
            let rest = random.gen_bool(0.2);
            let code = random.gen_range(0..32);
            unit.timeout.next = timeout.into();
            unit.patience.next = patience.into();
            unit.doublings.next = doublings.into();
            unit.rest.next = rest;
            unit.rest_code.next = code.into();
            unit.start.next = false;
            unit.stop.next = false;
            settle(&mut unit);
            assert_eq!(unit.time.val().to_u64(), (u64::from(now) + cycle) & 0xff_ffff, "cycle {cycle}");
            let runs = (0..16).filter(|&pair| ends[pair].is_some()).map(|pair| 1 << pair).sum::<u64>();
            assert_eq!(unit.runs.val().to_u64(), runs, "cycle {cycle}");
            let mut pair = random.gen_range(0..16);
            let mut acts = random.gen_bool(0.02);
            if unit.expired.val() {
                let expired = unit.expired_pair.val().index();
                assert!(ends[expired].is_some_and(|end| end <= cycle), "cycle {cycle}: {expired} is not due");
                if random.gen_bool(0.4) {
                    (pair, acts) = (expired, true);
                    told += 1;
                }
            } else {
                for pair in 0..16 {
                    late[pair] = if ends[pair].is_some_and(|end| end <= cycle) { late[pair] + 1 } else { 0 };
                    assert!(late[pair] <= 16, "cycle {cycle}: {pair} is not told");
                }
            }
            if acts {
                let stops = random.gen_bool(0.3);
                unit.pair.next = (pair as u64).into();
                unit.start.next = !stops;
                unit.stop.next = stops;
                let once: u64 = timeout.max(patience);
                let cycles = if rest { rest_cycles(code) } else { once << doublings };
                ends[pair] = (!stops).then_some(cycle + cycles);
                late[pair] = 0;
                rested += u32::from(rest && !stops && cycles < 30_000);
                doubled += u32::from(!rest && !stops && doublings > 0 && cycles < 5_000);
            }
            tick!(unit);
        }
        assert!(
            told > 100 && rested > 4 && doubled > 20,
            "{told} told, {rested} of them rests, {doubled} doubled"
        );
    }

    #[test]
    fn timers_expire_when_they_are_due_after_a_reset() {
        timers_expire_when_they_are_due(0);
    }

    #[test]
    fn timers_expire_when_they_are_due_as_the_time_wraps() {
        for now in [0xff_8000, 0x7fff_8000, 0xffff_8000] {
            timers_expire_when_they_are_due(now);
        }
    }
}
