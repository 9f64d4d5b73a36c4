//! The memory system against a model of what memory may show, and its speed.

use super::testing::{fails, Bench, Pace, Write};
use super::MemorySizes;
use crate::memory::testing::{random, Line, LineMemory};
use rand::Rng;
use std::collections::{HashMap, VecDeque};

/// A write of one byte: when it was accepted and done, and by whom.
#[derive(Clone, Copy, Debug)]
struct Stored {
    value: u8,
    accepted: u64,
    done: u64,
    requester: usize,
}

const NEVER: u64 = u64::MAX;

/// What every byte may hold: all writes that are not certainly overwritten.
#[derive(Default)]
struct History {
    bytes: HashMap<(u32, usize), Vec<Stored>>,
    initial: LineMemory,
}

impl History {
    fn of(&mut self, line: u32, byte: usize) -> &mut Vec<Stored> {
        let first = Stored { value: self.initial.read(line)[byte], accepted: 0, done: 0, requester: 99 };
        self.bytes.entry((line, byte)).or_insert_with(|| vec![first])
    }

    fn accept(&mut self, write: &Write, requester: usize, now: u64) {
        for byte in (0..64).filter(|b| write.strobe >> b & 1 == 1) {
            let stored = Stored { value: write.data[byte], accepted: now, done: NEVER, requester };
            self.of(write.line, byte).push(stored);
        }
    }

    /// The oldest write of this requester to these bytes that is not done: its requests to one line
    /// stay in order.
    fn done(&mut self, write: &Write, requester: usize, now: u64) {
        for byte in (0..64).filter(|b| write.strobe >> b & 1 == 1) {
            let open =
                self.of(write.line, byte).iter_mut().find(|s| s.requester == requester && s.done == NEVER);
            open.expect("the write is under way").done = now;
        }
    }

    /// Whether a read from `start` to `end` may see `value`.
    fn allows(&mut self, line: u32, byte: usize, value: u8, start: u64, end: u64) -> bool {
        let list = self.of(line, byte);
        let after = |a: &Stored, b: &Stored| {
            a.done < b.accepted || (a.requester == b.requester && a.accepted < b.accepted)
        };
        list.iter().any(|s| {
            s.value == value
                && s.accepted < end
                && !list.iter().any(|other| other.done < start && after(s, other))
        })
    }

    /// Forgets what no read from `start` on may see.
    fn forget(&mut self, start: u64) {
        for list in self.bytes.values_mut() {
            let all = list.clone();
            list.retain(|s| {
                !all.iter().any(|other| {
                    other.done < start
                        && (s.done < other.accepted
                            || (s.requester == other.requester && s.accepted < other.accepted))
                })
            });
        }
    }

    fn check(&mut self, line: u32, data: &Line, start: u64, end: u64, what: &str) {
        for (byte, &value) in data.iter().enumerate() {
            assert!(
                self.allows(line, byte, value, start, end),
                "{what}: line {line:#x}, byte {byte}: {value:#x} in cycles {start} to {end}; possible are {:x?}",
                self.of(line, byte)
            );
        }
    }
}

/// Outstanding reads and writes of one requester, by tag.
#[derive(Default)]
struct UnderWay {
    reads: HashMap<u64, (u32, u64)>,
    writes: HashMap<u64, Write>,
}

struct Test {
    bench: Bench,
    history: History,
    under_way: Vec<UnderWay>,
    lines: u32,
    atomic_requesters: usize,
    responses: u64,
    errors: u64,
    /// Reads that were answered and writes that were done, of each requester.
    ended: Vec<(u64, u64)>,
    /// Begin of the maintenance in progress: what memory may hold after it must not be forgotten.
    maintained_from: u64,
}

impl Test {
    fn new(sizes: MemorySizes, pace: Pace, lines: u32) -> Self {
        println!("{sizes:?}, {pace:?}");
        Self {
            bench: Bench::new(sizes, pace, random("memory system")),
            history: History::default(),
            under_way: (0..sizes.requesters).map(|_| UnderWay::default()).collect(),
            lines,
            atomic_requesters: sizes.atomic_requesters,
            responses: 0,
            errors: 0,
            ended: vec![(0, 0); sizes.requesters],
            maintained_from: NEVER,
        }
    }

