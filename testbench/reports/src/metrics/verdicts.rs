use std::collections::BTreeMap;
use std::io::{self, Write};

use super::PacketRecord;
use crate::cosim::{FaultRecord, PacketTimes};
use crate::verdict::{Verdict, FAULT};

/// Stands for the verdict of a packet that found no slot.
const DROPPED: &str = "dropped";

/// Writes the verdicts as CSV: a row for each packet in the order of `records`, which is commit
/// order. The verdict is in hexadecimal, everything else in cycles. Times that were not seen are
/// empty: `formed` without a retire trace, and `sent` of a packet that did not leave the packet
/// ports.
///
/// `dropped` are the numbers of the packets of the capture that found no slot at the packet ports,
/// rising: their rows have the verdict `dropped` and no times, and the others the numbers that are
/// left.
///
/// # Errors
/// Those of `output`.
pub fn write_verdicts(output: &mut impl Write, records: &[PacketRecord], dropped: &[u64]) -> io::Result<()> {
    writeln!(output, "packetIdx,verdict,arrival,start,finish,commit,inSlot,formed,sent")?;
    let mut lost = dropped.iter().copied().peekable();
    let mut before = 0;
    for r in records {
        while let Some(packet) = lost.next_if_eq(&(r.packet + before)) {
            writeln!(output, "{packet},{DROPPED},,,,,,,")?;
            before += 1;
        }
        let (packet, verdict) = (r.packet + before, r.verdict.0);
        write!(output, "{packet},{verdict:#010x},")?;
        match r.times {
            Some(t) => {
                let seen = |cycle: Option<u64>| cycle.map(|cycle| cycle.to_string()).unwrap_or_default();
                let PacketTimes { arrival, start, finish, commit, in_slot, .. } = t;
                let (formed, sent) = (seen(t.formed), seen(t.sent));
                writeln!(output, "{arrival},{start},{finish},{commit},{in_slot},{formed},{sent}")?;
            }
            None => writeln!(output, ",,,,,,")?,
        }
    }
    for packet in lost {
        writeln!(output, "{packet},{DROPPED},,,,,,,")?;
    }
    Ok(())
}

/// The packets of each verdict, under the names that `name` gives them. A kernel can return the
/// word of a fault verdict itself: packets of which it did so are named otherwise than those whose
/// threads faulted, of which the hardware has counted `faults`, those of spawned threads included,
/// and has put the records `on_record` into its FIFO.
pub fn name_verdicts(
    records: &[PacketRecord],
    faults: u64,
    on_record: &[FaultRecord],
    name: impl Fn(&Verdict) -> String,
) -> BTreeMap<String, usize> {
    let mut words: BTreeMap<u32, usize> = BTreeMap::new();
    for record in records {
        *words.entry(record.verdict.0).or_default() += 1;
    }
    let threads = |of: &dyn Fn(&FaultRecord) -> bool| -> usize {
        on_record.iter().filter(|fault| of(fault)).map(|fault| usize::from(fault.threads)).sum()
    };
    let fault_words: usize =
        words.iter().filter(|(word, _)| Verdict(**word).is_fault()).map(|(_, count)| count).sum();
    let of_packets = faults.saturating_sub(threads(&|fault| fault.job.is_some()) as u64);
    let mut names = BTreeMap::new();
    for (word, count) in words {
        let verdict = Verdict(word);
        let faulted = match verdict.is_fault() && fault_words as u64 != of_packets {
            true => {
                threads(&|fault| fault.job.is_none() && FAULT | u32::from(fault.cause) == word).min(count)
            }
            false => count,
        };
        let returned = (format!("{word:#010x} returned, no fault"), count - faulted);
        for (name, count) in [(name(&verdict), faulted), returned] {
            if count > 0 {
                *names.entry(name).or_insert(0) += count;
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::read_verdicts;

    #[test]
    fn one_row_a_packet() {
        let times = PacketTimes {
            arrival: 1,
            in_slot: 2,
            start: 20,
            finish: 300,
            commit: 301,
            ..PacketTimes::default()
        };
        let sent = PacketTimes { formed: Some(11), sent: Some(309), ..times };
        let record = PacketRecord { packet: 3, verdict: Verdict(0x8000_0008), times: Some(times) };
        let mut text = Vec::new();
        let records = [
            record,
            PacketRecord { packet: 4, verdict: Verdict(2), times: Some(sent) },
            PacketRecord { packet: 5, verdict: Verdict(0), times: None },
        ];
        write_verdicts(&mut text, &records, &[]).unwrap();
        let expected = "packetIdx,verdict,arrival,start,finish,commit,inSlot,formed,sent\n\
                        3,0x80000008,1,20,300,301,2,,\n4,0x00000002,1,20,300,301,2,11,309\n\
                        5,0x00000000,,,,,,,\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    /// Packets that found no slot stand between the others, in the order of the capture.
    #[test]
    fn dropped_packets_have_rows() {
        let record = |packet| PacketRecord { packet, verdict: Verdict(packet as u32), times: None };
        let mut text = Vec::new();
        write_verdicts(&mut text, &[record(0), record(1), record(2)], &[0, 2, 3, 6, 7]).unwrap();
        let text = String::from_utf8(text).unwrap();
        let rows: Vec<_> = text.lines().skip(1).map(|row| row.trim_end_matches(',')).collect();
        let expected = [
            "0,dropped",
            "1,0x00000000",
            "2,dropped",
            "3,dropped",
            "4,0x00000001",
            "5,0x00000002",
            "6,dropped",
            "7,dropped",
        ];
        assert_eq!(rows, expected);
        assert!(text.lines().all(|row| row.matches(',').count() == 8), "{text}");
    }

    #[test]
    fn what_is_written_reads_back() {
        let records: Vec<_> = (0..100)
            .map(|packet| PacketRecord { packet, verdict: Verdict(0x7fff_fff0 + packet as u32), times: None })
            .collect();
        let mut text = Vec::new();
        write_verdicts(&mut text, &records, &[]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("verdicts.csv");
        std::fs::write(&path, text).unwrap();
        let verdicts = read_verdicts(&path).unwrap();
        assert_eq!(verdicts, records.iter().map(|record| record.verdict).collect::<Vec<_>>());
    }
}
