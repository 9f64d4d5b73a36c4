//! Number of lanes in a set.

use crate::prelude::*;

/// Counts the set bits of a set of lanes; combinational.
#[derive(LogicBlock, Default)]
pub struct PopulationCount<const LANES: usize> {
    /// The set.
    pub set: Signal<In, Bits<LANES>>,
    /// Its size, 0 to `LANES`.
    pub count: Signal<Out, Bits<6>>,
    sum: Signal<Local, Bits<6>>,
}

impl<const LANES: usize> Logic for PopulationCount<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        self.sum.next = bits::<6>(0);
        for i in 0..LANES {
            if self.set.val().get_bit(i) {
                self.sum.next = self.sum.val() + bits::<6>(1);
            }
        }
        self.count.next = self.sum.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_hdl::prelude::simulate;

    #[test]
    fn counts() {
        let mut unit = PopulationCount::<8>::default();
        unit.connect_all();
        for set in 0..256u64 {
            unit.set.next = set.into();
            assert!(simulate(&mut unit, 10));
            assert_eq!(unit.count.val().index(), set.count_ones() as usize);
        }
    }
}
