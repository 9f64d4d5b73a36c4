//! Which parts of the shared memory are in use.

use std::collections::BTreeMap;

use super::error::CosimError;

/// First-fit allocator over a range of addresses; it keeps its books outside the memory that it
/// gives out.
#[derive(Clone, Debug)]
pub struct Allocator {
    /// First address and length of every free part; parts that touch are merged.
    free: BTreeMap<u64, u64>,
    /// Every part in use by its first address.
    used: BTreeMap<u64, Part>,
}

/// A part in use.
#[derive(Clone, Debug)]
struct Part {
    bytes: u64,
    /// What it is for, in errors.
    what: String,
}

impl Allocator {
    /// All addresses from `first` to below `end` are free.
    #[must_use]
    pub fn new(first: u64, end: u64) -> Self {
        let free = if first < end { BTreeMap::from([(first, end - first)]) } else { BTreeMap::new() };
        Self { free, used: BTreeMap::new() }
    }

    /// The lowest free part of `bytes` (at least 1) at a multiple of `alignment`, a power of two.
    ///
    /// # Errors
    /// [`CosimError::OutOfMemory`] naming `what`.
    pub fn allocate(&mut self, what: &str, bytes: u64, alignment: u64) -> Result<u32, CosimError> {
        self.allocate_behind(0, what, bytes, alignment)
    }

    /// As [`Self::allocate`], not below `from` if there is room, else anywhere.
    ///
    /// # Errors
    /// As [`Self::allocate`].
    pub fn allocate_behind(
        &mut self,
        from: u64,
        what: &str,
        bytes: u64,
        alignment: u64,
    ) -> Result<u32, CosimError> {
        let bytes = bytes.max(1);
        let fits = |(&first, &length): (&u64, &u64), from: u64| {
            let start = first.max(from).next_multiple_of(alignment);
            (start + bytes <= first + length).then_some(start)
        };
        let start = self
            .free
            .iter()
            .find_map(|part| fits(part, from))
            .or_else(|| self.free.iter().find_map(|part| fits(part, 0)));
        let start = start.ok_or_else(|| CosimError::OutOfMemory { what: what.to_string(), bytes })?;
        self.take(what, start, bytes);
        u32::try_from(start).map_err(|_| CosimError::OutOfMemory { what: what.to_string(), bytes })
    }

    /// Marks a part as in use, such as a kernel linked to fixed addresses.
    ///
    /// # Errors
    /// [`CosimError::Overlap`] naming both if a part in use lies there, [`CosimError::OutOfMemory`]
    /// naming `what` if not all of it is in the memory.
    pub fn reserve(&mut self, what: &str, first: u64, bytes: u64) -> Result<(), CosimError> {
        let bytes = bytes.max(1);
        let inside = |(&start, &length): (&u64, &u64)| first + bytes <= start + length;
        if self.free.range(..=first).next_back().is_some_and(inside) {
            self.take(what, first, bytes);
            return Ok(());
        }
        let in_use = self.used.range(..first + bytes).next_back();
        match in_use.filter(|(&start, part)| start + part.bytes > first) {
            Some((&other_first, part)) => Err(CosimError::Overlap {
                what: what.to_string(),
                first,
                last: first + bytes - 1,
                other: part.what.clone(),
                other_first,
                other_last: other_first + part.bytes - 1,
            }),
            None => Err(CosimError::OutOfMemory { what: format!("{what} at {first:#010x}"), bytes }),
        }
    }

    /// Frees what was allocated or reserved at `address`.
    ///
    /// # Errors
    /// [`CosimError::NotAllocated`].
    pub fn free(&mut self, address: u32) -> Result<(), CosimError> {
        let mut first = u64::from(address);
        let part = self.used.remove(&first).ok_or(CosimError::NotAllocated { address })?;
        let mut length = part.bytes;
        if let Some(after) = self.free.remove(&(first + length)) {
            length += after;
        }
        let before = self.free.range(..first).next_back().map(|(&start, &length)| (start, length));
        if let Some((start, before)) = before.filter(|(start, length)| start + length == first) {
            first = start;
            length += before;
        }
        self.free.insert(first, length);
        Ok(())
    }

