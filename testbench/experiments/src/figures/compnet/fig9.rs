//! Figure 9 of the ComP-Net paper: an iteration of Jacobi relaxation by the size of a node's part.

use hermes_testbench::cluster::{Jacobi, JacobiTimes};

use super::inter_kernel::{self, COMPOSED, ENDS};
use super::{measured, name_of, BASELINES};
use crate::figures::{figure, labels, Results};
use crate::nodes::{Benchmark, Nodes};
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "compnet-fig9",
    summary: "an iteration of Jacobi by the size of a node's part, by who serves it (ComP-Net, figure 9)",
    cells,
    section,
};

/// Of [`COLUMNS`] those of this figure.
const SERVED: [&str; 6] = ["queues", "paper", "apu:middle", "dgpu:low", "dgpu:middle", "dgpu:high"];
/// The one whose single delays are set to 0, and these.
pub(super) const SINGLE: &str = "dgpu:low";
pub(super) const DELAYS: [&str; 5] = ["visible", "poll", "service", "doorbell", "completion"];
/// Size of the runs with a delay of 0.
pub(super) const SINGLE_SIZE: u32 = 64;
/// Rows and columns of a node.
const SIZES: [u32; 7] = [16, 32, 64, 128, 256, 512, 1_024];
const QUICK_SIZES: [u32; 4] = [16, 32, 64, 128];
/// Nodes, and cores of each.
const CLUSTERS: [(usize, usize); 4] = [(2, 1), (4, 1), (8, 1), (8, 4)];
const QUICK_CLUSTERS: [(usize, usize); 2] = [(2, 1), (8, 1)];
/// From so many words a side on iterations are long and alike: fewer are run.
const MIDDLE: u32 = 256;
/// With so many and more an iteration computes: others than these serve it as fast.
const LONG: u32 = 512;
const LONG_SERVED: [&str; 3] = ["queues", "paper", SINGLE];
/// With so many the limit is checked alone.
const LONGEST: u32 = 1_024;
const LONGEST_SERVED: [&str; 2] = ["queues", SINGLE];
/// Largest size on fewer nodes, and on more cores.
const LARGEST_ON_FEWER: u32 = 128;
const LARGEST_ON_MORE_CORES: u32 = 512;
const SEED: u32 = 1;
/// The nodes of the chart and the sentence.
pub(super) const SHOWN: (usize, usize) = (8, 1);

/// Iterations of a run: long ones are alike.
fn iterations(size: u32) -> u32 {
    match size {
        ..MIDDLE => 6,
        MIDDLE..LONG => 3,
        LONG.. => 2,
    }
}

/// Of so many iterations those in front that do not count: caches are cold.
fn first(iterations: usize) -> usize {
    (iterations / 3).max(1)
}

/// Who serves the runs of a size.
fn served(size: u32) -> &'static [&'static str] {
    match size {
        ..LONG => &SERVED,
        LONG..LONGEST => &LONG_SERVED,
        LONGEST.. => &LONGEST_SERVED,
    }
}

/// Whether a cluster runs a size.
fn runs(size: u32, (nodes, cores): (usize, usize)) -> bool {
    let largest = match (nodes, cores) {
        SHOWN => LONGEST,
        (8, _) => LARGEST_ON_MORE_CORES,
        _ => LARGEST_ON_FEWER,
    };
    size <= largest
}

pub(super) fn cell(column: &str, size: u32, (nodes, cores): (usize, usize)) -> anyhow::Result<Cell> {
    let iterations = iterations(size);
    let jacobi = Jacobi { warps: 1, rows: size, columns: size, iterations, limit: 0, seed: SEED };
    let work = |warps| Nodes {
        benchmark: Benchmark::Jacobi(Jacobi { warps, ..jacobi }),
        nodes,
        column: column.to_string(),
        threads: 1,
        counted: false,
    };
    let mut parameters = Parameters::of_nodes(work(1), cores, 4)?;
    // Functions of the kernel keep registers on stacks.
    parameters.array.local_window = true;
    let slots = (parameters.array.cores * parameters.array.warps) as u32;
    let labels = labels(&[
        ("nodes", &nodes.to_string()),
        ("cores", &cores.to_string()),
        ("size", &size.to_string()),
        ("column", column),
    ]);
    Ok(Cell { labels, parameters: Parameters { nodes: Some(work(slots.min(size))), ..parameters } })
}

/// Labels of the parts of Inter-Kernel: rows that are put, and one word.
const ROWS: &str = "rows";
const WORD: &str = "word";

