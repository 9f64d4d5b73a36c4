//! Native tests of [`DataMemory`](super::DataMemory) with a model memory.

use super::{DataMemory, FROM_MEMORY, FROM_SCRATCHPAD};
use crate::config::CoreOptions;
use crate::config::SCRATCHPAD_ADDRESS;
use crate::memory::testing::{bits_to_line, line_to_bits, loaded_value, random, strobe, LineMemory};
use crate::memory::SCRATCHPAD_BYTES;
use crate::testing::{reset, settle, tick};
use hermes_hdl::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

const LANES: usize = 4;
/// Slots of the warps: each has its own lines and its own part of the scratchpad, and one operation
/// at a time.
const SLOTS: [usize; 4] = [0, 7, 18, 31];
/// Bytes of a warp's part of the scratchpad.
const PART: u32 = 64;
/// Lines of a warp in shared memory: two that it writes and reads, one that other cores write and
/// one that cannot be read.
const LINES: u32 = 4;
const FOREIGN: u32 = 2;
const BROKEN: u32 = 3;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Load,
    Store,
    /// `amoadd.w`
    Add,
}

#[derive(Clone, Debug)]
struct Operation {
    kind: Kind,
    scratchpad: bool,
    warp: usize,
    size: u64,
    signed: bool,
    acquire: bool,
    rd: u64,
    mask: u64,
    address: [u32; LANES],
    data: [u32; LANES],
}

impl Operation {
    fn lanes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..LANES).filter(|lane| self.mask >> lane & 1 == 1)
    }
}

/// An operation on its way: values that must come, and the lanes whose values did not.
struct UnderWay {
    operation: Operation,
    values: [u32; LANES],
    missing: u64,
}

/// A line of a warp.
fn line_of(warp: usize, number: u32) -> u32 {
    (0x1_0000 + warp as u32) * LINES + number
}

/// A line whose reads fail.
fn fails(line: u32) -> bool {
    line % LINES == BROKEN
}

/// What memory and scratchpad hold as the operations should leave them.
struct Golden {
    shared: LineMemory,
    scratchpad: Vec<u8>,
}

impl Golden {
    fn word(&self, scratchpad: bool, address: u32) -> u32 {
        let (line, at) = (self.shared.read(address >> 6), (address & 0x3c) as usize);
        let place = (address & !3) as usize % SCRATCHPAD_BYTES;
        let bytes = if scratchpad { &self.scratchpad[place..place + 4] } else { &line[at..at + 4] };
        u32::from_le_bytes(bytes.try_into().unwrap())
    }

    /// Writes the lowest `bytes` bytes of `value`.
    fn write(&mut self, scratchpad: bool, address: u32, bytes: usize, value: u32) {
        for (address, byte) in (address..).zip(&value.to_le_bytes()[..bytes]) {
            if scratchpad {
                self.scratchpad[address as usize % SCRATCHPAD_BYTES] = *byte;
            } else {
                self.shared.write(address >> 6, &[*byte; 64], 1 << (address & 63));
            }
        }
    }

    /// Makes an operation; the values that it must give.
    fn make(&mut self, operation: &Operation) -> [u32; LANES] {
        let mut values = [0; LANES];
        for lane in operation.lanes() {
            let (address, data) = (operation.address[lane], operation.data[lane]);
            let word = self.word(operation.scratchpad, address);
            values[lane] = loaded_value(word, address & 3, operation.size, operation.signed);
            match operation.kind {
                Kind::Load => {}
                Kind::Store => self.write(operation.scratchpad, address, 1 << operation.size, data),
                Kind::Add if fails(address >> 6) => {}
                Kind::Add => self.write(false, address, 4, word.wrapping_add(data)),
            }
        }
        values
    }
}

#[derive(Default)]
struct Counts {
    hits: u64,
    misses: u64,
    reads: u64,
    line_writes: u64,
    writes: u64,
    errors: u64,
    done: u64,
}

struct Bench {
    uut: DataMemory<LANES>,
    rng: ChaCha8Rng,
    atomics: bool,
    golden: Golden,
    /// Contents of memory, as the ports and other cores wrote it.
    memory: LineMemory,
    reads: Vec<(u64, u32)>,
    /// Tags of writes that are not acknowledged, with the value of an atomic operation or its
    /// error.
    writes: Vec<(u64, u32, bool)>,
    offered: Option<Operation>,
    under_way: [Option<UnderWay>; SLOTS.len()],
    /// Lanes, values and operations whose words were taken a cycle ago, and whether any were.
    coming: Vec<(usize, u32, String)>,
    taken: bool,
    counts: Counts,
}

