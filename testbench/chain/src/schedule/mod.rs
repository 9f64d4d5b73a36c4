//! Cores for the functions of a chain: the scheduling of the G-NET paper (section 5.3, equations 1
//! to 4) on whole cores, by what was measured of each function before the chain runs.
//!
//! A function that has N cores with w warps each takes `lanes w N / L(w, N)` packets a cycle, where
//! L are the cycles from the start of a warp to the start of the next one in its slot
//! ([`Cost`]). The rate of the chain is the least of these, each over how often an entry visits the
//! function. The scheduler raises a rate by 1/16 at a time while every function finds cores for it,
//! and then gives the cores that are left, one by one, to the function that is slowest.

pub mod adapt;
mod cost;
pub mod feedback;

pub use cost::{errors, Cost, Linear, Measured, Point};

use serde::{Deserialize, Serialize};

/// By how much the rate is raised at a time: P of the paper.
const STEP: f64 = 1.0 / 16.0;
/// How much more than the rate of the chain the warps of a function are to carry: visits do not
/// come evenly.
const HEADROOM: f64 = 1.25;
/// A core with this much of its largest rate needs no more warps: these would only add latency.
const NEARLY_ALL: f64 = 63.0 / 64.0;

/// What is asked of a function, and what it costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Demand {
    /// Its name.
    pub name: String,
    /// How long a warp is there.
    pub cost: Cost,
    /// Visits for each entry of the chain.
    pub visits: f64,
    /// Most warps on a core.
    pub most_warps: u32,
    /// Most cycles from the start of a warp to the start of the next one in its slot, if there is a
    /// limit.
    pub max_latency: Option<f64>,
    /// Cycles that a warp is there longer in the chain than the cost says: C of the paper, by
    /// [`feedback::excess`]; 0 before the chain ran.
    #[serde(default)]
    pub excess: f64,
}

/// What a function gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Cores.
    pub cores: usize,
    /// Warps on each.
    pub warps: u32,
}

/// Warps in flight with which every slot of `shares` is busy, and as many wait: CHAIN_LIMIT. With
/// more of them packets only wait longer, and warps are partly empty.
#[must_use]
pub fn limit_for(shares: &[Share]) -> u32 {
    let slots: u32 = shares.iter().map(|share| share.cores as u32 * share.warps).sum();
    (2 * slots).clamp(1, 1024)
}

/// Cores and warps of each function, and what is expected of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// What each function gets.
    pub shares: Vec<Share>,
    /// Packets of the chain a cycle that each of them would carry.
    pub rates: Vec<f64>,
    /// The least of these.
    pub rate: f64,
}

/// Why no split does what is asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Infeasible {
    /// A core for each function is more than there are.
    #[error("{functions} functions need {functions} cores; {cores} are there")]
    Cores {
        /// Functions of the chain.
        functions: usize,
        /// Cores of the array.
        cores: usize,
    },
    /// No number of cores and warps brings a function below its limit.
    #[error("`{function}`: at most {limit:.0} cycles are asked; the least that was found are {best:.0}")]
    Latency {
        /// The function.
        function: String,
        /// What is asked, in cycles.
        limit: f64,
        /// The least that was found.
        best: f64,
    },
    /// The rate needs more cores than there are.
    #[error(
        "{rate:.5} packets a cycle need {} cores, {of_function} of them for `{function}`; \
         {cores} are there, and the best that was found is {best:.5}",
        needed.map_or_else(|| format!("more than {cores}"), |needed| needed.to_string())
    )]
    Rate {
        /// The function that holds the chain back.
        function: String,
        /// What is asked, in packets a cycle.
        rate: f64,
        /// Cores that all functions would need; none if one function alone needs more than there
        /// are.
        needed: Option<usize>,
        /// Cores of that function: in words where they are not enough.
        of_function: String,
        /// Cores of the array.
        cores: usize,
        /// The largest rate that was found.
        best: f64,
    },
}

impl Demand {
    /// Makes sure that a split can be made by it on an array with so many cores, if it was read
    /// from a file.
    ///
    /// # Errors
    /// What is wrong, and what was expected.
    pub fn check(&self, cores: usize) -> Result<(), String> {
        let good = |value: f64| value.is_finite() && value > 0.0;
        if !(good(self.visits) && self.visits <= 1.0) {
            return Err(format!("visits {}: expected more than 0, and 1 at most", self.visits));
        }
        if !(1..=32).contains(&self.most_warps) {
            return Err(format!("most_warps {}: expected 1 to 32", self.most_warps));
        }
        if !self.excess.is_finite() {
            return Err(format!("excess {}: expected a number", self.excess));
        }
        if let Some(limit) = self.max_latency.filter(|limit| !good(*limit)) {
            return Err(format!("max_latency {limit}: expected more than 0"));
        }
        let shares = (1..=cores).flat_map(|cores| (1..=self.most_warps).map(move |warps| (warps, cores)));
        let cycles = |(warps, cores)| (warps, cores, self.cycles(Share { cores, warps }));
        match shares.map(cycles).find(|(_, _, cycles)| !good(*cycles)) {
            Some((warps, cores, cycles)) => Err(format!(
                "cost: {cycles} cycles with {warps} warps on {cores} cores: expected more than 0"
            )),
            None => Ok(()),
        }
    }

