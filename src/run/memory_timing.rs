//! The timing of the memory of a run.

use std::str::FromStr;

use anyhow::bail;
use hermes_testbench::cosim::{DramTiming, Latency};

/// Options of the commands that simulate an array with a memory.
#[derive(Clone, Copy, clap::Args)]
pub struct MemoryArgs {
    /// Timing of the memory: a fixed latency, or channels of DRAM, by default DDR4-2666; its times
    /// in cycles, such as `dram:line=2,banks=32` (docs/memory-in-simulation.md has them all)
    #[arg(
        long,
        value_name = "fixed|dram[:NAME=N,...]",
        default_value = "fixed",
        help_heading = "Surroundings"
    )]
    memory: MemoryTiming,
    /// Cycles from a memory request to its response, with `--memory fixed`; 60 unless given
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Surroundings")]
    pub mem_latency: Option<u32>,
}

/// What `--memory` takes.
#[derive(Clone, Copy, Debug)]
enum MemoryTiming {
    /// A fixed latency.
    Fixed,
    /// Channels of DRAM.
    Dram(DramTiming),
}

impl FromStr for MemoryTiming {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "fixed" => Ok(Self::Fixed),
            None if text == "dram" => Ok(Self::Dram(DramTiming::default())),
            Some(("dram", timing)) => timing.parse().map(Self::Dram),
            _ => Err("expected `fixed`, `dram` or `dram:NAME=N,...`".to_string()),
        }
    }
}

impl MemoryArgs {
    /// The latency, with the cycles of `--mem-latency` if they were given.
    ///
    /// # Errors
    /// DRAM has times of its own.
    pub fn latency(self) -> anyhow::Result<Latency> {
        match (self.memory, self.mem_latency) {
            (MemoryTiming::Fixed, latency) => Ok(Latency::Fixed(latency.unwrap_or(60))),
            (MemoryTiming::Dram(timing), None) => Ok(Latency::Dram(timing)),
            (MemoryTiming::Dram(_), Some(cycles)) => {
                bail!("--mem-latency {cycles}: goes with --memory fixed only; DRAM has times of its own")
            }
        }
    }
}
