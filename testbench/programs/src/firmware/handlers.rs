//! Whether what a program names as a handler is one: of a user-level interrupt what ends with
//! ERETURN, of an interrupt or exception of machine mode what returns to the library.
//!
//! Constants are followed through each function to its EMONITOR instructions and its calls of the
//! library, and from the handler that one names all paths to their ends. Nothing is run.

use std::collections::{HashMap, HashSet};

use crate::isa::{Class, Instruction, Isa, Op};
use crate::kernel::{Executable, Symbol};

const RA: u8 = 1;
/// Registers that a called function may change: `ra`, `t0` to `t6`, `a0` to `a7`.
const CHANGED: [usize; 16] = [1, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31];
/// Opcodes that only a hart has in full: `fence`, custom-0, atomic operations, SYSTEM.
const FENCE: u32 = 0x0f;
const CUSTOM_0: u32 = 0x0b;
const ATOMIC: u32 = 0x2f;
const SYSTEM: u32 = 0x73;
const ERETURN: u32 = 0x0000_100b;
const MRET: u32 = 0x3020_0073;
/// The CSR whose bit 0 blocks user-level interrupts.
const ULICTL: u32 = 0x801;
/// Instructions that are looked at; more take too long, and nothing is found then.
const MOST_VISITS: usize = 2_000_000;

/// Where a program names a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Naming {
    /// The address of the instruction.
    pub pc: u32,
    /// Who calls the handler.
    pub caller: Caller,
    /// The handler; `None` if only a run can tell.
    pub handler: Option<u32>,
}

/// Who calls a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// The hart, at an event of a channel that EMONITOR arms.
    Channel,
    /// The library, at an interrupt or exception of machine mode.
    Library(&'static str),
}

/// The functions of the library that take a handler, and the register in which.
const TAKERS: [(&str, usize); 2] = [("interrupt_handle", 11), ("exception_handle", 10)];

/// Why an address is not that of a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoHandler {
    /// The firmware has no instruction there.
    NoCode,
    /// It ends only with this instruction, the first at this address.
    Ends(&'static str, u32),
}

/// Where `executable` names handlers, ascending.
pub(super) fn namings(executable: &Executable) -> Vec<Naming> {
    let mut left = MOST_VISITS;
    let mut found: Vec<_> =
        starts(executable).flat_map(|(first, end)| follow(executable, first, end, &mut left)).collect();
    // A label may be in the middle of a function, where less is known.
    found.sort_by_key(|naming| (naming.pc, naming.handler.is_none()));
    found.dedup_by_key(|naming| naming.pc);
    found
}

/// Why there is no handler for `caller` at `address`; `None` if there is one, or if that cannot be
/// told.
pub(super) fn no_handler(executable: &Executable, caller: Caller, address: u32) -> Option<NoHandler> {
    if executable.word(address).is_none() {
        return Some(NoHandler::NoCode);
    }
    let Ends { returns, from_trap, from_event } = Ends::of(executable, address)?;
    let returns = returns.map(|pc| NoHandler::Ends("`ret`", pc));
    let from_trap = from_trap.map(|pc| NoHandler::Ends("`mret`", pc));
    let from_event = from_event.map(|pc| NoHandler::Ends("ERETURN", pc));
    match caller {
        Caller::Channel if from_event.is_none() => returns.or(from_trap),
        Caller::Library(_) if returns.is_none() => from_event.or(from_trap),
        _ => None,
    }
}

/// How paths through a function end, each with the address of an instruction that ends one.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    /// `ret`.
    returns: Option<u32>,
    /// `mret`.
    from_trap: Option<u32>,
    /// ERETURN, also in functions that it calls.
    from_event: Option<u32>,
}