/// The parts of Inter-Kernel on these clusters: an iteration of one node, which has no messages;
/// its edge rows; a word.
fn parts(sizes: &[u32], clusters: &[(usize, usize)]) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    let labels_of = |nodes: usize, size: u32, column: &str| {
        labels(&[
            ("nodes", &nodes.to_string()),
            ("cores", "0"),
            ("size", &size.to_string()),
            ("column", column),
        ])
    };
    let mut cores: Vec<_> = clusters.iter().map(|(_, cores)| *cores).collect();
    cores.dedup();
    for &size in sizes {
        for &cores in &cores {
            if clusters.iter().any(|&cluster| cluster.1 == cores && runs(size, cluster)) {
                cells.push(cell("queues", size, (1, cores))?);
            }
        }
        for &(nodes, _) in clusters.iter().filter(|&&cluster| cluster.1 == 1 && runs(size, cluster)) {
            let parameters = inter_kernel::messages(4 * size, nodes, 2.min(nodes as u32 - 1))?;
            cells.push(Cell { labels: labels_of(nodes, size, ROWS), parameters });
        }
    }
    for &(nodes, _) in clusters.iter().filter(|(_, cores)| *cores == 1) {
        let parameters = inter_kernel::messages(8, nodes, 1)?;
        cells.push(Cell { labels: labels_of(nodes, 0, WORD), parameters });
    }
    Ok(cells)
}

/// Cycles of the messages of an iteration: the edge rows of all nodes at once, then a word in as
/// many rounds as their number needs.
fn messages(results: &Results, nodes: usize, size: u32) -> Option<f64> {
    let of = |size: u32, column: &str| {
        let (nodes, size) = (nodes.to_string(), size.to_string());
        let labels = [("nodes", nodes.as_str()), ("size", size.as_str()), ("column", column)];
        inter_kernel::mean(results.with(&labels))
    };
    Some(of(size, ROWS)? + inter_kernel::rounds_of_word(nodes) * of(0, WORD)?)
}

/// [`SINGLE`] with a delay of 0.
pub(super) fn without(delay: &str) -> String {
    format!("{SINGLE},{delay}=0")
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (sizes, clusters) = match scale {
        Scale::Quick => (&QUICK_SIZES[..], &QUICK_CLUSTERS[..]),
        Scale::Full => (&SIZES[..], &CLUSTERS[..]),
    };
    let mut cells = Vec::new();
    for &cluster in clusters {
        for &size in sizes.iter().filter(|&&size| runs(size, cluster)) {
            for column in served(size) {
                cells.push(cell(column, size, cluster)?);
            }
        }
    }
    for delay in DELAYS {
        cells.push(cell(&without(delay), SINGLE_SIZE, SHOWN)?);
    }
    cells.extend(parts(sizes, clusters)?);
    Ok(cells)
}

