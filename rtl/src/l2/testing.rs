//! A bench for the whole memory system: the Verilated model between requesters and a memory, both
//! driven from the tests.

use super::{MemorySizes, MemorySystem};
use crate::memory::testing::{Line, LineMemory};
use crate::types::riscv::funct5;
use hermes_hdl::emit::emit;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::{HashMap, VecDeque};
use verilator_sys::{Input, Model, ModelOptions, Output};

/// A `Vec` of ports: one vector in Verilog.
struct Wires<H> {
    handle: H,
    width: usize,
    words: Vec<u32>,
}

impl<H> Wires<H> {
    fn new(handle: H, width: usize, count: usize) -> Self {
        Self { handle, width, words: vec![0; (width * count).div_ceil(32)] }
    }

    fn set(&mut self, element: usize, value: u64) {
        for bit in 0..self.width {
            let at = element * self.width + bit;
            self.words[at / 32] &= !(1 << (at % 32));
            self.words[at / 32] |= ((value >> bit & 1) as u32) << (at % 32);
        }
    }

    fn set_line(&mut self, element: usize, line: &Line) {
        for (word, bytes) in self.words[element * 16..][..16].iter_mut().zip(line.chunks(4)) {
            *word = u32::from_le_bytes(bytes.try_into().unwrap());
        }
    }

    fn get(&self, element: usize) -> u64 {
        (0..self.width).fold(0, |value, bit| {
            let at = element * self.width + bit;
            value | u64::from(self.words[at / 32] >> (at % 32) & 1) << bit
        })
    }

    fn line(&self, element: usize) -> Line {
        let mut line = [0; 64];
        for (bytes, word) in line.chunks_mut(4).zip(&self.words[element * 16..][..16]) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        line
    }
}

/// A write that a requester makes.
#[derive(Clone, Debug)]
pub struct Write {
    pub line: u32,
    pub data: Line,
    pub strobe: u64,
    pub tag: u64,
}

/// What an atomic operation (`funct5`) makes of the word `old`.
pub fn atomic_result(operation: u64, old: u32, operand: u32) -> u32 {
    match operation {
        0 => old.wrapping_add(operand),
        4 => old ^ operand,
        8 => old | operand,
        12 => old & operand,
        16 => (old as i32).min(operand as i32) as u32,
        20 => (old as i32).max(operand as i32) as u32,
        24 => old.min(operand),
        28 => old.max(operand),
        _ => operand,
    }
}

/// An atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    pub line: u32,
    pub word: usize,
    pub operation: u64,
    pub operand: u32,
    pub slot: u64,
    pub lane: u64,
    /// Value that `amocas.w` compares with.
    pub compare: u32,
    /// Of 64 bits, as the network interface requests them.
    pub wide: Option<Wide>,
}

/// What an atomic operation of 64 bits has besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wide {
    /// Upper half of the operand.
    pub operand_high: u32,
    pub compare: u64,
}

impl Atomic {
    /// The value in a line that the operation is about: 32 or 64 bits.
    pub fn value(&self, line: &Line) -> u64 {
        let high = if self.wide.is_some() { word_of(line, self.word + 1) } else { 0 };
        u64::from(high) << 32 | u64::from(word_of(line, self.word))
    }

    /// What it makes of the value `old`.
    pub fn result(&self, old: u64) -> u64 {
        let Some(wide) = self.wide else {
            if self.operation == funct5::AMOCAS && old as u32 != self.compare {
                return old;
            }
            return atomic_result(self.operation, old as u32, self.operand).into();
        };
        let operand = u64::from(wide.operand_high) << 32 | u64::from(self.operand);
        match self.operation {
            funct5::AMOCAS if old == wide.compare => operand,
            funct5::AMOCAS => old,
            _ => old.wrapping_add(operand),
        }
    }

