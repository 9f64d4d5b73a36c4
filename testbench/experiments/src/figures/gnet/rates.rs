//! Figures 10, 11 and 13: rates of the chains by the size of frames, against turns, and against an
//! even split; and how good the choice of the scheduler is.

use hermes_testbench::chain::schedule::fair_split;

use super::{
    chain_cell, chains, choice, chosen, demands, fed_back, how, in_words, measured, number, percent,
    predicted, profile_cells, shown, sizes, splits, whole_rate, ASSUMED, BATCH, CORES,
};
use crate::chains::{ChainMeasured, TurnsOf};
use crate::figures::Results;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// Figure 10.
pub const BY_SIZE: Experiment = Experiment {
    name: "gnet-fig10",
    summary: "throughput of the chains by the size of frames (G-NET, figure 10)",
    cells: spatial_cells,
    section: by_size,
};

/// Figure 11.
pub const OVER_TEMPORAL: Experiment = Experiment {
    name: "gnet-fig11",
    summary: "throughput over that of functions that take turns (G-NET, figure 11)",
    cells: temporal_cells,
    section: over_temporal,
};

/// Figure 13.
pub const OVER_FAIR: Experiment = Experiment {
    name: "gnet-fig13",
    summary: "throughput over that of an even split, and the choice against all splits (G-NET, figure 13)",
    cells: spatial_cells,
    section: over_fair,
};

/// Cycles of a launch: what hardware takes, and what a host might.
fn launches(scale: Scale) -> &'static [u64] {
    match scale {
        Scale::Quick => &[0],
        Scale::Full => &[0, 1_000, 5_000],
    }
}

fn spatial_cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for bytes in sizes(scale) {
        cells.extend(profile_cells(*bytes)?);
        for chain in chains() {
            for cores in splits(chain.0, chain.1.len(), scale) {
                cells.push(chain_cell(chain, *bytes, &cores, None, scale)?);
            }
        }
    }
    Ok(cells)
}

fn temporal_cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = spatial_cells(scale)?;
    for bytes in sizes(scale) {
        for chain in chains() {
            for launch in launches(scale) {
                let turns = TurnsOf { batch: BATCH, launch: *launch };
                let cores = vec![CORES; chain.1.len()];
                cells.push(chain_cell(chain, *bytes, &cores, Some(turns), scale)?);
            }
        }
    }
    Ok(cells)
}

/// The run of a chain with the split that the scheduler chose.
fn gnet<'a>(
    results: &'a Results,
    chain: (&'static str, &'static [&'static str]),
    bytes: usize,
) -> Option<(Vec<usize>, &'a ChainMeasured)> {
    let cores = chosen(results, chain, bytes)?;
    let run = measured(results, chain.0, bytes, "spatial", &cores)?;
    Some((cores, run))
}

fn plot(title: &str, y: &str, series: Vec<Series>) -> Plot {
    Plot {
        title: title.to_string(),
        x: "bytes of a frame".to_string(),
        x_scale: report::Scale::Linear,
        y: y.to_string(),
        y_scale: report::Scale::Linear,
        series,
    }
}

fn by_size(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut series) = (Vec::new(), Vec::new());
    let mut best: Vec<String> = Vec::new();
    for chain in chains() {
        let mut points = Vec::new();
        for bytes in sizes(results.scale) {
            let Some((cores, run)) = gnet(results, chain, *bytes) else { continue };
            points.push(((*bytes + 4) as f64, run.gbps()));
            rows.push(vec![
                shown(chain.0),
                (bytes + 4).to_string(),
                in_words(&cores),
                number(Some(1e3 * run.rate())),
                number(Some(run.gbps())),
            ]);
        }
        best.extend(points.last().map(|(_, gbps)| format!("{} {}", shown(chain.0), number(Some(*gbps)))));
        series.push(Series { name: shown(chain.0), points, published: false });
        // Section 7.2 tells two numbers, both for frames of 1,518 bytes.
        let told = [("sa", 11.8), ("sd", 9.1)].into_iter().find(|(name, _)| *name == chain.0);
        series.extend(told.map(|(name, gbps)| Series {
            name: format!("{} in the paper", shown(name)),
            points: vec![(1518.0, gbps)],
            published: true,
        }));
    }
    let sentence = match best.is_empty() {
        true => "No chain has its runs.".to_string(),
        false => format!("With the largest frames that were run, Gbit/s: {}.", best.join(", ")),
    };
    Ok(Section {
        title: "G-NET, figure 10: throughput by the size of frames".to_string(),
        sentence,
        plots: vec![plot("Throughput of the chains", "Gbit/s", series)],
        head: ["chain", "bytes", "cores", "million packets/s", "Gbit/s"].map(str::to_string).to_vec(),
        rows,
        measured: how(results),
        assumed: ASSUMED.to_string(),
        differs: "8 cores of 32 lanes at 1 GHz instead of 28 SMs with CPU cores around them: the paper's bottleneck lies in its CPU \
                  (section 7.3). The last chain is not in the paper."
            .to_string(),
    })
}

