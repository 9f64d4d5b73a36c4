//! Jobs on several nodes: the workloads of the ComP-Net paper, with those who serve their commands.

mod messages;
mod outcome;
#[cfg(test)]
mod tests;

use std::fs;

use anyhow::{ensure, Context};
use hermes_rtl::config::Config;
use hermes_rtl::types::counter;
use hermes_testbench::cluster::{
    self, ClusterOptions, HartCounts, Jacobi, JacobiTimes, LineLock, LineLockMet, OutsideOptions, QueueMode,
    QueueProgram, Ring, ServiceCosts, ServiceCounts, ServiceDelays, ServiceOptions, MOST_NODES,
};
use hermes_testbench::cosim::{ArraySetup, KernelImage, MemoryOptions, Packet};
use hermes_testbench::firmware::{build_firmware, Firmware};
use hermes_testbench::kernel::{self, Kernel, RegisterClass};
use hermes_testbench::staging::temporary_folder;
pub use messages::{MessageTimes, Messages};
use outcome::InTurn;
use serde::{Deserialize, Serialize};
use verilator_sys::ModelLibrary;

use crate::digest::{digest, loaded};
use crate::job::{Estimate, JobFile};
use crate::parameters::Parameters;
use crate::results::{Measured, ResultFile};

const GET_SIZES: &str = include_str!("../../../kernels-asm/compnet/get-sizes.c");
const RATE: &str = include_str!("../../../kernels-asm/compnet/rate.c");
const JACOBI: &str = include_str!("../../../kernels-asm/c/jacobi.c");
const RING: &str = include_str!("../../../kernels-asm/c/ring.c");
/// Its adds alone; it includes it.
const ADDS: &str = include_str!("../../../kernels-asm/compnet/adds.c");
/// Warps that write commands beside others that stream, in assembler.
const RINGS: &str = include_str!("../../../kernels-asm/bench/rings.S");
/// No kernel runs.
const IDLE: &str = "#include <hermes.h>\nuint32_t kernel(void) { return VERDICT_FORWARD; }\n";
/// Firmware that serves the queues, or all commands.
const QUEUES: &str = include_str!("../../../kernels-asm/firmware/net.c");
const PAPER: &str = include_str!("../../../kernels-asm/firmware/net-paper.c");
const SLEEP: &str = include_str!("../../../kernels-asm/firmware/examples/net-sleep.c");
/// Bytes of a packet between nodes: with fewer the window of a queue pair would bound those whose
/// answers take longest.
const MTU: u32 = 4_096;
/// NET_TIMEOUT: more than a message may wait for the one thread that serves all. No frame is lost,
/// so a time-out is an error.
const TIMEOUT: u32 = 1 << 20;
/// Bytes of the heap in front of what is got, and words of its results in front of them.
const GET_TARGET: usize = 64 << 10;
const GET_RESULTS: usize = 4 * 32;
/// Sizes of gets grow by this power of two.
const SIZE_STEP: u32 = 2;
/// Bytes of the heap of commands in turn in front of the calls that are kept, and where the times
/// of the warps stand in it.
const RATE_HEAP: u32 = 16 << 10;
const RATE_TIMES: usize = 8 << 10;
/// Most bytes of the heap: a part of the memory of a node.
const MOST_HEAP: u64 = 1 << 27;
/// Most commands in turn of a warp.
const MOST_COMMANDS: u32 = 1 << 16;
/// Bytes of a warp's line.
const LINE: usize = 64;

/// What the kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
pub enum Benchmark {
    /// Gets by their size, one at a time.
    GetSizes {
        /// The largest, as a power of two.
        most_log2: u32,
        /// Gets of a size.
        rounds: u32,
    },
    /// Commands of eight bytes to all other nodes in turn.
    Rate {
        /// Warps of node 0.
        warps: u32,
        /// Commands of a warp.
        commands: u32,
        /// Gets, or else puts.
        gets: bool,
        /// Each waits for its end.
        waits: bool,
        /// Cycles from a command of a warp to its next one; 0: as fast as they go.
        #[serde(default, skip_serializing_if = "is_zero")]
        interval: u32,
    },
    /// Jacobi relaxation by all nodes.
    Jacobi(Jacobi),
    /// Allreduce by all nodes.
    Ring(Ring),
    /// The adds of an allreduce alone, on one node: as many words as it has.
    Adds(Ring),
    /// Puts of the hosts, without a kernel.
    Messages(Messages),
    /// Commands that wait in the L2 of one node beside warps that stream.
    LineLock(LineLock),
}

