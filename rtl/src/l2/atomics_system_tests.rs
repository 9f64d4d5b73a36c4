//! The memory system with atomic operations of many threads, between reads, writes and maintenance.

use super::testing::{atomic_result, fails, word_of, Atomic, Bench, Pace, Write};
use super::MemorySizes;
use crate::memory::testing::random;
use rand::Rng;
use std::collections::{HashMap, HashSet};

/// Threads of a requester.
const LANES: u64 = 4;
const OPERATIONS: [u64; 9] = [0, 1, 4, 8, 12, 16, 20, 24, 28];
/// The words of a line: one to which all add by `amoadd`, one to which all add by `lr.w` and
/// `sc.w`, then one for each thread (up to three requesters); the last bytes of the line are
/// written by requesters, eight by each.
const COUNTER: usize = 0;
const LOCKED: usize = 1;
const OWN: usize = 2;

/// What a thread does.
#[derive(Default)]
struct Thread {
    under_way: Option<Atomic>,
    /// The word that `lr.w` read, and its line.
    reserved: Option<(u32, u32)>,
}

#[derive(Default)]
struct State {
    /// Values that additions found, by line.
    found: HashMap<u32, HashSet<u32>>,
    /// Successful `sc.w`, by line.
    stored: HashMap<u32, u32>,
    /// Words of threads and bytes of requesters.
    own: HashMap<(u32, usize), u32>,
    bytes: HashMap<(u32, usize), u8>,
    failed_stores: u32,
    errors: u32,
    performed: u32,
}

/// Random operations for `cycles` cycles, then a check of what is left behind.
fn random_operations(sizes: MemorySizes, pace: Pace, lines: u32, cycles: u64) {
    println!("{sizes:?}, {pace:?}");
    let mut bench = Bench::new(sizes, pace, random("atomic operations"));
    let requesters = sizes.requesters;
    let line_of = |number: u32| number + ((number % 3) << 9);
    let word = |bench: &mut Bench, line: u32, word: usize| word_of(&bench.memory.read(line), word);
    let mut threads: Vec<Vec<Thread>> =
        (0..requesters).map(|_| (0..LANES).map(|_| Thread::default()).collect()).collect();
    let mut state = State::default();
    let mut initial: HashMap<u32, (u32, u32)> = HashMap::new();
    for line in (0..lines).map(line_of) {
        initial.insert(line, (word(&mut bench, line, COUNTER), word(&mut bench, line, LOCKED)));
    }
    let mut writing: Vec<HashMap<u64, Write>> = vec![HashMap::new(); requesters];
    let mut reading: Vec<HashSet<u64>> = vec![HashSet::new(); requesters];
    let mut drained = 0;
    for cycle in 0.. {
        let asks = cycle < cycles;
        if cycle % 2_000 == 1_999 && !bench.busy {
            bench.clean = cycle % 4_000 == 1_999;
            bench.invalidate = !bench.clean;
        }
        for i in 0..requesters {
            if asks && bench.requesters[i].read.is_none() && bench.rng.gen_bool(0.2) {
                let tag = (0..64).find(|tag| !reading[i].contains(tag));
                let line = line_of(bench.rng.gen_range(0..lines));
                bench.requesters[i].read = tag.map(|tag| (line, tag));
            }
            if !asks || bench.requesters[i].write.is_some() {
                continue;
            }
            let line = line_of(bench.rng.gen_range(0..lines));
            if bench.rng.gen_bool(0.2) {
                let byte = 56 + 2 * i + bench.rng.gen_range(0..2);
                let tag = (0..32).find(|tag| !writing[i].contains_key(tag));
                let same = writing[i].values().any(|write| write.line == line);
                if let Some(tag) = tag.filter(|_| !same && !fails(line)) {
                    let data = [bench.rng.gen(); 64];
                    bench.requesters[i].write = Some(Write { line, data, strobe: 1 << byte, tag });
                }
                continue;
            }
            let lane = bench.rng.gen_range(0..LANES);
            let thread = &mut threads[i][lane as usize];
            if i >= sizes.atomic_requesters || thread.under_way.is_some() {
                continue;
            }
            let none = Atomic { line, word: COUNTER, operation: 0, operand: 1, warp: 3, lane };
            let atomic = match (thread.reserved.take(), bench.rng.gen_range(0..3)) {
                (Some((line, value)), _) => {
                    let operand = value.wrapping_add(1);
                    Atomic { line, word: LOCKED, operation: Atomic::STORE_CONDITIONAL, operand, ..none }
                }
                (None, 0) => none,
                (None, 1) => Atomic { word: LOCKED, operation: Atomic::LOAD_RESERVED, ..none },
                (None, _) => Atomic {
                    word: OWN + i * LANES as usize + lane as usize,
                    operation: OPERATIONS[bench.rng.gen_range(0..OPERATIONS.len())],
                    operand: bench.rng.gen(),
                    ..none
                },
            };
            thread.under_way = Some(atomic);
            bench.requesters[i].write = Some(atomic.request());
        }
        bench.step();
        for i in 0..requesters {
            let requester = bench.requesters[i].clone();
            if let Some((_, tag)) = requester.read_accepted {
                reading[i].insert(tag);
            }
            if let Some((tag, _, _)) = requester.response {
                assert!(reading[i].remove(&tag), "an answer to no read: {tag:#x}");
            }
            let atomics = i < sizes.atomic_requesters;
            if let Some(write) = requester.write_accepted.filter(|write| write.tag < 32 || !atomics) {
                writing[i].insert(write.tag, write);
            }
            let Some(tag) = requester.written else { continue };
            if tag < 32 || !atomics {
                let write = writing[i].remove(&tag).expect("a write with this tag");
                let byte = write.strobe.trailing_zeros() as usize;
                state.bytes.insert((write.line, byte), write.data[byte]);
                continue;
            }
            let thread = &mut threads[i][tag as usize - 32];
            let atomic = thread.under_way.take().expect("an operation of this lane");
            state.performed += 1;
            let (value, error) = requester.word;
            assert_eq!(error, fails(atomic.line), "{atomic:?}");
            if error {
                state.errors += 1;
            } else if atomic.word == COUNTER {
                assert!(
                    state.found.entry(atomic.line).or_default().insert(value),
                    "{atomic:?}: {value} twice"
                );
            } else if atomic.operation == Atomic::LOAD_RESERVED {
                thread.reserved = Some((atomic.line, value));
            } else if atomic.operation == Atomic::STORE_CONDITIONAL {
                assert!(value <= 1);
                *state.stored.entry(atomic.line).or_default() += 1 - value;
                state.failed_stores += value;
            } else {
                let before = state.own.get(&(atomic.line, atomic.word)).copied();
                assert_eq!(value, before.unwrap_or(value), "{atomic:?}");
                let after = atomic_result(atomic.operation, value, atomic.operand);
                state.own.insert((atomic.line, atomic.word), after);
            }
        }
        let idle = threads.iter().flatten().all(|thread| thread.under_way.is_none())
            && reading.iter().all(HashSet::is_empty)
            && writing.iter().all(HashMap::is_empty)
            && bench.requesters.iter().all(|r| r.read.is_none() && r.write.is_none());
        drained = if asks || !idle { 0 } else { drained + 1 };
        assert!(cycle < cycles + 5_000, "requests are not answered");
        // Then memory holds everything.
        if drained == 1 {
            bench.clean = true;
        } else if drained > 1 && !bench.busy {
            break;
        }
    }
    assert_eq!(bench.counted, bench.errors, "bus errors");
    for line in (0..lines).map(line_of).filter(|line| !fails(*line)) {
        let (counter, locked) = initial[&line];
        let found = state.found.get(&line).cloned().unwrap_or_default();
        let expected: HashSet<u32> = (0..found.len() as u32).map(|n| counter.wrapping_add(n)).collect();
        assert_eq!(found, expected, "line {line:#x}");
        assert_eq!(word(&mut bench, line, COUNTER), counter.wrapping_add(found.len() as u32));
        let stored = state.stored.get(&line).copied().unwrap_or(0);
        assert_eq!(word(&mut bench, line, LOCKED), locked.wrapping_add(stored), "line {line:#x}");
    }
    for ((line, at), value) in &state.own {
        assert_eq!(word(&mut bench, *line, *at), *value, "word {at} of line {line:#x}");
    }
    for ((line, at), value) in &state.bytes {
        assert_eq!(bench.memory.read(*line)[*at], *value, "byte {at} of line {line:#x}");
    }
    let stored: u32 = state.stored.values().sum();
    println!(
        "{} operations, {} errors, {stored} of sc.w stored, {} did not",
        state.performed, state.errors, state.failed_stores
    );
    assert!(state.performed > 500 && state.errors > 20 && stored > 50 && state.failed_stores > 5);
}

