//! Random programs and their data.

use rand::seq::SliceRandom as _;
use rand::{Rng, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::features::Features;
use super::program::{
    Access, Area, Atomic, AtomicPlace, Block, FaultKind, Function, Program, Statement, Target, Trips, A0,
    ADDRESS, DATA, HELP, LINK, PRIVATE, PRIVATE_BYTES, RA, TABLE_BYTES,
};
use crate::iss::{Class, Format, Instruction, Op, ENCODINGS};

/// Registers for data of a program, at most.
const MOST_REGISTERS: usize = 14;
/// Words that differ where it matters.
const CORNERS: [u32; 12] =
    [0, 1, 2, 31, 32, 0xff, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_fffe, 0xffff_ffff, 0x0100_8000];

/// A program with its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The program.
    pub program: Program,
    /// The table of the argument block.
    pub table: Vec<u8>,
    /// Bytes of every packet behind its Ethernet header.
    pub frames: Vec<Vec<u8>>,
}

/// A random program for an array with `1 << lanes_log2` lanes a core, with `packets` packets of
/// `frame_bytes` bytes. A thread executes about `instructions` instructions at most. The same
/// arguments give the same case.
pub fn generate(
    seed: u64,
    features: Features,
    lanes_log2: u32,
    packets: u32,
    frame_bytes: usize,
    instructions: u32,
) -> Case {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let available: Vec<u8> = DATA.into_iter().filter(|r| *r < features.isa().registers()).collect();
    let count = random.gen_range(4..=available.len().min(MOST_REGISTERS));
    let mut registers: Vec<u8> = available.choose_multiple(&mut random, count).copied().collect();
    if !registers.contains(&A0) {
        registers[0] = A0;
    }
    registers.sort_unstable();
    let mut generator = Generator { random, features, registers, functions: Vec::new() };

    // Functions call only those behind them, so the last comes first.
    let functions = generator.random.gen_range(0..5_usize);
    let share = i64::from(instructions) / 4;
    let mut costs = Vec::new();
    let mut bodies: Vec<Function> = Vec::new();
    for number in (0..functions).rev() {
        // While it is made, a function sees those behind it, by their final numbers.
        generator.functions =
            costs.iter().rev().enumerate().map(|(i, cost)| (number + 1 + i, *cost)).collect();
        let mut budget = share;
        let body = generator.block(&mut budget, 2);
        costs.push(share - budget + 8);
        bodies.push(Function { link: if generator.random.gen_bool(0.7) { RA } else { LINK }, body });
    }
    bodies.reverse();
    generator.functions = costs.iter().rev().enumerate().map(|(i, cost)| (i, *cost)).collect();
    let mut budget = i64::from(instructions);
    let mut main = Block::new();
    while budget > 0 {
        main.extend(generator.block(&mut budget, 3));
    }

    let Generator { mut random, registers, .. } = generator;
    // Words of packets and table: some corners, some small, some any.
    let mut word = || match random.gen_range(0..4) {
        0 => *CORNERS.choose(&mut random).unwrap_or(&0),
        1 => random.gen_range(0..8),
        _ => random.gen(),
    };
    let mut bytes = |count: usize| -> Vec<u8> {
        let words = (0..count.div_ceil(4)).flat_map(|_| word().to_le_bytes());
        words.take(count).collect()
    };
    let table = bytes(TABLE_BYTES as usize);
    let frames = (0..packets).map(|_| bytes(frame_bytes)).collect();
    let program = Program { features, lanes_log2, packets, registers, main, functions: bodies };
    Case { program, table, frames }
}

struct Generator {
    random: ChaCha8Rng,
    features: Features,
    registers: Vec<u8>,
    /// Numbers of the functions that may be called, and what they cost at most.
    functions: Vec<(usize, i64)>,
}

impl Generator {
    fn register(&mut self) -> u8 {
        let position = self.random.gen_range(0..self.registers.len());
        self.registers[position]
    }

    /// A register to read: x0 now and then.
    fn source(&mut self) -> u8 {
        if self.random.gen_ratio(1, 16) {
            0
        } else {
            self.register()
        }
    }

    /// A register to write: now and then x0, or the one for addresses, which statements set before
    /// they use it.
    fn destination(&mut self) -> u8 {
        match self.random.gen_range(0..48) {
            0 => 0,
            1 | 2 => ADDRESS,
            _ => self.register(),
        }
    }