/// A workload on several nodes in place of packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nodes {
    /// What the kernel does.
    pub benchmark: Benchmark,
    /// Nodes.
    pub nodes: usize,
    /// Who serves the commands: `queues` (hardware; harts wait in NEXT), `wfi` (the same, and the
    /// one hart sleeps in `wfi`), `paper` (firmware alone), or a name of [`ServiceCosts`], such as
    /// `dgpu:low`.
    pub column: String,
    /// Threads of the host that serve a node's commands; of the other columns the harts are those
    /// of the array.
    pub threads: u32,
    /// What the harts of node 0 do while the kernel runs is counted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub counted: bool,
}

const fn is_zero(value: &u32) -> bool {
    *value == 0
}

const fn is_false(value: &bool) -> bool {
    !*value
}

impl Nodes {
    fn mode(&self) -> QueueMode {
        match self.column.as_str() {
            "paper" => QueueMode::Paper,
            _ => QueueMode::Queues,
        }
    }

    /// Threads of a host serve, by their delays.
    fn is_of_a_host(&self) -> bool {
        !matches!(self.column.as_str(), "queues" | "wfi" | "paper")
    }

    /// Source of the firmware.
    fn firmware(&self) -> &'static str {
        match self.column.as_str() {
            "paper" => PAPER,
            "wfi" => SLEEP,
            _ => QUEUES,
        }
    }

    /// The delays of those who serve, if it is not the array.
    fn delays(&self) -> anyhow::Result<Option<ServiceDelays>> {
        if !self.is_of_a_host() {
            return Ok(None);
        }
        ensure!(
            ServiceCosts::is_stated(&self.column),
            "column `{}`: expected queues, wfi, paper, dgpu or apu",
            self.column
        );
        Ok(Some(ServiceCosts::find(&self.column)?.delays))
    }

    /// SHA-256 of the delays.
    pub(crate) fn delays_digest(&self) -> anyhow::Result<String> {
        Ok(digest(serde_json::to_string(&self.delays()?)?.as_bytes()))
    }

    /// What tells its kernel and firmware from those of other workloads.
    pub(crate) fn program(&self) -> String {
        format!("{} {}", self.firmware(), self.source())
    }

    fn service(&self) -> anyhow::Result<Option<ServiceOptions>> {
        let (threads, queues) = (self.threads, self.warps());
        Ok(self.delays()?.map(|delays| ServiceOptions { delays, threads, queues }))
    }

    const fn warps(&self) -> u32 {
        match self.benchmark {
            Benchmark::GetSizes { .. } => 1,
            Benchmark::Rate { warps, .. } => warps,
            Benchmark::Jacobi(jacobi) => jacobi.warps,
            Benchmark::Ring(ring) | Benchmark::Adds(ring) => ring.rings,
            Benchmark::Messages(_) | Benchmark::LineLock(_) => 1,
        }
    }

    fn heap_bytes(&self) -> u32 {
        match self.benchmark {
            Benchmark::GetSizes { most_log2, .. } => GET_TARGET as u32 + (2 << most_log2),
            Benchmark::Rate { warps, commands, waits: true, .. } => RATE_HEAP + 4 * warps * commands,
            Benchmark::Rate { .. } => RATE_HEAP,
            Benchmark::Jacobi(jacobi) => jacobi.heap_bytes() as u32,
            Benchmark::Ring(ring) => ring.heap_bytes(self.nodes) as u32,
            // As many landing words as words.
            Benchmark::Adds(ring) => outcome::adds_heap_bytes(&ring) as u32,
            Benchmark::Messages(_) | Benchmark::LineLock(_) => 0,
        }
    }

    const fn source(&self) -> &'static str {
        match self.benchmark {
            Benchmark::GetSizes { .. } => GET_SIZES,
            Benchmark::Rate { .. } => RATE,
            Benchmark::Jacobi(_) => JACOBI,
            Benchmark::Ring(_) => RING,
            Benchmark::Adds(_) => ADDS,
            Benchmark::Messages(_) => IDLE,
            Benchmark::LineLock(_) => RINGS,
        }
    }

    /// The kernel's own words.
    fn own(&self, lanes: u32) -> Vec<u32> {
        match self.benchmark {
            Benchmark::GetSizes { most_log2, rounds } => vec![rounds, most_log2],
            Benchmark::Rate { warps, commands, gets, waits, interval } => {
                // Calls that wait are kept.
                let kind = u32::from(gets) | (u32::from(waits) * 6);
                vec![commands, lanes, warps, kind, interval, interval / warps]
            }
            Benchmark::Jacobi(jacobi) => jacobi.own(lanes as usize),
            Benchmark::Ring(ring) | Benchmark::Adds(ring) => ring.own(lanes as usize),
            Benchmark::Messages(_) | Benchmark::LineLock(_) => Vec::new(),
        }
    }

    /// Makes sure that nodes of an array can run it.
    ///
    /// # Errors
    /// The field, its value and what was expected.
    pub(crate) fn validate(&self, array: &Config) -> anyhow::Result<()> {
        let (least, most) = match self.benchmark {
            Benchmark::Adds(_) | Benchmark::LineLock(_) => (1, 1),
            Benchmark::Jacobi(_) => (1, MOST_NODES),
            _ => (2, MOST_NODES),
        };
        ensure!(
            (least..=most).contains(&self.nodes),
            "nodes.nodes {}: expected {least} to {most}",
            self.nodes
        );
        self.service()?.as_ref().map_or(Ok(()), ServiceOptions::check).context("nodes")?;
        ensure!(
            array.network && array.command_threads > 0,
            "array: expected one with a network interface and a command processor, such as the preset node"
        );
        ensure!(
            self.column != "wfi" || array.command_threads == 1 && array.uli_channels > 0,
            "nodes.column wfi: expected an array with one hart and channels of user-level interrupts"
        );
        let most = (array.cores * array.warps) as u32;
        let warps = self.warps();
        ensure!((1..=most).contains(&warps), "nodes.warps {warps}: expected 1 to {most}, those on its cores");
        match self.benchmark {
            Benchmark::GetSizes { most_log2, rounds } => {
                ensure!(most_log2 <= 24, "nodes.most_log2 {most_log2}: expected 0 to 24");
                ensure!(rounds >= 2, "nodes.rounds {rounds}: expected at least 2, as the first is left out");
            }
            Benchmark::Rate { commands, .. } => {
                ensure!(
                    (1..=MOST_COMMANDS).contains(&commands),
                    "nodes.commands {commands}: expected 1 to {MOST_COMMANDS}"
                );
            }
            Benchmark::Jacobi(jacobi) => jacobi.check(most as usize, MOST_HEAP).context("nodes.benchmark")?,
            Benchmark::Ring(ring) => {
                ring.check(self.nodes, most as usize, MOST_HEAP).context("nodes.benchmark")?;
            }
            Benchmark::Adds(ring) => {
                ring.check(1, most as usize, MOST_HEAP / 2).context("nodes.benchmark")?;
            }
            Benchmark::Messages(messages) => messages.check(self.nodes).context("nodes.benchmark")?,
            Benchmark::LineLock(lock) => lock.check(array).context("nodes.benchmark")?,
        }
        Ok(())
    }

    /// What a run takes: node-cycles, measured.
    pub(crate) fn estimate(&self) -> Estimate {
        let nodes = self.nodes as u64;
        let cycles = match self.benchmark {
            Benchmark::GetSizes { most_log2, rounds } => {
                u64::from(rounds) * ((2 << most_log2) / 8 + 2_500 * u64::from(most_log2))
            }
            Benchmark::Rate { warps, commands, interval, .. } => {
                (150 * u64::from(warps)).max(interval.into()) * u64::from(commands)
            }
            Benchmark::Jacobi(jacobi) => {
                let words = u64::from(jacobi.rows) * u64::from(jacobi.columns);
                2 * words + u64::from(jacobi.iterations) * (4_000 + 5 * words / 4)
            }
            Benchmark::Ring(ring) | Benchmark::Adds(ring) => {
                u64::from(ring.rounds) * (2_000 * nodes + ring.all_words() as u64)
            }
            Benchmark::Messages(messages) => {
                let bytes = u64::from(messages.bytes) * u64::from(messages.peers);
                u64::from(messages.rounds) * (1_000 + bytes / 10)
            }
            Benchmark::LineLock(lock) => {
                u64::from(lock.commands) * u64::from(lock.service / lock.waiting.max(1))
            }
        };
        Estimate { cycles: nodes * (30_000 + cycles), bytes: nodes * (100 << 20) }
    }
}

