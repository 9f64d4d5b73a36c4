//! The atomic operations of a bank against a model of the bank.

use super::testing::{fails, word_of, Atomic, Wide, Write};
use super::L2Atomics;
use crate::memory::testing::{bits_to_line, line_to_bits, random, strobe, LineMemory};
use crate::testing::{reset, settle, tick};
use crate::types::riscv::funct5;
use hermes_hdl::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::{HashMap, VecDeque};

#[path = "reservation_tests.rs"]
mod reservation_tests;

/// Operations for which a reservation is safe from other threads.
pub(super) const PATIENCE: usize = 60;
const OPERATIONS: [u64; 12] = [
    funct5::AMOADD,
    funct5::AMOSWAP,
    funct5::LR,
    funct5::SC,
    funct5::AMOXOR,
    funct5::AMOCAS,
    funct5::AMOOR,
    funct5::AMOAND,
    funct5::AMOMIN,
    funct5::AMOMAX,
    funct5::AMOMINU,
    funct5::AMOMAXU,
];

/// What the crossbar offers.
#[derive(Clone, Debug)]
enum Request {
    Read(u32, u64),
    Write(Write),
    Atomic(Atomic),
}

/// The unit between a crossbar and a bank, both played by the test.
pub(super) struct Bench {
    pub uut: L2Atomics,
    rng: ChaCha8Rng,
    memory: LineMemory,
    reads: VecDeque<(u64, u64, u32)>,
    writes: VecDeque<(u64, u64)>,
    /// Requester and request at the head of the queue.
    head: Option<(u64, Request)>,
    /// The atomic operation in flight, and the words that it may have found.
    under_way: Option<(u64, Atomic, Vec<u64>)>,
    /// Value before and after the operation, as the bank last wrote it.
    performed: Option<(u64, u64)>,
    /// Requester, operation, value, error of those done.
    done: Vec<(u64, Atomic, u64, bool)>,
    network: Option<usize>,
    /// Lines that threads (requester, slot, lane) may have reserved.
    linked: HashMap<(u64, u64, u64), u32>,
    responses: usize,
    written: usize,
    /// Chance of each ready and of an answer of the bank.
    pace: f64,
}

impl Bench {
    /// Two requesters of atomic operations, and the network interface if there is one.
    fn new(pace: f64, network: Option<usize>) -> Self {
        Self::with_reservations(pace, network, 1)
    }

    /// The same with several reservations.
    pub fn with_reservations(pace: f64, network: Option<usize>, reservations: usize) -> Self {
        let requesters = if network.is_some() { 3 } else { 2 };
        let mut uut = L2Atomics::new(requesters, 0, 2, PATIENCE, network, true, reservations);
        reset!(uut);
        Self {
            uut,
            rng: random("atomics"),
            memory: LineMemory::default(),
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            head: None,
            under_way: None,
            performed: None,
            network,
            linked: HashMap::new(),
            done: Vec::new(),
            responses: 0,
            written: 0,
            pace,
        }
    }

    fn chance(&mut self) -> bool {
        self.rng.gen_bool(self.pace)
    }

