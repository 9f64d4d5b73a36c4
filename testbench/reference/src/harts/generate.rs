//! Random programs for one hart.

use rand::seq::SliceRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::machine::Style;
use crate::iss::{Class, Extension, Format, Instruction, Op, ENCODINGS};
use crate::kernel::{Executable, RegisterClass, Segment};

/// Where programs begin.
const CODE: u32 = 0x1_0000;
/// The middle of the two areas that programs load from and store to, each 4 KiB: x2 and x3.
pub const DATA_BASES: [u32; 2] = [0x20_0800, 0x20_4820];
/// Counts the turns of a loop.
pub(super) const COUNTER: u8 = 4;
/// Registers with a purpose: return address, bases, counter.
const RESERVED: u8 = 5;

/// A program of about `blocks` blocks, which ends with an exception. Every register is written
/// first.
pub fn random_program(random: &mut ChaCha8Rng, blocks: usize) -> Executable {
    let mut program = Generator { random, words: vec![], machine: None };
    program.write_registers(DATA_BASES);
    for _ in 0..blocks {
        program.block();
    }
    program.end();
    let bytes = program.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut segments = vec![Segment { address: CODE, run_address: CODE, bytes, writable: true }];
    for base in DATA_BASES {
        let bytes = (0..4096).map(|_| random.gen()).collect();
        segments.push(Segment { address: base - 2048, run_address: base - 2048, bytes, writable: true });
    }
    Executable { entry: CODE, segments, registers: RegisterClass::Rv32i, symbols: vec![], arch: None }
}

/// Makes a program, word by word.
pub(super) struct Generator<'a> {
    pub(super) random: &'a mut ChaCha8Rng,
    pub(super) words: Vec<u32>,
    /// What the program has of machine mode.
    pub(super) machine: Option<Style>,
}

