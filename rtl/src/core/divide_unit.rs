//! Divisions and counts of bits of all lanes.

use super::{BitCount, Divider};
use crate::ports::{DivideStart, LateResult};
use hermes_hdl::prelude::*;

/// Lanes that share a divider and a bit counter.
const SHARE: usize = 8;

/// Runs one division or count of bits of a warp at a time: each group of eight lanes shares a
/// [`Divider`] and a [`BitCount`], which serve one lane after the other.
///
/// A count of bits takes the same path as a division, with the word in the place of the dividend.
///
/// 1. A division is accepted at the edge at which `start.valid` and `start_ready` are high, with
///    the operands of all lanes. `start_ready` depends on registers only.
/// 2. It is made in passes. A pass serves one lane of each group, those at the lowest place in
///    their group where a lane is left; places where no lane takes part are skipped.
/// 3. `result.valid` is high 35 cycles after the acceptance, or after the result before it was
///    accepted (2 cycles for a count of bits), until the edge with `result_ready` high; the results
///    are stable meanwhile. `result.last` marks the last pass; `start_ready` is high again in the
///    cycle after it.
#[clocked]
#[derive(LogicBlock)]
#[new(share: usize, groups: usize)]
pub struct DivideUnit<const LANES: usize> {
    /// From stage W: a division starts if `start_ready` is high.
    pub start: DivideStart<LANES>,
    /// No division is in flight.
    pub start_ready: Signal<Out, Bit>,
    /// Bits are counted, as `start_ones` and `start_trailing` say. `start_signed` and
    /// `start_remainder` are ignored then.
    pub start_count: Signal<In, Bit>,
    /// The ones, else the zeros at one end.
    pub start_ones: Signal<In, Bit>,
    /// Zeros below the lowest one, else above the highest.
    pub start_trailing: Signal<In, Bit>,
    /// The operands are signed.
    pub start_signed: Signal<In, Bit>,
    /// The results are remainders, else quotients.
    pub start_remainder: Signal<In, Bit>,
    /// Dividend of each lane, or the word whose bits are counted.
    #[count(LANES)]
    pub start_dividend: Vec<Signal<In, Bits<32>>>,
    /// Divisor of each lane.
    #[count(LANES)]
    pub start_divisor: Vec<Signal<In, Bits<32>>>,

    // To register write-back
    /// Results of lanes; `slot` is that of the division in flight.
    pub result: LateResult<LANES>,
    /// Accepted at this edge.
    pub result_ready: Signal<In, Bit>,
    /// Result of each lane of `result.lanes`, undefined for other lanes; 0 unless results are
    /// accepted.
    #[count(LANES)]
    pub result_data: Vec<Signal<Out, Bits<32>>>,

    #[count(groups)]
    dividers: Vec<Divider>,
    #[count(groups)]
    counters: Vec<BitCount>,
    busy: Register<Bit>,
    slot: Register<Bits<5>>,
    rd: Register<Bits<5>>,
    count: Register<Bit>,
    ones: Register<Bit>,
    trailing: Register<Bit>,
    signed: Register<Bit>,
    remainder: Register<Bit>,
    /// Lanes that have no result yet.
    pending: Register<Bits<LANES>>,
    #[count(LANES)]
    dividend: Vec<Register<Bits<32>>>,
    #[count(LANES)]
    divisor: Vec<Register<Bits<32>>>,
    /// Place of the pass in each group, one-hot; 0 when it is still to be chosen.
    place: Register<Bits<8>>,
    /// The dividers have the operands of the pass.
    loaded: Register<Bit>,
    /// Steps made; bit 5 is set when all are.
    steps: Register<Bits<6>>,

    #[count(groups)]
    group_dividend: Vec<Signal<Local, Bits<32>>>,
    #[count(groups)]
    group_divisor: Vec<Signal<Local, Bits<32>>>,
    #[init(groups)]
    _groups: usize,
    #[init(share)]
    _share: usize,
}

