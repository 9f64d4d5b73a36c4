//! What a run must leave behind: the warps of the run, executed one after another by the reference.

use super::coverage::Coverage;
use crate::cosim::{FaultRecord, MemoryImage, PacketRecord};
use crate::iss::Machine;
use crate::lockstep::{Expected, Warp, WarpMemory, WarpStart};

/// Warp-instructions after which a warp counts as endless.
const LIMIT: u64 = 2_000_000;

/// The warps in which packets were processed, in the order of their issue. `packets` are in the order of commits.
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

/// What the reference made of a run.
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
}

impl Reference {
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
        let counts = vec![0; cores];
        let mut reference =
            Self { instructions: counts.clone(), lane_instructions: counts, ..Self::default() };
        for start in warps {
            let mut warp = Warp::new(*start);
            let core = usize::from(start.core);
            loop {
                let reach = WarpMemory {
                    shared: memory,
                    scratchpad: pads.get_mut(core).map(Vec::as_mut_slice),
                    protection: &machine.protection,
                };
                let before = warp.instret;
                let Some(expected) = warp.step(machine, reach, 0) else { break };
                reference.coverage.observe(&expected);
                let counted = warp.instret - before;
                let lanes = u64::from(expected.retired.active.count_ones());
                reference.instructions[core] += counted;
                reference.lane_instructions[core] += counted * lanes;
                reference.faults.extend(fault_record(&expected, start));
                if warp.instret > LIMIT {
                    return Err(format!("the warp of packet {} does not end", start.first_packet));
                }
            }
        }
        Ok(reference)
    }
}

/// The record of the lanes that faulted together.
fn fault_record(expected: &Expected, start: &WarpStart) -> Option<FaultRecord> {
    let (lane, fault) = expected.faults.first()?;
    Some(FaultRecord {
        cause: fault.cause as u8,
        core: start.core,
        slot: start.slot,
        threads: expected.faults.len() as u8,
        pc: expected.retired.pc,
        address: fault.value,
        packet: start.first_packet.wrapping_add(*lane as u32),
    })
}
