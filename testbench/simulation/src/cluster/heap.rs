//! Memory of the symmetric heap by pieces: the same address on every node, as `shmem_malloc` gives.

use std::collections::BTreeMap;

/// Alignment of a piece: a line of the caches, so that what nodes put into one piece shares no line
/// with another one.
const ALIGNMENT: u32 = 64;

/// Why a piece could not be allocated or freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeapError {
    /// A piece of no bytes.
    #[error("a piece of the symmetric heap has at least one byte")]
    Empty,
    /// No gap is large enough.
    #[error("{bytes} bytes do not fit into the symmetric heap: its largest gap has {largest}")]
    Full {
        /// What was asked for.
        bytes: u32,
        /// Bytes of the largest gap.
        largest: u32,
    },
    /// Not an address of this heap.
    #[error("{address:#010x} is not in the symmetric heap, {first:#010x} to {last:#010x}")]
    Outside {
        /// What was to be freed.
        address: u32,
        /// First byte of the heap.
        first: u32,
        /// Its last byte.
        last: u32,
    },
    /// No piece is there: it was freed before, or there never was one.
    #[error("no piece of the symmetric heap is at {address:#010x}: it was freed before, or never given")]
    Free {
        /// What was to be freed.
        address: u32,
    },
    /// The address is within a piece.
    #[error("{address:#010x} is within the piece at {piece:#010x} of the symmetric heap; a piece is freed by its first address")]
    Within {
        /// What was to be freed.
        address: u32,
        /// First address of the piece.
        piece: u32,
    },
}

/// Which bytes of the symmetric heap are in use. One of them speaks for all nodes, since a piece
/// has the same address on each.
#[derive(Clone, Debug)]
pub struct SymmetricHeap {
    first: u32,
    bytes: u32,
    /// Bytes of the pieces, a multiple of the alignment, by their address.
    pieces: BTreeMap<u32, u32>,
}

impl SymmetricHeap {
    /// A heap of `bytes` bytes from `first` on, such as [`QueueArea::heap`](super::QueueArea). What
    /// is no whole line at its ends is not used.
    #[must_use]
    pub fn new(first: u32, bytes: u32) -> Self {
        let aligned = first.checked_next_multiple_of(ALIGNMENT).unwrap_or(first);
        let bytes = bytes.saturating_sub(aligned - first) / ALIGNMENT * ALIGNMENT;
        Self { first: aligned, bytes, pieces: BTreeMap::new() }
    }

    /// Gives the address of `bytes` bytes, a multiple of 64, in the first gap that has them. What
    /// they hold is not changed.
    ///
    /// # Errors
    /// [`HeapError::Empty`], [`HeapError::Full`].
    pub fn shmalloc(&mut self, bytes: u32) -> Result<u32, HeapError> {
        if bytes == 0 {
            return Err(HeapError::Empty);
        }
        let (mut at, mut largest) = (u64::from(self.first), 0);
        let end = at + u64::from(self.bytes);
        let pieces = self.pieces.iter().map(|(piece, bytes)| (u64::from(*piece), u64::from(*bytes)));
        for (piece, length) in pieces.chain([(end, 0)]) {
            let gap = piece - at;
            if u64::from(bytes) <= gap {
                // Both fit: the gap lies in the heap.
                self.pieces.insert(at as u32, bytes.next_multiple_of(ALIGNMENT));
                return Ok(at as u32);
            }
            largest = largest.max(gap as u32);
            at = piece + length;
        }
        Err(HeapError::Full { bytes, largest })
    }