    /// One cycle.
    pub fn step(&mut self) {
        let (requester, write, tag, line) = match &self.head {
            Some((requester, Request::Read(line, tag))) => (*requester, None, *tag, *line),
            Some((requester, Request::Write(write))) => (*requester, Some(write.clone()), 0, write.line),
            Some((requester, Request::Atomic(atomic))) => {
                (*requester, Some(atomic.request()), 0, atomic.line)
            }
            None => (0, None, 0, 0),
        };
        self.uut.request.valid.next = self.head.is_some();
        self.uut.request.requester.next = bits(requester);
        self.uut.request.write.next = write.is_some();
        self.uut.request.tag.next = bits(tag);
        self.uut.request.line.next = bits(line.into());
        if let Some(write) = &write {
            self.uut.request.write_tag.next = bits(write.tag);
            self.uut.request.data.next = line_to_bits(&write.data);
            self.uut.request.strobe.next = bits(write.strobe);
        }
        let response = self.reads.front().copied().filter(|_| self.rng.gen_bool(self.pace));
        let written = self.writes.front().copied().filter(|_| self.rng.gen_bool(self.pace));
        self.uut.bank_response.valid.next = response.is_some();
        if let Some((requester, tag, line)) = response {
            self.uut.bank_response.requester.next = bits(requester);
            self.uut.bank_response.tag.next = bits(tag);
            self.uut.bank_response.data.next = line_to_bits(&self.memory.read(line));
            self.uut.bank_response.error.next = fails(line);
        }
        self.uut.bank_written.valid.next = written.is_some();
        let (writer, write_tag) = written.unwrap_or_default();
        self.uut.bank_written.requester.next = bits(writer);
        self.uut.bank_written.tag.next = bits(write_tag);
        let bank_ready = self.chance();
        self.uut.bank.ready.next = bank_ready;
        self.uut.response.ready.next = self.chance();
        self.uut.written.ready.next = self.chance();
        settle(&mut self.uut);

        // The answers that leave.
        if self.uut.response.valid.val() && self.uut.response.ready.val() {
            self.responses += 1;
        }
        if self.uut.written.valid.val() && self.uut.written.ready.val() {
            let (requester, tag) =
                (self.uut.written.requester.val().to_u64(), self.uut.written.tag.val().to_u64());
            match self.under_way.take_if(|(by, atomic, _)| (*by, 32 + atomic.lane) == (requester, tag)) {
                Some((by, atomic, found)) => {
                    let error = self.uut.atomic_answer.error.val();
                    let mut value = self.uut.atomic_answer.word.val().to_u64();
                    if atomic.wide.is_some() {
                        value |= self.uut.written_word_high.val().to_u64() << 32;
                    }
                    self.check(&atomic, &found, value, error);
                    let thread = (by, atomic.slot, atomic.lane);
                    match atomic.operation {
                        _ if error || atomic.wide.is_some() => {}
                        funct5::LR => drop(self.linked.insert(thread, atomic.line)),
                        funct5::SC => drop(self.linked.remove(&thread)),
                        _ => {}
                    }
                    self.done.push((by, atomic, value, error));
                }
                None => self.written += 1,
            }
        }
        if response.is_some() && self.uut.bank_response.ready.val() {
            self.reads.pop_front();
        }
        if written.is_some() && self.uut.bank_written.ready.val() {
            self.writes.pop_front();
        }

        // What the bank takes; what is read is what is there now, since the bank answers in order.
        let taken = self.uut.request.ready.val();
        if taken {
            match self.head.take() {
                Some((by, Request::Atomic(atomic))) => {
                    assert!(self.under_way.is_none(), "two at a time");
                    self.under_way = Some((by, atomic, Vec::new()));
                }
                head => assert!(head.is_some()),
            }
        }
        if self.uut.bank.valid.val() && bank_ready {
            let line = self.uut.bank.line.val().to_u32();
            let by = self.uut.bank.requester.val().to_u64();
            if self.uut.bank.write.val() {
                let data = bits_to_line(self.uut.bank.data.val());
                let before = self.memory.read(line);
                self.memory.write(line, &data, strobe(self.uut.bank.strobe.val()));
                self.writes.push_back((by, self.uut.bank.write_tag.val().to_u64()));
                if let (false, Some((_, atomic, _))) = (taken, &self.under_way) {
                    assert_eq!(line, atomic.line);
                    let after = self.memory.read(line);
                    self.performed = Some((atomic.value(&before), atomic.value(&after)));
                    let thread = (by, atomic.slot, atomic.lane);
                    if atomic.operation == funct5::SC && atomic.wide.is_none() {
                        assert_eq!(self.linked.get(&thread), Some(&line), "{atomic:?} stores");
                    }
                }
                self.linked.retain(|_, reserved| *reserved != line);
            } else {
                self.reads.push_back((by, self.uut.bank.tag.val().to_u64(), line));
            }
        }
        if let Some((_, atomic, found)) = &mut self.under_way {
            found.push(atomic.value(&self.memory.read(atomic.line)));
        }
        tick!(self.uut);
    }

