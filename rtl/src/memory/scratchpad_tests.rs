//! Native tests of [`Scratchpad`](super::Scratchpad) against a plain array of bytes.

use super::{Scratchpad, SCRATCHPAD_BYTES};
use crate::memory::testing::{loaded_value, random};
use crate::testing::{reset, settle, tick};
use hermes_hdl::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

#[derive(Clone, Debug)]
struct Operation {
    slot: u64,
    store: bool,
    size: u64,
    signed: bool,
    rd: u64,
    mask: u32,
    address: Vec<u32>,
    data: Vec<u32>,
}

impl Operation {
    fn lanes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.address.len()).filter(|&i| self.mask >> i & 1 == 1)
    }

    /// Passes over the banks that the contract allows.
    fn passes(&self) -> usize {
        let lanes = self.address.len();
        if self.lanes().all(|i| self.address[i] as usize / 4 % lanes == i) {
            return 1;
        }
        let mut words: Vec<u32> = self.lanes().map(|i| self.address[i] / 4).collect();
        if !self.store {
            words.sort_unstable();
            words.dedup();
        }
        words.len()
    }
}

struct Bench<const LANES: usize> {
    uut: Scratchpad<LANES>,
    rng: ChaCha8Rng,
    memory: Vec<u8>,
    offered: Option<Operation>,
    /// Loads with the values and lanes still to come, oldest first.
    loads: VecDeque<(Operation, Vec<u32>, u32)>,
    stores: VecDeque<u64>,
    cycle: usize,
    passes: usize,
    results: usize,
    /// `result_next` a cycle ago.
    announced: bool,
    /// `ready_next` a cycle ago.
    promised: bool,
}

impl<const LANES: usize> Bench<LANES> {
    fn new() -> Self {
        Self::of(Scratchpad::default())
    }

    fn of(mut uut: Scratchpad<LANES>) -> Self {
        reset!(uut);
        let mut bench = Self {
            uut,
            rng: random("scratchpad"),
            memory: vec![0; SCRATCHPAD_BYTES],
            offered: None,
            loads: VecDeque::new(),
            stores: VecDeque::new(),
            cycle: 0,
            passes: 0,
            results: 0,
            announced: false,
            promised: true,
        };
        // The part that the tests use, zeroed.
        for row in 0..256 / LANES.min(256) {
            bench.run(Operation {
                slot: 0,
                store: true,
                size: 2,
                signed: false,
                rd: 0,
                mask: (u64::from(u32::MAX) >> (32 - LANES)) as u32,
                address: (0..LANES).map(|i| ((row * LANES + i) * 4) as u32).collect(),
                data: vec![0; LANES],
            });
        }
        bench.drain();
        bench
    }

    fn random_operation(&mut self) -> Operation {
        let rng = &mut self.rng;
        let size = rng.gen_range(0..3);
        let all = (u64::from(u32::MAX) >> (32 - LANES)) as u32;
        let kind = rng.gen_range(0..3);
        let words = 256 / LANES as u32;
        let address = (0..LANES as u32).map(|i| {
            let word = match kind {
                0 => rng.gen_range(0..words) * LANES as u32 + i, // own banks
                1 => rng.gen_range(0..4),                        // few words
                _ => rng.gen_range(0..256),
            };
            word * 4 + (rng.gen_range(0..4u32) >> size << size)
        });
        let address = address.collect();
        Operation {
            slot: rng.gen_range(0..32),
            store: rng.gen(),
            size,
            signed: rng.gen(),
            rd: rng.gen_range(0..32),
            mask: if rng.gen() { all } else { (rng.gen::<u32>() & all).max(1) },
            address,
            data: (0..LANES).map(|_| rng.gen()).collect(),
        }
    }

    fn offer(&mut self, op: Operation) {
        self.uut.request.valid.next = true;
        self.uut.request.slot.next = bits(op.slot);
        self.uut.request.store.next = op.store;
        self.uut.request.size.next = bits(op.size);
        self.uut.request.signed.next = op.signed;
        self.uut.request.rd.next = bits(op.rd);
        self.uut.request.mask.next = bits(op.mask.into());
        for i in 0..LANES {
            self.uut.request.address[i].next = bits(op.address[i].into());
            self.uut.request.data[i].next = bits(op.data[i].into());
        }
        self.offered = Some(op);
    }

