//! Lanes that went to the trap entry.

use hermes_hdl::prelude::*;

/// Counts the lanes of all cores that went to the trap entry; `total` follows by one cycle.
#[clocked]
#[derive(LogicBlock)]
#[new(cores: usize)]
pub struct TrapCount {
    /// Lanes of each core in this cycle.
    #[count(cores)]
    pub lanes: Vec<Signal<In, Bits<6>>>,
    /// All since reset, modulo 2^32.
    pub total: Signal<Out, Bits<32>>,
    count: Register<Bits<32>>,
    #[init(cores)]
    _cores: usize,
}

impl TrapCount {
    /// Of an array with so many cores.
    pub fn new(cores: usize) -> Self {
        Self::wired(cores)
    }
}

impl Logic for TrapCount {
    #[hdl_gen]
    fn update(&mut self) {
        let mut together = bits::<12>(0);
        for i in 0..self._cores {
            together = together + bit_cast::<12, 6>(self.lanes[i].val());
        }
        self.count.d.next = self.count.q.val() + bit_cast::<32, 12>(together);
        self.total.next = self.count.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    #[test]
    fn counts_the_lanes_of_all_cores() {
        let mut random = random();
        let mut unit = TrapCount::new(3);
        reset!(unit);
        let mut total = 0;
        for _ in 0..500 {
            let lanes = [(); 3].map(|()| random.gen_range(0..=32u64));
            for (core, lanes) in lanes.into_iter().enumerate() {
                unit.lanes[core].next = bits(lanes);
            }
            settle(&mut unit);
            assert_eq!(unit.total.val().to_u64(), total);
            tick!(unit);
            total += lanes.iter().sum::<u64>();
        }
        assert!(total > 10_000);
    }
}
