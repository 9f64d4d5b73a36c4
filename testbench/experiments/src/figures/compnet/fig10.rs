//! Figure 10 of the ComP-Net paper: allreduce by size and nodes; and figure 11, what that is to a
//! workload that waits for it for a share of its time.

use hermes_testbench::cluster::Ring;

use super::inter_kernel::{self, COMPOSED, ENDS};
use super::{measured, name_of, BASELINES};
use crate::figures::{figure, labels, Results};
use crate::nodes::{Benchmark, Nodes};
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};
use crate::results::ResultFile;

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
pub(super) const SERVED: [&str; 6] =
    ["queues", "paper", "apu:middle", "dgpu:low", "dgpu:middle", "dgpu:high"];
const QUICK_SERVED: [&str; 3] = ["queues", "paper", "dgpu:low"];
/// From so many bytes on the wire is the limit: on most nodes, and by these alone.
const LARGE: u32 = 4 << 20;
const LARGE_SERVED: [&str; 3] = ["queues", "paper", "dgpu:low"];
/// The largest allreduce, by these alone: one takes most of an hour.
pub(super) const LARGEST: u32 = 64 << 20;
const LARGEST_SERVED: [&str; 2] = ["queues", "dgpu:low"];
/// Bytes that are reduced.
pub(super) const SIZES: [u32; 4] = [64 << 10, 1 << 20, LARGE, LARGEST];
const QUICK_SIZES: [u32; 2] = [64 << 10, 1 << 20];
pub(super) const NODES: [usize; 3] = [2, 4, 8];
const QUICK_NODES: [usize; 2] = [2, 8];
/// Most nodes.
pub(super) const MOST: usize = NODES[NODES.len() - 1];
/// Cores of a node.
const CORES: usize = 4;
/// Most rings: the best of a sweep with 1 MB on two nodes, as [`PIECE`] is.
const RINGS: u32 = 20;
/// Least bytes of a chunk: with smaller ones commands are the limit, so rings are fewer.
const CHUNK: u32 = 1_024;
/// Most words of a piece; a chunk of fewer is one piece.
const PIECE: u32 = 1_024;
const SEED: u32 = 1;
/// Rounds of a run: the last one counts, with warm caches. The largest has one: in it the cold
/// ones are some thousand cycles of millions.
fn rounds(bytes: u32) -> u32 {
    match bytes {
        ..LARGEST => 2,
        LARGEST.. => 1,
    }
}

/// Bytes a cycle of the wire, and its bytes beside those of a packet: headers, ICRC, frame check
/// sequence, preamble and gap.
const WIRE: f64 = 12.5;
const OVERHEAD: f64 = 82.0;
const MTU: f64 = 4_096.0;
/// Shares of the time that the paper's workloads gain.
const PAPER: [(f64, &str); 3] = [(0.02, "CIFAR"), (0.05, "mean"), (0.11, "AN4 LSTM")];

/// Rings of an allreduce, the same for all who serve it.
fn rings(bytes: u32, nodes: usize) -> u32 {
    (bytes / nodes as u32 / CHUNK).clamp(1, RINGS)
}

