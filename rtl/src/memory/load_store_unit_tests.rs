//! Native tests of [`LoadStoreUnit`](super::LoadStoreUnit) with a model memory.

use super::LoadStoreUnit;
use crate::config::CoreOptions;
use crate::memory::testing::{bits_to_line, line_to_bits, loaded_value, random, strobe, LineMemory};
use crate::testing::{reset, settle, tick};
use hermes_hdl::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeSet, VecDeque};

/// One memory operation of a warp.
#[derive(Clone, Debug)]
struct Operation {
    slot: usize,
    store: bool,
    size: u32,
    signed: bool,
    rd: u32,
    mask: u32,
    address: Vec<u32>,
    data: Vec<u32>,
}

impl Operation {
    fn lanes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.address.len()).filter(|&i| self.mask >> i & 1 == 1)
    }

    fn lines(&self) -> BTreeSet<u32> {
        self.lanes().map(|i| self.address[i] >> 6).collect()
    }
}

/// A line whose reads fail.
fn fails(line: u32) -> bool {
    line % 11 == 5
}

/// The value that a load gives, one lane at a time.
fn load_value(memory: &LineMemory, address: u32, size: u32, signed: bool) -> u32 {
    let line = memory.read(address >> 6);
    let offset = (address & 63) as usize;
    let bytes = &line[offset..offset + (1 << size)];
    let raw = bytes.iter().rev().fold(0u32, |value, &byte| value << 8 | u32::from(byte));
    match (size, signed) {
        (0, true) => raw as u8 as i8 as u32,
        (1, true) => raw as u16 as i16 as u32,
        _ => raw,
    }
}

/// The model: the memory behind the ports, and what every operation must give.
struct Bench<const LANES: usize> {
    uut: LoadStoreUnit<LANES>,
    rng: ChaCha8Rng,
    /// Chance of each ready, and of a response becoming available, per cycle.
    pace: f64,
    /// Memory as the ports wrote it, and as the operations should have written it.
    memory: LineMemory,
    golden: LineMemory,
    /// Operations in flight of each slot, oldest first, with the lanes whose value is still to
    /// come.
    in_flight: Vec<VecDeque<(Operation, u32)>>,
    offered: Option<Operation>,
    reads: VecDeque<u32>,
    /// Lines that the memory has not acknowledged, with their tag.
    writes: Vec<(u32, Bits<6>)>,
    /// The oldest read is announced.
    announced: bool,
    /// Line that stands on the outputs from the next cycle on.
    answered: Option<u32>,
    cycle: u64,
    last_read_offer: Option<u64>,
    last_write_offer: Option<(u64, [u8; 64], u64)>,
    line_reads: u64,
    line_writes: u64,
    expected_reads: u64,
    expected_writes: u64,
    completed: u64,
    most_loads: usize,
    /// `ready_next` a cycle ago.
    promised: bool,
}

impl<const LANES: usize> Bench<LANES> {
    fn new(name: &str, words: usize, pace: f64) -> Self {
        let mut uut = LoadStoreUnit::new(CoreOptions { line_words: words, ..CoreOptions::default() });
        reset!(uut);
        Self {
            uut,
            rng: random(name),
            pace,
            memory: LineMemory::default(),
            golden: LineMemory::default(),
            in_flight: vec![VecDeque::new(); 32],
            offered: None,
            reads: VecDeque::new(),
            writes: vec![],
            announced: false,
            answered: None,
            cycle: 0,
            last_read_offer: None,
            last_write_offer: None,
            line_reads: 0,
            line_writes: 0,
            expected_reads: 0,
            expected_writes: 0,
            completed: 0,
            most_loads: 0,
            promised: false,
        }
    }

    /// A random operation of a slot, of the kind of those in flight. Every slot has its own lines,
    /// so the order between slots does not matter; few slots make many operations of each.
    fn random_operation(&mut self) -> Operation {
        let rng = &mut self.rng;
        let slots = if rng.gen() { 2 } else { 32 };
        let slot = rng.gen_range(0..slots);
        let store = self.in_flight[slot].front().map_or_else(|| rng.gen(), |(op, _)| op.store);
        let size = rng.gen_range(0..3);
        let lines = [1, 2, 40][rng.gen_range(0..3)];
        // A narrow range of offsets makes lanes write the same bytes.
        let span = [4, 64][rng.gen_range(0..2)];
        let all = if LANES == 32 { u32::MAX } else { (1 << LANES) - 1 };
        let mask = if rng.gen_bool(0.3) { all } else { (rng.gen::<u32>() & all).max(1) };
        Operation {
            slot,
            store,
            size,
            signed: rng.gen(),
            rd: rng.gen_range(0..32),
            mask,
            address: (0..LANES)
                .map(|_| {
                    let line = 0x100_0000 + slot as u32 * 64 + rng.gen_range(0..lines);
                    line << 6 | rng.gen_range(0..span) >> size << size
                })
                .collect(),
            data: (0..LANES).map(|_| rng.gen()).collect(),
        }
    }