    /// Offers an operation until it is accepted.
    fn run(&mut self, op: Operation) {
        self.offer(op);
        while self.offered.is_some() {
            self.cycle();
        }
    }

    fn cycle(&mut self) {
        self.uut.request.valid.next = self.offered.is_some();
        settle(&mut self.uut);
        if self.uut.stored.valid.val() {
            assert_eq!(Some(self.uut.stored.slot.val().to_u64()), self.stores.pop_front());
        }
        assert_eq!(self.uut.result.valid.val(), self.announced);
        self.announced = self.uut.result_next.val();
        assert_eq!(self.uut.request.ready.val(), self.promised);
        self.promised = self.uut.ready_next.val();
        if self.uut.result.valid.val() {
            self.results += 1;
            self.check_result();
        } else {
            assert!(self.uut.result_word.iter().all(|word| !word.val().any()), "a word that nobody takes");
        }
        if self.uut.request.ready.val() {
            if let Some(op) = self.offered.take() {
                self.accept(op);
            }
        }
        tick!(self.uut);
        self.cycle += 1;
    }

    fn accept(&mut self, op: Operation) {
        self.passes += op.passes();
        let bytes = 1 << op.size;
        if op.store {
            for i in op.lanes() {
                let at = op.address[i] as usize;
                self.memory[at..at + bytes].copy_from_slice(&op.data[i].to_le_bytes()[..bytes]);
            }
            self.stores.push_back(op.slot);
        } else {
            let value = |i: usize| {
                let at = op.address[i] as usize;
                let raw = self.memory[at..at + bytes].iter().rev().fold(0, |v, &b| v << 8 | u32::from(b));
                match (op.size, op.signed) {
                    (0, true) => raw as u8 as i8 as u32,
                    (1, true) => raw as u16 as i16 as u32,
                    _ => raw,
                }
            };
            let values = (0..LANES).map(value).collect();
            let mask = op.mask;
            self.loads.push_back((op, values, mask));
        }
    }

    fn check_result(&mut self) {
        let (op, values, remaining) = self.loads.front_mut().expect("a load was in flight");
        let mask = self.uut.result.lanes.val().to_u64() as u32;
        assert!(mask != 0 && mask & !*remaining == 0, "lanes {mask:x} of {remaining:x}");
        assert_eq!(
            (self.uut.result.slot.val().to_u64(), self.uut.result.rd.val().to_u64()),
            (op.slot, op.rd)
        );
        for i in (0..LANES).filter(|i| mask >> i & 1 == 1) {
            let offset = self.uut.place.address[i].val().to_u32() % 4;
            let size = self.uut.place.size.val().to_u64();
            let word = self.uut.result_word[i].val().to_u32();
            let value = loaded_value(word, offset, size, self.uut.place.signed.val());
            assert_eq!(value, values[i], "lane {i} of {op:?}");
        }
        *remaining &= !mask;
        assert_eq!(self.uut.result.last.val(), *remaining == 0);
        if *remaining == 0 {
            self.loads.pop_front();
        }
    }

    fn drain(&mut self) {
        for _ in 0..200 {
            if self.offered.is_none() && self.loads.is_empty() && self.stores.is_empty() {
                return;
            }
            self.cycle();
        }
        panic!("operations are still in flight: {:?} {:?}", self.loads, self.stores);
    }
}

/// Offers operations, each with probability `pace` a cycle when the one before it is accepted.
fn random_operations<const LANES: usize>(pace: f64, cycles: usize) {
    let mut bench = Bench::<LANES>::new();
    for _ in 0..cycles {
        if bench.offered.is_none() && bench.rng.gen_bool(pace) {
            let op = bench.random_operation();
            bench.offer(op);
        }
        bench.cycle();
    }
    bench.drain();
    assert!(bench.results > cycles / 20, "only {} results", bench.results);
}

