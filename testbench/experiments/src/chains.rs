//! Jobs of chains of network functions: those of the G-NET paper, and functions by themselves.

use anyhow::{ensure, Context};
use hermes_rtl::config::Config;
use hermes_testbench::chain::paper::{function, PaperChains, FUNCTIONS};
use hermes_testbench::chain::profile::rate_of;
use hermes_testbench::chain::schedule::Share;
use hermes_testbench::chain::{check_counts, check_ways, limit_for, visits, Chain, Ran, Setting, Sharing};
use hermes_testbench::cosim::{Arrivals, Guards, Packet, PacketTimes, Progress, RunOptions};
use hermes_testbench::metrics::Clock;
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::traffic::{Frame, Kind};
use serde::{Deserialize, Serialize};
use verilator_sys::ModelLibrary;

use crate::digest::{digest, loaded};
use crate::execute::same;
use crate::job::{Estimate, JobFile};
use crate::parameters::Parameters;
use crate::results::{Measured, ResultFile};

/// Bytes of the shared memory.
const MEMORY_BYTES: u64 = 1 << 28;
/// Cycles without a commit after which a run is given up.
const COMMIT_LIMIT: u64 = 100_000_000;

/// Functions that take turns with all cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnsOf {
    /// Warps of a turn.
    pub batch: u32,
    /// Cycles from the last finish of a turn to the next one; 0: cores go over one by one.
    pub launch: u64,
}

/// A chain in place of an app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainRun {
    /// Its functions, in the order of the visits.
    pub functions: Vec<String>,
    /// Functions before them, whose golden models have changed the packets when they come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<String>,
    /// Cores of each function; of the array, if they take turns.
    pub cores: Vec<usize>,
    /// Warps of each on a core.
    pub warps: Vec<u32>,
    /// They are not guarded: each reaches all packets, and its instructions may come from anywhere.
    #[serde(default, skip_serializing_if = "is_not")]
    pub open: bool,
    /// They take turns; else each has cores of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<TurnsOf>,
}

/// Whether it is false: what is usual is not written.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_not(value: &bool) -> bool {
    !value
}

/// Core-cycles that a packet of so many bytes takes at a function, measured with full warps: for
/// estimates.
pub(crate) fn core_cycles(name: &str, bytes: usize) -> f64 {
    match name {
        "firewall" => 40.0,
        "ipsec" => 90.0 + 1.9 * bytes as f64,
        "nids" => 60.0 + 1.2 * bytes as f64,
        _ => 10.0,
    }
}

impl ChainRun {
    /// Makes sure that an array can run it.
    ///
    /// # Errors
    /// The field, and what was expected.
    pub(crate) fn validate(&self, array: &Config) -> anyhow::Result<()> {
        let known: Vec<_> = FUNCTIONS.iter().map(|function| function.name).collect();
        for name in self.functions.iter().chain(&self.behind) {
            ensure!(function(name).is_some(), "chain.functions `{name}`: expected {}", known.join(", "));
        }
        let (count, most) = (self.functions.len(), array.network_functions);
        ensure!(
            (1..=most).contains(&count),
            "chain.functions: {count}: expected 1 to {most}, as array.network_functions says"
        );
        ensure!(self.cores.len() == count, "chain.cores: {}: expected {count}", self.cores.len());
        ensure!(self.warps.len() == count, "chain.warps: {}: expected {count}", self.warps.len());
        let all: usize = match self.turns {
            None => self.cores.iter().sum(),
            Some(_) => self.cores.iter().copied().max().unwrap_or(0),
        };
        ensure!(
            all <= array.cores && self.cores.iter().all(|cores| *cores > 0),
            "chain.cores: {:?}: expected 1 or more each, and at most {} in all",
            self.cores,
            array.cores
        );
        ensure!(
            self.warps.iter().all(|warps| (1..=array.warps as u32).contains(warps)),
            "chain.warps: {:?}: expected 1 to {}, the warp slots of a core",
            self.warps,
            array.warps
        );
        ensure!(array.packet_ports, "array.packet_ports false: expected true, for chains");
        ensure!(
            self.turns.is_none_or(|turns| (1..=1024).contains(&turns.batch)),
            "chain.turns.batch: expected 1 to 1024"
        );
        Ok(())
    }

