use std::io::{self, Write};

use super::PacketRecord;

/// Writes the verdicts as CSV: a row for each packet in the order of `records`, which is commit order. The verdict is in
/// hexadecimal, everything else in cycles.
///
/// # Errors
/// Those of `output`.
pub fn write_verdicts(output: &mut impl Write, records: &[PacketRecord]) -> io::Result<()> {
    writeln!(output, "packetIdx,verdict,arrival,start,finish,commit")?;
    for r in records {
        let (packet, verdict) = (r.packet, r.verdict.0);
        writeln!(output, "{packet},{verdict:#010x},{},{},{},{}", r.arrival, r.start, r.finish, r.commit)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Verdict;

    #[test]
    fn one_row_a_packet() {
        let record = PacketRecord {
            packet: 3,
            verdict: Verdict(0x8000_0008),
            arrival: 1,
            start: 20,
            finish: 300,
            commit: 301,
        };
        let mut text = Vec::new();
        write_verdicts(&mut text, &[record, PacketRecord { packet: 4, verdict: Verdict(2), ..record }])
            .unwrap();
        let expected = "packetIdx,verdict,arrival,start,finish,commit\n\
                        3,0x80000008,1,20,300,301\n4,0x00000002,1,20,300,301\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
