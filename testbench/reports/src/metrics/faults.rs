//! What threads faulted of.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::PacketRecord;
use crate::cosim::{Code, FaultRecord, MemoryMap};
use crate::iss::{disassemble, Class, Instruction, Isa};
use crate::verdict::{Verdict, FAULT};
use crate::words::number_of;

/// Threads that faulted of one cause at one instruction, as the records of the fault FIFO tell; or
/// those of one cause of which it had no room for a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FaultCause {
    /// Cause of the RISC-V privileged specification, or that of the watchdog. `None`: it is not
    /// known either.
    pub cause: Option<u32>,
    /// The cause in words.
    pub name: String,
    /// Address of the instruction, if there is a record.
    pub pc: Option<u32>,
    /// Threads.
    pub threads: u64,
    /// packetIdx of the first of them, if there is a record and they are no spawned threads.
    pub first_packet: Option<u32>,
    /// Of spawned threads: the slot of the job of the first of them, and its number in the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_spawned: Option<(u8, u32)>,
    /// What the record of the first of them says of the fault: the address of an access that is not
    /// allowed or misaligned, the word that is no instruction.
    pub value: Option<u32>,
    /// Where the instruction is, if the kernel's file tells: function or label, with the bytes
    /// behind it.
    pub function: Option<String>,
    /// Source file and line.
    pub line: Option<String>,
    /// The instruction in assembly.
    pub instruction: Option<String>,
    /// What is at the address of an access.
    pub area: Option<String>,
}

impl FaultCause {
    /// The causes of `threads` faults: those in `records`, in the order of their first packets,
    /// then those without a record, of which the verdicts of `packets` tell the cause.
    pub fn of(records: &[FaultRecord], packets: &[PacketRecord], threads: u64) -> Vec<Self> {
        let mut causes: BTreeMap<(u32, u32, bool), Self> = BTreeMap::new();
        let mut without_record: BTreeMap<u32, u64> = BTreeMap::new();
        for packet in packets.iter().filter(|packet| packet.verdict.is_fault()) {
            *without_record.entry(packet.verdict.0 & !FAULT).or_default() += 1;
        }
        let spawned: u64 = records.iter().filter(|record| record.job.is_some()).map(threads_of).sum();
        // A kernel can return such a verdict too; then it tells nothing.
        if without_record.values().sum::<u64>() != threads.saturating_sub(spawned) {
            without_record.clear();
        }
        for record in records {
            let (cause, threads) = (u32::from(record.cause), threads_of(record));
            let packet = record.job.is_none().then_some(record.packet);
            let key = (cause, record.pc, record.job.is_some());
            let entry = causes.entry(key).or_insert_with(|| Self {
                cause: Some(cause),
                name: name(cause),
                pc: Some(record.pc),
                threads: 0,
                first_packet: packet,
                first_spawned: record.job.map(|job| (job, record.packet)),
                value: Some(record.address),
                ..Self::default()
            });
            entry.threads += threads;
            if record.job.is_some() {
                continue;
            }
            if packet < entry.first_packet {
                (entry.first_packet, entry.value) = (packet, Some(record.address));
            }
            without_record.entry(cause).and_modify(|count| *count = count.saturating_sub(threads));
        }
        let mut causes: Vec<_> = causes.into_values().collect();
        causes
            .sort_by_key(|cause| (cause.first_spawned.is_some(), cause.first_packet, cause.pc, cause.cause));
        let mut rest = threads.saturating_sub(causes.iter().map(|cause| cause.threads).sum());
        for (cause, threads) in without_record.into_iter().filter(|(_, threads)| *threads > 0) {
            let (cause, name) = (Some(cause), name(cause));
            causes.push(Self { cause, name, threads, ..Self::default() });
            rest = rest.saturating_sub(threads);
        }
        if rest > 0 {
            let name = "cause not known".to_string();
            causes.push(Self { name, threads: rest, ..Self::default() });
        }
        causes
    }

    /// Whether the value is the address of a load or store.
    fn accesses_memory(&self) -> bool {
        matches!(self.cause, Some(4..=7))
    }

    /// Adds where the instruction is in `code`, and what `memory` has at the address of an access.
    pub fn explain(&mut self, code: &Code<'_>, memory: &MemoryMap) {
        let Some(pc) = self.pc else { return };
        let place = code.place(pc);
        (self.function, self.line) = (place.function(), place.source_line());
        let word = code.word(pc);
        let decoded = word.and_then(|word| Instruction::decode(word, &Isa::EVERYTHING));
        // A load that memory refused is told at the next instruction of its warp.
        let loads = decoded.is_none_or(|code| matches!(code.op.class(), Class::Load | Class::Atomic));
        if self.cause == Some(5) && !loads {
            self.name = "bus error of an earlier load".to_string();
        }
        self.instruction = word.map(|word| disassemble(pc, word, &Isa::EVERYTHING));
        self.area =
            self.value.filter(|_| self.accesses_memory()).map(|address| code.describe(address, memory));
    }
}

/// Threads of a record.
fn threads_of(record: &FaultRecord) -> u64 {
    record.threads.into()
}

/// A cause in words.
fn name(cause: u32) -> String {
    Verdict(FAULT | cause).to_string().trim_start_matches("fault: ").to_string()
}

