//! The computing rate: what a core can do, against the warps that it may have at once.

/// The mean time between two finished warps of a core, in cycles: `cores` x `cycles` / `warps`
/// (Hermes, equation 1). The cores had all their warps during these cycles.
#[must_use]
pub fn computing_rate(cores: usize, cycles: u64, warps: u64) -> f64 {
    cores as f64 * cycles as f64 / warps as f64
}

/// Computing rates cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RatesError {
    /// There are none.
    #[error("computing rates: expected at least one")]
    None,
    /// An MCW or a rate is not above 0, or an MCW occurs twice.
    #[error("computing rate {1} at MCW {0}: expected both above 0, and each MCW once")]
    Point(f64, f64),
}

/// Computing rates by MCW, as they were measured.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputingRates {
    /// MCW and cycles, by rising MCW.
    points: Vec<(f64, f64)>,
}

impl ComputingRates {
    /// Of `points`: MCW, and cycles between two finished warps of a core.
    ///
    /// # Errors
    /// There are none, or one cannot be used.
    pub fn new(points: &[(f64, f64)]) -> Result<Self, RatesError> {
        let mut sorted = points.to_vec();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        if sorted.is_empty() {
            return Err(RatesError::None);
        }
        let is_good = |value: f64| value.is_finite() && value > 0.0;
        let mut previous = 0.0;
        for (mcw, cycles) in &sorted {
            if !is_good(*mcw) || !is_good(*cycles) || *mcw <= previous {
                return Err(RatesError::Point(*mcw, *cycles));
            }
            previous = *mcw;
        }
        Ok(Self { points: sorted })
    }

    /// The rates of which none is above that of a smaller MCW: with more warps a core can always do
    /// what it did with fewer. Rates that were measured may rise again, and then two numbers of
    /// warps have the same rate.
    #[must_use]
    pub fn monotone(&self) -> Self {
        let mut least = f64::INFINITY;
        let points = self.points.iter().map(|(mcw, cycles)| {
            least = least.min(*cycles);
            (*mcw, least)
        });
        Self { points: points.collect() }
    }

    /// The rate at `mcw`, between two points on the line through them, beyond the points that of
    /// the nearest.
    #[must_use]
    pub fn at(&self, mcw: f64) -> f64 {
        between(&self.points, mcw).unwrap_or(f64::NAN)
    }

    /// As [`Self::at`], but between two points on the power law through them, as rates fall while
    /// warps hide more and more of each other's stalls.
    #[must_use]
    pub fn at_power(&self, warps: f64) -> f64 {
        let after = self.points.partition_point(|point| point.0 < warps);
        match (after.checked_sub(1), self.points.get(after)) {
            (Some(before), Some(high)) => {
                let low = self.points[before];
                let part = libm::log(warps / low.0) / libm::log(high.0 / low.0);
                low.1 * libm::pow(high.1 / low.1, part)
            }
            _ => self.at(warps),
        }
    }

    /// The rate of the smallest MCW: what one warp alone takes, if that is 1.
    #[must_use]
    pub fn first(&self) -> f64 {
        self.points[0].1
    }

    /// The fewest warps whose rate is `cycles`; none if all rates are above, and the smallest MCW
    /// if all are below.
    #[must_use]
    pub fn warps_for(&self, cycles: f64) -> Option<f64> {
        let mut before: Option<(f64, f64)> = None;
        for &(mcw, rate) in &self.points {
            if rate <= cycles {
                let Some(low) = before else { return Some(mcw) };
                // The rate falls through `cycles` between the two.
                return Some(low.0 + (mcw - low.0) * (low.1 - cycles) / (low.1 - rate));
            }
            before = Some((mcw, rate));
        }
        None
    }
}

/// The value at `x` on the line through the two of `points` around it, which rise, and that of the
/// nearest beyond them; none without points.
pub(crate) fn between(points: &[(f64, f64)], x: f64) -> Option<f64> {
    let after = points.partition_point(|point| point.0 < x);
    match (after.checked_sub(1).map(|before| points[before]), points.get(after)) {
        (Some(low), Some(high)) => Some(low.1 + (high.1 - low.1) * (x - low.0) / (high.0 - low.0)),
        (low, high) => low.as_ref().or(high).map(|point| point.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_of_a_run() {
        // 8 cores finish 100 warps in 5,000 cycles: one every 400 cycles of a core.
        assert_eq!(computing_rate(8, 5_000, 100), 400.0);
    }

    #[test]
    fn between_points_and_beyond() {
        let rates = ComputingRates::new(&[(4.0, 200.0), (1.0, 500.0), (16.0, 80.0)]).unwrap();
        assert_eq!(
            (rates.at(0.5), rates.at(1.0), rates.at(2.5), rates.at(40.0)),
            (500.0, 500.0, 350.0, 80.0)
        );
        assert_eq!(rates.warps_for(350.0), Some(2.5));
        assert_eq!((rates.warps_for(600.0), rates.warps_for(79.0)), (Some(1.0), None));
    }

    #[test]
    fn by_a_power_law() {
        let rates = ComputingRates::new(&[(1.0, 400.0), (16.0, 100.0)]).unwrap();
        assert!((rates.at_power(4.0) - 200.0).abs() < 1e-9);
        assert_eq!((rates.at_power(0.0), rates.at_power(1.0), rates.at_power(99.0)), (400.0, 400.0, 100.0));
    }

    /// Rates that rise again have two roots; the branch that falls has one.
    #[test]
    fn the_monotone_branch() {
        let rates = ComputingRates::new(&[(1.0, 400.0), (4.0, 100.0), (8.0, 120.0)]).unwrap();
        let monotone = rates.monotone();
        assert_eq!((monotone.at(4.0), monotone.at(8.0), rates.at(8.0)), (100.0, 100.0, 120.0));
        assert_eq!(monotone.warps_for(100.0), Some(4.0));
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        assert_eq!(ComputingRates::new(&[]), Err(RatesError::None));
        for points in [[(1.0, 0.0), (2.0, 1.0)], [(0.0, 1.0), (2.0, 1.0)], [(2.0, 1.0), (2.0, 3.0)]] {
            assert!(matches!(ComputingRates::new(&points), Err(RatesError::Point(..))), "{points:?}");
        }
    }
}