    /// Cycles from the start of a warp to the start of the next one in its slot, with so many warps
    /// on each of so many cores: those of the cost, and C. What was measured to be less is at least
    /// half of the cost.
    #[must_use]
    pub fn cycles(&self, Share { cores, warps }: Share) -> f64 {
        let cycles = self.cost.cycles(warps, cores);
        (cycles + self.excess).max(0.5 * cycles)
    }

    /// This with all cycles `factor` times as many.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self { cost: self.cost.scaled(factor), excess: factor * self.excess, ..self.clone() }
    }

    /// Packets of the chain a cycle on so many cores with so many warps each, as equation 2 has it.
    fn rate(&self, lanes: u32, share: Share) -> f64 {
        let threads = f64::from(lanes * share.warps) * share.cores as f64;
        threads / self.cycles(share) / self.visits
    }

    fn is_quick(&self, share: Share) -> bool {
        self.max_latency.is_none_or(|limit| self.cycles(share) <= limit)
    }

    /// The fewest warps on each of `cores` cores that carry `rate` within the limit: equations 3
    /// and 4 in whole warps.
    fn warps(&self, lanes: u32, cores: usize, rate: f64) -> Option<u32> {
        let carries = |warps: &u32| {
            let share = Share { cores, warps: *warps };
            self.rate(lanes, share) >= rate && self.is_quick(share)
        };
        (1..=self.most_warps).find(carries)
    }

    /// The fewest cores up to `most` that carry `rate`, and the fewest warps on each.
    fn share(&self, lanes: u32, most: usize, rate: f64) -> Option<Share> {
        (1..=most).find_map(|cores| Some(Share { cores, warps: self.warps(lanes, cores, rate)? }))
    }

    /// The largest rate of at most `cores` cores within the limit, and the fewest cores that have
    /// it; 0 if none are within it. More cores may be slower: they wait for each other in the L2
    /// and the channels.
    fn best(&self, lanes: u32, cores: usize) -> (f64, usize) {
        let shares = (1..=cores)
            .flat_map(|cores| (1..=self.most_warps).map(move |warps| Share { cores, warps }))
            .filter(|share| self.is_quick(*share));
        shares.fold((0.0, 1), |best, share| {
            let rate = self.rate(lanes, share);
            if rate > best.0 {
                (rate, share.cores)
            } else {
                best
            }
        })
    }
}

/// What the functions carry with up to so many cores each, in packets of the chain a cycle, each
/// with its best warps.
#[must_use]
pub fn rates(lanes: u32, demands: &[Demand], cores: &[usize]) -> Vec<f64> {
    demands.iter().zip(cores).map(|(demand, cores)| demand.best(lanes, *cores).0).collect()
}

