//! `hermes bench sim`: how fast the array is simulated with every warp slot busy, and how long its
//! model takes to build.

use anyhow::ensure;
use hermes_rtl::config::most_warps;
use hermes_testbench::staging::temporary_folder;

use super::figure::{Bound, Figure};
use super::workload::ALU_LOOP;
use super::Subject;
use crate::array::{self, ArrayArgs};

/// Lane-cycles a second at which 8 cores of 32 lanes, every warp slot busy, can retire the 10
/// million lane-instructions a second that are asked for: less is out of reach at any number of
/// instructions a cycle.
const LANE_CYCLES: f64 = 10e6;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    array: ArrayArgs,
    /// Turns of the loop, 17 instructions each, that every thread runs
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    turns: u32,
    /// Compile every core and bank of the L2 for itself, instead of once for all its instances
    #[arg(long)]
    unshared: bool,
    /// Compile the C++ as Verilator writes it: what a Verilator costs whose C++ is not known
    #[arg(long)]
    plain: bool,
}

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    let config = args.array.config_or("paper")?;
    on.add(&config);
    ALU_LOOP.kernel()?;
    let cache = temporary_folder("hermes-")?;
    let library = array::library(&config, false, quiet, |options| {
        options.cache = Some(cache.path().to_path_buf());
        if args.plain {
            options.rewriter = None;
        }
        if args.unshared {
            options.shared.clear();
        }
    })?;
    ensure!(!library.report().cached, "the model was not built anew");
    let build = library.report().elapsed.as_secs_f64();

    let warps = most_warps(config.warps as u32, 16);
    let run = ALU_LOOP.run(&library, &config, warps, args.turns, quiet)?;
    let (cores, lanes) = (config.cores, config.lanes);
    let hertz = run.result.simulated_cycles as f64 / run.seconds;
    let lane_cycles = hertz * (cores * lanes) as f64;
    let retired: u64 = run.result.counters.iter().map(|c| u64::from(c.core.lane_instructions)).sum();
    let lane_instructions = retired as f64 / run.seconds;
    let limit = LANE_CYCLES / (cores * lanes) as f64 / 1e3;
    Ok(vec![
        Figure::new(format!("khz_{cores}x{lanes}"), hertz / 1e3, "kHz").limit(Bound::AtLeast(limit)),
        Figure::new("lane_cycles_per_second", lane_cycles, "/s").limit(Bound::AtLeast(LANE_CYCLES)),
        Figure::new("lane_instructions_per_second", lane_instructions, "/s").limit(Bound::AtLeast(10e6)),
        Figure::new("model_build_seconds", build, "s"),
    ])
}