fn over_temporal(results: &Results) -> anyhow::Result<Section> {
    /// What section 7.3 tells: up to so many percent.
    const PUBLISHED: [(&str, f64); 4] = [("sa", 1.238), ("sb", 1.259), ("sc", 1.215), ("sd", 1.708)];
    let (mut rows, mut means) = (Vec::new(), Vec::new());
    let mut points: Vec<Vec<(f64, f64)>> = vec![Vec::new(); launches(results.scale).len()];
    let names: Vec<_> = chains().map(|(name, _)| shown(name)).collect();
    for (at, chain) in chains().enumerate() {
        let turned = vec![CORES; chain.1.len()];
        for (launch, points) in launches(results.scale).iter().zip(&mut points) {
            let mut ratios = Vec::new();
            for bytes in sizes(results.scale) {
                let mode = format!("turns {launch}");
                let Some((cores, _)) = gnet(results, chain, *bytes) else { continue };
                let own = whole_rate(results, chain.0, *bytes, "spatial", &cores);
                let turns = whole_rate(results, chain.0, *bytes, &mode, &turned);
                let (Some(own), Some(turns)) = (own, turns) else { continue };
                let ratio = own / turns;
                ratios.push(ratio);
                rows.push(vec![
                    shown(chain.0),
                    (bytes + 4).to_string(),
                    launch.to_string(),
                    in_words(&cores),
                    number(Some(1e3 * own)),
                    number(Some(1e3 * turns)),
                    percent(Some(ratio)),
                ]);
            }
            if !ratios.is_empty() {
                let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
                points.push((at as f64, mean));
                if *launch == 0 {
                    means.push(format!("{} {}", shown(chain.0), percent(Some(mean))));
                }
            }
        }
    }
    let mut series: Vec<_> = launches(results.scale)
        .iter()
        .zip(points)
        .map(|(launch, points)| Series {
            name: format!("launch of {launch} cycles"),
            points,
            published: false,
        })
        .collect();
    series.push(Series {
        name: "paper, most".to_string(),
        points: PUBLISHED.iter().enumerate().map(|(at, (_, ratio))| (at as f64, *ratio)).collect(),
        published: true,
    });
    let sentence = match means.is_empty() {
        true => "No chain has its runs.".to_string(),
        false => format!(
            "Over turns that cost what the hardware takes, in the mean over the sizes: {}.",
            means.join(", ")
        ),
    };
    Ok(Section {
        title: "G-NET, figure 11: throughput over TemporalShare".to_string(),
        sentence,
        plots: vec![Plot {
            x: "chain".to_string(),
            x_scale: report::Scale::Names(names),
            ..plot("Throughput over functions that take turns", "times", series)
        }],
        head: ["chain", "bytes", "launch", "cores", "Mpackets/s", "in turns", "more"].map(str::to_string).to_vec(),
        rows,
        measured: how(results)
            + &format!(
                " In turns all cores are of one function until {BATCH} warps of it have started, or none is left: the host writes CORE_NF upon \
                 trace events. Rates here are those of whole runs, with start and end. Without a launch cores go over one by one; with one the host waits so many cycles behind the last finish."
            ),
        assumed: ASSUMED.to_string(),
        differs: "The paper gives no cost of a switch, and tells the most of all sizes.".to_string(),
    })
}