#[test]
fn random_1_lane() {
    random_operations::<1>(0.7, 1500);
}

#[test]
fn random_4_lanes() {
    random_operations::<4>(1.0, 1000);
    random_operations::<4>(0.3, 1000);
}

#[test]
fn random_32_lanes() {
    random_operations::<32>(0.8, 600);
}

/// Cycles from the first to one after the last operation of random ones, with nothing in their way.
#[test]
fn a_pass_a_cycle() {
    let mut bench = Bench::<8>::new();
    let operations: Vec<Operation> = (0..60).map(|_| bench.random_operation()).collect();
    let (start, passes) = (bench.cycle, bench.passes);
    let last = operations.last().unwrap().passes();
    let own = |op: &Operation| {
        (0..8).all(|lane| op.mask >> lane & 1 == 0 || op.address[lane] >> 2 & 7 == lane as u32)
    };
    let others = operations[..operations.len() - 1].iter().filter(|op| !own(op)).count();
    for op in operations {
        bench.run(op);
    }
    // An operation is accepted in the cycle of the last pass of the one before it, and a cycle
    // later if a lane of that was not in its own bank.
    assert_eq!(bench.cycle - start, bench.passes - passes - last + 1 + others);
    bench.drain();
}

#[test]
fn own_banks_take_one_pass_and_conflicts_one_for_each_word() {
    let load = |address: Vec<u32>| Operation {
        slot: 3,
        store: false,
        size: 2,
        signed: false,
        rd: 9,
        mask: 0xf,
        address,
        data: vec![0; 4],
    };
    for (address, results) in [
        (vec![0x40, 0x24, 0x38, 0x0c], 1), // bank = lane
        (vec![0x10, 0x10, 0x10, 0x10], 1), // one word for all
        (vec![0x10, 0x14, 0x10, 0x14], 2),
        (vec![0x04, 0x00, 0x0c, 0x08], 4), // four banks, none its own
    ] {
        let mut bench = Bench::<4>::new();
        bench.run(load(address));
        bench.drain();
        assert_eq!(bench.results, results);
    }
}

/// Rows are zero after they were cleared, others as before, and no operation completes by it,
/// however the cycles lie in which rows are cleared.
#[test]
fn rows_are_cleared_between_operations() {
    const LANES: usize = 4;
    let rows = SCRATCHPAD_BYTES / 4 / LANES;
    let mut bench = Bench::<LANES>::of(Scratchpad::new(true));
    let whole = |store, row: usize, data| Operation {
        slot: 7,
        store,
        size: 2,
        signed: false,
        rd: 9,
        mask: 0xf,
        address: (0..LANES).map(|i| ((row * LANES + i) * 4) as u32).collect(),
        data,
    };
    for _ in 0..20 {
        for row in (0..8).chain([rows - 2, rows - 1]) {
            let data = (0..LANES).map(|_| bench.rng.gen()).collect();
            bench.run(whole(true, row, data));
        }
        bench.drain();
        for _ in 0..12 {
            let row = if bench.rng.gen_bool(0.2) { rows - 1 } else { bench.rng.gen_range(0..8) };
            let clears = bench.rng.gen_bool(0.6);
            bench.uut.clear.valid.next = clears;
            bench.uut.clear.row.next = bits(row as u64);
            settle(&mut bench.uut);
            assert!(!bench.uut.stored.valid.val() && !bench.uut.result.valid.val());
            tick!(bench.uut);
            if clears {
                bench.memory[row * 4 * LANES..][..4 * LANES].fill(0);
            }
        }
        bench.uut.clear.valid.next = false;
        for _ in 0..3 {
            settle(&mut bench.uut);
            assert!(!bench.uut.stored.valid.val() && !bench.uut.result_next.val());
            tick!(bench.uut);
        }
        settle(&mut bench.uut);
        bench.promised = bench.uut.request.ready.val();
        assert!(bench.promised);
        for row in (0..8).chain([rows - 2, rows - 1]) {
            bench.run(whole(false, row, vec![0; LANES]));
        }
        bench.drain();
    }
}
