//! How far predictions are from what was measured.

/// Relative errors of predictions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors {
    known: Vec<f64>,
    /// Runs for which the model has no delay.
    without: usize,
}

/// An error that is taken for the least: one of nothing would make the geometric mean nothing.
const LEAST: f64 = 1e-4;

impl Errors {
    /// Notes one; gives it in percent, for a table.
    pub fn add(&mut self, predicted: Option<f64>, measured: f64) -> String {
        let Some(predicted) = predicted else {
            self.without += 1;
            return "-".to_string();
        };
        self.known.push((predicted - measured).abs() / measured);
        format!("{:+.1} %", 100.0 * (predicted - measured) / measured)
    }

    /// Mean and worst; none without predictions.
    #[must_use]
    pub fn mean_and_worst(&self) -> Option<(f64, f64)> {
        let worst = self.known.iter().copied().max_by(f64::total_cmp)?;
        Some((self.known.iter().sum::<f64>() / self.known.len() as f64, worst))
    }

    /// Mean, worst and geometric mean, in words.
    #[must_use]
    pub fn told(&self) -> String {
        let Some((mean, worst)) = self.mean_and_worst() else { return "of no run".to_string() };
        let count = self.known.len();
        let logarithms = self.known.iter().map(|error| libm::log(error.max(LEAST))).sum::<f64>();
        let geometric = libm::exp(logarithms / count as f64);
        let [mean, worst, geometric] =
            [mean, worst, geometric].map(|error| crate::figures::figure(100.0 * error));
        let text = format!("mean {mean} %, worst {worst} %, geometric mean {geometric} % of {count} runs");
        match self.without {
            0 => text,
            without => format!("{text}, {without} more are beyond what it can tell"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_by_hand() {
        let mut errors = Errors::default();
        assert_eq!(errors.told(), "of no run");
        assert_eq!(errors.add(Some(110.0), 100.0), "+10.0 %");
        assert_eq!(errors.add(Some(60.0), 100.0), "-40.0 %");
        let told = "mean 25.0 %, worst 40.0 %, geometric mean 20.0 % of 2 runs";
        assert_eq!(errors.told(), told);
        assert_eq!(errors.add(None, 100.0), "-");
        assert_eq!(errors.told(), format!("{told}, 1 more are beyond what it can tell"));
        assert_eq!(errors.mean_and_worst().map(|(_, worst)| worst), Some(0.4));
    }
}
