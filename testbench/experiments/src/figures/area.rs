//! What the control path stores (Hermes, section 3.3.2).

use super::{labels, Results, QUICK_PACKETS};
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::Section;

/// The experiment. It computes; a run stands for the array that it is of.
pub const EXPERIMENT: Experiment = Experiment {
    name: "hermes-area",
    summary: "storage of task FIFO, delay commit queue and look-up table",
    cells,
    section,
};

fn cells(_: Scale) -> anyhow::Result<Vec<Cell>> {
    let parameters = Parameters { packets: QUICK_PACKETS, ..Parameters::of("dec-ttl")? };
    Ok(vec![Cell { labels: labels(&[("app", "dec-ttl")]), parameters }])
}

/// Entries of task FIFO and delay commit queue.
const ENTRIES: u64 = 1_024;

fn section(results: &Results) -> anyhow::Result<Section> {
    let Some((_, result)) = results.found().next() else {
        return Ok(Section { title: "Storage of the control path".to_string(), ..Section::default() });
    };
    let array = &result.job.parameters.array;
    let slots = (array.cores * array.warps) as u64;
    let index_bits = u64::from(ENTRIES.ilog2());
    // Rows: what, entries, bits here; entries and bits in the paper.
    let parts = [
        ("task FIFO", ENTRIES, 32, "1,024 x 32 bit", 4_096.0),
        ("delay commit queue", ENTRIES, 17, "1,024 x 8 bit", 1_024.0),
        ("look-up table", slots, index_bits, "8 cores x 32 x 16 bit", 512.0),
    ];
    let bytes = |entries: u64, bits: u64| (entries * bits) as f64 / 8.0;
    let mut rows: Vec<_> = parts
        .iter()
        .map(|(name, entries, bits, paper, of_paper)| {
            vec![
                (*name).to_string(),
                format!("{entries} x {bits} bit"),
                format!("{:.2} KB", bytes(*entries, *bits) / 1024.0),
                (*paper).to_string(),
                format!("{:.2} KB", of_paper / 1024.0),
            ]
        })
        .collect();
    let sum: f64 = parts.iter().map(|(_, entries, bits, _, _)| bytes(*entries, *bits)).sum();
    let of_paper: f64 = parts.iter().map(|part| part.4).sum();
    let (ours, theirs) = (format!("{:.2} KB", sum / 1024.0), format!("{:.2} KB", of_paper / 1024.0));
    let nothing = || "-".to_string();
    rows.push(vec!["all".to_string(), nothing(), ours.clone(), nothing(), theirs.clone()]);
    let head = ["part", "here", "size", "paper", "size"];
    Ok(Section {
        title: "Storage of the control path".to_string(),
        sentence: format!("Task FIFO, delay commit queue and look-up table have {ours}; the paper's have {theirs}."),
        plots: Vec::new(),
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "Computed from the configuration; `hermes fpga report` counts the LUTs, flip-flops and block RAMs of the whole \
                   control path by Yosys."
            .to_string(),
        assumed: String::new(),
        differs: "An entry of the queue has core, slot and packets of its warp (16 bits), and a flag with the lap in which it \
                  finished, so that a commit takes the same time however many warps wait; the paper's traverses the \
                  queue. The paper computes areas with CACTI."
            .to_string(),
    })
}
