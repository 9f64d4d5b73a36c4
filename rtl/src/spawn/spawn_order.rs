//! Jobs in the order of their triggers.

use hermes_hdl::prelude::*;

/// Jobs that may wait.
const PLACES: u64 = 16;

/// Keeps the slots of triggered jobs in order until they are issued.
///
/// 1. `push` adds `push_slot` at this edge. A slot is pushed again only after it was taken, so the
///    16 places are always enough.
/// 2. `valid` and `slot` show the oldest; with none, what is pushed in this cycle. `take` removes
///    it at this edge, and is without effect while `valid` is low.
#[clocked("no job waits")]
#[derive(Clone, Default, LogicBlock)]
pub struct SpawnOrder {
    /// A job is triggered.
    pub push: Signal<In, Bit>,
    /// Slot of the job.
    pub push_slot: Signal<In, Bits<4>>,
    /// A job waits, or is triggered in this cycle.
    pub valid: Signal<Out, Bit>,
    /// Slot of the oldest.
    pub slot: Signal<Out, Bits<4>>,
    /// The oldest job is taken at this edge.
    pub take: Signal<In, Bit>,
    slots: RamAsync<Bits<4>, 4>,
    head: Register<Bits<5>>,
    tail: Register<Bits<5>>,
}

impl Logic for SpawnOrder {
    #[hdl_gen]
    fn update(&mut self) {
        let empty = self.head.q.val() == self.tail.q.val();
        always!(jobs_that_wait_have_room, self.tail.q.val() - self.head.q.val() <= bits::<5>(PLACES));
        self.slots.write_enable.next = self.push.val();
        self.slots.write_address.next = self.tail.q.val().get_bits::<4>(0);
        self.slots.write_data.next = self.push_slot.val();
        self.slots.read_address.next = self.head.q.val().get_bits::<4>(0);
        self.valid.next = !empty | self.push.val();
        self.slot.next = self.slots.read_data.val();
        if empty {
            self.slot.next = self.push_slot.val();
        }
        if self.push.val() {
            self.tail.d.next = self.tail.q.val() + 1;
        }
        if self.take.val() & (!empty | self.push.val()) {
            self.head.d.next = self.head.q.val() + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::seq::IteratorRandom;
    use rand::Rng;
    use std::collections::VecDeque;

    #[test]
    fn gives_the_slots_in_their_order() {
        let mut random = random();
        let mut unit = SpawnOrder::default();
        reset!(unit);
        let mut waiting = VecDeque::new();
        let mut most = 0;
        for cycle in 0..4_000 {
            let rate = if cycle / 200 % 2 == 0 { 0.8 } else { 0.2 };
            let free = (0..16u64).filter(|slot| !waiting.contains(slot)).choose(&mut random);
            let pushed = free.filter(|_| random.gen_bool(rate));
            unit.push.next = pushed.is_some();
            unit.push_slot.next = pushed.unwrap_or(random.gen_range(0..16)).into();
            unit.take.next = random.gen_bool(0.5);
            settle(&mut unit);
            waiting.extend(pushed);
            assert_eq!(unit.valid.val(), !waiting.is_empty(), "cycle {cycle}");
            if let Some(&oldest) = waiting.front() {
                assert_eq!(unit.slot.val().to_u64(), oldest, "cycle {cycle}");
            }
            most = most.max(waiting.len());
            if unit.take.val() {
                waiting.pop_front();
            }
            tick!(unit);
        }
        assert_eq!(most, 16, "every place was used");
    }
}
