//! What a workload on several nodes left in their heaps: compared, and its times.

use anyhow::{ensure, Context};
use hermes_testbench::cluster::{Jacobi, JacobiTimes, QueueReport, Ring};

use super::{
    Benchmark, Nodes, RateTimes, SizeTimes, GET_RESULTS, GET_TARGET, LINE, RATE_HEAP, RATE_TIMES, SIZE_STEP,
};

/// A byte of what stands at the target of gets.
pub(super) const fn pattern(at: usize) -> u8 {
    (at ^ at >> 8 ^ at >> 16).wrapping_mul(167) as u8
}

/// What the heap of a node holds at the start.
pub(super) fn heap_of(nodes: &Nodes, number: usize) -> Vec<u8> {
    match nodes.benchmark {
        Benchmark::GetSizes { most_log2, .. } if number == 1 => {
            let mut heap = vec![0; GET_TARGET + (1 << most_log2)];
            heap.extend((0..1 << most_log2).map(pattern));
            heap
        }
        Benchmark::Ring(ring) => ring.start(number),
        Benchmark::Adds(ring) => [ring.start(0), landed(&ring)].concat(),
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

/// Compares what gets brought, and gives their times.
pub(super) fn sizes(nodes: &[QueueReport], most_log2: u32, rounds: u32) -> anyhow::Result<Vec<SizeTimes>> {
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

/// What warps of node 0 do in turn.
#[derive(Clone, Copy)]
pub(super) struct InTurn {
    pub warps: u32,
    pub commands: u32,
    pub gets: bool,
    pub waits: bool,
}

/// Compares what commands in turn brought, and gives their times.
pub(super) fn rate(nodes: &[QueueReport], in_turn: InTurn) -> anyhow::Result<RateTimes> {
    let InTurn { warps, commands, gets, waits } = in_turn;
    let heap = nodes.first().map(QueueReport::heap).unwrap_or_default();
    let others = nodes.len() - 1;
    let (mut begin, mut end, mut most, mut sum) = (u32::MAX, 0, 0, 0);
    for warp in 0..warps as usize {
        let line = LINE * warp;
        let times = RATE_TIMES + line;
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
    let mut calls: Vec<u32> = match waits {
        true => (0..all as usize).map(|call| word(heap, RATE_HEAP as usize + 4 * call)).collect(),
        false => Vec::new(),
    };
    calls.sort_unstable();
    let kept: u64 = calls.iter().map(|call| u64::from(*call)).sum();
    ensure!(!waits || kept == sum, "the calls that were kept take {kept} cycles; expected {sum}, their sum");
    Ok(RateTimes {
        commands: all,
        cycles: end - begin,
        call_mean: sum as f64 / all as f64,
        call_p99: percentile(&calls, 99),
        call_most: most,
    })
}

/// The least of `sorted` that so many percent are not above.
fn percentile(sorted: &[u32], percent: usize) -> Option<u32> {
    let place = (sorted.len() * percent).div_ceil(100).max(1) - 1;
    sorted.get(place).copied()
}

/// Compares all words and residuals of all nodes, and gives what node 0 measured.
pub(super) fn iterations(nodes: &[QueueReport], jacobi: &Jacobi) -> anyhow::Result<Vec<JacobiTimes>> {
    let golden = jacobi.golden(nodes.len());
    let compare = |(number, node): (usize, &QueueReport)| {
        jacobi.compare(&golden, number, node.heap()).map_err(anyhow::Error::msg)
    };
    let times: Vec<_> = nodes.iter().enumerate().map(compare).collect::<anyhow::Result<_>>()?;
    times.into_iter().next().context("a cluster without nodes")
}

/// Compares all words of all nodes, and gives the cycles of all rings.
pub(super) fn allreduce(nodes: &[QueueReport], ring: &Ring) -> anyhow::Result<u32> {
    let compare = |(number, node): (usize, &QueueReport)| {
        ring.compare(nodes.len(), number, node.heap()).map_err(anyhow::Error::msg)
    };
    let times: Vec<_> = nodes.iter().enumerate().map(compare).collect::<anyhow::Result<_>>()?;
    let begin = times.iter().map(|(begin, _)| *begin).min().unwrap_or(0);
    Ok(times.iter().map(|(_, end)| *end).max().unwrap_or(0) - begin)
}

/// What is added to the words of a node: those of another one.
fn landed(ring: &Ring) -> Vec<u8> {
    ring.start(1).split_off(LINE * ring.rings as usize)
}

/// Bytes of the heap of the adds alone.
pub(super) fn adds_heap_bytes(ring: &Ring) -> u64 {
    (LINE as u64 * u64::from(ring.rings) + 8 * ring.all_words() as u64).next_multiple_of(LINE as u64)
}

/// Compares the words that were added, and gives the cycles from the first ring that began to the
/// last that ended.
pub(super) fn adds(nodes: &[QueueReport], ring: &Ring) -> anyhow::Result<u32> {
    let heap = nodes.first().map(QueueReport::heap).unwrap_or_default();
    let (start, landed) = (ring.start(0), landed(ring));
    let first = LINE * ring.rings as usize;
    for at in (0..landed.len()).step_by(4) {
        let added = word(&landed, at).wrapping_mul(ring.rounds);
        let (found, right) = (word(heap, first + at), word(&start, first + at).wrapping_add(added));
        ensure!(found == right, "word {} is {found:#x}; expected {right:#x}", at / 4);
    }
    let times = |ring: u32, field: usize| word(heap, LINE * ring as usize + 16 + 4 * field);
    let begin = (0..ring.rings).map(|ring| times(ring, 0)).min().unwrap_or(0);
    Ok((0..ring.rings).map(|ring| times(ring, 1)).max().unwrap_or(0) - begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_by_hand() {
        let calls: Vec<u32> = (1..=200).collect();
        assert_eq!((percentile(&calls, 99), percentile(&calls, 50)), (Some(198), Some(100)));
        assert_eq!((percentile(&[7], 99), percentile(&[], 99)), (Some(7), None));
    }
}
