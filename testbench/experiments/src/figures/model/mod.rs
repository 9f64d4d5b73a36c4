//! Figures 6 and 7 of the Hermes paper: what its equations predict beside what was measured.

mod burst;
mod sparse;

use hermes_qos::{sparse as equations, ComputingRates};

use super::fig5::saturated_cells;
use super::measure::computing_rate;
use super::regime::offered_to;
use super::{figure, App, Results};
use crate::plan::Experiment;
use crate::results::ResultFile;

/// Burst traffic.
pub const BURST: Experiment = Experiment {
    name: "hermes-fig6",
    summary: "delay under burst traffic: measured and by equation 3",
    cells: burst::cells,
    section: burst::section,
};
/// Sparse traffic.
pub const SPARSE: Experiment = Experiment {
    name: "hermes-fig7",
    summary: "delay under sparse traffic: measured and by equation 4",
    cells: sparse::cells,
    section: sparse::section,
};

/// The computing rates of an app up to an MCW: of the runs at saturation, which carry the label
/// `closed`.
fn rates(results: &Results, app: &App, most: u32) -> Option<ComputingRates> {
    let points: Vec<_> = results
        .all(&[("app", app.name), ("closed", "yes")])
        .filter(|result| result.job.parameters.mcw <= most)
        .filter_map(|result| Some((f64::from(result.job.parameters.mcw), computing_rate(result)?)))
        .collect();
    ComputingRates::new(&points).ok()
}

/// Cycles between two packets, and between two full warps of a core.
fn intervals(result: &ResultFile) -> (f64, f64) {
    let (packet, array) = (1e3 / offered_to(result), &result.job.parameters.array);
    (packet, packet * (array.cores * array.lanes) as f64)
}

/// What packets wait until their warp is formed, and cycles between two warps of a core, which may
/// be partial ones.
fn forming(result: &ResultFile) -> (f64, f64) {
    let parameters = &result.job.parameters;
    let (packet, _) = intervals(result);
    let (waiting, packets) =
        equations::forming(packet, parameters.array.lanes as u32, f64::from(parameters.timeout));
    (waiting, packet * packets * parameters.array.cores as f64)
}

/// Relative errors of predictions.
#[derive(Default)]
struct Errors {
    known: Vec<f64>,
    /// Runs for which the model has no delay.
    without: usize,
}

impl Errors {
    /// Notes one; gives it in percent, for a table.
    fn add(&mut self, predicted: Option<f64>, measured: f64) -> String {
        let Some(predicted) = predicted else {
            self.without += 1;
            return "-".to_string();
        };
        self.known.push((predicted - measured).abs() / measured);
        format!("{:+.1} %", 100.0 * (predicted - measured) / measured)
    }

    /// Mean, worst and geometric mean, in words.
    fn told(&self) -> String {
        if self.known.is_empty() {
            return "of no run".to_string();
        }
        let count = self.known.len() as f64;
        let mean = self.known.iter().sum::<f64>() / count;
        let worst = self.known.iter().copied().fold(0.0, f64::max);
        // An error of nothing would make the geometric mean nothing.
        let logarithms = self.known.iter().map(|error| libm::log(error.max(1e-4))).sum::<f64>();
        let geometric = libm::exp(logarithms / count);
        let [mean, worst, geometric] = [mean, worst, geometric].map(|error| figure(100.0 * error));
        let text = format!("mean {mean} %, worst {worst} %, geometric mean {geometric} % of {count} runs");
        match self.without {
            0 => text,
            without => format!("{text}, {without} more are beyond what it can tell"),
        }
    }
}

/// The runs at saturation that the computing rates come from.
pub(super) fn closed(scale: crate::plan::Scale) -> anyhow::Result<Vec<crate::plan::Cell>> {
    let mut cells = saturated_cells(scale)?;
    for cell in &mut cells {
        cell.labels.insert("closed".to_string(), "yes".to_string());
    }
    Ok(cells)
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
    }
}
