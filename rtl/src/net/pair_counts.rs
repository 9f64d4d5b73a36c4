//! How much of each queue pair is under way.

use hermes_hdl::prelude::*;

/// A counter for each of 16 queue pairs, of at most 31 things that are under way.
///
/// `add` counts one more of `add_pair` and `remove` one less of `remove_pair`, both in one cycle
/// too. `any` has a bit for each queue pair of which one is under way; it follows the counters,
/// which change at the edge.
#[clocked("nothing is under way")]
#[derive(Clone, LogicBlock)]
pub struct PairCounts {
    /// One more is under way.
    pub add: Signal<In, Bit>,
    /// Queue pair of the one that is added.
    pub add_pair: Signal<In, Bits<4>>,
    /// One is under way no more.
    pub remove: Signal<In, Bit>,
    /// Queue pair of the one that is removed.
    pub remove_pair: Signal<In, Bits<4>>,
    /// Queue pairs of which one is under way.
    pub any: Signal<Out, Bits<16>>,
    #[count(16)]
    counts: Vec<Register<Bits<5>>>,
}

impl Logic for PairCounts {
    #[hdl_gen]
    fn update(&mut self) {
        let mut added = bits::<16>(0);
        if self.add.val() {
            added = bits::<16>(1) << self.add_pair.val();
        }
        let mut removed = bits::<16>(0);
        if self.remove.val() {
            removed = bits::<16>(1) << self.remove_pair.val();
        }
        let mut marks = bits::<16>(0);
        for i in 0..16 {
            always!(
                counts_do_not_overflow,
                !added.get_bit(i) || removed.get_bit(i) || !self.counts[i].q.val().all()
            );
            always!(
                counts_do_not_underflow,
                !removed.get_bit(i) || added.get_bit(i) || self.counts[i].q.val().any()
            );
            if added.get_bit(i) && !removed.get_bit(i) {
                self.counts[i].d.next = self.counts[i].q.val() + bits::<5>(1);
            }
            if removed.get_bit(i) && !added.get_bit(i) {
                self.counts[i].d.next = self.counts[i].q.val() - bits::<5>(1);
            }
            marks = marks.replace_bit(i, self.counts[i].q.val().any());
        }
        self.any.next = marks;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    #[test]
    fn counts_each() {
        let mut rng = random("pair_counts");
        let mut uut = PairCounts::default();
        reset!(uut);
        let mut counts = [0u32; 16];
        let mut both = 0;
        for _ in 0..3_000 {
            let (more, less) = (rng.gen_range(0..16usize), rng.gen_range(0..16usize));
            let add = counts[more] < 31 && rng.gen_bool(0.7);
            let remove = counts[less] > 0 && rng.gen_bool(0.8);
            uut.add.next = add;
            uut.add_pair.next = (more as u64).into();
            uut.remove.next = remove;
            uut.remove_pair.next = (less as u64).into();
            settle(&mut uut);
            for (pair, count) in counts.iter().enumerate() {
                assert_eq!(uut.any.val().get_bit(pair), *count > 0);
            }
            counts[more] += u32::from(add);
            counts[less] -= u32::from(remove);
            both += u32::from(add && remove && more == less);
            tick!(uut);
        }
        assert!(both > 20);
    }
}