impl<const LANES: usize> Default for DivideUnit<LANES> {
    /// # Panics
    /// If the number of lanes is neither a multiple of eight nor below.
    fn default() -> Self {
        let share = LANES.min(SHARE);
        assert!(LANES % share == 0, "DivideUnit: {LANES} lanes");
        let groups = LANES / share;
        Self::wired(share, groups)
    }
}

impl<const LANES: usize> Logic for DivideUnit<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        // A pass: its place is chosen, the operands there are taken, the bits of the quotient
        // found, the results accepted. Counts of bits are ready when the place is chosen.
        let chosen = self.place.q.val().any();
        let load = chosen & !self.loaded.q.val() & !self.count.q.val();
        let step = self.loaded.q.val() & !self.steps.q.val().get_bit(5);
        let done = (self.loaded.q.val() & self.steps.q.val().get_bit(5)) | (chosen & self.count.q.val());
        // Places where a lane is left.
        let mut left = bits::<8>(0);
        let mut served = bits::<LANES>(0);
        for g in 0..self._groups {
            self.group_dividend[g].next = bits::<32>(0);
            self.group_divisor[g].next = bits::<32>(0);
        }
        if self.busy.q.val() {
            for g in 0..self._groups {
                for p in 0..self._share {
                    if self.pending.q.val().get_bit(p + g * self._share) {
                        left = left.replace_bit(p, true);
                    }
                    if self.place.q.val().get_bit(p) {
                        served = served.replace_bit(
                            p + g * self._share,
                            self.pending.q.val().get_bit(p + g * self._share),
                        );
                        self.group_dividend[g].next =
                            self.group_dividend[g].val() | self.dividend[p + g * self._share].q.val();
                        self.group_divisor[g].next =
                            self.group_divisor[g].val() | self.divisor[p + g * self._share].q.val();
                    }
                }
            }
        }
        let last = !(self.pending.q.val() & !served).any();
        if self.busy.q.val() & !chosen {
            self.place.d.next = left & (!left + 1);
        }
        if load {
            self.loaded.d.next = true;
            self.steps.d.next = bits::<6>(0);
        }
        if step {
            self.steps.d.next = self.steps.q.val() + 1;
        }
        if done & self.result_ready.val() {
            self.pending.d.next = self.pending.q.val() & !served;
            self.place.d.next = bits::<8>(0);
            self.loaded.d.next = false;
            self.busy.d.next = !last;
        }

        self.start_ready.next = !self.busy.q.val();
        if self.start.valid.val() & !self.busy.q.val() {
            self.busy.d.next = true;
            self.slot.d.next = self.start.slot.val();
            self.rd.d.next = self.start.rd.val();
            self.count.d.next = self.start_count.val();
            self.ones.d.next = self.start_ones.val();
            self.trailing.d.next = self.start_trailing.val();
            self.signed.d.next = self.start_signed.val();
            self.remainder.d.next = self.start_remainder.val();
            self.pending.d.next = self.start.lanes.val();
            for i in 0..LANES {
                self.dividend[i].d.next = self.start_dividend[i].val();
                self.divisor[i].d.next = self.start_divisor[i].val();
            }
        }

        self.result.valid.next = done;
        self.result.slot.next = self.slot.q.val();
        self.result.rd.next = self.rd.q.val();
        self.result.lanes.next = served;
        self.result.last.next = last;
        let mut counted = bits::<6>(0);
        for g in 0..self._groups {
            self.dividers[g].load.next = load;
            self.dividers[g].a.next = self.group_dividend[g].val();
            self.dividers[g].b.next = self.group_divisor[g].val();
            self.dividers[g].signed.next = self.signed.q.val();
            self.dividers[g].remainder.next = self.remainder.q.val();
            self.dividers[g].step.next = step;
            self.dividers[g].wanted.next = done & !self.count.q.val();
            self.counters[g].enable.next = done & self.count.q.val();
            self.counters[g].ones.next = self.ones.q.val();
            self.counters[g].trailing.next = self.trailing.q.val();
            self.counters[g].a.next = self.group_dividend[g].val();
            counted = self.counters[g].count.val();
            let mut group_result = bits::<32>(0);
            if done & self.result_ready.val() {
                group_result = self.dividers[g].result.val() | bit_cast::<32, 6>(counted);
            }
            for p in 0..self._share {
                self.result_data[p + g * self._share].next = group_result;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    /// Divisions and counts one after the other: every lane gets its result once, in passes of one
    /// lane of each eight.
    fn divides<const LANES: usize>(divisions: u64) {
        let mut rng = random("divide_unit");
        let mut uut = DivideUnit::<LANES>::default();
        reset!(uut);
        for round in 0..divisions {
            settle(&mut uut);
            assert!(uut.start_ready.val() && !uut.result.valid.val());
            let lanes = if round == 0 { (1u64 << LANES) - 1 } else { rng.gen_range(1..1u64 << LANES) };
            let operands: Vec<(u32, u32)> = (0..LANES).map(|_| (rng.gen(), rng.gen_range(1..1000))).collect();
            let remainder: bool = rng.gen();
            let count: bool = round > 0 && rng.gen();
            let (ones, trailing) = [(false, false), (false, true), (true, false)][rng.gen_range(0..3)];
            uut.start.valid.next = true;
            uut.start.slot.next = bits(round % 32);
            uut.start.rd.next = bits(31 - round % 32);
            uut.start.lanes.next = bits(lanes);
            uut.start_count.next = count;
            uut.start_ones.next = ones;
            uut.start_trailing.next = trailing;
            uut.start_signed.next = false;
            uut.start_remainder.next = remainder;
            for (i, (a, b)) in operands.iter().enumerate() {
                uut.start_dividend[i].next = bits((*a).into());
                uut.start_divisor[i].next = bits((*b).into());
            }
            tick!(uut);
            // Another one is offered meanwhile and must wait.
            uut.start.slot.next = bits((round + 1) % 32);
            uut.start.lanes.next = bits(1);
            uut.start_remainder.next = !remainder;
            uut.start_count.next = !count;
            uut.start_dividend[0].next = bits(0);
            let mut left = lanes;
            while left != 0 {
                let mut cycles = 1;
                settle(&mut uut);
                while !uut.result.valid.val() {
                    assert!(!uut.start_ready.val());
                    tick!(uut);
                    cycles += 1;
                }
                assert_eq!(cycles, if count { 2 } else { 35 });
                for wait in 0..=round % 3 {
                    uut.result_ready.next = wait == round % 3;
                    settle(&mut uut);
                    assert!(uut.result.valid.val() && !uut.start_ready.val());
                    let place = (0..8).find(|place| left & (0x0101_0101 << place) != 0).unwrap();
                    let served = left & (0x0101_0101 << place);
                    assert_eq!(uut.result.lanes.val().to_u64(), served);
                    assert_eq!(uut.result.last.val(), served == left);
                    assert_eq!(uut.result.slot.val().to_u64(), round % 32);
                    assert_eq!(uut.result.rd.val().to_u64(), 31 - round % 32);
                    for (i, (a, b)) in operands.iter().enumerate().filter(|(i, _)| served >> i & 1 == 1) {
                        // Nothing is given before it is accepted.
                        let result = match (count, ones, trailing) {
                            (true, true, _) => a.count_ones(),
                            (true, _, true) => a.trailing_zeros(),
                            (true, ..) => a.leading_zeros(),
                            _ if remainder => a % b,
                            _ => a / b,
                        };
                        let expected = if wait == round % 3 { result } else { 0 };
                        assert_eq!(uut.result_data[i].val().to_u32(), expected, "lane {i}: {a} {b}");
                    }
                    if wait == round % 3 {
                        left &= !served;
                        uut.start.valid.next = left != 0;
                    }
                    tick!(uut);
                }
                uut.result_ready.next = false;
            }
        }
    }

    #[test]
    fn every_lane_gets_its_result_once() {
        divides::<1>(8);
        divides::<4>(8);
        divides::<16>(6);
    }
}
