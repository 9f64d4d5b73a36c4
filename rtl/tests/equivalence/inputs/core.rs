//! Inputs that keep the units of a core busy and within their contracts; for the control path the
//! tests follow what the units hold.

use std::collections::VecDeque;

use super::Random;
use hermes_hdl::prelude::bits;
use hermes_rtl::config::{LOCAL_WINDOW_ADDRESS, SCRATCHPAD_ADDRESS};
use hermes_rtl::core::*;
use hermes_rtl::host::ReadWindows;

/// Inputs of an enum type are set by the tests: the harness knows bits only.
const OPERATIONS: [AluOperation; 22] = [
    AluOperation::Add,
    AluOperation::Sub,
    AluOperation::LessThan,
    AluOperation::LessThanUnsigned,
    AluOperation::Min,
    AluOperation::MinUnsigned,
    AluOperation::Max,
    AluOperation::MaxUnsigned,
    AluOperation::ShiftLeft,
    AluOperation::RotateLeft,
    AluOperation::ShiftRight,
    AluOperation::RotateRight,
    AluOperation::ShiftRightSigned,
    AluOperation::SignExtend,
    AluOperation::OrCombine,
    AluOperation::ReverseBytes,
    AluOperation::Xor,
    AluOperation::XorNot,
    AluOperation::Or,
    AluOperation::OrNot,
    AluOperation::And,
    AluOperation::AndNot,
];

/// Controls of every kind, most of them such as no operation has.
fn random_control(random: u64) -> AluControl {
    let bit = |i: u32| random >> i & 1 == 1;
    AluControl {
        invert: bit(0),
        add: bit(1),
        both: bit(2),
        either: bit(3),
        compare: bit(4),
        unsigned: bit(5),
        minimum: bit(6),
        maximum: bit(7),
        left: bit(8),
        shift: bit(9),
        whole: bit(10),
        extend: bit(11),
        reverse: bit(12),
        fill_word: bit(13),
        fill_part: bit(14),
        combine: bit(15),
    }
}

const B_SOURCES: [BSource; 2] = [BSource::Register, BSource::Immediate];
const OPERAND_SOURCES: [OperandSource; 5] = [
    OperandSource::Registers,
    OperandSource::Result,
    OperandSource::Written,
    OperandSource::JustWritten,
    OperandSource::Zero,
];
const LOST: [LostCycle; 6] = [
    LostCycle::None,
    LostCycle::NoWarp,
    LostCycle::Memory,
    LostCycle::Fetch,
    LostCycle::Divergence,
    LostCycle::Scoreboard,
];

/// Cycles after a reset for which the scoreboard wipes its marks.
const WIPING: usize = 33;

/// The slot of some warp: for 300 cycles any, then for 300 cycles one of three.
fn some_slot(random: Random, cycle: u64) -> usize {
    let choice = if cycle / 300 % 2 == 0 { random() } else { random() % 3 + cycle / 600 * 11 };
    (choice % 32) as usize
}

/// Operations start more often than they complete for some time, then less often.
fn chance(random: Random, filling: bool) -> bool {
    random() % 8 < if filling { 7 } else { 2 }
}

/// The registers that wait for a value, of every warp, and the cycles since the last reset.
struct Marks {
    waiting: [u32; 32],
    since_reset: usize,
}

impl Marks {
    fn new() -> Self {
        Self { waiting: [0; 32], since_reset: 0 }
    }

    fn has(&self, slot: usize, register: usize) -> bool {
        self.waiting[slot] >> register & 1 == 1
    }

    fn set(&mut self, slot: usize, register: usize) {
        if register != 0 {
            self.waiting[slot] |= 1 << register;
        }
    }

    fn clear(&mut self, slot: usize, register: usize) {
        self.waiting[slot] &= !(1 << register);
    }

    /// Counts the cycle; whether marks may be set.
    fn ready(&mut self, reset: bool) -> bool {
        if reset {
            *self = Self::new();
        }
        self.since_reset += 1;
        self.since_reset > WIPING
    }
}

pub fn outstanding_operations() -> impl FnMut(&mut OutstandingOperations, Random, u64) {
    let mut under_way: VecDeque<usize> = VecDeque::new();
    move |unit, random, cycle| {
        if unit.reset.next {
            under_way.clear();
        }
        let filling = cycle / 100 % 2 == 0;
        // What starts in this cycle completes in a later one.
        let done = !under_way.is_empty() && chance(random, !filling);
        unit.done.valid.next = done;
        let oldest = if done { under_way.pop_front() } else { None };
        unit.done.slot.next = (oldest.unwrap_or(some_slot(random, cycle)) as u64).into();
        let slot = some_slot(random, cycle);
        let start = under_way.len() < 62 && chance(random, filling) && !unit.reset.next;
        unit.start_valid.next = start;
        unit.start_slot.next = (slot as u64).into();
        if start {
            under_way.push_back(slot);
        }
    }
}

