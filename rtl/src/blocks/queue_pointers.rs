//! The addresses of a queue kept in a memory.

use hermes_hdl::prelude::*;

/// Write and read address, `full` and `empty` of a queue of `2^A` entries.
///
/// The entries stand in one or more [`RamAsync`] that the owner connects to `write_address` and
/// `read_address`.
///
/// 1. `push` at an edge appends the entry at `write_address`; it is readable from the next cycle
///    on.
/// 2. `pop` at an edge removes the entry at `read_address`.
/// 3. Outputs come from registers. Push while `full` and pop while `empty` are illegal; both in the
///    same cycle are legal otherwise and leave the level as it is.
#[clocked("empties the queue")]
#[derive(Clone, Default, LogicBlock)]
#[never(push, full)]
#[never(pop, empty)]
pub struct QueuePointers<const A: usize> {
    /// Appends an entry at this edge.
    pub push: Signal<In, Bit>,
    /// Removes the oldest entry at this edge.
    pub pop: Signal<In, Bit>,
    /// Address to which the next entry is written.
    pub write_address: Signal<Out, Bits<A>>,
    /// Address of the oldest entry.
    pub read_address: Signal<Out, Bits<A>>,
    /// No entry is free.
    pub full: Signal<Out, Bit>,
    /// No entry is in the queue.
    pub empty: Signal<Out, Bit>,

    tail: Register<Bits<A>>,
    head: Register<Bits<A>>,
    all_used: Register<Bit>,
}

impl<const A: usize> Logic for QueuePointers<A> {
    #[hdl_gen]
    fn update(&mut self) {
        if self.push.val() {
            self.tail.d.next = self.tail.q.val() + 1;
        }
        if self.pop.val() {
            self.head.d.next = self.head.q.val() + 1;
        }
        if self.push.val() && !self.pop.val() {
            self.all_used.d.next = (self.tail.q.val() + 1) == self.head.q.val();
        } else if self.pop.val() && !self.push.val() {
            self.all_used.d.next = false;
        }
        self.write_address.next = self.tail.q.val();
        self.read_address.next = self.head.q.val();
        self.full.next = self.all_used.q.val();
        self.empty.next = (self.tail.q.val() == self.head.q.val()) && !self.all_used.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    #[test]
    fn follows_a_queue_model() {
        let mut rng = random("queue_pointers");
        let mut uut = QueuePointers::<3>::default();
        let mut model: VecDeque<u64> = VecDeque::new();
        let mut next = 0u64;
        for step in 0..20_000 {
            let fill_phase = (step / 50) % 2 == 0;
            settle(&mut uut);
            assert_eq!(uut.empty.val(), model.is_empty());
            assert_eq!(uut.full.val(), model.len() == 8);
            assert_eq!(uut.write_address.val().to_u64(), next % 8);
            if let Some(oldest) = model.front() {
                assert_eq!(uut.read_address.val().to_u64(), oldest % 8);
            }
            let push = !uut.full.val() && rng.gen_bool(if fill_phase { 0.8 } else { 0.3 });
            let pop = !uut.empty.val() && rng.gen_bool(if fill_phase { 0.3 } else { 0.8 });
            if push {
                model.push_back(next);
                next += 1;
            }
            if pop {
                model.pop_front();
            }
            uut.push.next = push;
            uut.pop.next = pop;
            tick!(uut);
        }
    }

    /// A queue of two words with as many as there are.
    fn queue_with(words: usize) -> QueuePointers<1> {
        let mut uut = QueuePointers::default();
        uut.push.next = true;
        for _ in 0..words {
            tick!(uut);
        }
        uut.push.next = false;
        settle(&mut uut);
        assert_eq!((uut.empty.val(), uut.full.val()), (words == 0, words == 2));
        uut
    }

    #[test]
    #[should_panic(expected = "push and full are both high")]
    fn a_push_while_full_is_noticed() {
        let mut uut = queue_with(2);
        uut.push.next = true;
        uut.pop.next = true;
        tick!(uut);
    }

    #[test]
    #[should_panic(expected = "pop and empty are both high")]
    fn a_pop_while_empty_is_noticed() {
        let mut uut = queue_with(0);
        uut.push.next = true;
        uut.pop.next = true;
        tick!(uut);
    }
}