    fn offer(&mut self, operation: Option<Operation>) {
        self.uut.request.valid.next = operation.is_some();
        if let Some(op) = &operation {
            assert!(self.in_flight[op.slot].iter().all(|(other, _)| other.store == op.store));
            self.uut.request.slot.next = bits(op.slot as u64);
            self.uut.request.store.next = op.store;
            self.uut.request.size.next = bits(op.size.into());
            self.uut.request.signed.next = op.signed;
            self.uut.request.rd.next = bits(op.rd.into());
            self.uut.request.mask.next = bits(op.mask.into());
            for i in 0..LANES {
                self.uut.request.address[i].next = bits(op.address[i].into());
                self.uut.request.data[i].next = bits(op.data[i].into());
            }
        }
        self.offered = operation;
    }

    /// One clock cycle with the operation offered.
    fn cycle(&mut self) {
        self.uut.read.ready.next = self.rng.gen_bool(self.pace);
        self.uut.write.ready.next = self.rng.gen_bool(self.pace);
        self.uut.result_ready.next = self.uut.result_ready_next.val();
        self.uut.result_ready_next.next = self.rng.gen_bool(self.pace);
        // An announcement stays until it is accepted; then its line follows.
        if let Some(line) = self.answered.take() {
            self.uut.answer.data.next = line_to_bits(&self.memory.read(line));
            self.uut.answer.error.next = fails(line);
        }
        self.announced |= !self.reads.is_empty() && self.rng.gen_bool(self.pace);
        self.uut.answer.valid.next = self.announced;
        // Writes are done in any order.
        let done = (!self.writes.is_empty() && self.rng.gen_bool(self.pace))
            .then(|| self.writes.swap_remove(self.rng.gen_range(0..self.writes.len())));
        self.uut.write.written.valid.next = done.is_some();
        if let Some((_, tag)) = done {
            self.uut.write.written.tag.next = tag;
        }
        settle(&mut self.uut);

        // Requests stay until they are accepted.
        let read_offer = self.uut.read.valid.val().then(|| self.uut.read.line.val().to_u64());
        if self.last_read_offer.is_some() {
            assert_eq!(self.last_read_offer, read_offer, "read request changed before it was accepted");
        }
        let write_offer = self.uut.write.valid.val().then(|| {
            let u = &self.uut;
            (u.write.line.val().to_u64(), bits_to_line(u.write.data.val()), strobe(u.write.strobe.val()))
        });
        if self.last_write_offer.is_some() {
            assert_eq!(self.last_write_offer, write_offer, "write request changed before it was accepted");
        }
        let read = read_offer.filter(|_| self.uut.read.ready.val());
        let write = write_offer.filter(|_| self.uut.write.ready.val());
        self.last_read_offer = if read.is_some() { None } else { read_offer };
        self.last_write_offer = if write.is_some() { None } else { write_offer };
        assert_eq!(self.uut.line_write.val(), write.is_some());

        if self.announced && self.uut.answer.ready.val() {
            self.announced = false;
            self.answered = self.reads.pop_front();
        }
        if let Some(line) = read {
            self.reads.push_back(line as u32);
            self.line_reads += 1;
        }
        if let Some((line, data, strobes)) = write {
            self.memory.write(line as u32, &data, strobes);
            let tag = self.uut.write.tag.val();
            assert!(self.writes.iter().all(|w| w.1 != tag), "tag {tag:?} is taken");
            self.writes.push((line as u32, tag));
            self.line_writes += 1;
        }
        if self.uut.result.valid.val() && self.uut.result_ready.val() {
            self.check_result();
        }
        if self.uut.stored.valid.val() {
            let slot = self.uut.stored.slot.val().to_u64() as usize;
            let (op, _) = self.in_flight[slot].pop_front().expect("a store was in flight");
            assert!(op.store);
            // A later store of the slot may still be on its way to these lines.
            if self.in_flight[slot].is_empty() {
                for line in op.lines() {
                    assert!(self.writes.iter().all(|w| w.0 != line), "line {line:#x} is not written yet");
                    assert_eq!(self.memory.read(line), self.golden.read(line), "{op:?}");
                }
            }
            self.completed += 1;
        }
        assert!(self.uut.request.ready.val() || !self.promised);
        self.promised = self.uut.ready_next.val();
        if self.uut.request.valid.val() && self.uut.request.ready.val() {
            let op = self.offered.take().unwrap();
            if op.store {
                for i in op.lanes() {
                    let mut data = [0; 64];
                    let offset = (op.address[i] & 63) as usize;
                    data[offset..offset + (1 << op.size)]
                        .copy_from_slice(&op.data[i].to_le_bytes()[..1 << op.size]);
                    self.golden.write(op.address[i] >> 6, &data, ((1 << (1 << op.size)) - 1) << offset);
                }
                self.expected_writes += op.lines().len() as u64;
            } else {
                self.expected_reads += op.lines().len() as u64;
            }
            let mask = op.mask;
            let slot = op.slot;
            self.in_flight[slot].push_back((op, mask));
            let loads = |(op, _): &&(Operation, u32)| !op.store;
            self.most_loads = self.most_loads.max(self.in_flight.iter().flatten().filter(loads).count());
        }
        tick!(self.uut);
        self.cycle += 1;
    }

