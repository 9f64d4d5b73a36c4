//! Compares the trace with the reference, cycle by cycle.

use std::collections::BTreeMap;

use hermes_rtl::config::{EXIT_ADDRESS, WATCHDOG_CAUSE};

use super::mismatch::Mismatch;
use super::running::{element, hex, ConditionalStore, Difference, Outstanding, Running};
use crate::iss::{
    disassemble, lanes, register_name, Class, Expected, Instruction, LateWrite, Machine, MemoryImage, Op,
    Retired, TraceCycle, Warp, WarpMemory, WarpStart,
};

/// What was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckerStatistics {
    /// Warps that ended.
    pub warps: u64,
    /// Warp-instructions compared, those of the boot sequence and EXIT included.
    pub warp_instructions: u64,
    /// Lane-instructions compared.
    pub lane_instructions: u64,
    /// Values of late writes compared.
    pub late_values: u64,
}

/// Runs the reference beside the array and compares what they do.
///
/// The values of loads and atomic operations are computed when they retire: threads must not read
/// what others write. Whether an `sc.w` stores is up to the array, as long as it does not without a
/// reservation: its value undoes what the reference stored. A register that a warp reads but never
/// wrote has the value that the array shows for it first, since it holds what the warp before it
/// left.
pub struct Checker {
    machine: Machine,
    memory: MemoryImage,
    scratchpads: Vec<Vec<u8>>,
    running: BTreeMap<(u8, u8), Running>,
    statistics: CheckerStatistics,
}

impl Checker {
    /// A checker of `cores` cores. `memory` is the shared memory before the first warp starts.
    pub fn new(machine: Machine, cores: usize, memory: MemoryImage) -> Self {
        let scratchpads = Warp::scratchpads(&machine, cores);
        let (running, statistics) = (BTreeMap::new(), CheckerStatistics::default());
        Self { machine, memory, scratchpads, running, statistics }
    }

    /// What was compared so far.
    pub fn statistics(&self) -> CheckerStatistics {
        self.statistics
    }

    /// The reference's shared memory.
    pub fn memory(&self) -> &MemoryImage {
        &self.memory
    }

    /// Compares a cycle. `image` is the array's shared memory, from which the packets of starting
    /// warps are taken; `observe` sees what the reference did.
    ///
    /// A late write may be told in the cycle in which its instruction retires, but not before.
    ///
    /// # Errors
    /// The first difference.
    pub fn cycle(
        &mut self,
        cycle: u64,
        trace: &TraceCycle,
        image: &MemoryImage,
        mut observe: impl FnMut(&Expected),
    ) -> Result<(), Box<Mismatch>> {
        let mut waiting = Vec::new();
        for late in trace.late_writes.iter().filter(|late| late.rd != 0) {
            if self.missing_lane(late).is_none() {
                self.late_write(cycle, late)?;
            } else {
                waiting.push(late);
            }
        }
        for retired in &trace.retired {
            observe(&self.retired(cycle, retired)?);
        }
        waiting.iter().try_for_each(|late| self.late_write(cycle, late))?;
        trace.starts.iter().try_for_each(|start| self.start(cycle, *start, image))
    }

    /// At the end of a run: all warps ended, no late write is missing.
    ///
    /// # Errors
    /// The first warp of which something is missing.
    pub fn finish(&self, cycle: u64) -> Result<(), Box<Mismatch>> {
        self.running.values().try_for_each(|running| self.ended(cycle, running))
    }

    fn ended(&self, cycle: u64, running: &Running) -> Result<(), Box<Mismatch>> {
        match running.missing() {
            None => Ok(()),
            Some((pc, instruction, difference)) => {
                Err(running.report(cycle, &self.machine.isa, pc, instruction, difference))
            }
        }
    }

    fn start(&mut self, cycle: u64, start: WarpStart, image: &MemoryImage) -> Result<(), Box<Mismatch>> {
        let key = (start.core, start.slot);
        if let Some(running) = self.running.remove(&key) {
            self.ended(cycle, &running)?;
        }
        // The host wrote the packets while the array ran.
        let mut bytes = vec![0; 1 << self.machine.slot_bytes_log2];
        for packet in (0..start.count).map(|lane| start.first_packet.wrapping_add(lane)) {
            let address = self.machine.slot_address(packet);
            if image.read(address, &mut bytes).is_ok() {
                // Both memories have the same size.
                let _ = self.memory.write(address, &bytes);
            }
        }
        self.running.insert(key, Running::new(start));
        Ok(())
    }