/// Gets of a size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeTimes {
    /// Their bytes.
    pub bytes: u32,
    /// Mean of all but the first, in cycles.
    pub mean: f64,
    /// Least of these.
    pub least: u32,
    /// The first.
    pub first: u32,
}

/// Commands in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateTimes {
    /// Commands of all warps.
    pub commands: u64,
    /// Cycles from the first to behind the last.
    pub cycles: u32,
    /// Mean cycles of a call.
    pub call_mean: f64,
    /// Cycles that 99 % of the calls do not exceed, if each waits for its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_p99: Option<u32>,
    /// Cycles of the longest call.
    pub call_most: u32,
}

/// What a run on several nodes measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodesMeasured {
    /// Cycles of the kernel of node 0.
    pub cycles: u64,
    /// Gets by size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<SizeTimes>,
    /// Commands in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateTimes>,
    /// Cycles of each iteration of Jacobi, by the kernel of node 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iterations: Vec<JacobiTimes>,
    /// Cycles of an allreduce, from the first ring of any node that began to the last that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allreduce: Option<u32>,
    /// Cycles of the adds of an allreduce alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adds: Option<u32>,
    /// Commands that wait in the L2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_lock: Option<LineLockMet>,
    /// Puts of the hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageTimes>,
    /// What the threads of node 0 did, if others serve its commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceCounts>,
    /// Cycles that the harts of node 0 were awake, from the start of its firmware to its end.
    pub hart_cycles: u64,
    /// What they did while the kernel ran, if that was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harts: Option<HartCounts>,
}

