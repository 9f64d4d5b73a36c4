//! `hermes bench spawn`: how quickly a job of the thread spawner starts, alone and beside packets.
//!
//! Paper: Pangaea, Table 5: 26 cycles from the write of the CPU to the first instruction fetch.
//! Here the time begins when the write of ENTRY reaches the spawner, a cycle after the command
//! processor's store is in stage W, and ends at the first lookup of the entry in the instruction
//! cache of a core, which the trace shows.

use hermes_experiments::{SpawnBench, SpawnLoad, SPAWN_SEED};
use hermes_rtl::config::Config;
use hermes_testbench::cosim::Latency;

use super::figure::{Bound, Figure};
use super::times::Times;
use super::Subject;
use crate::array;

/// Packets beside the jobs, as a power of two.
const PACKETS_LOG2: u32 = 15;

#[derive(clap::Args)]
pub struct Args {
    /// Jobs to start beside packets, each of one warp
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    jobs: u32,
    /// Apps whose packets the array processes meanwhile
    #[arg(long, value_name = "APP,...", value_delimiter = ',', default_value = "dec-ttl,check-ip-header")]
    apps: Vec<String>,
    /// Maximally allowed concurrent packet warps per core
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=4))]
    mcw: u32,
    /// Cycles from a memory request to its response
    #[arg(long, value_name = "CYCLES", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    latency: u32,
}

/// The preset `pangaea`, with the trace that the bench reads.
pub fn config() -> anyhow::Result<Config> {
    Ok(Config { trace: true, ..Config::preset("pangaea")? })
}

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    let config = config()?;
    config.validate()?;
    on.add(&config);
    on.seed = Some(SPAWN_SEED);
    let library = array::library(&config, false, quiet, |_| {})?;
    let load = |app, packets_log2| SpawnLoad {
        latency: Latency::Fixed(args.latency),
        mcw: args.mcw,
        app,
        packets_log2,
    };
    let (idle, _) = SpawnBench::new(&library, &config, load(None, 5))?.run(50)?;
    // The first on each core finds nothing in its caches.
    let times = Times::of(&idle[config.cores..]);
    let mut figures =
        vec![Figure::new("idle_trigger_to_fetch", times.longest, "cycles").limit(Bound::AtMost(12.0))];
    for name in &args.apps {
        let bench = SpawnBench::new(&library, &config, load(Some(name.as_str()), PACKETS_LOG2))?;
        let times = Times::of(&bench.run(args.jobs)?.0);
        let longest = Figure::new(format!("{name}_trigger_to_fetch_p99"), times.p99, "cycles");
        // The limit holds for one load; with others the cores issue in longer turns.
        let is_limited = name == "dec-ttl" && args.mcw == 2;
        figures.extend([
            Figure::new(format!("{name}_jobs"), times.count as f64, ""),
            Figure::new(format!("{name}_trigger_to_fetch_p50"), times.p50, "cycles"),
            if is_limited { longest.limit(Bound::AtMost(24.0)) } else { longest },
        ]);
    }
    Ok(figures)
}
