//! Figure 10 of the ComP-Net paper: allreduce by size and nodes; and figure 11, what that is to a
//! workload that waits for it for a share of its time.

use hermes_testbench::cluster::Ring;

use super::{measured, BASELINES, COLUMNS};
use crate::figures::{figure, labels, Results};
use crate::nodes::{Benchmark, Nodes};
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// Allreduce.
pub const EXPERIMENT: Experiment = Experiment {
    name: "compnet-fig10",
    summary: "allreduce by bytes and nodes, by who serves it (ComP-Net, figure 10)",
    cells,
    section,
};

/// What it is to training.
pub const TRAINING: Experiment = Experiment {
    name: "compnet-fig11",
    summary:
        "a workload that waits for allreduce, by the share of its time that it waits (ComP-Net, figure 11)",
    cells: training_cells,
    section: training_section,
};

/// Of [`COLUMNS`] those of these figures.
const SERVED: [&str; 5] = ["queues", "paper", "apu:middle", "dgpu:low", "dgpu:middle"];
const QUICK_SERVED: [&str; 3] = ["queues", "paper", "dgpu:low"];
/// Bytes that are reduced.
const SIZES: [u32; 3] = [64 << 10, 1 << 20, 4 << 20];
const QUICK_SIZES: [u32; 2] = [64 << 10, 1 << 20];
const NODES: [usize; 3] = [2, 4, 8];
const QUICK_NODES: [usize; 2] = [2, 8];
/// Cores of a node, and all their warps.
const CORES: usize = 4;
const WARPS: u32 = 32;
/// Least bytes of a chunk: with smaller ones commands are the limit, so rings are fewer.
const CHUNK: u32 = 1_024;
/// Most words of a piece; a chunk of fewer is one piece.
const PIECE: u32 = 1_024;
const SEED: u32 = 1;
/// Rounds of a run: the last one counts, with warm caches.
const ROUNDS: u32 = 2;
/// Bytes a cycle of the wire, and its bytes beside those of a packet: headers, ICRC, frame check
/// sequence, preamble and gap.
const WIRE: f64 = 12.5;
const OVERHEAD: f64 = 82.0;
const MTU: f64 = 4_096.0;
/// Shares of the time that the paper's workloads gain.
const PAPER: [(f64, &str); 3] = [(0.02, "CIFAR"), (0.05, "mean"), (0.11, "AN4 LSTM")];

/// Rings of an allreduce, the same for all who serve it.
fn rings(bytes: u32, nodes: usize) -> u32 {
    (bytes / nodes as u32 / CHUNK).clamp(1, WARPS)
}

fn cell(column: &str, bytes: u32, nodes: usize) -> anyhow::Result<Cell> {
    let work = |rings: u32| {
        let ring = Ring { rings, words: bytes / 4 / rings, piece: PIECE, rounds: ROUNDS, seed: SEED };
        Nodes { benchmark: Benchmark::Ring(ring), nodes, column: column.to_string(), threads: 1 }
    };
    let mut parameters = Parameters::of_nodes(work(1), CORES, 4)?;
    // Functions of the kernel keep registers on stacks.
    parameters.array.local_window = true;
    let slots = (parameters.array.cores * parameters.array.warps) as u32;
    let labels = labels(&[("nodes", &nodes.to_string()), ("bytes", &bytes.to_string()), ("column", column)]);
    let rings = rings(bytes, nodes).min(slots);
    Ok(Cell { labels, parameters: Parameters { nodes: Some(work(rings)), ..parameters } })
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (served, sizes, nodes) = match scale {
        Scale::Quick => (&QUICK_SERVED[..], &QUICK_SIZES[..], &QUICK_NODES[..]),
        Scale::Full => (&SERVED[..], &SIZES[..], &NODES[..]),
    };
    let mut cells = Vec::new();
    for &nodes in nodes {
        for &bytes in sizes {
            for column in served {
                cells.push(cell(column, bytes, nodes)?);
            }
        }
    }
    Ok(cells)
}

