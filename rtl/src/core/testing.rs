//! Test support: a small assembler, and a core with memory around it in rust-hdl's simulator.

use super::ShaderCore;
use crate::config::CoreOptions;
use hermes_hdl::prelude::simulate;
use hermes_hdl::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Registers by ABI name.
pub const ZERO: u32 = 0;
pub const RA: u32 = 1;
pub const SP: u32 = 2;
pub const T0: u32 = 5;
pub const A0: u32 = 10;
pub const A1: u32 = 11;
pub const A2: u32 = 12;
pub const A3: u32 = 13;
pub const A4: u32 = 14;

/// Where the kernel, the ring, the verdicts, the argument block and the stacks lie in the tests.
pub const KERNEL: u32 = 0x1000;
pub const RING: u32 = 0x10_0000;
pub const VERDICTS: u32 = 0x2_0000;
pub const ARGUMENT: u32 = 0x3_0000;
pub const STACKS: u32 = 0x40_0000;

/// A program under construction.
#[derive(Default)]
pub struct Program {
    words: Vec<u32>,
    labels: HashMap<&'static str, usize>,
    patches: Vec<(usize, &'static str)>,
}

impl Program {
    pub fn label(&mut self, name: &'static str) -> &mut Self {
        assert!(self.labels.insert(name, self.words.len()).is_none());
        self
    }
    pub fn word(&mut self, word: u32) -> &mut Self {
        self.words.push(word);
        self
    }
    /// OP-IMM: addi 0, slli 1, slti 2, sltiu 3, xori 4, srli 5, ori 6, andi 7.
    pub fn op_imm(&mut self, funct3: u32, rd: u32, rs1: u32, immediate: i32) -> &mut Self {
        self.word((immediate as u32) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x13)
    }
    pub fn addi(&mut self, rd: u32, rs1: u32, immediate: i32) -> &mut Self {
        self.op_imm(0, rd, rs1, immediate)
    }
    /// OP: add 0, sll 1, slt 2, sltu 3, xor 4, srl 5, or 6, and 7.
    pub fn op(&mut self, funct3: u32, rd: u32, rs1: u32, rs2: u32) -> &mut Self {
        self.word(rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33)
    }
    pub fn add(&mut self, rd: u32, rs1: u32, rs2: u32) -> &mut Self {
        self.op(0, rd, rs1, rs2)
    }
    pub fn lui(&mut self, rd: u32, upper: u32) -> &mut Self {
        self.word(upper << 12 | rd << 7 | 0x37)
    }
    /// Loads: lb 0, lh 1, lw 2, lbu 4, lhu 5.
    pub fn load(&mut self, funct3: u32, rd: u32, rs1: u32, offset: i32) -> &mut Self {
        self.word((offset as u32) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x03)
    }
    /// Stores: sb 0, sh 1, sw 2.
    pub fn store(&mut self, funct3: u32, rs2: u32, rs1: u32, offset: i32) -> &mut Self {
        let o = offset as u32;
        self.word((o >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (o & 31) << 7 | 0x23)
    }
    /// Branches: beq 0, bne 1, blt 4, bge 5, bltu 6, bgeu 7.
    pub fn branch(&mut self, funct3: u32, rs1: u32, rs2: u32, label: &'static str) -> &mut Self {
        self.patches.push((self.words.len(), label));
        self.word(rs2 << 20 | rs1 << 15 | funct3 << 12 | 0x63)
    }
    pub fn jal(&mut self, rd: u32, label: &'static str) -> &mut Self {
        self.patches.push((self.words.len(), label));
        self.word(rd << 7 | 0x6f)
    }
    pub fn jalr(&mut self, rd: u32, rs1: u32, offset: i32) -> &mut Self {
        self.word((offset as u32) << 20 | rs1 << 15 | rd << 7 | 0x67)
    }
    pub fn ret(&mut self) -> &mut Self {
        self.jalr(ZERO, RA, 0)
    }
    pub fn csrr(&mut self, rd: u32, number: u32) -> &mut Self {
        self.word(number << 20 | 2 << 12 | rd << 7 | 0x73)
    }
    /// The words, with the labels resolved.
    pub fn assemble(&self) -> Vec<u32> {
        let mut words = self.words.clone();
        for &(at, label) in &self.patches {
            let o = (4 * (self.labels[label] as i32 - at as i32)) as u32;
            words[at] |= if words[at] & 0x7f == 0x6f {
                (o >> 20 & 1) << 31 | (o >> 1 & 0x3ff) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xff) << 12
            } else {
                (o >> 12 & 1) << 31 | (o >> 5 & 0x3f) << 25 | (o >> 1 & 15) << 8 | (o >> 11 & 1) << 7
            };
        }
        words
    }
}

/// A fault that the core reported: cause, threads, pc, value, packetIdx.
pub type Fault = (u32, u32, u32, u32, u32);

/// A core with a memory that answers after `latency` cycles or a few more, by tag and in any order.
pub struct Bench<const LANES: usize> {
    pub core: ShaderCore<LANES>,
    pub memory: BTreeMap<u32, [u8; 64]>,
    pub faults: Vec<Fault>,
    pub finished: Vec<usize>,
    /// Lines that cannot be read as data.
    pub failing: BTreeSet<u32>,
    pub cycles: u64,
    latency: u64,
    /// Answers that are due: cycle, tag, line.
    reads: Vec<(u64, Bits<7>, u32)>,
    /// Writes that are due: cycle, tag.
    writes: Vec<(u64, Bits<6>)>,
}

impl<const LANES: usize> Bench<LANES> {
    /// A core after reset with `program` in memory; ring of 64 slots of 128 bytes, stacks of 256
    /// bytes.
    pub fn new(program: &Program, latency: u64) -> Self {
        Self::with(program, latency, CoreOptions::default())
    }