/// A workload, built.
pub(crate) struct NodesRun {
    folder: tempfile::TempDir,
    kernel: KernelImage,
    /// SHA-256 of kernel and firmware as they are loaded, and of the delays.
    pub digests: [String; 2],
}

impl NodesRun {
    /// Builds kernel and firmware.
    ///
    /// # Errors
    /// They cannot be built, or the column is not known.
    pub fn create(nodes: &Nodes) -> anyhow::Result<Self> {
        let folder = temporary_folder("hermes-")?;
        let path = |name: &str| folder.path().join(name);
        // One kernel includes another.
        for folder in ["c", "compnet"] {
            fs::create_dir(path(folder))?;
        }
        fs::write(path("c/ring.c"), RING)?;
        match nodes.benchmark {
            Benchmark::LineLock(_) => {
                kernel::build_source("rings.S", RINGS, RegisterClass::Rv32e, &path("kernel.elf"))?;
            }
            _ => {
                fs::write(path("compnet/kernel.c"), nodes.source())?;
                kernel::build(&path("compnet/kernel.c"), RegisterClass::Rv32i, &path("kernel.elf"))?;
            }
        }
        // An example includes the firmware in the folder above.
        fs::write(path("net.c"), QUEUES)?;
        fs::create_dir(path("examples"))?;
        fs::write(path("examples/firmware.c"), nodes.firmware())?;
        build_firmware(&[path("examples/firmware.c")], &path("firmware.elf"))?;
        let kernel = Kernel::read(&path("kernel.elf"))?;
        let firmware = Firmware::read(&path("firmware.elf"))?;
        let programs = [
            loaded(kernel.entry, &kernel.segments),
            loaded(firmware.executable.entry, &firmware.executable.segments),
        ];
        let digests = [digest(&programs.concat()), nodes.delays_digest()?];
        Ok(Self { kernel: KernelImage::from(&kernel), folder, digests })
    }
}

/// Simulates a job on several nodes; what was moved is compared byte by byte.
///
/// # Errors
/// The programs are not those that the job was planned with, a command fails, a packet is sent
/// again, or a byte is wrong.
pub(crate) fn execute(
    file: &JobFile,
    nodes: &Nodes,
    library: &ModelLibrary,
) -> anyhow::Result<(ResultFile, u64)> {
    let parameters = &file.job.parameters;
    let run = NodesRun::create(nodes)?;
    super::execute::same("kernel", &file.job.kernel, &run.digests[0])?;
    super::execute::same("tables", &file.job.tables, &run.digests[1])?;
    let (measured, cycles) = simulate(&run, parameters, nodes, library)?;
    let measured = Measured { nodes: Some(measured), ..Measured::default() };
    Ok((ResultFile { key: file.key.clone(), job: file.job.clone(), golden_checked: true, measured }, cycles))
}