    /// The write that asks for it.
    pub fn request(&self) -> Write {
        let mut data = [0xa5; 64];
        let control = self.slot as u32 | (self.operation as u32) << 16 | (self.word as u32) << 21;
        data[..4].copy_from_slice(&self.operand.to_le_bytes());
        data[4..8].copy_from_slice(&control.to_le_bytes());
        data[12..16].copy_from_slice(&self.compare.to_le_bytes());
        let mut bytes = 15;
        if let Some(wide) = self.wide {
            data[8..12].copy_from_slice(&wide.operand_high.to_le_bytes());
            data[12..20].copy_from_slice(&wide.compare.to_le_bytes());
            bytes = 255;
        }
        Write { line: self.line, data, strobe: bytes << (4 * self.word), tag: 32 + self.lane }
    }
}

/// A word of a line.
pub fn word_of(line: &Line, word: usize) -> u32 {
    u32::from_le_bytes(line[4 * word..][..4].try_into().unwrap())
}

/// A requester's side of a cycle: what it offers, and what it got.
#[derive(Clone, Debug, Default)]
pub struct Requester {
    /// Line and tag of the read on offer.
    pub read: Option<(u32, u64)>,
    /// The write on offer.
    pub write: Option<Write>,
    /// Line and tag of the read that was accepted at the last edge.
    pub read_accepted: Option<(u32, u64)>,
    pub write_accepted: Option<Write>,
    /// Tag, line and error of the answer that stood before the last edge.
    pub response: Option<(u64, Line, bool)>,
    /// Tag of the write that was done.
    pub written: Option<u64>,
    /// With it, of an atomic operation: the value, and whether the line could not be read.
    pub word: (u32, bool),
    /// And the upper half of the value, at a network interface.
    pub high: u32,
}

/// What a requester had of the L2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines read that the L2 had.
    pub hits: u64,
    /// Lines read that came from memory.
    pub misses: u64,
    /// Lines written.
    pub writes: u64,
}

/// How the memory behaves.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Cycles from a request to its answer, evenly distributed; answers overtake each other.
    pub latency: (u64, u64),
    /// Chance of each ready, and of an answer that is due, in a cycle.
    pub ready: f64,
}

/// One channel of the memory.
#[derive(Default)]
struct Channel {
    reads: Vec<(u64, u64, u32)>,
    addresses: VecDeque<(u64, u32)>,
    data: VecDeque<(Line, u64)>,
    writes: Vec<(u64, u64, u32, Line, u64)>,
    reading: Option<(u64, u32)>,
    writing: Option<u64>,
    held: [Option<(u64, u64)>; 2],
    held_data: Option<(Line, u64)>,
}

/// The model with its memory.
pub struct Bench {
    model: Model,
    clock: Input,
    reset: Input,
    inputs: HashMap<&'static str, Wires<Input>>,
    outputs: HashMap<&'static str, Wires<Output>>,
    axi_in: Vec<HashMap<&'static str, Wires<Input>>>,
    axi_out: Vec<HashMap<&'static str, Wires<Output>>>,
    channels: Vec<Channel>,
    pub requesters: Vec<Requester>,
    pub memory: LineMemory,
    pub rng: ChaCha8Rng,
    pub pace: Pace,
    pub cycle: u64,
    /// Enable of the line lock of a network interface: from the start, with base and size of the
    /// area, every line below 4 MiB is one of a ring.
    pub lock_enable: bool,
    pub lock_base: u64,
    pub lock_area_log2: u64,
    /// Banks whose tap holds publications, with command queues.
    pub held: u32,
    /// Requests of maintenance for the next cycle.
    pub clean: bool,
    pub invalidate: bool,
    pub busy: bool,
    /// Errors that the memory answered and that the design counted.
    pub errors: u64,
    pub counted: u64,
    /// Lines read and written on the bus.
    pub moved: (u64, u64),
    /// Line and ARPROT of the last read on the bus.
    pub last_fetch: Option<(u32, u64)>,
}

/// A line that memory cannot read or write.
pub fn fails(line: u32) -> bool {
    line % 7 == 3
}

