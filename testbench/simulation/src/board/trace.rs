//! The trace buffer of an array: what it is to record, and the entries that are read back.

use hermes_rtl::config::Config;
use hermes_rtl::trace::{group, kind, plane_offset, register, CORE_PLANES, HEAD_PLANES};

use crate::cosim::{BoardError, CosimError, Event, PacketRange, WarpSlot};
use crate::iss::{Class, Instruction, Isa, LateWrite, Retired, TraceCycle};
use crate::kernel::Kernel;

/// The bytes of a trace buffer, by their offsets in it (see [`hermes_rtl::trace::TraceBuffer`]).
pub trait TraceBytes {
    /// Reads bytes from `offset` on.
    ///
    /// # Errors
    /// Those of the way to the array.
    fn read_trace(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), CosimError>;

    /// Writes bytes from `offset` on, the first one first, each once.
    ///
    /// # Errors
    /// Those of the way to the array.
    fn write_trace(&mut self, offset: u32, bytes: &[u8]) -> Result<(), CosimError>;
}

/// What a trace buffer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceTrigger {
    /// An instruction retires: the one at this PC, one of a warp in this slot of any core, or both.
    Instruction {
        /// The PC, a multiple of 4.
        pc: Option<u32>,
        /// The warp slot.
        slot: Option<u8>,
    },
    /// A thread faults.
    Fault,
    /// The warp with the packet of this number is issued.
    Issue(u32),
    /// The warp with the packet of this number is committed.
    Commit(u32),
}

/// What a trace buffer records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceSettings {
    /// After what the recording ends; without a trigger when it is stopped.
    pub trigger: Option<TraceTrigger>,
    /// Entries that are recorded after that of the trigger.
    pub after: u16,
    /// Issue, finish and commit of warps are recorded.
    pub events: bool,
    /// What retires is recorded.
    pub retirement: bool,
}

impl Default for TraceSettings {
    /// Everything, until it is stopped.
    fn default() -> Self {
        Self { trigger: None, after: 0, events: true, retirement: true }
    }
}

/// A cycle in which something happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceEntry {
    /// Cycles since reset.
    pub cycle: u64,
    /// What happened to warps: a finish, a commit, an issue, in this order.
    pub events: Vec<Event>,
    /// What retired, and late results; both without values, and without warps that start.
    pub trace: TraceCycle,
    /// The trigger fired.
    pub triggers: bool,
}

/// What was read from a trace buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceRecord {
    /// The entries, the oldest first; their cycles rise.
    pub entries: Vec<TraceEntry>,
    /// Entries that were recorded before these and are gone: the ring had no room for them.
    pub overwritten: u64,
    /// The trigger has fired, whether its entry is still here or not.
    pub triggered: bool,
}

/// Begins the recording, with an empty ring.
///
/// # Errors
/// Those of the way to the array.
pub fn arm(buffer: &mut impl TraceBytes, settings: &TraceSettings) -> Result<(), CosimError> {
    let (mut kinds, mut wanted_slot, mut wanted_pc, mut wanted_packet) = (0, 0, 0, 0);
    match settings.trigger {
        None => {}
        Some(TraceTrigger::Instruction { pc, slot }) => {
            kinds = kind::RETIREMENT;
            if let Some(pc) = pc {
                kinds |= kind::AT_PC;
                wanted_pc = pc;
            }
            if let Some(slot) = slot {
                kinds |= kind::IN_SLOT;
                wanted_slot = slot;
            }
        }
        Some(TraceTrigger::Fault) => kinds = kind::FAULT,
        Some(TraceTrigger::Issue(packet)) => (kinds, wanted_packet) = (kind::ISSUE, packet),
        Some(TraceTrigger::Commit(packet)) => (kinds, wanted_packet) = (kind::COMMIT, packet),
    }
    let events = if settings.events { group::EVENTS } else { 0 };
    let retirement = if settings.retirement { group::RETIREMENT } else { 0 };
    // What was recorded before may not be changed by what is written now.
    stop(buffer)?;
    buffer.write_trace(register::KINDS, &[kinds, events | retirement, wanted_slot])?;
    buffer.write_trace(register::PC, &wanted_pc.to_le_bytes())?;
    buffer.write_trace(register::PACKET, &wanted_packet.to_le_bytes())?;
    buffer.write_trace(register::AFTER, &settings.after.to_le_bytes())?;
    buffer.write_trace(register::COMMAND, &[1])
}

/// Ends the recording.
///
/// # Errors
/// Those of the way to the array.
pub fn stop(buffer: &mut impl TraceBytes) -> Result<(), CosimError> {
    buffer.write_trace(register::COMMAND, &[2])
}

