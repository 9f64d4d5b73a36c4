use serde::{Deserialize, Serialize};

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
    /// Largest value.
    pub max: u64,
    /// Interquartile range: 75th less 25th percentile.
    pub iqr: u64,
}

impl Distribution {
    /// The distribution of `values`. A percentile is a value that occurs: the smallest that is not
    /// below this share of the values (nearest rank).
    pub fn of(values: impl Iterator<Item = u64>) -> Self {
        let mut sorted: Vec<u64> = values.collect();
        sorted.sort_unstable();
        let (Some(min), Some(max)) = (sorted.first(), sorted.last()) else { return Self::default() };
        let percentile = |percent: usize| sorted[(sorted.len() * percent).div_ceil(100) - 1];
        let sum: u128 = sorted.iter().map(|value| u128::from(*value)).sum();
        Self {
            mean: sum as f64 / sorted.len() as f64,
            min: *min,
            p50: percentile(50),
            p95: percentile(95),
            p99: percentile(99),
            max: *max,
            iqr: percentile(75) - percentile(25),
        }
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
    }
}