    /// One cycle; requesters without a request on offer make one with chance `traffic`.
    fn cycle(&mut self, traffic: f64) {
        for (i, state) in self.under_way.iter().enumerate() {
            let rng = &mut self.bench.rng;
            let requester = &mut self.bench.requesters[i];
            // Lines with strides that are powers of two, far apart and near.
            let line = |number: u32| number % 4 + ((number / 4) << (7 + 3 * (number % 3)));
            if requester.read.is_none() && rng.gen_bool(traffic) {
                // Others are of atomic operations.
                let tags = if i < self.atomic_requesters { 96 } else { 128 };
                let tag = (0..tags).find(|tag| !state.reads.contains_key(tag));
                requester.read = tag.map(|tag| (line(rng.gen_range(0..self.lines)), tag));
            }
            if requester.write.is_none() && rng.gen_bool(traffic) {
                let number = line(rng.gen_range(0..self.lines));
                let tags = if i < self.atomic_requesters { 32 } else { 64 };
                let tag = (0..tags).find(|tag| !state.writes.contains_key(tag));
                if let Some(tag) = tag.filter(|_| !fails(number)) {
                    let strobe: u64 = match rng.gen_range(0..4) {
                        0 => u64::MAX,
                        1 => 0xf << (4 * rng.gen_range(0..16)),
                        2 => 0,
                        _ => rng.gen(),
                    };
                    let data = std::array::from_fn(|_| rng.gen());
                    requester.write = Some(Write { line: number, data, strobe, tag });
                }
            }
        }
        self.bench.step();
        let now = self.bench.cycle;
        for i in 0..self.under_way.len() {
            let state = &mut self.under_way[i];
            let requester = &self.bench.requesters[i];
            if let Some((line, tag)) = requester.read_accepted {
                state.reads.insert(tag, (line, now));
            }
            if let Some(write) = &requester.write_accepted {
                self.history.accept(write, i, now);
                state.writes.insert(write.tag, write.clone());
            }
            if let Some(tag) = requester.written {
                let write = state.writes.remove(&tag).expect("a write with this tag");
                self.history.done(&write, i, now);
                self.ended[i].1 += 1;
            }
            if let Some((tag, data, error)) = &requester.response {
                let (line, start) = state.reads.remove(tag).expect("a read with this tag");
                self.responses += 1;
                self.ended[i].0 += 1;
                self.errors += u64::from(*error);
                assert_eq!(*error, fails(line), "line {line:#x}");
                if !error {
                    self.history.check(line, data, start, now, "read");
                }
            }
        }
        if now % 512 == 0 {
            let reads = self.under_way.iter().flat_map(|u| u.reads.values().map(|r| r.1));
            self.history.forget(reads.min().unwrap_or(now).min(self.maintained_from));
        }
    }

    fn drain(&mut self) {
        for _ in 0..20_000 {
            let idle = self.under_way.iter().all(|u| u.reads.is_empty() && u.writes.is_empty());
            let offers = self.bench.requesters.iter().any(|r| r.read.is_some() || r.write.is_some());
            if idle && !offers {
                return;
            }
            self.cycle(0.0);
        }
        panic!("requests are not answered");
    }

    /// Cleans or invalidates, with requests at `traffic` meanwhile; afterwards memory holds what
    /// was done before.
    fn maintain(&mut self, invalidate: bool, traffic: f64) {
        let start = self.bench.cycle;
        self.maintained_from = start;
        self.bench.clean = !invalidate;
        self.bench.invalidate = invalidate;
        self.cycle(traffic);
        assert!(self.bench.busy);
        while self.bench.busy {
            self.cycle(traffic);
            assert!(self.bench.cycle < start + 50_000, "maintenance does not end");
        }
        let lines: Vec<u32> = self.history.bytes.keys().map(|k| k.0).collect();
        let now = self.bench.cycle;
        for line in lines {
            let data = self.bench.memory.read(line);
            self.history.check(line, &data, start, now, "memory after maintenance");
        }
        self.maintained_from = NEVER;
    }

    /// The host changes memory while nothing is cached.
    fn host_writes(&mut self) {
        let lines: Vec<u32> = self.history.bytes.keys().map(|k| k.0).collect();
        for line in lines {
            let data: Line = std::array::from_fn(|_| self.bench.rng.gen());
            let strobe = self.bench.rng.gen();
            let write = Write { line, data, strobe, tag: 0 };
            self.history.accept(&write, 98, self.bench.cycle);
            self.history.done(&write, 98, self.bench.cycle);
            self.bench.memory.write(line, &data, strobe);
        }
        self.bench.cycle += 2;
    }
}