    /// Free bytes in all.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.free.values().sum()
    }

    /// Bytes of the largest free part.
    #[must_use]
    pub fn largest_free(&self) -> u64 {
        self.free.values().copied().max().unwrap_or(0)
    }

    /// Moves a part that lies within one free part to the used ones.
    fn take(&mut self, what: &str, start: u64, bytes: u64) {
        let found = self.free.range(..=start).next_back().map(|(&first, &length)| (first, length));
        let (first, length) = found.expect("the part lies within a free part");
        self.free.remove(&first);
        if first < start {
            self.free.insert(first, start - first);
        }
        if start + bytes < first + length {
            self.free.insert(start + bytes, first + length - start - bytes);
        }
        self.used.insert(start, Part { bytes, what: what.to_string() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn parts_are_aligned_and_merge_when_freed() {
        let mut allocator = Allocator::new(64, 1024);
        let a = allocator.allocate("a", 10, 64).unwrap();
        let b = allocator.allocate("b", 100, 64).unwrap();
        let c = allocator.allocate("c", 1, 4).unwrap();
        assert_eq!((a, b, c), (64, 128, 76));
        assert!(allocator
            .allocate("d", 1024, 64)
            .unwrap_err()
            .to_string()
            .contains("no room for d of 1024 bytes"));
        for address in [b, a, c] {
            allocator.free(address).unwrap();
        }
        assert_eq!(allocator.allocate("all", 960, 64).unwrap(), 64);
        assert!(allocator.free(65).is_err() && allocator.free_bytes() == 0);
    }

    #[test]
    fn parts_lie_behind_an_address_while_there_is_room() {
        let mut allocator = Allocator::new(64, 1024);
        allocator.reserve("the kernel", 256, 256).unwrap();
        assert_eq!(allocator.allocate_behind(512, "a", 64, 64).unwrap(), 512);
        assert_eq!(allocator.allocate_behind(512, "b", 448, 64).unwrap(), 576);
        assert_eq!(allocator.allocate_behind(512, "c", 64, 64).unwrap(), 64, "no room behind");
        assert!(allocator.allocate_behind(512, "d", 256, 64).is_err());
    }

    #[test]
    fn reserved_parts_are_kept_free_of_others() {
        let mut allocator = Allocator::new(0, 4096);
        allocator.reserve("kernel", 1024, 100).unwrap();
        let error = |first: u64, bytes: u64| {
            allocator.clone().reserve("other", first, bytes).unwrap_err().to_string()
        };
        for (first, bytes, told) in [
            (1000, 100, "other at 0x000003e8 to 0x0000044b"),
            (1030, 10, "other at 0x00000406 to 0x0000040f"),
            (1123, 900, "other at 0x00000463 to 0x000007e6"),
            (0, 4096, "other at 0x00000000 to 0x00000fff"),
            (1100, 5000, "other at 0x0000044c to 0x000017d3"),
        ] {
            let expected = format!("{told} overlaps kernel at 0x00000400 to 0x00000463");
            assert_eq!(error(first, bytes), expected);
        }
        assert!(error(4000, 100).starts_with("no room for other at 0x00000fa0 of 100 bytes"));
        assert_eq!(allocator.allocate("big", 1100, 4).unwrap(), 1124);
        assert_eq!((allocator.largest_free(), allocator.free_bytes()), (1872, 2896));
        assert_eq!(allocator.allocate("small", 1024, 4).unwrap(), 0);
    }

    #[test]
    fn random_use_never_overlaps_and_loses_nothing() {
        let mut random = ChaCha8Rng::seed_from_u64(crate::test_seed());
        let mut allocator = Allocator::new(0, 1 << 20);
        let mut parts: Vec<(u64, u64)> = Vec::new();
        for _ in 0..5000 {
            if random.gen_bool(0.55) {
                let (bytes, alignment) = (random.gen_range(1..5000), 1 << random.gen_range(0..8));
                if let Ok(start) = allocator.allocate("part", bytes, alignment) {
                    let start = u64::from(start);
                    assert_eq!(start % alignment, 0);
                    assert!(parts.iter().all(|&(s, l)| start + bytes <= s || s + l <= start));
                    parts.push((start, bytes));
                }
            } else if !parts.is_empty() {
                let (start, _) = parts.swap_remove(random.gen_range(0..parts.len()));
                allocator.free(start as u32).unwrap();
            }
            let used: u64 = parts.iter().map(|p| p.1).sum();
            assert_eq!(allocator.free_bytes(), (1 << 20) - used);
        }
    }
}