fn over_fair(results: &Results) -> anyhow::Result<Section> {
    /// Section 7.4: the averages of the chains lie between these.
    const PUBLISHED: (f64, f64) = (1.167, 1.340);
    let (mut rows, mut points, mut means) = (Vec::new(), Vec::new(), Vec::new());
    let (mut off, mut of_best, mut off_again) = (Vec::new(), Vec::new(), Vec::new());
    let names: Vec<_> = chains().map(|(name, _)| shown(name)).collect();
    for (at, chain) in chains().enumerate() {
        let fair = fair_split(chain.1.len(), CORES);
        let mut ratios = Vec::new();
        for bytes in sizes(results.scale) {
            let Some((cores, run)) = gnet(results, chain, *bytes) else { continue };
            let of_fair =
                measured(results, chain.0, *bytes, "spatial", &fair).map(|fair| run.rate() / fair.rate());
            ratios.extend(of_fair);
            let of = |linear| {
                let demands = demands(results, chain.1, *bytes, linear)?;
                Some(predicted(&demands, &cores) / run.rate())
            };
            let (interpolated, linear) = (of(false), of(true));
            // By what the run of the even split has shown, if that is another one.
            let again = fed_back(results, chain, *bytes, &fair).filter(|_| cores != fair);
            let again = again.map(|demands| predicted(&demands, &cores) / run.rate());
            off_again.extend(again.map(|ratio| (ratio - 1.0).abs()));
            off.extend(interpolated.map(|ratio| (ratio - 1.0).abs()));
            let every = splits(chain.0, chain.1.len(), results.scale);
            let every = every.iter().filter_map(|cores| {
                Some((measured(results, chain.0, *bytes, "spatial", cores)?.rate(), cores.clone()))
            });
            let best = every.max_by(|a, b| a.0.total_cmp(&b.0));
            of_best.extend(best.as_ref().map(|(rate, _)| run.rate() / rate));
            let asked = choice(results, chain.1, *bytes);
            let asked = asked.map(|split| split.shares.iter().map(|share| share.cores).collect::<Vec<_>>());
            rows.push(vec![
                shown(chain.0),
                (bytes + 4).to_string(),
                asked.as_deref().map_or_else(|| "-".to_string(), in_words),
                in_words(&cores),
                number(Some(run.gbps())),
                percent(interpolated),
                percent(linear),
                percent(again),
                percent(of_fair),
                best.as_ref().map_or_else(|| "-".to_string(), |(_, cores)| in_words(cores)),
                number(best.as_ref().map(|(rate, _)| run.rate() / rate)),
            ]);
        }
        if !ratios.is_empty() {
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            points.push((at as f64, mean));
            means.push(format!("{} {}", shown(chain.0), percent(Some(mean))));
        }
    }
    let last = names.len() as f64 - 2.0;
    let marks = [("paper, least", PUBLISHED.0), ("paper, most", PUBLISHED.1)].map(|(name, ratio)| Series {
        name: name.to_string(),
        points: vec![(0.0, ratio), (last, ratio)],
        published: true,
    });
    let sentence = match (means.is_empty(), off.is_empty()) {
        (false, false) => format!(
            "Over an even split: {}; the rate was predicted within {:.1} % in the mean{}; the choice has at least {} of the best split that was run.",
            means.join(", "),
            1e2 * off.iter().sum::<f64>() / off.len() as f64,
            match off_again.len() {
                0 => String::new(),
                runs => {
                    let mean = 1e2 * off_again.iter().sum::<f64>() / runs as f64;
                    format!(", within {mean:.1} % with C of the even split's run")
                }
            },
            number(of_best.iter().copied().reduce(f64::min))
        ),
        _ => "No chain has its runs.".to_string(),
    };
    let mut series = vec![Series { name: "mean of the sizes".to_string(), points, published: false }];
    series.extend(marks);
    let head = [
        "chain",
        "bytes",
        "choice",
        "run",
        "Gbit/s",
        "prediction off",
        "line off",
        "with C off",
        "over the even split",
        "best split run",
        "choice over best",
    ];
    Ok(Section {
        title: "G-NET, figure 13: throughput over FairShare".to_string(),
        sentence,
        plots: vec![Plot {
            x: "chain".to_string(),
            x_scale: report::Scale::Names(names),
            ..plot("Throughput over an even split", "times", series)
        }],
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: how(results)
            + " The choice is by the profiles of the functions alone, before the chain ran. At full scale every split of the cores is run; with \
               --quick those that were the choice when this was written, one beside, and the even one; where the choice was not run, the run \
               one of which the profiles expect most stands for it. C is what functions whose slots were full took longer in the \
               run of the even split than by themselves.",
        assumed: ASSUMED.to_string(),
        differs: "The paper tells averages of the chains from 16.7 to 34.0 %, without which is which.".to_string(),
    })
}