    /// The same with optional parts of the core.
    pub fn with(program: &Program, latency: u64, options: CoreOptions) -> Self {
        // Small caches: they are emptied line by line after the reset, and programs soon leave
        // them.
        let mut core =
            ShaderCore::<LANES>::new(CoreOptions { l1_lines: 16, instruction_cache_lines: 16, ..options });
        core.core.next = 2.into();
        // Loads and stores may go anywhere below the last line.
        core.windows.read_0_size.next = 0x3ff_ffff.into();
        core.windows.write_0_size.next = 0x3ff_ffff.into();
        core.setup.kernel_entry.next = u64::from(KERNEL).into();
        core.setup.ring_base.next = u64::from(RING).into();
        core.setup.ring_slots_log2.next = 6.into();
        core.setup.slot_bytes_log2.next = 7.into();
        core.setup.verdict_base.next = u64::from(VERDICTS).into();
        core.setup.argument.next = u64::from(ARGUMENT).into();
        core.setup.stack_base.next = u64::from(STACKS).into();
        core.setup.stack_bytes_log2.next = 8.into();
        let mut bench = Self {
            core,
            memory: BTreeMap::new(),
            faults: vec![],
            finished: vec![],
            failing: BTreeSet::new(),
            cycles: 0,
            latency,
            reads: vec![],
            writes: vec![],
        };
        for (i, word) in program.assemble().iter().enumerate() {
            bench.write_word(KERNEL + 4 * i as u32, *word);
        }
        bench.core.reset.next = true;
        bench.cycle();
        bench.core.reset.next = false;
        bench
    }

