//! Figures 16 and 17: delays of the chains, and those of functions that take turns.

use hermes_testbench::metrics::Delays;

use super::{chain_cell, chains, how, number, percent, shown, ASSUMED, BATCH, CORES};
use crate::chains::TurnsOf;
use crate::figures::Results;
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};
use crate::results::ResultFile;

/// Figure 16.
pub const CDF: Experiment = Experiment {
    name: "gnet-fig16",
    summary: "distribution of the delays of the chains (G-NET, figure 16)",
    cells: cdf_cells,
    section: cdf,
};

/// Figure 17.
pub const AGAINST_TEMPORAL: Experiment = Experiment {
    name: "gnet-fig17",
    summary: "delays against those of functions that take turns (G-NET, figure 17)",
    cells: temporal_cells,
    section: against_temporal,
};

/// A chain with frames of 60 or 508 bytes: the split that the scheduler chose when this was
/// written, and 90 % of what turns carry, in Gbit/s with all that a frame takes on the wire, as a
/// plan must know them before anything is measured.
struct At {
    split: &'static [usize],
    gbps: [&'static str; 2],
}

fn at(chain: &str) -> At {
    match chain {
        "sa" => At { split: &[5, 3], gbps: ["10", "9"] },
        "sb" => At { split: &[1, 4, 3], gbps: ["9", "9"] },
        "sc" => At { split: &[4, 3, 1], gbps: ["10", "9"] },
        "sd" => At { split: &[1, 4, 2, 1], gbps: ["9", "9"] },
        _ => At { split: &[2, 1, 5], gbps: ["9", "9"] },
    }
}

fn bytes(scale: Scale) -> usize {
    match scale {
        Scale::Quick => 60,
        Scale::Full => 508,
    }
}

fn cells(scale: Scale, with_turns: bool) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for chain in chains() {
        let At { split, gbps } = at(chain.0);
        let gbps = gbps[usize::from(scale == Scale::Full)];
        let scheduled = |cell: Cell| {
            let mut labels = cell.labels;
            labels.insert("arrivals".to_string(), gbps.to_string());
            let arrivals = format!("constant:{gbps}");
            Cell { labels, parameters: Parameters { arrivals, ..cell.parameters } }
        };
        cells.push(scheduled(chain_cell(chain, bytes(scale), split, None, scale)?));
        if with_turns {
            let turns = TurnsOf { batch: BATCH, launch: 0 };
            let all = vec![CORES; chain.1.len()];
            cells.push(scheduled(chain_cell(chain, bytes(scale), &all, Some(turns), scale)?));
        }
    }
    Ok(cells)
}

fn cdf_cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    cells(scale, false)
}

fn temporal_cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    cells(scale, true)
}

fn delays<'a>(results: &'a Results, chain: &str, mode: &str) -> Option<(&'a ResultFile, &'a Delays)> {
    let bytes = bytes(results.scale).to_string();
    let found = results.with(&[("kind", "chain"), ("chain", chain), ("bytes", &bytes), ("mode", mode)])?;
    Some((found, found.measured.delays.as_ref()?))
}

