//! Programs as trees of statements, which always end and whose threads never read what others
//! write.
//!
//! Registers with a fixed use: [`RA`] and [`LINK`] return addresses, [`SP`] the stack, [`ADDRESS`]
//! and [`HELP`] inside a statement, [`COUNTER`] of the innermost loop, [`WORD`], [`BYTE`],
//! [`PRIVATE`] and [`TABLE`] the addresses of the areas. All others hold data.

use super::features::Features;
use crate::iss::{Class, Instruction, Op};

/// Return address.
pub const RA: u8 = 1;
/// Stack pointer.
pub const SP: u8 = 2;
/// The other register for return addresses.
pub const LINK: u8 = 5;
/// Addresses inside a statement.
pub const ADDRESS: u8 = 6;
/// Other values inside a statement.
pub const HELP: u8 = 7;
/// Trips that the innermost loop has left.
pub const COUNTER: u8 = 8;
/// The thread's word in a line that it shares with other lanes.
pub const WORD: u8 = 9;
/// The first argument, later data.
pub const A0: u8 = 10;
/// Bytes that only this thread uses: [`PRIVATE_BYTES`], in its packet's slot.
pub const PRIVATE: u8 = 11;
/// A table that all threads read: [`TABLE_BYTES`].
pub const TABLE: u8 = 12;
/// The thread's byte in a line that it shares with other lanes.
pub const BYTE: u8 = 13;
/// Registers for data; those above 15 only without RV32E.
pub const DATA: [u8; 21] = [3, 4, 10, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31];

/// Offset of the private bytes in the packet's slot.
pub const PRIVATE_OFFSET: u32 = 64;
/// Private bytes that statements use; the registers are dumped behind them at the end.
pub const PRIVATE_BYTES: u32 = 128;
/// Bytes of the table.
pub const TABLE_BYTES: u32 = 1024;
/// Stack bytes of a thread, a power of two: more than the deepest calls and loops need.
pub const STACK_BYTES: u32 = 1024;
/// Bytes of the stack that programs use beside their calls.
pub const STACK_PART: u32 = 64;
/// Bytes of a thread's part of the scratchpad: enough parts for 32 warps of 32 lanes.
pub const SCRATCHPAD_PART: u32 = 16;

/// A sequence of statements.
pub type Block = Vec<Statement>;

/// A step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Instructions back to back. Jumps and branches among them go to the next one, whatever their
    /// immediate.
    Run(Vec<Instruction>),
    /// `register` = `value`.
    Constant(u8, u32),
    /// A load or store.
    Access(Access),
    /// An atomic operation.
    Atomic(Atomic),
    /// A load, store or jump whose address comes from an instruction of class `via`, `gap`
    /// instructions before.
    Through {
        /// Class of the instruction that makes the address.
        via: Class,
        /// Instructions between the two.
        gap: u8,
        /// What uses the address.
        target: Target,
    },
    /// Lanes for which the condition holds execute `otherwise`, the others `then`.
    If {
        /// The branch.
        op: Op,
        /// First register compared.
        rs1: u8,
        /// Second register compared.
        rs2: u8,
        /// What lanes execute whose branch is not taken.
        then: Block,
        /// What lanes execute whose branch is taken.
        otherwise: Block,
    },
    /// A loop.
    Loop {
        /// How often.
        trips: Trips,
        /// What is repeated.
        body: Block,
    },
    /// One of the cases, chosen by the low bits of a register, through a jump table.
    Switch {
        /// The register.
        selector: u8,
        /// A power of two of cases.
        cases: Vec<Block>,
    },
    /// A call of a function with a higher number than that of the caller.
    Call {
        /// Number of the function.
        function: usize,
        /// Whether through `jalr`.
        indirect: bool,
    },
    /// A jump over a word that must not be executed.
    Hop {
        /// Register that gets the return address; [`RA`] makes it look like a call.
        link: u8,
        /// Whether through `jalr`.
        indirect: bool,
    },
    /// Lanes in which `register & mask` is 0 fault.
    Fault {
        /// The register.
        register: u8,
        /// Bits that decide.
        mask: u8,
        /// How they fault.
        kind: FaultKind,
    },
}

/// A load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The instruction.
    pub op: Op,
    /// Register loaded or stored.
    pub register: u8,
    /// Where.
    pub area: Area,
    /// Register that is added to the address, as far as the area allows.
    pub index: Option<u8>,
    /// Offset in the area; aligned and inside.
    pub offset: u32,
}

/// An atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// The instruction.
    pub op: Op,
    /// Register that gets the value; x0 at the counter, since others change it.
    pub rd: u8,
    /// Register with the operand.
    pub rs2: u8,
    /// Where.
    pub place: AtomicPlace,
    /// Bits `aq` and `rl`.
    pub order: u8,
}

/// A word of an atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicPlace {
    /// The word at this offset of the private bytes.
    Private(u32),
    /// The thread's word.
    Word,
    /// The word to which all threads add.
    Counter,
}

/// A part of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// The thread's private bytes.
    Private,
    /// The table; loads only.
    Table,
    /// The thread's word.
    Word,
    /// The thread's byte.
    Byte,
    /// The thread's part of the scratchpad.
    Scratchpad,
    /// The lowest bytes of the thread's stack in the local window, which calls do not reach.
    Stack,
}

impl Area {
    /// Its size.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Private => PRIVATE_BYTES,
            Self::Table => TABLE_BYTES,
            Self::Word => 4,
            Self::Byte => 1,
            Self::Scratchpad => SCRATCHPAD_PART,
            Self::Stack => STACK_PART,
        }
    }
}

