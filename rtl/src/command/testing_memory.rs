//! Memories around the command processor, in rust-hdl's simulator.

use super::CommandPipeline;
use crate::l2::testing::atomic_result;
use crate::l2::{MemorySizes, MemorySystem};
use crate::testing::settle;
use hermes_hdl::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};

/// The contents of memory, line by line.
#[derive(Clone, Default)]
pub struct Contents(BTreeMap<u32, [u8; 64]>);

impl Contents {
    pub fn word(&self, address: u32) -> u32 {
        let line = self.0.get(&(address >> 6)).copied().unwrap_or([0; 64]);
        u32::from_le_bytes(line[address as usize & 60..][..4].try_into().unwrap())
    }

    pub fn set_word(&mut self, address: u32, word: u32) {
        let line = self.0.entry(address >> 6).or_insert([0; 64]);
        line[address as usize & 60..][..4].copy_from_slice(&word.to_le_bytes());
    }

    pub fn line(&self, line: u32) -> Bits<512> {
        let bytes = self.0.get(&line).copied().unwrap_or([0; 64]);
        num_bigint::BigUint::from_bytes_le(&bytes).into()
    }

    pub fn write(&mut self, line: u32, data: Bits<512>, strobe: u64) {
        let mut bytes = num_bigint::BigUint::from(data).to_bytes_le();
        bytes.resize(64, 0);
        let line = self.0.entry(line).or_insert([0; 64]);
        for i in (0..64).filter(|i| strobe >> i & 1 == 1) {
            line[i] = bytes[i];
        }
    }
}

/// Memory as a command processor sees it.
pub trait Memory {
    /// Answers what is due and takes what is asked, before the rising edge of `cycle`.
    fn before_edge(&mut self, cp: &mut CommandPipeline, cycle: u64);
    /// The rising edge.
    fn edge(&mut self) {}
    /// Whether a store of this hart waits for its acknowledgement, as far as the memory knows;
    /// `None`: of the hart of a processor that has one.
    fn has_stores(&self, _hart: Option<u64>) -> bool {
        false
    }
}

/// Memory that answers by tag, after any time and in any order, and accepts when it likes; it
/// checks rule C3 and that the numbers of outstanding stores differ.
pub struct AnyOrder {
    pub contents: Contents,
    /// Harts of the processor.
    pub harts: u64,
    /// Lines that cannot be read.
    pub failing: BTreeSet<u32>,
    /// Cycles from a request to its answer: from, to.
    pub latency: (u64, u64),
    /// Chance that a request is accepted in a cycle.
    pub ready: f64,
    /// No write is acknowledged before this cycle.
    pub silent_until: u64,
    /// Lines and words of the writes in the order in which they were accepted.
    pub written: Vec<(u32, u32)>,
    /// Most writes outstanding at a time.
    pub most: usize,
    /// Reads of data so far.
    pub loads: usize,
    /// Atomic operations so far.
    pub atomics: usize,
    /// The line that `lr.w` reserved.
    reserved: Option<u32>,
    /// Lines that were fetched.
    pub fetched: BTreeSet<u32>,
    reads: Vec<(u64, u64, u32)>,
    /// Outstanding writes: cycle of the answer, tag, word and error of an atomic operation.
    writes: Vec<(u64, u64, u32, bool)>,
    rng: ChaCha8Rng,
}

impl AnyOrder {
    pub fn new(latency: (u64, u64), ready: f64) -> Self {
        Self {
            contents: Contents::default(),
            harts: 1,
            failing: BTreeSet::new(),
            latency,
            ready,
            silent_until: 0,
            written: vec![],
            most: 0,
            loads: 0,
            atomics: 0,
            reserved: None,
            fetched: BTreeSet::new(),
            reads: vec![],
            writes: vec![],
            rng: hermes_hdl::testing::random(),
        }
    }

    /// The hart of a store, by its tag.
    fn hart_of(&self, tag: u64) -> u64 {
        tag >> if self.harts == 8 { 2 } else { 3 }
    }

    /// Performs an atomic operation; the word and error of its answer.
    fn operate(&mut self, line: u32, data: Bits<512>, strobe: u64) -> (u32, bool) {
        let field = |low: usize, bits: u32| data.get_bits::<64>(0).to_u64() >> low & ((1 << bits) - 1);
        // A hart that has not executed `lr.w`, or left its loop, has none of the reservations.
        let slot = field(32, 5);
        assert!(slot < 8 || slot == 31 && field(48, 5) != 2, "slot {slot}");
        let address = line << 6 | (field(53, 4) as u32) << 2;
        assert_eq!(strobe, 15 << (address & 60));
        self.atomics += 1;
        if self.failing.contains(&line) {
            return (0xdead_dead, true);
        }
        let (operation, operand, old) = (field(48, 5), field(0, 32) as u32, self.contents.word(address));
        match operation {
            2 => {
                self.reserved = Some(line);
                (old, false)
            }
            3 => {
                let stores = slot < 8 && self.reserved.take() == Some(line);
                if stores {
                    self.contents.set_word(address, operand);
                }
                (u32::from(!stores), false)
            }
            5 if old != data.get_bits::<32>(96).to_u32() => (old, false),
            _ => {
                self.reserved = self.reserved.filter(|&reserved| reserved != line);
                self.contents.set_word(address, atomic_result(operation, old, operand));
                (old, false)
            }
        }
    }