const INPUTS: [(&str, usize); 8] = [
    ("read_valid", 1),
    ("read_line", 26),
    ("read_tag", 7),
    ("write_valid", 1),
    ("write_line", 26),
    ("write_data", 512),
    ("write_strobe", 64),
    ("write_tag", 6),
];
const OUTPUTS: [(&str, usize); 11] = [
    ("read_ready", 1),
    ("write_ready", 1),
    ("read_response_valid", 1),
    ("read_response_tag", 7),
    ("read_response_data", 512),
    ("read_response_error", 1),
    ("write_written_valid", 1),
    ("write_written_tag", 6),
    ("counters_read_hits", 32),
    ("counters_read_misses", 32),
    ("counters_writes", 32),
];
const SINGLE_OUTPUTS: [(&str, usize); 4] = [
    ("maintenance_l2_busy", 1),
    ("bus_errors", 4),
    ("maintenance_lines_read", 32),
    ("maintenance_lines_written", 32),
];
const LOCK_INPUTS: [(&str, usize); 3] =
    [("line_lock_enable", 1), ("line_lock_base", 26), ("line_lock_area_log2", 5)];
const TAP_OUTPUTS: [(&str, usize); 3] = [("tap_valid", 1), ("tap_line", 26), ("tap_phase", 1)];
const LOCK_OUTPUTS: [&str; 2] = ["line_lock_refused", "line_lock_expired"];
const AXI_INPUTS: [(&str, usize); 11] = [
    ("awready", 1),
    ("wready", 1),
    ("bid", 8),
    ("bresp", 2),
    ("bvalid", 1),
    ("arready", 1),
    ("rid", 8),
    ("rdata", 512),
    ("rresp", 2),
    ("rlast", 1),
    ("rvalid", 1),
];
const AXI_OUTPUTS: [(&str, usize); 15] = [
    ("awid", 8),
    ("awaddr", 32),
    ("awlen", 8),
    ("awsize", 3),
    ("awburst", 2),
    ("awvalid", 1),
    ("wdata", 512),
    ("wstrb", 64),
    ("wlast", 1),
    ("wvalid", 1),
    ("arid", 8),
    ("araddr", 32),
    ("arprot", 3),
    ("arvalid", 1),
    ("rready", 1),
];

impl Bench {
    pub fn new(sizes: MemorySizes, pace: Pace, rng: ChaCha8Rng) -> Self {
        Self::of_model(sizes, pace, rng, false)
    }

    /// For runs so long that a model that the compiler optimizes is worth its build.
    pub fn for_long_runs(sizes: MemorySizes, pace: Pace, rng: ChaCha8Rng) -> Self {
        Self::of_model(sizes, pace, rng, true)
    }

