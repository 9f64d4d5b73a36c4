//! Files that are read: standard input by the name `-`, and no file beyond a size that it never
//! has.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

/// The name of standard input, and of standard output.
pub const STANDARD: &str = "-";

/// Most bytes of what tells no size before it is read: pipes, devices.
pub const MOST_STREAM_BYTES: u64 = 256 << 20;

/// Most bytes of a program (ELF).
pub const MOST_PROGRAM_BYTES: u64 = 64 << 20;

/// Whether `path` is the name of standard input or output.
#[must_use]
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

/// How `path` is called in messages.
#[must_use]
pub fn name(path: &Path) -> String {
    if is_standard(path) {
        return "standard input".to_string();
    }
    path.display().to_string()
}

/// Opens `path`, or standard input.
///
/// # Errors
/// Any of the file system.
pub fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if is_standard(path) {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(File::open(path)?))
}

/// The bytes of `path`, or of standard input: at most `most`, and at most [`MOST_STREAM_BYTES`] of
/// what is no regular file.
///
/// # Errors
/// Any of the file system; there are more bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let regular = !is_standard(path) && path.metadata()?.is_file();
    let (most, what) = if regular { (most, "file") } else { (most.min(MOST_STREAM_BYTES), "pipe or device") };
    let mut bytes = Vec::new();
    open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("larger than {}; expected a smaller {what}", size(most))));
    }
    Ok(bytes)
}

/// A byte order mark in UTF-8, which editors put in front of a text.
const MARK: &str = "\u{feff}";
/// Byte order marks of UTF-16.
const MARKS_16: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];

/// Bytes as text, without byte order marks in front of it or of a line, where they come from texts
/// that were joined.
///
/// # Errors
/// The number of the first line that is no UTF-8, from 1, and what is wrong.
pub fn text(bytes: Vec<u8>) -> Result<String, (usize, &'static str)> {
    if MARKS_16.iter().any(|mark| bytes.starts_with(mark)) {
        return Err((1, "is text in UTF-16; expected UTF-8"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..good].iter().filter(|byte| **byte == b'\n').count();
        (line, "not text: expected UTF-8")
    })?;
    if !text.contains(MARK) {
        return Ok(text);
    }
    let lines = text.split_inclusive('\n').map(|line| line.trim_start_matches(MARK));
    Ok(lines.collect())
}

/// Bytes without a byte order mark of UTF-8 in front of them.
#[must_use]
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK.as_bytes()).unwrap_or(bytes)
}

/// A decimal number: digits alone, no sign.
#[must_use]
pub fn decimal<T: FromStr>(digits: &str) -> Option<T> {
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// A number of hexadecimal digits alone, no sign.
#[must_use]
pub fn hexadecimal(digits: &str) -> Option<u32> {
    let all = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    all.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// A number below 2^32, decimal or hexadecimal with `0x`.
#[must_use]
pub fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => hexadecimal(digits),
        None => decimal(text),
    }
}

/// A number of bytes in the largest binary unit that divides it.
#[must_use]
pub fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(log2, _)| bytes > 0 && bytes % (1 << log2) == 0);
    unit.map_or(format!("{bytes} bytes"), |(log2, name)| format!("{} {name}", bytes >> log2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_at_most_what_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("four");
        std::fs::write(&path, "four").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"four");
        let error = read(&path, 3).unwrap_err().to_string();
        assert_eq!(error, "larger than 3 bytes; expected a smaller file");
        let zero = Path::new("/dev/zero");
        if zero.exists() {
            let error = read(zero, 1 << 20).unwrap_err().to_string();
            assert_eq!(error, "larger than 1 MiB; expected a smaller pipe or device");
        }
    }

    #[test]
    fn texts_have_no_marks() {
        let read = |bytes: &[u8]| text(bytes.to_vec());
        assert_eq!(read("\u{feff}a\n\u{feff}b\u{feff}\n".as_bytes()).unwrap(), "a\nb\u{feff}\n");
        assert_eq!(read(b"a\r\nb").unwrap(), "a\r\nb");
        assert_eq!(read(b"a\nb\xff\n"), Err((2, "not text: expected UTF-8")));
        for bytes in [b"\xff\xfea\0", b"\xfe\xff\0a"] {
            assert_eq!(read(bytes), Err((1, "is text in UTF-16; expected UTF-8")));
        }
        assert_eq!((without_mark(b"\xef\xbb\xbf{}"), without_mark(b"{}")), (&b"{}"[..], &b"{}"[..]));
    }

    #[test]
    fn numbers_have_no_signs() {
        assert_eq!((decimal("255"), decimal::<u8>("256")), (Some(255_u8), None));
        assert_eq!(
            (number("0x1F"), number("31"), number("0xffffffff")),
            (Some(31), Some(31), Some(u32::MAX))
        );
        for bad in ["", "+1", "-1", " 1", "1 ", "0x", "0x+1", "0x-1", "1_0", "0x100000000", "4294967296"] {
            assert_eq!(number(bad), None, "{bad}");
        }
    }

    #[test]
    fn sizes_are_told_in_the_largest_unit() {
        assert_eq!(
            [0, 1000, 3 << 10, 256 << 20, 1 << 30].map(size),
            ["0 bytes", "1000 bytes", "3 KiB", "256 MiB", "1 GiB"]
        );
    }
}