impl Ends {
    /// Those of the function at `address`; `None` if they cannot be told, or if it says itself what
    /// is blocked, and so may go on as it likes.
    fn of(executable: &Executable, address: u32) -> Option<Self> {
        let sized = |at: u32| executable.symbols.iter().find(|symbol| is_function_at(symbol, at));
        let function = |at: u32| sized(at).map(|symbol| symbol.address);
        // Behind the last instruction of a function that never ends another function begins.
        let goes_on = |pc: u32| function(pc) == function(pc.wrapping_add(4));
        let (mut seen, mut paths, mut ends) = (HashSet::new(), vec![(address, true)], Self::default());
        while let Some((pc, own)) = paths.pop() {
            if !seen.insert(pc) {
                continue;
            }
            let Some(word) = executable.word(pc) else { continue };
            if seen.len() > MOST_VISITS || writes_block(word) {
                return None;
            }
            let step = Step::of(executable, pc, word);
            match step {
                Step::Event => ends.from_event = ends.from_event.or(Some(pc)),
                Step::Trap if own => ends.from_trap = ends.from_trap.or(Some(pc)),
                Step::Return if own => ends.returns = ends.returns.or(Some(pc)),
                Step::Unknown => return None,
                Step::Jump(target) | Step::Branch(target) => paths.push((target, own)),
                Step::Call(target) => paths.extend(target.map(|target| (target, false))),
                Step::Trap | Step::Return | Step::Nothing | Step::Next => {}
            }
            if step.goes_on() && goes_on(pc) {
                paths.push((pc.wrapping_add(4), own));
            }
        }
        Some(ends)
    }
}

/// Where functions and labels of assembly begin and end.
fn starts(executable: &Executable) -> impl Iterator<Item = (u32, u32)> + '_ {
    let code = |symbol: &&Symbol| symbol.is_place() && (symbol.is_function || symbol.size == 0);
    let symbols = executable.symbols.iter();
    let next = |address| executable.symbols.iter().map(|s| s.address).find(|next| *next > address);
    symbols.filter(code).map(move |symbol| match symbol.size {
        0 => (symbol.address, next(symbol.address).unwrap_or(u32::MAX)),
        size => (symbol.address, symbol.address.saturating_add(size)),
    })
}

/// Whether `symbol` is a function whose bytes are told, and `address` is one of them.
fn is_function_at(symbol: &Symbol, address: u32) -> bool {
    let offset = address.checked_sub(symbol.address);
    symbol.is_function && offset.is_some_and(|offset| offset < symbol.size)
}

/// Whether `word` writes the CSR that blocks user-level interrupts.
fn writes_block(word: u32) -> bool {
    word & 0x7f == SYSTEM && word >> 12 & 7 != 0 && word >> 20 == ULICTL
}

/// The instructions of `word` that an array's lane has, too.
fn decode(word: u32) -> Option<Instruction> {
    Instruction::decode(word, &Isa::EVERYTHING)
}

/// What comes behind an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The next one.
    Next,
    /// The next one, or another.
    Branch(u32),
    /// Another one.
    Jump(u32),
    /// A function, if it is known, then the next one.
    Call(Option<u32>),
    /// The caller.
    Return,
    /// What a trap interrupted.
    Trap,
    /// What a user-level interrupt interrupted.
    Event,
    /// Only a run can tell.
    Unknown,
    /// It is no instruction.
    Nothing,
}

impl Step {
    /// Whether the next instruction is among those behind it.
    fn goes_on(self) -> bool {
        matches!(self, Self::Next | Self::Branch(_) | Self::Call(_))
    }

    fn of(executable: &Executable, pc: u32, word: u32) -> Self {
        match word {
            MRET => return Self::Trap,
            ERETURN => return Self::Event,
            _ => {}
        }
        let Some(Instruction { op, rd, rs1, immediate, .. }) = decode(word) else {
            return if [FENCE, CUSTOM_0, ATOMIC, SYSTEM].contains(&(word & 0x7f)) {
                Self::Next
            } else {
                Self::Nothing
            };
        };
        let there = pc.wrapping_add(immediate as u32);
        match op.class() {
            Class::Branch => Self::Branch(there),
            Class::Jump if rd == 0 => Self::Jump(there),
            Class::Jump => Self::Call(Some(there)),
            Class::Jalr => {
                // Behind `auipc` of the same register: a far call or jump.
                let before = executable.word(pc.wrapping_sub(4)).and_then(decode);
                let base = before.filter(|before| before.op == Op::Auipc && before.rd == rs1);
                let target = base.map(|base| {
                    pc.wrapping_sub(4).wrapping_add(base.immediate as u32).wrapping_add(immediate as u32) & !1
                });
                match (rd, target) {
                    (0, Some(target)) => Self::Jump(target),
                    (0, None) if rs1 == RA => Self::Return,
                    (0, None) => Self::Unknown,
                    (_, target) => Self::Call(target),
                }
            }
            _ => Self::Next,
        }
    }
}

