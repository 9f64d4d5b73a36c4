//! Figures 3 and 7: a function alone, by its cores and by its warps.

use hermes_testbench::chain::schedule::{errors, Cost, Linear, Measured};

use super::{how, knee, number, point, points, profile_cell, profile_cells, sizes, variants, ASSUMED};
use super::{FURTHER, LANES, WARPS};
use crate::figures::Results;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// Figure 3.
pub const BY_CORES: Experiment = Experiment {
    name: "gnet-fig3",
    summary: "time of a batch by its cores (G-NET, figure 3)",
    cells: cells_by_cores,
    section: by_cores,
};

/// Figure 7.
pub const BY_BATCH: Experiment = Experiment {
    name: "gnet-fig7",
    summary: "time and throughput of a core by its warps, and the lines through them (G-NET, figure 7)",
    cells: cells_by_batch,
    section: by_batch,
};

/// Cores, and warps on each, of one batch.
const BATCHES: [(usize, u32); 4] = [(1, 8), (2, 4), (4, 2), (8, 1)];

fn size(scale: Scale) -> usize {
    match scale {
        Scale::Quick => 60,
        Scale::Full => 508,
    }
}

fn title(name: &str, behind: &[&str]) -> String {
    match behind {
        [] => name.to_string(),
        _ => format!("{name} behind ipsec"),
    }
}

fn cells_by_cores(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for (name, behind) in variants() {
        for (cores, warps) in BATCHES {
            cells.push(profile_cell(name, behind, size(scale), cores, warps)?);
        }
    }
    Ok(cells)
}

fn by_cores(results: &Results) -> anyhow::Result<Section> {
    let bytes = size(results.scale);
    let (mut rows, mut series, mut eight) = (Vec::new(), Vec::new(), Vec::new());
    for (name, behind) in variants() {
        let at = |(cores, warps)| Some((cores, point(results, name, behind, bytes, cores, warps)?.cycles));
        let points: Vec<_> = BATCHES.into_iter().filter_map(at).collect();
        let first = points.first().filter(|(cores, _)| *cores == 1).map(|(_, cycles)| *cycles);
        for (cores, cycles) in &points {
            let over = first.map(|first| first / cycles);
            if *cores == 8 {
                eight.extend(over);
            }
            rows.push(vec![title(name, behind), cores.to_string(), number(Some(*cycles)), number(over)]);
        }
        let points = points.into_iter().map(|(cores, cycles)| (cores as f64, cycles)).collect();
        series.push(Series { name: title(name, behind), points, published: false });
    }
    let least = eight.iter().copied().fold(f64::INFINITY, f64::min);
    let most = eight.iter().copied().fold(0.0, f64::max);
    let sentence = match eight.is_empty() {
        true => "No function has its runs with one and with eight cores.".to_string(),
        false => format!(
            "A batch of 256 threads is {} to {} times as fast on eight cores as on one.",
            number(Some(least)),
            number(Some(most))
        ),
    };
    Ok(Section {
        title: "G-NET, figure 3: time of a batch by its cores".to_string(),
        sentence,
        plots: vec![Plot {
            title: format!("Cycles of 256 packets of {} bytes", bytes + 4),
            x: "cores".to_string(),
            x_scale: report::Scale::Linear,
            y: "cycles".to_string(),
            y_scale: report::Scale::Logarithmic,
            series,
        }],
        head: ["function", "cores", "cycles", "times as fast as on one"].map(str::to_string).to_vec(),
        rows,
        measured: how(results),
        assumed: ASSUMED.to_string(),
        differs: "The paper's batch goes to a GPU over PCIe; here packets stream, and the cycles are those from the start of a batch to the \
                  start of the next one. Its curves have no numbers in the text."
            .to_string(),
    })
}

fn cells_by_batch(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for bytes in sizes(scale) {
        cells.extend(profile_cells(*bytes)?);
    }
    Ok(cells)
}

/// GPU rates of the paper, section 2.2: million packets or Gbit/s, of 28 SMs.
fn published(name: &str) -> &'static str {
    match name {
        "router" => "840 Mpps",
        "firewall" => "70 Mpps",
        "nids" => "64 Gbit/s",
        _ => "32 Gbit/s",
    }
}

