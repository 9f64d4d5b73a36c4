//! What the L2 keeps and counts, request by request, against a model of the cache.

use super::testing::{fails, Bench, Counts, Pace, Write};
use super::MemorySizes;
use crate::memory::testing::random;
use rand::Rng;

const SIZES: MemorySizes =
    MemorySizes { requesters: 3, banks: 2, ways: 4, atomic_requesters: 0, ..MemorySizes::ONE };
/// Sets of a bank, and bits of their number.
const SETS: usize = 4;
const SETS_LOG2: u32 = 2;
/// Bits of the number of a bank.
const BANKS_LOG2: u32 = 1;

/// XOR of the groups of `bits` bits of the line address above the lowest `skip`.
fn fold(line: u32, bits: u32, skip: u32) -> usize {
    let groups = (skip..26).step_by(bits as usize).map(|at| line >> at & ((1 << bits) - 1));
    groups.fold(0, |sum, group| sum ^ group) as usize
}

/// Bank and set of a line.
fn place(line: u32) -> (usize, usize) {
    (fold(line, BANKS_LOG2, 0), fold(line, SETS_LOG2, BANKS_LOG2))
}

/// Lines of one set of one bank, in an order of their own.
fn lines_of_a_set() -> impl Iterator<Item = u32> {
    (0..1 << 20)
        .map(|n: u32| n.wrapping_mul(0x9e37) & 0xf_ffff)
        .filter(|line| place(*line) == (1, 2) && !fails(*line))
}

/// A set: what stands in each way (line, and the bytes that were written if it was not fetched),
/// and the way that is next.
#[derive(Clone, Default)]
struct Set {
    ways: [Option<(u32, Option<u64>)>; 4],
    turn: usize,
}

impl Set {
    /// The way of a line.
    fn find(&self, line: u32) -> Option<usize> {
        self.ways.iter().position(|way| way.is_some_and(|(here, _)| here == line))
    }

    /// Puts a line into an empty way, the last one of several, or into the next one in the round.
    fn put(&mut self, line: u32, written: Option<u64>) {
        let empty = self.ways.iter().rposition(Option::is_none);
        self.ways[empty.unwrap_or(self.turn)] = Some((line, written));
        self.turn = (self.turn + 1) % 4;
    }

    /// A read: whether the L2 has all of the line.
    fn read(&mut self, line: u32) -> bool {
        if let Some(way) = self.find(line) {
            if self.ways[way].is_some_and(|(_, written)| written.is_none_or(|bytes| bytes == u64::MAX)) {
                return true;
            }
            // It is here by writes: they go to memory, and the line comes from there.
            self.ways[way] = None;
        }
        self.put(line, None);
        false
    }

    fn write(&mut self, line: u32, bytes: u64) {
        match self.find(line) {
            None => self.put(line, Some(bytes)),
            Some(way) => {
                let (_, written) = self.ways[way].as_mut().unwrap();
                *written = written.map(|before| before | bytes);
            }
        }
    }
}

fn bench(name: &str) -> Bench {
    bench_of(SIZES, name)
}

fn bench_of(sizes: MemorySizes, name: &str) -> Bench {
    let mut bench = Bench::new(sizes, Pace { latency: (1, 3), ready: 1.0 }, random(name));
    // After the reset the tags are emptied.
    idle(&mut bench, 40);
    bench
}

fn idle(bench: &mut Bench, cycles: u32) {
    (0..cycles).for_each(|_| bench.step());
}

/// Reads a line and waits until all is done, write-backs too.
fn read(bench: &mut Bench, requester: usize, line: u32, tag: u64) {
    bench.requesters[requester].read = Some((line, tag));
    for _ in 0..60 {
        bench.step();
        if let Some((found, _, error)) = bench.requesters[requester].response {
            assert_eq!((found, error), (tag, fails(line)));
            idle(bench, 20);
            return;
        }
    }
    panic!("line {line:#x} does not come");
}

/// Writes to a line and waits until all is done.
fn write(bench: &mut Bench, requester: usize, line: u32, strobe: u64) {
    let data = bench.rng.gen::<[u8; 32]>();
    let data = std::array::from_fn(|i| data[i % 32]);
    bench.requesters[requester].write = Some(Write { line, data, strobe, tag: 0 });
    for _ in 0..60 {
        bench.step();
        if bench.requesters[requester].written.is_some() {
            idle(bench, 20);
            return;
        }
    }
    panic!("the write to line {line:#x} is not done");
}

