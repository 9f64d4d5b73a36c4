//! The place of a line in a cache, or its bank: a fold of its address.

use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Folds a line address to an index of a few bits: bit `i` is the XOR of the address bits
/// `skip + i + j * bits` for all `j`.
///
/// Combinational. Packets stand in slots whose distance is a power of two; a plain index would put
/// all their headers into a few places. The fold reaches every place with any `bits` consecutive
/// address bits above the lowest `skip`.
#[derive(Clone, LogicBlock)]
#[new(bits: usize, skip: usize, folded: usize)]
pub struct IndexHash {
    /// The line address: byte address bits 31:6.
    pub line: Signal<In, LineAddress>,
    /// The index; bits above its width are zero.
    pub index: Signal<Out, Bits<16>>,
    #[init(bits)]
    _bits: usize,
    #[init(skip)]
    _skip: usize,
    #[init(folded.checked_div(bits).unwrap_or(0))]
    _groups: usize,
    #[init(folded.checked_rem(bits).unwrap_or(0))]
    _rest: usize,
}

impl IndexHash {
    /// A fold to `bits` bits of the address without its lowest `skip` bits.
    ///
    /// # Panics
    /// If `bits` is above 16 or `skip` above 25.
    pub fn new(bits: usize, skip: usize) -> Self {
        assert!(bits <= 16 && skip < 26, "IndexHash: {bits} bits without the lowest {skip}");
        let folded = 26 - skip;
        Self::wired(bits, skip, folded)
    }
}

impl Logic for IndexHash {
    #[hdl_gen]
    fn update(&mut self) {
        let mut fold = bits::<16>(0);
        for group in 0..self._groups {
            for i in 0..self._bits {
                fold = fold.replace_bit(
                    i,
                    fold.get_bit(i) ^ self.line.val().get_bit(self._skip + group * self._bits + i),
                );
            }
        }
        for i in 0..self._rest {
            fold = fold.replace_bit(
                i,
                fold.get_bit(i) ^ self.line.val().get_bit(self._skip + self._groups * self._bits + i),
            );
        }
        self.index.next = fold;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::settle;
    use rand::Rng;
    use std::collections::HashSet;

    fn expected(line: u64, width: usize, skip: usize) -> u64 {
        (skip..26)
            .filter(|_| width > 0)
            .fold(0, |index, bit| index ^ ((line >> bit & 1) << ((bit - skip) % width.max(1))))
    }

    #[test]
    fn folds_the_address() {
        let mut rng = random("index_hash");
        for (width, skip) in [(0, 0), (1, 0), (3, 0), (6, 3), (8, 1), (12, 2), (16, 0)] {
            let mut unit = IndexHash::new(width, skip);
            for _ in 0..100 {
                let line = rng.gen_range(0..1u64 << 26);
                unit.line.next = bits(line);
                settle(&mut unit);
                assert_eq!(
                    unit.index.val().to_u64(),
                    expected(line, width, skip),
                    "{width} {skip} {line:#x}"
                );
            }
        }
    }

    #[test]
    fn every_stride_reaches_every_place() {
        for stride in 3..20 {
            let places: HashSet<u64> = (0..64).map(|i| expected(i << stride, 6, 3)).collect();
            assert_eq!(places.len(), 64, "stride 2^{stride}");
        }
    }
}