/// Random traffic in phases, with maintenance between and during them.
fn random_traffic(sizes: MemorySizes, pace: Pace, lines: u32, rounds: u64) -> Bench {
    let mut test = Test::new(sizes, pace, lines);
    for round in 0..rounds {
        let traffic = [1.0, 0.3, 0.05][round as usize % 3];
        for _ in 0..1_500 {
            test.cycle(traffic);
        }
        test.maintain(round % 2 == 1, traffic);
        if round % 2 == 1 {
            test.drain();
            test.maintain(true, 0.0);
            test.host_writes();
        }
    }
    test.drain();
    test.maintain(false, 0.0);
    assert_eq!(test.bench.counted, test.bench.errors, "bus errors");
    assert_eq!(test.bench.counters(), test.bench.moved);
    // Every line that the bus read was a miss of one requester, and the others were hits.
    let counts: Vec<_> = (0..sizes.requesters).map(|i| test.bench.counts(i)).collect();
    assert_eq!(counts.iter().map(|count| count.misses).sum::<u64>(), test.bench.moved.0, "{counts:?}");
    for (count, ended) in counts.iter().zip(&test.ended) {
        assert_eq!((count.hits + count.misses, count.writes), *ended, "{counts:?}");
    }
    println!(
        "{} lines read by the requesters, {} errors, {:?} moved",
        test.responses, test.errors, test.bench.moved
    );
    assert!(test.errors > 10 && test.responses > 80 * rounds && test.bench.moved.1 > 100);
    test.bench
}

const RANDOM: Pace = Pace { latency: (1, 40), ready: 0.7 };

#[test]
fn one_requester_on_one_tiny_bank() {
    let sizes = |look_up_cycle| MemorySizes {
        bank_lines: 4,
        look_up_cycle,
        atomic_requesters: 0,
        ..MemorySizes::ONE
    };
    for look_up_cycle in [false, true] {
        random_traffic(sizes(look_up_cycle), RANDOM, 40, 8);
    }
}

#[test]
fn three_requesters_on_two_banks() {
    let sizes = MemorySizes { requesters: 3, banks: 2, ways: 4, atomic_requesters: 0, ..MemorySizes::ONE };
    random_traffic(sizes, RANDOM, 120, 8);
    let sizes = MemorySizes {
        requesters: 3,
        channels: 2,
        banks: 2,
        bank_lines: 8,
        ways: 1,
        look_up_cycle: true,
        atomic_requesters: 0,
        ..MemorySizes::ONE
    };
    random_traffic(sizes, Pace { latency: (1, 1), ready: 1.0 }, 60, 8);
}

/// Lines that are locked wherever they are, of all requesters but one that are cores: what is read
/// stays right, and nobody waits for ever.
#[test]
fn locked_lines_change_no_answer() {
    for (bank_lines, ways, look_up_cycle) in [(4, 2, false), (16, 4, false), (16, 4, true), (8, 1, false)] {
        let (refused, expired) =
            random_traffic(MemorySizes::with_network(bank_lines, ways, look_up_cycle), RANDOM, 120, 4)
                .locks();
        println!("{refused} refused, {expired} expired");
        assert_eq!(refused > 20, ways > 1);
        assert!(expired <= refused);
    }
}

/// The tap of a bank tells of each write of bit 8 of a line, once, and of none while it holds them.
#[test]
fn publications_are_told_once_and_not_while_they_are_held() {
    let mut sizes = MemorySizes::with_network(16, 2, false);
    sizes.network.as_mut().unwrap().queues = true;
    let mut test = Test::new(sizes, RANDOM, 60);
    let (mut waiting, mut told, mut held) = (Vec::new(), 0, 0);
    for cycle in 0..6_000 {
        // Also for long: what waits is not lost.
        test.bench.held = if cycle / 200 % 3 == 0 { test.bench.rng.gen_range(0..4) } else { 0 };
        test.cycle(if cycle < 5_000 { 0.3 } else { 0.0 });
        let accepted = test.bench.requesters.iter().filter_map(|requester| requester.write_accepted.as_ref());
        let publishes = accepted.filter(|write| write.strobe >> 1 & 1 == 1);
        waiting.extend(publishes.map(|write| (write.line, write.data[1] & 1 == 1)));
        for bank in 0..sizes.banks {
            let is_held = test.bench.held >> bank & 1 == 1;
            let Some(publication) = test.bench.told(bank) else { continue };
            assert!(!is_held, "cycle {cycle}: bank {bank} tells while it is held");
            let place = waiting.iter().position(|waits| *waits == publication);
            waiting.remove(place.unwrap_or_else(|| panic!("cycle {cycle}: {publication:x?} is told twice")));
            told += 1;
        }
        held += test.bench.held.count_ones();
    }
    assert!(waiting.is_empty(), "{waiting:x?} are not told");
    assert!(told > 300 && held > 1_000, "{told} {held}");
}

