use serde::{Deserialize, Serialize};

/// Values from which on the 99.9th percentile is told: ten are above it.
const P999_FROM: usize = 10_000;

/// Mean and quantiles of a number of values, in their unit. All zero if there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest value.
    pub min: u64,
    /// Median.
    pub p50: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Values between which the 99th percentile lies with 95 % confidence, by order statistics, if
    /// the values do not depend on each other; none if there are too few above it.
    #[serde(default)]
    pub p99_interval: Option<(u64, u64)>,
    /// 99.9th percentile, of 10,000 values or more.
    pub p999: Option<u64>,
    /// Largest value.
    pub max: u64,
    /// Interquartile range: 75th less 25th percentile.
    pub iqr: u64,
    /// 99.9th percentile less the smallest value, of 10,000 values or more: the packet delay
    /// variation of RFC 5481, if the values are delays.
    pub jitter: Option<u64>,
}

/// The place of the nearest rank of a share of `count` sorted values, in thousandths: the smallest
/// value that is not below this share of them.
fn rank(count: usize, thousandths: usize) -> usize {
    (count * thousandths).div_ceil(1000).max(1) - 1
}

/// The places between which the 99th percentile of so many sorted values lies with 95 %
/// confidence: ranks are binomial, and nearly normal where ten values or more are above it.
fn p99_ranks(count: usize) -> Option<(usize, usize)> {
    let (expected, deviation) = (0.99 * count as f64, (0.99 * 0.01 * count as f64).sqrt());
    let low = (expected - 1.96 * deviation).floor() as usize;
    let high = (expected + 1.96 * deviation).ceil() as usize;
    (count >= 1_000 && high < count).then(|| (low.max(1) - 1, high - 1))
}

impl Distribution {
    /// The distribution of `values`. A percentile is a value that occurs: the smallest that is not
    /// below this share of the values (nearest rank).
    pub fn of(values: impl Iterator<Item = u64>) -> Self {
        let mut sorted: Vec<u64> = values.collect();
        sorted.sort_unstable();
        let (Some(min), Some(max)) = (sorted.first(), sorted.last()) else { return Self::default() };
        let percentile = |thousandths: usize| sorted[rank(sorted.len(), thousandths)];
        let sum: u128 = sorted.iter().map(|value| u128::from(*value)).sum();
        let p999 = (sorted.len() >= P999_FROM).then(|| percentile(999));
        Self {
            mean: sum as f64 / sorted.len() as f64,
            min: *min,
            p50: percentile(500),
            p95: percentile(950),
            p99: percentile(990),
            p99_interval: p99_ranks(sorted.len()).map(|(low, high)| (sorted[low], sorted[high])),
            p999,
            max: *max,
            iqr: percentile(750) - percentile(250),
            jitter: p999.map(|p999| p999 - min),
        }
    }
}

/// The interquartile range of values that need not be whole, by nearest rank; 0 if there are none.
pub(super) fn interquartile_range(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let value = |thousandths| sorted[rank(sorted.len(), thousandths)];
    match sorted.is_empty() {
        true => 0.0,
        false => value(750) - value(250),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rank() {
        let d = Distribution::of((1..=200).rev());
        assert_eq!((d.min, d.p50, d.p95, d.p99, d.max, d.iqr), (1, 100, 190, 198, 200, 100));
        assert!((d.mean - 100.5).abs() < 1e-9);
        let one = Distribution::of([7].into_iter());
        assert_eq!((one.min, one.p50, one.p99, one.max, one.iqr), (7, 7, 7, 7, 0));
        assert_eq!(Distribution::of(std::iter::empty()), Distribution::default());
        assert!((interquartile_range([4.5, 1.0, 2.0, 3.0].into_iter()) - 2.0).abs() < 1e-9);
        assert!(interquartile_range(std::iter::empty()).abs() < 1e-9);
    }

    #[test]
    fn confidence_of_the_99th_percentile() {
        assert_eq!(Distribution::of(1..=999).p99_interval, None);
        // 9,900 and 1.96 times 9.95, outwards.
        assert_eq!(Distribution::of((1..=10_000).rev()).p99_interval, Some((9_880, 9_920)));
    }

    #[test]
    fn the_last_permille_is_told_of_ten_thousand_values() {
        let few = Distribution::of(1..=9_999);
        assert_eq!((few.p99, few.p999, few.jitter), (9_900, None, None));
        let many = Distribution::of((1..=10_000).rev());
        assert_eq!((many.p999, many.jitter), (Some(9_990), Some(9_989)));
        assert_eq!(Distribution::of(1..=10_001).p999, Some(9_991));
    }
}