#[test]
fn three_requesters_on_two_banks() {
    // The third has no atomic operations.
    let sizes =
        MemorySizes { requesters: 3, channels: 1, banks: 2, bank_lines: 8, ways: 2, atomic_requesters: 2 };
    random_operations(sizes, Pace { latency: (1, 40), ready: 0.7 }, 40, 20_000);
    random_operations(sizes, Pace { latency: (1, 1), ready: 1.0 }, 6, 10_000);
}

/// Operations of one thread after the other on one word that the L2 has, in cycles each.
#[test]
fn an_operation_takes_five_cycles_of_its_bank() {
    let sizes =
        MemorySizes { requesters: 1, channels: 1, banks: 1, bank_lines: 16, ways: 2, atomic_requesters: 1 };
    let mut bench = Bench::new(sizes, Pace { latency: (10, 10), ready: 1.0 }, random("rate"));
    let mut done = Vec::new();
    let mut lane = 0;
    while done.len() < 40 {
        if bench.requesters[0].write.is_none() {
            let atomic = Atomic { line: 4, word: 3, operation: 0, operand: 1, warp: 0, lane };
            lane = (lane + 1) % 32;
            bench.requesters[0].write = Some(atomic.request());
        }
        bench.step();
        if bench.requesters[0].written.is_some() {
            done.push((bench.cycle, bench.requesters[0].word.0));
        }
        assert!(bench.cycle < 1_000);
    }
    assert!(done.windows(2).all(|pair| pair[1].1 == pair[0].1.wrapping_add(1)));
    let cycles = done[39].0 - done[9].0;
    println!("30 operations in {cycles} cycles");
    assert!(cycles <= 150);
}
