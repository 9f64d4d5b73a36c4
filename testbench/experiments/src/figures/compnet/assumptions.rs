//! What each gain over the baseline is with single delays of it at 0: which assumption carries it.

use hermes_testbench::cluster::JacobiTimes;

use super::fig9::{DELAYS, SHOWN, SINGLE, SINGLE_SIZE};
use super::{fig10, fig8b, fig9, measured, BASELINES};
use crate::figures::{figure, labels, Results};
use crate::nodes::NodesMeasured;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "compnet-assumptions",
    summary: "each gain over a thread behind PCIe with single delays of it at 0 (ComP-Net, section 5)",
    cells,
    section,
};

/// A gain: its name, its runs, and their cycles.
struct Gain {
    name: &'static str,
    cell: fn(&str, Scale) -> anyhow::Result<Cell>,
    cycles: fn(&NodesMeasured) -> Option<f64>,
}

const GAINS: [Gain; 4] = [
    Gain { name: "get of eight bytes that waits", cell: get, cycles: |nodes| Some(nodes.rate?.call_mean) },
    Gain { name: "puts of eight bytes, all warps", cell: puts, cycles: of_a_command },
    Gain { name: "Jacobi, an iteration of 64 x 64 words, 8 nodes", cell: jacobi, cycles: of_an_iteration },
    Gain {
        name: "allreduce of 64 KB, 8 nodes",
        cell: allreduce,
        cycles: |nodes| nodes.allreduce.map(f64::from),
    },
];

fn get(column: &str, scale: Scale) -> anyhow::Result<Cell> {
    fig8b::cell(fig8b::KINDS[1], column, 1, 1, scale)
}

fn puts(column: &str, scale: Scale) -> anyhow::Result<Cell> {
    let warps = match scale {
        Scale::Quick => fig8b::QUICK_WARPS.last(),
        Scale::Full => fig8b::WARPS.last(),
    };
    fig8b::cell(fig8b::KINDS[0], column, 1, warps.copied().unwrap_or(1), scale)
}

fn jacobi(column: &str, _: Scale) -> anyhow::Result<Cell> {
    fig9::cell(column, SINGLE_SIZE, SHOWN)
}

fn allreduce(column: &str, _: Scale) -> anyhow::Result<Cell> {
    fig10::cell(column, fig10::SIZES[0], fig10::MOST)
}

fn of_a_command(nodes: &NodesMeasured) -> Option<f64> {
    nodes.rate.map(|rate| f64::from(rate.cycles) / rate.commands.max(1) as f64)
}

fn of_an_iteration(nodes: &NodesMeasured) -> Option<f64> {
    let times: &[JacobiTimes] = &nodes.iterations;
    fig9::means(times).map(|[all, ..]| all)
}

/// Ours, the baseline, and the baseline with each delay at 0.
fn columns() -> Vec<String> {
    let singles = DELAYS.iter().map(|delay| fig9::without(delay));
    ["queues", SINGLE].into_iter().map(str::to_string).chain(singles).collect()
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for gain in GAINS {
        for column in columns() {
            let Cell { parameters, .. } = (gain.cell)(&column, scale)?;
            let labels = labels(&[("gain", gain.name), ("column", &column)]);
            cells.push(Cell { labels, parameters });
        }
    }
    Ok(cells)
}

/// What of a gain is left: gains over the baseline with each delay at 0.
fn left(results: &Results, gain: &Gain) -> Option<(f64, Vec<Option<f64>>)> {
    let cycles = |column: &str| {
        let result = results.with(&[("gain", gain.name), ("column", column)])?;
        (gain.cycles)(measured(result)?)
    };
    let ours = cycles("queues")?;
    let all = cycles(SINGLE)? / ours;
    let singles = DELAYS.iter().map(|delay| Some(cycles(&fig9::without(delay))? / ours));
    Some((all, singles.collect()))
}

/// The delay that carries most of a gain, and how much of it, if there is a gain.
fn carries(all: f64, singles: &[Option<f64>]) -> Option<(&'static str, f64)> {
    let shares =
        DELAYS.iter().zip(singles).filter_map(|(delay, one)| Some((*delay, (all - (*one)?) / (all - 1.0))));
    shares.max_by(|one, other| one.1.total_cmp(&other.1)).filter(|(_, share)| all > 1.0 && *share > 0.0)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let number = |value: Option<f64>| value.map_or("-".to_string(), figure);
    let (mut rows, mut series, mut carried) = (Vec::new(), Vec::new(), Vec::new());
    for gain in &GAINS {
        let Some((all, singles)) = left(results, gain) else { continue };
        let most = carries(all, &singles);
        let mut row = vec![gain.name.to_string(), figure(all)];
        row.extend(singles.iter().map(|one| number(*one)));
        row.push(most.map_or("-".to_string(), |(delay, share)| format!("{delay}, {:.0} %", 100.0 * share)));
        rows.push(row);
        let points = std::iter::once(Some(all)).chain(singles).enumerate();
        let points: Vec<_> = points.filter_map(|(place, gain)| Some((place as f64, gain?))).collect();
        series.push(Series { name: gain.name.to_string(), points, published: false });
        carried.extend(most.map(|(delay, share)| format!("{}: {delay} ({:.0} %)", gain.name, 100.0 * share)));
    }
    let sentence = match carried.is_empty() {
        true => "Not all columns were measured.".to_string(),
        false => {
            format!("What carries most of each gain over dGPU with the low delays: {}.", carried.join("; "))
        }
    };
    let plots = match series.is_empty() {
        true => Vec::new(),
        false => vec![Plot {
            title: "Gains over dGPU with the low delays (0), and with one of them at 0".to_string(),
            x: format!("1 to 5: {} at 0", DELAYS.join(", ")),
            x_scale: report::Scale::Linear,
            y: "times".to_string(),
            y_scale: report::Scale::Linear,
            series,
        }],
    };
    let mut head = vec!["gain".to_string(), "over dGPU, low delays".to_string()];
    head.extend(DELAYS.map(|delay| format!("{delay} = 0")));
    head.push("carries most of it".to_string());
    Ok(Section {
        title: "ComP-Net: which assumption carries which gain".to_string(),
        sentence,
        plots,
        head,
        rows,
        measured: "Runs of the figures 8(b), 9 and 10, queues in hardware over a thread behind PCIe at its low delays, and over the same with a single delay \
                   at 0. The last column has the delay without which most of the gain (what is above 1) is gone, and its share of it."
            .to_string(),
        assumed: BASELINES.to_string(),
        differs: "The paper states no delay of PCIe, and has no such table.".to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_that_carries_most() {
        let singles = [Some(1.4), Some(1.1), None, Some(1.6), Some(1.5)];
        let (delay, share) = carries(1.5, &singles).unwrap();
        assert_eq!((delay, (share * 100.0).round()), ("poll", 80.0));
        assert_eq!(carries(0.9, &singles), None);
    }
}
