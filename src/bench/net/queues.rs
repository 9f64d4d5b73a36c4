//! Puts of kernels by their command queues: how long one takes, and how many pass a second.

use std::path::Path;

use anyhow::Context;
use hermes_rtl::config::Config;
use hermes_rtl::net::counter;
use hermes_testbench::cluster::{self, ClusterOptions, QueueMode, QueueProgram, QueueReport};
use hermes_testbench::cosim::{ArraySetup, KernelImage, Latency, MemoryOptions, Packet};
use hermes_testbench::firmware::build_firmware;
use hermes_testbench::kernel::{self, Kernel, RegisterClass};

use super::super::figure::{Bound, Figure};
use super::Args;
use crate::array;

const LATENCY: &str = include_str!("../../../kernels-asm/bench/put-latency.c");
const RATE: &str = include_str!("../../../kernels-asm/bench/put-rate.c");
const QUEUES: &str = include_str!("../../../kernels-asm/firmware/net.c");
const PAPER: &str = include_str!("../../../kernels-asm/firmware/net-paper.c");
const HEAP: u32 = 16 << 10;
const ROUNDS: u32 = 50;
/// Cores of the array whose rate is measured: their warps call more often than four harts serve.
const CORES: usize = 4;
/// Lines of a bank of its L2: their rings have their places in it.
const BANK_LINES: usize = 2048;

pub fn measure(args: &Args, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    let mut figures = vec![];
    let node = Config::preset("node")?;
    let kinds = [
        (QueueMode::Queues, "queues_put_8", 0),
        (QueueMode::Queues, "queues_prepared_8", 1),
        (QueueMode::Paper, "paper_put_8", 0),
        (QueueMode::Paper, "paper_prepared_8", 1),
    ];
    for (mode, name, prepared) in kinds {
        let report = run(&node, mode, LATENCY, 1, &[ROUNDS, prepared], args, quiet).context(name)?;
        let [sum, least, most] = [32, 33, 34].map(|word| report[1].word(report[1].area.heap + 4 * word));
        let mean = Figure::new(format!("{name}_until_seen"), f64::from(sum) / f64::from(ROUNDS), "cycles");
        figures.push(match (mode, prepared) {
            (QueueMode::Queues, 0) => mean.limit(Bound::AtMost(400.0)).goal(Bound::AtMost(365.0)),
            (QueueMode::Queues, _) => mean.goal(Bound::AtMost(300.0)),
            (QueueMode::Paper, _) => mean,
        });
        figures.push(Figure::new(format!("{name}_least"), f64::from(least), "cycles"));
        figures.push(Figure::new(format!("{name}_most"), f64::from(most), "cycles"));
    }
    for (harts, limit, goal) in [(1, 15.0, 30.0), (4, 30.0, 45.0)] {
        let config =
            Config { cores: CORES, command_threads: harts, l2_bank_lines: BANK_LINES, ..node.clone() };
        for (mode, name) in [(QueueMode::Queues, "queues"), (QueueMode::Paper, "paper")] {
            let warps = config.cores * config.warps;
            let own = [args.commands, config.lanes as u32, warps as u32];
            let report = run(&config, mode, RATE, warps, &own, args, quiet).context(name)?;
            let node = &report[0];
            let times = node.area.heap + HEAP / 2;
            let line = |warp: usize, word: u32| node.word(times + 64 * warp as u32 + 4 * word);
            let begin = (0..warps).map(|warp| line(warp, 0)).min().unwrap_or(0);
            let end = (0..warps).map(|warp| line(warp, 1)).max().unwrap_or(0);
            let rate = f64::from(args.commands) * warps as f64 / f64::from(end - begin) * 1e3;
            let figure = Figure::new(format!("{name}_commands_{harts}_harts"), rate, "M/s");
            figures.push(match mode {
                QueueMode::Queues => figure.limit(Bound::AtLeast(limit)).goal(Bound::AtLeast(goal)),
                QueueMode::Paper => figure,
            });
            if mode == QueueMode::Queues {
                let count = |number: u64| node.status.counters[position(node, number)].1 as f64;
                let (hits, misses) = (count(counter::READ_HITS), count(counter::READ_MISSES));
                figures.push(Figure::new(
                    format!("{name}_fetch_hits_{harts}_harts"),
                    hits / (hits + misses),
                    "",
                ));
            }
        }
    }
    Ok(figures)
}

/// Where a counter stands in the status of a node.
fn position(node: &QueueReport, number: u64) -> usize {
    let place = counter::all().position(|counter| counter == number);
    place.filter(|place| *place < node.status.counters.len()).unwrap_or(0)
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
    let library = array::library(config, false, quiet, |_| {})?;
    let folder = tempfile::tempdir()?;
    let file = |name: &str, text: &str| -> anyhow::Result<std::path::PathBuf> {
        let path = folder.path().join(name);
        std::fs::write(&path, text)?;
        Ok(path)
    };
    let text = if mode == QueueMode::Queues { QUEUES } else { PAPER };
    let firmware = folder.path().join("firmware.elf");
    build_firmware(&[file("firmware.c", text)?], &firmware)?;
    let program = QueueProgram {
        kernel: image(&file("kernel.c", source)?, folder.path())?,
        mode,
        firmware,
        packets: vec![
            (0..warps * config.lanes)
                .map(|_| Packet { frame: vec![0; 60], port: 0, flags: 0, arrival: 0 })
                .collect();
            2
        ],
        setup: ArraySetup {
            ring_slots_log2: 9,
            slot_bytes_log2: 8,
            timeout: 100_000,
            watchdog: 50_000_000,
            mcw: config.warps as u32,
            ..ArraySetup::default()
        },
        own: own.to_vec(),
        heap_bytes: HEAP,
        rounds: 4,
    };
    let memory = MemoryOptions { latency: Latency::Fixed(args.latency), ..MemoryOptions::default() };
    let options =
        ClusterOptions { nodes: 2, memory, seed: args.seed, threads: 2, ..ClusterOptions::default() };
    let result = cluster::run(&library, &options, |node| program.run(node, |_, _| vec![]))?;
    for node in &result.nodes {
        anyhow::ensure!(
            node.faults == 0 && node.verdicts.iter().all(|verdict| *verdict == 0) && node.service.failed == 0,
            "a put failed: {:?}, {} faults",
            node.service,
            node.faults
        );
    }
    Ok(result.nodes)
}

fn image(source: &Path, folder: &Path) -> anyhow::Result<KernelImage> {
    let path = folder.join("kernel.elf");
    kernel::build(source, RegisterClass::Rv32i, &path)?;
    Ok(KernelImage::from(&Kernel::read(&path)?))
}