    /// What a run takes: core-cycles a packet, measured.
    pub(crate) fn estimate(&self, packets: usize, bytes: usize) -> Estimate {
        let each = |name: &String| core_cycles(name, bytes);
        let slowest = self.functions.iter().zip(&self.cores).map(|(name, cores)| each(name) / *cores as f64);
        let a_packet = match self.turns {
            None => slowest.fold(0.0, f64::max),
            Some(_) => 1.3 * slowest.sum::<f64>(),
        };
        let cycles = (a_packet * packets as f64) as u64 + 50_000;
        Estimate { cycles, bytes: (400 << 20) + 3 * (packets * bytes) as u64 }
    }
}

/// What was measured of a function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionMeasured {
    /// Packets that came to it.
    pub packets: u64,
    /// Warps of them.
    pub warps: u64,
    /// Most warps that waited at a time.
    pub most_waiting: u64,
    /// Cycles in which its cores had a warp, summed over the cores.
    pub core_cycles: u64,
    /// Cycles from start to finish, in the mean over the packets.
    pub stay: f64,
}

/// What a run of a chain measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainMeasured {
    /// Packets that finished between the end of the first quarter of them and the beginning of the
    /// last sixteenth.
    pub packets: u64,
    /// The cycles between.
    pub cycles: u64,
    /// Bytes of all frames that came in, without FCS.
    pub bytes: u64,
    /// All packets.
    pub all: u64,
    /// The functions.
    pub functions: Vec<FunctionMeasured>,
}

impl ChainMeasured {
    /// Packets a cycle in the middle of the run.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.packets as f64 / self.cycles.max(1) as f64
    }

    /// Gbit/s at 1 GHz of the frames that came in, with FCS.
    #[must_use]
    pub fn gbps(&self) -> f64 {
        8.0 * self.rate() * (self.bytes as f64 / self.all.max(1) as f64 + 4.0)
    }
}

/// A chain with its packets.
pub(crate) struct ChainWork {
    chain: Chain,
    frames: Vec<Frame>,
    /// SHA-256 of what goes to memory, and of what the functions look up.
    pub digests: [String; 2],
}

impl ChainWork {
    /// Makes it as `parameters` say.
    ///
    /// # Errors
    /// A kernel cannot be built, or the frames do not fit.
    pub fn create(parameters: &Parameters, run: &ChainRun) -> anyhow::Result<Self> {
        let Kind::Fixed(bytes) = parameters.kind()? else {
            anyhow::bail!("frames {}: expected fixed:BYTES", parameters.frames);
        };
        let array = &parameters.array;
        let chains = PaperChains::create(parameters.seed)?;
        let place = |names: &[String], bytes: usize| {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            chains.chain(&names, array, MEMORY_BYTES, bytes)
        };
        let visited: Vec<_> = run.behind.iter().chain(&run.functions).map(String::as_str).collect();
        let mut frames = chains.frames(&visited, bytes, parameters.packets);
        if !run.behind.is_empty() {
            let before = place(&run.behind, bytes)?;
            let model = before.model().map_err(|name| anyhow::anyhow!("{name} has no golden model"))?;
            let come = (0..).zip(&frames).filter_map(|(index, frame)| {
                let (out, _) = model.follow(index, &SlotPacket::new(frame, before.slot_bytes_log2));
                let wire_length = out.frame.len() as u32;
                let frame = Frame { data: out.frame, wire_length, ..frame.clone() };
                out.verdict.is_forward().then_some(frame)
            });
            frames = come.collect();
        }
        let longest = frames.iter().map(|frame| frame.data.len()).max().unwrap_or(bytes);
        let mut chain = place(&run.functions, longest)?;
        let shares: Vec<_> = run
            .cores
            .iter()
            .zip(&run.warps)
            .map(|(cores, warps)| Share { cores: *cores, warps: *warps })
            .collect();
        chain.limit = match run.turns {
            None => limit_for(&shares),
            // What is in flight is a turn's.
            Some(_) => 0,
        };
        chain.share(&shares);
        if run.open {
            for function in &mut chain.functions {
                let keeps_verdict = function.guards.keeps_verdict;
                function.guards = Guards { keeps_verdict, ..Guards::default() };
            }
        }
        let kernels: Vec<_> = chain
            .functions
            .iter()
            .flat_map(|function| loaded(function.kernel.entry, &function.kernel.segments))
            .collect();
        let digests = [digest(&kernels), digest(chains.inputs.as_bytes())];
        Ok(Self { chain, frames, digests })
    }
}

