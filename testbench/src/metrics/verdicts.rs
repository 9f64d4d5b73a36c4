use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use super::PacketRecord;
use crate::cosim::{FaultRecord, PacketTimes};
use crate::input;
use crate::tables::InputError;
use crate::verdict::{Verdict, FAULT};

/// The columns that are read back.
const PACKET: &str = "packetIdx";
const VERDICT: &str = "verdict";
/// Stands for the verdict of a packet that found no slot.
const DROPPED: &str = "dropped";
/// The most bytes of a file with verdicts: those of some 8 million packets with all columns.
const MAX_BYTES: u64 = 256 << 20;

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

/// Reads verdicts: of a CSV file as [`write_verdicts`] makes it the columns `packetIdx` and
/// `verdict`, whatever else it has, or lines `packetIdx,verdict` without a header. Packets are
/// numbered from 0, in their order; verdicts are decimal or hexadecimal (`0x...`).
///
/// # Errors
/// The file cannot be read, a line is not like that, or a packet is missing.
pub fn read_verdicts(path: &Path) -> Result<Vec<Verdict>, InputError> {
    let bytes = input::read(path, MAX_BYTES).map_err(|error| InputError::file(path, error))?;
    let text = input::text(bytes).map_err(|_| InputError::file(path, "no text; expected verdicts"))?;
    parse_verdicts(&text).map_err(|(line, problem)| InputError::line(path, line, problem))
}

/// What `text` holds, or the number of a line and what is wrong with it.
fn parse_verdicts(text: &str) -> Result<Vec<Verdict>, (usize, String)> {
    let (mut columns, mut verdicts) = ((0, 1), Vec::new());
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let fields: Vec<_> = line.split(',').map(str::trim).collect();
        if number == 1 && fields.contains(&PACKET) {
            let verdict = fields.iter().position(|field| *field == VERDICT);
            let verdict = verdict.ok_or((number, format!("expected a column `{VERDICT}`")))?;
            columns = (fields.iter().position(|field| *field == PACKET).unwrap_or_default(), verdict);
            continue;
        }
        let field = |column: usize, name: &str| {
            let text = fields.get(column).copied().unwrap_or_default();
            input::number(text).ok_or_else(|| {
                (number, format!("{name} `{text}`: expected a number below 2^32, decimal or 0x..."))
            })
        };
        let (packet, verdict) = (field(columns.0, PACKET)?, field(columns.1, VERDICT)?);
        if packet as usize != verdicts.len() {
            return Err((number, format!("packet {packet}; expected packet {}", verdicts.len())));
        }
        verdicts.push(Verdict(verdict));
    }
    Ok(verdicts)
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
        let verdicts = parse_verdicts(std::str::from_utf8(&text).unwrap()).unwrap();
        assert_eq!(verdicts, records.iter().map(|record| record.verdict).collect::<Vec<_>>());
    }

    #[test]
    fn other_columns_and_errors() {
        let expected = Ok(vec![Verdict(5), Verdict(0x8000_0001)]);
        assert_eq!(parse_verdicts("0,5\r\n1,0x80000001\r\n\r\n"), expected);
        assert_eq!(parse_verdicts("verdict,why,packetIdx\n5,,0\n0x80000001,x,1\n"), expected);
        assert_eq!(parse_verdicts(""), Ok(Vec::new()));
        for (text, line, problem) in [
            ("packetIdx,arrival\n0,1\n", 1, "expected a column `verdict`"),
            ("0,1\n2,1\n", 2, "packet 2; expected packet 1"),
            ("0,drop\n", 1, "verdict `drop`: expected a number"),
            ("0\n", 1, "verdict ``: expected a number"),
            ("0,1\n1,0x100000000\n", 2, "verdict `0x100000000`"),
        ] {
            let (at, what) = parse_verdicts(text).unwrap_err();
            assert!(at == line && what.contains(problem), "{text}: {at} {what}");
        }
    }
}
