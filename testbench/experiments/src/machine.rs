//! Jobs that measure the array itself: what it takes of an FPGA, and how soon threads start.

use std::process::Command;

use anyhow::{ensure, Context};
use hermes_fpga::flow::{self, Tool, Units};
use hermes_rtl::config::Config;
use hermes_rtl::top::emit_top;
use hermes_testbench::staging::temporary_folder;
use serde::{Deserialize, Serialize};
use verilator_sys::ModelLibrary;

use crate::digest::digest;
use crate::job::{Estimate, JobFile};
use crate::parameters::Parameters;
use crate::results::{Measured, ResultFile};
use crate::spawn_bench::{SpawnBench, SpawnLoad, THREAD};

/// What is measured of an array in place of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Machine {
    /// What its units take of an ECP5, by Yosys.
    Area,
    /// Cycles until the first instruction of a spawned thread, and of a packet, is fetched.
    Start,
}

/// Warps that are started each way.
const STARTS: u32 = 50;
/// App whose packets are pushed.
const APP: &str = "dec-ttl";

impl Machine {
    /// Makes sure that it can be measured of an array.
    ///
    /// # Errors
    /// What the array lacks.
    pub(crate) fn validate(self, array: &Config) -> anyhow::Result<()> {
        if self == Self::Start {
            ensure!(array.spawn_slots > 0, "array.spawn_slots 0: expected 8 or 16, for spawned threads");
            ensure!(array.trace, "array.trace false: expected true, which shows what is fetched");
        }
        Ok(())
    }

    /// What a job takes: Yosys some seconds a thousand LUTs, given as cycles of a simulation.
    pub(crate) fn estimate(self, array: &Config) -> Estimate {
        let lanes = (array.cores * array.lanes) as u64;
        match self {
            Self::Area => Estimate { cycles: 2_000_000 * lanes, bytes: 3 << 30 },
            Self::Start => Estimate { cycles: 100_000, bytes: 500 << 20 },
        }
    }

    /// SHA-256 of the program that runs, and of its data.
    pub(crate) fn digests(self) -> anyhow::Result<[String; 2]> {
        let program = match self {
            Self::Area => Vec::new(),
            Self::Start => {
                let entry = hermes_testbench::apps::AppEntry::find(APP)?;
                let kernel = entry.kernel(false)?;
                let loaded = crate::digest::loaded(kernel.entry, &kernel.segments);
                let thread = THREAD.iter().flat_map(|word| word.to_le_bytes());
                thread.chain(loaded).collect()
            }
        };
        Ok([digest(&program), digest(&[])])
    }
}

/// What a unit takes of an ECP5, with all that is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitArea {
    /// Name of its instance in the top module, or the top module for what is in none.
    pub unit: String,
    /// LUTs of four inputs, those behind carry chains and distributed memories included.
    pub luts: usize,
    /// Flip-flops.
    pub flip_flops: usize,
    /// Block RAMs of 18 kbit.
    pub block_rams: usize,
    /// Multipliers of 18 x 18 bits.
    pub multipliers: usize,
}

/// What was measured of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineMeasured {
    /// What its units take, the largest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<UnitArea>,
    /// What Yosys says of its version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub yosys: String,
    /// Cycles from the write of ENTRY, as it reaches the thread spawner, to the first fetch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spawned: Vec<u64>,
    /// Cycles from the host's write of TASK_PUSH to the first fetch of a packet's warp.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pushed: Vec<u64>,
}

/// Measures what a job asks for; threads and packets are checked.
///
/// # Errors
/// Yosys does not run, or the array does not do what it is to do.
pub(crate) fn execute(
    file: &JobFile,
    machine: Machine,
    library: &ModelLibrary,
) -> anyhow::Result<(ResultFile, u64)> {
    let parameters = &file.job.parameters;
    let [kernel, tables] = machine.digests()?;
    super::execute::same("kernel", &file.job.kernel, &kernel)?;
    super::execute::same("tables", &file.job.tables, &tables)?;
    let (measured, cycles) = match machine {
        Machine::Area => (area(&parameters.array)?, 0),
        Machine::Start => start(parameters, library)?,
    };
    let measured = Measured { machine: Some(measured), ..Measured::default() };
    Ok((ResultFile { key: file.key.clone(), job: file.job.clone(), golden_checked: true, measured }, cycles))
}

fn area(array: &Config) -> anyhow::Result<MachineMeasured> {
    let yosys = Tool::yosys()?;
    let said = Command::new(yosys.program()).arg("-V").output().context("yosys -V")?;
    let design = emit_top(array)?;
    let folder = temporary_folder("hermes-")?;
    flow::synthesize(&yosys, folder.path(), &design.verilog(), &design.top)?;
    let units = Units::read(&yosys, folder.path(), &design.top, 1)?;
    let unit = |(name, cells): (&str, &flow::Cells)| UnitArea {
        unit: name.to_string(),
        luts: cells.luts(),
        flip_flops: cells.flip_flops(),
        block_rams: cells.block_rams(),
        multipliers: cells.multipliers(),
    };
    Ok(MachineMeasured {
        units: units.largest_first().into_iter().map(unit).collect(),
        yosys: String::from_utf8_lossy(&said.stdout).trim().to_string(),
        ..MachineMeasured::default()
    })
}

fn start(parameters: &Parameters, library: &ModelLibrary) -> anyhow::Result<(MachineMeasured, u64)> {
    let array = &parameters.array;
    let latency = parameters.latency()?;
    let load = |app, packets_log2| SpawnLoad { latency, mcw: 1, app, packets_log2 };
    let (mut spawned, of_jobs) = SpawnBench::new(library, array, load(None, 5))?.run(STARTS)?;
    let warps_log2 = STARTS.next_power_of_two().ilog2();
    let packets_log2 = warps_log2 + array.lanes.ilog2();
    let (mut pushed, of_packets) =
        SpawnBench::new(library, array, load(Some(APP), packets_log2))?.push(STARTS)?;
    // The first on each core finds nothing in its caches.
    for times in [&mut spawned, &mut pushed] {
        ensure!(times.len() > array.cores, "{} starts were seen; expected {STARTS}", times.len());
        times.drain(..array.cores);
    }
    Ok((MachineMeasured { spawned, pushed, ..MachineMeasured::default() }, of_jobs + of_packets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_array_lacks_is_named() {
        let array = Config::preset("pangaea").unwrap();
        Machine::Area.validate(&array).unwrap();
        Machine::Start.validate(&Config { trace: true, ..array.clone() }).unwrap();
        let cases = [
            (array.clone(), "array.trace false: expected true"),
            (Config { trace: true, spawn_slots: 0, ..array }, "array.spawn_slots 0: expected 8 or 16"),
        ];
        for (array, expected) in cases {
            let error = Machine::Start.validate(&array).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
