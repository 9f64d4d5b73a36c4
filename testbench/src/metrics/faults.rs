//! What threads faulted of.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::cosim::FaultRecord;
use crate::verdict::{Verdict, FAULT};

/// The threads that faulted of one cause at one instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultCause {
    /// Cause of the RISC-V privileged specification, or that of the watchdog.
    pub cause: u8,
    /// The cause in words.
    pub name: String,
    /// Address of the instruction.
    pub pc: u32,
    /// Threads, of those whose fault is on record.
    pub threads: u64,
    /// packetIdx of the first of them.
    pub first_packet: u32,
}

impl FaultCause {
    /// The causes in `records`, in the order of their first packets.
    pub fn of(records: &[FaultRecord]) -> Vec<Self> {
        let mut causes: BTreeMap<(u8, u32), Self> = BTreeMap::new();
        for record in records {
            let FaultRecord { cause, pc, threads, packet, .. } = *record;
            let verdict = Verdict(FAULT | u32::from(cause)).to_string();
            let name = verdict.trim_start_matches("fault: ").to_string();
            let fresh = || Self { cause, name, pc, threads: 0, first_packet: packet };
            let entry = causes.entry((cause, pc)).or_insert_with(fresh);
            entry.threads += u64::from(threads);
            entry.first_packet = entry.first_packet.min(packet);
        }
        let mut causes: Vec<_> = causes.into_values().collect();
        causes.sort_by_key(|cause| (cause.first_packet, cause.pc, cause.cause));
        causes
    }
}

impl fmt::Display for FaultCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, pc, threads, first_packet, .. } = self;
        let s = if *threads == 1 { "" } else { "s" };
        write!(f, "fault: {name} at PC {pc:#010x}: {threads} thread{s}, the first with packet {first_packet}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_each_cause_and_instruction() {
        let record = |cause, pc, threads, packet| FaultRecord {
            cause,
            pc,
            threads,
            packet,
            core: 1,
            slot: 2,
            address: packet,
        };
        let records = [
            record(5, 0x1010, 3, 40),
            record(2, 0x1020, 1, 17),
            record(5, 0x1010, 4, 8),
            record(24, 0x1010, 1, 9),
            record(5, 0x1014, 1, 90),
        ];
        let lines: Vec<_> = FaultCause::of(&records).iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "fault: load access at PC 0x00001010: 7 threads, the first with packet 8",
                "fault: watchdog at PC 0x00001010: 1 thread, the first with packet 9",
                "fault: illegal instruction at PC 0x00001020: 1 thread, the first with packet 17",
                "fault: load access at PC 0x00001014: 1 thread, the first with packet 90",
            ]
        );
        assert!(FaultCause::of(&[]).is_empty());
    }
}