pub(super) fn labels_of(column: &str, bytes: u32, nodes: usize) -> [(&'static str, String); 3] {
    [("nodes", nodes.to_string()), ("bytes", bytes.to_string()), ("column", column.to_string())]
}

/// The run of an allreduce, whose harts are counted too.
pub(super) fn cell(column: &str, bytes: u32, nodes: usize) -> anyhow::Result<Cell> {
    let work = |rings: u32| {
        let rounds = rounds(bytes);
        let ring = Ring { rings, words: bytes / 4 / rings, piece: PIECE, rounds, seed: SEED };
        Nodes {
            benchmark: Benchmark::Ring(ring),
            nodes,
            column: column.to_string(),
            threads: 1,
            counted: true,
        }
    };
    let mut parameters = Parameters::of_nodes(work(1), CORES, 4)?;
    // Functions of the kernel keep registers on stacks.
    parameters.array.local_window = true;
    let slots = (parameters.array.cores * parameters.array.warps) as u32;
    let names = labels_of(column, bytes, nodes);
    let names: Vec<_> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let labels = labels(&names);
    let rings = rings(bytes, nodes).min(slots);
    Ok(Cell { labels, parameters: Parameters { nodes: Some(work(rings)), ..parameters } })
}

/// Labels of runs that are parts of others: adds alone, puts of a chunk.
const ADDS: &str = "adds";
const CHUNKS: &str = "chunks";

/// Bytes of the adds alone, for an allreduce of `bytes`: the largest has no room beside as many
/// that come, and adds as fast as the one before it.
fn added(bytes: u32) -> u32 {
    bytes.min(SIZES[SIZES.len() - 2])
}

/// The adds alone of an allreduce, and its chunks alone.
fn parts(bytes: u32, nodes: usize) -> anyhow::Result<[Cell; 2]> {
    let Cell { parameters, .. } = cell("queues", added(bytes), nodes)?;
    let labels_of = |column: &str| {
        let names = labels_of(column, bytes, nodes);
        let names: Vec<_> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
        labels(&names)
    };
    let adds = parameters.nodes.clone().map(|work| match work.benchmark {
        Benchmark::Ring(ring) => Nodes { benchmark: Benchmark::Adds(ring), nodes: 1, counted: false, ..work },
        _ => work,
    });
    let chunks = inter_kernel::messages(bytes / nodes as u32, nodes, 1)?;
    Ok([
        Cell { labels: labels_of(ADDS), parameters: Parameters { nodes: adds, ..parameters } },
        Cell { labels: labels_of(CHUNKS), parameters: chunks },
    ])
}

/// Who serves, bytes and nodes of the runs.
pub(super) fn runs(scale: Scale) -> Vec<(&'static str, u32, usize)> {
    let (served, sizes, nodes) = match scale {
        Scale::Quick => (&QUICK_SERVED[..], &QUICK_SIZES[..], &QUICK_NODES[..]),
        Scale::Full => (&SERVED[..], &SIZES[..], &NODES[..]),
    };
    let mut runs = Vec::new();
    for &nodes in nodes {
        for &bytes in sizes {
            if bytes < LARGE || nodes == MOST {
                let serves = |column: &str| match bytes {
                    ..LARGE => true,
                    LARGE..LARGEST => LARGE_SERVED.contains(&column),
                    LARGEST.. => LARGEST_SERVED.contains(&column),
                };
                let served = served.iter().filter(|column| serves(column));
                runs.extend(served.map(|column| (*column, bytes, nodes)));
            }
        }
    }
    runs
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    let mut parts_of = None;
    for (column, bytes, nodes) in runs(scale) {
        cells.push(cell(column, bytes, nodes)?);
        if parts_of.replace((bytes, nodes)) != Some((bytes, nodes)) {
            cells.extend(parts(bytes, nodes)?);
        }
    }
    Ok(cells)
}

/// The result of a part.
fn part<'r>(results: &'r Results, column: &str, bytes: u32, nodes: usize) -> Option<&'r ResultFile> {
    let labels = labels_of(column, bytes, nodes);
    let labels: Vec<_> = labels.iter().map(|(name, value)| (*name, value.as_str())).collect();
    results.with(&labels)
}

/// Bytes a cycle that the lanes of a node add, without network.
fn add_rate(results: &Results, bytes: u32, nodes: usize) -> Option<f64> {
    let cycles = measured(part(results, ADDS, bytes, nodes)?)?.adds?;
    let bytes = added(bytes);
    let words = bytes / 4 / rings(bytes, nodes) * rings(bytes, nodes);
    Some(4.0 * f64::from(words) / f64::from(cycles.max(1)))
}

/// Cycles of an allreduce whose kernels end for each message: 2 (N - 1) chunks, those of the first
/// half added by a kernel each.
fn composed(results: &Results, bytes: u32, nodes: usize, end: f64) -> Option<f64> {
    let chunk = inter_kernel::mean(part(results, CHUNKS, bytes, nodes))?;
    let add = f64::from(bytes) / nodes as f64 / add_rate(results, bytes, nodes)?;
    Some((nodes - 1) as f64 * (2.0 * chunk + add + end))
}

