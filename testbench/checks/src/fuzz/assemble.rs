//! Programs to machine words.

use super::program::{
    Access, Area, Atomic, AtomicPlace, Block, FaultKind, Function, Program, Statement, Target, Trips, A0,
    ADDRESS, BYTE, COUNTER, HELP, LINK, PRIVATE, PRIVATE_BYTES, PRIVATE_OFFSET, RA, SCRATCHPAD_PART, SP,
    STACK_BYTES, TABLE, WORD,
};
use crate::iss::{Class, Instruction, Op, SCRATCHPAD_BASE};

/// Largest distance of a branch that is coded with a branch alone.
const NEAR: usize = 1000;
/// Bytes of a frame on the stack.
const FRAME: i32 = 16;
/// Number of the CSR with the lane.
const LANE: i32 = 0xcc1;
/// Number of the CSR with the warp slot.
const SLOT: i32 = 0xcc2;
/// Number of the CSR with the address of the argument block, a multiple of 64.
const ARGUMENT: i32 = 0xcc5;
/// Number of the CSR with the address behind the stack.
const STACK_TOP: i32 = 0xcc6;
/// Number of the CSR with the address of the packet's slot.
const PACKET_SLOT: i32 = 0xcc4;

/// A word of code. Words that stand for a call know their place only when all code is there.
#[derive(Clone, Copy, Debug)]
enum Item {
    Code(Instruction),
    Word(u32),
    /// `jal link, function`
    Call(usize, u8),
    /// `auipc ADDRESS`: the upper part of the distance to a function.
    Upper(usize),
    /// `addi ADDRESS, ADDRESS`: its lower part, one word behind the upper.
    Lower(usize),
}

type Code = Vec<Item>;

const fn code(op: Op, rd: u8, rs1: u8, rs2: u8, immediate: i32) -> Item {
    Item::Code(Instruction { op, rd, rs1, rs2, immediate })
}

const fn add_immediate(rd: u8, rs1: u8, immediate: i32) -> Item {
    code(Op::Addi, rd, rs1, 0, immediate)
}

const fn add(rd: u8, rs1: u8, rs2: u8) -> Item {
    code(Op::Add, rd, rs1, rs2, 0)
}

const fn load_word(rd: u8, rs1: u8, offset: i32) -> Item {
    code(Op::Lw, rd, rs1, 0, offset)
}

const fn store_word(rs2: u8, rs1: u8, offset: i32) -> Item {
    code(Op::Sw, 0, rs1, rs2, offset)
}

/// A jump of so many words.
const fn jump(words: usize) -> Item {
    code(Op::Jal, 0, 0, 0, 4 * words as i32)
}

/// A word that must not be executed.
const TRAP: Item = code(Op::Ebreak, 0, 0, 0, 0);

fn constant(rd: u8, value: u32) -> Code {
    let low = (value << 20) as i32 >> 20;
    let high = value.wrapping_sub(low as u32);
    if high == 0 {
        return vec![add_immediate(rd, 0, low)];
    }
    let mut items = vec![code(Op::Lui, rd, 0, 0, high as i32)];
    if low != 0 {
        items.push(add_immediate(rd, rd, low));
    }
    items
}

/// The words of `program`, which can stand at any multiple of 4. The first is the kernel's entry.
pub fn assemble(program: &Program) -> Vec<u32> {
    let lowering = Lowering { program };
    let mut items = lowering.main();
    let mut starts = Vec::new();
    for function in &program.functions {
        starts.push(items.len());
        items.extend(lowering.function(function));
    }
    let distance = |position: usize, function: usize| 4 * (starts[function] as i32 - position as i32);
    let word = |(position, item): (usize, &Item)| match *item {
        Item::Code(instruction) => instruction.encode(),
        Item::Word(word) => word,
        Item::Call(function, link) => word_of(code(Op::Jal, link, 0, 0, distance(position, function))),
        Item::Upper(function) => {
            let distance = distance(position, function);
            word_of(code(Op::Auipc, ADDRESS, 0, 0, distance.wrapping_sub(distance << 20 >> 20)))
        }
        Item::Lower(function) => {
            let distance = distance(position - 1, function);
            word_of(add_immediate(ADDRESS, ADDRESS, distance << 20 >> 20))
        }
    };
    items.iter().enumerate().map(word).collect()
}

