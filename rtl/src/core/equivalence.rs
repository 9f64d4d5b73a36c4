//! Units of the core's control path against their Verilog, with inputs that keep them busy and
//! within their contracts.

use std::collections::VecDeque;

use super::*;
use hermes_hdl::testing::check_with;

/// Cycles after a reset for which the scoreboard wipes its marks.
const WIPING: usize = 33;

/// The slot of some warp: for 300 cycles any, then for 300 cycles one of three.
fn some_slot(random: &mut dyn FnMut() -> u64, cycle: u64) -> usize {
    let choice = if cycle / 300 % 2 == 0 { random() } else { random() % 3 + cycle / 600 * 11 };
    (choice % 32) as usize
}

/// Operations start more often than they complete for some time, then less often.
fn chance(random: &mut dyn FnMut() -> u64, filling: bool) -> bool {
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

#[test]
fn outstanding_operations() {
    let mut under_way: VecDeque<usize> = VecDeque::new();
    check_with(OutstandingOperations::default(), 8_000, move |unit, random, cycle| {
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
    });
}

#[test]
fn scoreboard() {
    let mut marks = Marks::new();
    check_with(Scoreboard::default(), 8_000, move |unit, random, cycle| {
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
    });
}

#[test]
fn hazards() {
    let mut marks = Marks::new();
    // Loads from memory and from the scratchpad with slot and register, stores with their slot, the
    // division.
    let mut loads: VecDeque<(usize, usize)> = VecDeque::new();
    let mut scratchpad: VecDeque<(usize, usize)> = VecDeque::new();
    let mut stores: VecDeque<usize> = VecDeque::new();
    let mut division: Option<(usize, usize)> = None;
    check_with(Hazards::default(), 10_000, move |unit, random, cycle| {
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
    });
}
