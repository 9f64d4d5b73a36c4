//! Cycles of those who serve, and the ratio of energies from which the paper's claims hold.

use super::measured;
use crate::nodes::NodesMeasured;
use crate::results::ResultFile;

/// Energies of a cycle of a host thread over that of a hart at which ratios are told.
pub const RATIOS: [f64; 3] = [1.0, 3.0, 10.0];

/// What stands under figures of energy.
pub const ASSUMED: &str = "Nothing of energy: e is the energy of a cycle of a host thread over that of a cycle of a hart, which no run here tells. A \
                           thread of a host polls, so all of its cycles are busy; a hart that waits in NEXT or in wfi is taken to need nothing. \
                           Delays of the baselines are assumed (docs/baselines.md), and favour them.";

/// Cycles in which those who serve node 0 were busy.
#[derive(Clone, Copy, Debug)]
pub struct Busy {
    /// Of harts those awake; of threads all, since they poll.
    pub cycles: f64,
    /// Cycles of the whole time, of one of them.
    pub whole: f64,
    /// Instructions of harts; none of threads, which are no program here.
    pub instructions: Option<f64>,
    /// Lines that harts read from the L2.
    pub line_reads: Option<f64>,
}

impl Busy {
    /// Of a run that was counted.
    pub fn of(result: &ResultFile) -> Option<Self> {
        let nodes = measured(result)?;
        let threads = result.job.parameters.nodes.as_ref()?.threads;
        Self::with(nodes, threads)
    }

    fn with(nodes: &NodesMeasured, threads: u32) -> Option<Self> {
        let harts = nodes.harts?;
        let whole = harts.cycles as f64;
        Some(match nodes.service {
            Some(_) => {
                let cycles = whole * f64::from(threads);
                Self { cycles, whole, instructions: None, line_reads: None }
            }
            None => Self {
                cycles: harts.awake_cycles as f64,
                whole,
                instructions: Some(harts.instructions as f64),
                line_reads: Some(harts.line_reads as f64),
            },
        })
    }
}

/// The energy of ours over that of threads of a host, for the same work.
pub fn ratio(ours: f64, theirs: f64, e: f64) -> f64 {
    ours / (theirs * e)
}

/// The least e at which the energy of ours is no more than `claim` of theirs.
pub fn needed(ours: f64, theirs: f64, claim: f64) -> f64 {
    ours / (theirs * claim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_testbench::cluster::{HartCounts, ServiceCounts};

    #[test]
    fn ratios_by_hand() {
        // A hart that is awake for a fifth of the cycles of a thread needs a fifth at e = 1, and a
        // third of its energy from e = 0.6 on.
        assert_eq!((ratio(20.0, 100.0, 1.0), ratio(20.0, 100.0, 10.0)), (0.2, 0.02));
        assert!((needed(20.0, 100.0, 1.0 / 3.0) - 0.6).abs() < 1e-9);
        assert!((ratio(20.0, 100.0, needed(20.0, 100.0, 0.5)) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn threads_are_busy_and_harts_awake() {
        let harts =
            HartCounts { harts: 4, cycles: 1_000, awake_cycles: 300, instructions: 200, line_reads: 9 };
        let nodes = NodesMeasured { harts: Some(harts), ..NodesMeasured::default() };
        let busy = Busy::with(&nodes, 4).unwrap();
        assert_eq!((busy.cycles, busy.whole, busy.instructions), (300.0, 1_000.0, Some(200.0)));
        let served = NodesMeasured { service: Some(ServiceCounts::default()), ..nodes };
        let busy = Busy::with(&served, 4).unwrap();
        assert_eq!((busy.cycles, busy.whole, busy.instructions), (4_000.0, 1_000.0, None));
        assert!(Busy::with(&NodesMeasured::default(), 1).is_none());
    }
}