    fn of_model(sizes: MemorySizes, pace: Pace, rng: ChaCha8Rng, optimize: bool) -> Self {
        let design = emit(&MemorySystem::new(sizes), "memory_system").unwrap();
        let mut options = ModelOptions::new("memory_system");
        options.jobs = 2;
        options.optimize &= optimize;
        let model = Model::build(&design.verilog(), &options).unwrap().instantiate().unwrap();
        let input =
            |name: &str, width, count| Wires::new(model.input(name, width * count).unwrap(), width, count);
        let output =
            |name: &str, width, count| Wires::new(model.output(name, width * count).unwrap(), width, count);
        let n = sizes.requesters;
        let mut inputs: HashMap<_, _> = INPUTS.iter().map(|&(name, w)| (name, input(name, w, n))).collect();
        inputs.extend(
            ["maintenance_l2_clean", "maintenance_l2_invalidate"].map(|name| (name, input(name, 1, 1))),
        );
        let mut outputs: HashMap<_, _> =
            OUTPUTS.iter().map(|&(name, w)| (name, output(name, w, n))).collect();
        if sizes.atomic_requesters > 0 {
            outputs.extend(
                [("atomic_answer_word", 32), ("atomic_answer_error", 1)]
                    .map(|(name, w)| (name, output(name, w, n))),
            );
        }
        if sizes.network.is_some_and(|network| network.queues) {
            inputs.insert("tap_hold", input("tap_hold", 1, sizes.banks));
            outputs.extend(TAP_OUTPUTS.map(|(name, width)| (name, output(name, width, sizes.banks))));
        }
        if sizes.network.is_some() {
            outputs.insert("written_high", output("written_high", 32, 1));
            inputs.extend(LOCK_INPUTS.map(|(name, width)| (name, input(name, width, 1))));
            outputs.extend(LOCK_OUTPUTS.map(|name| (name, output(name, 32, 1))));
        }
        outputs.extend(SINGLE_OUTPUTS.iter().map(|&(name, w)| (name, output(name, w, 1))));
        let axi = |c: usize, name: &str| format!("m_axi_{c}_{name}");
        let axi_in = (0..sizes.channels)
            .map(|c| AXI_INPUTS.iter().map(|&(name, w)| (name, input(&axi(c, name), w, 1))).collect())
            .collect();
        let axi_out = (0..sizes.channels)
            .map(|c| AXI_OUTPUTS.iter().map(|&(name, w)| (name, output(&axi(c, name), w, 1))).collect())
            .collect();
        let mut bench = Self {
            clock: model.input("clk", 1).unwrap(),
            reset: model.input("rst", 1).unwrap(),
            inputs,
            outputs,
            axi_in,
            axi_out,
            channels: (0..sizes.channels).map(|_| Channel::default()).collect(),
            requesters: vec![Requester::default(); n],
            memory: LineMemory::default(),
            rng,
            pace,
            cycle: 0,
            lock_enable: true,
            lock_base: 0,
            lock_area_log2: 22,
            held: 0,
            clean: false,
            invalidate: false,
            busy: false,
            errors: 0,
            counted: 0,
            moved: (0, 0),
            last_fetch: None,
            model,
        };
        for _ in 0..2 {
            bench.model.set_u64(bench.reset, 1);
            bench.model.fall(bench.clock).unwrap();
            bench.model.rise(bench.clock).unwrap();
        }
        bench.model.set_u64(bench.reset, 0);
        bench
    }

    fn put(&mut self, name: &'static str, element: usize, value: u64) {
        self.inputs.get_mut(name).unwrap().set(element, value);
    }

    fn axi_put(&mut self, channel: usize, name: &'static str, value: u64) {
        self.axi_in[channel].get_mut(name).unwrap().set(0, value);
    }

    fn axi(&self, channel: usize, name: &'static str) -> u64 {
        self.axi_out[channel][name].get(0)
    }

    /// One cycle with what the requesters offer.
    pub fn step(&mut self) {
        for i in 0..self.requesters.len() {
            let Requester { read, write, .. } = self.requesters[i].clone();
            self.put("read_valid", i, u64::from(read.is_some()));
            if let Some((line, tag)) = read {
                self.put("read_line", i, line.into());
                self.put("read_tag", i, tag);
            }
            self.put("write_valid", i, u64::from(write.is_some()));
            if let Some(write) = write {
                self.put("write_line", i, write.line.into());
                self.inputs.get_mut("write_data").unwrap().set_line(i, &write.data);
                self.put("write_strobe", i, write.strobe);
                self.put("write_tag", i, write.tag);
            }
        }
        self.put("maintenance_l2_clean", 0, self.clean.into());
        self.put("maintenance_l2_invalidate", 0, self.invalidate.into());
        if self.inputs.contains_key("line_lock_enable") {
            self.put("line_lock_enable", 0, self.lock_enable.into());
            self.put("line_lock_base", 0, self.lock_base);
            self.put("line_lock_area_log2", 0, self.lock_area_log2);
        }
        self.inputs.get_mut("tap_hold").into_iter().for_each(|hold| hold.words[0] = self.held);
        (0..self.channels.len()).for_each(|c| self.drive_channel(c));
        for wires in self.inputs.values().chain(self.axi_in.iter().flat_map(|wires| wires.values())) {
            self.model.set_words(wires.handle, &wires.words);
        }
        self.model.fall(self.clock).unwrap();
        for wires in self.outputs.values_mut().chain(self.axi_out.iter_mut().flat_map(|w| w.values_mut())) {
            self.model.read_words(wires.handle, &mut wires.words);
        }
        let out = |name: &str, i: usize| self.outputs[name].get(i);
        for i in 0..self.requesters.len() {
            let response = (out("read_response_valid", i) == 1).then(|| {
                (
                    out("read_response_tag", i),
                    self.outputs["read_response_data"].line(i),
                    out("read_response_error", i) == 1,
                )
            });
            let written = (out("write_written_valid", i) == 1).then(|| out("write_written_tag", i));
            let word = match self.outputs.get("atomic_answer_word") {
                Some(word) => (word.get(i) as u32, out("atomic_answer_error", i) == 1),
                None => (0, false),
            };
            let high = self.outputs.get("written_high").map_or(0, |high| high.get(0) as u32);
            let (reads, writes) = (out("read_ready", i) == 1, out("write_ready", i) == 1);
            let requester = &mut self.requesters[i];
            requester.response = response;
            requester.written = written;
            requester.word = word;
            requester.high = high;
            requester.read_accepted = if reads { requester.read.take() } else { None };
            requester.write_accepted = if writes { requester.write.take() } else { None };
        }
        self.busy = out("maintenance_l2_busy", 0) == 1;
        self.counted += out("bus_errors", 0);
        (0..self.channels.len()).for_each(|c| self.sample_channel(c));
        self.model.rise(self.clock).unwrap();
        self.clean = false;
        self.invalidate = false;
        self.cycle += 1;
    }

