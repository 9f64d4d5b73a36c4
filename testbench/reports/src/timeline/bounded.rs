//! Outputs of a size at most.

use std::io::{self, Write};

/// Bytes that are kept for what ends an output.
const RESERVE: u64 = 512;

/// An output that takes pieces until the next one would make it too large, and then none.
#[derive(Debug)]
pub(super) struct Bounded<W> {
    output: W,
    written: u64,
    limit: u64,
    full: bool,
}

impl<W: Write> Bounded<W> {
    /// An output of any size.
    pub(super) const fn new(output: W) -> Self {
        Self { output, written: 0, limit: u64::MAX, full: false }
    }

    /// Takes so many bytes at most from now on, those that it has included.
    pub(super) fn set_limit(&mut self, bytes: u64) {
        self.limit = bytes;
    }

    /// The most bytes.
    pub(super) const fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether a piece did not fit.
    pub(super) const fn is_full(&self) -> bool {
        self.full
    }

    /// Takes no pieces any more.
    pub(super) fn fill(&mut self) {
        self.full = true;
    }

    /// Writes a piece, whole or not at all; behind one that did not fit comes none.
    ///
    /// # Errors
    /// Those of the output.
    pub(super) fn piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.full |= self.written.saturating_add(bytes.len() as u64).saturating_add(RESERVE) > self.limit;
        if self.full {
            return Ok(());
        }
        self.written += bytes.len() as u64;
        self.output.write_all(bytes)
    }

    /// Writes what ends the output, for which there is always room, and gives it back.
    ///
    /// # Errors
    /// Those of the output.
    pub(super) fn end(mut self, bytes: &[u8]) -> io::Result<W> {
        self.output.write_all(bytes)?;
        Ok(self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_and_in_order() {
        let mut output = Bounded::new(Vec::new());
        output.set_limit(RESERVE + 10);
        for (piece, full) in [("12345", false), ("123456", true), ("1", true)] {
            output.piece(piece.as_bytes()).unwrap();
            assert_eq!(output.is_full(), full);
        }
        assert_eq!(output.end(b"end").unwrap(), b"12345end");
    }
}