impl fmt::Display for FaultCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, threads, .. } = self;
        let threads = number_of(*threads, "thread");
        match self.pc {
            Some(pc) => {
                write!(f, "fault: {name} at PC {pc:#010x}")?;
                if let Some(function) = &self.function {
                    write!(f, " in {function}")?;
                }
                if let Some(line) = &self.line {
                    write!(f, " ({line})")?;
                }
                if let Some(instruction) = &self.instruction {
                    write!(f, ", `{instruction}`")?;
                }
                if let Some(address) = self.value.filter(|_| self.accesses_memory()) {
                    write!(f, ", address {address:#010x}")?;
                }
                if let Some(area) = &self.area {
                    write!(f, " ({area})")?;
                }
                match (self.first_packet, self.first_spawned) {
                    (Some(packet), _) => write!(f, ": {threads}, the first with packet {packet}"),
                    (None, Some((job, thread))) => write!(
                        f,
                        ": {threads} of the thread spawner, the first thread {thread} of the job in slot {job}"
                    ),
                    (None, None) => write!(f, ": {threads}"),
                }
            }
            None => write!(
                f,
                "fault: {name}, PC not on record since faults came faster than the host reads the 32 records of the array: {threads}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{build_source, Kernel, RegisterClass};

    fn record(cause: u8, pc: u32, threads: u8, packet: u32) -> FaultRecord {
        FaultRecord {
            cause,
            pc,
            threads,
            packet,
            core: 1,
            slot: 2,
            address: packet,
            job: None,
            function: None,
        }
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
            "fault: load access at PC 0x00001010, address 0x00000008: 7 threads, the first with packet 8",
            "fault: watchdog at PC 0x00001010: 1 thread, the first with packet 9",
            "fault: illegal instruction at PC 0x00001020: 1 thread, the first with packet 17",
            "fault: load access at PC 0x00001014, address 0x0000005a: 1 thread, the first with packet 90",
        ];
        let verdicts = packets(&[(FAULT | 5, 8), (FAULT | 2, 1), (FAULT | 24, 1), (3, 7)]);
        assert_eq!(lines(&records, &verdicts, 10), told);
        assert!(lines(&[], &packets(&[(7, 3)]), 0).is_empty());
    }

    /// The record of a load that memory answers with an error has the PC of the instruction after
    /// it.
    #[test]
    fn a_bus_error_is_not_that_of_the_instruction_at_the_pc() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.elf");
        let text = ".globl kernel\nkernel: lw t0, 0(a1)\naddi a0, t0, 1\nret\n";
        build_source("k.S", text, RegisterClass::Rv32i, &path).unwrap();
        let kernel = Kernel::read(&path).unwrap();
        let told = |pc| {
            let mut cause = FaultCause::of(&[record(5, pc, 1, 64)], &packets(&[(FAULT | 5, 1)]), 1).remove(0);
            cause.explain(&Code::new(Some(&kernel), None), &MemoryMap::default());
            cause.to_string()
        };
        let load = told(kernel.entry);
        assert!(
            load.starts_with("fault: load access at PC 0x00001000 in kernel (k.S:2), `lw t0,0(a1)`"),
            "{load}"
        );
        let behind = told(kernel.entry + 4);
        assert!(behind.starts_with("fault: bus error of an earlier load at PC 0x00001004"), "{behind}");
    }

    #[test]
    fn spawned_threads_are_no_packets() {
        let spawned = |pc, threads, thread| FaultRecord { job: Some(3), ..record(5, pc, threads, thread) };
        let records = [spawned(0x1010, 3, 7), record(5, 0x1010, 2, 40), spawned(0x1010, 1, 4)];
        let told = [
            "fault: load access at PC 0x00001010, address 0x00000028: 2 threads, the first with packet 40",
            "fault: load access at PC 0x00001010, address 0x00000007: 4 threads of the thread spawner, the first thread 7 of the job in slot 3",
        ];
        assert_eq!(lines(&records, &packets(&[(FAULT | 5, 2), (3, 7)]), 6), told);
    }

    #[test]
    fn threads_without_a_record_are_told_by_their_verdicts() {
        let records = [record(5, 0x1010, 3, 40)];
        let verdicts = packets(&[(FAULT | 5, 5), (FAULT | 2, 4), (FAULT | 99, 1)]);
        let lost = |name: &str, threads: &str| {
            format!("fault: {name}, PC not on record since faults came faster than the host reads the 32 records of the array: {threads}")
        };
        let told = [
            "fault: load access at PC 0x00001010, address 0x00000028: 3 threads, the first with packet 40"
                .to_string(),
            lost("illegal instruction", "4 threads"),
            lost("load access", "2 threads"),
            lost("cause 99", "1 thread"),
        ];
        assert_eq!(lines(&records, &verdicts, 10), told);
        // Other verdicts than faults, as when a kernel returns one itself or the packets went
        // through the ports.
        let unknown = lost("cause not known", "6 threads");
        assert_eq!(lines(&records, &verdicts, 9), [told[0].clone(), unknown.clone()]);
        assert_eq!(lines(&records, &[], 9), [told[0].clone(), unknown]);
    }
}
