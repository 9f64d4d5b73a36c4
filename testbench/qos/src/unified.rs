//! Bursts and sparse traffic in turns (Hermes, section 5.3.3).

use crate::burst;
use crate::computing_rate::ComputingRates;
use crate::sparse;

/// A time in which warps wait, or do not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Episode {
    /// Warps that arrive.
    pub warps: usize,
    /// Whether they wait.
    pub burst: bool,
    /// Their mean delay in cycles.
    pub delay: f64,
}

/// The episodes of warps that arrive at a core with these intervals, at most `mcw` active at a
/// time. A burst begins where warps come faster than the core can finish them and ends where it has
/// caught up (equations 6 to 8); between bursts the traffic is sparse (equation 9).
#[must_use]
pub fn episodes(rates: &ComputingRates, mcw: usize, intervals: &[f64]) -> Vec<Episode> {
    let rate = rates.at(mcw as f64);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < intervals.len() {
        let rest = &intervals[at..];
        let warps = if rest[0] < rate {
            let warps = burst::warps_of_burst(rate, rest);
            let groups = warps.div_ceil(mcw);
            let delay = burst::delay_of_episode(groups, mcw, rate, &rest[..warps]);
            found.push(Episode { warps, burst: true, delay });
            warps
        } else {
            let warps = rest.iter().take_while(|interval| **interval >= rate).count();
            // All intervals are at least the rate at the MCW, so the cores are quick enough.
            let delay = sparse::delay_of_episode(rates, &rest[..warps]).unwrap_or(rate * mcw as f64);
            found.push(Episode { warps, burst: false, delay });
            warps
        };
        at += warps;
    }
    found
}

/// The mean delay of warps that arrive at a core with these intervals, in cycles: that of all
/// episodes, by their warps. None if there are no warps.
#[must_use]
pub fn delay(rates: &ComputingRates, mcw: usize, intervals: &[f64]) -> Option<f64> {
    let episodes = episodes(rates, mcw, intervals);
    let sum: f64 = episodes.iter().map(|episode| episode.delay * episode.warps as f64).sum();
    (!intervals.is_empty()).then(|| sum / intervals.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_and_sparse_traffic_take_turns() {
        let rates = ComputingRates::new(&[(1.0, 400.0), (2.0, 100.0)]).unwrap();
        // Four warps at once, then a pause in which they are finished, then two far apart.
        let intervals = [0.0, 0.0, 0.0, 400.0, 1000.0, 1000.0];
        let episodes = episodes(&rates, 2, &intervals);
        let expected = [
            // Two groups of two: 200 and 400 cycles.
            Episode { warps: 4, burst: true, delay: 300.0 },
            Episode { warps: 2, burst: false, delay: 400.0 },
        ];
        assert_eq!(episodes, expected);
        assert_eq!(delay(&rates, 2, &intervals), Some((4.0 * 300.0 + 2.0 * 400.0) / 6.0));
        assert_eq!(delay(&rates, 2, &[]), None);
    }
}
