//! A fair choice among requests.

use super::BinaryEncoder;
use hermes_hdl::prelude::*;

/// Round-robin arbiter for up to 32 requesters.
///
/// 1. The outputs answer `request` in the same cycle; without a request they are zero.
/// 2. The choice is the lowest requesting index above the last used one, or the lowest of all if
///    there is none. After reset index 0 comes first.
/// 3. A choice counts as used at the rising edge at which `advance` is high: a requester that keeps
///    its request is chosen after at most one use by each other requester.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct RoundRobin {
    /// One bit for each requester.
    pub request: Signal<In, Bits<32>>,
    /// The present choice is used.
    pub advance: Signal<In, Bit>,
    /// Something is requested.
    pub any: Signal<Out, Bit>,
    /// The choice, one-hot.
    #[one_hot]
    pub grant: Signal<Out, Bits<32>>,
    /// The choice as an index.
    pub index: Signal<Out, Bits<5>>,
    above: Register<Bits<32>>,
    encoder: BinaryEncoder,
}

impl Logic for RoundRobin {
    #[hdl_gen]
    fn update(&mut self) {
        // The lowest of this round, and the lowest of all for the next one. A carry goes no further
        // than there are requesters: behind the last one both are constant.
        let round = self.request.val() & self.above.q.val();
        let mut choice = self.request.val() & (bits::<32>(0) - self.request.val());
        if round.any() {
            choice = round & (bits::<32>(0) - round);
        }
        self.any.next = self.request.val().any();
        self.grant.next = choice;
        self.encoder.one_hot.next = choice;
        self.index.next = self.encoder.index.val();
        if self.advance.val() {
            // The bits above the chosen one.
            self.above.d.next = !(choice | (choice - 1));
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
        let mut unit = RoundRobin::default();
        reset!(unit);
        let mut last = 31;
        for cycle in 0..3_000 {
            let request: u32 = random.gen::<u32>() & random.gen::<u32>() & random.gen::<u32>();
            unit.request.next = u64::from(request).into();
            unit.advance.next = random.gen();
            settle(&mut unit);
            let expected = in_turn(request, last);
            assert_eq!(unit.any.val(), expected.is_some(), "cycle {cycle}");
            assert_eq!(unit.grant.val().to_u64(), expected.map_or(0, |i| 1 << i), "cycle {cycle}");
            assert_eq!(unit.index.val().index(), expected.unwrap_or(0), "cycle {cycle}");
            if unit.advance.val() {
                // Without a request the next round starts at index 0.
                last = expected.unwrap_or(31);
            }
            tick!(unit);
        }
    }

    #[test]
    fn everyone_gets_one_turn_in_a_round() {
        let mut unit = RoundRobin::default();
        assert_eq!(two_rounds!(unit, index), [0, 1, 14, 31, 0, 1, 14, 31]);
    }
}
