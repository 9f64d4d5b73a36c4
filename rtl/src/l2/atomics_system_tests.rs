//! The memory system with atomic operations of many threads, between reads, writes and maintenance.

use super::testing::{fails, word_of, Atomic, Bench, Pace, Wide, Write};
use super::MemorySizes;
use crate::memory::testing::random;
use crate::types::riscv::funct5;
use rand::Rng;
use std::collections::{HashMap, HashSet};

/// Threads of a requester.
const LANES: u64 = 4;
const OPERATIONS: [u64; 9] = [
    funct5::AMOADD,
    funct5::AMOSWAP,
    funct5::AMOXOR,
    funct5::AMOOR,
    funct5::AMOAND,
    funct5::AMOMIN,
    funct5::AMOMAX,
    funct5::AMOMINU,
    funct5::AMOMAXU,
];
/// The words of a line: one to which all add by `amoadd`, one to which all add by `lr.w` and
/// `sc.w`, or by `amocas.w`, then one for each thread (up to three requesters); the last bytes of
/// the line are written by requesters, eight by each.
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
    /// Comparisons of `amocas.w` that held, and that did not.
    swaps: [u32; 2],
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
            let none = Atomic {
                line,
                word: COUNTER,
                operation: 0,
                operand: 1,
                slot: 3,
                lane,
                compare: 0,
                wide: None,
            };
            let at = OWN + i * LANES as usize + lane as usize;
            let atomic = match (thread.reserved.take(), bench.rng.gen_range(0..3)) {
                (Some((line, value)), 0) if sizes.compare_and_swap => {
                    let (operand, compare) = (value.wrapping_add(1), value);
                    Atomic { line, word: LOCKED, operation: funct5::AMOCAS, operand, compare, ..none }
                }
                (Some((line, value)), _) => {
                    let operand = value.wrapping_add(1);
                    Atomic { line, word: LOCKED, operation: funct5::SC, operand, ..none }
                }
                (None, 0) => none,
                (None, 1) => Atomic { word: LOCKED, operation: funct5::LR, ..none },
                (None, _) if sizes.compare_and_swap && bench.rng.gen_bool(0.3) => {
                    let known = state.own.get(&(line, at)).copied();
                    let compare = known.filter(|_| bench.rng.gen()).unwrap_or(bench.rng.gen());
                    let operand = bench.rng.gen();
                    Atomic { word: at, operation: funct5::AMOCAS, operand, compare, ..none }
                }
                (None, _) => Atomic {
                    word: at,
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
            } else if atomic.operation == funct5::LR {
                thread.reserved = Some((atomic.line, value));
            } else if atomic.operation == funct5::SC {
                assert!(value <= 1);
                *state.stored.entry(atomic.line).or_default() += 1 - value;
                state.failed_stores += value;
            } else if atomic.word == LOCKED {
                let holds = value == atomic.compare;
                *state.stored.entry(atomic.line).or_default() += u32::from(holds);
                state.swaps[usize::from(!holds)] += 1;
            } else {
                let before = state.own.get(&(atomic.line, atomic.word)).copied();
                assert_eq!(value, before.unwrap_or(value), "{atomic:?}");
                let after = atomic.result(value.into()) as u32;
                state.own.insert((atomic.line, atomic.word), after);
                if atomic.operation == funct5::AMOCAS {
                    state.swaps[usize::from(value != atomic.compare)] += 1;
                }
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
        "{} operations, {} errors, {stored} of sc.w and amocas.w stored, {} of sc.w did not, amocas.w: {:?}",
        state.performed, state.errors, state.failed_stores, state.swaps
    );
    assert!(!sizes.compare_and_swap || state.swaps.iter().all(|times| *times > 20));
    assert!(state.performed > 500 && state.errors > 20 && stored > 50 && state.failed_stores > 5);
}

/// Three requesters, the third without atomic operations, on two banks.
const THREE: MemorySizes =
    MemorySizes { requesters: 3, banks: 2, bank_lines: 8, atomic_requesters: 2, ..MemorySizes::ONE };

