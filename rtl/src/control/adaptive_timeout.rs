//! The time-out of warp forming, as the traffic wants it (Hermes, section 3.3).

use crate::host::registers::timeout::TimeoutControl;
use hermes_hdl::prelude::*;

/// Measures in how many cycles the packets of a warp arrive, and makes the time-out of the warp
/// former from it.
///
/// 1. A measure is the number of cycles in which `lanes` packets arrive, at most 2^24 - 1; it ends
///    in the cycle after the last of them, and the next one begins there. The first begins with the
///    first packet after reset. More packets than four warps that arrive together count as four
///    warps, whose measures end in cycles that follow each other.
/// 2. `registers.arrival` is the exponentially weighted average of the measures, with weight 1/8;
///    the first one is taken as it is. A measure of more than four times the average, or less than
///    a quarter, is left out: a pause is not traffic. A second one in a row on the same side is a
///    step of the load, and is taken as it is.
/// 3. With `registers.adaptive` `timeout` is `registers.factor` / 4 times the average within
///    `registers.min` and `registers.max`, before the first measure `registers.min`,
///    if `min` is above `max` always `max`; otherwise it is `fixed`. It follows its registers by
///    one cycle and the average by 19 at most.
/// 4. `eager` is high with `registers.adaptive` while `timeout` is `fixed` or more and fewer warps
///    than `registers.eager` / 4 for each core are between `issued` and `finished`. An event counts
///    in the next cycle, a change of the register two cycles later.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(cores: u64, lanes: u64)]
pub struct AdaptiveTimeout {
    /// Register TIMEOUT, in cycles.
    pub fixed: Signal<In, Bits<32>>,
    /// Settings of the time-out, and the average.
    pub registers: TimeoutControl,
    /// Packets arrive in this cycle.
    pub arrive: Signal<In, Bit>,
    /// Number of packets that arrive.
    pub packets: Signal<In, Bits<32>>,
    /// A packet warp is issued in this cycle.
    pub issued: Signal<In, Bit>,
    /// A packet warp finishes in this cycle; it was issued before.
    pub finished: Signal<In, Bit>,
    /// To the warp former: the time-out in cycles.
    pub timeout: Signal<Out, Bits<32>>,
    /// To the warp former: a partial warp need not wait.
    pub eager: Signal<Out, Bit>,
    running: Register<Bit>,
    count: Register<Bits<8>>,
    elapsed: Register<Bits<24>>,
    known: Register<Bit>,
    /// Eight times the average.
    total: Register<Bits<27>>,
    was_above: Register<Bit>,
    was_below: Register<Bit>,
    step: Register<Bits<3>>,
    multiplicand: Register<Bits<32>>,
    multiplier: Register<Bits<8>>,
    sum: Register<Bits<32>>,
    product: Register<Bits<32>>,
    /// The product is one of a measured average.
    measured: Register<Bit>,
    chosen: Register<Bits<32>>,
    /// The chosen time-out is not below the fixed one.
    long: Register<Bit>,
    warps: Register<Bits<11>>,
    few: Register<Bits<13>>,
    #[init(Constant::new(lanes.into()))]
    lanes: Constant<Bits<8>>,
    #[init(Constant::new((4 * lanes).into()))]
    most: Constant<Bits<8>>,
    #[init(Constant::new((4 * lanes).into()))]
    most_at_once: Constant<Bits<32>>,
    #[init((0..8).map(|bit| Constant::new((cores << bit).into())).collect())]
    cores: Vec<Constant<Bits<13>>>,
}

impl AdaptiveTimeout {
    /// That of an array with `cores` cores and warps of `lanes` packets.
    ///
    /// # Panics
    /// If one of them is not 1 to 32.
    pub fn new(cores: usize, lanes: usize) -> Self {
        assert!((1..=32).contains(&cores), "AdaptiveTimeout: {cores} cores, expected 1 to 32");
        assert!((1..=32).contains(&lanes), "AdaptiveTimeout: {lanes} lanes, expected 1 to 32");
        Self::wired(cores as u64, lanes as u64)
    }
}