    fn check_result(&mut self) {
        let slot = self.uut.result.slot.val().to_u64() as usize;
        let (op, remaining) = self.in_flight[slot].front_mut().expect("a load was in flight");
        assert!(!op.store);
        assert_eq!(self.uut.result.rd.val().to_u32(), op.rd);
        let mask = self.uut.result.lanes.val().to_u32();
        assert!(mask != 0 && mask & !*remaining == 0, "lanes {mask:x} of {remaining:x}");
        let line = op.address[mask.trailing_zeros() as usize] >> 6;
        assert_eq!(self.uut.result_error.valid.val(), fails(line));
        assert_eq!(self.uut.result_error.line.val().to_u32(), line);
        for i in 0..LANES {
            let offset = self.uut.place.address[i].val().to_u32() % 4;
            let size = self.uut.place.size.val().to_u64();
            let word = self.uut.result_word[i % self.uut.result_word.len()].val().to_u32();
            let value = loaded_value(word, offset, size, self.uut.place.signed.val());
            if mask >> i & 1 == 1 {
                assert_eq!(
                    value,
                    load_value(&self.golden, op.address[i], op.size, op.signed),
                    "lane {i} of {op:?}"
                );
                assert_eq!(op.address[i] >> 6, line, "lanes of one result share a line");
            }
        }
        *remaining &= !mask;
        assert_eq!(self.uut.result.last.val(), *remaining == 0);
        if *remaining == 0 {
            self.in_flight[slot].pop_front();
            self.completed += 1;
        }
    }

    fn drain(&mut self) {
        for _ in 0..5_000 {
            if self.offered.is_none() && self.in_flight.iter().all(VecDeque::is_empty) {
                assert_eq!((self.line_reads, self.line_writes), (self.expected_reads, self.expected_writes));
                return;
            }
            self.uut.request.valid.next = self.offered.is_some();
            self.cycle();
        }
        panic!("operations are still in flight: {:?}", self.in_flight);
    }
}

fn random_operations<const LANES: usize>(words: usize, pace: f64, cycles: usize) {
    let mut bench = Bench::<LANES>::new("load_store_unit", words, pace);
    for _ in 0..cycles {
        if bench.offered.is_none() {
            let offers = bench.rng.gen_bool(0.7);
            let operation = if offers { Some(bench.random_operation()) } else { None };
            bench.offer(operation);
        }
        bench.cycle();
    }
    bench.drain();
    assert!(bench.completed > 20, "only {} operations", bench.completed);
    // 32 that wait for memory, one whose line is here, and one whose last result waits.
    assert!(bench.most_loads <= 34, "{} loads in flight", bench.most_loads);
}

#[test]
fn random_1_lane() {
    random_operations::<1>(4, 0.5, 3000);
}

#[test]
fn random_4_lanes() {
    random_operations::<4>(4, 0.9, 3000);
    random_operations::<4>(2, 0.9, 3000);
}

