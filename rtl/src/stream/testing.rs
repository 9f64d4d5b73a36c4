//! What the native tests of this folder share: frames as beats, and one requester's port of a
//! memory.

use std::collections::BTreeSet;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::memory::testing::{Line, LineMemory};

/// Bytes of a slot before the frame.
pub const FRAME_OFFSET: usize = 18;

/// A beat of an AXI4-Stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// TDATA.
    pub data: Line,
    /// TKEEP.
    pub keep: u64,
    /// TLAST.
    pub last: bool,
    /// TUSER.
    pub user: u32,
}

/// The beats of a frame; bytes that do not count are random.
pub fn beats(frame: &[u8], port: u32, rng: &mut ChaCha8Rng) -> Vec<Beat> {
    let count = frame.len().div_ceil(64);
    let beat = |(index, part): (usize, &[u8])| {
        let mut data: Line = std::array::from_fn(|_| rng.gen());
        data[..part.len()].copy_from_slice(part);
        // The port counts in the first beat only, the error bit in the last.
        let user = if index == 0 { port } else { rng.gen::<u32>() >> 1 };
        let noise = if index + 1 < count { rng.gen::<u32>() & 1 << 31 } else { 0 };
        Beat { data, keep: u64::MAX >> (64 - part.len()), last: index + 1 == count, user: user | noise }
    };
    frame.chunks(64).enumerate().map(beat).collect()
}

/// One requester's port: requests wait and are performed in random order, those of one line and
/// kind in theirs; or all in theirs.
pub struct Memory {
    /// All requests of a kind are performed in their order.
    pub in_order: bool,
    /// Contents of memory.
    pub lines: LineMemory,
    /// Lines that cannot be read.
    pub failing: BTreeSet<u32>,
    /// Reads that were answered with an error.
    pub failed: u64,
    reads: Vec<(u64, u32)>,
    writes: Vec<(u64, u32, Line, u64)>,
}

impl Memory {
    /// A memory that was not written.
    pub fn new() -> Self {
        Self {
            in_order: false,
            lines: LineMemory::default(),
            failing: BTreeSet::new(),
            failed: 0,
            reads: Vec::new(),
            writes: Vec::new(),
        }
    }

    /// A read is accepted.
    pub fn read(&mut self, tag: u64, line: u32) {
        assert!(self.reads.iter().all(|read| read.0 != tag), "read tag {tag} is in use");
        self.reads.push((tag, line));
    }

    /// A write is accepted.
    pub fn write(&mut self, tag: u64, line: u32, data: Line, strobe: u64) {
        assert!(self.writes.iter().all(|write| write.0 != tag), "write tag {tag} is in use");
        self.writes.push((tag, line, data, strobe));
    }

    /// Answers a read: tag, line, and whether it failed.
    pub fn respond(&mut self, rng: &mut ChaCha8Rng) -> Option<(u64, Line, bool)> {
        let chosen = self.pick(self.reads.len(), rng, |index| self.reads[index].1)?;
        let (tag, line) = self.reads.remove(chosen);
        let fails = self.failing.contains(&line);
        self.failed += u64::from(fails);
        Some((tag, self.lines.read(line), fails))
    }

    /// Performs a write: its tag.
    pub fn perform(&mut self, rng: &mut ChaCha8Rng) -> Option<u64> {
        let chosen = self.pick(self.writes.len(), rng, |index| self.writes[index].1)?;
        let (tag, line, data, strobe) = self.writes.remove(chosen);
        self.lines.write(line, &data, strobe);
        Some(tag)
    }

    /// Nothing is outstanding.
    pub fn is_idle(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    /// The 32-bit word at a byte address.
    pub fn word(&self, address: u32) -> u32 {
        let (line, at) = (self.lines.read(address >> 6), address as usize & 63);
        u32::from_le_bytes([line[at], line[at + 1], line[at + 2], line[at + 3]])
    }

    /// Writes bytes at a byte address, as a core does.
    pub fn store(&mut self, address: u32, bytes: &[u8]) {
        for (address, &byte) in (address..).zip(bytes) {
            self.lines.write(address >> 6, &[byte; 64], 1 << (address & 63));
        }
    }

    /// Bytes from a byte address on.
    pub fn load(&self, address: u32, count: usize) -> Vec<u8> {
        (address..).take(count).map(|a| self.lines.read(a >> 6)[a as usize & 63]).collect()
    }

    /// The oldest request, or the oldest to the line of a random one.
    fn pick(&self, count: usize, rng: &mut ChaCha8Rng, line: impl Fn(usize) -> u32) -> Option<usize> {
        let any = (count > 0).then(|| rng.gen_range(0..count))?;
        (0..count).find(|&index| self.in_order || line(index) == line(any))
    }
}