    fn drive_channel(&mut self, c: usize) {
        let ready = self.pace.ready;
        if self.channels[c].reading.is_none() && self.rng.gen_bool(ready) {
            let now = self.cycle;
            let due: Vec<usize> =
                (0..self.channels[c].reads.len()).filter(|&i| self.channels[c].reads[i].0 <= now).collect();
            if !due.is_empty() {
                let (_, id, line) = self.channels[c].reads.remove(due[self.rng.gen_range(0..due.len())]);
                self.channels[c].reading = Some((id, line));
                let data = self.memory.read(line);
                self.axi_put(c, "rid", id);
                self.axi_in[c].get_mut("rdata").unwrap().set_line(0, &data);
                self.axi_put(c, "rresp", if fails(line) { 2 } else { 0 });
                self.axi_put(c, "rlast", 1);
                self.errors += u64::from(fails(line));
            }
        }
        if self.channels[c].writing.is_none() && self.rng.gen_bool(ready) {
            let now = self.cycle;
            let due: Vec<usize> =
                (0..self.channels[c].writes.len()).filter(|&i| self.channels[c].writes[i].0 <= now).collect();
            if !due.is_empty() {
                let (_, id, line, data, strobe) =
                    self.channels[c].writes.remove(due[self.rng.gen_range(0..due.len())]);
                self.channels[c].writing = Some(id);
                self.memory.write(line, &data, strobe);
                self.axi_put(c, "bid", id);
                self.axi_put(c, "bresp", if fails(line) { 3 } else { 0 });
                self.errors += u64::from(fails(line));
            }
        }
        self.axi_put(c, "rvalid", self.channels[c].reading.is_some().into());
        self.axi_put(c, "bvalid", self.channels[c].writing.is_some().into());
        for name in ["arready", "awready", "wready"] {
            let level = self.rng.gen_bool(ready);
            self.axi_put(c, name, level.into());
        }
    }

    fn due(&mut self) -> u64 {
        let (low, high) = self.pace.latency;
        self.cycle + self.rng.gen_range(low..=high)
    }