    fn retired(&mut self, cycle: u64, got: &Retired) -> Result<Expected, Box<Mismatch>> {
        let Self { machine, memory, scratchpads, running, statistics } = self;
        let Some(running) = running.get_mut(&(got.core, got.slot)) else {
            return Err(no_warp(cycle, machine, got));
        };
        running.remember(cycle, got);
        let scratchpad = scratchpads.get_mut(usize::from(got.core)).map(Vec::as_mut_slice);
        let protection = machine.protection;
        let reach = WarpMemory { shared: memory, scratchpad, protection: &protection };
        match compare(running, machine, reach, got) {
            Ok(expected) => {
                statistics.warp_instructions += 1;
                statistics.lane_instructions += u64::from(got.active.count_ones());
                statistics.warps += u64::from(running.warp.living() == 0);
                Ok(expected)
            }
            Err(difference) => Err(running.report(cycle, &machine.isa, got.pc, got.instruction, difference)),
        }
    }

    /// The first lane of a late write that no instruction of the warp waits for.
    fn missing_lane(&self, late: &LateWrite) -> Option<usize> {
        let running = self.running.get(&(late.core, late.slot));
        let waits = |lane| running.is_some_and(|r| r.outstanding.contains_key(&(lane, late.rd)));
        lanes(late.lanes).find(|lane| !waits(*lane))
    }

    fn late_write(&mut self, cycle: u64, late: &LateWrite) -> Result<(), Box<Mismatch>> {
        let isa = &self.machine.isa;
        let Some(running) = self.running.get_mut(&(late.core, late.slot)) else {
            let got = Retired { core: late.core, slot: late.slot, ..Retired::default() };
            return Err(no_warp(cycle, &self.machine, &got));
        };
        for lane in lanes(late.lanes) {
            let got = element(&late.values, lane);
            let what = format!("late write of {}", register_name(late.rd));
            let Some(waiting) = running.outstanding.remove(&(lane, late.rd)) else {
                let difference = Difference::new(Some(lane), &what, "none", hex(got));
                return Err(running.report(cycle, isa, 0, 0, difference));
            };
            if let Some(conditional) = waiting.conditional {
                if got > 1 || got == 0 && !conditional.stored {
                    let difference = Difference::words(Some(lane), &what, 1, got);
                    return Err(running.report(cycle, isa, waiting.pc, waiting.instruction, difference));
                }
                if got == 1 && conditional.stored {
                    // The address was stored to before, so it is in memory.
                    let _ = self.memory.write(conditional.address, &conditional.before.to_le_bytes());
                }
            }
            match waiting.value {
                Some(value) if value != got => {
                    let difference = Difference::words(Some(lane), &what, value, got);
                    return Err(running.report(cycle, isa, waiting.pc, waiting.instruction, difference));
                }
                Some(_) => {}
                None => running.set(lane, late.rd, got),
            }
            self.statistics.late_values += 1;
        }
        Ok(())
    }
}

fn no_warp(cycle: u64, machine: &Machine, got: &Retired) -> Box<Mismatch> {
    Box::new(Mismatch {
        cycle,
        core: got.core,
        slot: got.slot,
        lane: None,
        pc: got.pc,
        instruction: disassemble(got.pc, got.instruction, &machine.isa),
        what: "the slot".to_string(),
        expected: "no warp".to_string(),
        got: "a warp".to_string(),
        history: Vec::new(),
    })
}

