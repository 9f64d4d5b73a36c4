//! Figure 8(b) of the ComP-Net paper: commands a second by warps and by threads that serve them.

use super::{measured, name_of, BASELINES};
use crate::figures::{figure, labels, Results};
use crate::nodes::{Benchmark, Nodes, NodesMeasured};
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "compnet-fig8b",
    summary: "commands a second by warps and by threads or harts that serve them (ComP-Net, figure 8b)",
    cells,
    section,
};

/// Of [`COLUMNS`] those of this figure.
pub(super) const RATES: [&str; 6] = ["queues", "paper", "apu:middle", "dgpu:low", "dgpu:middle", "dgpu:high"];
pub(super) const QUICK_RATES: [&str; 3] = ["queues", "paper", "dgpu:low"];
pub(super) const WARPS: [u32; 4] = [1, 4, 8, 32];
pub(super) const QUICK_WARPS: [u32; 2] = [1, 8];
const THREADS: [u32; 2] = [1, 4];
/// Name, gets, each waits for its end.
pub(super) const KINDS: [(&str, bool, bool); 2] = [("puts", false, false), ("gets that wait", true, true)];
/// Commands of a run, shared by its warps, unless that is fewer than [`LEAST`] each.
const COMMANDS: u32 = 640;
/// Least commands of a warp: a lap of its ring of 64, so that the time in which the windows of the
/// queue pairs grow is a small part.
const LEAST: u32 = 64;
const QUICK_COMMANDS: u32 = 320;
/// Share of the time in which threads that were idle though commands waited say that the window of
/// our network interface was the limit.
const IDLE: f64 = 0.02;

/// A run, by its kind, who serves it, threads or harts, and warps.
pub(super) fn cell(
    (kind, gets, waits): (&str, bool, bool),
    column: &str,
    threads: u32,
    warps: u32,
    scale: Scale,
) -> anyhow::Result<Cell> {
    let (nodes, cores, commands) = match scale {
        Scale::Quick => (3, 1, QUICK_COMMANDS / warps),
        Scale::Full => (8, 4, (COMMANDS / warps).max(LEAST)),
    };
    let benchmark = Benchmark::Rate { warps, commands, gets, waits, interval: 0 };
    let work = Nodes { benchmark, nodes, column: column.to_string(), threads, counted: false };
    let labels = labels(&[
        ("kind", kind),
        ("column", column),
        ("threads", &threads.to_string()),
        ("warps", &warps.to_string()),
    ]);
    // Threads of a host leave the harts as they are.
    let harts = if matches!(column, "queues" | "paper") { threads as usize } else { 4 };
    Ok(Cell { labels, parameters: Parameters::of_nodes(work, cores, harts)? })
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (columns, warps, threads, kinds) = match scale {
        Scale::Quick => (&QUICK_RATES[..], &QUICK_WARPS[..], &THREADS[..1], &KINDS[..1]),
        Scale::Full => (&RATES[..], &WARPS[..], &THREADS[..], &KINDS[..]),
    };
    let mut cells = Vec::new();
    for &kind in kinds {
        for &column in columns {
            for &threads in threads {
                for &warps in warps {
                    cells.push(cell(kind, column, threads, warps, scale)?);
                }
            }
        }
    }
    Ok(cells)
}

/// Million commands a second.
pub(super) fn rate(nodes: &NodesMeasured) -> Option<f64> {
    let rate = nodes.rate?;
    Some(rate.commands as f64 / f64::from(rate.cycles.max(1)) * 1e3)
}

/// The share of the time in which the threads were idle.
fn idle(nodes: &NodesMeasured, threads: u32) -> Option<f64> {
    let (rate, service) = (nodes.rate?, nodes.service?);
    Some(1.0 - service.busy_cycles as f64 / (f64::from(rate.cycles.max(1)) * f64::from(threads)))
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut plots) = (Vec::new(), Vec::new());
    let mut best: Vec<(&str, f64)> = Vec::new();
    for (kind, _, waits) in KINDS {
        for threads in THREADS {
            let mut series = Vec::new();
            for column in RATES {
                let name = name_of(column);
                let mut points = Vec::new();
                for warps in WARPS {
                    let labels = [
                        ("kind", kind),
                        ("column", column),
                        ("threads", &threads.to_string()),
                        ("warps", &warps.to_string()),
                    ];
                    let Some(nodes) = results.with(&labels).and_then(measured) else { continue };
                    let Some(mega) = rate(nodes) else { continue };
                    points.push((f64::from(warps), mega));
                    // One warp that waits for each command leaves threads idle, as it does itself.
                    let idle = idle(nodes, threads).filter(|_| !column.contains("queues"));
                    let window = !waits && idle.is_some_and(|idle| idle > IDLE);
                    rows.push(vec![
                        kind.to_string(),
                        name.clone(),
                        threads.to_string(),
                        warps.to_string(),
                        figure(mega),
                        nodes.rate.map_or("-".to_string(), |rate| figure(rate.call_mean)),
                        nodes
                            .rate
                            .and_then(|rate| rate.call_p99)
                            .map_or("-".to_string(), |p99| p99.to_string()),
                        nodes.hart_cycles.to_string(),
                        if window { "window of our network interface" } else { "-" }.to_string(),
                    ]);
                    if kind == KINDS[0].0 && threads == THREADS[0] && !window {
                        match best.iter_mut().find(|(one, _)| *one == column) {
                            Some((_, most)) => *most = most.max(mega),
                            None => best.push((column, mega)),
                        }
                    }
                }
                if !points.is_empty() {
                    series.push(Series { name, points, published: false });
                }
            }
            if !series.is_empty() {
                plots.push(Plot {
                    title: format!("{kind}, {threads} threads or harts"),
                    x: "warps".to_string(),
                    x_scale: report::Scale::Logarithmic,
                    y: "million commands a second".to_string(),
                    y_scale: report::Scale::Linear,
                    series,
                });
            }
        }
    }
    let of = |column: &str| best.iter().find(|(one, _)| *one == column).map(|(_, rate)| *rate);
    let ratio = |column: &str| Some(of("queues")? / of(column)?);
    let ratios: Vec<_> = ["paper", "dgpu:low", "dgpu:middle", "dgpu:high", "apu:middle"]
        .into_iter()
        .filter_map(|column| Some(format!("{} times those of {column}", figure(ratio(column)?))))
        .collect();
    let sentence = match (of("queues"), ratios.is_empty()) {
        (Some(rate), false) => format!(
            "Queues in hardware with one hart take {} million puts a second, {}.",
            figure(rate),
            ratios.join(", ")
        ),
        _ => "Not all columns were measured.".to_string(),
    };
    let head = [
        "commands",
        "served by",
        "threads or harts",
        "warps",
        "M/s",
        "call, cycles",
        "p99 of a call",
        "hart-cycles awake",
        "in no ratio",
    ];
    Ok(Section {
        title: "ComP-Net, figure 8(b): commands a second".to_string(),
        sentence,
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "Commands of eight bytes by the warps of one node to all others in turn, from the first call to behind the last quiet. What puts \
                   wrote is compared. Calls that do not wait are as long as their queue is full. Hart-cycles are those of the whole run, its \
                   start too."
            .to_string(),
        assumed: BASELINES.to_string(),
        differs: "The paper polls in firmware; its own way is the column of firmware alone. Where threads of a baseline are idle though commands \
                  wait, the 32 packets of a queue pair and 8 commands of a queue of our network interface are the limit, in which a host's has \
                  the wire alone: such a point is in no ratio."
            .to_string(),
    })
}
