//! Native tests of [`DataCache`](super::DataCache) with a model memory that answers in any order.

use super::DataCache;
use crate::memory::testing::random;
use crate::testing::{reset, settle, tick};
use hermes_hdl::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::{HashMap, HashSet, VecDeque};

/// A line as the model keeps it: how often it was written, and how often the requester knows that.
#[derive(Clone, Copy, Default)]
struct Versions {
    performed: u64,
    acknowledged: u64,
}

/// An outstanding read: tag, line, and the version that it returns if that is settled.
type Read = (u64, u64, Option<u64>);

struct Bench {
    uut: DataCache,
    rng: ChaCha8Rng,
    /// Chance of a request and of a response per cycle.
    pace: [f64; 2],
    memory: HashMap<u64, Versions>,
    /// Lines that cannot be read.
    failing: HashSet<u64>,
    /// Requests accepted and not answered: line, and the oldest version that may come.
    requests: VecDeque<(u64, u64)>,
    /// Request that the outputs answer: line, and the oldest version that may come.
    held: Option<(u64, u64)>,
    reads: Vec<Read>,
    last_read: Option<(u64, u64)>,
    /// Outstanding stores: tag and line, and whether the memory changed already.
    stores: Vec<(u64, u64, bool)>,
    hits: u64,
    misses: u64,
    errors: u64,
    answers: u64,
    most_reads: usize,
}

impl Bench {
    fn new(lines_log2: usize, pace: [f64; 2]) -> Self {
        let mut uut = DataCache::new(lines_log2);
        reset!(uut);
        for _ in 0..1 << lines_log2 {
            tick!(uut);
        }
        Self {
            uut,
            rng: random("data_cache"),
            pace,
            memory: HashMap::new(),
            failing: HashSet::new(),
            requests: VecDeque::new(),
            held: None,
            reads: vec![],
            last_read: None,
            stores: vec![],
            hits: 0,
            misses: 0,
            errors: 0,
            answers: 0,
            most_reads: 0,
        }
    }

    fn version(&self, line: u64) -> u64 {
        self.memory.get(&line).map_or(0, |v| v.performed)
    }