/// Constants in registers, where they are known.
type Registers = [Option<u32>; 32];

/// Where the function from `first` up to `end` names handlers, by the constants that get there on
/// every path.
fn follow(executable: &Executable, first: u32, end: u32, left: &mut usize) -> Vec<Naming> {
    let taker = |(name, register)| Some((executable.symbol(name).ok()?.address, (name, register)));
    let takers: Vec<_> = TAKERS.into_iter().filter_map(taker).collect();
    let mut start = [None; 32];
    start[0] = Some(0);
    let mut known: HashMap<u32, Registers> = HashMap::new();
    let mut paths = vec![(first, start)];
    while let Some((pc, mut registers)) = paths.pop() {
        if pc < first || pc >= end {
            continue;
        }
        if let Some(before) = known.get(&pc) {
            let both = std::array::from_fn(|n| before[n].filter(|value| registers[n] == Some(*value)));
            if both == *before {
                continue;
            }
            registers = both;
        }
        let Some(word) = executable.word(pc) else { continue };
        let Some(rest) = left.checked_sub(1) else { return Vec::new() };
        *left = rest;
        known.insert(pc, registers);
        let step = Step::of(executable, pc, word);
        if let Step::Branch(target) | Step::Jump(target) = step {
            paths.push((target, registers));
        }
        if let Step::Call(_) = step {
            CHANGED.into_iter().for_each(|number| registers[number] = None);
        } else if let Some((rd, value)) = result(pc, word, &registers).filter(|(rd, _)| *rd != 0) {
            registers[rd] = value;
        }
        if step.goes_on() {
            paths.push((pc.wrapping_add(4), registers));
        }
    }
    let namings = known.into_iter().filter_map(|(pc, registers)| {
        let word = executable.word(pc)?;
        // custom-0, function 0; the scenario is bits 31:28, and 0 disarms.
        if word & 0x7f == CUSTOM_0 && word >> 12 & 7 == 0 && word >> 28 != 0 {
            let handler = registers[(word >> 15 & 31) as usize];
            return Some(Naming { pc, caller: Caller::Channel, handler });
        }
        let (Step::Call(Some(target)) | Step::Jump(target)) = Step::of(executable, pc, word) else {
            return None;
        };
        let (_, (name, register)) = takers.iter().find(|(address, _)| *address == target)?;
        // Without a handler it is switched off.
        let handler = registers[*register].filter(|handler| *handler != 0)?;
        Some(Naming { pc, caller: Caller::Library(name), handler: Some(handler) })
    });
    namings.collect()
}

/// The register that the instruction at `pc` writes, and the value, if it is known.
fn result(pc: u32, word: u32, registers: &Registers) -> Option<(usize, Option<u32>)> {
    let Some(instruction) = decode(word) else { return Some(((word >> 7 & 31) as usize, None)) };
    let Instruction { op, rd, rs1, rs2, immediate } = instruction;
    let (a, b, immediate) = (registers[usize::from(rs1)], registers[usize::from(rs2)], immediate as u32);
    let value = match op {
        Op::Lui => Some(immediate),
        Op::Auipc => Some(pc.wrapping_add(immediate)),
        Op::Addi => a.map(|a| a.wrapping_add(immediate)),
        Op::Add => a.zip(b).map(|(a, b)| a.wrapping_add(b)),
        _ => None,
    };
    Some((rd.into(), value))
}