    /// The value of an operation, by what the bank did for it.
    fn check(&mut self, atomic: &Atomic, found: &[u64], value: u64, error: bool) {
        assert_eq!(error, fails(atomic.line), "{atomic:?}");
        let reads = self.network.is_some() && atomic.operation == funct5::AMOOR && atomic.operand == 0;
        match self.performed.take() {
            _ if error => assert!(self.performed.is_none()),
            Some((before, after)) => {
                assert_ne!(atomic.operation, funct5::LR);
                assert!(!reads, "{atomic:?} writes");
                let compare = atomic.wide.map_or(atomic.compare.into(), |wide| wide.compare);
                let writes = atomic.operation != funct5::AMOCAS || before == compare;
                assert!(writes, "{atomic:?} writes");
                assert_eq!(after, atomic.result(before), "{atomic:?}");
                let expected = if atomic.operation == funct5::SC { 0 } else { before };
                assert_eq!(value, expected, "{atomic:?}");
            }
            None if atomic.operation == funct5::SC => assert_eq!(value, 1),
            None => {
                let fails = atomic.operation == funct5::AMOCAS && atomic.result(value) == value;
                assert!(reads || fails || atomic.operation == funct5::LR, "{atomic:?}");
                assert!(found.contains(&value), "{atomic:?}: {value:#x} is none of {found:x?}");
            }
        }
    }

    /// For one cycle: the message of a requester that the reservations of a slot end.
    pub fn ends(&mut self, requester: usize, slot: u64, left: bool) {
        self.tell(requester, slot, left);
        self.step();
        self.uut.ends[requester].valid.next = false;
    }

    /// Puts that message on the ports.
    pub fn tell(&mut self, requester: usize, slot: u64, left: bool) {
        self.uut.ends[requester].valid.next = true;
        self.uut.ends[requester].left.next = left;
        self.uut.ends[requester].slot.next = bits(slot);
        // An operation under way may reserve at the same edge.
        let under_way = self.under_way.as_ref().map(|(by, atomic, _)| (*by, atomic.slot, atomic.lane));
        let of = |thread: &(u64, u64, u64)| (thread.0, thread.1) == (requester as u64, slot);
        self.linked.retain(|thread, _| !of(thread) || Some(*thread) == under_way);
    }

    /// Performs an operation alone; gives its value.
    pub fn perform(&mut self, requester: u64, atomic: Atomic) -> u64 {
        self.perform_with(requester, atomic, |_, _| {})
    }

    /// The same; `in_front` has its way in front of each cycle, whose number it gets.
    pub fn perform_with(
        &mut self,
        requester: u64,
        atomic: Atomic,
        mut in_front: impl FnMut(&mut Self, usize),
    ) -> u64 {
        self.head = Some((requester, Request::Atomic(atomic)));
        let before = self.done.len();
        for cycle in 0..200 {
            in_front(self, cycle);
            self.step();
            if let Some((_, _, word, _)) = self.done.get(before) {
                return *word;
            }
        }
        panic!("{atomic:?} does not end");
    }

    /// The first cycles of an operation; whether it is done.
    pub fn perform_until(&mut self, requester: u64, atomic: Atomic, cycles: usize) -> bool {
        self.head = Some((requester, Request::Atomic(atomic)));
        let before = self.done.len();
        (0..cycles).for_each(|_| self.step());
        self.done.len() > before
    }

    /// After a reset: nothing is under way, and nobody has reserved a line.
    pub fn forget(&mut self) {
        (self.head, self.under_way, self.performed) = (None, None, None);
        self.reads.clear();
        self.writes.clear();
        self.linked.clear();
    }

    /// A write of a requester.
    fn write(&mut self, line: u32) {
        self.head = Some((0, Request::Write(Write { line, data: [9; 64], strobe: 1 << 60, tag: 3 })));
        while self.head.is_some() {
            self.step();
        }
    }
}

