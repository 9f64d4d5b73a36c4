use std::io::{self, Write};

use super::PacketRecord;

/// Writes the verdicts as CSV: a row for each packet in the order of `records`, which is commit order. The verdict is in
/// hexadecimal, everything else in cycles. Times that were not seen are empty.
///
/// # Errors
/// Those of `output`.
pub fn write_verdicts(output: &mut impl Write, records: &[PacketRecord]) -> io::Result<()> {
    writeln!(output, "packetIdx,verdict,arrival,start,finish,commit")?;
    for r in records {
        let (packet, verdict) = (r.packet, r.verdict.0);
        write!(output, "{packet},{verdict:#010x},")?;
        match r.times {
            Some(t) => writeln!(output, "{},{},{},{}", t.arrival, t.start, t.finish, t.commit)?,
            None => writeln!(output, ",,,")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::PacketTimes;
    use crate::verdict::Verdict;

    #[test]
    fn one_row_a_packet() {
        let times = PacketTimes { arrival: 1, start: 20, finish: 300, commit: 301, ..PacketTimes::default() };
        let record = PacketRecord { packet: 3, verdict: Verdict(0x8000_0008), times: Some(times) };
        let mut text = Vec::new();
        let records = [
            record,
            PacketRecord { packet: 4, verdict: Verdict(2), ..record },
            PacketRecord { packet: 5, verdict: Verdict(0), times: None },
        ];
        write_verdicts(&mut text, &records).unwrap();
        let expected = "packetIdx,verdict,arrival,start,finish,commit\n\
                        3,0x80000008,1,20,300,301\n4,0x00000002,1,20,300,301\n5,0x00000000,,,,\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
