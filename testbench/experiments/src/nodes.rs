//! Jobs on several nodes: the workloads of the ComP-Net paper, with those who serve their commands.

use std::fs;

use anyhow::{ensure, Context};
use hermes_rtl::config::Config;
use hermes_rtl::net::counter;
use hermes_testbench::cluster::{
    self, ClusterOptions, Jacobi, JacobiTimes, QueueMode, QueueProgram, QueueReport, Ring, ServiceCosts,
    ServiceCounts, ServiceDelays, ServiceOptions, MOST_NODES,
};
use hermes_testbench::cosim::{ArraySetup, KernelImage, MemoryOptions, Packet};
use hermes_testbench::firmware::{build_firmware, Firmware};
use hermes_testbench::kernel::{self, Kernel, RegisterClass};
use hermes_testbench::staging::temporary_folder;
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
/// Firmware that serves the queues, or all commands.
const QUEUES: &str = include_str!("../../../kernels-asm/firmware/net.c");
const PAPER: &str = include_str!("../../../kernels-asm/firmware/net-paper.c");
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
/// Bytes of the heap of commands in turn.
const RATE_HEAP: u32 = 16 << 10;
/// Most bytes of the heap: a part of the memory of a node.
const MOST_HEAP: u64 = 1 << 27;
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
    },
    /// Jacobi relaxation by all nodes.
    Jacobi(Jacobi),
    /// Allreduce by all nodes.
    Ring(Ring),
}

/// A workload on several nodes in place of packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nodes {
    /// What the kernel does.
    pub benchmark: Benchmark,
    /// Nodes.
    pub nodes: usize,
    /// Who serves the commands: `queues` (hardware), `paper` (firmware alone), or a name of
    /// [`ServiceCosts`], such as `dgpu:low`.
    pub column: String,
    /// Threads of the host that serve a node's commands; of the other columns the harts are those
    /// of the array.
    pub threads: u32,
}

impl Nodes {
    fn mode(&self) -> QueueMode {
        match self.column.as_str() {
            "paper" => QueueMode::Paper,
            _ => QueueMode::Queues,
        }
    }

    /// The delays of those who serve, if it is not the array.
    fn delays(&self) -> anyhow::Result<Option<ServiceDelays>> {
        if matches!(self.column.as_str(), "queues" | "paper") {
            return Ok(None);
        }
        ensure!(
            ServiceCosts::is_stated(&self.column),
            "column `{}`: expected queues, paper, dgpu or apu",
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
        format!("{} {}", self.mode().name(), self.source())
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
            Benchmark::Ring(ring) => ring.rings,
        }
    }

    fn heap_bytes(&self) -> u32 {
        match self.benchmark {
            Benchmark::GetSizes { most_log2, .. } => GET_TARGET as u32 + (2 << most_log2),
            Benchmark::Rate { .. } => RATE_HEAP,
            Benchmark::Jacobi(jacobi) => jacobi.heap_bytes() as u32,
            Benchmark::Ring(ring) => ring.heap_bytes(self.nodes) as u32,
        }
    }