fn word_of(item: Item) -> u32 {
    match item {
        Item::Code(instruction) => instruction.encode(),
        _ => unreachable!("only calls have other items"),
    }
}

struct Lowering<'a> {
    program: &'a Program,
}

impl Lowering<'_> {
    /// Prologue, body, and an epilogue that dumps the registers and makes a verdict of them.
    fn main(&self) -> Code {
        let registers = &self.program.registers;
        let mut items = vec![
            add_immediate(SP, SP, -FRAME),
            store_word(RA, SP, 0),
            add_immediate(PRIVATE, PRIVATE, PRIVATE_OFFSET as i32),
            code(Op::Slli, ADDRESS, A0, 0, 2),
            add(WORD, TABLE, ADDRESS),
            add_immediate(WORD, WORD, Program::WORDS as i32),
        ];
        items.extend(constant(ADDRESS, self.program.bytes_offset()));
        items.push(add(BYTE, TABLE, ADDRESS));
        items.push(add(BYTE, BYTE, A0));
        items.push(add_immediate(COUNTER, 0, 0));
        items.push(add_immediate(LINK, 0, 0));
        for (position, register) in (0..).zip(registers) {
            items.push(load_word(*register, PRIVATE, 4 * position));
        }
        items.extend(self.block(&self.program.main));
        for (position, register) in (0..).zip(registers) {
            items.push(store_word(*register, PRIVATE, PRIVATE_BYTES as i32 + 4 * position));
        }
        for register in registers.iter().filter(|register| **register != A0) {
            items.push(code(Op::Xor, A0, A0, *register, 0));
        }
        items.extend([load_word(RA, SP, 0), add_immediate(SP, SP, FRAME), code(Op::Jalr, 0, RA, 0, 0)]);
        items
    }

    fn function(&self, function: &Function) -> Code {
        let body = self.block(&function.body);
        let ret = code(Op::Jalr, 0, function.link, 0, 0);
        if !links(&function.body) {
            return body.into_iter().chain([ret]).collect();
        }
        let mut items = vec![add_immediate(SP, SP, -FRAME), store_word(RA, SP, 0), store_word(LINK, SP, 4)];
        items.extend(body);
        items.extend([load_word(RA, SP, 0), load_word(LINK, SP, 4), add_immediate(SP, SP, FRAME), ret]);
        items
    }

    fn block(&self, block: &Block) -> Code {
        block.iter().flat_map(|statement| self.statement(statement)).collect()
    }

    fn statement(&self, statement: &Statement) -> Code {
        match statement {
            Statement::Run(instructions) => run(instructions),
            Statement::Constant(register, value) => constant(*register, *value),
            Statement::Access(access) => self.access(access),
            Statement::Atomic(atomic) => self.atomic(atomic),
            Statement::Through { via, gap, target } => through(*via, *gap, *target),
            Statement::If { op, rs1, rs2, then, otherwise } => {
                self.condition(*op, *rs1, *rs2, then, otherwise)
            }
            Statement::Loop { trips, body } => self.repeat(*trips, body),
            Statement::Switch { selector, cases } => self.switch(*selector, cases),
            Statement::Call { function, indirect } => {
                let link = self.program.functions[*function].link;
                if *indirect {
                    let call = code(Op::Jalr, link, ADDRESS, 0, 0);
                    vec![Item::Upper(*function), Item::Lower(*function), call]
                } else {
                    vec![Item::Call(*function, link)]
                }
            }
            Statement::Hop { link, indirect: false } => vec![code(Op::Jal, *link, 0, 0, 8), TRAP],
            Statement::Hop { link, indirect: true } => {
                vec![code(Op::Auipc, ADDRESS, 0, 0, 0), code(Op::Jalr, *link, ADDRESS, 0, 12), TRAP]
            }
            Statement::Fault { register, mask, kind } => {
                let fault = fault(*kind);
                let over = 4 * (fault.len() as i32 + 1);
                let mut items = vec![
                    code(Op::Andi, ADDRESS, *register, 0, i32::from(*mask)),
                    code(Op::Bne, 0, ADDRESS, 0, over),
                ];
                items.extend(fault);
                items
            }
        }
    }

    fn access(&self, access: &Access) -> Code {
        let Access { op, register, area, index, offset } = *access;
        let base = match area {
            Area::Private => PRIVATE,
            Area::Table => TABLE,
            Area::Word => WORD,
            Area::Byte => BYTE,
            Area::Scratchpad | Area::Stack => ADDRESS,
        };
        let mut items = Code::new();
        if area == Area::Scratchpad {
            let part = SCRATCHPAD_PART.trailing_zeros();
            items.extend([
                code(Op::Csrrs, ADDRESS, 0, 0, SLOT),
                code(Op::Slli, ADDRESS, ADDRESS, 0, self.program.lanes_log2 as i32),
                code(Op::Csrrs, HELP, 0, 0, LANE),
                add(ADDRESS, ADDRESS, HELP),
                code(Op::Slli, ADDRESS, ADDRESS, 0, part as i32),
                code(Op::Lui, HELP, 0, 0, SCRATCHPAD_BASE as i32),
                add(ADDRESS, ADDRESS, HELP),
            ]);
        }
        if area == Area::Stack {
            items.extend([
                code(Op::Csrrs, ADDRESS, 0, 0, STACK_TOP),
                add_immediate(ADDRESS, ADDRESS, -(STACK_BYTES as i32)),
            ]);
        }
        let (mut base, mut offset) = (base, offset as i32);
        if let Some(index) = index {
            // The index replaces the offset: a multiple of the size inside the area.
            let mask = (area.bytes() - 1) & !(op.access_bytes() - 1);
            items.push(code(Op::Andi, HELP, index, 0, mask as i32));
            items.push(add(ADDRESS, HELP, base));
            (base, offset) = (ADDRESS, 0);
        }
        items.push(match op.class() {
            Class::Load => code(op, register, base, 0, offset),
            _ => code(op, 0, base, register, offset),
        });
        items
    }

    fn atomic(&self, atomic: &Atomic) -> Code {
        let Atomic { op, rd, rs2, place, order } = *atomic;
        let mut items = match place {
            AtomicPlace::Private(offset) => vec![add_immediate(ADDRESS, PRIVATE, offset as i32)],
            AtomicPlace::Word => vec![add_immediate(ADDRESS, WORD, 0)],
            AtomicPlace::Counter => {
                let mut items = constant(ADDRESS, self.program.counter_offset());
                items.push(add(ADDRESS, ADDRESS, TABLE));
                items
            }
        };
        // Often what amocas.w compares with is there.
        if op == Op::AmocasW && rd % 2 == 0 {
            items.push(load_word(rd, ADDRESS, 0));
        }
        items.push(code(op, rd, ADDRESS, rs2, order.into()));
        items
    }

    fn condition(&self, op: Op, rs1: u8, rs2: u8, then: &Block, otherwise: &Block) -> Code {
        let (mut then, otherwise) = (self.block(then), self.block(otherwise));
        if !otherwise.is_empty() {
            then.push(jump(otherwise.len() + 1));
        }
        let branch = |words: usize| code(op, 0, rs1, rs2, 4 * words as i32);
        let mut items = if then.len() < NEAR {
            vec![branch(then.len() + 1)]
        } else {
            vec![branch(2), jump(2), jump(then.len() + 1)]
        };
        items.extend(then);
        items.extend(otherwise);
        items
    }

    fn repeat(&self, trips: Trips, body: &Block) -> Code {
        let mut items = vec![add_immediate(SP, SP, -FRAME), store_word(COUNTER, SP, 0)];
        match trips {
            Trips::Fixed(trips) => items.push(add_immediate(COUNTER, 0, i32::from(trips))),
            Trips::Masked(register, mask) => {
                items.push(code(Op::Andi, COUNTER, register, 0, i32::from(mask)));
                items.push(add_immediate(COUNTER, COUNTER, 1));
            }
        }
        let body = self.block(body);
        let length = body.len() as i32 + 1;
        items.extend(body);
        items.push(add_immediate(COUNTER, COUNTER, -1));
        if length < NEAR as i32 {
            items.push(code(Op::Bne, 0, COUNTER, 0, -4 * length));
        } else {
            items.push(code(Op::Beq, 0, COUNTER, 0, 8));
            items.push(code(Op::Jal, 0, 0, 0, -4 * (length + 1)));
        }
        items.extend([load_word(COUNTER, SP, 0), add_immediate(SP, SP, FRAME)]);
        items
    }

    fn switch(&self, selector: u8, cases: &[Block]) -> Code {
        let mut cases: Vec<Code> = cases.iter().map(|case| self.block(case)).collect();
        let mut items = vec![
            code(Op::Andi, ADDRESS, selector, 0, cases.len() as i32 - 1),
            code(Op::Slli, ADDRESS, ADDRESS, 0, 2),
            code(Op::Auipc, HELP, 0, 0, 0),
            add(ADDRESS, ADDRESS, HELP),
            code(Op::Jalr, 0, ADDRESS, 0, 12),
        ];
        // Every case but the last jumps to the end.
        let mut behind = 0;
        for case in cases.iter_mut().rev() {
            if behind > 0 {
                case.push(jump(behind + 1));
            }
            behind += case.len();
        }
        let mut start = cases.len();
        for (position, case) in cases.iter().enumerate() {
            items.push(jump(start - position));
            start += case.len();
        }
        items.extend(cases.into_iter().flatten());
        items
    }
}

