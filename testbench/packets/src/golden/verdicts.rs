//! Files with verdicts, as runs write them and golden models of the user's own.

use std::path::Path;

use crate::input;
use crate::tables::InputError;
use crate::verdict::Verdict;

/// The columns that are read.
const PACKET: &str = "packetIdx";
const VERDICT: &str = "verdict";
/// The most bytes of a file with verdicts: those of some 8 million packets with all columns.
const MAX_BYTES: u64 = 256 << 20;

/// Reads verdicts: of a CSV file as runs write it the columns `packetIdx` and
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

#[cfg(test)]
mod tests {
    use super::*;

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