/// Hits, misses and writes of each requester are those of the model, request by request, and so is
/// what a full set gives up.
#[test]
fn hits_and_misses_are_those_of_a_model() {
    for look_up_cycle in [false, true] {
        hits_and_misses(MemorySizes { look_up_cycle, ..SIZES });
    }
}

fn hits_and_misses(sizes: MemorySizes) {
    let mut bench = bench_of(sizes, "hits and misses");
    let mut sets = vec![Set::default(); 2 * SETS];
    let mut expected = vec![Counts::default(); SIZES.requesters];
    let lines: Vec<u32> = (0..60).map(|_| bench.rng.gen_range(0..1 << 26)).filter(|l| !fails(*l)).collect();
    for request in 0..1_500 {
        let requester = bench.rng.gen_range(0..SIZES.requesters);
        // Now more lines than the L2 holds, now few.
        let count = if request / 100 % 2 == 0 { lines.len() } else { 12 };
        let line = lines[bench.rng.gen_range(0..count)];
        let (bank, set) = place(line);
        let set = &mut sets[bank * SETS + set];
        let count = &mut expected[requester];
        if bench.rng.gen_bool(0.6) {
            *if set.read(line) { &mut count.hits } else { &mut count.misses } += 1;
            read(&mut bench, requester, line, request % 128);
        } else {
            let strobe = if bench.rng.gen() { u64::MAX } else { bench.rng.gen() };
            set.write(line, strobe);
            count.writes += 1;
            write(&mut bench, requester, line, strobe);
        }
        let counts: Vec<Counts> = (0..SIZES.requesters).map(|i| bench.counts(i)).collect();
        assert_eq!(counts, expected, "request {request}, line {line:#x}");
    }
    let misses: u64 = expected.iter().map(|count| count.misses).sum();
    assert_eq!(bench.moved.0, misses);
    println!("{expected:?}");
    assert!(expected.iter().all(|count| count.hits > 40 && count.misses > 40 && count.hits != count.misses));
}

/// A full set gives up the line that stands there longest: as many new lines as it has ways push
/// out all old ones and none of the new.
#[test]
fn a_full_set_gives_up_its_ways_in_turn() {
    let mut bench = bench("ways in turn");
    let mut lines = lines_of_a_set();
    let mut before = Counts::default();
    for round in 0..6 {
        let new: Vec<u32> = lines.by_ref().take(SIZES.ways).collect();
        for pass in 0..3 {
            for line in &new {
                // Lines that were written are given up in the same way.
                if round % 2 == 1 && pass == 0 {
                    write(&mut bench, 0, *line, u64::MAX);
                } else {
                    read(&mut bench, 0, *line, 5);
                }
            }
            let now = bench.counts(0);
            let (hits, misses) = (now.hits - before.hits, now.misses - before.misses);
            let expected = match (pass, round % 2) {
                (0, 0) => (0, 4),
                (0, _) => (0, 0),
                _ => (4, 0),
            };
            assert_eq!((hits, misses), expected, "round {round}, pass {pass}: {new:x?}");
            before = now;
        }
    }
}

/// ARPROT says which reads are of instructions: tags 64 to 95. Those above are of atomic
/// operations.
#[test]
fn reads_of_instructions_are_marked_on_the_bus() {
    let mut bench = bench("arprot");
    for _ in 0..200 {
        let (line, tag) = (bench.rng.gen_range(0..1 << 26), bench.rng.gen_range(0..128));
        let requester = bench.rng.gen_range(0..SIZES.requesters);
        bench.last_fetch = None;
        read(&mut bench, requester, line, tag);
        let protection = if tag >> 5 == 2 { 4 } else { 0 };
        assert_eq!(bench.last_fetch, Some((line, protection)), "tag {tag}");
    }
}

/// A line that cannot be written back counts as an error of the bus, and as a line written.
#[test]
fn errors_of_writes_are_counted() {
    let mut bench = bench("errors of writes");
    let mut failed = 0;
    for round in 1..=40 {
        let line = 11 * round;
        write(&mut bench, round as usize % SIZES.requesters, line, 0xff << (round % 8));
        bench.clean = true;
        bench.step();
        while bench.busy {
            bench.step();
        }
        idle(&mut bench, 4);
        failed += u64::from(fails(line));
        assert_eq!((bench.counted, bench.errors), (failed, failed), "line {line:#x}");
        assert_eq!(bench.counters(), (0, u64::from(round)));
    }
    assert!(failed > 3, "{failed}");
}
