//! Number of bytes of an AXI4-Stream beat.

use hermes_hdl::prelude::*;

/// Counts the bytes that `keep` marks, and checks whether they are the first ones of the beat.
///
/// Combinational.
#[derive(Clone, Default, LogicBlock)]
pub struct KeepCount {
    /// TKEEP of the beat, byte 0 in bit 0.
    pub keep: Signal<In, Bits<64>>,
    /// At least one byte, and all bytes from byte 0 on without a hole.
    pub contiguous: Signal<Out, Bit>,
    /// Bytes of the beat, 1 to 64; undefined unless `contiguous`.
    pub bytes: Signal<Out, Bits<7>>,
}

impl Logic for KeepCount {
    #[hdl_gen]
    fn update(&mut self) {
        // Ones from bit 0 on become a power of two when one is added, which has no bit in common
        // with them.
        let holes = self.keep.val() & (self.keep.val() + 1);
        self.contiguous.next = self.keep.val().get_bit(0) && !holes.any();

        // Each step looks at the last bit of the lower half: if it is set, the end is in the upper
        // half.
        let mut count = bits::<7>(0);
        let mut part32 = self.keep.val().get_bits::<32>(0);
        if self.keep.val().get_bit(31) {
            part32 = self.keep.val().get_bits::<32>(32);
            count = bits::<7>(32);
        }
        let mut part16 = part32.get_bits::<16>(0);
        if part32.get_bit(15) {
            part16 = part32.get_bits::<16>(16);
            count = count | 16;
        }
        let mut part8 = part16.get_bits::<8>(0);
        if part16.get_bit(7) {
            part8 = part16.get_bits::<8>(8);
            count = count | 8;
        }
        let mut part4 = part8.get_bits::<4>(0);
        if part8.get_bit(3) {
            part4 = part8.get_bits::<4>(4);
            count = count | 4;
        }
        let mut part2 = part4.get_bits::<2>(0);
        if part4.get_bit(1) {
            part2 = part4.get_bits::<2>(2);
            count = count | 2;
        }
        if part2.get_bit(0) {
            count = count | 1;
        }
        if self.keep.val().get_bit(63) {
            count = bits::<7>(64);
        }
        self.bytes.next = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::settle;
    use rand::Rng;

    #[test]
    fn counts_the_bytes_and_finds_holes() {
        let mut rng = random("keep_count");
        let mut uut = KeepCount::default();
        for bytes in 1..=64u64 {
            let keep = u64::MAX >> (64 - bytes);
            uut.keep.next = bits(keep);
            settle(&mut uut);
            assert!(uut.contiguous.val());
            assert_eq!(uut.bytes.val().to_u64(), bytes);
            let hole = keep & !(1 << rng.gen_range(0..bytes));
            uut.keep.next = bits(hole);
            settle(&mut uut);
            assert_eq!(uut.contiguous.val(), hole != 0 && hole == keep >> 1, "{hole:#x}");
        }
        uut.keep.next = bits(0);
        settle(&mut uut);
        assert!(!uut.contiguous.val());
    }
}
