//! FIFO in block RAM.

use hermes_hdl::prelude::*;

/// The task FIFO: each entry is a number of packets that are ready (Hermes, section 3.3). 1,024
/// entries in the array: `TaskFifo<10, 11>`.
pub type TaskFifo<const A: usize, const L: usize> = SyncFifo<Bits<32>, A, L>;

/// Synchronous first-word-fall-through FIFO of `2^A` words in block RAM; `L` is `A + 1`.
///
/// 1. Valid/ready on both sides; one push and one pop in every cycle are possible, also when full
///    but for the push: `push_ready` is low while `2^A` words are inside.
/// 2. A word pushed into an empty FIFO in cycle t shows at the output in cycle t + 2.
/// 3. No output depends on an input of the same cycle.
#[clocked("empties the FIFO")]
#[derive(Clone, LogicBlock)]
#[new]
#[held(pop_valid, pop_ready, pop_data)]
pub struct SyncFifo<T: Synth, const A: usize, const L: usize> {
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
    /// Words inside, 0 to `2^A`.
    pub level: Signal<Out, Bits<L>>,
    ram: RamSync<T, A>,
    write_pointer: Register<Bits<A>>,
    read_pointer: Register<Bits<A>>,
    words: Register<Bits<L>>,
    shown: Register<Bit>,
    #[init(Constant::new((1u64 << A).into()))]
    capacity: Constant<Bits<L>>,
}

impl<T: Synth, const A: usize, const L: usize> Default for SyncFifo<T, A, L> {
    /// An empty FIFO.
    ///
    /// # Panics
    /// If `A` is zero or `L` is not `A + 1`.
    fn default() -> Self {
        assert!(A >= 1 && L == A + 1, "SyncFifo: 2^{A} words need a level of {} bits, not {L}", A + 1);
        Self::wired()
    }
}

impl<T: Synth, const A: usize, const L: usize> Logic for SyncFifo<T, A, L> {
    #[hdl_gen]
    fn update(&mut self) {
        self.push_ready.next = self.words.q.val() != self.capacity.val();
        self.pop_valid.next = self.shown.q.val();
        self.level.next = self.words.q.val();
        let push = self.push_valid.val() & (self.words.q.val() != self.capacity.val());
        let pop = self.shown.q.val() & self.pop_ready.val();

        // The RAM's output register shows one word; the others are in the RAM.
        let mut in_ram = self.words.q.val() != 0;
        if self.shown.q.val() {
            in_ram = self.words.q.val() != 1;
        }
        let fetch = in_ram & (!self.shown.q.val() | pop);
        self.ram.write_enable.next = push;
        self.ram.write_address.next = self.write_pointer.q.val();
        self.ram.write_data.next = self.push_data.val();
        self.ram.read_enable.next = fetch;
        self.ram.read_address.next = self.read_pointer.q.val();
        self.pop_data.next = self.ram.read_data.val();

        if push {
            self.write_pointer.d.next = self.write_pointer.q.val() + 1;
        }
        if fetch {
            self.read_pointer.d.next = self.read_pointer.q.val() + 1;
        }
        self.shown.d.next = fetch | (self.shown.q.val() & !pop);
        if push & !pop {
            self.words.d.next = self.words.q.val() + 1;
        }
        if pop & !push {
            self.words.d.next = self.words.q.val() - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    fn against_queue<const A: usize, const L: usize>(cycles: usize) {
        let mut random = random();
        let mut unit = TaskFifo::<A, L>::default();
        reset!(unit);
        let mut model = VecDeque::new();
        let (mut was_full, mut was_empty, mut moved) = (0, 0, 0);
        let mut hidden_for = 0;
        for cycle in 0..cycles {
            // Phases that fill, drain and stream.
            let (push, pop) = [(0.9, 0.2), (0.2, 0.9), (1.0, 1.0), (0.5, 0.5)][cycle / (16 << A) % 4];
            let word: u32 = random.gen();
            if !unit.push_valid.val() || unit.push_ready.val() || cycle == 0 {
                unit.push_valid.next = random.gen_bool(push);
            }
            unit.push_data.next = u64::from(word).into();
            unit.pop_ready.next = random.gen_bool(pop);
            settle(&mut unit);
            assert_eq!(unit.level.val().index(), model.len(), "cycle {cycle}");
            assert_eq!(unit.push_ready.val(), model.len() < 1 << A, "cycle {cycle}");
            was_full += usize::from(model.len() == 1 << A);
            was_empty += usize::from(model.is_empty());
            // At most one cycle passes between a word's entry and its showing.
            hidden_for = if unit.pop_valid.val() || model.is_empty() { 0 } else { hidden_for + 1 };
            assert!(hidden_for <= 1, "cycle {cycle}: a word is hidden");
            if unit.pop_valid.val() {
                assert_eq!(unit.pop_data.val().to_u64() as u32, model[0], "cycle {cycle}");
            }
            if unit.pop_valid.val() && unit.pop_ready.val() {
                model.pop_front();
                moved += 1;
            }
            if unit.push_valid.val() && unit.push_ready.val() {
                model.push_back(word);
            }
            tick!(unit);
        }
        assert!(was_full > 0 && was_empty > 0 && moved > 4 << A);
    }

    #[test]
    fn tiny_fifo_follows_a_queue() {
        against_queue::<1, 2>(3_000);
        against_queue::<2, 3>(6_000);
    }

    #[test]
    fn array_fifo_follows_a_queue() {
        against_queue::<10, 11>(70_000);
    }

    #[test]
    fn streams_one_word_a_cycle() {
        let mut unit = TaskFifo::<2, 3>::default();
        reset!(unit);
        unit.push_valid.next = true;
        unit.pop_ready.next = true;
        let mut words = vec![];
        for cycle in 0..100u64 {
            unit.push_data.next = cycle.into();
            settle(&mut unit);
            assert!(unit.push_ready.val());
            assert_eq!(unit.pop_valid.val(), cycle >= 2, "the latency is two cycles");
            if unit.pop_valid.val() {
                words.push(unit.pop_data.val().to_u64());
            }
            tick!(unit);
        }
        assert_eq!(words, (0..98).collect::<Vec<_>>());
    }
}