/// Random requests of three requesters, and messages that reservations end, then a check that each
/// was answered once.
fn random_requests(network: Option<usize>, reservations: usize) -> Bench {
    let mut bench = Bench::with_reservations(0.6, network, reservations);
    let (mut asked, mut plain) = (0, 0);
    for cycle in 0..1_200 {
        for requester in 0..2 {
            bench.uut.ends[requester].valid.next = false;
            if bench.rng.gen_bool(0.03) {
                let (slot, left) = (bench.rng.gen_range(0..3), bench.rng.gen());
                bench.tell(requester, slot, left);
            }
        }
        bench.pace = if cycle / 300 % 2 == 0 { 0.6 } else { 0.95 };
        if bench.head.is_none() && bench.rng.gen_bool(0.8) {
            let rng = &mut bench.rng;
            let line = [1, 2, 3, 8][rng.gen_range(0..4)];
            let requester = rng.gen_range(0..3);
            let without = requester == 2 && network.is_none();
            let request = match rng.gen_range(0..4) {
                0 => Request::Read(line, rng.gen_range(0..64)),
                1 if !fails(line) => Request::Write(Write {
                    line,
                    data: [rng.gen(); 64],
                    strobe: rng.gen(),
                    // What the ports write carries any tag.
                    tag: rng.gen_range(0..if without { 64 } else { 32 }),
                }),
                _ if without => Request::Read(line, rng.gen_range(0..128)),
                _ if network == Some(requester as usize) => Request::Atomic(wide(rng, line)),
                _ => Request::Atomic(Atomic {
                    line,
                    word: rng.gen_range(0..16),
                    operation: OPERATIONS[rng.gen_range(0..OPERATIONS.len())],
                    operand: if rng.gen_bool(0.3) { 0 } else { rng.gen() },
                    // What a masked byte leaves there now and then.
                    compare: if rng.gen_bool(0.5) { 0 } else { rng.gen() },
                    slot: rng.gen_range(0..2),
                    lane: rng.gen_range(0..2),
                    wide: None,
                }),
            };
            match request {
                Request::Atomic(_) => asked += 1,
                _ => plain += 1,
            }
            bench.head = Some((requester, request));
        }
        bench.step();
    }
    for _ in 0..100 {
        bench.step();
    }
    let stored = |(_, atomic, value, error): &&(u64, Atomic, u64, bool)| {
        atomic.operation == funct5::SC && !error && *value == 0
    };
    let stored = bench.done.iter().filter(stored).count();
    println!("{asked} operations, {plain} other requests, {stored} of sc.w stored");
    assert_eq!((bench.done.len(), bench.responses + bench.written), (asked, plain));
    assert!(asked > 50 && plain > 80);
    bench
}

/// An operation of 64 bits: a sum, whose halves carry often, or a comparison with a value that is
/// there now and then.
fn wide(rng: &mut ChaCha8Rng, line: u32) -> Atomic {
    let compares = rng.gen();
    Atomic {
        line,
        word: 2 * rng.gen_range(0..8),
        operation: if compares { funct5::AMOCAS } else { 0 },
        operand: if rng.gen() { u32::MAX } else { rng.gen_range(0..2) },
        slot: rng.gen_range(0..32),
        lane: rng.gen_range(0..32),
        compare: 0,
        wide: Some(Wide { operand_high: rng.gen_range(0..2), compare: u64::MAX }),
    }
}

#[test]
fn nothing_comes_between_the_read_and_the_write_of_an_operation() {
    for reservations in [1, 2, 4, 8] {
        random_requests(None, reservations);
    }
}

#[test]
fn nor_with_a_network_interface() {
    random_requests(Some(2), 4);
    let bench = random_requests(Some(2), 1);
    let of = |wide: bool, operation: u64| {
        bench.done.iter().filter(|(_, a, ..)| a.wide.is_some() == wide && a.operation == operation).count()
    };
    let (sums, comparisons, ors) = (of(true, 0), of(true, funct5::AMOCAS), of(false, funct5::AMOOR));
    println!("{sums} sums and {comparisons} comparisons of 64 bits, {ors} amoor");
    assert!(sums > 10 && comparisons > 10 && ors > 5);
}