    /// A register for a return address that is none, or one that counts as a call.
    fn link(&mut self) -> u8 {
        if self.random.gen_ratio(1, 20) {
            RA
        } else {
            self.destination()
        }
    }

    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.random.gen_range(0..values.len())]
    }

    /// A block of a few statements, as long as there is budget. Structures are nested `depth` deep.
    fn block(&mut self, budget: &mut i64, depth: u32) -> Block {
        let count = self.random.gen_range(1..8);
        let mut block = Block::new();
        for _ in 0..count {
            if *budget <= 0 {
                break;
            }
            block.push(self.statement(budget, depth));
        }
        block
    }

    fn statement(&mut self, budget: &mut i64, depth: u32) -> Statement {
        let kind = self.random.gen_range(0..100);
        match kind {
            0..=14 if self.features.traps => {
                *budget -= 4;
                let (register, kind) = (self.register(), self.fault());
                Statement::Fault { register, mask: self.pick(&[1, 3, 7]), kind }
            }
            0..=33 => self.run(budget),
            34..=37 => {
                *budget -= 2;
                let value = self.random.gen();
                Statement::Constant(self.register(), self.pick(&[CORNERS[0], CORNERS[7], CORNERS[10], value]))
            }
            38..=54 => {
                *budget -= 4;
                Statement::Access(self.access())
            }
            55..=62 => self.through(budget),
            63..=74 if depth > 0 => self.condition(budget, depth - 1),
            75..=81 if depth > 0 => self.repeat(budget, depth - 1),
            82..=84 if depth > 0 => {
                *budget -= 6;
                let cases = 1 << self.random.gen_range(1..3);
                let selector = self.register();
                let cases = (0..cases).map(|_| self.block(budget, depth - 1)).collect();
                Statement::Switch { selector, cases }
            }
            85..=91 => self.call(budget),
            92..=94 => {
                *budget -= 2;
                Statement::Hop { link: self.link(), indirect: self.random.gen() }
            }
            95..=97 if self.features.faults => {
                *budget -= 4;
                let (register, kind) = (self.register(), self.fault());
                Statement::Fault { register, mask: self.pick(&[7, 15, 31, 0xff]), kind }
            }
            98..=99 if self.features.atomics => {
                *budget -= 4;
                Statement::Atomic(self.atomic())
            }
            _ => self.run(budget),
        }
    }

    fn run(&mut self, budget: &mut i64) -> Statement {
        let count = self.random.gen_range(1..9);
        *budget -= i64::from(count) + 1;
        let mut instructions: Vec<_> = (0..count).map(|_| self.instruction()).collect();
        if self.features.network && self.features.atomics && self.random.gen_ratio(1, 8) {
            *budget -= 2;
            self.wait(&mut instructions);
        }
        // Behind the last jump of a run, nobody needs its address any more.
        match instructions.last_mut() {
            Some(last) if last.rd != 0 && self.random.gen_ratio(1, 6) => last.rd = HELP,
            _ => {}
        }
        Statement::Run(instructions)
    }

    /// A look at a private word in front of these instructions, and behind them a wait for a write
    /// into its line: the warp sleeps if it has not written there meanwhile. Long waits are rare,
    /// since they take thousands of cycles.
    fn wait(&mut self, instructions: &mut Vec<Instruction>) {
        let (rd, order) = (self.destination(), self.random.gen_range(0..4));
        let look = Instruction { op: Op::AmoorW, rd, rs1: PRIVATE, rs2: 0, immediate: order };
        let op = if self.random.gen_ratio(1, 8) { Op::WrsNto } else { Op::WrsSto };
        instructions.insert(0, look);
        instructions.push(Instruction { op, rd: 0, rs1: 0, rs2: 0, immediate: 0 });
    }

    /// Any instruction that can stand in a run.
    fn instruction(&mut self) -> Instruction {
        let mut classes = vec![
            Class::Alu,
            Class::Alu,
            Class::Alu,
            Class::Alu,
            Class::Alu,
            Class::Mul,
            Class::Div,
            Class::Load,
            Class::Load,
            Class::Store,
            Class::Branch,
            Class::Jump,
            Class::Jalr,
            Class::Csr,
            Class::Fence,
        ];
        if self.features.atomics {
            classes.push(Class::Atomic);
        }
        let class = self.pick(&classes);
        let isa = self.features.isa();
        let rows: Vec<_> =
            ENCODINGS.iter().filter(|row| isa.has(row.extension) && row.op.class() == class).collect();
        if rows.is_empty() {
            return self.instruction();
        }
        let row = self.pick(&rows);
        let none = Instruction { op: row.op, rd: 0, rs1: 0, rs2: 0, immediate: 0 };
        let (rd, rs1, rs2) = (self.destination(), self.source(), self.source());
        match row.format {
            Format::Register => Instruction { rd, rs1, rs2, ..none },
            Format::Unary => Instruction { rd, rs1, ..none },
            Format::Immediate => {
                let any = self.random.gen_range(-2048..2048);
                Instruction { rd, rs1, immediate: self.pick(&[any, any, -1, 0, 1, 2047, -2048]), ..none }
            }
            Format::Shift => Instruction { rd, rs1, immediate: self.random.gen_range(0..32), ..none },
            Format::Upper => Instruction { rd, immediate: self.random.gen::<i32>() & !0xfff, ..none },
            Format::Byte => Instruction { rd, rs1, rs2, immediate: self.random.gen_range(0..4), ..none },
            Format::Branch => Instruction { rs1, rs2, ..none },
            Format::Jump => Instruction { rd, ..none },
            Format::Csr | Format::CsrImmediate => Instruction { rd, immediate: self.csr(), ..none },
            Format::Atomic | Format::Reserve => {
                // Only its value tells whether sc.w stored; amocas.w reads the register.
                let kept = (row.op == Op::ScW && rd == 0) || row.op == Op::AmocasW;
                let rd = if kept { self.register() } else { rd };
                let rs2 = if row.format == Format::Atomic { rs2 } else { 0 };
                Instruction { rd, rs1: PRIVATE, rs2, immediate: self.random.gen_range(0..4), ..none }
            }
            Format::Fence => {
                Instruction { immediate: self.pick(&[0xff, 0x33, 0x31, 0x0f, 0x833, 0x00]), ..none }
            }
            Format::Indirect if row.op == Op::Jalr => Instruction { rd, rs1: HELP, ..none },
            Format::Indirect => {
                let immediate = self.private_offset(row.op.access_bytes()) as i32;
                Instruction { rd, rs1: PRIVATE, immediate, ..none }
            }
            Format::Store => {
                let immediate = self.private_offset(row.op.access_bytes()) as i32;
                Instruction { rs1: PRIVATE, rs2, immediate, ..none }
            }
            Format::None => none,
        }
    }

    fn csr(&mut self) -> i32 {
        let mut numbers = vec![0xcc0, 0xcc1, 0xcc2, 0xcc3, 0xcc4, 0xcc5, 0xcc6];
        if self.features.instret {
            numbers.extend([0xc02, 0xc82]);
        }
        if self.features.cycle {
            numbers.extend([0xc00, 0xc80]);
        }
        if self.features.network {
            // In every second place: nothing else shows it.
            numbers.extend([0xccb; 8]);
        }
        self.pick(&numbers)
    }

    fn private_offset(&mut self, bytes: u32) -> u32 {
        // The first bytes are used most, so that loads meet stores.
        let most = if self.random.gen() { 16 } else { PRIVATE_BYTES };
        self.random.gen_range(0..most / bytes) * bytes
    }

    fn access(&mut self) -> Access {
        let mut areas = vec![Area::Private, Area::Private, Area::Table, Area::Word, Area::Word, Area::Byte];
        if self.features.scratchpad {
            areas.extend([Area::Scratchpad, Area::Scratchpad]);
        }
        if self.features.local_window {
            areas.extend([Area::Stack, Area::Stack]);
        }
        let area = self.pick(&areas);
        let fits = |op: Op, load: bool| {
            let class = if load { Class::Load } else { Class::Store };
            op.class() == class && op.access_bytes() <= area.bytes()
        };
        let load = area == Area::Table || self.random.gen();
        let ops: Vec<Op> = Op::ALL.iter().copied().filter(|op| fits(*op, load)).collect();
        let op = self.pick(&ops);
        let bytes = op.access_bytes();
        // Offsets are signed 12 bits; the whole table is.
        let offset = self.random.gen_range(0..area.bytes() / bytes) * bytes;
        let index = self.random.gen_ratio(1, 3).then(|| self.register());
        let register = if load { self.destination() } else { self.source() };
        Access { op, register, area, index, offset }
    }

    fn atomic(&mut self) -> Atomic {
        let offset = self.private_offset(4);
        let place = self.pick(&[
            AtomicPlace::Private(offset),
            AtomicPlace::Private(offset),
            AtomicPlace::Word,
            AtomicPlace::Word,
            AtomicPlace::Counter,
        ]);
        let (rs2, order) = (self.source(), self.random.gen_range(0..4));
        if place == AtomicPlace::Counter {
            return Atomic { op: Op::AmoaddW, rd: 0, rs2, place, order };
        }
        let op = self.atomic_op();
        let rd = if matches!(op, Op::ScW | Op::AmocasW) { self.register() } else { self.destination() };
        let rs2 = if op == Op::LrW { 0 } else { rs2 };
        Atomic { op, rd, rs2, place, order }
    }

    fn atomic_op(&mut self) -> Op {
        let isa = self.features.isa();
        let there = |op: &Op| op.class() == Class::Atomic && isa.has(op.encoding().extension);
        let ops: Vec<Op> = Op::ALL.iter().copied().filter(there).collect();
        self.pick(&ops)
    }

    fn through(&mut self, budget: &mut i64) -> Statement {
        *budget -= 6;
        let mut classes = vec![Class::Alu, Class::Load, Class::Csr, Class::Jump, Class::Jalr];
        if self.features.m {
            classes.extend([Class::Mul, Class::Div]);
        }
        if self.features.atomics {
            classes.push(Class::Atomic);
        }
        let offset = self.private_offset(4);
        let register = self.register();
        let target = match self.random.gen_range(0..3) {
            0 => Target::Load(register, offset),
            1 => Target::Store(register, offset),
            _ => Target::Jump(self.link()),
        };
        Statement::Through { via: self.pick(&classes), gap: self.random.gen_range(0..3), target }
    }

    fn condition(&mut self, budget: &mut i64, depth: u32) -> Statement {
        *budget -= 2;
        let op = self.pick(&[Op::Beq, Op::Bne, Op::Blt, Op::Bge, Op::Bltu, Op::Bgeu]);
        let (rs1, rs2) = (self.source(), self.source());
        let then = self.block(budget, depth);
        let otherwise = if self.random.gen() { self.block(budget, depth) } else { Block::new() };
        Statement::If { op, rs1, rs2, then, otherwise }
    }

    fn repeat(&mut self, budget: &mut i64, depth: u32) -> Statement {
        let trips = match self.random.gen_range(0..3) {
            0 => Trips::Fixed(self.random.gen_range(1..5)),
            _ => Trips::Masked(self.register(), self.pick(&[1, 3, 7])),
        };
        let most = i64::from(trips.most());
        // What the body costs is paid once a trip.
        let mut share = *budget / most;
        let before = share;
        let body = self.block(&mut share, depth);
        *budget -= (before - share + 2) * most + 6;
        Statement::Loop { trips, body }
    }

    fn call(&mut self, budget: &mut i64) -> Statement {
        let affordable: Vec<_> =
            self.functions.iter().copied().filter(|(_, cost)| *cost <= *budget).collect();
        if affordable.is_empty() {
            return self.run(budget);
        }
        let (function, cost) = self.pick(&affordable);
        *budget -= cost;
        Statement::Call { function, indirect: self.random.gen() }
    }

    fn fault(&mut self) -> FaultKind {
        let access = self.pick(&[Op::Lh, Op::Lw, Op::Lhu, Op::Sh, Op::Sw]);
        let any_access = self.pick(&[Op::Lb, Op::Lw, Op::Sb, Op::Sw]);
        let illegal = self.illegal();
        let gap = self.random.gen_range(0..3);
        let mut kinds = vec![
            FaultKind::MisalignedJump,
            FaultKind::MisalignedBranch,
            FaultKind::MisalignedJalr,
            FaultKind::MisalignedCsr(gap),
            FaultKind::FetchOutside,
            FaultKind::Illegal(illegal),
            FaultKind::Illegal(illegal),
            FaultKind::Breakpoint,
            FaultKind::EnvironmentCall,
            FaultKind::MisalignedAccess(access),
            FaultKind::MisalignedAccess(access),
        ];
        if self.features.windows {
            kinds.extend([FaultKind::AccessOutside(any_access); 2]);
        }
        if self.features.local_window {
            kinds.extend([true, false].map(|below| FaultKind::BeyondStack(any_access, below)));
        }
        if self.features.atomics {
            let op = self.atomic_op();
            kinds.push(FaultKind::MisalignedAccess(op));
            if self.features.windows {
                kinds.push(FaultKind::AccessOutside(op));
            }
            if self.features.scratchpad {
                kinds.push(FaultKind::ScratchpadAtomic(op));
            }
        }
        self.pick(&kinds)
    }

    /// A word that is no instruction: often one that nearly is.
    fn illegal(&mut self) -> u32 {
        let isa = self.features.isa();
        loop {
            let word = match self.random.gen_range(0..3) {
                0 => self.random.gen(),
                1 => self.instruction().encode() ^ 1 << self.random.gen_range(0..32),
                // Legal elsewhere, such as a multiplication without M.
                _ => {
                    let row = self.pick(ENCODINGS);
                    row.value | self.random.gen::<u32>() & !row.mask
                }
            };
            if Instruction::decode(word, &isa).is_none() {
                return word;
            }
        }
    }
}
