//! Figure 4 of the Hermes paper: throughput, delay and delay variance beside a CPU/GPU system, what
//! the delay commit queue costs, sparse traffic, and more cores.

mod assumptions;
mod baseline;
mod commit_queue;
mod cores;
mod gain;
mod sparse;

use hermes_testbench::traffic::Kind;

use super::model::closed;
use super::regime::{even, BURST_PACKETS};
use super::{labels, App, APPS, QUICK_PACKETS};
use crate::parameters::{Parameters, Through};
use crate::plan::{Cell, Experiment, Scale};

/// The experiments.
pub const THROUGHPUT: Experiment = Experiment {
    name: "hermes-fig4a",
    summary: "throughput under burst traffic, beside a CPU/GPU system",
    cells: saturated_cells,
    section: gain::throughput,
};
/// Delay.
pub const DELAY: Experiment = Experiment {
    name: "hermes-fig4b",
    summary: "delay under burst traffic, beside a CPU/GPU system",
    cells: burst_cells,
    section: gain::delay,
};
/// Delay variance.
pub const VARIANCE: Experiment = Experiment {
    name: "hermes-fig4c",
    summary: "delay variance under burst traffic, beside a CPU/GPU system",
    cells: burst_cells,
    section: gain::variance,
};
/// What the delay commit queue costs.
pub const COMMIT_QUEUE: Experiment = Experiment {
    name: "hermes-fig4d",
    summary: "delay with and without the delay commit queue",
    cells: even_bursts,
    section: commit_queue::section,
};
/// What is assumed of the CPU/GPU system.
pub const ASSUMPTIONS: Experiment = Experiment {
    name: "hermes-baseline",
    summary: "what the assumptions on the CPU/GPU system carry",
    cells: all_cells,
    section: assumptions::section,
};
/// Sparse traffic.
pub const SPARSE: Experiment = Experiment {
    name: "hermes-fig4e",
    summary: "throughput under sparse traffic",
    cells: sparse::cells,
    section: sparse::section,
};
/// More cores.
pub const CORES: Experiment = Experiment {
    name: "hermes-fig4f",
    summary: "throughput with 8, 17 and 28 cores",
    cells: cores::cells,
    section: cores::section,
};

/// Values of the MCW: Hermes-4, -8, -16 and -32.
const WARPS: [u32; 4] = [4, 8, 16, 32];
/// Line-card rates of bursts, in throughputs of the array.
const FACTORS: [(&str, f64); 2] = [("2.0", 2.0), ("1.1", 1.1)];

/// DPI of frames of several sizes, beside the apps of the paper.
const IMIX: App = App {
    name: "dpi-imix",
    runs: "dpi",
    frames: Kind::Imix,
    published: "DPI, IMIX",
    packets: 32_768,
    throughput: (23.0, 0.0),
};
/// All apps of figures 4(a) to 4(c).
const EVERY: [App; 5] = [APPS[0], APPS[1], APPS[2], APPS[3], IMIX];
/// Values of the MCW with IMIX: a steady state of more takes a ring of half a gigabyte, and fewer
/// are slower.
const WARPS_IMIX: [u32; 2] = [8, 16];

/// The apps of a plan: IMIX takes longest, and a quick plan does without.
fn apps(scale: Scale) -> &'static [App] {
    match scale {
        Scale::Quick => &APPS,
        Scale::Full => &EVERY,
    }
}

/// The array at saturation, and the kernel alone on batches for the CPU/GPU system.
fn saturated_cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = closed(scale)?;
    if scale == Scale::Full {
        for mcw in WARPS_IMIX {
            let labels = labels(&[("app", IMIX.name), ("mcw", &mcw.to_string()), ("closed", "yes")]);
            cells.push(Cell { labels, parameters: IMIX.saturated(mcw, scale)? });
        }
    }
    for app in apps(scale) {
        cells.extend(baseline::cells(app, scale)?);
    }
    Ok(cells)
}

/// The array at saturation and in bursts, and the kernel alone.
fn all_cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = saturated_cells(scale)?;
    cells.extend(even_bursts(scale)?);
    for app in &APPS {
        cells.extend(baseline::other_batches(app, scale)?);
    }
    Ok(cells)
}

/// Bursts on the array, and the kernel alone on batches for the CPU/GPU system.
fn burst_cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = even_bursts(scale)?;
    if scale == Scale::Full {
        cells.extend(bursts(&IMIX, &WARPS_IMIX, scale)?);
    }
    for app in apps(scale) {
        cells.extend(baseline::cells(app, scale)?);
    }
    Ok(cells)
}

/// Bursts on the array whose packets arrive evenly.
pub(super) fn even_bursts(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let warps = match scale {
        Scale::Quick => &WARPS[..3],
        Scale::Full => &WARPS[..],
    };
    let mut cells = Vec::new();
    for app in &APPS {
        cells.extend(bursts(app, warps, scale)?);
    }
    Ok(cells)
}

/// Bursts of an app at both rates, with these MCW.
fn bursts(app: &App, warps: &[u32], scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let packets = match scale {
        Scale::Quick => QUICK_PACKETS,
        Scale::Full => BURST_PACKETS,
    };
    let mut cells = Vec::new();
    for (name, factor) in FACTORS {
        for mcw in warps {
            let labels = labels(&[("app", app.name), ("load", name), ("mcw", &mcw.to_string())]);
            cells.push(Cell { labels, parameters: offered(app, factor, *mcw, packets)? });
        }
    }
    Ok(cells)
}

/// A run of an app whose packets arrive evenly, at `factor` times its throughput.
fn offered(app: &App, factor: f64, mcw: u32, packets: usize) -> anyhow::Result<Parameters> {
    let arrivals = even(app, Through::Host, factor);
    Ok(Parameters { mcw, packets, arrivals, ..app.parameters()? })
}