fn cdf(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut series, mut medians) = (Vec::new(), Vec::new(), Vec::new());
    for (name, _) in chains() {
        let Some((result, delays)) = delays(results, name, "spatial") else { continue };
        let all: u64 = result.measured.histogram.iter().map(|(_, packets)| packets).sum();
        let mut below = 0;
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (delay, packets) in &result.measured.histogram {
            below += packets;
            let part = below as f64 / all.max(1) as f64;
            // A point for each percent.
            if points.last().is_none_or(|(_, last)| part >= last + 0.01) {
                points.push((*delay as f64 / 1e3, part));
            }
        }
        series.push(Series { name: shown(name), points, published: false });
        let d = &delays.delay;
        medians.push(format!("{} {}", shown(name), number(Some(d.p50 as f64 / 1e3))));
        rows.push(vec![
            shown(name),
            at(name).gbps[usize::from(results.scale == Scale::Full)].to_string(),
            number(Some(d.mean / 1e3)),
            number(Some(d.p50 as f64 / 1e3)),
            number(Some(d.p95 as f64 / 1e3)),
            number(Some(d.p99 as f64 / 1e3)),
        ]);
    }
    let sentence = match medians.is_empty() {
        true => "No chain has its runs.".to_string(),
        false => format!("Medians in microseconds at 1 GHz: {}.", medians.join(", ")),
    };
    Ok(Section {
        title: "G-NET, figure 16: delays of the chains".to_string(),
        sentence,
        plots: vec![Plot {
            title: format!("Delays, frames of {} bytes", bytes(results.scale) + 4),
            x: "microseconds at 1 GHz".to_string(),
            x_scale: report::Scale::Linear,
            y: "part of the packets".to_string(),
            y_scale: report::Scale::Linear,
            series,
        }],
        head: ["chain", "Gbit/s on the wire", "mean us", "p50", "p95", "p99"].map(str::to_string).to_vec(),
        rows,
        measured: how(results) + " Packets come evenly at about 90 % of what turns carry; delays are from arrival to commit.",
        assumed: ASSUMED.to_string(),
        differs: "The paper's delays are those of a client over a wire, with clusters from conflicts of DMA, which is not here.".to_string(),
    })
}

fn against_temporal(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut over) = (Vec::new(), [Vec::new(), Vec::new()]);
    let names: Vec<_> = chains().map(|(name, _)| shown(name)).collect();
    let mut told = Vec::new();
    for (number_of, (name, _)) in chains().enumerate() {
        let Some((_, own)) = delays(results, name, "spatial") else { continue };
        let Some((_, turns)) = delays(results, name, "turns 0") else { continue };
        let pairs = [(own.delay.p50, turns.delay.p50), (own.delay.p95, turns.delay.p95)];
        let ratios = pairs.map(|(own, turns)| own as f64 / turns.max(1) as f64);
        for (points, ratio) in over.iter_mut().zip(ratios) {
            points.push((number_of as f64, ratio));
        }
        told.push(format!("{} {}", shown(name), percent(Some(ratios[1]))));
        let mut row = vec![shown(name)];
        for ((own, turns), ratio) in pairs.into_iter().zip(ratios) {
            row.extend([
                number(Some(own as f64 / 1e3)),
                number(Some(turns as f64 / 1e3)),
                percent(Some(ratio)),
            ]);
        }
        rows.push(row);
    }
    let sentence = match told.is_empty() {
        true => "No chain has its runs.".to_string(),
        false => format!("p95 against turns: {}.", told.join(", ")),
    };
    let [p50, p95] = over;
    let series = vec![
        Series { name: "p50".to_string(), points: p50, published: false },
        // "around 20% higher" with turns: 16.7 % lower without.
        Series {
            name: "paper, p50".to_string(),
            points: vec![(0.0, 1.0 / 1.2), (3.0, 1.0 / 1.2)],
            published: true,
        },
        Series { name: "p95".to_string(), points: p95, published: false },
        // 25.5 to 44.3 % higher.
        Series {
            name: "paper, p95".to_string(),
            points: vec![(0.0, 1.0 / 1.255), (3.0, 1.0 / 1.443)],
            published: true,
        },
    ];
    Ok(Section {
        title: "G-NET, figure 17: delays against TemporalShare".to_string(),
        sentence,
        plots: vec![Plot {
            title: "Delay over that of functions that take turns".to_string(),
            x: "chain".to_string(),
            x_scale: report::Scale::Names(names),
            y: "times".to_string(),
            y_scale: report::Scale::Linear,
            series,
        }],
        head: ["chain", "p50 us", "in turns", "less or more", "p95 us", "in turns", "less or more"]
            .map(str::to_string)
            .to_vec(),
        rows,
        measured: how(results) + " Packets come evenly at the same rate to both, about 90 % of what turns carry.",
        assumed: ASSUMED.to_string(),
        differs: "The paper tells that with turns p50 is about 20 % and p95 25.5 to 44.3 % higher (section 7.6), at throughputs that differ."
            .to_string(),
    })
}
