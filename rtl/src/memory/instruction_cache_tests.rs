//! Native tests of [`InstructionCache`](super::InstructionCache) with a model fetch stage.

use super::InstructionCache;
use crate::memory::testing::{line_to_bits, random, LineMemory};
use crate::testing::{reset, settle, tick};
use hermes_hdl::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// A fetch stage: every slot wants the instructions of a sequence of PCs and waits while they miss.
struct Bench {
    uut: InstructionCache,
    rng: ChaCha8Rng,
    /// Contents of memory; a flush makes a new version of the lines visible.
    memory: LineMemory,
    /// PC wanted by each slot, and whether it waits for `filled`.
    slots: Vec<(u32, bool)>,
    /// Lookup in flight.
    looked_up: Option<(usize, u32)>,
    /// Line requested and not yet answered, and whether the request was accepted.
    request: Option<u32>,
    fetches: usize,
    hits: usize,
    latency: f64,
    /// No lookups for now.
    quiet: bool,
    /// Lookups in every cycle with a slot that does not wait, and no stalls.
    busy: bool,
}

fn fails(line: u32) -> bool {
    line % 7 == 3
}

impl Bench {
    fn new(name: &str, slots: usize, latency: f64) -> Self {
        Self::with_ways(name, slots, latency, 1)
    }

    /// Two sets at least, and four lines.
    fn with_ways(name: &str, slots: usize, latency: f64, ways: usize) -> Self {
        let mut uut = InstructionCache::new(if ways == 4 { 8 } else { 4 }, ways);
        reset!(uut);
        Self {
            uut,
            rng: random(name),
            memory: LineMemory::default(),
            slots: vec![(0, false); slots],
            looked_up: None,
            request: None,
            fetches: 0,
            hits: 0,
            latency,
            quiet: false,
            busy: false,
        }
    }

    fn word(&self, pc: u32) -> u32 {
        let line = self.memory.read(pc >> 6);
        let offset = (pc & 63) as usize;
        u32::from_le_bytes(line[offset..offset + 4].try_into().unwrap())
    }

    /// One cycle: `next_pc` gives the PC after a hit.
    fn cycle(&mut self, flush: bool, next_pc: &mut dyn FnMut(&mut ChaCha8Rng, usize, u32) -> u32) {
        let stall = !self.busy && self.rng.gen_bool(0.2);
        let ready: Vec<usize> = (0..self.slots.len())
            .filter(|&s| !self.slots[s].1 && self.looked_up.map(|l| l.0) != Some(s))
            .collect();
        let lookup = (!ready.is_empty() && !self.quiet && (self.busy || self.rng.gen_bool(0.9))).then(|| {
            let slot = ready[self.rng.gen_range(0..ready.len())];
            (slot, self.slots[slot].0)
        });
        self.uut.stall.next = stall;
        self.uut.wanted.next = true;
        self.uut.flush.next = flush;
        self.uut.lookup.enable.next = lookup.is_some();
        if let Some((slot, pc)) = lookup {
            self.uut.lookup.slot.next = bits(slot as u64);
            self.uut.lookup.word.next = bits((pc >> 2).into());
        }
        self.uut.fetch.ready.next = self.rng.gen_bool(0.7);
        let respond = self.request.filter(|_| self.rng.gen_bool(self.latency));
        self.uut.fetch.response.valid.next = respond.is_some();
        if let Some(line) = respond {
            self.uut.fetch.response.data.next = line_to_bits(&self.memory.read(line));
            self.uut.fetch.response.error.next = fails(line);
            self.request = None;
        }
        settle(&mut self.uut);

        if self.uut.filled.val() {
            for slot in &mut self.slots {
                slot.1 = false;
            }
        }
        assert_eq!(self.uut.hit_valid.val(), self.looked_up.is_some());
        if let Some((slot, pc)) = self.looked_up {
            if self.uut.fetched.hit.val() {
                let expected = if fails(pc >> 6) { 0 } else { self.word(pc) };
                assert_eq!(self.uut.fetched.word.val().to_u32(), expected, "pc {pc:#x}");
                assert_eq!(self.uut.fetched.error.val(), fails(pc >> 6));
            } else {
                assert!(!self.uut.fetched.error.val());
            }
            if !stall {
                if self.uut.fetched.hit.val() {
                    self.hits += 1;
                    self.slots[slot].0 = next_pc(&mut self.rng, slot, pc);
                } else {
                    self.slots[slot].1 = true;
                }
            }
        }
        if !stall {
            self.looked_up = lookup;
        }
        if self.uut.fetch_miss.val() {
            self.fetches += 1;
        }
        if self.uut.fetch.valid.val() && self.uut.fetch.ready.val() {
            assert!(self.request.is_none() && respond.is_none());
            self.request = Some(self.uut.fetch.line.val().to_u32());
        }
        tick!(self.uut);
    }
}

/// Slots that look up in every cycle, each in a line of its own, miss in every cycle while lines
/// are invalidated: the fill machine must find a miss to take nevertheless.
#[test]
fn slots_that_miss_in_every_cycle_get_lines() {
    for slots in [2, 4, 8, 16, 32] {
        let mut bench = Bench::new("misses_in_every_cycle", slots, 1.0);
        bench.busy = true;
        for (slot, place) in bench.slots.iter_mut().enumerate() {
            place.0 = slot as u32 * 64;
        }
        for round in 0..20 {
            for cycle in 0..500 {
                // Each instruction is in a line of its own.
                bench.cycle(cycle == 0, &mut |_, _, pc| pc.wrapping_add(64 * 32) % 0x10_0000);
            }
            assert!(bench.hits > round * 10, "{slots} slots: {} instructions in round {round}", bench.hits);
        }
        println!("{slots} slots: {} instructions, {} fetches", bench.hits, bench.fetches);
    }
}

