//! The bytes of a capture: decompressed, and not without end.

use std::io::{self, BufReader, Cursor, Read};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::read::MultiGzDecoder;

use crate::input::size;

/// The first bytes of a gzip file (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Most bytes of a capture, decompressed, that are read: its frames are kept in memory.
pub const MOST_CAPTURE_BYTES: u64 = 1 << 30;

/// Why a [`Source`] ended too early.
pub type Problem = Arc<Mutex<Option<io::Error>>>;

/// Reads a capture. An error ends it like the end of the file, since the parser of captures asks
/// for no reason; it is kept beside.
pub struct Source<R> {
    bytes: Option<Bytes<R>>,
    left: u64,
    problem: Problem,
}

/// A file whose first two bytes were read already.
type Whole<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// Bytes as they are, or packed ones.
enum Bytes<R> {
    Plain(Whole<R>),
    Gzip(Box<MultiGzDecoder<BufReader<Whole<R>>>>),
}

impl<R: Read> Source<R> {
    /// The bytes of `file`, and what may go wrong while they are read.
    pub fn new(file: R) -> (Self, Problem) {
        Self::with_most(file, MOST_CAPTURE_BYTES)
    }

    fn with_most(mut file: R, most: u64) -> (Self, Problem) {
        let problem = Problem::default();
        let mut head = Vec::new();
        let read = file.by_ref().take(GZIP.len() as u64).read_to_end(&mut head);
        let packed = head == GZIP;
        let whole = Cursor::new(head).chain(file);
        let bytes = match packed {
            true => Bytes::Gzip(Box::new(MultiGzDecoder::new(BufReader::new(whole)))),
            false => Bytes::Plain(whole),
        };
        let mut source = Self { bytes: Some(bytes), left: most, problem: Arc::clone(&problem) };
        if let Err(error) = read {
            source.fail(error);
        }
        (source, problem)
    }

    /// Ends with `error`.
    fn fail(&mut self, error: io::Error) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        self.bytes = None;
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.bytes {
            None => return Ok(0),
            Some(Bytes::Plain(bytes)) => bytes.read(buffer),
            Some(Bytes::Gzip(bytes)) => bytes
                .read(buffer)
                .map_err(|error| io::Error::new(error.kind(), format!("damaged gzip file: {error}"))),
        };
        match read {
            Ok(count) if count as u64 > self.left => {
                self.fail(io::Error::other(format!(
                    "more than {} of capture; expected less, or --max-packets",
                    size(MOST_CAPTURE_BYTES)
                )));
                Ok(0)
            }
            Ok(count) => {
                self.left -= count as u64;
                Ok(count)
            }
            // To be asked again.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.fail(error);
                Ok(0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8], most: u64) -> (Vec<u8>, Option<String>) {
        let (mut source, problem) = Source::with_most(bytes, most);
        let mut all = Vec::new();
        source.read_to_end(&mut all).unwrap();
        let problem = problem.lock().unwrap().take().map(|error| error.to_string());
        (all, problem)
    }

    #[test]
    fn packed_and_plain_bytes_are_the_same() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
        assert_eq!(read(&bytes, 1 << 20), (bytes.clone(), None));
        assert_eq!(read(&packed(&bytes), 1 << 20), (bytes.clone(), None));
        // Files packed one by one and put together
        let two = [packed(&bytes[..1000]), packed(&bytes[1000..])].concat();
        assert_eq!(read(&two, 1 << 20), (bytes, None));
        for short in [&[][..], &[0x1f], b"ab"] {
            assert_eq!(read(short, 10), (short.to_vec(), None));
        }
    }

    #[test]
    fn damage_and_size_are_told() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
        let whole = packed(&bytes);
        let (_, problem) = read(&whole[..whole.len() / 2], 1 << 20);
        assert!(problem.as_deref().is_some_and(|text| text.starts_with("damaged gzip file")), "{problem:?}");
        for bytes in [bytes, whole] {
            let (read, problem) = read(&bytes, 100_000);
            assert!(read.len() <= 100_000);
            let problem = problem.unwrap();
            assert_eq!(problem, "more than 1 GiB of capture; expected less, or --max-packets");
        }
    }
}