/// Cycles from the first ring that began to the last that ended, on any node.
fn cycles(results: &Results, column: &str, bytes: u32, nodes: usize) -> Option<f64> {
    let labels = [("nodes", nodes.to_string()), ("bytes", bytes.to_string()), ("column", column.to_string())];
    let labels: Vec<_> = labels.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Some(results.with(&labels).and_then(measured)?.allreduce?.into())
}

fn name_of(column: &str) -> String {
    COLUMNS.iter().find(|(one, _)| *one == column).map_or(column, |(_, name)| name).to_string()
}

/// Bytes a cycle by each link, each way.
fn bandwidth(bytes: u32, nodes: usize, cycles: f64) -> f64 {
    2.0 * (nodes - 1) as f64 / nodes as f64 * f64::from(bytes) / cycles
}

/// What the wire has for the bytes of pieces.
fn wire(bytes: u32, nodes: usize) -> f64 {
    let packet = (f64::from(bytes / rings(bytes, nodes)) / nodes as f64).min(4.0 * f64::from(PIECE)).min(MTU);
    WIRE * packet / (packet + OVERHEAD)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let of = |column: &str, bytes: u32, nodes: usize| cycles(results, column, bytes, nodes);
    let number = |value: Option<f64>| value.map_or("-".to_string(), figure);
    let (mut rows, mut plots) = (Vec::new(), Vec::new());
    for bytes in SIZES {
        let mut series = Vec::new();
        for column in SERVED {
            let mut points = Vec::new();
            for nodes in NODES {
                let Some(cycles) = of(column, bytes, nodes) else { continue };
                let over = |one: &str| Some(cycles / of(one, bytes, nodes)?);
                let rate = bandwidth(bytes, nodes, cycles);
                points.extend(of("dgpu:low", bytes, nodes).map(|low| (nodes as f64, low / cycles)));
                rows.push(vec![
                    bytes.to_string(),
                    nodes.to_string(),
                    name_of(column),
                    figure(cycles),
                    figure(rate),
                    figure(rate / wire(bytes, nodes)),
                    number(over("queues")),
                    number(over("paper")),
                ]);
            }
            if !points.is_empty() {
                series.push(Series { name: name_of(column), points, published: false });
            }
        }
        if !series.is_empty() {
            plots.push(Plot {
                title: format!("Allreduce of {bytes} bytes: speed-up over dGPU with the low delays"),
                x: "nodes".to_string(),
                x_scale: report::Scale::Linear,
                y: "times".to_string(),
                y_scale: report::Scale::Linear,
                series,
            });
        }
    }
    let most = NODES[NODES.len() - 1];
    let gain = |bytes: u32| Some(of("dgpu:low", bytes, most)? / of("queues", bytes, most)?);
    let share = |bytes: u32| Some(bandwidth(bytes, most, of("queues", bytes, most)?) / wire(bytes, most));
    let sentence = match (gain(SIZES[0]), gain(SIZES[1]), share(SIZES[1])) {
        (Some(short), Some(long), Some(share)) => format!(
            "On {most} nodes an allreduce of {} bytes is {} times as fast as with a thread behind PCIe at the low delays, one of {} bytes {} times, at {} of the wire.",
            SIZES[0],
            figure(short),
            SIZES[1],
            figure(long),
            figure(share)
        ),
        _ => "Not all columns were measured.".to_string(),
    };
    let head = [
        "bytes",
        "nodes",
        "served by",
        "cycles",
        "bytes a cycle, each link",
        "of the wire",
        "over queues",
        "over firmware alone",
    ];
    Ok(Section {
        title: "ComP-Net, figure 10: allreduce".to_string(),
        sentence,
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!(
            "ring.c on nodes of {CORES} cores: a ring for each of their {WARPS} warps, or fewer so that a chunk has {CHUNK} bytes, pieces of up to {PIECE} words; the second of two rounds, with warm caches, from the first ring that began to the \
             last that ended on any node. Each link carries 2 (N - 1) / N of the bytes; the wire has 12.5 bytes a cycle less what is beside the \
             bytes of a packet. Every word of every node is compared."
        ),
        assumed: BASELINES.to_string(),
        differs: "The paper reduces 64 MB alone on 2 to 32 nodes, and a GPU with some 140 times the lane-cycles of a core here: the same bytes a node \
                  are reached there with more nodes. Its columns of a CPU and of kernels that end for each message are not shown."
            .to_string(),
    })
}

