//! Which hart fetches.

use crate::blocks::{PriorityEncoder, RoundRobin};
use hermes_hdl::prelude::*;

/// Chooses the hart that fetches in a cycle, among those that may.
///
/// 1. `valid` and `hart` answer `ready` and `open` in the same cycle; a hart that is chosen
///    fetches.
/// 2. First comes, once, a hart that was made to go on elsewhere (`redirected`, an interrupt, a
///    trap, `mret`) in an earlier cycle; of several the lowest.
/// 3. Then those take turns whose next PC is certain; then those with a jump or branch in the
///    pipeline that is not resolved (`open`), whose fetch may be in vain. So four harts that run
///    lose no slot to a wrong path.
/// 4. While a hart may fetch and is not open, each other hart fetches once at most, but for what 2
///    lets go first.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct HartScheduler {
    /// Harts that may fetch.
    pub ready: Signal<In, Bits<8>>,
    /// Harts with a jump or branch in the pipeline that is not resolved.
    pub open: Signal<In, Bits<8>>,
    /// Harts that are made to go on elsewhere at this edge.
    pub redirected: Signal<In, Bits<8>>,
    /// Harts that are held: they go first no longer.
    pub hold: Signal<In, Bits<8>>,
    /// A hart fetches.
    pub valid: Signal<Out, Bit>,
    /// Hart that fetches.
    pub hart: Signal<Out, Bits<3>>,
    goes_first: Register<Bits<8>>,
    first: PriorityEncoder,
    turns: RoundRobin,
}

impl Logic for HartScheduler {
    #[hdl_gen]
    fn update(&mut self) {
        let wants_first = self.ready.val() & self.goes_first.q.val();
        let certain = self.ready.val() & !self.open.val();
        self.first.request.next = bit_cast::<32, 8>(wants_first);
        self.turns.request.next = bit_cast::<32, 8>(self.ready.val());
        if certain.any() {
            self.turns.request.next = bit_cast::<32, 8>(certain);
        }
        self.turns.advance.next = self.ready.val().any() & !wants_first.any();
        self.valid.next = self.ready.val().any();
        self.hart.next = self.turns.index.val().get_bits::<3>(0);
        let mut served = bits::<8>(0);
        if wants_first.any() {
            self.hart.next = self.first.index.val().get_bits::<3>(0);
            served = self.first.one_hot.val().get_bits::<8>(0);
        }
        self.goes_first.d.next =
            ((self.goes_first.q.val() & !served) | self.redirected.val()) & !self.hold.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::in_turn;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    #[test]
    fn redirected_ones_first_then_certain_ones_in_turns() {
        let mut random = random();
        let mut unit = HartScheduler::default();
        reset!(unit);
        let (mut first, mut last) = (0u32, 31);
        let mut passed = [[0u32; 8]; 8];
        let (mut firsts, mut in_vain) = (0, 0);
        for cycle in 0..20_000 {
            // Many that may fetch, few, none; all of them open now and then.
            let ready: u32 =
                random.gen_range(0..256) & if random.gen() { 255 } else { random.gen_range(0..256) };
            let open: u32 =
                random.gen_range(0..256) | if random.gen() { 0 } else { random.gen_range(0..256) };
            let redirected: u32 = if random.gen_bool(0.1) { 1 << random.gen_range(0..8) } else { 0 };
            let hold: u32 = if random.gen_bool(0.02) { 1 << random.gen_range(0..8) } else { 0 };
            unit.ready.next = u64::from(ready).into();
            unit.open.next = u64::from(open).into();
            unit.redirected.next = u64::from(redirected).into();
            unit.hold.next = u64::from(hold).into();
            settle(&mut unit);
            assert_eq!(unit.valid.val(), ready != 0, "cycle {cycle}");
            let certain = ready & !open;
            let expected = if ready & first != 0 {
                firsts += 1;
                Some((ready & first).trailing_zeros() as usize)
            } else {
                in_turn(if certain != 0 { certain } else { ready }, last)
            };
            if let Some(hart) = expected {
                assert_eq!(unit.hart.val().index(), hart, "cycle {cycle}");
                in_vain += u32::from(certain >> hart & 1 == 0);
                if ready & first == 0 {
                    last = hart;
                    for (waits, counts) in passed.iter_mut().enumerate() {
                        counts[hart] += 1;
                        if hart == waits || certain >> waits & 1 == 0 {
                            *counts = [0; 8];
                        }
                        assert!(counts.iter().all(|&count| count < 2), "cycle {cycle}: hart {waits} waits");
                    }
                }
                first &= !(u32::from(ready & first != 0) << hart);
            }
            first = (first | redirected) & !hold;
            tick!(unit);
        }
        assert!(firsts > 500 && in_vain > 500, "{firsts} {in_vain}");
    }
}