impl Bench {
    fn new(atomics: bool, words: usize) -> Self {
        let mut uut = DataMemory::new(CoreOptions {
            atomics,
            network: atomics,
            line_words: words,
            ..CoreOptions::default()
        });
        reset!(uut);
        Self {
            uut,
            rng: random("data_memory"),
            atomics,
            golden: Golden { shared: LineMemory::default(), scratchpad: vec![0; SCRATCHPAD_BYTES] },
            memory: LineMemory::default(),
            reads: vec![],
            writes: vec![],
            offered: None,
            under_way: std::array::from_fn(|_| None),
            coming: vec![],
            taken: false,
            counts: Counts::default(),
        }
    }

    fn random_operation(&mut self, warp: usize) -> Operation {
        let rng = &mut self.rng;
        let kind = match rng.gen_range(0..6) {
            0..=3 => Kind::Load,
            4 if self.atomics => Kind::Add,
            _ => Kind::Store,
        };
        let scratchpad = kind != Kind::Add && rng.gen_bool(0.4);
        let size = if kind == Kind::Add { 2 } else { rng.gen_range(0..3) };
        // Of one line or two; a line that cannot be read empties the cache.
        let second = match rng.gen_range(0..16) {
            0..=1 => BROKEN,
            2..=4 => 1,
            5..=8 if kind == Kind::Load => FOREIGN,
            _ => 0,
        };
        let lines = [0, second];
        let address = std::array::from_fn(|_| {
            let place = rng.gen_range(0..PART) >> size << size;
            if scratchpad {
                SCRATCHPAD_ADDRESS + warp as u32 * PART + place
            } else {
                line_of(warp, lines[rng.gen_range(0..2)]) << 6 | place
            }
        });
        Operation {
            kind,
            scratchpad,
            warp,
            size,
            signed: kind != Kind::Add && rng.gen(),
            acquire: rng.gen(),
            rd: rng.gen_range(0..32),
            mask: rng.gen_range(1..1 << LANES),
            address,
            data: rng.gen(),
        }
    }

    /// Another core writes.
    fn written_by_another(&mut self, warp: usize) {
        let line = line_of(warp, FOREIGN);
        let data = [self.rng.gen(); 64];
        self.memory.write(line, &data, u64::MAX);
        self.golden.shared.write(line, &data, u64::MAX);
    }

    fn offer(&mut self, operation: Operation) {
        let uut = &mut self.uut;
        uut.request.valid.next = true;
        uut.request.scratchpad.next = operation.scratchpad;
        uut.request.slot.next = bits(SLOTS[operation.warp] as u64);
        uut.request.store.next = operation.kind == Kind::Store;
        uut.request.size.next = bits(operation.size);
        uut.request.signed.next = operation.signed;
        uut.request.rd.next = bits(operation.rd);
        uut.request.mask.next = bits(operation.mask);
        for lane in 0..LANES {
            uut.request_address[lane].next = bits(operation.address[lane].into());
            uut.request_data[lane].next = bits(operation.data[lane].into());
        }
        if let Some(atomic) = uut.request_atomic.get_mut() {
            atomic.valid.next = operation.kind == Kind::Add;
            atomic.acquire.next = operation.acquire;
        }
        self.offered = Some(operation);
    }

    /// What memory does in this cycle.
    fn drive_memory(&mut self) {
        let (uut, rng) = (&mut self.uut, &mut self.rng);
        uut.read.ready.next = rng.gen_bool(0.7);
        uut.write.ready.next = rng.gen_bool(0.7);
        let response = (!self.reads.is_empty() && rng.gen_bool(0.6))
            .then(|| self.reads.swap_remove(rng.gen_range(0..self.reads.len())));
        uut.read.response.valid.next = response.is_some();
        if let Some((tag, line)) = response {
            uut.read.response.tag.next = bits(tag);
            uut.read.response.data.next = line_to_bits(&self.memory.read(line));
            uut.read.response.error.next = fails(line);
        }
        let answer = (!self.writes.is_empty() && rng.gen_bool(0.6))
            .then(|| self.writes.swap_remove(rng.gen_range(0..self.writes.len())));
        uut.write.written.valid.next = answer.is_some();
        if let Some((tag, word, error)) = answer {
            uut.write.written.tag.next = bits(tag);
            if let Some(answer) = uut.atomic_answer.get_mut() {
                answer.word.next = bits(word.into());
                answer.error.next = error;
            }
        }
    }

