//! Input files: reading, decompression, errors with line numbers.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::input;

/// The first bytes of a gzip file (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The first bytes of a bzip2 file.
const BZIP2: &[u8] = b"BZh";

/// The most bytes of a file, packed or not: several times the routing table of a large router.
const MOST_BYTES: u64 = 4 << 30;
/// The most bytes that a byte of a gzip file may become on average: deflate reaches 1,032, tables
/// and rules stay below 100. So a small file costs little memory.
const MAX_RATIO: u64 = 256;
/// Files that become no more than this may be packed as tightly as they like.
const SMALL_BYTES: u64 = 16 << 20;

/// What is wrong with an input file, and where.
#[derive(Debug, thiserror::Error)]
pub struct InputError {
    /// The file.
    pub path: PathBuf,
    /// The line, counted from 1, if the file is text and one line is at fault.
    pub line: Option<usize>,
    /// What is wrong, and what was expected.
    pub problem: String,
}

impl InputError {
    /// An error of the whole file.
    pub fn file(path: &Path, problem: impl fmt::Display) -> Self {
        Self { path: path.to_path_buf(), line: None, problem: problem.to_string() }
    }

    /// An error of a line, counted from 1.
    pub fn line(path: &Path, line: usize, problem: impl fmt::Display) -> Self {
        Self { path: path.to_path_buf(), line: Some(line), problem: problem.to_string() }
    }
}

impl fmt::Display for InputError {
    /// `FILE:LINE: PROBLEM` or `FILE: PROBLEM`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", input::name(&self.path))?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        write!(f, " {}", self.problem)
    }
}

/// The bytes of `path`, or of standard input, decompressed if it is a gzip file.
///
/// # Errors
/// The file cannot be read, is too large, or is damaged.
pub fn read(path: &Path) -> Result<Vec<u8>, InputError> {
    let bytes = input::read(path, MOST_BYTES).map_err(|error| InputError::file(path, error))?;
    if bytes.starts_with(BZIP2) {
        return Err(InputError::file(path, "compressed with bzip2; expected a plain or a gzip file"));
    }
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    let most = (bytes.len() as u64 * MAX_RATIO).clamp(SMALL_BYTES, MOST_BYTES);
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..])
        .take(most + 1)
        .read_to_end(&mut plain)
        .map_err(|error| InputError::file(path, format!("damaged gzip file: {error}")))?;
    if plain.len() as u64 > most {
        let packed = bytes.len();
        return Err(InputError::file(
            path,
            format!("a gzip file of {packed} bytes that becomes more than {most}; expected a table or rules"),
        ));
    }
    Ok(plain)
}

/// The bytes of `path` as text, without byte order marks.
///
/// # Errors
/// As [`read`]; or a line is no UTF-8.
pub fn read_text(path: &Path) -> Result<String, InputError> {
    text(path, read(path)?)
}

/// The bytes of the file `path` as text.
///
/// # Errors
/// A line is no UTF-8.
pub fn text(path: &Path, bytes: Vec<u8>) -> Result<String, InputError> {
    input::text(bytes).map_err(|(line, problem)| InputError::line(path, line, problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn compressed_and_plain_files_read_alike() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, packed) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&plain, "one\ntwo\n").unwrap();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(b"one\ntwo\n").unwrap();
        let bytes = encoder.finish().unwrap();
        std::fs::write(&packed, &bytes).unwrap();
        assert_eq!(read_text(&plain).unwrap(), read_text(&packed).unwrap());
        std::fs::write(&packed, &bytes[..bytes.len() - 9]).unwrap();
        assert!(read(&packed).unwrap_err().to_string().contains("b: damaged gzip file"));
        std::fs::write(&packed, "BZh91AY").unwrap();
        assert!(read(&packed).unwrap_err().to_string().contains("b: compressed with bzip2; expected"));
    }

    #[test]
    fn a_small_file_does_not_become_huge() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bomb.gz");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        let zeros = vec![0; 1 << 20];
        for _ in 0..20 {
            encoder.write_all(&zeros).unwrap();
        }
        let bytes = encoder.finish().unwrap();
        assert!(bytes.len() < 30_000);
        std::fs::write(&path, bytes).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("that becomes more than 16777216"), "{error}");
    }

    #[test]
    fn errors_name_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert!(read(&path).unwrap_err().to_string().contains("a: No such file"));
        std::fs::write(&path, b"one\ntwo \xff\n").unwrap();
        assert!(read_text(&path).unwrap_err().to_string().ends_with("a:2: not text: expected UTF-8"));
    }
}
