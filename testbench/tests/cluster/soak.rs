//! All nodes put to all others, get from them, and add to their counters, over links that lose,
//! repeat, reorder and damage frames.

use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Instant;

use hermes_rtl::types::{counter, MOST_ENTRIES};
use hermes_testbench::cluster::{self, ClusterOptions, LinkOptions, Node, PortCounts};
use hermes_testbench::cosim::{
    fetch_add, get, put, put_inline, CosimError, Device as _, Latency, MemoryOptions,
};
use hermes_testbench::test_seed;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::library;

/// Bytes of a window that one node writes.
const PART: usize = 4096;
/// Counters of 64 bits behind all parts, to which all nodes add.
const COUNTERS: usize = 8;
/// Bytes behind them that nobody writes: what is put from memory, and what is got.
const SOURCE: usize = 8192;
/// Bytes behind that: what a round gets, each command to its own place, since queue pairs go their
/// own ways.
const LANDING: usize = 1 << 18;
/// Longest put from memory, and longest get: three packets.
const LONGEST: usize = 2500;
/// Bytes of a packet.
const MTU: usize = 1024;
/// Puts between two points at which all is quiet.
const ROUND: u32 = 500;

/// Posts commands. Stage registers that are right already are not written: they are what takes the
/// time.
struct Poster {
    posted: u32,
    stage: [u32; 16],
}

impl Poster {
    fn post(&mut self, node: &mut Node, pair: u32, command: &[u32; 16]) -> Result<(), CosimError> {
        while self.posted - node.host.read("NET_COMPLETED")? >= MOST_ENTRIES as u32 {
            node.run(50)?;
        }
        for (index, word) in command.iter().enumerate() {
            if self.stage[index] != *word {
                node.host.write(&format!("NET_STAGE_{index}"), *word)?;
            }
        }
        self.stage = *command;
        node.host.write("NET_POST", pair | cluster::WINDOW_REGION << 8)?;
        self.posted += 1;
        Ok(())
    }
}

/// What a node saw.
struct Seen {
    /// What it wrote to each node, as its part of that node's window must be.
    wrote: Vec<Vec<u8>>,
    /// What it added to the counters of each node.
    added: Vec<[u64; COUNTERS]>,
    /// Packets that puts and gets took.
    packets: Vec<u32>,
    /// The parts of its window, and its counters.
    window: Vec<u8>,
    /// What it got, and what it should have.
    got: [Vec<u8>; 2],
    /// Commands that failed.
    failed: u32,
    completed: u32,
    frames_in: u32,
    cycle: u64,
}

/// What a node has for others to get.
fn source_of(seed: u64, node: usize) -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(2_000 + node as u64);
    (0..SOURCE).map(|_| random.gen()).collect()
}