/// Simulates a job of a chain; every packet is compared with the golden model of the chain.
///
/// # Errors
/// Kernels or inputs are not those that the job was planned with, or any of a run.
pub(crate) fn execute(
    file: &JobFile,
    run: &ChainRun,
    library: &ModelLibrary,
    progress: &mut dyn FnMut(Progress),
) -> anyhow::Result<(ResultFile, u64)> {
    let parameters = &file.job.parameters;
    let work = ChainWork::create(parameters, run)?;
    same("kernel", &file.job.kernel, &work.digests[0])?;
    same("tables", &file.job.tables, &work.digests[1])?;
    let chain = &work.chain;
    let model = chain.model().map_err(|name| anyhow::anyhow!("{name} has no golden model"))?;
    let process = parameters.arrival_process()?;
    let scheduled = process.is_scheduled();
    let options = RunOptions {
        commit_limit: COMMIT_LIMIT,
        arrivals: if scheduled { Arrivals::Scheduled } else { Arrivals::Taken },
        // Turns go on while no packet comes.
        skip_idle: run.turns.is_none(),
        ..RunOptions::default()
    };
    let setting = Setting {
        chain,
        model: Some(&model),
        ports: true,
        memory_bytes: MEMORY_BYTES,
        latency: parameters.latency()?,
        timeout: parameters.timeout,
        options,
        live: None,
        sharing: match run.turns {
            None => Sharing::Spatial,
            Some(TurnsOf { batch, launch }) => Sharing::Temporal { batch, launch },
        },
    };
    let packets: Vec<_> =
        work.frames.iter().map(|frame| SlotPacket::new(frame, chain.slot_bytes_log2)).collect();
    let arrivals = process.arrivals(&work.frames, Clock::GIGAHERTZ, parameters.packet_seed);
    let arriving: Vec<_> = work
        .frames
        .iter()
        .zip(arrivals)
        .map(|(frame, arrival)| Packet { frame: frame.data.clone(), port: frame.port, flags: 0, arrival })
        .collect();
    let Ran { result, counts, times, ways, .. } =
        setting.simulate(library.instantiate()?, &packets, &arriving, progress).context("the chain")?;
    let faults = result.fault_count;
    ensure!(faults == 0, "{faults} threads ended with a fault");
    let visits = visits(&model, &packets);
    check_ways(chain, &visits, &ways)?;
    check_counts(chain, &visits, &counts)?;
    let of_packets: Vec<PacketTimes> = result.packets.iter().map(|packet| packet.times).collect();
    let window = rate_of(&of_packets);
    let functions = counts.iter().zip(&times).map(|(counts, times)| FunctionMeasured {
        packets: counts.lanes.into(),
        warps: counts.visits.into(),
        most_waiting: counts.peak.into(),
        core_cycles: times.core_cycles,
        stay: times.stays.iter().sum::<u64>() as f64 / times.stays.len().max(1) as f64,
    });
    let chain = ChainMeasured {
        packets: window.packets,
        cycles: window.cycles,
        bytes: packets.iter().map(|packet| packet.wire_length() as u64).sum(),
        all: packets.len() as u64,
        functions: functions.collect(),
    };
    let measured = Measured { chain: Some(chain), ..Measured::of(&file.job, &packets, 0, &result)? };
    let cycles = result.simulated_cycles;
    Ok((ResultFile { key: file.key.clone(), job: file.job.clone(), golden_checked: true, measured }, cycles))
}
