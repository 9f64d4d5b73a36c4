//! Figure 10(b) of the ComP-Net paper: what those who serve an allreduce spend.

use super::energy::{needed, ratio, Busy, ASSUMED, RATIOS};
use super::fig10::{cell, labels_of, runs, LARGEST, MOST, NODES, SERVED, SIZES};
use super::name_of;
use crate::figures::{figure, Results};
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "compnet-fig10b",
    summary: "cycles of those who serve an allreduce, and the energy that follows (ComP-Net, figure 10b)",
    cells,
    section,
};

/// What the paper says of its energy, over the dGPU's and the APU's alike.
const CLAIM: f64 = 0.5;

/// The jobs of figure 10(a).
fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    runs(scale).into_iter().map(|(column, bytes, nodes)| cell(column, bytes, nodes)).collect()
}

fn busy(results: &Results, column: &str, bytes: u32, nodes: usize) -> Option<Busy> {
    let names = labels_of(column, bytes, nodes);
    let names: Vec<_> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Busy::of(results.with(&names)?)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let number = |value: Option<f64>| value.map_or("-".to_string(), figure);
    let (mut rows, mut plots) = (Vec::new(), Vec::new());
    for bytes in SIZES {
        let mut series = Vec::new();
        for column in SERVED {
            let mut points = Vec::new();
            for nodes in NODES {
                let Some(taken) = busy(results, column, bytes, nodes) else { continue };
                let of = |other: &str| Some(busy(results, other, bytes, nodes)?.cycles);
                let is_ours = taken.instructions.is_some();
                let (dgpu, apu) = (of("dgpu:low"), of("apu:middle"));
                points.extend(dgpu.map(|dgpu| (nodes as f64, taken.cycles / dgpu)));
                let of_ours = |other: Option<f64>, what: &dyn Fn(f64) -> f64| {
                    number(other.filter(|_| is_ours).map(what))
                };
                let mut row = vec![
                    bytes.to_string(),
                    nodes.to_string(),
                    name_of(column),
                    figure(taken.cycles),
                    number(taken.instructions),
                    number(taken.line_reads),
                ];
                row.extend(RATIOS.map(|e| of_ours(dgpu, &|other| ratio(taken.cycles, other, e))));
                row.push(of_ours(dgpu, &|other| needed(taken.cycles, other, CLAIM)));
                row.push(of_ours(apu, &|other| needed(taken.cycles, other, CLAIM)));
                rows.push(row);
            }
            if !points.is_empty() {
                series.push(Series { name: name_of(column), points, published: false });
            }
        }
        if !series.is_empty() {
            plots.push(Plot {
                title: format!("Allreduce of {bytes} bytes: busy cycles over those of the dGPU's thread"),
                x: "nodes".to_string(),
                x_scale: report::Scale::Linear,
                y: "times".to_string(),
                y_scale: report::Scale::Logarithmic,
                series,
            });
        }
    }
    let most = MOST;
    let over = |column: &str, bytes: u32| {
        Some(busy(results, column, bytes, most)?.cycles / busy(results, "dgpu:low", bytes, most)?.cycles)
    };
    let sentence = match (over("queues", SIZES[0]), over("queues", SIZES[1]), over("paper", SIZES[0])) {
        (Some(short), Some(long), Some(paper)) => format!(
            "On {most} nodes the harts of a node are awake for {} of the cycles of one polling host thread with {} bytes, for {} with {}; with firmware alone for {} with {} bytes.",
            figure(short),
            SIZES[0],
            figure(long),
            SIZES[1],
            figure(paper),
            SIZES[0]
        ),
        _ => "Not all columns were measured.".to_string(),
    };
    let mut head: Vec<String> = ["bytes", "nodes", "served by", "busy cycles", "instructions", "L2 reads"]
        .map(str::to_string)
        .to_vec();
    head.extend(RATIOS.map(|e| format!("of dGPU, e = {e}")));
    head.extend(["e for 1/2 of dGPU", "e for 1/2 of APU"].map(str::to_string));
    Ok(Section {
        title: "ComP-Net, figure 10(b): energy of service threads in an allreduce".to_string(),
        sentence,
        plots,
        head,
        rows,
        measured: format!(
            "The runs of figure 10(a): what four harts of node 0 do, or one thread of its host, from the moment at which the queues are served \
             until the kernel has ended, all rounds of a run (two, of {LARGEST} bytes one). A hart that waits in NEXT does not count."
        ),
        assumed: ASSUMED.to_string(),
        differs: "The paper has ComP-Net at half of the energy of dGPU and APU alike, with threads that poll on both sides."
            .to_string(),
    })
}
