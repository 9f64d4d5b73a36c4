//! Puts of kernels by their command queues: how long one takes, and how many pass a second.

use std::path::Path;

use anyhow::Context;
use hermes_rtl::config::Config;
use hermes_rtl::types::counter;
use hermes_testbench::cluster::{
    self, ClusterOptions, ClusterResult, OutsidePeer, QueueMode, QueueProgram, QueueReport,
};
use hermes_testbench::cosim::{ArraySetup, KernelImage, Latency, MemoryOptions, Packet};
use hermes_testbench::firmware::build_firmware;
use hermes_testbench::kernel::{self, Kernel, RegisterClass};
use hermes_testbench::staging::temporary_folder;

use super::super::figure::{Bound, Figure};
use super::super::Subject;
use super::Args;
use crate::array;

const LATENCY: &str = include_str!("../../../kernels-asm/bench/put-latency.c");
const GET_LATENCY: &str = include_str!("../../../kernels-asm/bench/get-latency.c");
const RATE: &str = include_str!("../../../kernels-asm/bench/put-rate.c");
const QUEUES: &str = include_str!("../../../kernels-asm/firmware/net.c");
const PAPER: &str = include_str!("../../../kernels-asm/firmware/net-paper.c");
const HEAP: u32 = 16 << 10;
const ROUNDS: u32 = 50;
/// Cores of the array whose rate is measured: their warps call more often than four harts serve.
pub const CORES: usize = 4;
/// Lines of a bank of its L2: their rings have their places in it.
pub const BANK_LINES: usize = 2048;

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    let mut figures = vec![];
    let node = Config::preset("node")?;
    let kinds = [
        (QueueMode::Queues, "queues_put_8_until_seen", 0, Some(400.0), Some(365.0)),
        (QueueMode::Queues, "queues_prepared_8_until_seen", 1, None, Some(300.0)),
        (QueueMode::Paper, "paper_put_8_until_seen", 0, None, None),
        (QueueMode::Paper, "paper_prepared_8_until_seen", 1, None, None),
    ];
    for (mode, name, prepared, limit, goal) in kinds {
        let report = run(&node, mode, LATENCY, 1, &[ROUNDS, prepared], args, quiet).context(name)?;
        figures.extend(latencies(&report[1], name, limit, goal));
    }
    let report = run(&node, QueueMode::Queues, GET_LATENCY, 1, &[ROUNDS], args, quiet).context("get")?;
    figures.extend(latencies(&report[0], "get_8_until_value", Some(720.0), Some(680.0)));
    for (harts, limit, goal) in [(1, 15.0, 30.0), (4, 30.0, 45.0)] {
        let config =
            Config { cores: CORES, command_threads: harts, l2_bank_lines: BANK_LINES, ..node.clone() };
        on.add(&config);
        for (mode, name) in [(QueueMode::Queues, "queues"), (QueueMode::Paper, "paper")] {
            let (rate, node) = rate(&config, mode, args, quiet).context(name)?;
            let figure = Figure::new(format!("{name}_commands_{harts}_harts"), rate, "M/s");
            figures.push(match mode {
                QueueMode::Queues => figure.limit(Bound::AtLeast(limit)).goal(Bound::AtLeast(goal)),
                QueueMode::Paper => figure,
            });
            if mode == QueueMode::Queues {
                let count = |number| counted(&node, number);
                let (hits, misses) = (count(counter::READ_HITS), count(counter::READ_MISSES));
                figures.push(Figure::new(
                    format!("{name}_fetch_hits_{harts}_harts"),
                    hits / (hits + misses),
                    "",
                ));
            }
        }
    }
    for entries in &args.entries {
        let few = Config { net_queue_entries: *entries, ..node.clone() };
        let config = Config { cores: CORES, l2_bank_lines: BANK_LINES, ..few };
        config.validate()?;
        on.add(&config);
        let (rate, _) = rate(&config, QueueMode::Queues, args, quiet)?;
        figures.push(Figure::new(format!("queues_commands_of_{entries}_entries"), rate, "M/s"));
    }
    Ok(figures)
}

/// Puts of 8 bytes a microsecond of all warps of node 0 of two, and what it reports.
fn rate(config: &Config, mode: QueueMode, args: &Args, quiet: bool) -> anyhow::Result<(f64, QueueReport)> {
    let warps = config.cores * config.warps;
    let own = [args.commands, config.lanes as u32, warps as u32];
    let mut report = run(config, mode, RATE, warps, &own, args, quiet)?;
    let node = report.swap_remove(0);
    let times = node.area.heap + HEAP / 2;
    let line = |warp: usize, word: u32| node.word(times + 64 * warp as u32 + 4 * word);
    let begin = (0..warps).map(|warp| line(warp, 0)).min().unwrap_or(0);
    let end = (0..warps).map(|warp| line(warp, 1)).max().unwrap_or(0);
    Ok((f64::from(args.commands) * warps as f64 / f64::from(end - begin) * 1e3, node))
}

