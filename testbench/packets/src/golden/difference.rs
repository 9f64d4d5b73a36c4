use std::fmt;

use super::Golden;

/// How a field is printed.
#[derive(Clone, Copy)]
enum Format {
    Mac,
    Hex,
    Decimal,
    Address,
    /// Version and header length share a byte: upper and lower half.
    Upper,
    Lower,
}

/// The fields of the Ethernet and the IPv4 header: name, offset in the frame, bytes, format.
const FIELDS: &[(&str, usize, usize, Format)] = &[
    ("Ethernet destination", 0, 6, Format::Mac),
    ("Ethernet source", 6, 6, Format::Mac),
    ("EtherType", 12, 2, Format::Hex),
    ("IPv4 version", 14, 1, Format::Upper),
    ("IPv4 header length", 14, 1, Format::Lower),
    ("IPv4 type of service", 15, 1, Format::Hex),
    ("IPv4 total length", 16, 2, Format::Decimal),
    ("IPv4 identification", 18, 2, Format::Hex),
    ("IPv4 flags, fragment", 20, 2, Format::Hex),
    ("IPv4 time to live", 22, 1, Format::Decimal),
    ("IPv4 protocol", 23, 1, Format::Decimal),
    ("IPv4 header checksum", 24, 2, Format::Hex),
    ("IPv4 source", 26, 4, Format::Address),
    ("IPv4 destination", 30, 4, Format::Address),
];

/// Where the fields end and bytes are compared without names.
const PAYLOAD: usize = 34;

/// A packet that came out otherwise than its golden model says. Displayed field by field.
#[derive(Clone, Debug)]
pub struct Difference {
    /// packetIdx: the packet's number in the run, from 0.
    pub packet: u64,
    /// What the golden model says.
    pub expected: Golden,
    /// What came out of the array.
    pub got: Golden,
}

impl Difference {
    /// The difference between what a packet should be and what it is, if there is one.
    pub fn find(packet: u64, expected: Golden, got: Golden) -> Option<Self> {
        (expected != got).then_some(Self { packet, expected, got })
    }
}

/// The field at `offset` of `frame`, or what there is of it.
fn text(frame: &[u8], offset: usize, bytes: usize, format: Format) -> String {
    let Some(field) = frame.get(offset..offset + bytes) else { return "(none)".into() };
    let number = field.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let joined =
        |separator: &str, text: fn(&u8) -> String| field.iter().map(text).collect::<Vec<_>>().join(separator);
    match format {
        Format::Mac => joined(":", |byte| format!("{byte:02x}")),
        Format::Address => joined(".", u8::to_string),
        Format::Hex => format!("0x{number:0width$x}", width = 2 * bytes),
        Format::Decimal => number.to_string(),
        Format::Upper => (number >> 4).to_string(),
        Format::Lower => format!("{} bytes", (number & 0xf) * 4),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (expected, got) = (&self.expected, &self.got);
        writeln!(f, "packet {} of the capture, counted from 0:", self.packet)?;
        writeln!(f, "  {:<22} {:<26} {:<26}", "field", "expected", "got")?;
        let mut row = |name: &str, expected: String, got: String| {
            let mark = if expected == got { "" } else { "<-- differs" };
            writeln!(f, "  {name:<22} {expected:<26} {got:<26} {mark}")
        };
        row("verdict", expected.verdict.to_string(), got.verdict.to_string())?;
        row("verdict word", format!("{:#010x}", expected.verdict.0), format!("{:#010x}", got.verdict.0))?;
        row("frame bytes", expected.frame.len().to_string(), got.frame.len().to_string())?;
        for (name, offset, bytes, format) in FIELDS {
            row(
                name,
                text(&expected.frame, *offset, *bytes, *format),
                text(&got.frame, *offset, *bytes, *format),
            )?;
        }
        let longest = expected.frame.len().max(got.frame.len());
        let differs = |position: &usize| expected.frame.get(*position) != got.frame.get(*position);
        let mut positions = (PAYLOAD..longest).filter(differs);
        if let Some(first) = positions.next() {
            let byte = |frame: &[u8]| text(frame, first, 1, Format::Hex);
            row(&format!("frame byte {first}"), byte(&expected.frame), byte(&got.frame))?;
            writeln!(f, "  and {} more of the bytes after the IPv4 header differ", positions.count())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{Reason, Verdict};

    #[test]
    fn equal_packets_are_no_difference() {
        let golden = Golden { verdict: Verdict::forward(0), frame: vec![1; 60] };
        assert!(Difference::find(3, golden.clone(), golden).is_none());
    }

    #[test]
    fn the_report_names_what_differs() {
        let mut frame: Vec<u8> = (0..60).collect();
        let expected = Golden { verdict: Verdict::forward(0), frame: frame.clone() };
        frame[22] = 99;
        frame[50] = 0;
        frame[59] = 0;
        let got = Golden { verdict: Verdict::drop(Reason::Ttl), frame };
        let report = Difference::find(4, expected, got).unwrap().to_string();
        let marked: Vec<_> = report.lines().filter(|line| line.contains("<-- differs")).collect();
        assert!(report.starts_with("packet 4 of the capture, counted from 0:"), "{report}");
        assert_eq!(marked.len(), 4, "{report}");
        assert!(marked[0].contains("forward: port 0") && marked[0].contains("drop: TTL ran out"));
        assert!(
            marked[2].contains("IPv4 time to live") && marked[2].contains("22 ") && marked[2].contains("99")
        );
        assert!(
            marked[3].contains("frame byte 50") && marked[3].contains("0x32") && marked[3].contains("0x00")
        );
        assert!(report.contains("and 1 more of the bytes"));
    }

    #[test]
    fn frames_of_different_length_and_without_headers() {
        let golden = |bytes: usize| Golden { verdict: Verdict::forward(0), frame: vec![0; bytes] };
        let report = Difference::find(0, golden(10), golden(40)).unwrap().to_string();
        assert!(report.contains("(none)") && report.contains("frame byte 34"), "{report}");
    }
}
