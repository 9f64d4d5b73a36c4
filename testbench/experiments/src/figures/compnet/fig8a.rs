//! Figure 8(a) of the ComP-Net paper: latency of a get by its size.

use super::{measured, stated, BASELINES, COLUMNS, QUICK_COLUMNS};
use crate::figures::{figure, labels, Results};
use crate::nodes::{Benchmark, Nodes, SizeTimes};
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "compnet-fig8a",
    summary: "latency of a get by its size, by who serves it (ComP-Net, figure 8a)",
    cells,
    section,
};

/// Gets of a size, and the largest as a power of two.
const ROUNDS: (u32, u32) = (4, 20);
const QUICK_ROUNDS: (u32, u32) = (3, 14);
/// Bytes of the get whose ratio the text tells, by the power of two that the kernel takes.
const SHORT: u32 = 4;

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (columns, (rounds, most_log2)) = match scale {
        Scale::Quick => (&QUICK_COLUMNS[..], QUICK_ROUNDS),
        Scale::Full => (&COLUMNS[..], ROUNDS),
    };
    let cell = |(column, _): &(&str, &str)| {
        let benchmark = Benchmark::GetSizes { most_log2, rounds };
        let nodes = Nodes { benchmark, nodes: 2, column: (*column).to_string(), threads: 1, counted: false };
        Ok(Cell { labels: labels(&[("column", column)]), parameters: Parameters::of_nodes(nodes, 1, 4)? })
    };
    columns.iter().map(cell).collect()
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let sizes = |column: &str| -> Vec<SizeTimes> {
        let result = results.with(&[("column", column)]);
        result.and_then(measured).map(|nodes| nodes.sizes.clone()).unwrap_or_default()
    };
    let at =
        |sizes: &[SizeTimes], bytes: u32| sizes.iter().find(|one| one.bytes == bytes).map(|one| one.mean);
    let ours = sizes("queues");
    let largest = ours.last().map_or(0, |size| size.bytes);
    let (mut rows, mut series) = (Vec::new(), Vec::new());
    let ratio = |of: &[SizeTimes], bytes: u32| Some(at(of, bytes)? / at(&ours, bytes)?);
    for (column, name) in COLUMNS {
        let of_column = sizes(column);
        let (Some(first), Some(last)) = (of_column.first(), of_column.last()) else { continue };
        let points = of_column.iter().map(|size| (f64::from(size.bytes), size.mean)).collect();
        series.push(Series { name: name.to_string(), points, published: false });
        let number = |value: Option<f64>| value.map_or("-".to_string(), figure);
        rows.push(vec![
            name.to_string(),
            figure(first.mean),
            number(at(&of_column, SHORT)),
            figure(last.mean),
            number(ratio(&of_column, SHORT)),
            number(ratio(&of_column, largest)),
            stated(column).map_or("-".to_string(), |cycles| cycles.to_string()),
        ]);
    }
    let (low, middle) = (sizes("dgpu:low"), sizes("dgpu:middle"));
    let sentence = match (ratio(&low, SHORT), ratio(&low, largest)) {
        (Some(short), Some(long)) => format!(
            "A get of {SHORT} bytes takes {} times as long where a thread behind PCIe serves it, with the low delays{}; one of {largest} bytes {} times.",
            figure(short),
            ratio(&middle, SHORT).map_or(String::new(), |ratio| format!(" ({} with the middle ones)", figure(ratio))),
            figure(long)
        ),
        _ => "Not all columns were measured.".to_string(),
    };
    let plots = match series.is_empty() {
        true => Vec::new(),
        false => vec![Plot {
            title: "Latency of a blocking get".to_string(),
            x: "bytes".to_string(),
            x_scale: report::Scale::Logarithmic,
            y: "cycles".to_string(),
            y_scale: report::Scale::Logarithmic,
            series,
        }],
    };
    let head = [
        "served by",
        "1 byte, cycles",
        "4 bytes",
        "largest",
        "4 bytes, over queues",
        "largest, over queues",
        "sum of the delays",
    ];
    Ok(Section {
        title: "ComP-Net, figure 8(a): latency of gets".to_string(),
        sentence,
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "One warp of one of two nodes, from the call of hermes_get until the bytes are in the heap; mean of all gets of a size but the \
                   first. Links of 100 Gbit/s and 100 cycles each way, packets of 4,096 bytes. Every byte is compared."
            .to_string(),
        assumed: BASELINES.to_string(),
        differs: "The paper's sizes are those of its GPU's memory, its latencies those of gem5 at other clocks; it has its dGPU at more than \
                  twice its own design for short gets, and equal for 1 MB."
            .to_string(),
    })
}