/// Sums and comparisons of 64 bits, by their values.
#[test]
fn operations_of_64_bits() {
    let mut bench = Bench::new(0.9, Some(2));
    let value = |bench: &Bench| {
        let line = bench.memory.read(1);
        u64::from(word_of(&line, 7)) << 32 | u64::from(word_of(&line, 6))
    };
    let others = |bench: &Bench| {
        let line = bench.memory.read(1);
        (0..16).filter(|word| word / 2 != 3).map(|word| word_of(&line, word)).collect::<Vec<_>>()
    };
    let around = others(&bench);
    let request = |operation, operand: u64, compare| Atomic {
        line: 1,
        word: 6,
        operation,
        operand: operand as u32,
        slot: 0,
        lane: 9,
        compare: 0,
        wide: Some(Wide { operand_high: (operand >> 32) as u32, compare }),
    };
    // To a value that is known, by what is there.
    let before = value(&bench);
    assert_eq!(bench.perform(2, request(5, 0xffff_fffe, before)), before);
    let steps = [
        // Operation, operand, value to compare with; the value afterwards.
        (0, 1, 0, 0xffff_ffff),
        (0, 1, 0, 1 << 32),
        (0, u64::MAX, 0, 0xffff_ffff),
        (0, 0xffff_ffff_0000_0001, 0, 0),
        (0, u64::MAX, 0, u64::MAX),
        (0, 2, 0, 1),
        (5, 77 << 32 | 5, 1, 77 << 32 | 5),
        // Half of it is equal.
        (5, 1, 5, 77 << 32 | 5),
        (5, 1, 77 << 32, 77 << 32 | 5),
        (5, 1, 77 << 32 | 5, 1),
    ];
    for (operation, operand, compare, after) in steps {
        let before = value(&bench);
        assert_eq!(bench.perform(2, request(operation, operand, compare)), before, "{operand:#x}");
        assert_eq!(value(&bench), after, "{operation} {operand:#x} {compare:#x}");
    }
    assert_eq!(others(&bench), around);

    // They end a reservation if they write, a comparison that fails does not, `amoor.w` with
    // operand 0 does.
    let narrow = |operation, operand| Atomic { word: 6, wide: None, ..request(operation, operand, 0) };
    let (lr, sc) = (narrow(funct5::LR, 0), narrow(funct5::SC, 4));
    let by = [
        (2, request(0, 0, 0), 1),
        (2, request(5, 1, 99), 0),
        (1, narrow(funct5::AMOOR, 0), 1),
        (1, narrow(funct5::AMOOR, 1), 1),
    ];
    for (requester, atomic, expected) in by {
        bench.perform(0, lr);
        bench.perform(requester, atomic);
        assert_eq!(bench.perform(0, sc), expected, "{atomic:?}");
    }
}

/// `amocas.w`: by the word that it compares with, beside a network interface and without one.
#[test]
fn compare_and_swap() {
    for network in [None, Some(2)] {
        let mut bench = Bench::new(0.9, network);
        let swap = |compare, operand| Atomic {
            line: 1,
            word: 9,
            operation: funct5::AMOCAS,
            operand,
            slot: 4,
            lane: 3,
            compare,
            wide: None,
        };
        let word = |bench: &Bench| word_of(&bench.memory.read(1), 9);
        let before = word(&bench);
        assert_eq!(bench.perform(1, swap(before, 0)), u64::from(before));
        // The word before, what is compared with, the operand, the word afterwards.
        let mut holds = 0u32;
        for (compare, operand, after) in
            [(0, 7, 7), (0, 9, 7), (7, 7, 7), (7, 1 << 31, 1 << 31), (0, 1, 1 << 31)]
        {
            assert_eq!(bench.perform(1, swap(compare, operand)), u64::from(holds), "{compare}");
            assert_eq!(word(&bench), after, "{compare} {operand}");
            holds = after;
        }
        // A comparison that fails ends no reservation, one that writes does.
        let lr = Atomic { operation: funct5::LR, ..swap(0, 0) };
        let sc = Atomic { operation: funct5::SC, ..swap(0, 5) };
        bench.perform(0, lr);
        bench.perform(1, swap(!word(&bench), 3));
        assert_eq!(bench.perform(0, sc), 0);
        bench.perform(0, lr);
        bench.perform(1, swap(5, 3));
        assert_eq!(bench.perform(0, sc), 1);
    }
}

/// `lr.w` of a thread on word 5 of a line.
pub(super) fn load_reserved(line: u32, slot: u64, lane: u64) -> Atomic {
    let operation = funct5::LR;
    Atomic { line, word: 5, operation, operand: 0, slot, lane, compare: 0, wide: None }
}

/// Its `sc.w` of 77.
pub(super) fn store_conditional(line: u32, slot: u64, lane: u64) -> Atomic {
    Atomic { operation: funct5::SC, operand: 77, ..load_reserved(line, slot, lane) }
}