#[test]
fn random_8_lanes() {
    for words in [1, 2, 4] {
        random_operations::<8>(words, 0.5, 800);
        random_operations::<8>(words, 1.0, 800);
        random_operations::<8>(words, 0.1, 1200);
    }
}

#[test]
fn random_32_lanes() {
    random_operations::<32>(4, 0.8, 300);
}

/// Word operations of all 8 lanes at `address`, one a slot.
fn directed(store: bool, slots: usize, address: impl Fn(usize, usize) -> u32) -> (u64, Bench<8>) {
    directed_by(4, store, slots, address)
}

/// The same, with so many words at once.
fn directed_by(
    words: usize,
    store: bool,
    slots: usize,
    address: impl Fn(usize, usize) -> u32,
) -> (u64, Bench<8>) {
    let mut bench = Bench::<8>::new("load_store_unit", words, 1.0);
    for slot in 0..slots {
        bench.offer(Some(Operation {
            slot,
            store,
            size: 2,
            signed: false,
            rd: 7,
            mask: 0xff,
            address: (0..8).map(|lane| address(slot, lane)).collect(),
            data: (0..8).map(|lane| 0x1111_1111 * lane).collect(),
        }));
        while bench.offered.is_some() {
            bench.cycle();
        }
    }
    let accepted = bench.cycle;
    bench.drain();
    (accepted, bench)
}

#[test]
fn thirty_two_loads_of_one_slot_are_in_flight() {
    let mut bench = Bench::<2>::new("load_store_unit", 4, 1.0);
    let load = |n: u32| Operation {
        slot: 5,
        store: false,
        size: 2,
        signed: false,
        rd: n,
        mask: 3,
        address: vec![n * 64, n * 64 + 8],
        data: vec![0; 2],
    };
    // After reset it is ready a cycle later.
    tick!(bench.uut);
    for n in 0..33 {
        bench.offer(Some(load(n % 32)));
        bench.uut.read.ready.next = true;
        settle(&mut bench.uut);
        assert_eq!(bench.uut.request.ready.val(), n < 32);
        // One more may come before it is known whether this one does.
        assert_eq!(bench.uut.ready_next.val(), n < 31);
        if n < 32 {
            let op = bench.offered.take().unwrap();
            bench.in_flight[5].push_back((op, 3));
            tick!(bench.uut);
        }
    }
    assert!(bench.uut.request.valid.val() && !bench.uut.request.ready.val());
}

#[test]
fn loads_of_one_line_sustain_one_a_cycle() {
    let (accepted, bench) = directed(false, 32, |slot, lane| (slot * 64 + lane * 4) as u32);
    assert_eq!(bench.line_reads, 32);
    assert_eq!(accepted, 1 + 32, "one load accepted every cycle but the first");
}

#[test]
fn loads_of_all_different_lines_sustain_one_line_a_cycle() {
    let (accepted, bench) = directed(false, 16, |slot, lane| (slot * 1024 + lane * 64) as u32);
    assert_eq!(bench.line_reads, 16 * 8);
    // The last one is accepted two cycles after there were six in the queue for the last time.
    assert_eq!(accepted, 10 * 8 + 4);
}

/// A line is merged in a cycle for each four lanes.
#[test]
fn stores_of_eight_lanes_to_one_line_sustain_one_in_two_cycles() {
    let (accepted, bench) = directed(true, 32, |slot, lane| (slot * 64 + lane * 4) as u32);
    assert_eq!(bench.line_writes, 32);
    // The last one is accepted when six are in the queue.
    assert_eq!(accepted, 26 * 2 + 2);
}

/// With one word at once lanes in lines of their own lose nothing, those in one line take turns.
#[test]
fn one_word_at_once() {
    for store in [false, true] {
        let apart = directed_by(1, store, 16, |slot, lane| (slot * 1024 + lane * 64) as u32).0;
        assert_eq!(apart, directed(store, 16, |slot, lane| (slot * 1024 + lane * 64) as u32).0);
    }
    let together = |slots| directed_by(1, true, slots, |slot, lane| (slot * 64 + lane * 4) as u32);
    let ((most, bench), (half, _)) = (together(32), together(16));
    assert_eq!((bench.line_writes, most - half), (32, 16 * 8));
}

#[test]
fn the_highest_lane_wins_a_byte() {
    for words in [1, 2, 4] {
        let (_, bench) = directed_by(words, true, 1, |_, _| 0x40);
        assert_eq!(bench.line_writes, 1);
        assert_eq!(bench.memory.read(1)[..4], [0x77; 4]);
    }
}
