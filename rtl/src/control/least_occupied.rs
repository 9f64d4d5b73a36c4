//! The cores that are least "hot" (Hermes, section 3.3).

use hermes_hdl::prelude::*;

/// Of the cores that ask for a warp, those with the fewest busy slots: all of them, if several have
/// as few. Combinational: bit by bit, the highest first, cores with a 1 drop out where another one
/// has a 0.
#[derive(Clone, LogicBlock)]
#[new(cores: usize)]
pub struct LeastOccupied {
    /// One bit for each core: it asks.
    pub request: Signal<In, Bits<32>>,
    /// Busy slots of each core, 0 to 32.
    #[count(cores)]
    pub busy: Vec<Signal<In, Bits<6>>>,
    /// One bit for each core: it asks, and no other one that asks has fewer busy slots.
    pub least: Signal<Out, Bits<32>>,
    #[init(cores)]
    _cores: usize,
}

impl LeastOccupied {
    /// Among `cores` cores.
    ///
    /// # Panics
    /// If `cores` is not 1 to 32.
    pub fn new(cores: usize) -> Self {
        assert!((1..=32).contains(&cores), "LeastOccupied: {cores} cores, expected 1 to 32");
        Self::wired(cores)
    }
}

impl Logic for LeastOccupied {
    #[hdl_gen]
    fn update(&mut self) {
        let mut left = self.request.val();
        for step in 0..6 {
            let mut zeros = bits::<32>(0);
            for i in 0..self._cores {
                zeros = zeros.replace_bit(i, !self.busy[i].val().get_bit(5 - step));
            }
            if (left & zeros).any() {
                left = left & zeros;
            }
        }
        self.least.next = left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, settle};
    use rand::Rng;

    #[test]
    fn fewest_of_those_that_ask() {
        let mut random = random();
        for cores in [1, 2, 3, 8, 32] {
            let mut unit = LeastOccupied::new(cores);
            let mut ties = 0;
            for case in 0..600 {
                // Few values, so that many are equal; and all of them.
                let most = [1, 3, 32][case % 3];
                let busy: Vec<u64> = (0..cores).map(|_| random.gen_range(0..=most)).collect();
                for (port, &slots) in unit.busy.iter_mut().zip(&busy) {
                    port.next = slots.into();
                }
                let request = random.gen::<u64>() & ((1 << cores) - 1);
                unit.request.next = request.into();
                settle(&mut unit);
                let asks = |&core: &usize| request >> core & 1 == 1;
                let fewest = (0..cores).filter(asks).map(|core| busy[core]).min();
                let expected = (0..cores).filter(asks).filter(|&core| Some(busy[core]) == fewest);
                let expected = expected.fold(0, |bits, core| bits | 1u64 << core);
                assert_eq!(unit.least.val().to_u64(), expected, "{busy:?} {request:#x}");
                ties += u32::from(expected.count_ones() > 1);
            }
            assert!(cores == 1 || ties > 15, "{ties}");
        }
    }
}