    const fn source(&self) -> &'static str {
        match self.benchmark {
            Benchmark::GetSizes { .. } => GET_SIZES,
            Benchmark::Rate { .. } => RATE,
            Benchmark::Jacobi(_) => JACOBI,
            Benchmark::Ring(_) => RING,
        }
    }

    /// The kernel's own words.
    fn own(&self, lanes: u32) -> Vec<u32> {
        match self.benchmark {
            Benchmark::GetSizes { most_log2, rounds } => vec![rounds, most_log2],
            Benchmark::Rate { warps, commands, gets, waits } => {
                vec![commands, lanes, warps, u32::from(gets) | u32::from(waits) << 1]
            }
            Benchmark::Jacobi(jacobi) => jacobi.own(lanes as usize),
            Benchmark::Ring(ring) => ring.own(lanes as usize),
        }
    }

    /// Makes sure that nodes of an array can run it.
    ///
    /// # Errors
    /// The field, its value and what was expected.
    pub(crate) fn validate(&self, array: &Config) -> anyhow::Result<()> {
        ensure!(
            (2..=MOST_NODES).contains(&self.nodes),
            "nodes.nodes {}: expected 2 to {MOST_NODES}",
            self.nodes
        );
        self.service()?.as_ref().map_or(Ok(()), ServiceOptions::check).context("nodes")?;
        ensure!(
            array.network && array.command_threads > 0,
            "array: expected one with a network interface and a command processor, such as the preset node"
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
                ensure!(commands >= 1, "nodes.commands {commands}: expected at least 1");
            }
            Benchmark::Jacobi(jacobi) => jacobi.check(most as usize, MOST_HEAP).context("nodes.benchmark")?,
            Benchmark::Ring(ring) => {
                ring.check(self.nodes, most as usize, MOST_HEAP).context("nodes.benchmark")?;
            }
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
            Benchmark::Rate { warps, commands, .. } => 150 * u64::from(warps) * u64::from(commands),
            Benchmark::Jacobi(jacobi) => {
                let words = u64::from(jacobi.rows) * u64::from(jacobi.columns);
                2 * words + u64::from(jacobi.iterations) * (4_000 + 5 * words / 4)
            }
            Benchmark::Ring(ring) => u64::from(ring.rounds) * (2_000 * nodes + ring.all_words() as u64),
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
    /// What the threads of node 0 did, if others serve its commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceCounts>,
    /// Cycles that the harts of node 0 were awake, from the start of its firmware to its end.
    pub hart_cycles: u64,
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
        fs::write(path("kernel.c"), nodes.source())?;
        kernel::build(&path("kernel.c"), RegisterClass::Rv32i, &path("kernel.elf"))?;
        let text = if nodes.mode() == QueueMode::Paper { PAPER } else { QUEUES };
        fs::write(path("firmware.c"), text)?;
        build_firmware(&[path("firmware.c")], &path("firmware.elf"))?;
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
    let options = ClusterOptions {
        nodes: nodes.nodes,
        memory_bytes: 1 << 28,
        memory: MemoryOptions { latency: parameters.latency()?, ..MemoryOptions::default() },
        service: nodes.service()?,
        seed: parameters.seed,
        threads: 1,
        ..ClusterOptions::default()
    };
    let result = cluster::run(library, &options, |node| {
        node.mtu = MTU;
        node.host.write("NET_TIMEOUT", TIMEOUT)?;
        program.run(node, |number, _| heap_of(nodes, number))
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
            Benchmark::GetSizes { most_log2, rounds } => sizes(&result.nodes, most_log2, rounds)?,
            _ => Vec::new(),
        },
        rate: match nodes.benchmark {
            Benchmark::Rate { warps, commands, gets, .. } => {
                Some(rate(&result.nodes, warps, commands, gets)?)
            }
            _ => None,
        },
        iterations: match nodes.benchmark {
            Benchmark::Jacobi(jacobi) => iterations(&result.nodes, &jacobi)?,
            _ => Vec::new(),
        },
        allreduce: match nodes.benchmark {
            Benchmark::Ring(ring) => Some(allreduce(&result.nodes, &ring)?),
            _ => None,
        },
        service: first.service_counts,
        hart_cycles: first.status.counter(counter::HART_CYCLES).into(),
    };
    Ok((measured, cycles * nodes.nodes as u64))
}

/// A byte of what stands at the target of gets.
const fn pattern(at: usize) -> u8 {
    (at ^ at >> 8 ^ at >> 16).wrapping_mul(167) as u8
}

/// What the heap of a node holds at the start.
fn heap_of(nodes: &Nodes, number: usize) -> Vec<u8> {
    match nodes.benchmark {
        Benchmark::GetSizes { most_log2, .. } if number == 1 => {
            let mut heap = vec![0; GET_TARGET + (1 << most_log2)];
            heap.extend((0..1 << most_log2).map(pattern));
            heap
        }
        Benchmark::Ring(ring) => ring.start(number),
        // What gets bring.
        Benchmark::Rate { warps, gets: true, .. } if number > 0 => {
            (0..warps as usize * LINE).map(|at| pattern(at + number)).collect()
        }
        _ => Vec::new(),
    }
}

fn word(heap: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([heap[at], heap[at + 1], heap[at + 2], heap[at + 3]])
}