/// Bytes a cycle on a link that wire and adds allow: half of what a link carries is added.
fn bound(results: &Results, bytes: u32, nodes: usize) -> Option<f64> {
    Some(wire(bytes, nodes).min(2.0 * add_rate(results, bytes, nodes)?))
}

/// Cycles from the first ring that began to the last that ended, on any node.
fn cycles(results: &Results, column: &str, bytes: u32, nodes: usize) -> Option<f64> {
    let labels = labels_of(column, bytes, nodes);
    let labels: Vec<_> = labels.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Some(results.with(&labels).and_then(measured)?.allreduce?.into())
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
                    figure(wire(bytes, nodes)),
                    number(add_rate(results, bytes, nodes).map(|rate| 2.0 * rate)),
                    number(bound(results, bytes, nodes).map(|bound| rate / bound)),
                    number(over("queues")),
                    number(over("paper")),
                ]);
            }
            // A size of one cluster alone has no line over nodes.
            if points.len() > 1 {
                series.push(Series { name: name_of(column), points, published: false });
            }
        }
        for (nodes, end) in NODES.into_iter().flat_map(|nodes| ENDS.map(|end| (nodes, end))) {
            let Some(cycles) = composed(results, bytes, nodes, end) else { continue };
            let over = |one: &str| Some(cycles / of(one, bytes, nodes)?);
            rows.push(vec![
                bytes.to_string(),
                nodes.to_string(),
                inter_kernel::name_of(end),
                figure(cycles),
                figure(bandwidth(bytes, nodes, cycles)),
                figure(wire(bytes, nodes)),
                "-".to_string(),
                "-".to_string(),
                number(over("queues")),
                number(over("paper")),
            ]);
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
    let most = MOST;
    let gain = |bytes: u32| Some(of("dgpu:low", bytes, most)? / of("queues", bytes, most)?);
    let share =
        |bytes: u32| Some(bandwidth(bytes, most, of("queues", bytes, most)?) / bound(results, bytes, most)?);
    let sentence = match (gain(SIZES[0]), gain(SIZES[1]), share(SIZES[1])) {
        (Some(short), Some(long), Some(share)) => format!(
            "On {most} nodes an allreduce of {} bytes is {} times as fast as with a thread behind PCIe at the low delays, one of {} bytes {} times, at {} of the lower of wire and adds.",
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
        "wire less headers",
        "twice the adds alone",
        "of the lower",
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
            "ring.c on nodes of {CORES} cores: {RINGS} rings, or fewer so that a chunk has {CHUNK} bytes, pieces of up to {PIECE} words; the second of two rounds, with warm caches (of {LARGEST} bytes one round, with cold ones), from the first ring that began to the \
             last that ended on any node. Each link carries 2 (N - 1) / N of the bytes; the wire has 12.5 bytes a cycle less what is beside the \
             bytes of a packet. Half of what a link carries is added: the adds of as many words alone (of {LARGEST} bytes those of {LARGE}), by the same rings on a node without network, \
             allow twice their bytes a cycle. Every word of every node is compared. From {LARGE} bytes on there are {MOST} nodes and fewer columns: the wire is the limit. {COMPOSED} Here these are 2 (N - 1) puts of a chunk, and N - 1 \
             kernels that add one."
        ),
        assumed: BASELINES.to_string(),
        differs: "The paper reduces 64 MB alone on 2 to 32 nodes, and a GPU with some 140 times the lane-cycles of a core here: the same bytes a node \
                  are reached there with more nodes. Its column of a CPU is not shown."
            .to_string(),
    })
}

/// The runs of figure 10 on most nodes.
fn training_cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let runs = runs(scale).into_iter().filter(|(_, _, nodes)| *nodes == MOST);
    runs.map(|(column, bytes, nodes)| cell(column, bytes, nodes)).collect()
}

fn training_section(results: &Results) -> anyhow::Result<Section> {
    let most = MOST;
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