    /// Memory is idle when quiet shows: nothing of a hart that is quiet waits for an answer, and no
    /// fetch when all are.
    fn check_quiet(&self, cp: &CommandPipeline, cycle: u64) {
        let quiet = cp.registers.quiet.val().to_u64();
        let of_hart = |hart: u64| quiet >> hart & 1 == 0;
        let loads = self.reads.iter().filter(|r| r.1 & 0x40 == 0).map(|r| r.1);
        let atomics = self.writes.iter().filter(|w| w.1 & 0x20 != 0).map(|w| w.1 & 7);
        let stores = self.writes.iter().filter(|w| w.1 & 0x20 == 0).map(|w| self.hart_of(w.1));
        for hart in loads.chain(atomics).chain(stores) {
            assert!(of_hart(hart), "cycle {cycle}: hart {hart} is quiet while memory works for it");
        }
        let harts = (1 << self.harts) - 1;
        let fetches = self.reads.iter().any(|r| r.1 & 0x40 != 0);
        assert!(!fetches || quiet & harts != harts, "cycle {cycle}: all are quiet while a line is fetched");
    }

    /// Nothing waits for an answer.
    pub fn idle(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }
}

impl Memory for AnyOrder {
    fn before_edge(&mut self, cp: &mut CommandPipeline, cycle: u64) {
        let read = self.reads.iter().position(|r| r.0 <= cycle).map(|i| self.reads.swap_remove(i));
        cp.read.response.valid.next = read.is_some();
        if let Some((_, tag, line)) = read {
            cp.read.response.tag.next = tag.into();
            cp.read.response.data.next = self.contents.line(line);
            cp.read.response.error.next = self.failing.contains(&line);
        }
        let open = cycle >= self.silent_until;
        let written = self.writes.iter().position(|w| open && w.0 <= cycle);
        let written = written.map(|i| self.writes.swap_remove(i));
        cp.line_write.written.valid.next = written.is_some();
        cp.line_write.written.tag.next = written.map_or(0, |w| w.1).into();
        if let Some(answer) = cp.atomic_answer.get_mut() {
            answer.word.next = u64::from(written.map_or(0, |w| w.2)).into();
            answer.error.next = written.is_some_and(|w| w.3);
        }
        cp.read.ready.next = self.rng.gen_bool(self.ready);
        cp.line_write.ready.next = self.rng.gen_bool(self.ready);
        settle(cp);
        self.check_quiet(cp, cycle);
        let due = cycle + self.rng.gen_range(self.latency.0..=self.latency.1);
        if cp.read.valid.val() && cp.read.ready.next {
            let tag = cp.read.tag.val().to_u64();
            if tag & 0x40 == 0 {
                let own = self.writes.iter().any(|w| self.hart_of(w.1) == tag);
                assert!(!own, "cycle {cycle}: a load leaves before a store of its hart is performed");
                self.loads += 1;
            } else {
                self.fetched.insert(cp.read.line.val().to_u32());
            }
            assert!(self.reads.iter().all(|r| r.1 != tag), "cycle {cycle}: tag {tag:#x} twice");
            self.reads.push((due, tag, cp.read.line.val().to_u32()));
        }
        if cp.line_write.valid.val() && cp.line_write.ready.next {
            let (line, strobe) = (cp.line_write.line.val().to_u32(), cp.line_write.strobe.val().to_u64());
            let tag = cp.line_write.tag.val().to_u64();
            let mut answer = (0, false);
            if tag & 0x20 != 0 {
                assert!(
                    self.writes.iter().all(|w| self.hart_of(w.1) != tag & 7),
                    "cycle {cycle}: an atomic operation leaves before a store is performed"
                );
                answer = self.operate(line, cp.line_write.data.val(), strobe);
            } else {
                self.contents.write(line, cp.line_write.data.val(), strobe);
                let address = line << 6 | (strobe.trailing_zeros() & 60);
                self.written.push((address, self.contents.word(address)));
                self.reserved = self.reserved.filter(|&reserved| reserved != line);
                let there = self.hart_of(tag) < self.harts && tag != 31;
                assert!(there && self.writes.iter().all(|w| w.1 != tag), "cycle {cycle}: tag {tag:#x}");
            }
            self.writes.push((due, tag, answer.0, answer.1));
            self.most = self.most.max(self.writes.len());
        }
    }

