//! Attempts of nextpnr with several seeds: near the size of a device few of them can be routed.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hermes_interrupt::Running;

use super::placement::{clock, overused, Placement};
use super::tools::{FlowError, Tool};

/// How a race is run.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceOptions {
    /// The seeds, in the order in which they are tried.
    pub seeds: Vec<u32>,
    /// Attempts at once.
    pub jobs: usize,
    /// Clock in MHz that ends the race.
    pub megahertz: f64,
    /// Rounds of the router without fewer overused wires, after which an attempt is given up.
    pub patience: usize,
    /// Time after which all is given up that has not come to an end.
    pub limit: Duration,
}

/// How far an attempt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Its seed.
    pub seed: u32,
    /// Wires that are used more than once in the last round of the router; none before it routes.
    pub overused: Option<u64>,
}

/// The attempt that was best.
#[derive(Clone, Debug, PartialEq)]
pub struct Winner {
    /// Its seed.
    pub seed: u32,
    /// The clock of the routed design in MHz.
    pub megahertz: f64,
    /// Name of the text configuration that it left in the folder. ecppack gets it as it is: as
    /// WebAssembly it sees its own folder, and not all others.
    pub config: String,
    /// The seeds that were given up or slower, and what became of them.
    pub others: Vec<(u32, String)>,
}

/// An attempt under way. nextpnr ends with its owner.
struct Attempt {
    seed: u32,
    child: Running,
}

/// Whether the last `patience` rounds brought no fewer overused wires than those before.
fn is_stuck(rounds: &[u64], patience: usize) -> bool {
    let best = |rounds: &[u64]| rounds.iter().copied().min();
    rounds.len() > patience && {
        let (before, last) = rounds.split_at(rounds.len() - patience);
        best(last) >= best(before)
    }
}

/// Places and routes with one seed after the other, `jobs` at once, until one meets the clock;
/// otherwise gives the fastest of those that were routed.
///
/// # Errors
/// nextpnr does not start, or no seed was routed within the limit.
pub fn race(
    placement: &Placement,
    nextpnr: &Tool,
    options: &RaceOptions,
    progress: &mut dyn FnMut(&[Progress]),
) -> Result<Winner, FlowError> {
    let began = Instant::now();
    // A seed that is named twice would be tried twice in the same files.
    let mut waiting: VecDeque<u32> = VecDeque::new();
    for seed in &options.seeds {
        if !waiting.contains(seed) {
            waiting.push_back(*seed);
        }
    }
    let mut running: Vec<Attempt> = Vec::new();
    let mut ended: Vec<(u32, String)> = Vec::new();
    let mut best: Option<(u32, f64)> = None;
    while best.is_none_or(|(_, megahertz)| megahertz < options.megahertz) {
        if began.elapsed() > options.limit {
            ended.extend(running.drain(..).map(|attempt| (attempt.seed, "out of time".to_string())));
            break;
        }
        while running.len() < options.jobs.max(1) {
            let Some(seed) = waiting.pop_front() else { break };
            running.push(Attempt { seed, child: placement.start(nextpnr, seed)? });
        }
        if running.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(300));
        let mut states = Vec::new();
        let mut still = Vec::new();
        for mut attempt in running {
            let seed = attempt.seed;
            let status = attempt.child.try_wait().map_err(|error| nextpnr.cannot_start(error))?;
            let log = placement.log(seed);
            let rounds = overused(&log);
            match (status, clock(&log)) {
                (Some(status), Some(megahertz)) if status.success() => {
                    ended.push((seed, format!("routed, {megahertz:.1} MHz")));
                    if best.is_none_or(|(_, fastest)| megahertz > fastest) {
                        best = Some((seed, megahertz));
                    }
                }
                (Some(status), _) => {
                    let last = log
                        .lines()
                        .rev()
                        .find(|line| line.starts_with("ERROR"))
                        .unwrap_or("no error in its log");
                    ended.push((seed, format!("{status}: {last}")));
                }
                (None, _) if is_stuck(&rounds, options.patience) => {
                    let least = rounds.iter().min().copied().unwrap_or_default();
                    ended.push((seed, format!("given up with {least} overused wires")));
                }
                (None, _) => {
                    states.push(Progress { seed, overused: rounds.last().copied() });
                    still.push(attempt);
                }
            }
        }
        running = still;
        progress(&states);
    }
    let told = |ended: &[(u32, String)]| {
        ended.iter().map(|(seed, what)| format!("seed {seed} {what}")).collect::<Vec<_>>().join(", ")
    };
    let (seed, megahertz) = best.ok_or_else(|| FlowError::NotRouted(told(&ended)))?;
    ended.retain(|(other, _)| *other != seed);
    let config = format!("seed-{seed}.config");
    Ok(Winner { seed, megahertz, config, others: ended })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_that_does_not_get_better_is_given_up() {
        assert!(!is_stuck(&[], 3));
        assert!(!is_stuck(&[9, 8, 7, 6, 5], 3));
        assert!(!is_stuck(&[9, 8, 9, 9], 3));
        assert!(is_stuck(&[9, 8, 8, 9, 8], 3));
        // Better than three rounds ago
        assert!(!is_stuck(&[9, 5, 8, 9, 4], 3));
    }
}
