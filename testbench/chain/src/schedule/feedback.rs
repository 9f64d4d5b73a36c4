//! What a run of a chain tells the next plan: how much longer warps are at a function beside the
//! others, which use the same L2 and memory, than by itself. C of the G-NET paper (section 5.3).

use super::{Demand, Share};

/// Part of its warps that a core must have in the mean, whenever it has some, so that what was
/// measured tells something: with fewer of them warps come unevenly.
const FULL: f64 = 0.9;

/// What was measured of a function in a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stayed {
    /// What it had.
    pub share: Share,
    /// Warps that were there.
    pub visits: u64,
    /// Cycles from start to finish of a warp, in the mean.
    pub stay: f64,
    /// Cycles in which its cores had a warp, summed over the cores.
    pub core_cycles: f64,
}

impl Stayed {
    /// Warps on a core that has some, in the mean.
    fn warps(&self) -> f64 {
        self.visits as f64 * self.stay / self.core_cycles.max(1.0)
    }
}

/// The cycles that a warp was at a function beyond those of its cost, at as many warps on a core as
/// it had; 0 where its cores were not full. Of the function that holds a chain back they are.
#[must_use]
pub fn excess(demand: &Demand, stayed: &Stayed) -> f64 {
    let warps = stayed.warps();
    if warps < FULL * f64::from(stayed.share.warps) {
        return 0.0;
    }
    // From start to start in a slot, as the cost has it: with the cycles between two warps.
    let slot = stayed.core_cycles * f64::from(stayed.share.warps) / stayed.visits.max(1) as f64;
    slot - demand.cost.cycles_at(f64::from(stayed.share.warps), stayed.share.cores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{split, Cost, Linear};

    /// L = 2 B + 640 of warps of 32 threads, on one core with 4 warps: 896 cycles.
    fn demand() -> Demand {
        let line = Linear { k1: 2.0, b1: 640.0, k2: 0.0, b2: 0.0 };
        Demand {
            name: "a".to_string(),
            cost: Cost::Linear(line, 32),
            visits: 1.0,
            most_warps: 4,
            max_latency: None,
            excess: 0.0,
        }
    }

    #[test]
    fn what_was_measured_is_predicted_next() {
        let mut demand = demand();
        let alone = split(32, 1, &[demand.clone()], None).unwrap();
        assert_eq!(alone.rate, 128.0 / 896.0);
        // 1,000 warps in 4 slots, each 1,070 of 1,075 cycles there.
        let share = Share { cores: 1, warps: 4 };
        let stayed = Stayed { share, visits: 1_000, stay: 1_070.0, core_cycles: 1_075.0 * 250.0 };
        demand.excess = excess(&demand, &stayed);
        assert_eq!(demand.excess, 179.0);
        let again = split(32, 1, &[demand.clone()], None).unwrap();
        assert_eq!(again.rate, 128.0 / 1_075.0);
        // With slots that wait for packets nothing is known.
        let idle = Stayed { core_cycles: 2.0 * stayed.core_cycles, ..stayed };
        assert_eq!(excess(&demand, &idle), 0.0);
        // A measurement that is better than the cost counts for at most half of it.
        demand.excess = -800.0;
        assert_eq!(demand.cycles(share), 448.0);
        assert_eq!(demand.scaled(2.0).cycles(share), 896.0);
    }
}
