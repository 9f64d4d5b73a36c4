//! Shares of measured times.

/// Times in cycles.
pub struct Times {
    pub count: usize,
    pub p50: f64,
    pub p99: f64,
    pub longest: f64,
}

impl Times {
    pub fn of(times: &[u64]) -> Self {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        let at = |share: f64| {
            let index = (sorted.len() as f64 * share).ceil() as usize;
            sorted.get(index.saturating_sub(1)).map_or(0.0, |cycles| *cycles as f64)
        };
        Self { count: sorted.len(), p50: at(0.5), p99: at(0.99), longest: at(1.0) }
    }
}
