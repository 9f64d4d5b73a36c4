//! Figures 6 and 7 of the Hermes paper: what its equations predict beside what was measured; and
//! what our model does.

mod burst;
mod held_out;
mod sparse;

use hermes_qos::{sparse as equations, ComputingRates};

use super::fig5::saturated_cells;
use super::measure::computing_rate;
use super::regime::offered_to;
use super::{App, Results};
use crate::plan::Experiment;
use crate::prediction::Errors;
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

/// Both, and our model, on runs that were held out.
pub const HELD_OUT: Experiment = Experiment {
    name: "model",
    summary: "delay of runs that were held out: measured, by the equations and by our model",
    cells: held_out::cells,
    section: held_out::section,
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

/// The runs at saturation that the computing rates come from.
pub(super) fn closed(scale: crate::plan::Scale) -> anyhow::Result<Vec<crate::plan::Cell>> {
    let mut cells = saturated_cells(scale)?;
    for cell in &mut cells {
        cell.labels.insert("closed".to_string(), "yes".to_string());
    }
    Ok(cells)
}