impl Generator<'_> {
    pub(super) fn push(&mut self, op: Op, rd: u8, rs1: u8, rs2: u8, immediate: i32) {
        self.words.push(Instruction { op, rd, rs1, rs2, immediate }.encode());
    }

    /// Gives every register a value: 2 and 3 the bases of the data, the others any.
    pub(super) fn write_registers(&mut self, data: [u32; 2]) {
        for (register, base) in [(2, data[0]), (3, data[1])] {
            self.constant(register, base);
        }
        for register in (1..32).filter(|register| !matches!(register, 2 | 3)) {
            let value = self.random.gen();
            self.constant(register, value);
        }
    }

    pub(super) fn constant(&mut self, rd: u8, value: u32) {
        let upper = value.wrapping_add(0x800) & 0xffff_f000;
        self.push(Op::Lui, rd, 0, 0, upper as i32);
        self.push(Op::Addi, rd, rd, 0, value.wrapping_sub(upper) as i32);
    }

    /// A register that may be written; a few of them more often, so that results are used at once.
    pub(super) fn target(&mut self) -> u8 {
        if self.random.gen_bool(0.6) {
            self.random.gen_range(8..12)
        } else {
            // Handlers use the last three.
            self.random.gen_range(RESERVED..if self.machine.is_some() { 29 } else { 32 })
        }
    }

    pub(super) fn source(&mut self) -> u8 {
        if self.random.gen_bool(0.6) {
            self.random.gen_range(8..12)
        } else {
            self.random.gen_range(0..32)
        }
    }

    fn compute(&mut self) {
        let rows: Vec<_> = ENCODINGS
            .iter()
            .filter(|row| {
                let there = matches!(row.extension, Extension::Base | Extension::M | Extension::Zbb);
                there && matches!(row.op.class(), Class::Alu | Class::Mul | Class::Div)
            })
            .collect();
        let row = *rows.choose(self.random).expect("there are instructions");
        let (rd, rs1, rs2) = (self.target(), self.source(), self.source());
        // Now and then the result goes to x0, which stays 0.
        let rd = if self.random.gen_bool(0.03) { 0 } else { rd };
        match row.format {
            Format::Register => self.push(row.op, rd, rs1, rs2, 0),
            Format::Shift => {
                let amount = self.random.gen_range(0..32);
                self.push(row.op, rd, rs1, 0, amount);
            }
            Format::Immediate => {
                let immediate = self.random.gen_range(-2048..2048);
                self.push(row.op, rd, rs1, 0, immediate);
            }
            Format::Upper => {
                let upper = self.random.gen::<u32>() & 0xffff_f000;
                self.push(row.op, rd, 0, 0, upper as i32);
            }
            _ => self.push(row.op, rd, rs1, 0, 0),
        }
    }

    fn access(&mut self) {
        let base = self.random.gen_range(2..4);
        // Often the same few words, so that loads meet stores.
        let offset: i32 =
            if self.random.gen() { self.random.gen_range(0..48) } else { self.random.gen_range(-2016..2016) };
        let (load, store, size) = [
            (Op::Lw, Op::Sw, 4),
            (Op::Lh, Op::Sh, 2),
            (Op::Lhu, Op::Sh, 2),
            (Op::Lb, Op::Sb, 1),
            (Op::Lbu, Op::Sb, 1),
        ][self.random.gen_range(0..5)];
        let offset = offset & -size;
        if self.random.gen() {
            let rd = self.target();
            self.push(load, rd, base, 0, offset);
        } else {
            let rs2 = self.source();
            self.push(store, 0, base, rs2, offset);
        }
    }

    /// One instruction that goes on to the next.
    fn plain(&mut self) {
        if let Some(style) = self.machine.filter(|_| self.random.gen_bool(0.15)) {
            return self.system(style);
        }
        match self.random.gen_range(0..100) {
            0..=78 => self.compute(),
            79..=97 => self.access(),
            98 => {
                let fields =
                    *[0x0ff, 0x033, 0x011, 0x022, 0x023, 0x031].choose(self.random).expect("not empty");
                self.push(Op::Fence, 0, 0, 0, fields);
            }
            _ => self.words.push(0x0000_100f),
        }
    }

    fn run(&mut self, most: usize) {
        for _ in 0..self.random.gen_range(1..=most) {
            self.plain();
        }
    }

    /// A branch on two registers over a few instructions.
    fn skip(&mut self) {
        let branch = [Op::Beq, Op::Bne, Op::Blt, Op::Bge, Op::Bltu, Op::Bgeu];
        let op = *branch.choose(self.random).expect("not empty");
        let (rs1, rs2, at) = (self.source(), self.source(), self.words.len());
        self.words.push(0);
        self.run(4);
        let offset = 4 * (self.words.len() - at) as i32;
        self.words[at] = Instruction { op, rd: 0, rs1, rs2, immediate: offset }.encode();
    }

    fn body(&mut self) {
        for _ in 0..self.random.gen_range(1..4) {
            if self.random.gen_bool(0.4) {
                self.skip();
            } else {
                self.run(5);
            }
        }
    }

    pub(super) fn block(&mut self) {
        match self.random.gen_range(0..10) {
            0..=3 => {
                // A loop, with its condition at its end.
                let turns = self.random.gen_range(1..24);
                self.push(Op::Addi, COUNTER, 0, 0, turns);
                let start = self.words.len();
                self.body();
                self.push(Op::Addi, COUNTER, COUNTER, 0, -1);
                let offset = 4 * (start as i32 - self.words.len() as i32);
                self.push(Op::Bne, 0, COUNTER, 0, offset);
            }
            4 | 5 => {
                // A function that stands right here: jumped over, called twice.
                let over = self.words.len();
                self.words.push(0);
                self.body();
                self.push(Op::Jalr, 0, 1, 0, 0);
                let jump = 4 * (self.words.len() - over) as i32;
                self.words[over] =
                    Instruction { op: Op::Jal, rd: 0, rs1: 0, rs2: 0, immediate: jump }.encode();
                for _ in 0..2 {
                    let offset = 4 * (over as i32 + 1 - self.words.len() as i32);
                    self.push(Op::Jal, 1, 0, 0, offset);
                }
            }
            6 => {
                // A jump through a register over an instruction or two.
                let (rd, through) = (self.target(), self.random.gen_range(12..16));
                let over = self.random.gen_range(0..3);
                self.push(Op::Auipc, through, 0, 0, 0);
                let jump = self.words.len();
                self.words.push(0);
                for _ in 0..over {
                    self.plain();
                }
                let immediate = 4 * (self.words.len() - jump + 1) as i32;
                self.words[jump] = Instruction { op: Op::Jalr, rd, rs1: through, rs2: 0, immediate }.encode();
            }
            _ => self.body(),
        }
    }

    fn end(&mut self) {
        match self.random.gen_range(0..8) {
            0 => self.words.push(0),
            1 => self.push(Op::Ecall, 0, 0, 0, 0),
            2 => self.push(Op::Lw, 9, 2, 0, 2),
            3 => self.push(Op::Sh, 0, 3, 9, -5),
            4 => {
                // No device takes bytes.
                self.push(Op::Lui, 9, 0, 0, 0xfff0_0000_u32 as i32);
                self.push(Op::Sb, 0, 9, 9, 4);
            }
            5 => self.push(Op::Jalr, 9, 2, 0, 2),
            // csrr s1, sstatus: there is no supervisor mode.
            6 => self.words.push(0x1000_24f3),
            _ => self.push(Op::Ebreak, 0, 0, 0, 0),
        }
    }
}
