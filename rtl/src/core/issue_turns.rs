//! The round-robin choice of the warp that issues.

use hermes_hdl::prelude::*;

/// Slots of the ring of two rounds in groups of four, and groups in fours.
const GROUPS: usize = 16;
const FOURS: usize = 4;

/// Round-robin arbiter of the warp slots in which the index of the choice is known early.
///
/// 1. `slot`, `marked` and `choice` answer `request` and `mark` in the same cycle; without a
///    request they are zero.
/// 2. The choice is the lowest requesting slot above the last used one, or the lowest of all if
///    there is none. After reset slot 0 comes first.
/// 3. A choice counts as used at the rising edge at which `advance` is high: a slot that keeps its
///    request is chosen after at most one use by each other slot. Without a request the next round
///    starts at slot 0.
///
/// 4. Option: `begin_valid` in cycle t makes the choice of t + 1 begin at `begin_slot`. In the
///    first cycle without it the turns go on where they were.
///
/// Without the option the function is that of [`RoundRobin`](crate::blocks::RoundRobin). The index
/// of the choice is found in groups of four, without a one-hot vector and a carry chain in front of
/// it, which takes fewer levels of logic and more statements of a simulation.
#[clocked]
#[derive(LogicBlock)]
#[new(firsts: bool)]
pub struct IssueTurns {
    /// Slots to choose from.
    pub request: Signal<In, Bits<32>>,
    /// A property of each slot.
    pub mark: Signal<In, Bits<32>>,
    /// The present choice is used.
    pub advance: Signal<In, Bit>,
    /// In the next cycle a slot goes first (only with the option, as the next).
    #[there(firsts)]
    pub begin_valid: Part<Signal<In, Bit>>,
    /// Slot that goes first.
    #[there(firsts)]
    pub begin_slot: Part<Signal<In, Bits<5>>>,
    /// The choice.
    pub slot: Signal<Out, Bits<5>>,
    /// The mark of the choice.
    pub marked: Signal<Out, Bit>,
    /// The choice, one-hot.
    pub choice: Signal<Out, Bits<32>>,
    above: Register<Bits<32>>,
    /// In this cycle a slot goes first, and what `above` is after that.
    #[there(firsts)]
    goes_first: Part<Register<Bit>>,
    #[there(firsts)]
    kept: Part<Register<Bits<32>>>,
    /// Of each group: whether something is requested, the first that is, and its mark.
    #[count(GROUPS)]
    group_any: Vec<Signal<Local, Bit>>,
    #[count(GROUPS)]
    group_first: Vec<Signal<Local, Bits<6>>>,
    #[count(GROUPS)]
    group_mark: Vec<Signal<Local, Bit>>,
    /// The same of each four groups.
    #[count(FOURS)]
    four_any: Vec<Signal<Local, Bit>>,
    #[count(FOURS)]
    four_first: Vec<Signal<Local, Bits<6>>>,
    #[count(FOURS)]
    four_mark: Vec<Signal<Local, Bit>>,
}

impl IssueTurns {
    /// Turns, with or without slots that go first.
    pub fn new(first: bool) -> Self {
        Self::wired(first)
    }
}

