//! Number of lanes in a set.

use hermes_hdl::prelude::*;

/// Counts the set bits of a set of lanes; combinational.
///
/// `LANES` is a power of two. The sums form a tree, of which synthesis makes carry-save adders: two
/// LUTs a lane, where counting lane after lane takes an adder each.
#[derive(LogicBlock)]
#[new(sums: usize, alone: usize)]
pub struct PopulationCount<const LANES: usize> {
    /// Set whose bits are counted.
    pub set: Signal<In, Bits<LANES>>,
    /// Number of bits that are set, 0 to `LANES`.
    pub count: Signal<Out, Bits<6>>,
    /// Lanes of each pair, then the sum of each pair of the sums before.
    #[count(sums + alone)]
    sum: Vec<Signal<Local, Bits<6>>>,
    #[init(LANES / 2)]
    _pairs: usize,
    #[init(sums - LANES / 2)]
    _later: usize,
    #[init(alone)]
    _alone: usize,
    #[init(sums + alone - 1)]
    _last: usize,
}

impl<const LANES: usize> Default for PopulationCount<LANES> {
    fn default() -> Self {
        // A lane that has no other is its own sum.
        let (sums, alone) = (LANES - 1, LANES % 2);
        Self::wired(sums, alone)
    }
}

impl<const LANES: usize> Logic for PopulationCount<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        let mut left = bits::<6>(0);
        let mut right = bits::<6>(0);
        for i in 0..self._pairs {
            left = bits::<6>(0);
            right = bits::<6>(0);
            if self.set.val().get_bit(2 * i) {
                left = bits::<6>(1);
            }
            if self.set.val().get_bit(2 * i + 1) {
                right = bits::<6>(1);
            }
            self.sum[i].next = left + right;
        }
        if self._alone > 0 {
            self.sum[0].next = bits::<6>(0);
            if self.set.val().get_bit(0) {
                self.sum[0].next = bits::<6>(1);
            }
        }
        for i in 0..self._later {
            left = self.sum[2 * i].val();
            right = self.sum[2 * i + 1].val();
            self.sum[i + self._pairs].next = left + right;
        }
        self.count.next = self.sum[self._last].val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_hdl::prelude::simulate;
    use rand::Rng;

    fn check<const LANES: usize>(sets: impl IntoIterator<Item = u64>) {
        let mut unit = PopulationCount::<LANES>::default();
        for set in sets {
            unit.set.next = set.into();
            assert!(simulate(&mut unit, 10));
            assert_eq!(unit.count.val().index(), set.count_ones() as usize, "{set:#x}");
        }
    }

    #[test]
    fn counts() {
        check::<1>(0..2);
        check::<8>(0..256);
        let mut random = hermes_hdl::testing::random();
        check::<32>((0..200).map(|_| u64::from(random.gen::<u32>())).chain([0, 0xffff_ffff]));
    }
}