    fn has_stores(&self, hart: Option<u64>) -> bool {
        let hart = hart.or((self.harts == 1).then_some(0));
        hart.is_some_and(|hart| self.writes.iter().any(|w| w.1 & 0x20 == 0 && self.hart_of(w.1) == hart))
    }
}

/// The array's memory system, with one AXI4 channel that answers after a fixed time.
pub struct System {
    pub contents: Contents,
    system: MemorySystem,
    latency: u64,
    reads: Vec<(u64, u64, u32)>,
    answering: Option<(u64, u32)>,
    /// The address of a line that is written, and those to acknowledge.
    writing: Option<(u64, u32)>,
    acknowledging: Vec<u64>,
}

impl System {
    pub fn new(latency: u64) -> Self {
        let sizes = MemorySizes { bank_lines: 64, ways: 4, ..MemorySizes::ONE };
        let mut system = MemorySystem::new(sizes);
        system.reset.next = true;
        for level in [false, true, false, true, false] {
            system.clock.next = level.into();
            settle(&mut system);
        }
        system.reset.next = false;
        Self {
            contents: Contents::default(),
            system,
            latency,
            reads: vec![],
            answering: None,
            writing: None,
            acknowledging: vec![],
        }
    }
}

impl Memory for System {
    fn before_edge(&mut self, cp: &mut CommandPipeline, cycle: u64) {
        settle(cp);
        let system = &mut self.system;
        system.read[0].valid.next = cp.read.valid.val();
        system.read[0].line.next = cp.read.line.val();
        system.read[0].tag.next = cp.read.tag.val();
        system.write[0].valid.next = cp.line_write.valid.val();
        system.write[0].line.next = cp.line_write.line.val();
        system.write[0].data.next = cp.line_write.data.val();
        system.write[0].strobe.next = cp.line_write.strobe.val();
        system.write[0].tag.next = cp.line_write.tag.val();
        let due = self.reads.iter().position(|r| r.0 <= cycle);
        if self.answering.is_none() {
            self.answering = due.map(|i| self.reads.remove(i)).map(|(_, id, line)| (id, line));
        }
        system.m_axi[0].arready.next = true;
        system.m_axi[0].rvalid.next = self.answering.is_some();
        system.m_axi[0].rlast.next = true;
        if let Some((id, line)) = self.answering {
            system.m_axi[0].rid.next = id.into();
            system.m_axi[0].rdata.next = self.contents.line(line);
        }
        system.m_axi[0].awready.next = self.writing.is_none();
        system.m_axi[0].wready.next = self.writing.is_some();
        system.m_axi[0].bvalid.next = !self.acknowledging.is_empty();
        system.m_axi[0].bid.next = self.acknowledging.first().copied().unwrap_or(0).into();
        settle(system);
        let axi = &system.m_axi[0];
        if axi.bvalid.next && axi.bready.val() {
            self.acknowledging.remove(0);
        }
        if let (Some((id, line)), true) = (self.writing, axi.wvalid.val()) {
            self.contents.write(line, axi.wdata.val(), axi.wstrb.val().to_u64());
            self.acknowledging.push(id);
            self.writing = None;
        } else if self.writing.is_none() && axi.awvalid.val() {
            self.writing = Some((axi.awid.val().to_u64(), axi.awaddr.val().to_u32() >> 6));
        }
        if system.m_axi[0].rready.val() {
            self.answering = None;
        }
        if system.m_axi[0].arvalid.val() {
            let line = system.m_axi[0].araddr.val().to_u32() >> 6;
            self.reads.push((cycle + self.latency, system.m_axi[0].arid.val().to_u64(), line));
        }
        cp.read.ready.next = system.read[0].ready.val();
        cp.line_write.ready.next = system.write[0].ready.val();
        cp.read.response.valid.next = system.read[0].response.valid.val();
        cp.read.response.tag.next = system.read[0].response.tag.val();
        cp.read.response.data.next = system.read[0].response.data.val();
        cp.read.response.error.next = system.read[0].response.error.val();
        cp.line_write.written.valid.next = system.write[0].written.valid.val();
        cp.line_write.written.tag.next = system.write[0].written.tag.val();
        if let Some(answer) = cp.atomic_answer.get_mut() {
            answer.word.next = system.atomic_answer[0].word.val();
            answer.error.next = system.atomic_answer[0].error.val();
        }
        settle(cp);
    }

    fn edge(&mut self) {
        for level in [true, false] {
            self.system.clock.next = level.into();
            settle(&mut self.system);
        }
    }
}
