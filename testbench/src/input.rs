//! Files that are read: standard input by the name `-`, and no file beyond a size that it never
//! has.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

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
    fn sizes_are_told_in_the_largest_unit() {
        assert_eq!(
            [0, 1000, 3 << 10, 256 << 20, 1 << 30].map(size),
            ["0 bytes", "1000 bytes", "3 KiB", "256 MiB", "1 GiB"]
        );
    }
}
