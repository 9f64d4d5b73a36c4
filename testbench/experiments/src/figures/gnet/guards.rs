//! Figure 15: what the guards of functions cost, in cycles.

use hermes_testbench::chain::schedule::fair_split;

use super::{chain_cell, chains, how, in_words, number, percent, shown, sizes, Name, ASSUMED, CORES};
use crate::figures::Results;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// Figure 15.
pub const EXPERIMENT: Experiment = Experiment {
    name: "gnet-fig15",
    summary: "cycles with guards tight and open (G-NET, figure 15)",
    cells,
    section,
};

/// What the paper's software guards cost in throughput, least and most (section 7.5), in percent.
const PUBLISHED: (f64, f64) = (2.8, 4.5);

/// A run with an even split, with guards or without.
fn cell(chain: Name, bytes: usize, open: bool, scale: Scale) -> anyhow::Result<Cell> {
    let fair = fair_split(chain.1.len(), CORES);
    let mut cell = chain_cell(chain, bytes, &fair, None, scale)?;
    if let (true, Some(run)) = (open, &mut cell.parameters.chain) {
        run.open = true;
        cell.labels.insert("mode".to_string(), "open".to_string());
    }
    Ok(cell)
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for bytes in sizes(scale) {
        for chain in chains() {
            for open in [false, true] {
                cells.push(cell(chain, *bytes, open, scale)?);
            }
        }
    }
    Ok(cells)
}

/// The cycles of a run.
fn cycles(results: &Results, chain: Name, bytes: usize, mode: &str) -> Option<u64> {
    let fair = in_words(&fair_split(chain.1.len(), CORES));
    let wanted = [
        ("kind", "chain"),
        ("chain", chain.0),
        ("bytes", &bytes.to_string()[..]),
        ("mode", mode),
        ("cores", &fair[..]),
    ];
    Some(results.with(&wanted)?.measured.whole.cycles)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut points, mut more) = (Vec::new(), Vec::new(), Vec::new());
    let names: Vec<_> = chains().map(|(name, _)| shown(name)).collect();
    for (at, chain) in chains().enumerate() {
        let mut ratios = Vec::new();
        for bytes in sizes(results.scale) {
            let [tight, open] = ["spatial", "open"].map(|mode| cycles(results, chain, *bytes, mode));
            let (Some(tight), Some(open)) = (tight, open) else { continue };
            let ratio = tight as f64 / open.max(1) as f64;
            ratios.push(ratio);
            more.push(tight as i64 - open as i64);
            rows.push(vec![
                shown(chain.0),
                (bytes + 4).to_string(),
                in_words(&fair_split(chain.1.len(), CORES)),
                tight.to_string(),
                open.to_string(),
                (tight as i64 - open as i64).to_string(),
                percent(Some(ratio)),
            ]);
        }
        if !ratios.is_empty() {
            points.push((at as f64, 1e2 * (ratios.iter().sum::<f64>() / ratios.len() as f64 - 1.0)));
        }
    }
    let sentence = match more.iter().max() {
        None => "No chain has both of its runs.".to_string(),
        Some(0) if more.iter().all(|more| *more == 0) => {
            "With guards the chains take as many cycles as without, in every run.".to_string()
        }
        Some(most) => format!("With guards the chains take at most {most} cycles more than without."),
    };
    let last = names.len() as f64 - 2.0;
    let mut series = vec![Series { name: "here".to_string(), points, published: false }];
    series.extend([("paper, least", PUBLISHED.0), ("paper, most", PUBLISHED.1)].map(|(name, percent)| {
        Series { name: name.to_string(), points: vec![(0.0, percent), (last, percent)], published: true }
    }));
    Ok(Section {
        title: "G-NET, figure 15: the cost of guards".to_string(),
        sentence,
        plots: vec![Plot {
            title: "More cycles with guards".to_string(),
            x: "chain".to_string(),
            x_scale: report::Scale::Names(names),
            y: "percent".to_string(),
            y_scale: report::Scale::Linear,
            series,
        }],
        head: ["chain", "bytes", "cores", "cycles, guarded", "cycles, open", "more", "percent"]
            .map(str::to_string)
            .to_vec(),
        rows,
        measured: how(results)
            + " Each chain has an even split. Guarded functions reach the packets of their warp, their region and their stack alone, and \
               fetch from their region; open ones reach every packet and fetch from anywhere.",
        assumed: ASSUMED.to_string(),
        differs: format!(
            "The paper checks pointers in software, by a base and a size that travel with each; that costs {} to {} % of the throughput. Here \
             comparators stand beside the adder of each lane: their price is area (hermes bench cost with and without --network-functions).",
            number(Some(PUBLISHED.0)),
            number(Some(PUBLISHED.1))
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pair of runs for each chain and size that differ in the guards alone.
    #[test]
    fn runs_differ_in_the_guards_alone() {
        for (scale, sizes) in [(Scale::Quick, 1), (Scale::Full, 3)] {
            let cells = cells(scale).unwrap();
            assert_eq!(cells.len(), 2 * 5 * sizes);
            for pair in cells.chunks(2) {
                let [mut tight, open] = [0, 1].map(|at| pair[at].parameters.clone());
                tight.validate().unwrap();
                open.validate().unwrap();
                assert_ne!(tight, open);
                tight.chain.as_mut().unwrap().open = true;
                assert_eq!(tight, open);
                assert_eq!(pair[0].labels["mode"], "spatial");
                assert_eq!(pair[1].labels, {
                    let mut labels = pair[0].labels.clone();
                    labels.insert("mode".to_string(), "open".to_string());
                    labels
                });
            }
        }
    }
}