    /// Takes what the channel transfers at this edge; checks that what waits does not change, that
    /// every request under way has an ID of its own, and that no line is read while it is being
    /// written or the other way round.
    fn sample_channel(&mut self, c: usize) {
        let ar = (self.axi(c, "arvalid") == 1).then(|| (self.axi(c, "arid"), self.axi(c, "araddr")));
        let aw = (self.axi(c, "awvalid") == 1).then(|| (self.axi(c, "awid"), self.axi(c, "awaddr")));
        let w =
            (self.axi(c, "wvalid") == 1).then(|| (self.axi_out[c]["wdata"].line(0), self.axi(c, "wstrb")));
        let input = |bench: &Self, name: &str| bench.axi_in[c][name].get(0) == 1;
        let (arready, awready, wready) =
            (input(self, "arready"), input(self, "awready"), input(self, "wready"));
        let rready = self.axi(c, "rready") == 1;
        if self.channels[c].reading.is_some() && rready {
            self.channels[c].reading = None;
            self.moved.0 += 1;
        }
        if self.channels[c].writing.take().is_some() {
            self.moved.1 += 1;
        }
        let channel = &self.channels[c];
        assert!(channel.held[0].is_none() || channel.held[0] == ar, "AR changed before ARREADY");
        assert!(channel.held[1].is_none() || channel.held[1] == aw, "AW changed before AWREADY");
        assert!(channel.held_data.is_none() || channel.held_data == w, "W changed before WREADY");
        self.channels[c].held = [ar.filter(|_| !arready), aw.filter(|_| !awready)];
        self.channels[c].held_data = w.filter(|_| !wready);
        if let Some((id, address)) = ar.filter(|_| arready) {
            assert_eq!(address % 64, 0);
            let line = (address >> 6) as u32;
            let channel = &self.channels[c];
            assert!(channel.reads.iter().all(|r| r.1 != id), "ID {id:#x} is used twice");
            assert!(channel.reading.is_none_or(|r| r.0 != id), "ID {id:#x} is used twice");
            assert!(!self.is_written(line), "line {line:#x} is read while it is being written");
            let due = self.due();
            self.channels[c].reads.push((due, id, line));
            self.last_fetch = Some((line, self.axi(c, "arprot")));
        }
        if let Some((id, address)) = aw.filter(|_| awready) {
            assert_eq!(address % 64, 0);
            assert_eq!((self.axi(c, "awlen"), self.axi(c, "awsize"), self.axi(c, "awburst")), (0, 6, 1));
            let line = (address >> 6) as u32;
            assert!(self.channels[c].writes.iter().all(|w| w.1 != id), "ID {id:#x} is used twice");
            assert!(!self.is_written(line), "line {line:#x} is written twice at a time");
            let reads = |channel: &Channel| channel.reads.iter().any(|r| r.2 == line);
            assert!(!self.channels.iter().any(reads), "line {line:#x} is written while it is being read");
            self.channels[c].addresses.push_back((id, line));
        }
        if let Some((data, strobe)) = w.filter(|_| wready) {
            assert_eq!(self.axi(c, "wlast"), 1);
            self.channels[c].data.push_back((data, strobe));
        }
        while !self.channels[c].addresses.is_empty() && !self.channels[c].data.is_empty() {
            let due = self.due();
            let channel = &mut self.channels[c];
            let (id, line) = channel.addresses.pop_front().unwrap();
            let (data, strobe) = channel.data.pop_front().unwrap();
            channel.writes.push((due, id, line, data, strobe));
        }
    }

    fn is_written(&self, line: u32) -> bool {
        self.channels.iter().any(|channel| {
            channel.writes.iter().any(|w| w.2 == line) || channel.addresses.iter().any(|a| a.1 == line)
        })
    }

    /// The counters of a requester as the design has them.
    pub fn counts(&self, requester: usize) -> Counts {
        let [hits, misses, writes] = ["counters_read_hits", "counters_read_misses", "counters_writes"]
            .map(|name| self.outputs[name].get(requester));
        Counts { hits, misses, writes }
    }

    /// Line and phase of the publication of which the tap of a bank told in the cycle before.
    pub fn told(&self, bank: usize) -> Option<(u32, bool)> {
        let [valid, line, phase] = TAP_OUTPUTS.map(|(name, _)| self.outputs[name].get(bank));
        (valid == 1).then_some((line as u32, phase == 1))
    }

    /// Locks refused and locks expired, with a network interface.
    pub fn locks(&self) -> (u64, u64) {
        let [refused, expired] = LOCK_OUTPUTS.map(|name| self.outputs[name].get(0));
        (refused, expired)
    }

    /// The counters of lines as the design has them: read from and written to memory.
    pub fn counters(&self) -> (u64, u64) {
        (self.outputs["maintenance_lines_read"].get(0), self.outputs["maintenance_lines_written"].get(0))
    }
}
