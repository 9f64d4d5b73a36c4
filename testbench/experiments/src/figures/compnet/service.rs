//! Service times of our own columns by harts and warps, and the check of the model of delays.

use hermes_testbench::cluster::ServiceCosts;

use super::fig8b::{cell, rate, KINDS, QUICK_RATES, QUICK_WARPS, RATES, WARPS};
use super::{measured, name_of, stated, BASELINES};
use crate::figures::{figure, Results};
use crate::nodes::NodesMeasured;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "compnet-service",
    summary: "service times by harts and warps, and what the delays of the baselines become (ComP-Net, sections 3.1 and 5.2)",
    cells,
    section,
};

/// Our own columns, and their harts.
const OWN: [&str; 2] = ["queues", "paper"];
const HARTS: [u32; 4] = [1, 2, 4, 8];
const QUICK_HARTS: [u32; 2] = [1, 4];
/// Puts that do not wait, and gets that do.
const PUTS: (&str, bool, bool) = KINDS[0];
const GETS: (&str, bool, bool) = KINDS[1];
/// Cycles of the array's own path, which delays replace.
const OWN_PATH: f64 = 46.0;

fn is_own(column: &str) -> bool {
    OWN.contains(&column)
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (columns, warps, harts) = match scale {
        Scale::Quick => (&QUICK_RATES[..], &QUICK_WARPS[..], &QUICK_HARTS[..]),
        Scale::Full => (&RATES[..], &WARPS[..], &HARTS[..]),
    };
    let mut cells = Vec::new();
    for column in OWN {
        for &harts in harts {
            for &warps in warps {
                cells.push(cell(GETS, column, harts, warps, scale)?);
            }
        }
    }
    // One warp that waits has the latency, all warps that do not have the rate.
    let most = warps[warps.len() - 1];
    for column in columns.iter().copied().filter(|column| !is_own(column)) {
        cells.push(cell(GETS, column, 1, 1, scale)?);
        cells.push(cell(PUTS, column, 1, most, scale)?);
    }
    Ok(cells)
}

/// What the delays of a column say, and what was measured.
struct Check {
    what: &'static str,
    warps: u32,
    by_delays: f64,
    measured: f64,
}

impl Check {
    fn difference(&self) -> f64 {
        100.0 * (self.measured / self.by_delays - 1.0)
    }
}

/// Latency and rate of a column of one thread.
fn checks(results: &Results, column: &str) -> Vec<Check> {
    let of = |kind: &str, column: &str, warps: u32| of(results, kind, column, 1, warps);
    let own = of(GETS.0, OWN[0], 1).and_then(|nodes| nodes.rate);
    let get = of(GETS.0, column, 1).and_then(|nodes| nodes.rate);
    let mut checks = Vec::new();
    if let (Some(own), Some(get), Some(delays)) = (own, get, stated(column)) {
        let by_delays = own.call_mean - OWN_PATH + f64::from(delays);
        checks.push(Check { what: "cycles of a get", warps: 1, by_delays, measured: get.call_mean });
    }
    let delays = ServiceCosts::find(column).map(|costs| costs.delays).ok();
    let most = WARPS.into_iter().rev().find_map(|warps| Some((warps, rate(of(PUTS.0, column, warps)?)?)));
    if let (Some((warps, measured)), Some(delays)) = (most, delays) {
        let by_delays = 1e3 / f64::from((delays.poll + delays.service).max(1));
        checks.push(Check { what: "million puts a second", warps, by_delays, measured });
    }
    checks
}

fn of<'r>(
    results: &'r Results,
    kind: &str,
    column: &str,
    threads: u32,
    warps: u32,
) -> Option<&'r NodesMeasured> {
    let labels = [
        ("kind", kind),
        ("column", column),
        ("threads", &threads.to_string()),
        ("warps", &warps.to_string()),
    ];
    results.with(&labels).and_then(measured)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut plots) = (Vec::new(), Vec::new());
    let mut longest: Option<(u32, u32, u32)> = None;
    for column in OWN {
        let mut series = Vec::new();
        for harts in HARTS {
            let mut points = Vec::new();
            for warps in WARPS {
                let Some(nodes) = of(results, GETS.0, column, harts, warps) else { continue };
                let Some(times) = nodes.rate else { continue };
                points.push((f64::from(warps), times.call_mean));
                let p99 = times.call_p99.unwrap_or(times.call_most);
                if column == OWN[0] && longest.is_none_or(|(most, ..)| p99 > most) {
                    longest = Some((p99, harts, warps));
                }
                rows.push(vec![
                    "cycles of a get".to_string(),
                    name_of(column),
                    harts.to_string(),
                    warps.to_string(),
                    figure(times.call_mean),
                    p99.to_string(),
                    "-".to_string(),
                    "-".to_string(),
                ]);
            }
            if !points.is_empty() {
                series.push(Series { name: format!("{harts} harts"), points, published: false });
            }
        }
        if !series.is_empty() {
            plots.push(Plot {
                title: format!("A get of eight bytes, {}", name_of(column)),
                x: "warps".to_string(),
                x_scale: report::Scale::Logarithmic,
                y: "cycles, mean".to_string(),
                y_scale: report::Scale::Linear,
                series,
            });
        }
    }
    let mut worst: Option<f64> = None;
    for column in RATES.into_iter().filter(|column| !is_own(column)) {
        for check in checks(results, column) {
            let difference = check.difference();
            worst = Some(worst.map_or(difference.abs(), |worst| worst.max(difference.abs())));
            rows.push(vec![
                check.what.to_string(),
                name_of(column),
                "1".to_string(),
                check.warps.to_string(),
                figure(check.measured),
                "-".to_string(),
                figure(check.by_delays),
                format!("{difference:+.1} %"),
            ]);
        }
    }
    let sentence = match (longest, worst) {
        (Some((p99, harts, warps)), Some(worst)) => format!(
            "99 % of the gets of {warps} warps with {harts} harts take {p99} cycles or less with queues in hardware, where they take longest; what the \
             delays of the baselines become is within {} % of their sums.",
            figure(worst)
        ),
        _ => "Not all columns were measured.".to_string(),
    };
    let head = [
        "what",
        "served by",
        "threads or harts",
        "warps",
        "measured, mean",
        "measured, p99",
        "by the delays",
        "difference",
    ];
    Ok(Section {
        title: "ComP-Net: service times, and a check of the delays".to_string(),
        sentence,
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "Blocking gets of eight bytes by the warps of one node to all others in turn: cycles of a call, all calls counted. By the delays: a get \
                   takes what queues in hardware take, less 46 cycles of their own path, and the five delays with a look at one queue; a thread \
                   that always finds a message takes a look and a service for each."
            .to_string(),
        assumed: BASELINES.to_string(),
        differs: "The paper's figure 4 has 5 to 80 us for a queue in host memory, with other kernels and commands in its time. The stated delays are \
                  below that at all levels, so they favour the baselines."
            .to_string(),
    })
}
