//! The warp slots of one core.

use super::PriorityEncoder;
use crate::prelude::*;

/// Tracks which warp slots of one core are busy.
///
/// 1. `available` and `slot` depend on the state, `limit` and `allowed` alone, in the same cycle.
/// 2. `take` marks the shown slot busy; it is legal only while `available` is high.
/// 3. `free` marks a busy slot idle; the slot can be taken again in the next cycle. Freeing an idle
///    slot is illegal.
/// 4. `limit` may change at any time and holds for the warps to come. It must not exceed the number
///    of bits of `allowed`.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct CoreSlots {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high: all slots are idle.
    pub reset: Signal<In, Bit>,
    /// Warps that may be on the core at a time, 0 to 32.
    pub limit: Signal<In, Bits<6>>,
    /// The slots that may be taken.
    pub allowed: Signal<In, Bits<32>>,
    /// The shown slot is taken at this edge.
    pub take: Signal<In, Bit>,
    /// `free_slot` becomes idle at this edge.
    pub free: Signal<In, Bit>,
    /// The slot to free.
    pub free_slot: Signal<In, Bits<5>>,
    /// The core can take a warp.
    pub available: Signal<Out, Bit>,
    /// The lowest idle slot among the allowed ones.
    pub slot: Signal<Out, Bits<5>>,
    busy: Register<Bits<32>>,
    warps: Register<Bits<6>>,
    encoder: PriorityEncoder,
}

impl Logic for CoreSlots {
    #[hdl_gen]
    fn update(&mut self) {
        self.encoder.request.next = self.allowed.val() & !self.busy.q.val();
        self.slot.next = self.encoder.index.val();
        // With fewer than `limit` warps at least one allowed slot is idle.
        self.available.next = self.warps.q.val() < self.limit.val();
        let mut taken = bits::<32>(0);
        if self.take.val() {
            taken = self.encoder.one_hot.val();
        }
        let mut freed = bits::<32>(0);
        if self.free.val() {
            freed = bits::<32>(1) << self.free_slot.val();
        }
        self.busy.d.next = (self.busy.q.val() & !freed) | taken;
        if self.take.val() & !self.free.val() {
            self.warps.d.next = self.warps.q.val() + 1;
        }
        if self.free.val() & !self.take.val() {
            self.warps.d.next = self.warps.q.val() - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::{random, settle, start, tick};
    use rand::seq::IteratorRandom;
    use rand::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn follows_a_set_of_slots() {
        let mut random = random();
        let mut unit = CoreSlots::default();
        start!(unit);
        let mut busy = BTreeSet::new();
        let (mut most, mut blocked) = (0, 0);
        for cycle in 0..20_000 {
            if cycle % 64 == 0 {
                let slots = random.gen_range(1..=32);
                unit.allowed.next = ((1u64 << slots) - 1).into();
                unit.limit.next = random.gen_range(0..=slots).into();
            }
            settle!(unit);
            let available = busy.len() < unit.limit.val().index();
            assert_eq!(unit.available.val(), available, "cycle {cycle}");
            let lowest = (0..32).find(|s| !busy.contains(s) && unit.allowed.val().get_bit(*s));
            if available {
                assert_eq!(Some(unit.slot.val().index()), lowest, "cycle {cycle}");
            } else {
                blocked += 1;
            }
            let take = available && random.gen_bool(0.8);
            let freed = busy.iter().copied().choose(&mut random).filter(|_| random.gen_bool(0.6));
            unit.take.next = take;
            unit.free.next = freed.is_some();
            unit.free_slot.next = (freed.unwrap_or_else(|| random.gen_range(0..32)) as u64).into();
            tick!(unit);
            if let Some(slot) = freed {
                busy.remove(&slot);
            }
            if take {
                busy.insert(lowest.unwrap());
            }
            most = most.max(busy.len());
        }
        assert!(most > 24 && blocked > 1_000, "{most} {blocked}");
    }
}
