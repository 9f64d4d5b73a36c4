//! The entries of a long queue.

use hermes_hdl::prelude::*;

/// The entries of a queue of `2^A` in block RAM, of which the oldest can be read as from a
/// [`RamAsync`].
///
/// 1. The owner connects `write_address` and `read_address` to
///    [`QueuePointers`](super::QueuePointers), `push` and `pop` as there.
/// 2. `front`, a register, is the word at `read_address`, unless the queue is empty.
///
/// The RAM reads the entry after it in advance; that, or a copy of the word that was written when
/// it was read, comes next.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct QueueRam<const N: usize, const A: usize> {
    /// Writes an entry at this edge.
    pub push: Signal<In, Bit>,
    /// Address of the entry to write.
    pub write_address: Signal<In, Bits<A>>,
    /// The entry.
    pub write_data: Signal<In, Bits<N>>,
    /// The oldest entry leaves at this edge.
    pub pop: Signal<In, Bit>,
    /// Address of the oldest entry.
    pub read_address: Signal<In, Bits<A>>,
    /// The oldest entry; undefined while there is none.
    pub front: Signal<Out, Bits<N>>,

    words: RamNoCollision<N, A>,
    first: Register<Bits<N>>,
    /// The RAM did not read the second entry, which was written at that edge: it is `copy`.
    copied: Register<Bit>,
    copy: Register<Bits<N>>,
}

impl<const N: usize, const A: usize> Logic for QueueRam<N, A> {
    #[hdl_gen]
    fn update(&mut self) {
        self.words.write_enable.next = self.push.val();
        self.words.write_address.next = self.write_address.val();
        self.words.write_data.next = self.write_data.val();
        // Where the oldest two stand after this edge
        let mut oldest = self.read_address.val();
        let mut second = self.read_address.val() + 1;
        if self.pop.val() {
            oldest = self.read_address.val() + 1;
            second = self.read_address.val() + 2;
        }
        self.words.read_address.next = second;
        self.words.read_enable.next = self.pop.val() || self.copied.q.val();
        self.copied.d.next = false;
        if self.push.val() && (self.write_address.val() == second) {
            self.copied.d.next = true;
            self.copy.d.next = self.write_data.val();
        }
        if self.pop.val() {
            self.first.d.next = self.words.read_data.val();
            if self.copied.q.val() {
                self.first.d.next = self.copy.q.val();
            }
        }
        if self.push.val() && (self.write_address.val() == oldest) {
            self.first.d.next = self.write_data.val();
        }
        self.front.next = self.first.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::super::QueuePointers;
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    /// A queue of eight words.
    #[derive(LogicBlock, Default)]
    struct Queue {
        clock: Signal<In, Clock>,
        reset: Signal<In, Bit>,
        push: Signal<In, Bit>,
        word: Signal<In, Bits<8>>,
        pop: Signal<In, Bit>,
        front: Signal<Out, Bits<8>>,
        pointers: QueuePointers<3>,
        words: QueueRam<8, 3>,
    }

    impl Logic for Queue {
        #[hdl_gen]
        fn update(&mut self) {
            self.pointers.push.next = self.push.val();
            self.pointers.pop.next = self.pop.val();
            self.words.push.next = self.push.val();
            self.words.pop.next = self.pop.val();
            self.words.write_address.next = self.pointers.write_address.val();
            self.words.write_data.next = self.word.val();
            self.words.read_address.next = self.pointers.read_address.val();
            self.front.next = self.words.front.val();
        }
    }

    #[test]
    fn the_oldest_word_is_in_front() {
        let mut rng = random("queue_ram");
        let mut uut = Queue::default();
        reset!(uut);
        let mut model: VecDeque<u64> = VecDeque::new();
        for step in 0..6_000 {
            settle(&mut uut);
            if let Some(&oldest) = model.front() {
                assert_eq!(uut.front.val().to_u64(), oldest, "step {step}");
            }
            // The queue runs full, stays short, and runs empty.
            let share = [0.8, 0.5, 0.3][step / 40 % 3];
            let word = rng.gen_range(0..256);
            let push = model.len() < 8 && rng.gen_bool(share);
            let pop = !model.is_empty() && rng.gen_bool(1.1 - share);
            uut.push.next = push;
            uut.word.next = bits(word);
            uut.pop.next = pop;
            if pop {
                model.pop_front();
            }
            if push {
                model.push_back(word);
            }
            tick!(uut);
        }
    }
}