/// What uses an address made by [`Statement::Through`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A load of the word at this offset of the private bytes, to a register.
    Load(u8, u32),
    /// A store of a register to the word at this offset of the private bytes.
    Store(u8, u32),
    /// A `jalr` that links to this register.
    Jump(u8),
}

/// How often a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trips {
    /// So often in every lane, at least once.
    Fixed(u8),
    /// Once more than `register & mask`.
    Masked(u8, u8),
}

impl Trips {
    /// Most trips.
    pub const fn most(self) -> u32 {
        match self {
            Self::Fixed(trips) => trips as u32,
            Self::Masked(_, mask) => mask as u32 + 1,
        }
    }
}

/// How a thread faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// `jal` to no multiple of 4.
    MisalignedJump,
    /// A taken branch to no multiple of 4.
    MisalignedBranch,
    /// `jalr` to no multiple of 4.
    MisalignedJalr,
    /// `jalr` to no multiple of 4, near an address that a CSR gave so many instructions before.
    MisalignedCsr(u8),
    /// A jump to an address without memory.
    FetchOutside,
    /// A word that is no instruction.
    Illegal(u32),
    /// `ebreak`
    Breakpoint,
    /// `ecall`
    EnvironmentCall,
    /// A load, store or atomic operation at an odd address.
    MisalignedAccess(Op),
    /// A load, store or atomic operation outside the windows.
    AccessOutside(Op),
    /// A load, store or atomic operation above or below (`true`) the stack in the local window.
    BeyondStack(Op, bool),
    /// An atomic operation in the scratchpad, which has none.
    ScratchpadAtomic(Op),
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Register of its return address: [`RA`] or [`LINK`].
    pub link: u8,
    /// What it does.
    pub body: Block,
}

/// A program: what every thread executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What it may use.
    pub features: Features,
    /// Lanes of a core, as a power of two: where a thread's part of the scratchpad is.
    pub lanes_log2: u32,
    /// Packets for which there are words and bytes in the argument block.
    pub packets: u32,
    /// Registers for data, at most 14; they start with words of the thread's packet.
    pub registers: Vec<u8>,
    /// What the thread starts with.
    pub main: Block,
    /// What it calls.
    pub functions: Vec<Function>,
}

impl Program {
    /// Offset of the words that lanes of a warp share a line of, in the argument block.
    pub const WORDS: u32 = TABLE_BYTES;

    /// Offset of the bytes that lanes of a warp share a line of, in the argument block.
    pub const fn bytes_offset(&self) -> u32 {
        Self::WORDS + 4 * self.packets
    }

    /// Size of the argument block.
    pub const fn argument_bytes(&self) -> u32 {
        if self.features.atomics {
            self.counter_offset() + 4
        } else {
            self.bytes_offset() + self.packets
        }
    }

    /// Offset of the word to which all threads add, in the argument block.
    pub const fn counter_offset(&self) -> u32 {
        (self.bytes_offset() + self.packets).next_multiple_of(4)
    }

    /// Statements in all blocks.
    pub fn size(&self) -> usize {
        fn count(block: &Block) -> usize {
            block
                .iter()
                .map(|statement| statement.weight() + statement.blocks().map(count).sum::<usize>())
                .sum()
        }
        count(&self.main) + self.functions.iter().map(|function| count(&function.body)).sum::<usize>()
    }
}

impl Statement {
    /// What it adds to the size of a program: instructions of a run, 1 for all others.
    fn weight(&self) -> usize {
        match self {
            Self::Run(instructions) => instructions.len(),
            _ => 1,
        }
    }

    /// Whether it reads or writes a register for data, apart from what the blocks in it do.
    pub fn mentions(&self, register: u8) -> bool {
        let uses = |code: &Instruction| [code.rd, code.rs1, code.rs2].contains(&register);
        match self {
            Self::Run(instructions) => instructions.iter().any(uses),
            Self::Constant(written, _) => *written == register,
            Self::Access(access) => access.register == register || access.index == Some(register),
            Self::Atomic(atomic) => [atomic.rd, atomic.rs2].contains(&register),
            Self::Through { target, .. } => match target {
                Target::Load(other, _) | Target::Store(other, _) | Target::Jump(other) => *other == register,
            },
            Self::If { rs1, rs2, .. } => [*rs1, *rs2].contains(&register),
            Self::Loop { trips, .. } => matches!(trips, Trips::Masked(other, _) if *other == register),
            Self::Switch { selector, .. } => *selector == register,
            Self::Call { .. } => false,
            Self::Hop { link, .. } => *link == register,
            Self::Fault { register: other, .. } => *other == register,
        }
    }

    /// The blocks in it.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let blocks: Vec<&Block> = match self {
            Self::If { then, otherwise, .. } => vec![then, otherwise],
            Self::Loop { body, .. } => vec![body],
            Self::Switch { cases, .. } => cases.iter().collect(),
            _ => Vec::new(),
        };
        blocks.into_iter()
    }

    /// The blocks in it, to be changed.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let blocks: Vec<&mut Block> = match self {
            Self::If { then, otherwise, .. } => vec![then, otherwise],
            Self::Loop { body, .. } => vec![body],
            Self::Switch { cases, .. } => cases.iter_mut().collect(),
            _ => Vec::new(),
        };
        blocks.into_iter()
    }
}