/// Whether a block changes the registers for return addresses.
fn links(block: &Block) -> bool {
    block.iter().any(|statement| {
        let here = match statement {
            Statement::Call { .. } => true,
            Statement::Hop { link, .. } => matches!(*link, RA | LINK),
            Statement::Through { target: Target::Jump(link), .. } => matches!(*link, RA | LINK),
            Statement::Run(instructions) => instructions.iter().any(Instruction::is_call),
            _ => false,
        };
        here || statement.blocks().any(links)
    })
}

fn run(instructions: &[Instruction]) -> Code {
    let needs_address = instructions.iter().any(|instruction| instruction.op == Op::Jalr);
    let first = code(Op::Auipc, HELP, 0, 0, 0);
    let mut items: Code = needs_address.then_some(first).into_iter().collect();
    for instruction in instructions {
        let next = 4 * (items.len() as i32 + 1);
        items.push(Item::Code(match instruction.op.class() {
            Class::Branch | Class::Jump => Instruction { immediate: 4, ..*instruction },
            Class::Jalr => Instruction { rs1: HELP, immediate: next, ..*instruction },
            _ => *instruction,
        }));
    }
    items
}

/// The address of the private bytes, or of the code after `target`, made by an instruction of class
/// `via`.
fn through(via: Class, gap: u8, target: Target) -> Code {
    // What the address is, before the instruction; distance of the code that it means.
    let mut items = Code::new();
    let for_code = matches!(target, Target::Jump(_)) || matches!(via, Class::Jump | Class::Jalr);
    let source = if for_code { ADDRESS } else { PRIVATE };
    if matches!(via, Class::Mul | Class::Div) {
        items.push(add_immediate(HELP, 0, 1));
    }
    let start = items.len();
    if for_code && via != Class::Jump {
        items.push(code(Op::Auipc, ADDRESS, 0, 0, 0));
    }
    // Words from `start` to what the address means.
    let mut reference = start;
    match via {
        Class::Mul => items.push(code(Op::Mul, ADDRESS, source, HELP, 0)),
        Class::Div => items.push(code(Op::Divu, ADDRESS, source, HELP, 0)),
        Class::Load => items.extend([store_word(source, SP, -4), load_word(ADDRESS, SP, -4)]),
        Class::Atomic => items.extend([
            store_word(source, SP, -4),
            add_immediate(HELP, SP, -4),
            code(Op::AmoorW, ADDRESS, HELP, 0, 0),
        ]),
        Class::Csr if !for_code => {
            items.push(code(Op::Csrrs, ADDRESS, 0, 0, PACKET_SLOT));
        }
        Class::Jump => {
            items.push(code(Op::Jal, ADDRESS, 0, 0, 4));
            reference = items.len();
        }
        Class::Jalr => {
            items.push(code(Op::Jalr, ADDRESS, ADDRESS, 0, 8));
            reference = items.len();
        }
        _ => items.push(add_immediate(ADDRESS, source, 0)),
    }
    items.extend((0..gap).map(|_| add_immediate(0, 0, 0)));
    let shift = if via == Class::Csr && !for_code { PRIVATE_OFFSET as i32 } else { 0 };
    items.push(match target {
        // Of code only loads are allowed; they read the instructions themselves.
        Target::Load(register, _) if for_code => load_word(register, ADDRESS, 0),
        Target::Load(register, offset) => load_word(register, ADDRESS, shift + offset as i32),
        Target::Store(_, offset) if for_code => store_word(ADDRESS, PRIVATE, offset as i32),
        Target::Store(register, offset) => store_word(register, ADDRESS, shift + offset as i32),
        Target::Jump(link) => {
            let distance = items.len() + 2 - reference;
            code(Op::Jalr, link, ADDRESS, 0, 4 * distance as i32)
        }
    });
    if matches!(target, Target::Jump(_)) {
        items.push(TRAP);
    }
    items
}

