//! Figures of the G-NET paper (sections 2.2, 5.2 and 7) on whole cores.

mod guards;
mod latency;
mod profiles;
mod rates;
mod sixteen;

use hermes_testbench::chain::paper::{function, CHAINS, FUNCTIONS};
use hermes_testbench::chain::schedule::feedback::{excess, Stayed};
use hermes_testbench::chain::schedule::{
    fair_split, rates, split, Cost, Demand, Linear, Measured, Point, Share, Split,
};

use super::{figure, labels, Results};
use crate::chains::{ChainMeasured, ChainRun, TurnsOf};
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};

/// The experiments, in the order of the paper's figures.
pub const ALL: &[Experiment] = &[
    profiles::BY_CORES,
    profiles::BY_BATCH,
    rates::BY_SIZE,
    rates::OVER_TEMPORAL,
    rates::OVER_FAIR,
    guards::EXPERIMENT,
    latency::CDF,
    latency::AGAINST_TEMPORAL,
    sixteen::EXPERIMENT,
];

/// A chain: its name, and its functions.
type Name = (&'static str, &'static [&'static str]);

/// Lanes of a core.
const LANES: u32 = 32;
/// Cores of the array.
const CORES: usize = 8;
/// NIDS first, which makes it dear: behind IPsec it sees no plain text.
const PLAIN: (&str, &[&str]) = ("plain", &["nids", "router", "ipsec"]);
/// Warps on one core that are measured.
const WARPS: [u32; 4] = [1, 2, 4, 8];
/// Numbers of cores that are measured at the knee.
const FURTHER: [usize; 2] = [2, 4];
/// Times that a run of a function alone fills all slots.
const WAVES: usize = 4;
/// Warps of a turn: a run has four turns at `--quick`.
const BATCH: u32 = 16;

/// Bytes of the frames without FCS.
fn sizes(scale: Scale) -> &'static [usize] {
    match scale {
        Scale::Quick => &[60],
        Scale::Full => &[60, 508, 1514],
    }
}

/// Packets of a run of a chain.
fn packets(scale: Scale) -> usize {
    match scale {
        Scale::Quick => super::QUICK_PACKETS,
        Scale::Full => 8_192,
    }
}

/// All chains: those of the paper and the one of plain text.
fn chains() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    CHAINS.into_iter().chain([PLAIN])
}

/// The name of a chain on the page.
fn shown(chain: &str) -> String {
    match chain {
        "plain" => "NIDS, Router, IPsec".to_string(),
        _ => format!("S{}", &chain[1..]),
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_string()).collect()
}

fn knee(name: &str) -> u32 {
    function(name).map_or(1, |function| function.knee)
}

