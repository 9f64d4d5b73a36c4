//! What warps that use the network cost others: a peer that does not answer, lines of others in the
//! L2, waits that poll.

use anyhow::Context;
use hermes_rtl::config::Config;
use hermes_rtl::types::counter;
use hermes_testbench::cluster::{QueueMode, QueueReport};

use super::super::figure::{Bound, Figure};
use super::super::Subject;
use super::queues::{counted, Job, BANK_LINES, CORES};
use super::Args;

const SOURCE: &str = include_str!("../../../kernels-asm/bench/neighbours.c");
/// Bytes of the heap: its first half is read, and must not have room in the L2.
const HEAP: u32 = 1 << 18;
/// Turns of the loop of warps that count.
const TURNS: u32 = 600;

/// Warps of each kind.
#[derive(Clone, Copy, Default)]
struct Warps {
    put: u32,
    silent: u32,
    read: u32,
    wait: u32,
    count: u32,
}

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    let node = Config::preset("node")?;
    let mut figures = vec![];

    // A peer that does not answer: the rate of the others
    let alone = Warps { put: 7, ..Warps::default() };
    let rate = |warps: Warps| -> anyhow::Result<f64> {
        let report = run(&node, warps, args, quiet)?;
        let puts = f64::from(warps.put * args.commands);
        Ok(puts / cycles(&report, 0..warps.put))
    };
    let others = rate(Warps { silent: 1, ..alone }).context("a silent peer")?;
    figures.push(
        Figure::new("silent_peer_rate_of_others", others / rate(alone)?, "")
            .limit(Bound::AtLeast(0.9))
            .goal(Bound::AtLeast(0.97)),
    );

    // Hits of the reads of commands, and of all reads of the network interface and of the command
    // processor, beside warps that read more than the L2 has
    let hits = |read: u32| -> anyhow::Result<[f64; 2]> {
        let report = run(&node, Warps { put: 2, read, ..Warps::default() }, args, quiet)?;
        let count = |number| counted(&report, number);
        let (hits, misses) = (count(counter::READ_HITS), count(counter::READ_MISSES));
        let its_hits = hits + count(counter::COMMAND_READ_HITS);
        let its_misses = misses + count(counter::COMMAND_READ_MISSES);
        Ok([hits / (hits + misses), its_hits / (its_hits + its_misses)])
    };
    let alone = hits(0)?;
    let mut worst = alone;
    for read in [1, 2, 4, 6] {
        let beside = hits(read).context("warps that read")?;
        worst = [worst[0].min(beside[0]), worst[1].min(beside[1])];
    }
    figures.push(
        Figure::new("fetch_hits_beside_streams_of_none", worst[0] / alone[0], "")
            .limit(Bound::AtLeast(0.95))
            .goal(Bound::AtLeast(0.99)),
    );
    figures.push(
        Figure::new("service_hits_beside_streams_of_none", worst[1] / alone[1], "")
            .limit(Bound::AtLeast(0.8))
            .goal(Bound::AtLeast(0.95)),
    );

    // Waits that poll: time of warps that count, of all cores
    let config = Config { cores: CORES, l2_bank_lines: BANK_LINES, ..node };
    on.add(&config);
    let all = (config.cores * config.warps) as u32;
    let count = CORES as u32;
    let time = |wait: u32| -> anyhow::Result<f64> {
        let report = run(&config, Warps { wait, count, ..Warps::default() }, args, quiet)?;
        Ok(cycles(&report, wait..wait + count))
    };
    let alone = time(0)?;
    for wait in [count, all / 2, all - count] {
        let tax = time(wait).context("warps that wait")? / alone - 1.0;
        figures.push(Figure::new(format!("poll_tax_of_{wait}_warps"), tax, "").limit(Bound::AtMost(0.1)));
    }
    Ok(figures)
}

fn run(config: &Config, warps: Warps, args: &Args, quiet: bool) -> anyhow::Result<QueueReport> {
    let Warps { put, silent, read, wait, count } = warps;
    let own = [config.lanes as u32, put, silent, read, wait, count, args.commands, TURNS];
    let job = Job {
        mode: QueueMode::Queues,
        source: SOURCE,
        warps: config.cores * config.warps,
        own: &own,
        heap_bytes: HEAP,
        silent: silent > 0,
        nodes: 2,
        mtu: 1024,
    };
    let mut nodes = job.run(config, args, quiet)?;
    let node = nodes.swap_remove(0);
    let failed = silent * 8;
    anyhow::ensure!(node.service.failed == failed, "{failed} puts must fail: {:?}", node.service);
    Ok(node)
}

/// Cycles from the first begin to the last end of some warps.
fn cycles(node: &QueueReport, warps: std::ops::Range<u32>) -> f64 {
    let word = |warp: u32, word: u32| node.word(node.area.heap + HEAP / 2 + 64 * warp + 4 * word);
    let begin = warps.clone().map(|warp| word(warp, 0)).min().unwrap_or(0);
    let end = warps.map(|warp| word(warp, 1)).max().unwrap_or(0);
    f64::from(end - begin)
}
