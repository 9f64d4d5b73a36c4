//! Figure 8(c) of the ComP-Net paper: what those who serve commands spend, by load.

use super::energy::{needed, ratio, Busy, ASSUMED, RATIOS};
use super::{measured, name_of};
use crate::figures::{figure, labels, Results};
use crate::nodes::{Benchmark, Nodes};
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "compnet-fig8c",
    summary: "cycles of those who serve commands, by load, and the energy that follows (ComP-Net, figure 8c)",
    cells,
    section,
};

/// Those who serve.
const SERVED: [&str; 6] = ["queues", "wfi", "paper", "apu:low", "dgpu:low", "dgpu:middle"];
const QUICK_SERVED: [&str; 5] = ["queues", "wfi", "paper", "apu:low", "dgpu:low"];
/// Million commands a second of a load of 100 %: what queues in hardware take with one hart.
const FULL: f64 = 33.0;
/// Loads in percent; [`FULL`] and more is as fast as they go.
const LOADS: [f64; 6] = [0.1, 1.0, 3.0, 10.0, 30.0, 100.0];
const QUICK_LOADS: [f64; 3] = [1.0, 10.0, 100.0];
/// The load of the limit, and of the runs with more threads and with commands that wait.
const SHOWN: f64 = 10.0;
/// Cycles of a run, about, and most of its commands.
const CYCLES: f64 = 400_000.0;
const QUICK_CYCLES: f64 = 60_000.0;
const COMMANDS: u32 = 1_280;
const QUICK_COMMANDS: u32 = 320;
/// Name, gets that wait for their end.
const KINDS: [(&str, bool); 2] = [("puts", false), ("gets that wait", true)];
/// What the paper says of its energy: over the dGPU's, and over the APU's.
const OF_DGPU: f64 = 1.0 / 3.0;
const OF_APU: f64 = 0.5;