/// Reads what an array with this configuration recorded by `settings`; the recording has ended.
///
/// # Errors
/// Those of the way to the array; the cycles of the entries do not rise.
pub fn read(
    buffer: &mut impl TraceBytes,
    config: &Config,
    settings: &TraceSettings,
) -> Result<TraceRecord, CosimError> {
    let mut state = [0; register::TRIGGER_ENTRY as usize];
    buffer.read_trace(0, &mut state)?;
    let triggered = state[register::COMMAND as usize] & 2 != 0;
    let count = &state[register::COUNT as usize..][..6];
    let written = count.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    let held = written.min(config.trace_buffer as u64);
    let cores = if settings.retirement { config.cores } else { 0 };
    let mut planes = Vec::new();
    for plane in 0..HEAD_PLANES + CORE_PLANES * cores {
        let mut bytes = vec![0; 4 * held as usize];
        buffer.read_trace(plane_offset(plane), &mut bytes)?;
        let words =
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("chunks of 4")));
        planes.push(words.collect::<Vec<u32>>());
    }
    let oldest = written - held;
    let place = |number: u64| (number % config.trace_buffer.max(1) as u64) as usize;
    let entries: Vec<_> =
        (oldest..written).map(|number| entry(&planes, place(number), cores, config.lanes)).collect();
    for (pair, number) in entries.windows(2).zip(oldest + 1..) {
        if pair[0].cycle >= pair[1].cycle {
            let (cycle, before) = (pair[1].cycle, pair[0].cycle);
            return Err(BoardError::Trace { number, cycle, before }.into());
        }
    }
    Ok(TraceRecord { entries, overwritten: oldest, triggered })
}

/// `width` (1 to 32) bits of a word from bit `low` on.
const fn field(word: u32, low: u32, width: u32) -> u32 {
    word >> low & (u32::MAX >> (32 - width))
}

/// The warp whose core and slot stand from bit `low` on.
const fn warp(word: u32, low: u32) -> WarpSlot {
    WarpSlot { core: field(word, low, 5) as u8, slot: field(word, low + 5, 5) as u8 }
}

/// The entry at a place of the ring.
fn entry(planes: &[Vec<u32>], place: usize, cores: usize, lanes: usize) -> TraceEntry {
    let word = |plane: usize| planes[plane][place];
    let packets = |plane, low| PacketRange { first: word(plane), count: field(word(4), low, 6) };
    let (mut events, mut trace) = (Vec::new(), TraceCycle::default());
    let flag = |bit: u32| word(1) >> bit & 1 == 1;
    if flag(27) {
        events.push(Event::Finish(warp(word(1), 16)));
    }
    if flag(28) {
        events.push(Event::Commit(warp(word(4), 16), packets(3, 26)));
    }
    if flag(26) {
        events.push(Event::Issue(warp(word(4), 0), packets(2, 10)));
    }
    for core in 0..cores {
        let of_core = |plane: usize| word(HEAD_PLANES + CORE_PLANES * core + plane);
        let small = |low| field(of_core(1), low, 5) as u8;
        let set = |plane| field(of_core(plane), 0, lanes as u32);
        if of_core(0) & 1 != 0 {
            trace.retired.push(Retired {
                core: core as u8,
                slot: small(0),
                pc: of_core(0) & !3,
                active: set(2),
                faulting: set(3),
                // Of lanes that fault
                cause: if set(3) == 0 { 0 } else { small(5) },
                ..Retired::default()
            });
        }
        if of_core(0) & 2 != 0 {
            let (slot, rd) = (small(10), small(15));
            trace.late_writes.push(LateWrite {
                core: core as u8,
                slot,
                rd,
                lanes: set(4),
                values: Vec::new(),
            });
        }
    }
    let cycle = u64::from(word(0)) | u64::from(field(word(1), 0, 16)) << 32;
    TraceEntry { cycle, events, trace, triggers: flag(30) }
}

impl TraceRecord {
    /// Gives every instruction that retired its word, as the kernel has it, and what follows from
    /// it; those of the boot sequence and EXIT, which are not the kernel's, have none.
    #[must_use]
    pub fn with_instructions(mut self, kernel: &Kernel, isa: &Isa) -> Self {
        for got in self.entries.iter_mut().flat_map(|entry| &mut entry.trace.retired) {
            let Some(word) = kernel.word(got.pc) else { continue };
            got.instruction = word;
            let Some(code) = Instruction::decode(word, isa) else { continue };
            got.rd = code.rd;
            got.late = matches!(code.op.class(), Class::Load | Class::Div | Class::Atomic);
        }
        self
    }

    /// The instruction that each warp slot retired last, in the order of cores and slots.
    #[must_use]
    pub fn last_instructions(&self) -> Vec<(WarpSlot, u32)> {
        let mut last = std::collections::BTreeMap::new();
        for got in self.entries.iter().flat_map(|entry| &entry.trace.retired) {
            last.insert((got.core, got.slot), got.pc);
        }
        last.into_iter().map(|((core, slot), pc)| (WarpSlot { core, slot }, pc)).collect()
    }
}