#[test]
#[ignore = "minutes: the model of eight banks"]
fn five_requesters_on_eight_banks_and_four_channels() {
    let sizes = MemorySizes {
        requesters: 5,
        channels: 4,
        banks: 8,
        bank_lines: 32,
        ways: 4,
        atomic_requesters: 0,
        ..MemorySizes::ONE
    };
    random_traffic(sizes, Pace { latency: (1, 150), ready: 0.9 }, 400, 6);
}

/// A requester that treats packets as a kernel does.
#[derive(Default)]
struct Kernel {
    packet: u32,
    reads: HashMap<u64, u32>,
    writes: VecDeque<u32>,
}

/// Packets in slots of 128 bytes, of which the requesters take groups of 32 in turn, as cores take
/// warps: each reads the first line of its packets and writes a part of it when the line is there.
/// Gives the packets in a cycle, in the middle of the run.
fn packets_per_cycle(sizes: MemorySizes, latency: u64) -> f64 {
    let pace = Pace { latency: (latency, latency), ready: 1.0 };
    let mut bench = Bench::new(sizes, pace, random("packets"));
    let mut kernels: Vec<Kernel> = (0..sizes.requesters).map(|_| Kernel::default()).collect();
    let mut next = 0;
    let mut counted = 0;
    let (from, to) = (3_000, 9_000);
    while bench.cycle < to {
        for (kernel, requester) in kernels.iter_mut().zip(&mut bench.requesters) {
            let tag = (0..64).find(|tag| !kernel.reads.contains_key(tag));
            if let Some(tag) = tag.filter(|_| requester.read.is_none()) {
                if kernel.packet % 32 == 0 {
                    kernel.packet = next;
                    next += 32;
                }
                let line = (kernel.packet * 2) & 0x1_ffff;
                kernel.packet += 1;
                kernel.reads.insert(tag, line);
                requester.read = Some((line, tag));
            }
            if requester.write.is_none() {
                let line = kernel.writes.pop_front();
                requester.write = line.map(|line| Write { line, data: [7; 64], strobe: 0xff << 16, tag: 0 });
            }
        }
        bench.step();
        for (kernel, requester) in kernels.iter_mut().zip(&bench.requesters) {
            if let Some((tag, _, _)) = requester.response {
                kernel.writes.push_back(kernel.reads.remove(&tag).unwrap());
            }
            counted += u64::from(requester.written.is_some() && bench.cycle > from);
        }
    }
    counted as f64 / (to - from) as f64
}

fn check_rate(channels: usize, banks: usize, requesters: usize, look_up_cycle: bool, expected: f64) {
    let sizes = MemorySizes {
        requesters,
        channels,
        banks,
        bank_lines: 1024,
        ways: 4,
        look_up_cycle,
        atomic_requesters: 0,
        ..MemorySizes::ONE
    };
    let rate = packets_per_cycle(sizes, 100);
    println!("{channels} channels, {banks} banks: {rate:.3} packets a cycle");
    assert!(rate >= expected, "{channels} channels, {banks} banks: {rate:.3} packets a cycle");
}

/// A read and a write a packet, two cycles each, on two banks; a fetched line keeps lines that were
/// hit from the queue of answers for two cycles.
#[test]
fn a_cycle_for_the_look_up_halves_the_rate_of_a_bank() {
    check_rate(1, 2, 4, true, 0.42);
}

#[test]
fn packets_move_at_the_rate_of_a_channel() {
    check_rate(1, 2, 4, false, 0.95);
}

#[test]
#[ignore = "minutes: models of eight banks"]
fn packets_move_at_the_rate_of_the_channels() {
    for (channels, expected) in [(1, 0.9), (2, 1.7), (4, 3.0)] {
        check_rate(channels, 8, 8, false, expected);
    }
}