    /// One cycle with a request for `line`, perhaps a store to `store`, and perhaps an
    /// invalidation; whether the request was accepted.
    fn cycle(&mut self, line: Option<u64>, store: Option<u64>, drop: bool) -> bool {
        let uut = &mut self.uut;
        uut.drop.next = drop;
        uut.request.valid.next = line.is_some();
        uut.request.line.next = bits(line.unwrap_or(0));
        uut.answer.ready.next = self.rng.gen_bool(0.9);
        uut.read.ready.next = self.rng.gen_bool(0.8);
        // A store of the memory changes it at some time before it is acknowledged.
        for (_, line, performed) in &mut self.stores {
            if !*performed && self.rng.gen_bool(0.1) {
                *performed = true;
                self.memory.entry(*line).or_default().performed += 1;
            }
        }
        let written = (!self.stores.is_empty() && self.rng.gen_bool(self.pace[1]))
            .then(|| self.stores.swap_remove(self.rng.gen_range(0..self.stores.len())));
        uut.written.valid.next = written.is_some();
        if let Some((tag, line, performed)) = written {
            let versions = self.memory.entry(line).or_default();
            versions.performed += u64::from(!performed);
            uut.written.tag.next = bits(tag);
        }
        let response = (!self.reads.is_empty() && self.rng.gen_bool(self.pace[1]))
            .then(|| self.reads.swap_remove(self.rng.gen_range(0..self.reads.len())));
        uut.read.response.valid.next = response.is_some();
        if let Some((tag, line, version)) = response {
            let version = version.unwrap_or(self.memory.get(&line).map_or(0, |v| v.performed));
            uut.read.response.tag.next = bits(tag);
            uut.read.response.data.next =
                Bits::<512>::from(line) | (Bits::<512>::from(version) << Bits::<9>::from(480));
            uut.read.response.error.next = self.failing.contains(&line);
        }
        // A store whose tag is free passes by.
        let store = store.filter(|_| self.stores.len() < 32).map(|line| {
            let tag = (0..32).find(|t| self.stores.iter().all(|s| s.0 != *t)).unwrap();
            (tag, line)
        });
        // The tag that is given back in this cycle is not used again at once.
        let store = store.filter(|s| written.map(|w| w.0) != Some(s.0));
        uut.store.valid.next = store.is_some();
        if let Some((tag, line)) = store {
            uut.store.tag.next = bits(tag);
            uut.store.line.next = bits(line);
            self.stores.push((tag, line, false));
        }
        settle(&mut self.uut);

        if let Some((line, oldest)) = self.held {
            let data = self.uut.answer.data.val();
            let failing = self.failing.contains(&line);
            assert_eq!(self.uut.answer.error.val(), failing, "line {line}");
            assert_eq!(data.get_bits::<26>(0).to_u64(), line);
            let version = data.get_bits::<32>(480).to_u64();
            assert!(
                oldest <= version && version <= self.version(line),
                "line {line}: version {version}, but {oldest} was known when it was asked for"
            );
        }
        if self.uut.answer.valid.val() && self.uut.answer.ready.val() {
            self.held = self.requests.pop_front();
            assert!(self.held.is_some(), "an answer without a request");
            self.answers += 1;
            self.errors += u64::from(self.failing.contains(&self.held.unwrap().0));
        }
        let offer = self
            .uut
            .read
            .valid
            .val()
            .then(|| (self.uut.read.tag.val().to_u64(), self.uut.read.line.val().to_u64()));
        if self.last_read.is_some() {
            assert_eq!(offer, self.last_read, "read request changed before it was accepted");
        }
        self.last_read = offer;
        if let Some((tag, line)) = offer.filter(|_| self.uut.read.ready.val()) {
            assert!(self.reads.iter().all(|r| r.0 != tag), "tag {tag} is taken");
            // The memory reads at once or when it answers.
            let version = self.rng.gen::<bool>().then(|| self.version(line));
            self.reads.push((tag, line, version));
            self.most_reads = self.most_reads.max(self.reads.len());
            self.last_read = None;
        }
        self.hits += u64::from(self.uut.hit.val());
        self.misses += u64::from(self.uut.miss.val());
        let accepted = line.is_some() && self.uut.request.ready.val();
        if accepted {
            let oldest = self.memory.get(&line.unwrap()).map_or(0, |v| v.acknowledged);
            self.requests.push_back((line.unwrap(), oldest));
        }
        // What a store or an invalidation makes known counts for requests of later cycles.
        if let Some((_, line, _)) = written {
            let versions = self.memory.get_mut(&line).unwrap();
            // Other stores to the line may be outstanding, and have changed it or not.
            let open = self.stores.iter().filter(|s| s.1 == line && s.2).count() as u64;
            versions.acknowledged = versions.acknowledged.max(versions.performed - open);
        }
        if drop {
            for versions in self.memory.values_mut() {
                versions.acknowledged = versions.performed;
            }
        }
        tick!(self.uut);
        accepted
    }

    fn drain(&mut self) {
        for _ in 0..5_000 {
            if self.requests.is_empty() && self.stores.is_empty() {
                self.cycle(None, None, false);
                return;
            }
            self.cycle(None, None, false);
        }
        panic!("{} requests without an answer", self.requests.len());
    }
}

fn random_traffic(lines_log2: usize, pace: [f64; 2], cycles: u64, lines: u64) -> Bench {
    let mut bench = Bench::new(lines_log2, pace);
    let mut wanted = None;
    for cycle in 0..cycles {
        if cycle % 500 == 0 {
            if let Some(line) = wanted.take() {
                while !bench.cycle(Some(line), None, false) {}
            }
            bench.drain();
            bench.held = None;
            bench.failing = (0..lines).filter(|_| bench.rng.gen_bool(0.05)).collect();
            // Lines in the cache are good; from now on the failing ones must be asked for.
            bench.cycle(None, None, true);
        }
        if wanted.is_none() && bench.rng.gen_bool(bench.pace[0]) {
            wanted = Some(bench.rng.gen_range(0..lines));
        }
        let store = bench.rng.gen_bool(0.1).then(|| bench.rng.gen_range(0..lines));
        let drop = bench.rng.gen_bool(0.005);
        if bench.cycle(wanted, store, drop) {
            wanted = None;
        }
    }
    if let Some(line) = wanted {
        while !bench.cycle(Some(line), None, false) {}
    }
    println!(
        "{} hits, {} misses, {} errors, {} reads",
        bench.hits, bench.misses, bench.errors, bench.most_reads
    );
    bench.drain();
    assert_eq!(bench.answers, bench.hits + bench.misses);
    bench
}

