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

/// The computing rates of an app: of the runs at saturation, which carry the label `closed`.
fn rates(results: &Results, app: &App) -> Option<ComputingRates> {
    let points: Vec<_> = results
        .found()
        .filter(|(labels, _)| labels["app"] == app.name && labels.contains_key("closed"))
        .map(|(_, result)| (f64::from(result.job.parameters.mcw), computing_rate(result)))
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
struct Errors(Vec<f64>);

impl Errors {
    /// Notes one; gives it in percent, for a table.
    fn add(&mut self, predicted: f64, measured: f64) -> String {
        let error = (predicted - measured).abs() / measured;
        self.0.push(error);
        format!("{:+.1} %", 100.0 * (predicted - measured) / measured)
    }

    /// Mean, worst and geometric mean, in words.
    fn told(&self) -> String {
        let count = self.0.len().max(1) as f64;
        let mean = self.0.iter().sum::<f64>() / count;
        let worst = self.0.iter().copied().fold(0.0, f64::max);
        // An error of nothing would make the geometric mean nothing.
        let logarithms = self.0.iter().map(|error| error.max(1e-4).ln()).sum::<f64>();
        format!(
            "mean {} %, worst {} %, geometric mean {} %",
            figure(100.0 * mean),
            figure(100.0 * worst),
            figure(100.0 * (logarithms / count).exp())
        )
    }
}

/// The runs at saturation that the computing rates come from.
fn closed(scale: crate::plan::Scale) -> anyhow::Result<Vec<crate::plan::Cell>> {
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
        assert_eq!(errors.add(110.0, 100.0), "+10.0 %");
        assert_eq!(errors.add(60.0, 100.0), "-40.0 %");
        assert_eq!(errors.told(), "mean 25.0 %, worst 40.0 %, geometric mean 20.0 %");
    }
}