pub fn scoreboard() -> impl FnMut(&mut Scoreboard, Random, u64) {
    let mut marks = Marks::new();
    move |unit, random, cycle| {
        let ready = marks.ready(unit.reset.next);
        let filling = cycle / 100 % 2 == 0;
        let (slot, register) = (some_slot(random, cycle), (random() % 32) as usize);
        let (cleared, free) = (some_slot(random, cycle), (random() % 32) as usize);
        let clear = ready && marks.has(cleared, free) && chance(random, !filling);
        let set = ready && register != 0 && !marks.has(slot, register) && chance(random, filling);
        unit.set_valid.next = set;
        unit.set_slot.next = (slot as u64).into();
        unit.set_register.next = (register as u64).into();
        unit.clear_valid.next = clear;
        unit.clear_slot.next = (cleared as u64).into();
        unit.clear_register.next = (free as u64).into();
        if set {
            marks.set(slot, register);
        }
        if clear {
            marks.clear(cleared, free);
        }
        unit.slot.next = (some_slot(random, cycle) as u64).into();
        // Often one register alone, so that it decides.
        if random() % 2 == 0 {
            unit.uses.rs2.next = unit.uses.rs1.next;
            unit.uses.rd.next = unit.uses.rs1.next;
        }
    }
}

pub fn hazards() -> impl FnMut(&mut Hazards, Random, u64) {
    let mut marks = Marks::new();
    // Loads from memory and from the scratchpad with slot and register, stores with their slot, the
    // division.
    let mut loads: VecDeque<(usize, usize)> = VecDeque::new();
    let mut scratchpad: VecDeque<(usize, usize)> = VecDeque::new();
    let mut stores: VecDeque<usize> = VecDeque::new();
    let mut division: Option<(usize, usize)> = None;
    move |unit, random, cycle| {
        // A reset now and then while many registers wait.
        unit.reset.next |= cycle % 1_200 == 698;
        let ready = marks.ready(unit.reset.next);
        if unit.reset.next {
            loads.clear();
            scratchpad.clear();
            stores.clear();
            division = None;
        }
        let filling = cycle / 100 % 2 == 0;
        unit.divide_busy.next = division.is_some();
        unit.divide_slot.next = (division.map_or(7, |(slot, _)| slot) as u64).into();

        // Completions: one that writes a register, and a store.
        let (from_memory, from_scratchpad) = (random() % 3 == 0, random() % 2 == 0);
        let done = chance(random, !filling);
        let loaded = done && from_memory && !loads.is_empty();
        let scratchpad_loaded = done && !loaded && from_scratchpad && !scratchpad.is_empty();
        let divided = done && !loaded && !scratchpad_loaded && division.is_some();
        let late = match (loaded, scratchpad_loaded, divided) {
            (true, _, _) => loads.pop_front(),
            (_, true, _) => scratchpad.pop_front(),
            (_, _, true) => division.take(),
            _ => None,
        };
        unit.loaded_valid.next = loaded;
        unit.scratchpad_loaded.next = scratchpad_loaded;
        unit.completions.any.next = divided;
        unit.completions.late.valid.next = late.is_some();
        let (late_slot, late_rd) = late.unwrap_or((some_slot(random, cycle), 5));
        unit.completions.late.slot.next = (late_slot as u64).into();
        unit.late_rd.next = (late_rd as u64).into();
        // Seldom enough that many warps have outstanding stores.
        let stored = if chance(random, !filling) && random() % 4 == 0 { stores.pop_front() } else { None };
        unit.completions.stored.valid.next = stored.is_some();
        unit.completions.stored.slot.next = (stored.unwrap_or(some_slot(random, cycle)) as u64).into();
        unit.completions.scratchpad.slot.next = (some_slot(random, cycle) as u64).into();

        // Stage W, and what starts from it; a register that waits is no destination.
        let slot = some_slot(random, cycle);
        let chosen = (random() % 32) as usize;
        let rd = if marks.has(slot, chosen) { 0 } else { chosen };
        // Loads and stores are most of it.
        let kind = [0, 0, 0, 1, 1, 1, 2, 3][(random() % 8) as usize];
        let starts = ready && chance(random, filling);
        let to_scratchpad = random() % 2 == 0;
        unit.write.valid.next = starts || random() % 2 == 0;
        unit.write_slot.next = (slot as u64).into();
        unit.write.rd.next = (rd as u64).into();
        unit.write.load.next = kind == 0;
        unit.write.store.next = kind == 1;
        unit.write.divide.next = kind == 2;
        let memory_start =
            starts && !to_scratchpad && ((kind == 0 && loads.len() < 62) || (kind == 1 && stores.len() < 62));
        let scratchpad_start = starts && to_scratchpad && kind <= 1 && scratchpad.len() < 62;
        let divide_start = starts && kind == 2 && division.is_none() && !divided;
        unit.memory_start.next = memory_start;
        unit.scratchpad_start.next = scratchpad_start;
        unit.divide_start.next = divide_start;
        if let Some((slot, rd)) = late {
            marks.clear(slot, rd);
        }
        if (kind == 0 && (memory_start || scratchpad_start)) || divide_start {
            marks.set(slot, rd);
        }
        match kind {
            0 if memory_start => loads.push_back((slot, rd)),
            0 if scratchpad_start => scratchpad.push_back((slot, rd)),
            1 if memory_start => stores.push_back(slot),
            2 if divide_start => division = Some((slot, rd)),
            _ => {}
        }

        // Stages D and X: often the same warp and few registers.
        unit.slot.next = (some_slot(random, cycle) as u64).into();
        unit.execute_slot.next = (some_slot(random, cycle) as u64).into();
        if random() % 2 == 0 {
            for register in
                [&mut unit.decode.rs1, &mut unit.decode.rs2, &mut unit.decode.rd, &mut unit.execute.rd]
            {
                register.next = (random() % 4).into();
            }
        }
        // Often nothing but the scoreboard holds the instruction up, so that each mark decides.
        if random() % 2 == 0 {
            unit.execute.valid.next = false;
            unit.decode.exit.next = false;
            unit.decode.fence.next = false;
            unit.decode.rs2.next = unit.decode.rs1.next;
            unit.decode.rd.next = unit.decode.rs1.next;
        }
    }
}

