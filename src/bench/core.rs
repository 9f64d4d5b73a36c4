//! `hermes bench core`: warp-instructions per cycle of one core on integer code, and what
//! divergence costs.
//!
//! Counters are those of the whole run, from the first to the last cycle with a warp on the core.
//! The warps start within some hundred cycles of each other; with the default number of turns a run
//! takes a hundred thousand and more.

use anyhow::{ensure, Context};
use hermes_rtl::config::Config;
use hermes_rtl::host::registers::core_counters::CoreCounterValues;
use hermes_testbench::kernel::Kernel;
use verilator_sys::ModelLibrary;

use super::figure::{Bound, Figure};
use super::workload::{Workload, ALU_LOOP, TWO_WAY};
use super::Subject;
use crate::array;

#[derive(clap::Args)]
pub struct Args {
    /// Lanes of the core: 2, 4, 8, 16 or 32
    #[arg(long, value_name = "N", default_value_t = 8)]
    lanes: usize,
    /// Turns of the loops: 17 instructions each
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    turns: u32,
}

/// Warps at once, and the least warp-instructions per cycle with them.
const WARPS: [(u32, f64); 3] = [(1, 0.45), (4, 0.9), (8, 0.95)];

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    ensure!(args.lanes >= 2, "--lanes {}: expected 2, 4, 8, 16 or 32: one lane cannot diverge", args.lanes);
    let config = Config { cores: 1, lanes: args.lanes, warps: 8, ..Config::preset("default")? };
    config.validate()?;
    on.add(&config);
    let two_way = TWO_WAY.kernel()?;
    let library = array::library(&config, false, quiet, |_| {})?;
    let bench = Bench { config, library, turns: args.turns, quiet };

    let mut figures = Vec::new();
    let mut efficiency = 0.0;
    for (warps, limit) in WARPS {
        let counters = bench.run(&ALU_LOOP, warps)?;
        let ipc = f64::from(counters.instructions) / f64::from(counters.active_cycles);
        efficiency = f64::from(counters.lane_instructions)
            / (f64::from(counters.instructions) * bench.config.lanes as f64);
        let plural = if warps == 1 { "" } else { "s" };
        figures.push(
            Figure::new(format!("ipc_{warps}_warp{plural}"), ipc, "/cycle").limit(Bound::AtLeast(limit)),
        );
    }
    figures.push(Figure::new("simd_efficiency_converged", efficiency, "").goal(Bound::AtLeast(1.0)));

    let counters = bench.run(&TWO_WAY, 1)?;
    let paths = instructions_of_the_paths(&two_way, args.turns)?;
    let overhead = f64::from(counters.instructions) / paths as f64;
    figures.push(Figure::new("divergence_overhead", overhead, "").goal(Bound::AtMost(1.01)));
    Ok(figures)
}

struct Bench {
    config: Config,
    library: ModelLibrary,
    turns: u32,
    quiet: bool,
}

impl Bench {
    fn run(&self, workload: &Workload, warps: u32) -> anyhow::Result<CoreCounterValues> {
        let run = workload.run(&self.library, &self.config, warps, self.turns, self.quiet)?;
        let counters = run.result.counters.first().context("the array has no counters")?.core;
        ensure!(counters.instructions > 0 && counters.active_cycles > 0, "the counters did not count");
        log::info!("{warps} warps: {counters:?}");
        Ok(counters)
    }
}

/// Warp-instructions of a warp in `two-way.S` that executes either path of each turn once, from the
/// kernel's labels.
fn instructions_of_the_paths(kernel: &Kernel, turns: u32) -> anyhow::Result<u64> {
    let address = |name: &str| {
        let found = kernel.symbol(name).map(|symbol| u64::from(symbol.address));
        found.context("two-way.S")
    };
    let (turn, once) = (address("end")? - address("loop")?, address("loop")? - address("kernel")?);
    let last = address("exit")? - address("end")?;
    Ok((u64::from(turns) * turn + once + last) / 4)
}