impl Logic for IssueTurns {
    #[hdl_gen]
    fn update(&mut self) {
        // This round, and the next one behind it.
        let ring = bit_cast::<64, 32>(self.request.val() & self.above.q.val())
            | (bit_cast::<64, 32>(self.request.val()) << 32);
        let marks = bit_cast::<64, 32>(self.mark.val()) | (bit_cast::<64, 32>(self.mark.val()) << 32);
        for g in 0..GROUPS {
            let part = ring.get_bits::<4>(g * 4);
            let part_mark = marks.get_bits::<4>(g * 4);
            self.group_any[g].next = part.any();
            self.group_first[g].next = bits::<6>(3);
            self.group_mark[g].next = part_mark.get_bit(3);
            if part.get_bit(2) {
                self.group_first[g].next = bits::<6>(2);
                self.group_mark[g].next = part_mark.get_bit(2);
            }
            if part.get_bit(1) {
                self.group_first[g].next = bits::<6>(1);
                self.group_mark[g].next = part_mark.get_bit(1);
            }
            if part.get_bit(0) {
                self.group_first[g].next = bits::<6>(0);
                self.group_mark[g].next = part_mark.get_bit(0);
            }
        }
        for f in 0..FOURS {
            self.four_any[f].next = self.group_any[f * 4].val()
                | self.group_any[f * 4 + 1].val()
                | self.group_any[f * 4 + 2].val()
                | self.group_any[f * 4 + 3].val();
            self.four_first[f].next = bits::<6>(12) | self.group_first[f * 4 + 3].val();
            self.four_mark[f].next = self.group_mark[f * 4 + 3].val();
            if self.group_any[f * 4 + 2].val() {
                self.four_first[f].next = bits::<6>(8) | self.group_first[f * 4 + 2].val();
                self.four_mark[f].next = self.group_mark[f * 4 + 2].val();
            }
            if self.group_any[f * 4 + 1].val() {
                self.four_first[f].next = bits::<6>(4) | self.group_first[f * 4 + 1].val();
                self.four_mark[f].next = self.group_mark[f * 4 + 1].val();
            }
            if self.group_any[f * 4].val() {
                self.four_first[f].next = self.group_first[f * 4].val();
                self.four_mark[f].next = self.group_mark[f * 4].val();
            }
        }
        let any = self.request.val().any();
        let mut first = bits::<6>(0);
        self.marked.next = false;
        if self.four_any[3].val() {
            first = bits::<6>(48) | self.four_first[3].val();
            self.marked.next = self.four_mark[3].val();
        }
        if self.four_any[2].val() {
            first = bits::<6>(32) | self.four_first[2].val();
            self.marked.next = self.four_mark[2].val();
        }
        if self.four_any[1].val() {
            first = bits::<6>(16) | self.four_first[1].val();
            self.marked.next = self.four_mark[1].val();
        }
        if self.four_any[0].val() {
            first = self.four_first[0].val();
            self.marked.next = self.four_mark[0].val();
        }
        let first_slot = first.get_bits::<5>(0);
        self.slot.next = first_slot;
        self.choice.next = bits::<32>(0);
        if any {
            self.choice.next = bits::<32>(1) << first_slot;
        }
        if self.advance.val() {
            // The slots above the chosen one.
            self.above.d.next = bits::<32>(0);
            if any {
                self.above.d.next = bits::<32>(0xffff_fffe_u64) << first_slot;
            }
        }
        if self.begin_valid.is_there() {
            self.goes_first.d.next = self.begin_valid.val();
            if !self.goes_first.q.val() {
                self.kept.d.next = self.above.q.val();
                if self.advance.val() {
                    self.kept.d.next = bits::<32>(0);
                    if any {
                        self.kept.d.next = bits::<32>(0xffff_fffe_u64) << first_slot;
                    }
                }
            } else {
                self.above.d.next = self.kept.q.val();
            }
            if self.begin_valid.val() {
                self.above.d.next = bits::<32>(0xffff_ffff_u64) << self.begin_slot.val();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::{in_turn, two_rounds};
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    #[test]
    fn takes_turns() {
        let mut random = random();
        let mut unit = IssueTurns::new(false);
        reset!(unit);
        let mut last = 31;
        for cycle in 0..3_000 {
            // Many requests, few, or none.
            let request = (0..[1, 2, 4, 8][cycle % 4]).fold(u32::MAX, |set, _| set & random.gen::<u32>());
            let mark: u32 = random.gen();
            unit.request.next = u64::from(request).into();
            unit.mark.next = u64::from(mark).into();
            unit.advance.next = random.gen();
            settle(&mut unit);
            let expected = in_turn(request, last);
            assert_eq!(unit.choice.val().to_u64(), expected.map_or(0, |i| 1 << i), "cycle {cycle}");
            assert_eq!(unit.slot.val().index(), expected.unwrap_or(0), "cycle {cycle}");
            assert_eq!(unit.marked.val(), expected.is_some_and(|i| mark >> i & 1 == 1), "cycle {cycle}");
            if unit.advance.val() {
                last = expected.unwrap_or(31);
            }
            tick!(unit);
        }
    }

    #[test]
    fn turns_go_on_behind_a_slot_that_went_first() {
        let mut random = random();
        let mut unit = IssueTurns::new(true);
        reset!(unit);
        let (mut last, mut first) = (31, None);
        for cycle in 0..5_000 {
            let request = (0..[1, 2, 4, 8][cycle % 4]).fold(u32::MAX, |set, _| set & random.gen::<u32>());
            let next = random.gen_bool(0.4).then(|| random.gen_range(0..32usize));
            unit.request.next = u64::from(request).into();
            unit.advance.next = random.gen();
            unit.begin_valid.next = next.is_some();
            unit.begin_slot.next = (next.unwrap_or(7) as u64).into();
            settle(&mut unit);
            // The slot below the first is that behind which the choice begins.
            let behind = first.map_or(last, |slot: usize| (slot + 31) % 32);
            let expected = in_turn(request, behind);
            assert_eq!(unit.choice.val().to_u64(), expected.map_or(0, |i| 1 << i), "cycle {cycle}");
            assert_eq!(unit.slot.val().index(), expected.unwrap_or(0), "cycle {cycle}");
            if unit.advance.val() && first.is_none() {
                last = expected.unwrap_or(31);
            }
            first = next;
            tick!(unit);
        }
    }

    #[test]
    fn everyone_gets_one_turn_in_a_round() {
        let mut unit = IssueTurns::new(false);
        assert_eq!(two_rounds!(unit, slot), [0, 1, 14, 31, 0, 1, 14, 31]);
    }
}
