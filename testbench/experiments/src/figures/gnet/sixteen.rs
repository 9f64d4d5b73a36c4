//! The chains on sixteen cores, against the bound of all work: with eight, whole cores are coarse.

use hermes_testbench::chain::paper::CHAINS;
use hermes_testbench::chain::schedule::{every_split, fair_split};

use super::{behind, demands, predicted};
use super::{
    chain_cell, how, in_words, knee, measured, number, percent, point, profile_cells, shown, sizes, Name,
    ASSUMED, LANES,
};
use crate::chains::core_cycles;
use crate::figures::Results;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// Sixteen cores.
pub const EXPERIMENT: Experiment = Experiment {
    name: "gnet-16",
    summary: "the chains on 16 cores, against the bound of all work",
    cells,
    section,
};

/// Cores of the array.
const CORES: usize = 16;
/// The mode of these runs in their labels.
const MODE: &str = "sixteen";

/// The chains: with `--quick` the longest one.
fn chains(scale: Scale) -> impl Iterator<Item = Name> {
    CHAINS.into_iter().filter(move |(name, _)| scale == Scale::Full || *name == "sd")
}

/// The splits that are run: the even one; the best one by the estimates of jobs, which a plan must
/// know before anything is measured; and at full scale those with a core moved between the two
/// functions that have most.
fn splits(chain: Name, bytes: usize, scale: Scale) -> Vec<Vec<usize>> {
    let count = chain.1.len();
    let carries = |cores: &Vec<usize>| {
        let each = cores.iter().zip(chain.1).map(|(cores, name)| *cores as f64 / core_cycles(name, bytes));
        each.fold(f64::INFINITY, f64::min)
    };
    let best = every_split(count, CORES).into_iter().max_by(|a, b| carries(a).total_cmp(&carries(b)));
    let best = best.unwrap_or_default();
    let mut splits = vec![fair_split(count, CORES), best.clone()];
    let mut most: Vec<_> = (0..count).collect();
    most.sort_by_key(|at| std::cmp::Reverse(best[*at]));
    if let (Scale::Full, [a, b, ..]) = (scale, &most[..]) {
        for (from, to) in [(*a, *b), (*b, *a)] {
            let mut moved = best.clone();
            if moved[from] > 1 {
                (moved[from], moved[to]) = (moved[from] - 1, moved[to] + 1);
                splits.push(moved);
            }
        }
    }
    let mut once: Vec<Vec<usize>> = Vec::new();
    for cores in splits {
        if !once.contains(&cores) {
            once.push(cores);
        }
    }
    once
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for bytes in sizes(scale) {
        cells.extend(profile_cells(*bytes)?);
        for chain in chains(scale) {
            for cores in splits(chain, *bytes, scale) {
                let mut cell = chain_cell(chain, *bytes, &cores, None, scale)?;
                cell.parameters.array.cores = CORES;
                cell.labels.insert("mode".to_string(), MODE.to_string());
                cells.push(cell);
            }
        }
    }
    Ok(cells)
}

/// Packets a cycle of sixteen cores that are never idle, by what the functions take on one core.
fn bound(results: &Results, chain: Name, bytes: usize) -> Option<f64> {
    let each = |(number, name): (usize, &&'static str)| {
        let point = point(results, name, behind(chain.1, number), bytes, 1, knee(name))?;
        Some(point.cycles / f64::from(LANES * knee(name)))
    };
    let sum: f64 = chain.1.iter().enumerate().map(each).sum::<Option<f64>>()?;
    Some(CORES as f64 / sum)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut series, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for chain in chains(results.scale) {
        let mut points = Vec::new();
        for bytes in sizes(results.scale) {
            let fair = fair_split(chain.1.len(), CORES);
            let at = |cores: &Vec<usize>| measured(results, chain.0, *bytes, MODE, cores);
            let of_fair = at(&fair).map(|run| run.rate());
            let bound = bound(results, chain, *bytes);
            let demands = demands(results, chain.1, *bytes, false);
            let splits = splits(chain, *bytes, results.scale);
            let run: Vec<_> = splits.iter().filter_map(|cores| Some((cores, at(cores)?))).collect();
            let best = run.iter().map(|(_, run)| run.rate()).fold(0.0, f64::max);
            for (cores, run) in run {
                let of_bound = bound.map(|bound| run.rate() / bound);
                if run.rate() >= best {
                    points.extend(of_bound.map(|part| ((bytes + 4) as f64, part)));
                    if chain.0 == "sd" {
                        parts.extend(of_bound);
                    }
                }
                let off = demands.as_ref().map(|demands| predicted(demands, cores) / run.rate());
                rows.push(vec![
                    shown(chain.0),
                    (bytes + 4).to_string(),
                    in_words(cores),
                    number(Some(1e3 * run.rate())),
                    number(Some(run.gbps())),
                    number(of_bound),
                    percent(of_fair.map(|fair| run.rate() / fair)),
                    percent(off),
                ]);
            }
        }
        series.push(Series { name: shown(chain.0), points, published: false });
    }
    let sentence = match parts.iter().copied().reduce(f64::min) {
        None => "Sd has no run with the profiles of its functions.".to_string(),
        Some(least) => format!(
            "Sd has at least {} of what sixteen cores that are never idle would carry, by the profiles.",
            number(Some(least))
        ),
    };
    let head = [
        "chain",
        "bytes",
        "cores",
        "million packets/s",
        "Gbit/s",
        "of the work bound",
        "over the even split",
        "prediction off",
    ];
    Ok(Section {
        title: "G-NET on sixteen cores".to_string(),
        sentence,
        plots: vec![Plot {
            title: "The best split that was run".to_string(),
            x: "bytes of a frame".to_string(),
            x_scale: report::Scale::Linear,
            y: "part of the work bound".to_string(),
            y_scale: report::Scale::Linear,
            series,
        }],
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: how(results).replace("8 cores", "16 cores")
            + " The work bound is 16 over the sum of the core-cycles of the functions, each by itself on one core with the warps of its knee. \
               The splits are the even one, the best one by estimates, and those with a core moved between the two largest functions.",
        assumed: ASSUMED.to_string(),
        differs: "The paper has 28 SMs; it does not vary them for chains.".to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_possible() {
        let longest = CHAINS.into_iter().find(|(name, _)| *name == "sd").unwrap();
        assert_eq!(splits(longest, 508, Scale::Quick).len(), 2);
        let all = splits(longest, 508, Scale::Full);
        assert_eq!((all.len(), &all[0]), (4, &vec![4; 4]));
        for (scale, sizes) in [(Scale::Quick, 1), (Scale::Full, 3)] {
            let cells = cells(scale).unwrap();
            let chains = cells.iter().filter(|cell| cell.labels["kind"] == "chain");
            let mut count = 0;
            for cell in chains {
                cell.parameters.validate().unwrap();
                assert_eq!(cell.parameters.array.cores, 16);
                let cores = &cell.parameters.chain.as_ref().unwrap().cores;
                assert_eq!(cores.iter().sum::<usize>(), 16, "{:?}", cell.labels);
                count += 1;
            }
            assert!(count >= 2 * sizes, "{count}");
        }
    }
}
