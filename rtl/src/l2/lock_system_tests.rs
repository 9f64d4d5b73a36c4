//! The line lock under load: how many of the commands that wait for the network interface the L2
//! still has when they are read, beside a core that streams (ComP-Net, figure 7).

use super::testing::{fails, Bench, Counts, Pace, Write};
use super::{MemorySizes, NetworkSizes};
use crate::memory::testing::random;
use rand::Rng;
use std::collections::{HashMap, HashSet};

const SIZES: MemorySizes = MemorySizes {
    requesters: 3,
    bank_lines: 4 * SETS as usize,
    ways: 4,
    atomic_requesters: 3,
    network: Some(NetworkSizes { requester: NETWORK, cores: 2, rings_log2: 4, areas_log2: 0, queues: false }),
    ..MemorySizes::ONE
};
/// Sets of the bank.
const SETS: u32 = 64;
/// Requesters: a core with commands, one that streams, the network interface.
const COMMANDS: usize = 0;
const STREAM: usize = 1;
const NETWORK: usize = 2;
/// Line address of the queue area.
const AREA: u32 = 0x100_0000;
const ENTRIES: u32 = 64;

/// A core publishes a command in each of `rings` rings, all 64 bytes; the network interface reads
/// it `service` cycles later, and the ring gets the next one. Meanwhile another core reads and
/// writes new lines, one in `1 / load` cycles. Gives what the network interface had of the L2, and
/// the locks refused and expired.
fn commands(lock: bool, rings: u32, service: u64, load: f64) -> (Counts, (u64, u64)) {
    let mut bench =
        Bench::for_long_runs(SIZES, Pace { latency: (100, 100), ready: 1.0 }, random("command fetches"));
    (bench.lock_enable, bench.lock_base, bench.lock_area_log2) = (lock, AREA.into(), 20);
    // Where a ring is, and when its command can be read.
    let mut entry: Vec<u32> = (0..rings).map(|_| bench.rng.gen_range(0..ENTRIES)).collect();
    let mut due: Vec<Option<u64>> = vec![None; rings as usize];
    let mut writing: HashSet<u32> = HashSet::new();
    let mut fetching: HashMap<u64, (u32, [u8; 64])> = HashMap::new();
    let mut contents: HashMap<u32, [u8; 64]> = HashMap::new();
    let mut streaming: HashSet<u64> = HashSet::new();
    let mut next = 0x20_0000;
    let mut budget = 0.0;
    for _ in 0..100 {
        bench.step();
    }
    let line_of = |ring: u32, entry: &[u32]| AREA + 64 * ring + entry[ring as usize];
    for cycle in 0..20_000 {
        for ring in 0..rings {
            let line = line_of(ring, &entry);
            // A line that memory cannot read is no part of this.
            if fails(line) {
                entry[ring as usize] = (entry[ring as usize] + 1) % ENTRIES;
                continue;
            }
            match due[ring as usize] {
                None if !writing.contains(&ring) && bench.requesters[COMMANDS].write.is_none() => {
                    let data: [u8; 64] = std::array::from_fn(|_| bench.rng.gen());
                    contents.insert(line, data);
                    let write = Write { line, data, strobe: u64::MAX, tag: ring.into() };
                    bench.requesters[COMMANDS].write = Some(write);
                    writing.insert(ring);
                }
                Some(at) if at <= cycle && bench.requesters[NETWORK].read.is_none() => {
                    bench.requesters[NETWORK].read = Some((line, ring.into()));
                    fetching.insert(ring.into(), (ring, contents[&line]));
                    due[ring as usize] = Some(u64::MAX);
                }
                _ => {}
            }
        }
        budget += load;
        if budget >= 1.0 && bench.requesters[STREAM].read.is_none() && streaming.len() < 64 {
            budget -= 1.0;
            while fails(next) {
                next += 1;
            }
            let tag = (0..64).find(|tag| !streaming.contains(tag)).unwrap();
            streaming.insert(tag);
            bench.requesters[STREAM].read = Some((next, tag));
            next += 1;
        }
        budget = budget.min(2.0);
        bench.step();
        if let Some(tag) = bench.requesters[COMMANDS].written {
            writing.remove(&(tag as u32));
            due[tag as usize] = Some(cycle + service);
        }
        if let Some((tag, ..)) = bench.requesters[STREAM].response {
            streaming.remove(&tag);
        }
        if let Some((tag, data, error)) = bench.requesters[NETWORK].response {
            let (ring, expected) = fetching.remove(&tag).unwrap();
            assert!(!error && data == expected, "a command of ring {ring} is not what was published");
            entry[ring as usize] = (entry[ring as usize] + 1) % ENTRIES;
            due[ring as usize] = None;
        }
    }
    (bench.counts(NETWORK), bench.locks())
}