/// `rounds` rounds of puts of `nodes` nodes to all, half of them from memory, gets and additions:
/// parts and counters of all windows are compared after each. Gives the frames that all sent.
fn soak(nodes: usize, rounds: u32) -> u64 {
    let seed = test_seed();
    let began = Instant::now();
    let link =
        LinkOptions { loss: 1.0, duplicate: 1.0, reorder: 1.0, corrupt: 1.0, ..LinkOptions::default() };
    let memory = MemoryOptions { latency: Latency::Random(1, 60), seed, ..MemoryOptions::default() };
    let threads = available_parallelism().map_or(1, NonZero::get).min(nodes);
    let options = ClusterOptions { nodes, link, memory, seed, threads, ..ClusterOptions::default() };
    let counters = nodes * PART;
    let constant = counters + 8 * COUNTERS;
    let bytes = constant + SOURCE + LANDING;
    let result = cluster::run(library(), &options, |node| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(1_000 + node.number as u64);
        let window = node.host.rmalloc("the window", bytes)?;
        let sources: Vec<Vec<u8>> = (0..nodes).map(|other| source_of(seed, other)).collect();
        let source = &sources[node.number];
        node.host.device_mut().write_memory(window + constant as u32, source)?;
        node.host.device_mut().write_memory(window + counters as u32, &[0; 8 * COUNTERS])?;
        let landing = window + (constant + SOURCE) as u32;
        node.connect_mesh(window, bytes as u32)?;
        let mut poster = Poster { posted: 0, stage: [0; 16] };
        let mut wrote = vec![vec![0; PART]; nodes];
        let mut added = vec![[0u64; COUNTERS]; nodes];
        let mut packets = vec![0; nodes];
        let mut quiet = Vec::new();
        for round in 0..rounds {
            let mut got = vec![];
            for _ in 0..ROUND {
                let to = random.gen_range(0..nodes);
                if random.gen_bool(0.125) {
                    let (counter, operand) = (random.gen_range(0..COUNTERS), random.gen::<u64>());
                    added[to][counter] = added[to][counter].wrapping_add(operand);
                    let remote = window + (counters + 8 * counter) as u32;
                    poster.post(node, to as u32, &fetch_add(remote, operand))?;
                    continue;
                }
                if random.gen_bool(0.25) && got.len() + LONGEST <= LANDING {
                    let length = random.gen_range(1..=LONGEST);
                    let from = random.gen_range(0..=SOURCE - length);
                    let command =
                        get(window + (constant + from) as u32, landing + got.len() as u32, length as u32);
                    got.extend_from_slice(&sources[to][from..from + length]);
                    packets[node.number] += length.div_ceil(MTU) as u32;
                    poster.post(node, to as u32, &command)?;
                    continue;
                }
                // The bytes, and where they stand in memory
                let (bytes, from) = if random.gen() {
                    let bytes: Vec<u8> = (0..random.gen_range(1..=16)).map(|_| random.gen()).collect();
                    (bytes, None)
                } else {
                    let length = random.gen_range(1..=LONGEST);
                    let from = random.gen_range(0..=SOURCE - length);
                    (source[from..from + length].to_vec(), Some(window + (constant + from) as u32))
                };
                let at = random.gen_range(0..=PART - bytes.len());
                wrote[to][at..at + bytes.len()].copy_from_slice(&bytes);
                packets[to] += bytes.len().div_ceil(MTU) as u32;
                let remote = window + (node.number * PART + at) as u32;
                let command = match from {
                    Some(from) => put(remote, from, bytes.len() as u32),
                    None => put_inline(remote, &bytes),
                };
                poster.post(node, to as u32, &command)?;
            }
            cluster::wait_completed(node, poster.posted)?;
            node.meet()?;
            let memory = node.read_clean(window, constant)?;
            let came = node.read_clean(landing, got.len())?;
            node.meet()?;
            if node.number == 0 && rounds > 1 {
                println!("round {} of {rounds}, cycle {}", round + 1, node.host.device_mut().cycle());
            }
            quiet.push((wrote.clone(), added.clone(), packets.clone(), memory, [came, got]));
        }
        // Nothing completes a second time later.
        node.run(20_000)?;
        let seen = |(wrote, added, packets, window, got), node: &mut Node| {
            Ok::<_, CosimError>(Seen {
                wrote,
                added,
                packets,
                window,
                got,
                failed: node.host.read("NET_ERROR")? >> 16,
                completed: node.host.read("NET_COMPLETED")?,
                frames_in: node.host.network_counter(counter::FRAMES_IN)?,
                cycle: node.host.device_mut().cycle(),
            })
        };
        quiet.into_iter().map(|point| seen(point, node)).collect::<Result<Vec<_>, _>>()
    });
    let result = result.unwrap();
    for (number, node) in result.nodes.iter().enumerate() {
        for (round, seen) in node.iter().enumerate() {
            assert!(seen.got[0] == seen.got[1], "round {round}: what node {number} got");
            for (from, other) in result.nodes.iter().enumerate() {
                let part = &seen.window[from * PART..(from + 1) * PART];
                assert!(
                    part == other[round].wrote[number],
                    "round {round}: what node {from} put to node {number}"
                );
            }
            for counter in 0..COUNTERS {
                let at = counters + 8 * counter;
                let got = u64::from_le_bytes(seen.window[at..at + 8].try_into().unwrap());
                let added = result.nodes.iter().map(|other| other[round].added[number][counter]);
                let sum = added.fold(0u64, u64::wrapping_add);
                assert_eq!(got, sum, "round {round}: counter {counter} of node {number}");
            }
        }
        let last = node.last().unwrap();
        assert_eq!((last.completed, last.failed), (rounds * ROUND, 0), "node {number}: each command once");
        let packets: u32 = result.nodes.iter().map(|other| other.last().unwrap().packets[number]).sum();
        assert_eq!(last.frames_in, packets, "node {number}: each packet is written once");
    }
    let commands = nodes as u32 * rounds * ROUND;
    let sum = |what: fn(&PortCounts) -> u64| result.ports.iter().map(what).sum::<u64>();
    let frames = sum(|port| port.sent);
    let faults = [
        sum(|port| port.faults.lost),
        sum(|port| port.faults.duplicated),
        sum(|port| port.faults.reordered),
        sum(|port| port.faults.corrupted),
    ];
    let cycles = result.nodes[0].last().unwrap().cycle;
    println!(
        "{commands} commands, {frames} frames; lost, duplicated, reordered, damaged: {faults:?}; {cycles} cycles, {:.0} s",
        began.elapsed().as_secs_f64()
    );
    assert!(faults.iter().all(|count| *count > frames / 200), "{faults:?} of {frames}");
    frames
}

#[test]
fn eight_nodes_put_get_and_add_over_bad_links() {
    soak(8, 1);
}

/// A million frames.
#[test]
#[ignore = "minutes: a million frames between eight nodes"]
fn a_million_frames() {
    assert!(soak(8, 96) > 1_000_000);
}

#[test]
#[ignore = "minutes: a million frames between two nodes"]
fn a_million_frames_of_two_nodes() {
    assert!(soak(2, 400) > 1_000_000);
}