    pub fn read_byte(&self, address: u32) -> u8 {
        self.memory.get(&(address >> 6)).map_or(0, |line| line[address as usize & 63])
    }
    pub fn read_word(&self, address: u32) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|i| self.read_byte(address + i as u32)))
    }
    pub fn write_word(&mut self, address: u32, word: u32) {
        let line = self.memory.entry(address >> 6).or_insert([0; 64]);
        line[address as usize & 63..][..4].copy_from_slice(&word.to_le_bytes());
    }
    pub fn verdict(&self, packet: u32) -> u32 {
        self.read_word(VERDICTS + 4 * (packet % 64))
    }

    fn line(&self, line: u32) -> Bits<512> {
        let mut bits = Bits::<512>::default();
        if let Some(bytes) = self.memory.get(&line) {
            for (i, byte) in bytes.iter().enumerate() {
                bits.set_bits::<8>(8 * i, u64::from(*byte).into());
            }
        }
        bits
    }

    /// Starts a warp of `count` threads in `slot`.
    pub fn start(&mut self, slot: u64, packet: u32, count: u64) {
        self.core.start.valid.next = true;
        self.core.start.slot.next = slot.into();
        self.core.start.packet.next = u64::from(packet).into();
        self.core.start.count.next = count.into();
        self.cycle();
        self.core.start.valid.next = false;
    }

    /// One clock cycle: memory answers what is due and takes what the core asks.
    pub fn cycle(&mut self) {
        let now = self.cycles;
        // Of the answers that are due, the youngest goes first.
        let read = self.reads.iter().rposition(|r| r.0 <= now).map(|i| self.reads.remove(i));
        if let Some((_, tag, line)) = read {
            self.core.line_read.response.data.next = self.line(line);
            self.core.line_read.response.tag.next = tag;
            self.core.line_read.response.error.next = self.failing.contains(&line);
        }
        self.core.line_read.response.valid.next = read.is_some();
        let written = self.writes.iter().rposition(|w| w.0 <= now).map(|i| self.writes.remove(i));
        if let Some((_, tag)) = written {
            self.core.line_write.written.tag.next = tag;
        }
        self.core.line_write.written.valid.next = written.is_some();
        self.core.cycle.next = now.into();
        self.core.line_read.ready.next = now % 3 != 0;
        self.core.line_write.ready.next = now % 5 != 0;
        self.core.finish.ready.next = now % 4 == 0;
        self.core.fault.ready.next = now % 3 == 0;
        assert!(simulate(&mut self.core, 100));

        let at = now + self.latency + now % 4;
        if self.core.line_read.valid.val() && self.core.line_read.ready.next {
            self.reads.push((at, self.core.line_read.tag.val(), self.core.line_read.line.val().to_u32()));
        }
        if self.core.line_write.valid.val() && self.core.line_write.ready.next {
            let (data, strobe) = (self.core.line_write.data.val(), self.core.line_write.strobe.val());
            let line = self.memory.entry(self.core.line_write.line.val().to_u32()).or_insert([0; 64]);
            for (i, byte) in line.iter_mut().enumerate() {
                if strobe.get_bit(i) {
                    *byte = data.get_bits::<8>(8 * i).to_u8();
                }
            }
            self.writes.push((at, self.core.line_write.tag.val()));
        }
        if self.core.finish.valid.val() && self.core.finish.ready.next {
            self.finished.push(self.core.finish.slot.val().index());
        }
        if self.core.fault.valid.val() && self.core.fault.ready.next {
            self.faults.push((
                self.core.fault.cause.val().to_u32(),
                self.core.fault.threads.val().to_u32(),
                self.core.fault.pc.val().to_u32(),
                self.core.fault.value.val().to_u32(),
                self.core.fault.packet.val().to_u32(),
            ));
        }
        self.core.clock.next = Clock { clk: true };
        assert!(simulate(&mut self.core, 100));
        self.core.clock.next = Clock { clk: false };
        assert!(simulate(&mut self.core, 100));
        self.cycles += 1;
    }

    /// Runs until `warps` warps finished.
    pub fn run(&mut self, warps: usize) {
        let limit = self.cycles + 200_000;
        while self.finished.len() < warps {
            assert!(self.cycles < limit, "only {} of {warps} warps finished", self.finished.len());
            self.cycle();
        }
    }
}