fn by_batch(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut times, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    let (mut of_line, mut of_lines) = (Vec::new(), Vec::new());
    for bytes in sizes(results.scale) {
        for (name, behind) in variants() {
            let points = points(results, name, behind, *bytes);
            let Some(linear) = Linear::fit(&points, LANES, 0.0) else { continue };
            let line = Cost::Linear(linear, LANES);
            let pairs: Vec<_> =
                points.iter().map(|point| (line.cycles(point.warps, point.cores), point.cycles)).collect();
            let (mean, worst) = errors(pairs.iter().copied());
            of_line.extend(pairs);
            let one: Vec<_> = points.iter().filter(|point| point.cores == 1).copied().collect();
            let left_out = one.windows(3).filter_map(|three| {
                let around = Cost::Measured(Measured::of(&[three[0], three[2]])?);
                Some((around.cycles(three[1].warps, 1), three[1].cycles))
            });
            of_lines.extend(left_out);
            let at = |cores: usize, warps: u32| {
                let found = points.iter().find(|point| (point.cores, point.warps) == (cores, warps));
                let rate = found.map(|point| f64::from(LANES * warps) * cores as f64 / point.cycles);
                rate.map(|rate| cores as f64 / rate)
            };
            let mut row = vec![title(name, behind), (bytes + 4).to_string()];
            row.extend(WARPS.map(|warps| number(at(1, warps))));
            row.extend(FURTHER.map(|cores| number(at(cores, knee(name)))));
            row.extend([linear.k1, linear.b1, linear.k2].map(|value| number(Some(value))));
            row.push(format!("{:.1} %, {:.1} %", 1e2 * mean, 1e2 * worst));
            row.push(published(name).to_string());
            rows.push(row);
            if *bytes == size(results.scale) {
                let of = |figure: &dyn Fn(f64, f64) -> f64| -> Vec<(f64, f64)> {
                    let threads = |warps: u32| f64::from(LANES * warps);
                    one.iter().map(|p| (threads(p.warps), figure(threads(p.warps), p.cycles))).collect()
                };
                let series = |points| Series { name: title(name, behind), points, published: false };
                times.push(series(of(&|_, cycles| cycles)));
                rates.push(series(of(&|threads, cycles| threads / cycles)));
            }
        }
    }
    let (line, lines) = (errors(of_line.iter().copied()), errors(of_lines.iter().copied()));
    let sentence = match of_line.is_empty() {
        true => "No function has its runs on one core.".to_string(),
        false => format!(
            "The paper's line is off by {:.1} % in the mean and at most {:.1} %; lines between the neighbours of a point are off by {:.1} % and \
             {:.1} %.",
            1e2 * line.0,
            1e2 * line.1,
            1e2 * lines.0,
            1e2 * lines.1
        ),
    };
    let plot = |y: &str, series| Plot {
        title: format!("{y} of one core by its threads, {} bytes", size(results.scale) + 4),
        x: "threads on the core".to_string(),
        x_scale: report::Scale::Linear,
        y: y.to_string(),
        y_scale: report::Scale::Logarithmic,
        series,
    };
    let mut head: Vec<_> = ["function", "bytes"].map(str::to_string).to_vec();
    head.extend(WARPS.map(|warps| format!("core-cycles, 1 core, {warps} warps")));
    head.extend(FURTHER.map(|cores| format!("{cores} cores, knee")));
    head.extend(["k1", "b1", "k2", "line off by (mean, most)", "GPU of the paper"].map(str::to_string));
    Ok(Section {
        title: "G-NET, figure 7: a core by its batch".to_string(),
        sentence,
        plots: vec![plot("cycles", times), plot("packets a cycle", rates)],
        head,
        rows,
        measured: how(results) + " A function has 1 to 4 cores, the others stand still; each slot is filled four times.",
        assumed: ASSUMED.to_string(),
        differs: "No PCIe: k2 is what further cores add through the L2 and the channels. GPU rates of the paper are those of all its SMs with \
                  their CPU cores left out (section 2.2)."
            .to_string(),
    })
}