#[test]
fn random_traffic_in_a_small_cache() {
    let bench = random_traffic(2, [0.8, 0.7], 3_000, 12);
    assert!(bench.hits > 200 && bench.misses > 200 && bench.errors > 20);
}

#[test]
fn random_traffic_that_hits() {
    let bench = random_traffic(4, [0.9, 0.5], 3_000, 12);
    assert!(bench.hits > 800);
}

/// A line that came with an error is requested again, however often it was found before; so is all
/// else that was in the cache.
#[test]
fn a_line_that_came_with_an_error_does_not_stay() {
    let mut bench = Bench::new(3, [1.0, 0.5]);
    let ask = |bench: &mut Bench, line| {
        while !bench.cycle(Some(line), None, false) {}
        bench.drain();
        // What the invalidation takes.
        for _ in 0..4 {
            bench.cycle(None, None, false);
        }
    };
    for round in 0..20u64 {
        let line = 100 + 3 * round;
        ask(&mut bench, 7);
        bench.failing = [line].into();
        let before = (bench.misses, bench.hits, bench.errors);
        ask(&mut bench, line);
        assert_eq!((bench.misses, bench.hits, bench.errors), (before.0 + 1, before.1, before.2 + 1));
        ask(&mut bench, line);
        assert_eq!((bench.misses, bench.hits, bench.errors), (before.0 + 2, before.1, before.2 + 2));
        // The memory can read it now.
        bench.held = None;
        bench.failing.clear();
        ask(&mut bench, line);
        assert_eq!((bench.misses, bench.hits, bench.errors), (before.0 + 3, before.1, before.2 + 2));
        ask(&mut bench, line);
        assert_eq!((bench.misses, bench.hits, bench.errors), (before.0 + 3, before.1 + 1, before.2 + 2));
    }
}

#[test]
fn sixty_four_misses_are_under_way() {
    let mut bench = Bench::new(3, [1.0, 0.0]);
    let mut line = 0;
    for _ in 0..250 {
        line += u64::from(bench.cycle(Some(line), None, false));
    }
    assert_eq!((bench.reads.len(), bench.misses), (64, 64));
    bench.pace[1] = 1.0;
    bench.drain();
    assert_eq!(bench.answers, line);
}

#[test]
fn hits_and_misses_sustain_one_line_a_cycle() {
    let mut uut = DataCache::new(4);
    reset!(uut);
    for _ in 0..16 {
        tick!(uut);
    }
    uut.answer.ready.next = true;
    uut.read.ready.next = true;
    // Eight lines that miss, then the same lines over and over: a memory that answers in the next
    // cycle.
    let mut asked: VecDeque<u64> = VecDeque::new();
    let (mut announced, mut read) = (None, None);
    for cycle in 0..200u64 {
        let line = if cycle < 100 { cycle } else { cycle % 8 };
        uut.request.valid.next = true;
        uut.request.line.next = bits(line);
        uut.read.response.valid.next = false;
        if let Some((tag, line)) = read.take() {
            uut.read.response.valid.next = true;
            uut.read.response.tag.next = tag;
            uut.read.response.data.next = bits(line);
        }
        settle(&mut uut);
        assert!(uut.request.ready.val(), "cycle {cycle}");
        assert_eq!(uut.hit.val(), cycle > 108, "cycle {cycle}");
        asked.push_back(line);
        if uut.read.valid.val() {
            read = Some((uut.read.tag.val(), uut.read.line.val().to_u64()));
        }
        if let Some(line) = announced {
            assert_eq!(uut.answer.data.val(), bits(line));
        }
        // A miss is announced two cycles after its response, a hit behind it in the next one.
        assert_eq!(uut.answer.valid.val(), cycle >= 5, "cycle {cycle}");
        announced = uut.answer.valid.val().then(|| asked.pop_front().unwrap());
        tick!(uut);
    }
    // With nothing in front of it, a hit is announced two cycles after its request.
    uut.request.valid.next = false;
    for _ in 0..10 {
        tick!(uut);
    }
    uut.request.valid.next = true;
    uut.request.line.next = bits(3);
    tick!(uut);
    uut.request.valid.next = false;
    settle(&mut uut);
    assert!(!uut.answer.valid.val());
    tick!(uut);
    assert!(uut.answer.valid.val());
    tick!(uut);
    assert_eq!(uut.answer.data.val(), bits(3));
}