    /// Frees a piece that [`Self::shmalloc`] gave.
    ///
    /// # Errors
    /// [`HeapError::Outside`], [`HeapError::Free`], [`HeapError::Within`]; nothing is freed then.
    pub fn shfree(&mut self, address: u32) -> Result<(), HeapError> {
        if address.wrapping_sub(self.first) >= self.bytes {
            let (first, last) = (self.first, self.first.wrapping_add(self.bytes).wrapping_sub(1));
            return Err(HeapError::Outside { address, first, last });
        }
        if self.pieces.remove(&address).is_some() {
            return Ok(());
        }
        match self.pieces.range(..address).next_back() {
            Some((piece, bytes)) if address - piece < *bytes => {
                Err(HeapError::Within { address, piece: *piece })
            }
            _ => Err(HeapError::Free { address }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_seed;
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    const FIRST: u32 = 0x1000;
    const LINES: usize = 40;

    /// Which piece each line is of.
    struct Lines([Option<u32>; LINES]);

    impl Lines {
        /// The lengths of the gaps, in lines, with their first lines.
        fn gaps(&self) -> Vec<(usize, usize)> {
            let mut gaps: Vec<(usize, usize)> = Vec::new();
            for (line, piece) in self.0.iter().enumerate() {
                match (piece, gaps.last_mut()) {
                    (None, Some((first, length))) if *first + *length == line => *length += 1,
                    (None, _) => gaps.push((line, 1)),
                    _ => {}
                }
            }
            gaps
        }

        fn allocate(&mut self, bytes: u32) -> Result<u32, HeapError> {
            let lines = bytes.div_ceil(64) as usize;
            let gaps = self.gaps();
            let largest = gaps.iter().map(|gap| gap.1 as u32 * 64).max().unwrap_or(0);
            let gap =
                gaps.into_iter().find(|gap| gap.1 >= lines).ok_or(HeapError::Full { bytes, largest })?;
            let address = FIRST + 64 * gap.0 as u32;
            self.0[gap.0..gap.0 + lines].fill(Some(address));
            Ok(address)
        }

        fn free(&mut self, address: u32) -> Result<(), HeapError> {
            let last = FIRST + 64 * LINES as u32 - 1;
            if !(FIRST..=last).contains(&address) {
                return Err(HeapError::Outside { address, first: FIRST, last });
            }
            match self.0[(address - FIRST) as usize / 64] {
                None => Err(HeapError::Free { address }),
                Some(piece) if piece != address => Err(HeapError::Within { address, piece }),
                Some(_) => {
                    self.0.iter_mut().filter(|line| **line == Some(address)).for_each(|line| *line = None);
                    Ok(())
                }
            }
        }
    }

    #[test]
    fn as_a_map_of_lines() {
        let mut random = ChaCha8Rng::seed_from_u64(test_seed());
        // Neither end is a whole line.
        let mut heap = SymmetricHeap::new(FIRST - 20, 20 + 64 * LINES as u32 + 63);
        let (mut lines, mut given) = (Lines([None; LINES]), vec![FIRST]);
        let mut seen = [0; 5];
        for step in 0..20_000 {
            if random.gen_bool(0.5) {
                let most = random.gen_range(1..=8);
                let bytes = random.gen_range(1..=64 * most);
                let address = heap.shmalloc(bytes);
                assert_eq!(address, lines.allocate(bytes), "step {step}: {bytes} bytes");
                given.extend(address);
                seen[usize::from(address.is_err())] += 1;
            } else {
                // Most are addresses that were given once, free again or not.
                let mut address = given[random.gen_range(given.len().saturating_sub(12)..given.len())];
                if random.gen_bool(0.2) {
                    address = random.gen_range(FIRST - 100..FIRST + 64 * LINES as u32 + 100);
                }
                let freed = heap.shfree(address);
                assert_eq!(freed, lines.free(address), "step {step}: {address:#x}");
                match freed {
                    Err(HeapError::Outside { .. }) => seen[2] += 1,
                    Err(HeapError::Free { .. }) => seen[3] += 1,
                    Err(_) => seen[4] += 1,
                    Ok(()) => {}
                }
            }
        }
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
    }

    #[test]
    fn limits() {
        let mut heap = SymmetricHeap::new(u32::MAX - 127, 128);
        assert_eq!(heap.shmalloc(0), Err(HeapError::Empty));
        assert_eq!(heap.shmalloc(129), Err(HeapError::Full { bytes: 129, largest: 128 }));
        assert_eq!(heap.shmalloc(128), Ok(u32::MAX - 127));
        assert_eq!(heap.shmalloc(1), Err(HeapError::Full { bytes: 1, largest: 0 }));
        assert_eq!(heap.shfree(u32::MAX - 127), Ok(()));
        let text = heap.shfree(u32::MAX - 127).unwrap_err().to_string();
        assert_eq!(
            text,
            "no piece of the symmetric heap is at 0xffffff80: it was freed before, or never given"
        );
        let mut small = SymmetricHeap::new(10, 40);
        assert_eq!(small.shmalloc(1), Err(HeapError::Full { bytes: 1, largest: 0 }));
        assert!(small.shfree(64).is_err());
    }
}
