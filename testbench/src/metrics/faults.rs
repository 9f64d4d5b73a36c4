//! What threads faulted of.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::PacketRecord;
use crate::cosim::FaultRecord;
use crate::verdict::{Verdict, FAULT};

/// Threads that faulted of one cause at one instruction, as the records of the fault FIFO tell; or those of one cause of which it had no
/// room for a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultCause {
    /// Cause of the RISC-V privileged specification, or that of the watchdog. `None`: it is not known either.
    pub cause: Option<u32>,
    /// The cause in words.
    pub name: String,
    /// Address of the instruction, if there is a record.
    pub pc: Option<u32>,
    /// Threads.
    pub threads: u64,
    /// packetIdx of the first of them, if there is a record.
    pub first_packet: Option<u32>,
}

impl FaultCause {
    /// The causes of `threads` faults: those in `records`, in the order of their first packets, then those without a record, of which
    /// the verdicts of `packets` tell the cause.
    pub fn of(records: &[FaultRecord], packets: &[PacketRecord], threads: u64) -> Vec<Self> {
        let mut causes: BTreeMap<(u32, u32), Self> = BTreeMap::new();
        let mut without_record: BTreeMap<u32, u64> = BTreeMap::new();
        for packet in packets.iter().filter(|packet| packet.verdict.is_fault()) {
            *without_record.entry(packet.verdict.0 & !FAULT).or_default() += 1;
        }
        // A kernel can return such a verdict too; then it tells nothing.
        if without_record.values().sum::<u64>() != threads {
            without_record.clear();
        }
        for record in records {
            let (cause, threads) = (u32::from(record.cause), u64::from(record.threads));
            let entry = causes.entry((cause, record.pc)).or_insert_with(|| Self {
                cause: Some(cause),
                name: name(cause),
                pc: Some(record.pc),
                threads: 0,
                first_packet: Some(record.packet),
            });
            entry.threads += threads;
            entry.first_packet = entry.first_packet.min(Some(record.packet));
            without_record.entry(cause).and_modify(|count| *count = count.saturating_sub(threads));
        }
        let mut causes: Vec<_> = causes.into_values().collect();
        causes.sort_by_key(|cause| (cause.first_packet, cause.pc, cause.cause));
        let mut rest = threads.saturating_sub(causes.iter().map(|cause| cause.threads).sum());
        for (cause, threads) in without_record.into_iter().filter(|(_, threads)| *threads > 0) {
            let (cause, name) = (Some(cause), name(cause));
            causes.push(Self { cause, name, pc: None, threads, first_packet: None });
            rest = rest.saturating_sub(threads);
        }
        if rest > 0 {
            let name = "cause not known".to_string();
            causes.push(Self { cause: None, name, pc: None, threads: rest, first_packet: None });
        }
        causes
    }
}

/// A cause in words.
fn name(cause: u32) -> String {
    Verdict(FAULT | cause).to_string().trim_start_matches("fault: ").to_string()
}

impl fmt::Display for FaultCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, threads, .. } = self;
        let s = if *threads == 1 { "" } else { "s" };
        match (self.pc, self.first_packet) {
            (Some(pc), Some(packet)) => {
                write!(
                    f,
                    "fault: {name} at PC {pc:#010x}: {threads} thread{s}, the first with packet {packet}"
                )
            }
            _ => write!(
                f,
                "fault: {name}, PC not on record since the fault FIFO was full: {threads} thread{s}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(cause: u8, pc: u32, threads: u8, packet: u32) -> FaultRecord {
        FaultRecord { cause, pc, threads, packet, core: 1, slot: 2, address: packet }
    }

    fn packets(verdicts: &[(u32, u64)]) -> Vec<PacketRecord> {
        let packet = |(verdict, packet)| PacketRecord { packet, verdict: Verdict(verdict), times: None };
        let verdicts = verdicts.iter().flat_map(|&(verdict, count)| (0..count).map(move |_| verdict));
        verdicts.zip(0..).map(packet).collect()
    }

    fn lines(records: &[FaultRecord], packets: &[PacketRecord], threads: u64) -> Vec<String> {
        FaultCause::of(records, packets, threads).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_line_for_each_cause_and_instruction() {
        let records = [
            record(5, 0x1010, 3, 40),
            record(2, 0x1020, 1, 17),
            record(5, 0x1010, 4, 8),
            record(24, 0x1010, 1, 9),
            record(5, 0x1014, 1, 90),
        ];
        let told = [
            "fault: load access at PC 0x00001010: 7 threads, the first with packet 8",
            "fault: watchdog at PC 0x00001010: 1 thread, the first with packet 9",
            "fault: illegal instruction at PC 0x00001020: 1 thread, the first with packet 17",
            "fault: load access at PC 0x00001014: 1 thread, the first with packet 90",
        ];
        let verdicts = packets(&[(FAULT | 5, 8), (FAULT | 2, 1), (FAULT | 24, 1), (3, 7)]);
        assert_eq!(lines(&records, &verdicts, 10), told);
        assert!(lines(&[], &packets(&[(7, 3)]), 0).is_empty());
    }

    #[test]
    fn threads_without_a_record_are_told_by_their_verdicts() {
        let records = [record(5, 0x1010, 3, 40)];
        let verdicts = packets(&[(FAULT | 5, 5), (FAULT | 2, 4), (FAULT | 99, 1)]);
        let told = [
            "fault: load access at PC 0x00001010: 3 threads, the first with packet 40",
            "fault: illegal instruction, PC not on record since the fault FIFO was full: 4 threads",
            "fault: load access, PC not on record since the fault FIFO was full: 2 threads",
            "fault: cause 99, PC not on record since the fault FIFO was full: 1 thread",
        ];
        assert_eq!(lines(&records, &verdicts, 10), told);
        // Other verdicts than faults, as when a kernel returns one itself or the packets went through the ports.
        let unknown = "fault: cause not known, PC not on record since the fault FIFO was full: 6 threads";
        assert_eq!(lines(&records, &verdicts, 9), [told[0], unknown]);
        assert_eq!(lines(&records, &[], 9), [told[0], unknown]);
    }
}