    /// Takes what the unit sends to memory in this cycle.
    fn take_requests(&mut self) {
        let uut = &self.uut;
        if uut.read.valid.val() && uut.read.ready.val() {
            self.reads.push((uut.read.tag.val().to_u64(), uut.read.line.val().to_u32()));
            self.counts.reads += 1;
        }
        if uut.write.valid.val() && uut.write.ready.val() {
            let (tag, line) = (uut.write.tag.val().to_u64(), uut.write.line.val().to_u32());
            let (data, strobe) = (bits_to_line(uut.write.data.val()), strobe(uut.write.strobe.val()));
            if tag < 32 {
                self.memory.write(line, &data, strobe);
                self.writes.push((tag, 0, false));
                self.counts.writes += 1;
            } else {
                let at = strobe.trailing_zeros() as usize;
                let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
                let old = word(&self.memory.read(line)[at..at + 4]);
                if !fails(line) {
                    let mut new = [0; 64];
                    let sum = old.wrapping_add(word(&data[..4]));
                    new[at..at + 4].copy_from_slice(&sum.to_le_bytes());
                    self.memory.write(line, &new, strobe);
                }
                self.writes.push((tag, old, fails(line)));
            }
        }
        self.counts.hits += u64::from(uut.hit.val());
        self.counts.misses += u64::from(uut.miss.val());
        self.counts.line_writes += u64::from(uut.line_write.val());
    }

    /// The warp with this slot.
    fn warp(slot: Bits<5>) -> usize {
        SLOTS.iter().position(|s| *s as u64 == slot.to_u64()).expect("a slot in use")
    }

    /// Values that are taken are those of the operation; whether it is complete, and its kind.
    fn check_result(&mut self, source: usize) -> (bool, Kind) {
        let uut = &self.uut;
        let place = &mut self.under_way[Self::warp(uut.result[source].slot.val())];
        let under_way = place.as_mut().expect("an operation under way");
        let operation = &under_way.operation;
        assert_eq!(operation.scratchpad, source == FROM_SCRATCHPAD);
        assert_ne!(operation.kind, Kind::Store);
        assert_eq!(uut.result[source].rd.val().to_u64(), operation.rd);
        let lanes = uut.result[source].lanes.val().to_u64();
        assert!(lanes != 0 && lanes & !under_way.missing == 0, "{lanes:#b} of {:#b}", under_way.missing);
        under_way.missing &= !lanes;
        for lane in (0..LANES).filter(|lane| lanes >> lane & 1 == 1) {
            let line = operation.address[lane] >> 6;
            let failed = source == FROM_MEMORY && uut.result_error.valid.val();
            assert_eq!(failed, !operation.scratchpad && fails(line));
            if failed {
                assert_eq!(uut.result_error.line.val().to_u32(), line);
                self.counts.errors += 1;
            } else {
                self.coming.push((lane, under_way.values[lane], format!("{operation:x?}")));
            }
        }
        let (last, kind) = (under_way.missing == 0, operation.kind);
        assert_eq!(uut.result[source].last.val(), last);
        if last {
            *place = None;
            self.counts.done += 1;
        }
        (last, kind)
    }

    /// A store is complete.
    fn check_stored(&mut self, slot: Bits<5>, scratchpad: bool) {
        let done = self.under_way[Self::warp(slot)].take().expect("a store under way");
        assert_eq!((done.operation.kind, done.operation.scratchpad), (Kind::Store, scratchpad));
        self.counts.done += 1;
    }