fn simulate(
    run: &NodesRun,
    parameters: &Parameters,
    nodes: &Nodes,
    library: &ModelLibrary,
) -> anyhow::Result<(NodesMeasured, u64)> {
    let array = &parameters.array;
    if let Benchmark::LineLock(lock) = nodes.benchmark {
        let met = lock.run(library, &run.kernel, parameters.latency()?)?;
        let cycles = nodes.estimate().cycles;
        return Ok((NodesMeasured { line_lock: Some(met), ..NodesMeasured::default() }, cycles));
    }
    let packet = Packet { frame: vec![0; 60], port: 0, flags: 0, arrival: 0 };
    let packets = vec![packet; nodes.warps() as usize * array.lanes];
    let program = QueueProgram {
        kernel: run.kernel.clone(),
        mode: nodes.mode(),
        firmware: run.folder.path().join("firmware.elf"),
        packets: vec![packets; nodes.nodes],
        setup: ArraySetup {
            ring_slots_log2: 9,
            slot_bytes_log2: 8,
            timeout: 100_000,
            watchdog: 500_000_000,
            mcw: array.warps as u32,
            ..ArraySetup::default()
        },
        own: nodes.own(array.lanes as u32),
        heap_bytes: nodes.heap_bytes(),
        rounds: 4,
    };
    // Nobody sends to the socket, without which a cluster has more than one node.
    let alone = || -> anyhow::Result<_> {
        Ok(OutsideOptions { local: "127.0.0.1:0".parse()?, remote: None, peer: None })
    };
    let options = ClusterOptions {
        nodes: nodes.nodes,
        outside: (nodes.nodes == 1).then(alone).transpose()?,
        memory_bytes: 1 << 28,
        memory: MemoryOptions { latency: parameters.latency()?, ..MemoryOptions::default() },
        service: nodes.service()?,
        seed: parameters.seed,
        threads: 1,
        ..ClusterOptions::default()
    };
    if let Benchmark::Messages(messages) = nodes.benchmark {
        let (times, cycles) = messages.simulate(&options, library)?;
        return Ok((NodesMeasured { messages: Some(times), ..NodesMeasured::default() }, cycles));
    }
    let result = cluster::run(library, &options, |node| {
        node.mtu = MTU;
        node.host.write("NET_TIMEOUT", TIMEOUT)?;
        let fill = |number: usize, _: &_| outcome::heap_of(nodes, number);
        match nodes.counted {
            true => program.run_counted(node, fill),
            false => program.run(node, fill),
        }
    })?;
    for (number, node) in result.nodes.iter().enumerate() {
        ensure!(
            node.faults == 0 && node.verdicts.iter().all(|verdict| *verdict == 0),
            "node {number}: a call failed: {} faults, verdicts {:?}",
            node.faults,
            node.verdicts
        );
        ensure!(node.service.failed == 0, "node {number}: a command failed: {:?}", node.service);
        let again = node.status.counter(counter::RESENT);
        ensure!(again == 0, "node {number}: {again} packets were sent again; expected none without loss");
    }
    let first = result.nodes.first().context("a cluster without nodes")?;
    let cycles = first.cycles.1;
    let measured = NodesMeasured {
        cycles: cycles - first.cycles.0,
        sizes: match nodes.benchmark {
            Benchmark::GetSizes { most_log2, rounds } => outcome::sizes(&result.nodes, most_log2, rounds)?,
            _ => Vec::new(),
        },
        rate: match nodes.benchmark {
            Benchmark::Rate { warps, commands, gets, waits, .. } => {
                Some(outcome::rate(&result.nodes, InTurn { warps, commands, gets, waits })?)
            }
            _ => None,
        },
        iterations: match nodes.benchmark {
            Benchmark::Jacobi(jacobi) => outcome::iterations(&result.nodes, &jacobi)?,
            _ => Vec::new(),
        },
        allreduce: match nodes.benchmark {
            Benchmark::Ring(ring) => Some(outcome::allreduce(&result.nodes, &ring)?),
            _ => None,
        },
        adds: match nodes.benchmark {
            Benchmark::Adds(ring) => Some(outcome::adds(&result.nodes, &ring)?),
            _ => None,
        },
        messages: None,
        line_lock: None,
        service: first.service_counts,
        hart_cycles: first.status.counter(counter::HART_CYCLES).into(),
        harts: first.harts,
    };
    Ok((measured, cycles * nodes.nodes as u64))
}