#[test]
fn commands_stay_until_they_are_fetched() {
    let rate = |counts: Counts| counts.hits as f64 / (counts.hits + counts.misses) as f64;
    println!("rings  service  load   lock off   lock on   refused  expired");
    let mut fall: f64 = 0.0;
    for (rings, service) in [(1, 1_000), (4, 300), (8, 1_000)] {
        let idle = rate(commands(true, rings, service, 0.0).0);
        assert!(idle == 1.0, "{idle}");
        for load in [0.1, 1.0] {
            let (off, none) = commands(false, rings, service, load);
            let (on, (refused, expired)) = commands(true, rings, service, load);
            assert_eq!(none, (0, 0));
            let (off, on) = (rate(off), rate(on));
            println!("{rings:5}  {service:7}  {load:4.1}   {off:8.3}   {on:7.3}   {refused:7}  {expired:7}");
            // Of n commands that wait in S sets, n / 2 S share their set with another one.
            let unlocked = f64::from(rings) / f64::from(2 * SETS);
            assert!(on >= idle - unlocked - 0.02, "{rings} rings, {service} cycles, load {load}: {on}");
            assert!(on >= off);
            fall = fall.max(idle - off);
        }
    }
    assert!(fall > 0.5, "without locks the rate falls by {fall} only: the experiment shows nothing");
}

/// A core that never lets its commands be fetched holds one way of a set for 63 misses, no longer;
/// then the set is as it was.
#[test]
fn a_lock_that_nobody_ends_expires() {
    for look_up_cycle in [false, true] {
        expires(MemorySizes { look_up_cycle, ..SIZES });
    }
}

fn expires(sizes: MemorySizes) {
    let mut bench = Bench::for_long_runs(sizes, Pace { latency: (3, 3), ready: 1.0 }, random("locks expire"));
    (bench.lock_base, bench.lock_area_log2) = (AREA.into(), 20);
    (0..100).for_each(|_| bench.step());
    // Lines of one set: 64 sets, of which the fold of the address says which.
    let set_of = |line: u32| (0..5).fold(0, |sum, group| sum ^ (line >> (6 * group) & 63));
    let command = AREA + 1;
    let others: Vec<u32> =
        (0x20_0000..).filter(|line| set_of(*line) == set_of(command) && !fails(*line)).take(80).collect();
    let read = |bench: &mut Bench, requester: usize, line: u32| {
        let before = bench.counts(requester).hits;
        bench.requesters[requester].read = Some((line, 5));
        while bench.requesters[requester].response.is_none() {
            bench.step();
        }
        (0..10).for_each(|_| bench.step());
        bench.counts(requester).hits > before
    };
    // How many lines of the set are read until the command is gone.
    for (lock, requester, expected) in [(false, STREAM, 4), (true, STREAM, 66), (true, COMMANDS, 66)] {
        bench.lock_enable = lock;
        let mut survived = 0;
        for misses in 1..=70 {
            bench.requesters[COMMANDS].write =
                Some(Write { line: command, data: [7; 64], strobe: u64::MAX, tag: 0 });
            while bench.requesters[COMMANDS].written.is_none() {
                bench.step();
            }
            let expirations = bench.locks().1;
            others[..misses].iter().for_each(|line| assert!(!read(&mut bench, requester, *line)));
            let expired = bench.locks().1 - expirations;
            assert_eq!(expired, u64::from(lock && misses >= 63), "{misses}");
            if read(&mut bench, NETWORK, command) {
                survived = misses;
            }
            bench.invalidate = true;
            bench.step();
            while bench.busy {
                bench.step();
            }
        }
        println!("lock {lock}: the command survives {survived} misses of its set");
        assert!(survived.abs_diff(expected) <= 1, "{survived}");
    }
}
