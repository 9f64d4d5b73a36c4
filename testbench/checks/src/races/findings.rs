//! What was found, with source lines.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::cosim::{Code, MemoryMap};
use crate::iss::{disassemble, Isa};

use crate::words::number_of;

/// How a thread accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic operation.
    Atomic,
}

impl AccessKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic operation",
        }
    }
}

/// A thread and its access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Party {
    pub kind: AccessKind,
    pub pc: u32,
    /// Number of the warp.
    pub warp: u32,
    /// Number of the packet, or of the thread in its job.
    pub thread: u32,
    pub job: Option<u8>,
    pub core: u8,
    pub slot: u8,
    pub lane: u8,
}

/// Two accesses without an order, the later one second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub first: Party,
    pub second: Party,
    pub address: u32,
    pub scratchpad: bool,
}

impl Conflict {
    fn is_in_a_warp(&self) -> bool {
        self.first.warp == self.second.warp
    }
}

/// A store into the slot of another packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foreign {
    pub party: Party,
    pub other: u32,
    pub slot: u32,
    pub address: u32,
}

/// Instructions and kinds of two accesses: those of the lower address first.
type Pair = [(u32, AccessKind); 2];

/// What was found: of each pair of instructions the first case, and how many there were.
#[derive(Debug, Default)]
pub struct Findings {
    races: BTreeMap<Pair, (usize, Conflict, u64)>,
    foreign: BTreeMap<u32, (usize, Foreign, u64)>,
}

impl Findings {
    pub(super) fn add_race(&mut self, conflict: Conflict) {
        let of = |party: &Party| (party.pc, party.kind);
        let mut pair = [of(&conflict.first), of(&conflict.second)];
        pair.sort_unstable();
        let position = self.races.len();
        let (_, told, times) = self.races.entry(pair).or_insert((position, conflict, 0));
        *times += 1;
        // Lanes of one warp are the plainest case.
        if conflict.is_in_a_warp() && !told.is_in_a_warp() {
            *told = conflict;
        }
    }

    pub(super) fn add_foreign(&mut self, foreign: Foreign) {
        let position = self.foreign.len();
        self.foreign.entry(foreign.party.pc).or_insert((position, foreign, 0)).2 += 1;
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.races.is_empty() && self.foreign.is_empty()
    }

    /// The races in the order in which they were found, explained by the file of the kernel, if
    /// there is one, and by what lies in memory.
    #[must_use]
    pub fn races(&self, explain: &Explain<'_>) -> Vec<Race> {
        let mut races: Vec<_> = self.races.values().collect();
        races.sort_by_key(|(position, ..)| *position);
        let race = |(_, conflict, times): &(usize, Conflict, u64)| Race {
            accesses: [explain.access(&conflict.first), explain.access(&conflict.second)],
            in_a_warp: conflict.is_in_a_warp(),
            address: conflict.address,
            area: explain.address(conflict.address, conflict.scratchpad),
            times: *times,
        };
        races.into_iter().map(race).collect()
    }

    /// Stores into the slots of other packets, in the order in which they were found.
    #[must_use]
    pub fn foreign_stores(&self, explain: &Explain<'_>) -> Vec<ForeignStore> {
        let mut stores: Vec<_> = self.foreign.values().collect();
        stores.sort_by_key(|(position, ..)| *position);
        let store = |(_, foreign, times): &(usize, Foreign, u64)| ForeignStore {
            access: explain.access(&foreign.party),
            other_packet: foreign.other,
            ring_slot: foreign.slot,
            address: foreign.address,
            times: *times,
        };
        stores.into_iter().map(store).collect()
    }
}

/// What explains addresses.
pub struct Explain<'a> {
    /// The programs.
    pub code: Code<'a>,
    /// What lies where.
    pub memory: &'a MemoryMap,
}