/// A point of the figure.
#[derive(Clone, Copy)]
struct Point {
    kind: (&'static str, bool),
    load: f64,
    threads: u32,
}

/// Loads of puts with one thread; at one load four threads too, and gets that wait.
fn points(loads: &[f64]) -> Vec<Point> {
    let one = |load: &f64| Point { kind: KINDS[0], load: *load, threads: 1 };
    let shown = Point { kind: KINDS[0], load: SHOWN, threads: 1 };
    let mut points: Vec<_> = loads.iter().map(one).collect();
    points.push(Point { threads: 4, ..shown });
    points.push(Point { kind: KINDS[1], ..shown });
    points
}

fn labels_of(point: Point, column: &str) -> [(&'static str, String); 4] {
    [
        ("kind", point.kind.0.to_string()),
        ("load", point.load.to_string()),
        ("threads", point.threads.to_string()),
        ("column", column.to_string()),
    ]
}

fn cell(point: Point, column: &str, scale: Scale) -> anyhow::Result<Cell> {
    let (cores, warps, cycles, most) = match scale {
        Scale::Quick => (1, 8, QUICK_CYCLES, QUICK_COMMANDS),
        Scale::Full => (4, 32, CYCLES, COMMANDS),
    };
    // Cycles from a command to the next one.
    let apart = 1e3 / (FULL * point.load / 100.0);
    let commands = ((cycles / apart) as u32).min(most) / warps;
    let interval = if point.load < 100.0 { (apart * f64::from(warps)).round() as u32 } else { 0 };
    let waits = point.kind.1;
    let benchmark = Benchmark::Rate { warps, commands: commands.max(1), gets: waits, waits, interval };
    let (column, threads) = (column.to_string(), point.threads);
    let names = labels_of(point, &column);
    let names: Vec<_> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let labels = labels(&names);
    // Threads of a host leave the harts as they are.
    let harts = if column.contains("pu:") { 1 } else { threads as usize };
    let sleeps = column == "wfi";
    let work = Nodes { benchmark, nodes: 2, column, threads, counted: true };
    let mut parameters = Parameters::of_nodes(work, cores, harts)?;
    parameters.array.uli_channels = usize::from(sleeps);
    Ok(Cell { labels, parameters })
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (served, loads) = match scale {
        Scale::Quick => (&QUICK_SERVED[..], &QUICK_LOADS[..]),
        Scale::Full => (&SERVED[..], &LOADS[..]),
    };
    let mut cells = Vec::new();
    for point in points(loads) {
        // One hart alone sleeps in wfi: an event is for all.
        for column in served.iter().filter(|column| **column != "wfi" || point.threads == 1) {
            cells.push(cell(point, column, scale)?);
        }
    }
    Ok(cells)
}

/// What a run took for each of its commands.
struct Taken {
    /// Million commands a second.
    rate: f64,
    busy: Busy,
    commands: f64,
    call: f64,
}

fn taken(results: &Results, point: Point, column: &str) -> Option<Taken> {
    let names = labels_of(point, column);
    let names: Vec<_> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let result = results.with(&names)?;
    let busy = Busy::of(result)?;
    let rate = measured(result)?.rate?;
    let commands = rate.commands as f64;
    let per_second = commands / f64::from(rate.cycles.max(1)) * 1e3;
    Some(Taken { rate: per_second, busy, commands, call: rate.call_mean })
}

impl Taken {
    /// Busy cycles of a command.
    fn cycles(&self) -> f64 {
        self.busy.cycles / self.commands
    }
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let of = |point: Point, column: &str| taken(results, point, column);
    let number = |value: Option<f64>| value.map_or("-".to_string(), figure);
    let mut rows = Vec::new();
    for point in points(&LOADS) {
        let of_one = |column: &str| of(point, column).map(|taken| taken.cycles());
        let (dgpu, apu) = (of_one("dgpu:low"), of_one("apu:low"));
        for column in SERVED {
            let Some(taken) = of(point, column) else { continue };
            let cycles = taken.cycles();
            let is_ours = taken.busy.instructions.is_some();
            let mut row = vec![
                point.kind.0.to_string(),
                format!("{} %", point.load),
                name_of(column),
                point.threads.to_string(),
                figure(taken.rate),
                figure(cycles),
                figure(taken.busy.cycles / (taken.busy.whole * f64::from(point.threads))),
                number(taken.busy.instructions.map(|count| count / taken.commands)),
                number(taken.busy.line_reads.map(|count| count / taken.commands)),
                figure(taken.call),
            ];
            let of_ours =
                |other: Option<f64>, what: &dyn Fn(f64) -> f64| number(other.filter(|_| is_ours).map(what));
            row.extend(RATIOS.map(|e| of_ours(dgpu, &|other| ratio(cycles, other, e))));
            row.push(of_ours(dgpu, &|other| needed(cycles, other, OF_DGPU)));
            row.push(of_ours(apu, &|other| needed(cycles, other, OF_APU)));
            rows.push(row);
        }
    }
    let mut head: Vec<String> = [
        "commands",
        "load",
        "served by",
        "threads or harts",
        "M/s",
        "busy cycles of a command",
        "busy, of all cycles",
        "instructions of a command",
        "L2 reads of a command",
        "lanes wait, cycles of a call",
    ]
    .map(str::to_string)
    .to_vec();
    head.extend(RATIOS.map(|e| format!("of dGPU, e = {e}")));
    head.extend(["e for 1/3 of dGPU", "e for 1/2 of APU"].map(str::to_string));
    Ok(Section {
        title: "ComP-Net, figure 8(c): energy of service threads".to_string(),
        sentence: sentence(results),
        plots: plots(results),
        head,
        rows,
        measured: "Puts of eight bytes by all warps of one of two nodes, evenly spaced, from the moment at which the queues are served until the kernel \
                   has ended: cycles of harts that wait neither in NEXT nor in wfi (NET_COUNTER 22), instructions that they retire (minstret), \
                   lines that they read from the L2 (NET_COUNTER 36, 37). Exact counts, of equal work. 100 % is 33 million a second, what queues in \
                   hardware take with one hart; where a column gets less it does so as fast as it can. wfi: the hart sleeps, and each command that \
                   waits interrupts it in user level (scenario 11). Lanes wait in calls; a warp that waits for a word sleeps in its core \
                   (poll_tax of hermes bench net)."
            .to_string(),
        assumed: ASSUMED.to_string(),
        differs: "The paper gives statistics of gem5 to McPAT, and has ComP-Net at a third of the dGPU's energy and half of the APU's. Its service \
                  threads poll on both sides, so its ratio is that of a small core to a large one, e here; firmware alone shows the same. \
                  Sleep is what queues in hardware add, and it counts by the load."
            .to_string(),
    })
}

fn sentence(results: &Results) -> String {
    let shown = Point { kind: KINDS[0], load: SHOWN, threads: 1 };
    let cycles = |column: &str| taken(results, shown, column).map(|taken| taken.cycles());
    let over = |column: &str| Some(cycles(column)? / cycles("dgpu:low")?);
    match (over("queues"), over("paper")) {
        (Some(queues), Some(paper)) => format!(
            "At {SHOWN} % load a hart is awake for {} of the cycles of a polling host thread{}, with firmware alone for {}: so the paper's third of the \
             dGPU's energy holds from e = {} and e = {} on.",
            figure(queues),
            over("wfi").map_or(String::new(), |wfi| format!(" ({} where it sleeps in wfi)", figure(wfi))),
            figure(paper),
            figure(needed(queues, 1.0, OF_DGPU)),
            figure(needed(paper, 1.0, OF_DGPU))
        ),
        _ => "Not all columns were measured.".to_string(),
    }
}

fn plots(results: &Results) -> Vec<Plot> {
    let puts = |load: f64| Point { kind: KINDS[0], load, threads: 1 };
    let mut plots = Vec::new();
    let mut plot = |title: &str, y: &str, of: &dyn Fn(f64, &str) -> Option<f64>| {
        let mut series = Vec::new();
        for column in SERVED {
            let points: Vec<_> = LOADS.iter().filter_map(|load| Some((*load, of(*load, column)?))).collect();
            if !points.is_empty() {
                series.push(Series { name: name_of(column), points, published: false });
            }
        }
        if !series.is_empty() {
            plots.push(Plot {
                title: title.to_string(),
                x: "load, percent of 33 million commands a second".to_string(),
                x_scale: report::Scale::Logarithmic,
                y: y.to_string(),
                y_scale: report::Scale::Logarithmic,
                series,
            });
        }
    };
    plot("Busy cycles of those who serve", "cycles of a command", &|load, column| {
        Some(taken(results, puts(load), column)?.cycles())
    });
    plot("From which e on the energy is a third of the dGPU's", "e", &|load, column| {
        let ours = taken(results, puts(load), column)?;
        ours.busy.instructions?;
        let theirs = taken(results, puts(load), "dgpu:low")?;
        Some(needed(ours.cycles(), theirs.cycles(), OF_DGPU)).filter(|e| *e > 0.0)
    });
    plots
}
