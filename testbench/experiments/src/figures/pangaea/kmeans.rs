//! k-means on both sides at once (Pangaea, section 6): what hart and cores do when.

use hermes_testbench::golden::media::MediaKernel;

use super::{baseline, media, number, parameters, scalar_cells, serial, size, with_l2, LATENCY};
use crate::figures::{labels, Results};
use crate::media::MediaProgram;
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "pangaea-kmeans",
    summary: "k-means on cores and hart at once: time-line of both (Pangaea, section 6)",
    cells,
    section,
};

const KERNEL: MediaKernel = MediaKernel::Kmeans;

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = scalar_cells(KERNEL, scale, LATENCY)?;
    let base = parameters(KERNEL, MediaProgram::Lanes, size(scale))?;
    let array = with_l2(base.array.clone(), scale);
    let labels = labels(&[("kernel", KERNEL.name()), ("program", "lanes")]);
    cells.push(Cell { labels, parameters: Parameters { array, ..base } });
    Ok(cells)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let found = results.with(&[("kernel", KERNEL.name()), ("program", "lanes")]).and_then(media);
    let times = found.map(|found| found.times.clone()).unwrap_or_default();
    let part = |at: usize| at as f64 + 1.0;
    let series = [("started", 0), ("end seen by the hart", 1), ("added up", 2)].map(|(name, which)| Series {
        name: name.to_string(),
        points: times.iter().enumerate().map(|(at, times)| (f64::from(times[which]), part(at))).collect(),
        published: false,
    });
    let rows = times
        .iter()
        .enumerate()
        .map(|(at, [start, end, added])| {
            vec![(at + 1).to_string(), start.to_string(), end.to_string(), added.to_string()]
        })
        .collect();
    let cycles = found.map(|found| f64::from(found.pass().cycles));
    let scalar = baseline(results, KERNEL, LATENCY).map(|(cycles, _)| cycles);
    let serial = serial(results, KERNEL);
    let speed_up = scalar.zip(cycles).map(|(scalar, cycles)| scalar / cycles);
    let bound = scalar.zip(serial).map(|(scalar, serial)| scalar / serial);
    Ok(Section {
        title: "Pangaea: k-means on both sides".to_string(),
        sentence: match (speed_up, bound) {
            (Some(speed_up), Some(bound)) => format!(
                "k-means is {} times as fast as on a hart alone; the sums, which the hart makes, allow {}.",
                number(Some(speed_up)),
                number(Some(bound))
            ),
            _ => "k-means lacks a run.".to_string(),
        },
        plots: vec![Plot {
            title: "Parts of the points, in the order of their start".to_string(),
            x: "cycles behind the start".to_string(),
            x_scale: report::Scale::Linear,
            y: "part".to_string(),
            y_scale: report::Scale::Linear,
            series: series.to_vec(),
        }],
        head: ["part", "started", "end seen by the hart", "added up"].map(str::to_string).to_vec(),
        rows,
        measured: "Two rounds of four jobs. The hart starts all four, sleeps until the first has ended, and adds up a part while the cores search \
                   for those behind it."
            .to_string(),
        assumed: "Points from seed 1, spread evenly.".to_string(),
        differs: "The paper has 1.9 against a CPU with 4-wide SIMD; that column is in figure 5.".to_string(),
    })
}