    fn cycle(&mut self) {
        self.drive_memory();
        let free = self.uut.result_ready_next.val();
        self.uut.result_ready.next = free;
        settle(&mut self.uut);
        // Values of memory wait for those of the scratchpad, and must not show through.
        assert!(!(free && self.uut.result[FROM_SCRATCHPAD].valid.val()));
        self.uut.result_ready_next.next = !self.uut.scratchpad_next.val() && self.rng.gen_bool(0.7);
        settle(&mut self.uut);

        let atomic = self.under_way.iter().flatten().find(|u| u.operation.kind == Kind::Add);
        assert_eq!(self.uut.atomic_busy.val(), atomic.is_some());
        if let Some(atomic) = atomic {
            assert_eq!(self.uut.atomic_slot.val().to_u64(), SLOTS[atomic.operation.warp] as u64);
        }
        // What was taken a cycle ago
        for (lane, value, operation) in self.coming.drain(..) {
            assert_eq!(self.uut.data[lane].val().to_u32(), value, "{operation}, lane {lane}");
        }
        let before = self.taken;
        let (mut loaded, mut added, mut taken) = (false, false, false);
        for source in [FROM_MEMORY, FROM_SCRATCHPAD] {
            if self.uut.result[source].valid.val() && (source == FROM_SCRATCHPAD || free) {
                taken = true;
                let (last, kind) = self.check_result(source);
                loaded |= last && kind == Kind::Load && source == FROM_MEMORY;
                added |= last && kind == Kind::Add;
            }
        }
        assert!(before || self.uut.data.iter().all(|value| !value.val().any()), "a value that nobody took");
        self.taken = taken;
        assert_eq!((self.uut.loaded_valid.val(), self.uut.atomic_done.val()), (loaded, added));
        if self.uut.stored.valid.val() {
            self.check_stored(self.uut.stored.slot.val(), false);
        }
        if self.uut.scratchpad_stored.valid.val() {
            self.check_stored(self.uut.scratchpad_stored.slot.val(), true);
        }
        self.take_requests();
        if self.uut.request.ready.val() {
            if let Some(operation) = self.offered.take() {
                let values = self.golden.make(&operation);
                let (warp, missing) = (operation.warp, operation.mask);
                // A warp that acquires sees what another core wrote before.
                if operation.kind == Kind::Add && operation.acquire {
                    self.written_by_another(warp);
                }
                self.under_way[warp] = Some(UnderWay { operation, values, missing });
            }
        }
        tick!(self.uut);
        self.uut.request.valid.next = self.offered.is_some();
        self.uut.drop.next = false;
    }

    fn idle(&self) -> impl Iterator<Item = usize> + '_ {
        let offered = self.offered.as_ref().map(|operation| operation.warp);
        (0..SLOTS.len()).filter(move |&warp| self.under_way[warp].is_none() && offered != Some(warp))
    }

    /// Each operation as soon as its warp and the unit are free, until all are complete.
    fn run(&mut self, mut operations: VecDeque<Operation>) {
        for _ in 0..20_000 {
            let next = operations.front().map(|operation| operation.warp);
            if self.offered.is_none() && self.idle().any(|warp| Some(warp) == next) {
                let operation = operations.pop_front().unwrap();
                self.offer(operation);
            }
            self.cycle();
            if operations.is_empty() && self.idle().count() == SLOTS.len() {
                return;
            }
        }
        panic!("the operations do not end");
    }
}

/// Random loads, stores and atomic operations of four warps on shared memory and the scratchpad.
fn values_are_those_of_a_plain_memory(atomics: bool, words: usize) {
    let mut bench = Bench::new(atomics, words);
    let rows = SLOTS.len() as u32 * PART / (4 * LANES as u32);
    let clear = |row| Operation {
        kind: Kind::Store,
        scratchpad: true,
        warp: 0,
        size: 2,
        signed: false,
        acquire: false,
        rd: 0,
        mask: (1 << LANES) - 1,
        address: std::array::from_fn(|lane| SCRATCHPAD_ADDRESS + 4 * (row * LANES as u32 + lane as u32)),
        data: [0; LANES],
    };
    bench.run((0..rows).map(clear).collect());
    for round in 0..4 {
        let operations = (0..30).map(|_| {
            let warp = bench.rng.gen_range(0..SLOTS.len());
            bench.random_operation(warp)
        });
        let operations = operations.collect();
        bench.run(operations);
        // A load after the cache was invalidated sees what another core wrote.
        bench.written_by_another(round % SLOTS.len());
        bench.uut.drop.next = true;
        bench.cycle();
    }
    // A line that cannot be read, then one twice
    let load = |number| {
        let address = [line_of(0, number) << 6; LANES];
        Operation { kind: Kind::Load, scratchpad: false, address, ..clear(0) }
    };
    bench.run([BROKEN, 0, 0].map(load).into());
    let counts = &bench.counts;
    assert_eq!(counts.done, u64::from(rows) + 120 + 3);
    assert_eq!((counts.misses, counts.line_writes), (counts.reads, counts.writes));
    assert!(counts.hits > 0 && counts.errors > 0, "{} hits, {} errors", counts.hits, counts.errors);
}

#[test]
fn loads_and_stores() {
    values_are_those_of_a_plain_memory(false, 4);
    values_are_those_of_a_plain_memory(false, 1);
}

#[test]
fn loads_stores_and_atomic_operations() {
    values_are_those_of_a_plain_memory(true, 4);
    values_are_those_of_a_plain_memory(true, 2);
}