#[test]
fn random_programs() {
    for (latency, ways) in [(1.0, 1), (0.1, 1), (0.5, 2), (0.5, 4)] {
        let mut bench = Bench::with_ways("instruction_cache", 8, latency, ways);
        for _ in 0..6_000 {
            bench.cycle(false, &mut |rng, _, pc| {
                if rng.gen_bool(0.03) {
                    rng.gen_range(0..256) * 4
                } else {
                    pc.wrapping_add(4) % 1024
                }
            });
        }
        println!("{} hits, {} fetches", bench.hits, bench.fetches);
        assert!(bench.hits > 600 && bench.fetches > 30);
    }
}

#[test]
fn slots_that_share_a_place_make_progress() {
    for ways in [1, 4] {
        let mut bench = Bench::with_ways("instruction_cache", 8, 1.0, ways);
        let mut hits = [0; 8];
        // All lines belong to set 0.
        for (slot, wanted) in bench.slots.iter_mut().enumerate() {
            wanted.0 = slot as u32 * 256;
        }
        for _ in 0..20_000 / ways {
            bench.cycle(false, &mut |_, slot, pc| {
                hits[slot] += 1;
                pc ^ 4
            });
        }
        println!("{ways} ways: {hits:?}");
        assert!(hits.iter().all(|&h| h > 40 / ways), "{hits:?}");
    }
}

#[test]
fn lines_of_one_set_stay_in_its_ways() {
    for (ways, fetches) in [(2, 2), (4, 4)] {
        let mut bench = Bench::with_ways("instruction_cache", ways, 1.0, ways);
        for (slot, wanted) in bench.slots.iter_mut().enumerate() {
            wanted.0 = [0, 128, 256, 512][slot];
        }
        for _ in 0..2_000 {
            bench.cycle(false, &mut |_, _, pc| pc ^ 4);
        }
        assert_eq!(bench.fetches, fetches);
        assert!(bench.hits > 1000);
    }
}

/// A full set evicts its ways round-robin: as many new lines as it has ways push out all old ones
/// and none of the new.
#[test]
fn a_full_set_gives_up_its_ways_in_turn() {
    for ways in [2, 4] {
        let mut bench = Bench::with_ways("instruction_cache", 1, 1.0, ways);
        // Both caches have two sets: these are lines of set 0 that do not fail.
        let mut lines = (0..).map(|n| 2 * n).filter(|line| !fails(*line));
        for round in 0..8 {
            let new: Vec<u32> = lines.by_ref().take(ways).collect();
            for pass in 0..3 {
                for line in &new {
                    let fetches = bench.fetches;
                    let hits = bench.hits;
                    bench.slots[0].0 = line * 64;
                    while bench.hits == hits {
                        bench.cycle(false, &mut |_, _, pc| pc);
                    }
                    // A lookup of the same word that is still in flight.
                    while bench.looked_up.is_some() {
                        bench.quiet = true;
                        bench.cycle(false, &mut |_, _, pc| pc);
                    }
                    bench.quiet = false;
                    let expected = usize::from(pass == 0);
                    assert_eq!(bench.fetches - fetches, expected, "round {round}, pass {pass}, line {line}");
                }
            }
        }
    }
}

#[test]
fn one_slot_runs_without_misses_in_a_loop() {
    let mut bench = Bench::new("instruction_cache", 1, 1.0);
    for _ in 0..4_000 {
        // Lines 0 to 2, which do not fail; all fit.
        bench.cycle(false, &mut |_, _, pc| (pc + 4) % 192);
    }
    assert_eq!(bench.fetches, 3);
    assert!(bench.hits > 1000);
}

#[test]
fn flush_makes_new_instructions_visible() {
    let mut bench = Bench::new("instruction_cache", 8, 0.2);
    for round in 0..200 {
        let cycles = bench.rng.gen_range(1..150);
        for _ in 0..cycles {
            bench.cycle(false, &mut |rng, _, pc| {
                if rng.gen_bool(0.05) {
                    rng.gen_range(0..128) * 4
                } else {
                    (pc + 4) % 512
                }
            });
        }
        // A lookup before the flush may still see the old line: let it leave first.
        bench.quiet = true;
        while bench.looked_up.is_some() {
            bench.cycle(false, &mut |_, _, pc| pc);
        }
        bench.quiet = false;
        for line in 0..8 {
            bench.memory.write(line, &[round as u8 ^ line as u8; 64], bench.rng.gen());
        }
        bench.cycle(true, &mut |_, _, pc| pc);
    }
    assert!(bench.hits > 500, "{} hits", bench.hits);
}

#[test]
#[should_panic(expected = "12 lines in 1 ways")]
fn the_number_of_lines_is_checked() {
    InstructionCache::new(12, 1);
}

#[test]
#[should_panic(expected = "3 ways, expected 1, 2 or 4")]
fn the_number_of_ways_is_checked() {
    InstructionCache::new(12, 3);
}
