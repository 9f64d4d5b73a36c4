//! A warp of reference threads, executed as the array must: all lanes at the preferred path, one
//! instruction a step.

use super::retired::{lanes, Retired, WarpStart};
use super::{
    Cause, Class, CoreMemory, Counters, Fault, Instruction, Machine, MemoryImage, Place, Protection, Thread,
    BOOT_ADDRESS, SCRATCHPAD_BYTES,
};

/// What a step of the reference did.
#[derive(Clone, Debug)]
pub struct Expected {
    /// What the array must tell about it.
    pub retired: Retired,
    /// The instruction, if it is one.
    pub instruction: Option<Instruction>,
    /// Lanes that faulted, ascending, with their faults.
    pub faults: Vec<(usize, Fault)>,
    /// The value of `rd` of every lane that completed the instruction, late or not; 0 in other
    /// lanes.
    pub results: Vec<u32>,
    /// All living lanes of the warp executed it.
    pub converged: bool,
    /// packetIdx of lane 0.
    pub first_packet: u32,
    /// Lanes that faulted went to the trap entry.
    pub trapped: bool,
}

impl Expected {
    /// Lanes that completed the instruction.
    pub fn sound(&self) -> u32 {
        self.retired.active & !self.retired.faulting
    }
}

/// The threads of a warp.
#[derive(Clone, Debug)]
pub struct Warp {
    /// What it runs on.
    pub start: WarpStart,
    /// One thread a lane that started.
    pub threads: Vec<Thread>,
    /// Warp-instructions retired, those of the topmost 256 bytes not counted.
    pub instret: u64,
}

/// The memories that a step of a warp can reach.
pub struct WarpMemory<'a> {
    /// The shared memory.
    pub shared: &'a mut MemoryImage,
    /// The scratchpad of the warp's core, if it has one.
    pub scratchpad: Option<&'a mut [u8]>,
    /// The windows of the kernel.
    pub protection: &'a Protection,
}

impl Warp {
    /// A warp in front of its boot sequence.
    pub fn new(start: WarpStart) -> Self {
        let place = |lane: u32| Place {
            core: start.core,
            slot: start.slot,
            lane: lane as u8,
            packet: start.first_packet.wrapping_add(lane),
        };
        Self { start, threads: (0..start.count).map(|lane| Thread::new(place(lane))).collect(), instret: 0 }
    }

    /// An empty scratchpad for every core, if the machine has them.
    pub fn scratchpads(machine: &Machine, cores: usize) -> Vec<Vec<u8>> {
        vec![vec![0; if machine.scratchpad { SCRATCHPAD_BYTES } else { 0 }]; cores]
    }

    /// Lanes that have not ended.
    pub fn living(&self) -> u32 {
        self.threads.iter().filter(|thread| !thread.ended).fold(0, |set, thread| set | 1 << thread.place.lane)
    }

    /// PC and lanes of the preferred path: deepest call first, then lowest PC; `None` when all
    /// lanes ended.
    pub fn preferred(&self) -> Option<(u32, u32)> {
        self.preferred_among(u32::MAX)
    }

    /// As [`Self::preferred`], of the lanes in `among` alone.
    pub fn preferred_among(&self, among: u32) -> Option<(u32, u32)> {
        let may = |thread: &&Thread| !thread.ended && among >> thread.place.lane & 1 != 0;
        let living = || self.threads.iter().filter(may);
        let key = |thread: &Thread| (std::cmp::Reverse(thread.depth), thread.hart.pc);
        let best = living().map(key).min()?;
        let set = living().filter(|thread| key(thread) == best).fold(0, |set, t| set | 1 << t.place.lane);
        Some((best.1, set))
    }

