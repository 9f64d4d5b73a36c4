//! FIFO of a few words.

use crate::blocks::QueuePointers;
use hermes_hdl::prelude::*;

/// Synchronous first-word-fall-through FIFO of `2^A` words in distributed RAM:
/// [`SyncFifo`](super::SyncFifo) for few words, a cycle sooner.
///
/// 1. Valid/ready on both sides; one push and one pop in every cycle are possible, but for the push
///    while `2^A` words are inside.
/// 2. A word pushed into an empty FIFO in cycle t shows at the output in cycle t + 1.
/// 3. No output depends on an input of the same cycle.
#[clocked("empties the FIFO")]
#[derive(Clone, Default, LogicBlock)]
#[held(pop_valid, pop_ready, pop_data)]
pub struct ShortFifo<T: Synth, const A: usize> {
    /// A word is offered.
    pub push_valid: Signal<In, Bit>,
    /// There is room.
    pub push_ready: Signal<Out, Bit>,
    /// The word.
    pub push_data: Signal<In, T>,
    /// The oldest word is shown.
    pub pop_valid: Signal<Out, Bit>,
    /// The oldest word is taken.
    pub pop_ready: Signal<In, Bit>,
    /// The oldest word; undefined while `pop_valid` is low.
    pub pop_data: Signal<Out, T>,
    words: RamAsync<T, A>,
    order: QueuePointers<A>,
}

impl<T: Synth, const A: usize> Logic for ShortFifo<T, A> {
    #[hdl_gen]
    fn update(&mut self) {
        let push = self.push_valid.val() & !self.order.full.val();
        self.push_ready.next = !self.order.full.val();
        self.pop_valid.next = !self.order.empty.val();
        self.order.push.next = push;
        self.order.pop.next = self.pop_ready.val() & !self.order.empty.val();
        self.words.write_enable.next = push;
        self.words.write_address.next = self.order.write_address.val();
        self.words.write_data.next = self.push_data.val();
        self.words.read_address.next = self.order.read_address.val();
        self.pop_data.next = self.words.read_data.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    #[test]
    fn follows_a_queue() {
        let mut random = random();
        let mut unit = ShortFifo::<Bits<32>, 2>::default();
        reset!(unit);
        let mut model = VecDeque::new();
        let (mut full, mut empty, mut moved) = (0, 0, 0);
        for cycle in 0..8_000 {
            let (push, pop) = [(0.9, 0.2), (0.2, 0.9), (1.0, 1.0), (0.5, 0.5)][cycle / 100 % 4];
            let word: u32 = random.gen();
            let (push, pop) = (random.gen_bool(push), random.gen_bool(pop));
            unit.push_valid.next = push;
            unit.push_data.next = u64::from(word).into();
            unit.pop_ready.next = pop;
            settle(&mut unit);
            assert_eq!(unit.push_ready.val(), model.len() < 4, "cycle {cycle}");
            assert_eq!(unit.pop_valid.val(), !model.is_empty(), "cycle {cycle}");
            let (room, shown) = (unit.push_ready.val(), unit.pop_valid.val());
            full += usize::from(push && !room);
            empty += usize::from(pop && !shown);
            if pop && shown {
                assert_eq!(Some(unit.pop_data.val().to_u64() as u32), model.pop_front(), "cycle {cycle}");
                moved += 1;
            }
            if push && room {
                model.push_back(word);
            }
            tick!(unit);
        }
        assert!(full > 500 && empty > 500 && moved > 3_000, "{full} {empty} {moved}");
    }
}
