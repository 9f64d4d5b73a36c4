//! Native tests of [`L2Bank`] alone, between a requester that takes its answers when it likes and a
//! memory that answers in any order: what the bank's neighbours in the memory system never do.

use super::*;
use crate::memory::testing::{bits_to_line, line_to_bits, random, Line, LineMemory};
use crate::testing::{reset, settle, tick};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};

/// Sets of the bank, and lines that are used: several for each place.
const SETS: usize = 2;
const LINES: u32 = 24;

/// Chances in a cycle.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// An answer of a read, or of a write, is taken.
    taken: f64,
    /// Memory takes a request, or answers one.
    memory: f64,
    /// A request is a write.
    write: f64,
}

/// What the requester offers.
#[derive(Clone, Copy, Debug)]
struct Request {
    line: u32,
    requester: u64,
    tag: u64,
    write: Option<(Line, u64)>,
}

struct Bench {
    uut: L2Bank,
    /// Bits of a line address that choose the bank, and what they are.
    skip: usize,
    /// Lines in memory; `model` has them as requests see them.
    memory: LineMemory,
    model: LineMemory,
    request: Option<Request>,
    /// Reads that were taken, by requester and tag, and what they must get; writes likewise.
    reads: BTreeMap<(u64, u64), Line>,
    writes: BTreeSet<(u64, u64)>,
    /// Fetches and write-backs under way: number, line.
    fetches: Vec<(u64, u32)>,
    stores: Vec<u64>,
    filling: Option<(u64, u32)>,
    rng: ChaCha8Rng,
    cycle: u64,
    /// Answers that came from memory, and others; a fetched line and a hit waited at once.
    misses: usize,
    hits: usize,
    both: usize,
}

impl Bench {
    fn new(ways: usize, skip: usize, look_up_cycle: bool) -> Self {
        let mut uut = L2Bank::new(SETS * ways, ways, 3, skip, None, look_up_cycle);
        reset!(uut);
        Self {
            uut,
            skip,
            memory: LineMemory::default(),
            model: LineMemory::default(),
            request: None,
            reads: BTreeMap::new(),
            writes: BTreeSet::new(),
            fetches: vec![],
            stores: vec![],
            filling: None,
            rng: random("bank"),
            cycle: 0,
            misses: 0,
            hits: 0,
            both: 0,
        }
    }

    /// A request that is not under way.
    fn draw(&mut self, write: f64) -> Option<Request> {
        let rng = &mut self.rng;
        let (requester, tag) = (rng.gen_range(0..32), rng.gen_range(0..64));
        let writes = rng.gen_bool(write);
        let known = if writes {
            self.writes.contains(&(requester, tag))
        } else {
            self.reads.contains_key(&(requester, tag))
        };
        // Some lines are used often.
        let number = if rng.gen_bool(0.6) { rng.gen_range(0..4) } else { rng.gen_range(0..LINES) };
        let line = (number << self.skip) | ((1 << self.skip) - 1);
        let strobe = [u64::MAX, rng.gen(), 1 << rng.gen_range(0..64)][rng.gen_range(0..3)];
        let data = std::array::from_fn(|_| rng.gen());
        (!known).then_some(Request { line, requester, tag, write: writes.then_some((data, strobe)) })
    }

