//! What a run must leave behind: the warps of the run, executed one after another by the reference.

use super::coverage::Coverage;
use crate::cosim::{FaultRecord, PacketRecord};
use crate::iss::{Cause, Expected, Machine, MemoryImage, Warp, WarpMemory, WarpStart, BOOT_ADDRESS};

/// Warp-instructions after which a warp counts as endless.
const LIMIT: u64 = 2_000_000;

/// The warps in which packets were processed, in the order of their issue. `packets` are in the
/// order of commits.
pub fn warps_of(packets: &[PacketRecord]) -> Vec<WarpStart> {
    let mut warps: Vec<(WarpStart, u64)> = Vec::new();
    for packet in packets {
        let times = &packet.times;
        match warps.last_mut() {
            Some((warp, start))
                if (warp.core, warp.slot, *start) == (times.core, times.slot, times.start) =>
            {
                warp.count += 1;
            }
            _ => {
                let first_packet = packet.index as u32;
                let start = WarpStart { core: times.core, slot: times.slot, first_packet, count: 1 };
                warps.push((start, times.start));
            }
        }
    }
    warps.into_iter().map(|(warp, _)| warp).collect()
}

/// What the reference did in a run.
#[derive(Debug, Default)]
pub struct Reference {
    /// What ran.
    pub coverage: Coverage,
    /// Warp-instructions of every core, those of the topmost 256 bytes not counted.
    pub instructions: Vec<u64>,
    /// Lane-instructions of every core, counted alike.
    pub lane_instructions: Vec<u64>,
    /// The records of the faults, in no particular order.
    pub faults: Vec<FaultRecord>,
    /// Threads that went to the trap entry.
    pub trapped: u32,
}

impl Reference {
    /// Nothing done yet, by `cores` cores.
    pub fn new(cores: usize) -> Self {
        let counts = vec![0; cores];
        Self { instructions: counts.clone(), lane_instructions: counts, ..Self::default() }
    }

    /// Notes a warp-instruction.
    pub fn observe(&mut self, expected: &Expected) {
        let retired = &expected.retired;
        self.coverage.observe(expected);
        if retired.pc < BOOT_ADDRESS {
            let core = usize::from(retired.core);
            self.instructions[core] += 1;
            self.lane_instructions[core] += u64::from(retired.active.count_ones());
        }
        if expected.trapped {
            self.trapped += expected.faults.len() as u32;
            return;
        }
        // Lanes that fault together have one record; a cause that differs between them has its own.
        for cause in Cause::ALL {
            let mut faults = expected.faults.iter().filter(|(_, fault)| fault.cause == cause);
            let Some((lane, fault)) = faults.next() else { continue };
            self.faults.push(FaultRecord {
                cause: cause as u8,
                core: retired.core,
                slot: retired.slot,
                threads: 1 + faults.count() as u8,
                pc: retired.pc,
                address: fault.value,
                packet: expected.first_packet.wrapping_add(*lane as u32),
                job: None,
                function: None,
            });
        }
    }

    /// Runs `warps` on `cores` cores in `memory`. Threads must not read what others write.
    ///
    /// # Errors
    /// A warp does not end.
    pub fn run(
        machine: &Machine,
        cores: usize,
        memory: &mut MemoryImage,
        warps: &[WarpStart],
    ) -> Result<Self, String> {
        let mut pads = Warp::scratchpads(machine, cores);
        let mut reference = Self::new(cores);
        for start in warps {
            let mut warp = Warp::new(*start);
            loop {
                let reach = WarpMemory {
                    shared: memory,
                    scratchpad: pads.get_mut(usize::from(start.core)).map(Vec::as_mut_slice),
                    protection: &machine.protection,
                };
                let Some(expected) = warp.step(machine, reach, 0) else { break };
                reference.observe(&expected);
                if warp.instret > LIMIT {
                    return Err(format!("the warp of packet {} does not end", start.first_packet));
                }
            }
        }
        Ok(reference)
    }
}