fn sizes(nodes: &[QueueReport], most_log2: u32, rounds: u32) -> anyhow::Result<Vec<SizeTimes>> {
    let heap = nodes.first().map(QueueReport::heap).unwrap_or_default();
    let sizes: Vec<u32> = (0..=most_log2).step_by(SIZE_STEP as usize).collect();
    let most = sizes.last().map_or(0, |log2| 1usize << log2);
    let got = &heap[GET_TARGET..GET_TARGET + most];
    if let Some(at) = (0..most).find(|at| got[*at] != pattern(*at)) {
        anyhow::bail!("byte {at} of what was got is {}; expected {}", got[at], pattern(at));
    }
    let times = sizes.iter().enumerate().map(|(place, log2)| {
        let at = GET_RESULTS + 12 * place;
        let mean = f64::from(word(heap, at)) / f64::from(rounds - 1);
        SizeTimes { bytes: 1 << log2, mean, least: word(heap, at + 4), first: word(heap, at + 8) }
    });
    Ok(times.collect())
}

fn rate(nodes: &[QueueReport], warps: u32, commands: u32, gets: bool) -> anyhow::Result<RateTimes> {
    let heap = nodes.first().map(QueueReport::heap).unwrap_or_default();
    let others = nodes.len() - 1;
    let (mut begin, mut end, mut most, mut sum) = (u32::MAX, 0, 0, 0);
    for warp in 0..warps as usize {
        let line = LINE * warp;
        let times = RATE_HEAP as usize / 2 + line;
        begin = begin.min(word(heap, times));
        end = end.max(word(heap, times + 4));
        most = most.max(word(heap, times + 8));
        sum += u64::from(word(heap, times + 12));
        // The last command of the warp to each node.
        for (peer, node) in nodes.iter().enumerate().skip(1) {
            let of_peer = |i: usize| 1 + (warp + i) % others == peer;
            let Some(last) = (0..commands as usize).rev().find(|i| of_peer(*i)) else { continue };
            if gets {
                // Gets may end in another order, and leave the bytes of any of the nodes.
                let of = |peer: usize| (0..8).map(|at| pattern(line + at + peer)).collect::<Vec<_>>();
                let got = &heap[line..line + 8];
                ensure!(
                    (1..nodes.len()).any(|peer| got == of(peer)),
                    "warp {warp} got {got:?}; expected {:?} of node {peer}, or those of another",
                    of(peer)
                );
            } else {
                let expected = [warp as u32, last as u32 + 1];
                let found = [word(node.heap(), line), word(node.heap(), line + 4)];
                ensure!(
                    found == expected,
                    "warp {warp}: node {peer} has {found:?} of its puts; expected {expected:?}"
                );
            }
        }
    }
    let all = u64::from(warps) * u64::from(commands);
    Ok(RateTimes { commands: all, cycles: end - begin, call_mean: sum as f64 / all as f64, call_most: most })
}

/// Compares all words and residuals of all nodes, and gives what node 0 measured.
fn iterations(nodes: &[QueueReport], jacobi: &Jacobi) -> anyhow::Result<Vec<JacobiTimes>> {
    let golden = jacobi.golden(nodes.len());
    let compare = |(number, node): (usize, &QueueReport)| {
        jacobi.compare(&golden, number, node.heap()).map_err(anyhow::Error::msg)
    };
    let times: Vec<_> = nodes.iter().enumerate().map(compare).collect::<anyhow::Result<_>>()?;
    times.into_iter().next().context("a cluster without nodes")
}

/// Compares all words of all nodes, and gives the cycles of all rings.
fn allreduce(nodes: &[QueueReport], ring: &Ring) -> anyhow::Result<u32> {
    let compare = |(number, node): (usize, &QueueReport)| {
        ring.compare(nodes.len(), number, node.heap()).map_err(anyhow::Error::msg)
    };
    let times: Vec<_> = nodes.iter().enumerate().map(compare).collect::<anyhow::Result<_>>()?;
    let begin = times.iter().map(|(begin, _)| *begin).min().unwrap_or(0);
    Ok(times.iter().map(|(_, end)| *end).max().unwrap_or(0) - begin)
}