/// What a kernel found: the mean of all rounds but the first, with its limit and goal, the least
/// and the most of these, and the first one.
fn latencies(node: &QueueReport, name: &str, limit: Option<f64>, goal: Option<f64>) -> Vec<Figure> {
    let [sum, least, most, first] = [32, 33, 34, 35].map(|word| node.word(node.area.heap + 4 * word));
    let mut mean = Figure::new(name.to_string(), f64::from(sum) / f64::from(ROUNDS - 1), "cycles");
    if let Some(limit) = limit {
        mean = mean.limit(Bound::AtMost(limit));
    }
    if let Some(goal) = goal {
        mean = mean.goal(Bound::AtMost(goal));
    }
    let other = |kind, cycles: u32| Figure::new(format!("{name}_{kind}"), f64::from(cycles), "cycles");
    vec![mean, other("least", least), other("most", most), other("first", first)]
}

/// Value of a counter of a node at its end.
pub fn counted(node: &QueueReport, number: u64) -> f64 {
    node.status.counter(number).into()
}

/// Runs a kernel on so many warps of each of two nodes.
fn run(
    config: &Config,
    mode: QueueMode,
    source: &str,
    warps: usize,
    own: &[u32],
    args: &Args,
    quiet: bool,
) -> anyhow::Result<Vec<QueueReport>> {
    let job = Job { mode, source, warps, own, heap_bytes: HEAP, silent: false, nodes: 2, mtu: 1024 };
    let nodes = job.run(config, args, quiet)?;
    for node in &nodes {
        anyhow::ensure!(node.service.failed == 0, "a put failed: {:?}", node.service);
    }
    Ok(nodes)
}

/// A kernel for some nodes.
pub struct Job<'a> {
    pub mode: QueueMode,
    pub source: &'a str,
    /// Warps of each node.
    pub warps: usize,
    /// The kernel's own arguments.
    pub own: &'a [u32],
    pub heap_bytes: u32,
    /// There is a queue pair for node 2, which never answers.
    pub silent: bool,
    pub nodes: usize,
    /// Bytes of their packets.
    pub mtu: u32,
}

impl Job<'_> {
    /// Runs it. No thread may fail.
    pub fn run(&self, config: &Config, args: &Args, quiet: bool) -> anyhow::Result<Vec<QueueReport>> {
        Ok(self.run_all(config, args, quiet)?.nodes)
    }

    /// The same, with what the ports of the switch counted.
    pub fn run_all(
        &self,
        config: &Config,
        args: &Args,
        quiet: bool,
    ) -> anyhow::Result<ClusterResult<QueueReport>> {
        let library = array::library(config, false, quiet, |_| {})?;
        let folder = temporary_folder("hermes-")?;
        let file = |name: &str, text: &str| -> anyhow::Result<std::path::PathBuf> {
            let path = folder.path().join(name);
            std::fs::write(&path, text)?;
            Ok(path)
        };
        let text = if self.mode == QueueMode::Queues { QUEUES } else { PAPER };
        let firmware = folder.path().join("firmware.elf");
        build_firmware(&[file("firmware.c", text)?], &firmware)?;
        let program = QueueProgram {
            kernel: image(&file("kernel.c", self.source)?, folder.path())?,
            mode: self.mode,
            firmware,
            packets: vec![
                (0..self.warps * config.lanes)
                    .map(|_| Packet { frame: vec![0; 60], port: 0, flags: 0, arrival: 0 })
                    .collect();
                self.nodes
            ],
            setup: ArraySetup {
                ring_slots_log2: 9,
                slot_bytes_log2: 8,
                timeout: 100_000,
                watchdog: 50_000_000,
                mcw: config.warps as u32,
                ..ArraySetup::default()
            },
            own: self.own.to_vec(),
            heap_bytes: self.heap_bytes,
            rounds: 4,
        };
        let memory = MemoryOptions { latency: Latency::Fixed(args.latency), ..MemoryOptions::default() };
        let options = ClusterOptions {
            nodes: self.nodes,
            memory,
            seed: args.seed,
            threads: 2,
            ..ClusterOptions::default()
        };
        let result = cluster::run(&library, &options, |node| {
            node.mtu = self.mtu;
            if self.silent {
                let (number, address) = (node.number, cluster::address(cluster::MOST_NODES));
                node.outside =
                    Some(OutsidePeer { node: number, address, pair: 0, sequence: 0, key: 0, base: 0 });
            }
            program.run(node, |_, _| vec![])
        })?;
        for node in &result.nodes {
            anyhow::ensure!(
                node.faults == 0 && node.verdicts.iter().all(|verdict| *verdict == 0),
                "a call failed: {} faults, verdicts {:?}",
                node.faults,
                node.verdicts
            );
        }
        Ok(result)
    }
}

fn image(source: &Path, folder: &Path) -> anyhow::Result<KernelImage> {
    let path = folder.join("kernel.elf");
    kernel::build(source, RegisterClass::Rv32i, &path)?;
    Ok(KernelImage::from(&Kernel::read(&path)?))
}