pub fn address_region(unit: &mut AddressRegion, random: Random, _: u64) {
    // Close to the bounds, on which it depends.
    let bound = random() & 0x3ff_ffff;
    unit.operand.next = bits((bound + random() % 4) & 0x3ff_ffff);
    for distance in unit.from_base.iter_mut().chain(&mut unit.from_end) {
        distance.next = bits(bound.wrapping_add(random() % 3).wrapping_neg() & 0x7ff_ffff);
    }
    if random() % 4 == 0 {
        unit.block.next = bits(u64::from(SCRATCHPAD_ADDRESS >> 14) ^ (1 << (random() % 18)));
    }
}

pub fn local_window(unit: &mut LocalWindow<4>, random: Random, _: u64) {
    unit.places.stack_bytes_log2.next = bits(random() % 20);
    for port in &mut unit.address {
        port.next = bits(u64::from(LOCAL_WINDOW_ADDRESS) ^ (random() & 0x1ff) ^ ((random() % 8 / 7) << 16));
    }
}

pub fn atomic_stage(unit: &mut AtomicStage<2>, random: Random, _: u64) {
    for address in &mut unit.address {
        address.next = bits((random() & 0xfff) | ((random() & 1) * u64::from(SCRATCHPAD_ADDRESS)));
    }
    let ReadWindows { read_0_base, read_0_size, read_1_base, read_1_size } = &mut unit.windows;
    for port in [read_0_base, read_0_size, read_1_base, read_1_size] {
        port.next = bits(random() % 64);
    }
}

pub fn reservation_ends(unit: &mut ReservationEnds, random: Random, _: u64) {
    // `lr.w` and `sc.w` of four warps.
    unit.decode_word.next = bits([2, 3, 0, 5][random() as usize % 4] << 27);
    unit.start_operation.next = bits(random() % 4);
    unit.read_slot.next = bits(random() % 4 * 9);
    unit.done.slot.next = bits(random() % 4 * 9);
    unit.done.valid.next = random() % 4 == 0;
}

pub fn atomic_turns_with_few_starts(unit: &mut AtomicTurns, random: Random, _: u64) {
    unit.slot.next = bits(random() % 4);
    unit.wants.next = random() % 4 == 0;
    unit.busy.next = random() % 8 == 0;
    unit.start_valid.next = random() % 64 == 0;
    unit.start_slot.next = bits(random() % 4);
}

pub fn lost_cycles(unit: &mut LostCycles, random: Random, _: u64) {
    unit.reason.next = LOST[random() as usize % LOST.len()];
}