    /// One cycle. `asks`: there may be another request.
    fn cycle(&mut self, pace: Pace, asks: bool) {
        if self.request.is_none() && asks && self.rng.gen_bool(0.9) {
            self.request = self.draw(pace.write);
        }
        let uut = &mut self.uut;
        uut.request.valid.next = self.request.is_some();
        if let Some(Request { line, requester, tag, write }) = self.request {
            uut.request.line.next = u64::from(line).into();
            uut.request.requester.next = requester.into();
            uut.request.tag.next = tag.into();
            uut.request.write_tag.next = tag.into();
            uut.request.write.next = write.is_some();
            let (data, strobe) = write.unwrap_or(([0x5a; 64], u64::MAX));
            uut.request.data.next = line_to_bits(&data);
            uut.request.strobe.next = strobe.into();
        }
        uut.response.ready.next = self.rng.gen_bool(pace.taken);
        uut.written.ready.next = self.rng.gen_bool(pace.taken);
        uut.fetch.ready.next = self.rng.gen_bool(pace.memory);
        uut.write_back.ready.next = self.rng.gen_bool(pace.memory);
        if self.filling.is_none() && !self.fetches.is_empty() && self.rng.gen_bool(pace.memory) {
            self.filling = Some(self.fetches.swap_remove(self.rng.gen_range(0..self.fetches.len())));
        }
        uut.fill.valid.next = self.filling.is_some();
        if let Some((number, line)) = self.filling {
            uut.fill.number.next = number.into();
            uut.fill.data.next = line_to_bits(&self.memory.read(line));
        }
        let done = (!self.stores.is_empty() && self.rng.gen_bool(pace.memory))
            .then(|| self.stores.swap_remove(self.rng.gen_range(0..self.stores.len())));
        uut.done.valid.next = done.is_some();
        uut.done.number.next = done.unwrap_or(0).into();
        settle(uut);

        let cycle = self.cycle;
        if uut.response.valid.val() && uut.response.ready.next {
            let key = (uut.response.requester.val().to_u64(), uut.response.tag.val().to_u64());
            let line = bits_to_line(uut.response.data.val());
            assert_eq!(self.reads.remove(&key), Some(line), "cycle {cycle}: the read {key:?}");
            assert!(!uut.response.error.val(), "cycle {cycle}");
            if uut.response.missed.val() {
                self.misses += 1;
            } else {
                self.hits += 1;
            }
        }
        if uut.written.valid.val() && uut.written.ready.next {
            let key = (uut.written.requester.val().to_u64(), uut.written.tag.val().to_u64());
            assert!(self.writes.remove(&key), "cycle {cycle}: the write {key:?}");
        }
        if uut.fetch.valid.val() && uut.fetch.ready.next {
            let (number, line) = (uut.fetch.number.val().to_u64(), uut.fetch.line.val().to_u64() as u32);
            self.fetches.push((number, line));
        }
        if uut.write_back.valid.val() && uut.write_back.ready.next {
            let (number, line) =
                (uut.write_back.number.val().to_u64(), uut.write_back.line.val().to_u64() as u32);
            let reads = self.fetches.iter().any(|fetch| fetch.1 == line);
            assert!(!reads, "cycle {cycle}: line {line:#x} is written while it is being read");
            let data = bits_to_line(uut.write_back.data.val());
            self.memory.write(line, &data, uut.write_back.strobe.val().to_u64());
            self.stores.push(number);
        }
        self.both += usize::from(
            uut.fill.valid.next && uut.read_out.q.val() && !uut.out_stores.q.val() && !uut.hit_first.q.val(),
        );
        if uut.fill.valid.next && uut.fill.ready.val() {
            self.filling = None;
        }
        if uut.request.valid.next && uut.request.ready.val() {
            let Request { line, requester, tag, write } = self.request.take().unwrap();
            match write {
                Some((data, strobe)) => {
                    self.model.write(line, &data, strobe);
                    self.writes.insert((requester, tag));
                }
                None => {
                    self.reads.insert((requester, tag), self.model.read(line));
                }
            }
        }
        // One that was refused may be another one in the next cycle.
        if self.rng.gen_bool(0.03) {
            self.request = None;
        }
        tick!(self.uut);
        self.cycle += 1;
    }

    /// Nothing is under way.
    fn is_idle(&self) -> bool {
        self.request.is_none() && self.reads.is_empty() && self.writes.is_empty()
    }

    /// Takes all answers, and writes all lines back: memory has what the requests see.
    fn drain(&mut self) {
        let fast = Pace { taken: 0.9, memory: 0.9, write: 0.0 };
        let limit = self.cycle + 2_000;
        while !self.is_idle() {
            self.cycle(fast, false);
            assert!(self.cycle < limit, "answers are missing: {:?} {:?}", self.reads.keys(), self.writes);
        }
        self.uut.clean.next = true;
        self.cycle(fast, false);
        self.uut.clean.next = false;
        while self.uut.busy.val() {
            self.cycle(fast, false);
            assert!(self.cycle < limit, "the lines are not written back");
        }
        for number in 0..LINES {
            let line = (number << self.skip) | ((1 << self.skip) - 1);
            assert_eq!(self.memory.read(line), self.model.read(line), "line {line:#x}");
        }
    }
}

/// Answers are taken seldom, or come to a queue that is nearly full, and fetched lines meet lines
/// that were hit: each read gets what its line is, once.
#[test]
fn answers_that_are_taken_seldom() {
    let seldom = Pace { taken: 0.08, memory: 0.6, write: 0.1 };
    let at_once = Pace { taken: 0.95, memory: 0.6, write: 0.3 };
    let slow_memory = Pace { taken: 0.4, memory: 0.05, write: 0.3 };
    for (ways, skip, look_up_cycle) in [(4, 2, true), (2, 3, true), (4, 2, false), (1, 0, true)] {
        let mut bench = Bench::new(ways, skip, look_up_cycle);
        for pace in [seldom, at_once, seldom, slow_memory, seldom] {
            for _ in 0..700 {
                bench.cycle(pace, true);
            }
        }
        bench.drain();
        let Bench { misses, hits, both, .. } = bench;
        println!("{ways} ways, look-up cycle {look_up_cycle}: {misses} misses, {hits} hits, {both} at once");
        assert!(misses > 60 && hits > 30 && both > 20, "{misses} misses, {hits} hits, {both} at once");
    }
}