/// Means of an iteration: all cycles, computing, until the node had, until all had.
pub(super) fn means(times: &[JacobiTimes]) -> Option<[f64; 4]> {
    let behind = times.get(first(times.len())..).filter(|behind| !behind.is_empty())?;
    let mean = |what: fn(&JacobiTimes) -> u32| {
        behind.iter().map(|times| f64::from(what(times))).sum::<f64>() / behind.len() as f64
    };
    let parts = [mean(|times| times.compute), mean(|times| times.wait), mean(|times| times.reduce)];
    let [compute, wait, reduce] = parts;
    Some([compute + wait + reduce, compute, wait, reduce])
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let of = |column: &str, size: u32, (nodes, cores): (usize, usize)| {
        let labels = [
            ("nodes", nodes.to_string()),
            ("cores", cores.to_string()),
            ("size", size.to_string()),
            ("column", column.to_string()),
        ];
        let labels: Vec<_> = labels.iter().map(|(name, value)| (*name, value.as_str())).collect();
        means(&results.with(&labels).and_then(measured)?.iterations)
    };
    let singles = DELAYS.map(without);
    let columns: Vec<&str> = SERVED.into_iter().chain(singles.iter().map(String::as_str)).collect();
    let number = |value: Option<f64>| value.map_or("-".to_string(), figure);
    let mut rows = Vec::new();
    for cluster in CLUSTERS {
        for size in SIZES {
            let over = |column: &str, other: &str| {
                Some(of(other, size, cluster)?[0] / of(column, size, cluster)?[0])
            };
            for column in &columns {
                let Some([all, compute, wait, reduce]) = of(column, size, cluster) else { continue };
                rows.push(vec![
                    cluster.0.to_string(),
                    cluster.1.to_string(),
                    format!("{size} x {size}"),
                    name_of(column),
                    figure(all),
                    figure(compute),
                    figure(wait),
                    figure(reduce),
                    figure(compute / (wait + reduce).max(1.0)),
                    number(over("queues", column)),
                    number(over("paper", column)),
                ]);
            }
            let alone = of("queues", size, (1, cluster.1)).map(|[all, ..]| all);
            let Some((alone, messages)) = alone.zip(messages(results, cluster.0, size)) else { continue };
            for end in ENDS {
                let all = alone + messages + end;
                let over = |column: &str| Some(all / of(column, size, cluster)?[0]);
                rows.push(vec![
                    cluster.0.to_string(),
                    cluster.1.to_string(),
                    format!("{size} x {size}"),
                    inter_kernel::name_of(end),
                    figure(all),
                    figure(alone),
                    "-".to_string(),
                    figure(messages + end),
                    figure(alone / (messages + end)),
                    number(over("queues")),
                    number(over("paper")),
                ]);
            }
        }
    }
    let speed_up =
        |column: &str, other: &str, size: u32| Some(of(other, size, SHOWN)?[0] / of(column, size, SHOWN)?[0]);
    let mut series = Vec::new();
    for column in SERVED {
        let points = SIZES
            .into_iter()
            .filter_map(|size| Some((f64::from(size) * f64::from(size), speed_up(column, SINGLE, size)?)));
        let points: Vec<_> = points.collect();
        if !points.is_empty() {
            series.push(Series { name: name_of(column), points, published: false });
        }
    }
    let plots = match series.is_empty() {
        true => Vec::new(),
        false => vec![Plot {
            title: format!("An iteration on {} nodes: speed-up over dGPU with the low delays", SHOWN.0),
            x: "words of a node".to_string(),
            x_scale: report::Scale::Logarithmic,
            y: "times".to_string(),
            y_scale: report::Scale::Linear,
            series,
        }],
    };
    let best = |column: &str| {
        let all = SIZES.into_iter().filter_map(|size| Some((speed_up(column, SINGLE, size)?, size)));
        all.max_by(|one, other| one.0.total_cmp(&other.0))
    };
    let largest = SIZES.into_iter().rev().find_map(|size| Some((speed_up("queues", SINGLE, size)?, size)));
    let sentence = match (best("queues"), best("paper"), largest) {
        (Some((queues, size)), Some((paper, paper_size)), Some((last, last_size))) => format!(
            "On {} nodes an iteration is up to {} times as fast as with a thread behind PCIe at the low delays ({size} x {size} words a node), and {} times with {last_size} x {last_size}; with firmware alone, the paper's way, {} times ({paper_size} x {paper_size}).",
            SHOWN.0,
            figure(queues),
            figure(last),
            figure(paper)
        ),
        _ => "Not all columns were measured.".to_string(),
    };
    let head = [
        "nodes",
        "cores",
        "words of a node",
        "served by",
        "an iteration, cycles",
        "to compute",
        "until the node had",
        "until all had",
        "compute over communication",
        "over queues",
        "over firmware alone",
    ];
    // Iterations that count, and those in front of them.
    let counted = |size: u32| {
        let all = iterations(size) as usize;
        (all - first(all), first(all))
    };
    let (small, middle, long) = (counted(0), counted(MIDDLE), counted(LONG));
    Ok(Section {
        title: "ComP-Net, figure 9: Jacobi relaxation".to_string(),
        sentence,
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!(
            "An iteration of jacobi.c: mean of {} behind the first {} (from {MIDDLE} x {MIDDLE} words on of {} behind {}, from {LONG} x {LONG} on of {} behind {}), by the clock of the warp of node 0 that reduces. Communication is what \
             is left of an iteration behind the rows of that warp: the other warps, halos that are late, and the residual of all nodes. Each word \
             and residual is compared with a plain model. {COMPOSED} Here these are an iteration of one node, the edge rows of all nodes, and a \
             word for each of the rounds in which a residual comes to all. Clusters but that of {} nodes with a core each have no more than \
             {LARGEST_ON_FEWER} x {LARGEST_ON_FEWER} words a node, {LARGEST_ON_MORE_CORES} x {LARGEST_ON_MORE_CORES} on more cores; from {LONG} x \
             {LONG} on fewer are compared, as an iteration computes.",
            small.0, small.1, middle.0, middle.1, long.0, long.1, SHOWN.0
        ),
        assumed: BASELINES.to_string(),
        differs: "Fixed point in place of floating point. The paper's GPU has some 140 times the lane-cycles a second of one core here, on the same \
                  wire: regions are to be compared by compute over communication, not by words. Its region 1 (a CPU is the quickest) and its \
                  column of a CPU are not shown: 16 cores of 8 instructions at 4 GHz win over 8 to 32 lanes at 1 GHz at every size, and scaling \
                  one of them would make up the result. The paper has 10 to 20 % over its dGPU in \
                  region 2, and nothing in region 3."
            .to_string(),
    })
}