pub fn lane(unit: &mut Lane, random: Random, _: u64) {
    unit.arithmetic.operation.next = random_control(random());
    unit.arithmetic.b_source.next = B_SOURCES[random() as usize % B_SOURCES.len()];
    unit.operands.rs1_source.next = OPERAND_SOURCES[random() as usize % OPERAND_SOURCES.len()];
    unit.operands.rs2_source.next = OPERAND_SOURCES[random() as usize % OPERAND_SOURCES.len()];
}

pub fn atomic_turns(unit: &mut AtomicTurns, random: Random, cycle: u64) {
    // Four warps for some time, so that each decides; now and then the path stays free until
    // all debts are forgotten.
    let mut some_slot = || ((cycle / 100 * 7 + random() % 4 * 11) % 32).into();
    unit.slot.next = some_slot();
    unit.start_slot.next = some_slot();
    let quiet = cycle / 400 % 8 == 7;
    unit.wants.next = random() % 8 == 0;
    unit.start_valid.next = !quiet && random() % 4 == 0;
    unit.busy.next = !quiet && random() % 2 == 0;
}

pub fn divide_unit(unit: &mut DivideUnit<4>, random: Random, _: u64) {
    unit.start.valid.next = random() % 4 == 0;
}

pub fn divider(unit: &mut Divider, random: Random, cycle: u64) {
    // A division as its control runs it, and now and then a broken one.
    unit.load.next = cycle % 40 == 3 || random() % 256 == 0;
    unit.step.next = random() % 64 != 0;
}

pub fn lane_traps(unit: &mut LaneTraps<4>, random: Random, _: u64) {
    // The instruction is often in the page, and its cause one that may trap.
    unit.control.page.next = (random() % 2).into();
    unit.pc.next = (random() % 4 * 0x800).into();
    unit.cause.next = (random() % 16).into();
}

pub fn lane_alu(unit: &mut LaneAlu, random: Random, _: u64) {
    unit.control.next = random_control(random());
}

pub fn alu_decoder(unit: &mut AluDecoder, random: Random, _: u64) {
    unit.operation.next = OPERATIONS[random() as usize % OPERATIONS.len()];
}

pub fn watchdog(unit: &mut Watchdog, random: Random, cycle: u64) {
    unit.cycle.next = ((cycle + 0xffff_e000) & 0xffff_ffff).into();
    unit.limit.next = ([0, 40, 400, 3000][cycle as usize / 2_500 % 4]).into();
    unit.start.valid.next = random() % 16 == 0;
}

/// After a start in every slot and a store to each word of the scratchpad that is used: a RAM holds
/// anything until it is written.
/// Rows are cleared only while no warp is on the core, so here not at all.
pub fn shader_core_with_functions(unit: &mut ShaderCore<4>, _: Random, _: u64) {
    unit.clear.valid.next = false;
}

pub fn data_memory<const LANES: usize>(unit: &mut DataMemory<LANES>, random: Random, cycle: u64) {
    if let Some(clear) = unit.clear.get_mut() {
        clear.valid.next = false;
    }
    let words = 8 * LANES as u64;
    let fills = cycle < 70;
    let mut scratchpad = random() % 2 == 0;
    for (lane, address) in unit.request_address.iter_mut().enumerate() {
        let place = random() % words * 4;
        let line = ((random() & 3) << 20) | (random() & 63);
        address.next = bits(match (fills, scratchpad) {
            (true, _) => 4 * (cycle / 8 * LANES as u64 + lane as u64),
            (false, true) => u64::from(SCRATCHPAD_ADDRESS) + place,
            (false, false) => line,
        });
    }
    if fills {
        scratchpad = true;
        unit.reset.next = cycle < 2;
        unit.request.valid.next = true;
        unit.request.store.next = true;
        unit.request.size.next = bits(2);
        unit.request.mask.next = bits((1 << LANES) - 1);
    }
    unit.request.scratchpad.next = scratchpad;
    if let Some(atomic) = unit.request_atomic.get_mut() {
        atomic.valid.next = !scratchpad && random() % 4 == 0;
    }
    let has_compare = unit.compare_read.is_there();
    if let Some(atomic) = unit.request_atomic.get_mut() {
        if random() % 2 == 0 && has_compare {
            atomic.operation.next = bits(5);
        }
    }
    // Memory that answers much, and memory that answers little.
    let slow = cycle / 200 % 2 == 0;
    unit.read.ready.next = !slow || random() % 8 == 0;
    unit.read.response.valid.next = random() % 8 < if slow { 1 } else { 7 };
    unit.read.response.error.next = random() % 64 == 0;
    unit.drop.next = random() % 256 == 0;
}