/// What stands before a function in a profile: only what `ipsec` does to packets matters.
fn behind(chain: &[&'static str], number: usize) -> &'static [&'static str] {
    match chain[..number].contains(&"ipsec") {
        true => &["ipsec"],
        false => &[],
    }
}

/// Every function with what stands before it in one of the chains, once each.
fn variants() -> Vec<(&'static str, &'static [&'static str])> {
    let mut all: Vec<_> = FUNCTIONS.iter().map(|function| (function.name, &[][..])).collect();
    for (_, chain) in chains() {
        for (number, name) in chain.iter().enumerate() {
            let variant = (*name, behind(chain, number));
            if !all.contains(&variant) {
                all.push(variant);
            }
        }
    }
    all
}

/// The labels of a run of a function alone.
fn profile_labels<'a>(
    name: &'a str,
    behind: &'a [&str],
    bytes: &'a str,
    cores: &'a str,
    warps: &'a str,
) -> [(&'a str, &'a str); 6] {
    let behind = if behind.is_empty() { "nothing" } else { "ipsec" };
    [
        ("kind", "profile"),
        ("function", name),
        ("behind", behind),
        ("bytes", bytes),
        ("cores", cores),
        ("warps", warps),
    ]
}

/// A run of a function alone.
fn profile_cell(name: &str, behind: &[&str], bytes: usize, cores: usize, warps: u32) -> anyhow::Result<Cell> {
    let run = ChainRun {
        functions: owned(&[name]),
        behind: owned(behind),
        cores: vec![cores],
        warps: vec![warps],
        open: false,
        turns: None,
    };
    let base = Parameters::of_chain(run, CORES)?;
    let packets = (WAVES * cores * warps as usize).max(16) * LANES as usize;
    let parameters = Parameters { packets, frames: format!("fixed:{bytes}"), ..base };
    let (bytes, cores, warps) = (bytes.to_string(), cores.to_string(), warps.to_string());
    Ok(Cell { labels: labels(&profile_labels(name, behind, &bytes, &cores, &warps)), parameters })
}

/// The runs of functions alone by which cores are given out.
fn profile_cells(bytes: usize) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for (name, behind) in variants() {
        for warps in WARPS {
            cells.push(profile_cell(name, behind, bytes, 1, warps)?);
        }
        for cores in FURTHER {
            cells.push(profile_cell(name, behind, bytes, cores, knee(name))?);
        }
    }
    Ok(cells)
}

/// A point of a profile, if it was measured: cycles by Little's law.
fn point(
    results: &Results,
    name: &str,
    behind: &[&str],
    bytes: usize,
    cores: usize,
    warps: u32,
) -> Option<Point> {
    let (bytes, in_words) = (bytes.to_string(), [cores.to_string(), warps.to_string()]);
    let labels = profile_labels(name, behind, &bytes, &in_words[0], &in_words[1]);
    let measured = results.with(&labels)?.measured.chain.as_ref()?;
    let threads = f64::from(LANES * warps) * cores as f64;
    Some(Point { cores, warps, cycles: threads / measured.rate() })
}

/// What was measured of a function alone.
fn points(results: &Results, name: &str, behind: &[&str], bytes: usize) -> Vec<Point> {
    let one = WARPS.map(|warps| (1, warps));
    let all = one.into_iter().chain(FURTHER.map(|cores| (cores, knee(name))));
    all.filter_map(|(cores, warps)| point(results, name, behind, bytes, cores, warps)).collect()
}

/// What the functions of a chain cost, each with the warps of its knee at most.
fn demands(results: &Results, chain: &[&'static str], bytes: usize, linear: bool) -> Option<Vec<Demand>> {
    let demand = |(number, name): (usize, &&'static str)| {
        let points = points(results, name, behind(chain, number), bytes);
        let cost = match linear {
            true => Cost::Linear(Linear::fit(&points, LANES, 0.0)?, LANES),
            false => Cost::Measured(Measured::of(&points)?),
        };
        Some(Demand {
            name: (*name).to_string(),
            cost,
            visits: 1.0,
            most_warps: knee(name),
            max_latency: None,
            excess: 0.0,
        })
    };
    chain.iter().enumerate().map(demand).collect()
}

/// The split that the scheduler chooses.
fn choice(results: &Results, chain: &[&'static str], bytes: usize) -> Option<Split> {
    split(LANES, CORES, &demands(results, chain, bytes, false)?, None).ok()
}

/// The costs of the functions of a chain, with what a run of it with `cores` has shown of them: C.
fn fed_back(results: &Results, chain: Name, bytes: usize, cores: &[usize]) -> Option<Vec<Demand>> {
    let run = measured(results, chain.0, bytes, "spatial", cores)?;
    let mut demands = demands(results, chain.1, bytes, false)?;
    for (((demand, function), cores), name) in demands.iter_mut().zip(&run.functions).zip(cores).zip(chain.1)
    {
        demand.excess = excess(
            demand,
            &Stayed {
                share: Share { cores: *cores, warps: knee(name) },
                visits: function.warps,
                stay: function.stay,
                core_cycles: function.core_cycles as f64,
            },
        );
    }
    Some(demands)
}

/// What a split carries by the profiles, in packets a cycle.
fn predicted(demands: &[Demand], cores: &[usize]) -> f64 {
    rates(LANES, demands, cores).into_iter().fold(f64::INFINITY, f64::min)
}

fn in_words(cores: &[usize]) -> String {
    cores.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// A run of a chain with this split, or with turns.
fn chain_cell(
    (name, chain): (&str, &[&str]),
    bytes: usize,
    cores: &[usize],
    turns: Option<TurnsOf>,
    scale: Scale,
) -> anyhow::Result<Cell> {
    let run = ChainRun {
        functions: owned(chain),
        behind: Vec::new(),
        cores: cores.to_vec(),
        warps: chain.iter().map(|name| knee(name)).collect(),
        open: false,
        turns,
    };
    let base = Parameters::of_chain(run, CORES)?;
    let mode = turns.map_or("spatial".to_string(), |turns| format!("turns {}", turns.launch));
    let labels = labels(&[
        ("kind", "chain"),
        ("chain", name),
        ("bytes", &bytes.to_string()),
        ("mode", &mode),
        ("cores", &in_words(cores)),
    ]);
    let parameters = Parameters { packets: packets(scale), frames: format!("fixed:{bytes}"), ..base };
    Ok(Cell { labels, parameters })
}

/// What a run of a chain measured.
fn measured<'a>(
    results: &'a Results,
    chain: &str,
    bytes: usize,
    mode: &str,
    cores: &[usize],
) -> Option<&'a ChainMeasured> {
    let labels = [
        ("kind", "chain"),
        ("chain", chain),
        ("bytes", &bytes.to_string()[..]),
        ("mode", mode),
        ("cores", &in_words(cores)[..]),
    ];
    results.with(&labels)?.measured.chain.as_ref()
}

/// Packets a cycle of a whole run of a chain, with its start and its end: functions that take
/// turns finish in bursts.
fn whole_rate(results: &Results, chain: &str, bytes: usize, mode: &str, cores: &[usize]) -> Option<f64> {
    let labels = [
        ("kind", "chain"),
        ("chain", chain),
        ("bytes", &bytes.to_string()[..]),
        ("mode", mode),
        ("cores", &in_words(cores)[..]),
    ];
    let whole = results.with(&labels)?.measured.whole;
    Some(whole.packets as f64 / whole.cycles.max(1) as f64)
}

/// The splits that a plan has beside the even one, before anything is measured: with `--quick`
/// those that the scheduler chose for these sizes when this was written, and one beside; else all.
fn splits(chain: &str, functions: usize, scale: Scale) -> Vec<Vec<usize>> {
    let all = hermes_testbench::chain::schedule::every_split(functions, CORES);
    let fair = fair_split(functions, CORES);
    let few: &[&[usize]] = match chain {
        "sa" => &[&[5, 3], &[6, 2]],
        "sb" => &[&[1, 4, 3], &[1, 5, 2]],
        "sc" => &[&[4, 3, 1], &[5, 2, 1]],
        "sd" => &[&[1, 4, 2, 1], &[1, 3, 3, 1]],
        _ => &[&[2, 1, 5], &[3, 1, 4]],
    };
    let wanted = |cores: &Vec<usize>| match scale {
        Scale::Full => true,
        Scale::Quick => *cores == fair || few.contains(&&cores[..]),
    };
    all.into_iter().filter(wanted).collect()
}

/// The split that was chosen, if it was run; else the one that was run of which the profiles expect
/// most.
fn chosen(
    results: &Results,
    chain: (&'static str, &'static [&'static str]),
    bytes: usize,
) -> Option<Vec<usize>> {
    let split = choice(results, chain.1, bytes)?;
    let cores: Vec<_> = split.shares.iter().map(|share| share.cores).collect();
    if measured(results, chain.0, bytes, "spatial", &cores).is_some() {
        return Some(cores);
    }
    let demands = demands(results, chain.1, bytes, false)?;
    let run = splits(chain.0, chain.1.len(), results.scale);
    let run = run.into_iter().filter(|cores| measured(results, chain.0, bytes, "spatial", cores).is_some());
    run.max_by(|a, b| predicted(&demands, a).total_cmp(&predicted(&demands, b)))
}

fn percent(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_string(), |ratio| format!("{:+.1} %", 1e2 * (ratio - 1.0)))
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_string(), figure)
}

/// How runs are made, for the page.
fn how(results: &Results) -> String {
    let packets = packets(results.scale);
    format!(
        "Preset paper with two channels, 8 cores, AES, packet ports; {packets} packets of a chain through the ports, as fast as they take \
         them, every one compared with the golden model of its chain; MCW 8 (Firewall, NIDS), 4 (Router) and 2 (IPsec); CHAIN_LIMIT is \
         twice the warp slots. Rates are those between the end of the first quarter of the finishes and the beginning of the last sixteenth."
    )
}

const ASSUMED: &str = "188 filters, 147 rules with patterns of six bytes or more, 10,000 prefixes and packets that match filters and routes, \
                       from seed 1.";
