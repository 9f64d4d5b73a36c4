//! Figure 7 of the ComP-Net paper: what of the commands the L2 still has when they are served,
//! beside warps that stream.

use hermes_testbench::cluster::LineLock;

use super::measured;
use crate::figures::{figure, labels, Results};
use crate::nodes::{Benchmark, Nodes};
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "compnet-fig7",
    summary: "commands that the L2 still has beside warps that stream, with the line lock and without (ComP-Net, figure 7)",
    cells,
    section,
};

/// Lines of a bank of the L2, of which the preset has two.
const LINES: [usize; 3] = [128, 256, 512];
const QUICK_LINES: [usize; 1] = [512];
/// Warps that write commands, of 8; the others stream.
const WRITERS: [u32; 4] = [1, 2, 4, 6];
const QUICK_WRITERS: [u32; 1] = [2];
/// Cycles from a command to its service, and commands of a warp.
const SERVICES: [u32; 4] = [600, 1_200, 2_400, 4_800];
const QUICK_SERVICES: [u32; 2] = [600, 4_800];
const COMMANDS: u32 = 100;
const QUICK_COMMANDS: u32 = 20;
/// Writers of the runs by service, lines and service of those by writers.
const SHOWN_WRITERS: u32 = 2;
const SHOWN_LINES: usize = 512;
const SHOWN_SERVICE: u32 = 2_400;
const WARPS: u32 = 8;

fn labels_of(lines: usize, writers: u32, service: u32, lock: bool) -> [(&'static str, String); 4] {
    [
        ("lines", lines.to_string()),
        ("writers", writers.to_string()),
        ("service", service.to_string()),
        ("lock", lock.to_string()),
    ]
}

/// Lines, writers and service of the runs.
fn points(lines: &[usize], writers: &[u32], services: &[u32]) -> Vec<(usize, u32, u32)> {
    let mut points = Vec::new();
    for &lines in lines {
        points.extend(services.iter().map(|service| (lines, SHOWN_WRITERS, *service)));
    }
    points.extend(writers.iter().map(|writers| (SHOWN_LINES, *writers, SHOWN_SERVICE)));
    points.sort_unstable();
    points.dedup();
    points
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (points, commands) = match scale {
        Scale::Quick => (points(&QUICK_LINES, &QUICK_WRITERS, &QUICK_SERVICES), QUICK_COMMANDS),
        Scale::Full => (points(&LINES, &WRITERS, &SERVICES), COMMANDS),
    };
    let mut cells = Vec::new();
    for (lines, warps, service) in points {
        for lock in [false, true] {
            let run = LineLock { warps, commands, leader: false, waiting: 1, service, lock };
            let benchmark = Benchmark::LineLock(run);
            let column = "queues".to_string();
            let work = Nodes { benchmark, nodes: 1, column, threads: 1, counted: false };
            let mut parameters = Parameters::of_nodes(work, 1, 4)?;
            parameters.memory = "100".to_string();
            parameters.array.l2_bank_lines = lines;
            let names = labels_of(lines, warps, service, lock);
            let names: Vec<_> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
            cells.push(Cell { labels: labels(&names), parameters });
        }
    }
    Ok(cells)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let of = |(lines, writers, service): (usize, u32, u32), lock: bool| {
        let names = labels_of(lines, writers, service, lock);
        let names: Vec<_> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
        results.with(&names).and_then(measured)?.line_lock.as_ref().map(|met| met.hits)
    };
    let number = |value: Option<f64>| value.map_or("-".to_string(), figure);
    let mut rows = Vec::new();
    let (mut least, mut most_lost) = (None, None);
    for point in points(&LINES, &WRITERS, &SERVICES) {
        let (without, with) = (of(point, false), of(point, true));
        if without.is_none() && with.is_none() {
            continue;
        }
        let lower = |known: Option<f64>, now: Option<f64>| match (known, now) {
            (Some(known), Some(now)) => Some(f64::min(known, now)),
            (known, now) => known.or(now),
        };
        (least, most_lost) = (lower(least, with), lower(most_lost, without));
        let (lines, writers, service) = point;
        rows.push(vec![
            lines.to_string(),
            format!("{writers} and {}", WARPS - writers),
            service.to_string(),
            number(without),
            number(with),
        ]);
    }
    let mut plots = Vec::new();
    let names = [(false, "no lock"), (true, "line lock")];
    let mut plot = |title: &str, x: &str, scale: report::Scale, at: &dyn Fn(bool) -> Vec<(f64, f64)>| {
        let series = names.map(|(lock, name)| (name, at(lock)));
        let series: Vec<_> = series
            .into_iter()
            .filter(|(_, points)| !points.is_empty())
            .map(|(name, points)| Series { name: name.to_string(), points, published: false })
            .collect();
        if !series.is_empty() {
            plots.push(Plot {
                title: title.to_string(),
                x: x.to_string(),
                x_scale: scale,
                y: "share that the L2 had".to_string(),
                y_scale: report::Scale::Linear,
                series,
            });
        }
    };
    plot(
        &format!("Commands that the L2 had, {SHOWN_LINES} lines a bank, services of {SHOWN_SERVICE} cycles"),
        "warps that stream for each that writes commands",
        report::Scale::Logarithmic,
        &|lock| {
            let point = |writers: &u32| {
                let hits = of((SHOWN_LINES, *writers, SHOWN_SERVICE), lock)?;
                Some((f64::from(WARPS - writers) / f64::from(*writers), hits))
            };
            WRITERS.iter().rev().filter_map(point).collect()
        },
    );
    plot(
        &format!("Commands that the L2 had, {SHOWN_LINES} lines a bank, {SHOWN_WRITERS} warps write them"),
        "cycles from a command to its service",
        report::Scale::Logarithmic,
        &|lock| {
            let point = |service: &u32| {
                Some((f64::from(*service), of((SHOWN_LINES, SHOWN_WRITERS, *service), lock)?))
            };
            SERVICES.iter().filter_map(point).collect()
        },
    );
    let sentence = match (least, most_lost) {
        (Some(least), Some(lost)) => format!(
            "With the line lock the L2 has at least {} of the commands when they are read, without it down to {}.",
            figure(least),
            figure(lost)
        ),
        _ => "Not all columns were measured.".to_string(),
    };
    let head = [
        "lines of a bank",
        "warps that write commands, that stream",
        "cycles to the service",
        "hits, no lock",
        "hits, line lock",
    ];
    Ok(Section {
        title: "ComP-Net, figure 7: commands in the L2 beside streams".to_string(),
        sentence,
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "One node with one core: some of its eight warps write commands at fixed times, the others read lines of a buffer of 4 MiB as fast as \
                   memory gives them. The host posts a put of each command, so the network interface reads its line and no others; what was put \
                   is compared. hermes bench fig7 has more: commands that wait side by side, one lane that writes."
            .to_string(),
        assumed: "Nothing.".to_string(),
        differs: "The paper counts all accesses of its command processor, also to data of its own, which is not locked: it ends 20 % below what it has \
                  without streams. Here the network interface reads commands alone; its other reads are in hermes bench net \
                  (service_hits_beside_streams_of_none)."
            .to_string(),
    })
}