/// Instructions that fault.
fn fault(kind: FaultKind) -> Code {
    match kind {
        FaultKind::MisalignedJump => vec![code(Op::Jal, 0, 0, 0, 6)],
        FaultKind::MisalignedBranch => vec![code(Op::Beq, 0, 0, 0, 6)],
        // The sum is odd, the target is not.
        FaultKind::MisalignedJalr => {
            vec![code(Op::Auipc, ADDRESS, 0, 0, 0), code(Op::Jalr, LINK, ADDRESS, 0, 7)]
        }
        FaultKind::MisalignedCsr(gap) => {
            let mut items = vec![code(Op::Csrrs, ADDRESS, 0, 0, ARGUMENT)];
            items.extend((0..gap).map(|_| add_immediate(0, 0, 0)));
            items.push(code(Op::Jalr, LINK, ADDRESS, 0, 2));
            items
        }
        FaultKind::FetchOutside => {
            vec![code(Op::Lui, ADDRESS, 0, 0, i32::MIN), code(Op::Jalr, 0, ADDRESS, 0, 0)]
        }
        FaultKind::Illegal(word) => vec![Item::Word(word)],
        FaultKind::Breakpoint => vec![TRAP],
        FaultKind::EnvironmentCall => vec![code(Op::Ecall, 0, 0, 0, 0)],
        FaultKind::MisalignedAccess(op) => {
            vec![add_immediate(ADDRESS, PRIVATE, 1 - offset_of(op)), access_at(op, ADDRESS)]
        }
        FaultKind::AccessOutside(op) => {
            vec![code(Op::Lui, ADDRESS, 0, 0, 0x7fff_f000), access_at(op, ADDRESS)]
        }
        FaultKind::BeyondStack(op, below) => {
            // The first word above the stack, or the last one below it.
            let distance = if below { -(STACK_BYTES as i32) - 4 } else { 0 };
            vec![
                code(Op::Csrrs, ADDRESS, 0, 0, STACK_TOP),
                add_immediate(ADDRESS, ADDRESS, distance - offset_of(op)),
                access_at(op, ADDRESS),
            ]
        }
        FaultKind::ScratchpadAtomic(op) => {
            vec![code(Op::Lui, ADDRESS, 0, 0, SCRATCHPAD_BASE as i32), access_at(op, ADDRESS)]
        }
    }
}

/// A load, store or atomic operation of [`HELP`] at an address, [`offset_of`] it behind `base`.
fn access_at(op: Op, base: u8) -> Item {
    let offset = offset_of(op);
    match op.class() {
        Class::Load => code(op, HELP, base, 0, offset),
        Class::Atomic => code(op, HELP, base, if op == Op::LrW { 0 } else { HELP }, offset),
        _ => code(op, 0, base, HELP, offset),
    }
}

/// The offset of an access that faults: one that shows where it counts as that of a jump.
fn offset_of(op: Op) -> i32 {
    if op.class() == Class::Atomic {
        0
    } else {
        8
    }
}