impl Explain<'_> {
    fn access(&self, party: &Party) -> Access {
        let place = self.code.place(party.pc);
        Access {
            kind: party.kind,
            pc: party.pc,
            function: place.function(),
            line: place.source_line(),
            instruction: self.code.word(party.pc).map(|word| disassemble(party.pc, word, &Isa::EVERYTHING)),
            packet: party.job.is_none().then_some(party.thread),
            job_thread: party.job.map(|job| (job, party.thread)),
            core: party.core,
            warp_slot: party.slot,
            lane: party.lane,
        }
    }

    /// What is at an address: a variable, or an area of the run.
    fn address(&self, address: u32, scratchpad: bool) -> String {
        let variable = self.code.variable(address).filter(|_| !scratchpad);
        variable.unwrap_or_else(|| self.memory.describe(address))
    }
}

/// An access of a race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Access {
    /// What it does.
    pub kind: AccessKind,
    /// Address of the instruction.
    pub pc: u32,
    /// Function or label, with the bytes behind it, if the file tells.
    pub function: Option<String>,
    /// Source file and line.
    pub line: Option<String>,
    /// The instruction in assembly.
    pub instruction: Option<String>,
    /// packetIdx of the thread's packet.
    pub packet: Option<u32>,
    /// Slot of the job of a spawned thread, and its number in it.
    pub job_thread: Option<(u8, u32)>,
    /// The core.
    pub core: u8,
    /// Its warp slot.
    pub warp_slot: u8,
    /// The lane.
    pub lane: u8,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at PC {:#010x}", self.kind.name(), self.pc)?;
        if let Some(function) = &self.function {
            write!(f, " in {function}")?;
        }
        if let Some(line) = &self.line {
            write!(f, " ({line})")?;
        }
        if let Some(instruction) = &self.instruction {
            write!(f, ", `{instruction}`")?;
        }
        match (self.packet, self.job_thread) {
            (Some(packet), _) => write!(f, ", by packet {packet}"),
            (None, Some((job, thread))) => write!(f, ", by thread {thread} of the job in slot {job}"),
            (None, None) => Ok(()),
        }
    }
}

/// Two threads that access a byte, one of them writing, without an order between them; of all cases
/// at two instructions the first, if there is none of lanes of one warp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Race {
    /// The accesses, in the order in which they were seen.
    pub accesses: [Access; 2],
    /// Whether they are lanes of one warp: then they race whenever the warp runs.
    pub in_a_warp: bool,
    /// The address of the second one.
    pub address: u32,
    /// What is there.
    pub area: String,
    /// How often it was seen.
    pub times: u64,
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { accesses: [first, second], address, area, times, .. } = self;
        write!(
            f,
            "race: {first}, and {second}, without an order between them: address {address:#010x} ({area}), {}",
            number_of(*times, "time")
        )
    }
}

/// A store of a packet's thread into the slot of another packet; of all at an instruction the
/// first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForeignStore {
    /// The store.
    pub access: Access,
    /// The nearest packet that has, had or will have the slot.
    pub other_packet: u32,
    /// Number of the slot.
    pub ring_slot: u32,
    /// The address.
    pub address: u32,
    /// How often it was seen.
    pub times: u64,
}

impl fmt::Display for ForeignStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { access, other_packet, ring_slot, address, times } = self;
        write!(
            f,
            "store into another packet: {access}, goes to ring slot {ring_slot}, that of packet {other_packet}: address {address:#010x}, {}",
            number_of(*times, "time")
        )
    }
}

/// What `--races` found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RaceReport {
    /// Data races, one for each pair of instructions.
    pub races: Vec<Race>,
    /// Stores into the slots of other packets, one for each instruction.
    pub foreign_stores: Vec<ForeignStore>,
}

impl RaceReport {
    /// What `findings` has, explained.
    #[must_use]
    pub fn of(findings: &Findings, explain: &Explain<'_>) -> Self {
        Self { races: findings.races(explain), foreign_stores: findings.foreign_stores(explain) }
    }

    /// A line for each.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let races = self.races.iter().map(ToString::to_string);
        races.chain(self.foreign_stores.iter().map(ToString::to_string)).collect()
    }
}