/// Gives the functions whole cores of an array whose cores have `lanes` lanes: all of them, unless
/// more would not be faster. `wanted` is the rate that they must carry, in packets a cycle, if one
/// is asked.
///
/// # Errors
/// [`Infeasible`]: no split is within the limits or carries the rate.
pub fn split(lanes: u32, cores: usize, demands: &[Demand], wanted: Option<f64>) -> Result<Split, Infeasible> {
    if demands.is_empty() || demands.len() > cores {
        return Err(Infeasible::Cores { functions: demands.len(), cores });
    }
    let most = cores + 1 - demands.len();
    for demand in demands {
        if demand.best(lanes, most).0 == 0.0 {
            let shares = (1..=most).map(|cores| Share { cores, warps: 1 });
            let best = shares.map(|share| demand.cycles(share));
            return Err(Infeasible::Latency {
                function: demand.name.clone(),
                limit: demand.max_latency.unwrap_or(0.0),
                best: best.fold(f64::INFINITY, f64::min),
            });
        }
    }
    let all_at = |rate: f64| -> Option<Vec<Share>> {
        let shares = demands.iter().map(|demand| demand.share(lanes, most, rate));
        let shares: Vec<_> = shares.collect::<Option<_>>()?;
        (shares.iter().map(|share| share.cores).sum::<usize>() <= cores).then_some(shares)
    };
    // One warp on one core of each is where it begins.
    let lone = |demand: &Demand| demand.rate(lanes, Share { cores: 1, warps: 1 });
    let mut rate = demands.iter().map(lone).fold(f64::INFINITY, f64::min);
    let mut kept = None;
    while let Some(shares) = all_at(rate) {
        kept = Some(shares);
        rate *= 1.0 + STEP;
    }
    // A limit that a lone core misses may need more of them at the lowest rate already.
    let least = || demands.iter().map(|demand| demand.share(lanes, most, 0.0)).collect::<Option<Vec<_>>>();
    let kept = kept.or_else(least).unwrap_or_default();
    let mut given: Vec<_> = kept.iter().map(|share| share.cores).collect();
    if given.iter().sum::<usize>() > cores || given.is_empty() {
        return Err(too_slow(lanes, cores, demands, wanted.unwrap_or(0.0), 0.0));
    }
    while given.iter().sum::<usize>() < cores {
        let now = rates(lanes, demands, &given);
        given[slowest(&now)] += 1;
    }
    let reached = rates(lanes, demands, &given);
    let rate = reached[slowest(&reached)];
    if let Some(wanted) = wanted.filter(|wanted| *wanted > rate) {
        return Err(too_slow(lanes, cores, demands, wanted, rate));
    }
    let shares = demands.iter().zip(&given).zip(&reached).map(|((demand, cores), best)| {
        let enough = (HEADROOM * rate).min(NEARLY_ALL * best);
        let cores = &demand.best(lanes, *cores).1;
        Share { cores: *cores, warps: demand.warps(lanes, *cores, enough).unwrap_or(demand.most_warps) }
    });
    Ok(Split { shares: shares.collect(), rate, rates: reached })
}

/// The number of the function with the least rate, the first of several.
fn slowest(rates: &[f64]) -> usize {
    let less = |best: usize, at: usize| if rates[at] < rates[best] { at } else { best };
    (0..rates.len()).fold(0, less)
}

/// The error of a rate that is too high.
fn too_slow(lanes: u32, cores: usize, demands: &[Demand], rate: f64, best: f64) -> Infeasible {
    let needed: Vec<_> = demands.iter().map(|demand| demand.share(lanes, 32, rate)).collect();
    let at = match needed.iter().position(Option::is_none) {
        Some(at) => at,
        None => {
            let cores = |at: &usize| needed[*at].map(|share| share.cores);
            (0..demands.len()).max_by_key(cores).unwrap_or(0)
        }
    };
    let sum = needed.iter().map(|share| share.map(|share| share.cores)).sum();
    Infeasible::Rate {
        function: demands[at].name.clone(),
        rate,
        needed: sum,
        of_function: needed[at].map_or_else(|| "more than 32".to_string(), |share| share.cores.to_string()),
        cores,
        best,
    }
}

/// Every way to give `cores` cores to `functions` functions, one at least to each.
#[must_use]
pub fn every_split(functions: usize, cores: usize) -> Vec<Vec<usize>> {
    match functions {
        0 => Vec::new(),
        1 => vec![vec![cores]],
        _ if cores < functions => Vec::new(),
        _ => (1..=cores + 1 - functions)
            .flat_map(|first| {
                let others = every_split(functions - 1, cores - first);
                others.into_iter().map(move |others| [vec![first], others].concat())
            })
            .collect(),
    }
}

/// As even a split as there is: FairShare of the paper. The first functions get one more.
#[must_use]
pub fn fair_split(functions: usize, cores: usize) -> Vec<usize> {
    let (each, more) = (cores / functions.max(1), cores % functions.max(1));
    (0..functions).map(|function| each + usize::from(function < more)).collect()
}

/// Which function each core gets, if the functions are to have so many, so that as few cores as
/// possible change hands. `now` has the function of each core; the array may have more cores than
/// are given out.
#[must_use]
pub fn place(now: &[Option<u32>], cores: &[usize]) -> Vec<Option<u32>> {
    let mut left = cores.to_vec();
    let keep = |function: &Option<u32>| {
        let left = left.get_mut(usize::try_from((*function)?).ok()?)?;
        let stays = *left > 0;
        *left -= usize::from(stays);
        function.filter(|_| stays)
    };
    let mut placed: Vec<_> = now.iter().map(keep).collect();
    for core in placed.iter_mut().filter(|core| core.is_none()) {
        if let Some(function) = left.iter().position(|cores| *cores > 0) {
            left[function] -= 1;
            *core = Some(function as u32);
        }
    }
    placed
}

#[cfg(test)]
mod tests;