    /// The watchdog ends the lanes of the preferred path in place of their next instruction; `None`
    /// when all lanes ended.
    pub fn time_out(&mut self, machine: &Machine) -> Option<Expected> {
        let mut expected = self.at_preferred(machine, u32::MAX)?;
        let retired = &mut expected.retired;
        (retired.faulting, retired.cause) = (retired.active, Cause::Watchdog as u8);
        for lane in lanes(retired.active) {
            self.threads[lane].end_with(Cause::Watchdog);
            expected.faults.push((lane, Fault { cause: Cause::Watchdog, value: 0 }));
        }
        self.instret += u64::from(retired.pc < BOOT_ADDRESS);
        Some(expected)
    }

    /// The lanes of the preferred path of those in `among`, in front of what they do; `None` when
    /// all of them ended.
    fn at_preferred(&self, machine: &Machine, among: u32) -> Option<Expected> {
        let (pc, active) = self.preferred_among(among)?;
        let converged = active == self.living();
        let width = machine.lanes as usize;
        Some(Expected {
            retired: Retired {
                core: self.start.core,
                slot: self.start.slot,
                pc,
                instruction: 0,
                active,
                faulting: 0,
                cause: 0,
                rd: 0,
                late: false,
                values: vec![0; width],
                store_data: vec![0; width],
            },
            instruction: None,
            faults: Vec::new(),
            results: vec![0; width],
            converged,
            first_packet: self.start.first_packet,
            trapped: false,
        })
    }

    /// Executes the next instruction of the preferred path; `None` when all lanes ended. `cycle` is
    /// what the CSR of this name reads.
    pub fn step(&mut self, machine: &Machine, memory: WarpMemory<'_>, cycle: u64) -> Option<Expected> {
        self.step_among(u32::MAX, machine, memory, cycle)
    }

    /// As [`Self::step`], while lanes that are not in `among` stand still: what an array never
    /// does, and a debugger may ask for.
    pub fn step_among(
        &mut self,
        among: u32,
        machine: &Machine,
        memory: WarpMemory<'_>,
        cycle: u64,
    ) -> Option<Expected> {
        let mut expected = self.at_preferred(machine, among)?;
        let (pc, active) = (expected.retired.pc, expected.retired.active);
        let counters = Counters {
            cycle,
            instret: self.instret,
            leader: lanes(active).next().map_or(0, |lane| lane as u8),
        };
        let WarpMemory { shared, scratchpad, protection } = memory;
        let mut memory = CoreMemory {
            shared,
            scratchpad: scratchpad.filter(|pad| !pad.is_empty()),
            protection,
            local: None,
        };
        let retired = &mut expected.retired;
        for lane in lanes(active) {
            let step = self.threads[lane].step(machine, &mut memory, counters);
            retired.instruction = step.word;
            expected.instruction = step.instruction;
            match step.outcome {
                Err(fault) => {
                    retired.faulting |= 1 << lane;
                    retired.cause = fault.cause as u8;
                    // Of misaligned accesses, accesses outside the windows and misaligned `jalr`
                    // targets.
                    retired.values[lane] = fault.value;
                    expected.faults.push((lane, fault));
                }
                Ok(outcome) => {
                    expected.results[lane] = outcome.result.unwrap_or(0);
                    retired.values[lane] = match (outcome.address, step.instruction) {
                        (Some(address), _) => address,
                        (None, Some(code)) if code.op.class() == Class::Jalr => outcome.next_pc,
                        _ => expected.results[lane],
                    };
                    retired.store_data[lane] = outcome.stored.unwrap_or(0);
                    retired.rd = step.instruction.map_or(0, |code| code.rd);
                }
            }
        }
        if let Some((_, fault)) = expected.faults.first() {
            retired.cause = fault.cause as u8;
            expected.trapped = machine.traps(fault.cause, pc);
        }
        let class = expected.instruction.map(|code| code.op.class());
        retired.late = retired.rd != 0 && matches!(class, Some(Class::Load | Class::Atomic | Class::Div));
        self.instret += u64::from(pc < BOOT_ADDRESS);
        Some(expected)
    }
}
