//! The timing of the memory of a run.

use std::str::FromStr;

use anyhow::bail;
use hermes_testbench::cosim::{DramTiming, Latency};

/// What `--memory` takes.
#[derive(Clone, Copy, Debug)]
pub enum MemoryTiming {
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

impl MemoryTiming {
    /// The latency, with the cycles of `--mem-latency` if they were given.
    ///
    /// # Errors
    /// DRAM has times of its own.
    pub fn latency(self, cycles: Option<u32>) -> anyhow::Result<Latency> {
        match (self, cycles) {
            (Self::Fixed, latency) => Ok(Latency::Fixed(latency.unwrap_or(60))),
            (Self::Dram(timing), None) => Ok(Latency::Dram(timing)),
            (Self::Dram(_), Some(cycles)) => {
                bail!("--mem-latency {cycles}: goes with --memory fixed only; DRAM has times of its own")
            }
        }
    }
}