#[test]
fn three_requesters_on_two_banks() {
    let sizes = |look_up_cycle| MemorySizes { look_up_cycle, ..THREE };
    random_operations(sizes(false), Pace { latency: (1, 40), ready: 0.7 }, 40, 20_000);
    random_operations(sizes(false), Pace { latency: (1, 1), ready: 1.0 }, 6, 10_000);
    random_operations(sizes(true), Pace { latency: (1, 40), ready: 0.7 }, 40, 20_000);
}

/// With `amocas.w` and several reservations.
fn compare_and_swap(reservations: usize, look_up_cycle: bool) {
    let sizes = MemorySizes { look_up_cycle, compare_and_swap: true, reservations, ..THREE };
    random_operations(sizes, Pace { latency: (1, 40), ready: 0.7 }, 40, 20_000);
    random_operations(sizes, Pace { latency: (1, 1), ready: 1.0 }, 6, 10_000);
}

#[test]
fn three_requesters_with_compare_and_swap() {
    compare_and_swap(4, false);
}

#[test]
#[ignore = "builds six models"]
fn every_number_of_reservations() {
    for reservations in [1, 2, 8] {
        [false, true].into_iter().for_each(|look_up_cycle| compare_and_swap(reservations, look_up_cycle));
    }
}

/// Operations of one thread after the other on one word that the L2 has, in cycles each.
#[test]
fn an_operation_takes_five_cycles_of_its_bank() {
    let mut bench = Bench::new(MemorySizes::ONE, Pace { latency: (10, 10), ready: 1.0 }, random("rate"));
    let mut done = Vec::new();
    let mut lane = 0;
    while done.len() < 40 {
        if bench.requesters[0].write.is_none() {
            let atomic =
                Atomic { line: 4, word: 3, operation: 0, operand: 1, slot: 0, lane, compare: 0, wide: None };
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

/// A network interface's operations of 64 bits between atomic operations and writes of two other
/// requesters to the same lines: what it gets is exact, and so is what all leave behind.
#[test]
fn a_network_interface_adds_and_compares_64_bits() {
    for look_up_cycle in [false, true] {
        adds_and_compares_64_bits(look_up_cycle);
    }
}

fn adds_and_compares_64_bits(look_up_cycle: bool) {
    const SUM: usize = 4;
    const LINES: u32 = 6;
    let sizes = MemorySizes::with_network(16, 4, look_up_cycle);
    let mut bench = Bench::new(sizes, Pace { latency: (1, 40), ready: 0.7 }, random("64 bits"));
    let start: Vec<_> = (0..LINES).map(|line| bench.memory.read(line)).collect();
    let at = |line: u32, word| Atomic {
        line,
        word,
        operation: 0,
        operand: 1,
        slot: 0,
        lane: 0,
        compare: 0,
        wide: None,
    };
    let wide = Some(Wide { operand_high: 0, compare: 0 });
    let sum_at = |line| Atomic { wide, ..at(line, SUM) };
    let mut sums: Vec<u64> = (0..LINES).map(|line| sum_at(line).value(&start[line as usize])).collect();
    // Of each requester and tag what is outstanding, with the value that it finds.
    let mut outstanding: HashMap<(usize, u64), (Atomic, u64)> = HashMap::new();
    let mut added = [0; LINES as usize];
    let (mut swaps, mut failed) = (0, 0);
    for cycle in 0.. {
        let asks = cycle < 15_000;
        if !asks && outstanding.is_empty() && bench.requesters.iter().all(|r| r.write.is_none()) {
            break;
        }
        assert!(cycle < 20_000, "{outstanding:?} are not answered");
        for i in 0..4 {
            let lane = bench.rng.gen_range(0..LANES);
            let line = bench.rng.gen_range(0..LINES);
            if !asks || bench.requesters[i].write.is_some() || outstanding.contains_key(&(i, 32 + lane)) {
                continue;
            }
            // The last requester writes other bytes of the lines.
            if i == 3 {
                let (data, tag) = ([bench.rng.gen(); 64], bench.rng.gen_range(0..64));
                bench.requesters[3].write = Some(Write { line, data, strobe: 0xff << 56, tag });
                continue;
            }
            if fails(line) {
                continue;
            }
            let mut atomic = Atomic { lane, ..at(line, COUNTER) };
            if i == 2 {
                // Operations on one line are performed in order.
                let before = &mut sums[line as usize];
                let compares = bench.rng.gen_bool(0.4);
                let (operand, operand_high) = (bench.rng.gen(), bench.rng.gen());
                let compare =
                    if bench.rng.gen() { *before } else { *before ^ 1 << bench.rng.gen_range(0..64) };
                let operation = if compares { funct5::AMOCAS } else { 0 };
                let wide = Some(Wide { operand_high, compare });
                atomic = Atomic { operation, operand, wide, lane, ..sum_at(line) };
                outstanding.insert((i, 32 + lane), (atomic, *before));
                swaps += u64::from(compares && compare == *before);
                failed += u64::from(compares && compare != *before);
                *before = atomic.result(*before);
            } else {
                added[line as usize] += 1;
                outstanding.insert((i, 32 + lane), (atomic, 0));
            }
            bench.requesters[i].write = Some(atomic.request());
        }
        bench.step();
        for i in 0..3 {
            let requester = bench.requesters[i].clone();
            let Some(tag) = requester.written else { continue };
            let (atomic, before) = outstanding.remove(&(i, tag)).expect("an operation of this lane");
            let (low, error) = requester.word;
            assert!(!error);
            if i == 2 {
                assert_eq!(u64::from(requester.high) << 32 | u64::from(low), before, "{atomic:?}");
            }
        }
    }
    bench.clean = true;
    bench.step();
    while bench.busy {
        bench.step();
    }
    println!("{added:?} sums of 32 bits; of 64 bits {swaps} swapped, {failed} did not");
    for line in (0..LINES).filter(|line| !fails(*line)) {
        let (before, after) = (start[line as usize], bench.memory.read(line));
        assert_eq!(sum_at(line).value(&after), sums[line as usize], "line {line}");
        let counter = word_of(&before, COUNTER).wrapping_add(added[line as usize]);
        assert_eq!(word_of(&after, COUNTER), counter, "line {line}");
        let untouched = |line: &[u8]| [&line[4..16], &line[24..56]].concat();
        assert_eq!(untouched(&after), untouched(&before), "line {line}");
        assert!(added[line as usize] > 30);
    }
    assert!(swaps > 50 && failed > 50);
}

/// With a network interface, `amoor.w` with operand 0 is a read of the L2: nothing is written back
/// afterwards.
#[test]
fn amoor_of_zero_leaves_the_line_clean() {
    for sizes in
        [MemorySizes::ONE, MemorySizes::with_network(16, 4, false), MemorySizes::with_network(16, 4, true)]
    {
        let mut bench = Bench::new(sizes, Pace { latency: (1, 3), ready: 1.0 }, random("amoor"));
        let mut expected = 0;
        for (operation, operand, writes) in
            [(funct5::AMOOR, 0, sizes.network.is_none()), (0, 0, true), (funct5::AMOOR, 2, true)]
        {
            let atomic =
                Atomic { line: 4, word: 3, operation, operand, slot: 0, lane: 1, compare: 0, wide: None };
            let before = word_of(&bench.memory.read(4), 3);
            bench.requesters[0].write = Some(atomic.request());
            while bench.requesters[0].written.is_none() {
                bench.step();
                assert!(bench.cycle < 1_000);
            }
            assert_eq!(bench.requesters[0].word, (before, false));
            bench.clean = true;
            bench.step();
            while bench.busy {
                bench.step();
            }
            (0..5).for_each(|_| bench.step());
            expected += u64::from(writes);
            assert_eq!(bench.counters().1, expected, "operation {operation}, operand {operand}");
        }
    }
}