impl Logic for AdaptiveTimeout {
    #[hdl_gen]
    fn update(&mut self) {
        // The packets of this measure, and those beyond it: at most four warps.
        let ends = self.count.q.val() >= self.lanes.val();
        let mut here = self.count.q.val();
        if ends {
            here = self.count.q.val() - self.lanes.val();
        }
        let mut more = bits::<8>(0);
        if self.arrive.val() {
            more = self.packets.val().get_bits::<8>(0);
            if self.packets.val() > self.most_at_once.val() {
                more = self.most.val();
            }
        }
        let begins = more.any() & !self.running.q.val();
        if begins {
            self.running.d.next = true;
            more = more - 1;
        }
        let both = bit_cast::<9, 8>(here) + bit_cast::<9, 8>(more);
        self.count.d.next = both.get_bits::<8>(0);
        if both > bit_cast::<9, 8>(self.most.val()) {
            self.count.d.next = self.most.val();
        }

        // Its cycles.
        if ends {
            self.elapsed.d.next = bits::<24>(1);
        } else if self.running.q.val() & !self.elapsed.q.val().all() {
            self.elapsed.d.next = self.elapsed.q.val() + 1;
        }

        // The average: a measure far from it is left out, unless the one before was so too.
        let measure = bit_cast::<27, 24>(self.elapsed.q.val());
        let above = measure > (self.total.q.val() >> 1);
        let below = measure < (self.total.q.val() >> 5);
        let again = (above & self.was_above.q.val()) | (below & self.was_below.q.val());
        if ends {
            self.known.d.next = true;
            self.was_above.d.next = self.known.q.val() & above & !again;
            self.was_below.d.next = self.known.q.val() & below & !again;
            if !self.known.q.val() | again {
                self.total.d.next = measure << 3;
            } else if !above & !below {
                self.total.d.next = self.total.q.val() - (self.total.q.val() >> 3) + measure;
            }
        }
        self.registers.arrival.next = self.total.q.val().get_bits::<24>(3);

        // The average times the factor, a bit of the factor a cycle.
        self.step.d.next = self.step.q.val() + 1;
        let mut part = bits::<32>(0);
        if self.multiplier.q.val().get_bit(0) {
            part = self.multiplicand.q.val();
        }
        self.sum.d.next = self.sum.q.val() + part;
        self.multiplicand.d.next = self.multiplicand.q.val() << 1;
        self.multiplier.d.next = self.multiplier.q.val() >> 1;
        if self.step.q.val().all() {
            self.product.d.next = self.sum.q.val() + part;
            self.measured.d.next = self.known.q.val();
            self.sum.d.next = bits::<32>(0);
            self.multiplicand.d.next = bit_cast::<32, 24>(self.total.q.val().get_bits::<24>(3));
            self.multiplier.d.next = self.registers.factor.val();
        }

        // Within the bounds.
        let mut wanted = self.fixed.val();
        if self.registers.adaptive.val() {
            // Before the first measure: the least.
            wanted = bits::<32>(0);
            if self.measured.q.val() {
                wanted = self.product.q.val() >> 2;
            }
            if wanted < bit_cast::<32, 24>(self.registers.min.val()) {
                wanted = bit_cast::<32, 24>(self.registers.min.val());
            }
            if wanted > bit_cast::<32, 24>(self.registers.max.val()) {
                wanted = bit_cast::<32, 24>(self.registers.max.val());
            }
        }
        self.chosen.d.next = wanted;
        self.long.d.next = wanted >= self.fixed.val();
        self.timeout.next = self.chosen.q.val();

        // Warps on the cores, in quarters as in the register.
        if self.issued.val() & !self.finished.val() {
            self.warps.d.next = self.warps.q.val() + 1;
        }
        if self.finished.val() & !self.issued.val() {
            self.warps.d.next = self.warps.q.val() - 1;
        }
        let mut enough = bits::<13>(0);
        for bit in 0..8 {
            if self.registers.eager.val().get_bit(bit) {
                enough = enough + self.cores[bit].val();
            }
        }
        self.few.d.next = enough;
        self.eager.next = self.registers.adaptive.val()
            & self.long.q.val()
            & ((bit_cast::<13, 11>(self.warps.q.val()) << 2) < self.few.q.val());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    const LANES: u64 = 4;

    fn unit(cores: usize) -> AdaptiveTimeout {
        let mut unit = AdaptiveTimeout::new(cores, LANES as usize);
        reset!(unit);
        unit.fixed.next = 256.into();
        unit.registers.adaptive.next = true;
        unit.registers.factor.next = 8.into();
        unit.registers.min.next = 16.into();
        unit.registers.max.next = 1_024.into();
        unit
    }

    /// `packets` arrive in this cycle, none in the `cycles - 1` that follow.
    fn arrive(unit: &mut AdaptiveTimeout, packets: u64, cycles: u64) {
        unit.arrive.next = true;
        unit.packets.next = packets.into();
        settle(unit);
        tick!(*unit);
        unit.arrive.next = false;
        unit.packets.next = 77.into();
        settle(unit);
        for _ in 1..cycles {
            tick!(*unit);
        }
    }

    fn arrival(unit: &AdaptiveTimeout) -> u64 {
        unit.registers.arrival.val().to_u64()
    }

    /// The time-out when it has followed the average.
    fn timeout(unit: &mut AdaptiveTimeout) -> u64 {
        for _ in 0..19 {
            tick!(*unit);
        }
        unit.timeout.val().to_u64()
    }

    #[test]
    fn follows_constant_traffic() {
        let mut unit = unit(1);
        assert_eq!((arrival(&unit), timeout(&mut unit)), (0, 16), "nothing is known");
        for (gap, wanted) in [(1, 16), (5, 40), (30, 240), (400, 1_024)] {
            for _ in 0..12 * LANES {
                arrive(&mut unit, 1, gap);
            }
            assert_eq!(arrival(&unit), LANES * gap, "gap {gap}");
            // The average is that of the packets so far; none comes meanwhile.
            assert_eq!(timeout(&mut unit), wanted, "gap {gap}");
        }
    }

    #[test]
    fn first_measure_is_the_average() {
        let mut unit = unit(1);
        for _ in 0..50 {
            tick!(unit);
        }
        // From the first packet to the fourth after it.
        for gap in [3, 50, 7, 10, 1] {
            assert_eq!(arrival(&unit), 0);
            arrive(&mut unit, 1, gap);
        }
        tick!(unit);
        assert_eq!(arrival(&unit), 70);
    }

    #[test]
    fn pause_is_no_traffic_and_a_step_is_followed() {
        let mut unit = unit(1);
        for _ in 0..20 {
            arrive(&mut unit, 1, 10);
        }
        for pause in [100_000, 200_000, 500] {
            for _ in 0..30 {
                arrive(&mut unit, 1, 10);
            }
            assert_eq!(arrival(&unit), 40);
            arrive(&mut unit, 1, pause);
        }
        for _ in 0..30 {
            arrive(&mut unit, 1, 10);
        }
        assert_eq!(arrival(&unit), 40);
        // Down: three measures, of which the first may begin before the step. Up: the same.
        for gap in [1_000, 10, 3_000, 1] {
            for _ in 0..3 * LANES {
                arrive(&mut unit, 1, gap);
            }
            tick!(unit);
            assert_eq!(arrival(&unit), LANES * gap);
        }
    }

    #[test]
    fn packets_that_arrive_together() {
        // 16 in one cycle: four measures of which three are one cycle, whatever the pause.
        let mut unit = unit(1);
        for _ in 0..10 {
            arrive(&mut unit, 16, 1_000);
        }
        assert_eq!(arrival(&unit), 1);
        // Half a warp every 100 cycles is a warp in 200.
        for _ in 0..20 {
            arrive(&mut unit, 2, 100);
        }
        assert_eq!(arrival(&unit), 200);
        // As many as a register holds count as four warps.
        let mut unit = self::unit(1);
        for _ in 0..10 {
            arrive(&mut unit, 0xffff_ffff, 1_000);
        }
        assert_eq!(arrival(&unit), 1);
        // A count of 0 is nothing.
        let mut unit = self::unit(1);
        for _ in 0..100 {
            arrive(&mut unit, 0, 1);
        }
        assert_eq!((arrival(&unit), timeout(&mut unit)), (0, 16));
    }

    #[test]
    fn very_long_measures_saturate() {
        let mut unit = unit(1);
        unit.registers.max.next = 0xff_ffff.into();
        unit.registers.factor.next = 255.into();
        arrive(&mut unit, 1, 10);
        // Close to the limit by hand: 2^24 cycles would take long.
        unit.elapsed.q.next = 0xff_fff0.into();
        settle(&mut unit);
        for _ in 0..100 {
            tick!(unit);
        }
        arrive(&mut unit, LANES, 2);
        assert_eq!(arrival(&unit), 0xff_ffff);
        assert_eq!(timeout(&mut unit), 0xff_ffff, "255 times that fits the product");
        for _ in 0..8 {
            unit.elapsed.q.next = 0xff_ffff.into();
            settle(&mut unit);
            arrive(&mut unit, LANES, 30);
        }
        assert_eq!(arrival(&unit), 0xff_ffff, "and eight times that the sum");
    }

    #[test]
    fn bounds_factor_and_mode() {
        let mut unit = unit(1);
        for _ in 0..20 * LANES {
            arrive(&mut unit, 1, 25);
        }
        for (factor, min, max, wanted) in [
            (8, 16, 1_024, 200),
            (4, 16, 1_024, 100),
            (1, 16, 1_024, 25),
            (0, 16, 1_024, 16),
            (255, 16, 9_999, 6_375),
            (8, 300, 1_024, 300),
            (8, 16, 150, 150),
            (8, 300, 150, 150),
            (8, 0, 0, 0),
        ] {
            unit.registers.factor.next = factor.into();
            unit.registers.min.next = min.into();
            unit.registers.max.next = max.into();
            assert_eq!(timeout(&mut unit), wanted, "{factor} {min} {max}");
        }
        unit.registers.adaptive.next = false;
        for fixed in [0, 7, 0xffff_ffff_u64] {
            unit.fixed.next = fixed.into();
            assert_eq!(timeout(&mut unit), fixed);
        }
        assert_eq!(arrival(&unit), 100, "measured in both modes");
    }

    #[test]
    fn eager_while_few_warps_are_on_the_cores() {
        let mut unit = unit(3);
        // The time-out, the least before a measure, is not below this.
        unit.fixed.next = 16.into();
        // A quarter of a warp for each of three cores: less than one warp.
        for (eager, warps) in [(0, 0), (1, 1), (4, 3), (6, 5), (255, 192)] {
            unit.registers.eager.next = eager.into();
            for _ in 0..2 {
                tick!(unit);
            }
            let mut on = 0;
            while unit.eager.val() {
                unit.issued.next = true;
                tick!(unit);
                on += 1;
            }
            unit.issued.next = false;
            assert_eq!(on, warps, "{eager}");
            unit.registers.adaptive.next = false;
            settle(&mut unit);
            assert!(!unit.eager.val());
            unit.registers.adaptive.next = true;
            unit.finished.next = true;
            for left in (0..warps).rev() {
                // One that is issued in the cycle in which one finishes changes nothing.
                unit.issued.next = left == 1;
                settle(&mut unit);
                tick!(unit);
                if left == 1 {
                    unit.issued.next = false;
                    settle(&mut unit);
                    tick!(unit);
                }
                assert!(unit.eager.val());
            }
            (unit.issued.next, unit.finished.next) = (false, false);
            settle(&mut unit);
        }
        // A time-out that is shorter than the fixed one is waited for.
        for (fixed, eager) in [(1_024, true), (1_025, false), (0, true)] {
            unit.fixed.next = fixed.into();
            unit.registers.min.next = 1_024.into();
            assert_eq!(timeout(&mut unit), 1_024);
            assert_eq!(unit.eager.val(), eager, "{fixed}");
        }
    }

    /// Random traffic against measures of a list of the arrivals.
    #[test]
    fn random_traffic() {
        let mut random = random();
        let mut unit = unit(1);
        // Cycles of the packets that no measure has, the end of the last measure, the average x 8.
        let mut waiting: VecDeque<u64> = VecDeque::new();
        let mut last = None;
        let mut average: Option<u64> = None;
        let mut side = 0;
        let (mut steps, mut left_out) = (0, 0);
        let mut mean = 1;
        for cycle in 0..60_000u64 {
            if cycle % 700 == 0 {
                mean = [1, 2, 5, 20, 100][random.gen_range(0..5)];
            }
            let packets = if random.gen_ratio(1, mean) { random.gen_range(0..=6) } else { 0 };
            unit.arrive.next = packets > 0 || random.gen();
            unit.packets.next = packets.into();
            settle(&mut unit);
            assert_eq!(arrival(&unit), average.unwrap_or(0) >> 3, "cycle {cycle}");
            // A measure ends a cycle after its last packet, or after the measure before.
            if waiting.len() as u64 >= LANES {
                waiting.drain(..LANES as usize);
                let measure = cycle - last.unwrap();
                last = Some(cycle);
                let now = average.unwrap_or(8 * measure);
                let on = i32::from(measure > now / 2) - i32::from(measure < now / 32);
                average = Some(match (on, average) {
                    (_, None) => 8 * measure,
                    (0, _) => now - now / 8 + measure,
                    _ if on == side => 8 * measure,
                    _ => now,
                });
                left_out += u32::from(on != 0);
                steps += u32::from(on != 0 && on == side);
                side = if on == side || now == 8 * measure { 0 } else { on };
            }
            for _ in 0..packets {
                match last {
                    None => last = Some(cycle + 1),
                    Some(_) => waiting.push_back(cycle),
                }
            }
            waiting.truncate(4 * LANES as usize);
            tick!(unit);
        }
        assert!(steps > 5 && left_out > 20, "{steps} {left_out}");
    }
}