/// Steps the reference and compares the array with it.
fn compare(
    running: &mut Running,
    machine: &Machine,
    memory: WarpMemory<'_>,
    got: &Retired,
) -> Result<Expected, Difference> {
    // Where the warp stands
    let Some((pc, active)) = running.warp.preferred() else {
        return Err(Difference::new(None, "the warp", "at its end", "an instruction"));
    };
    if got.pc != pc {
        return Err(Difference::words(None, "pc", pc, got.pc));
    }
    if got.active != active {
        return Err(Difference::words(None, "active lanes", active, got.active));
    }

    // What it executes
    let decoded = Instruction::decode(got.instruction, &machine.isa);
    running.adopt_store_data(decoded.as_ref(), got);
    let conditional = decoded.filter(|code| code.op == Op::ScW);
    let before: Vec<_> = conditional
        .map(|code| {
            let address = |lane: usize| running.warp.threads[lane].hart.x[usize::from(code.rs1)];
            let word = |lane| (address(lane), memory.shared.read_u32(address(lane)).unwrap_or(0));
            lanes(active).map(|lane| (lane, word(lane))).collect()
        })
        .unwrap_or_default();
    // The cycle is the array's: what its lanes read, all of them the same, in both halves of the
    // counter.
    let half = u64::from(element(&got.values, active.trailing_zeros() as usize));
    // The watchdog may come at any instruction but EXIT; then it ends all that run.
    let timed_out =
        machine.watchdog && (got.faulting, got.cause) == (active, WATCHDOG_CAUSE) && pc != EXIT_ADDRESS;
    let step = match timed_out {
        true => running.warp.time_out(machine),
        false => running.warp.step(machine, memory, half << 32 | half),
    };
    let Some(mut expected) = step else {
        return Err(Difference::new(None, "the warp", "at its end", "an instruction"));
    };
    if got.instruction != expected.retired.instruction && pc != EXIT_ADDRESS && !timed_out {
        return Err(Difference::words(None, "instruction", expected.retired.instruction, got.instruction));
    }
    running.adopt_results(&mut expected, got)?;

    // What came of it
    let (want, sound) = (&expected.retired, expected.sound());
    if got.faulting != want.faulting {
        return Err(Difference::words(None, "faulting lanes", want.faulting, got.faulting));
    }
    let mut causes = expected.faults.iter().map(|(_, fault)| fault.cause as u8);
    if want.faulting != 0 && !causes.any(|cause| cause == got.cause) {
        return Err(Difference::new(None, "cause", want.cause, got.cause));
    }
    if sound != 0 && got.rd != want.rd {
        return Err(Difference::new(None, "rd", register_name(want.rd), register_name(got.rd)));
    }
    let class = expected.instruction.map(|code| code.op.class());
    let must = matches!(class, Some(Class::Load | Class::Atomic));
    let may = must || matches!(class, Some(Class::Mul | Class::Div));
    if sound != 0 && want.rd != 0 && (got.late && !may || !got.late && must) {
        return Err(Difference::new(None, "late", !got.late, got.late));
    }
    compare_values(&expected, class, got)?;

    // What it leaves behind
    for lane in lanes(want.active) {
        let completes = sound >> lane & 1 != 0;
        // A fault writes the verdict to a0, or the address to tp.
        let rd = match (completes, expected.trapped) {
            (true, _) => want.rd,
            (false, true) => 4,
            (false, false) => 10,
        };
        if rd == 0 {
            continue;
        }
        if running.outstanding.contains_key(&(lane, rd)) {
            let what = format!("{}, whose late write has not come", register_name(rd));
            return Err(Difference::new(Some(lane), &what, "no write", "a write"));
        }
        if got.late && completes {
            let value = running.knows(lane, rd).then_some(expected.results[lane]);
            let conditional = before.iter().find(|(of, _)| *of == lane).map(|(_, (address, word))| {
                let stored = expected.results[lane] == 0;
                ConditionalStore { address: *address, before: *word, stored }
            });
            let late = Outstanding { value, pc, instruction: want.instruction, conditional };
            running.outstanding.insert((lane, rd), late);
        }
    }
    Ok(expected)
}

/// Compares what every lane shows.
fn compare_values(expected: &Expected, class: Option<Class>, got: &Retired) -> Result<(), Difference> {
    let want = &expected.retired;
    let exit = want.pc == EXIT_ADDRESS;
    let check = |set: u32, what: &str, wanted: &[u32], found: &[u32], mask: u32| {
        let differs = |lane: &usize| (element(wanted, *lane) ^ element(found, *lane)) & mask != 0;
        match lanes(set).find(differs) {
            None => Ok(()),
            Some(lane) => {
                Err(Difference::words(Some(lane), what, element(wanted, lane), element(found, lane)))
            }
        }
    };
    match class {
        Some(Class::Load) => check(want.active, "address", &want.values, &got.values, u32::MAX),
        Some(Class::Store | Class::Atomic) => {
            check(want.active, "address", &want.values, &got.values, u32::MAX)
                .and_then(|()| check(expected.sound(), "data", &want.store_data, &got.store_data, u32::MAX))
        }
        None if exit => check(want.active, "address", &want.values, &got.values, u32::MAX)
            .and_then(|()| check(want.active, "verdict", &want.store_data, &got.store_data, u32::MAX)),
        // Bit 0 of the sum is not part of the target.
        Some(Class::Jalr) => check(want.active, "target", &want.values, &got.values, !1),
        _ if want.rd == 0 || got.late => Ok(()),
        _ => {
            let what = format!("value of {}", register_name(want.rd));
            check(expected.sound(), &what, &expected.results, &got.values, u32::MAX)
        }
    }
}