/// The runs of figure 10 on most nodes that both columns need.
fn training_cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let served = if scale == Scale::Quick { &QUICK_SERVED[..] } else { &SERVED[..] };
    let sizes = if scale == Scale::Quick { &QUICK_SIZES[..] } else { &SIZES[..] };
    let most = NODES[NODES.len() - 1];
    let mut cells = Vec::new();
    for &bytes in sizes {
        for column in served {
            cells.push(cell(column, bytes, most)?);
        }
    }
    Ok(cells)
}

fn training_section(results: &Results) -> anyhow::Result<Section> {
    let most = NODES[NODES.len() - 1];
    let (mut rows, mut series, mut best) = (Vec::new(), Vec::new(), None);
    for bytes in SIZES {
        for (column, baseline) in [("queues", "dgpu:low"), ("queues", "dgpu:middle"), ("paper", "dgpu:low")] {
            let (Some(ours), Some(theirs)) =
                (cycles(results, column, bytes, most), cycles(results, baseline, bytes, most))
            else {
                continue;
            };
            let left = ours / theirs;
            // The share b of the time is shorter by that ratio.
            let time = |share: f64| 1.0 - share * (1.0 - left);
            let name = format!("{bytes} bytes, {} over {}", name_of(column), name_of(baseline));
            let points = (0..=10).map(|tenth| (f64::from(tenth) / 10.0, time(f64::from(tenth) / 10.0)));
            series.push(Series { name: name.clone(), points: points.collect(), published: false });
            // The share at which a gain is as the paper's.
            let needed = |gain: f64| match (1.0 - 1.0 / (1.0 + gain)) / (1.0 - left) {
                share if left < 1.0 && share <= 1.0 => figure(share),
                _ => "none".to_string(),
            };
            let mut row = vec![name, figure(left)];
            row.extend([0.1, 0.3, 0.5].map(|share| figure(time(share))));
            row.extend(PAPER.map(|(gain, _)| needed(gain)));
            rows.push(row);
            if column == "queues" && baseline == "dgpu:low" {
                best = best.or(Some((bytes, left)));
            }
        }
    }
    let sentence = match best {
        Some((bytes, left)) => format!(
            "With allreduces of {bytes} bytes on {most} nodes a workload that waits for them half of its time takes {} of that with a thread behind PCIe at the low delays.",
            figure(1.0 - 0.5 * (1.0 - left))
        ),
        None => "Not all columns were measured.".to_string(),
    };
    let plots = match series.is_empty() {
        true => Vec::new(),
        false => vec![Plot {
            title: "Time of a workload over that with the baseline".to_string(),
            x: "share of its time that it waits for allreduce".to_string(),
            x_scale: report::Scale::Linear,
            y: "time".to_string(),
            y_scale: report::Scale::Linear,
            series,
        }],
    };
    let mut head: Vec<String> =
        ["allreduce", "its time over the baseline's", "share 0.1", "share 0.3", "share 0.5"]
            .map(str::to_string)
            .to_vec();
    head.extend(PAPER.map(|(gain, name)| format!("share for {} % ({name})", gain * 100.0)));
    Ok(Section {
        title: "ComP-Net, figure 11: workloads that wait for allreduce".to_string(),
        sentence,
        plots,
        head,
        rows,
        measured: "Nothing beside figure 10: 1 - b (1 - r), where b is the share of the time that the workload waits and r the time of the allreduce \
                   over that of the baseline. The last columns have the b at which the gain is one that the paper prints: 2 % (CIFAR), 5 % (mean), \
                   11 % (AN4 LSTM)."
            .to_string(),
        assumed: BASELINES.to_string(),
        differs: "The paper has five workloads, whose b it measured on a supercomputer and does not print: three printed gains cannot check five b that \
                  would be fitted to them. So this is a curve over b."
            .to_string(),
    })
}
