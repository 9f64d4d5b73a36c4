//! When the packets of a run arrive.

use hermes_testbench::cosim::{Arrivals, RunOptions};
use hermes_testbench::metrics::Clock;
use hermes_testbench::traffic::{ArrivalProcess, Frame};

/// Options of the arrivals.
#[derive(clap::Args)]
#[command(next_help_heading = "Surroundings")]
pub struct ArrivalArgs {
    /// When packets arrive, in Gbit/s on the wire, gaps included: `constant:R`, back to back on a
    /// line; `poisson:R[,port=P]`, exponential gaps, on a port of four times the rate or of P;
    /// `onoff:R,peak=P,burst=N`, bursts of N packets in the mean with pauses between them;
    /// `step:R1@T1,R2@T2,..`, rate R from cycle T on; `trace[:F]`, at the capture's times, F times
    /// as fast; `max`, as fast as the ring takes them, which is so unless something is said. Delays
    /// count from the arrival even if the packet finds the ring full, but for `max`
    #[arg(long, value_name = "SPEC")]
    arrivals: Option<ArrivalProcess>,
    /// Seed of `--arrivals poisson:..` and `onoff:..`: the same seed gives the same arrivals
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    arrivals_seed: u64,
    /// Short for `--arrivals constant:GBPS`, `trace` and `max`
    #[arg(
        long,
        value_name = "GBPS|trace|max",
        value_parser = ArrivalProcess::from_line_rate,
        conflicts_with = "arrivals"
    )]
    line_rate: Option<ArrivalProcess>,
}

impl ArrivalArgs {
    /// How packets arrive.
    pub fn process(&self) -> ArrivalProcess {
        self.arrivals.clone().or_else(|| self.line_rate.clone()).unwrap_or(ArrivalProcess::Max)
    }

    /// The seed, if it changes something.
    pub fn seed(&self) -> Option<u64> {
        self.process().is_random().then_some(self.arrivals_seed)
    }

    /// The cycle of `clock` at which each of `frames` arrives.
    pub fn of(&self, frames: &[Frame], clock: Clock) -> Vec<u64> {
        self.process().arrivals(frames, clock, self.arrivals_seed)
    }

    /// How a run with these arrivals is watched that may be without a commit for `commit_limit`
    /// cycles (0: any number) and those of the array's own watchdog, for which it waits.
    pub fn watched(&self, commit_limit: u64, watchdog: u32, mem_latency: Option<u32>) -> RunOptions {
        let usual = RunOptions::default();
        RunOptions {
            stall_limit: usual.stall_limit.max(100 * u64::from(mem_latency.unwrap_or(0))),
            commit_limit: match commit_limit {
                0 => u64::MAX,
                limit => limit.saturating_add(watchdog.into()),
            },
            arrivals: match self.process().is_scheduled() {
                true => Arrivals::Scheduled,
                false => Arrivals::Taken,
            },
            ..usual
        }
    }
}
