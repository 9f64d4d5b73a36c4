//! Counting bits.

use hermes_hdl::prelude::*;

/// Bits 2 of all nibbles of a half word: that they are empty.
const EMPTY_HALF: u64 = 0x4444;

/// The same for a byte.
const EMPTY_BYTE: u64 = 0x44;

/// `clz`, `ctz` and `cpop` of the RISC-V extension Zbb.
///
/// Combinational; `count` is 0 while `enable` is low. Trailing zeros are the leading zeros of the
/// reversed word. Leading zeros: for each nibble it is found whether it is empty and else how many
/// zeros it begins with; the first nibble that is not empty is found by halving. Ones: the sum of
/// the nibbles' counts. The results for a nibble stand in that nibble of a vector, so that all
/// nibbles are processed in parallel.
#[derive(LogicBlock, Default)]
pub struct BitCount {
    /// A count is requested; else `count` is 0.
    pub enable: Signal<In, Bit>,
    /// Count the ones, else the zeros at one end.
    pub ones: Signal<In, Bit>,
    /// Zeros below the lowest one, else above the highest.
    pub trailing: Signal<In, Bit>,
    /// The word.
    pub a: Signal<In, Bits<32>>,
    /// The count, 0 to 32.
    pub count: Signal<Out, Bits<6>>,
}

impl Logic for BitCount {
    #[hdl_gen]
    fn update(&mut self) {
        let mut pairs = bits::<32>(0);
        let mut nibbles = bits::<32>(0);
        let mut bytes = bits::<32>(0);
        let mut word = bits::<32>(0);
        let mut bit_0 = bits::<32>(0);
        let mut bit_1 = bits::<32>(0);
        let mut bit_2 = bits::<32>(0);
        let mut bit_3 = bits::<32>(0);
        let mut full = bits::<32>(0);
        let mut two = bits::<32>(0);
        let mut sums = bits::<32>(0);
        let mut zeros = bits::<32>(0);
        let mut half = bits::<16>(0);
        let mut byte = bits::<8>(0);
        let mut nibble = bits::<4>(0);
        let mut skipped = bits::<6>(0);
        self.count.next = bits::<6>(0);
        if self.enable.val() {
            word = self.a.val();
            if self.trailing.val() {
                pairs = ((self.a.val() & 0x5555_5555) << 1) | ((self.a.val() >> 1) & 0x5555_5555);
                nibbles = ((pairs & 0x3333_3333) << 2) | ((pairs >> 2) & 0x3333_3333);
                bytes = ((nibbles & 0x0f0f_0f0f) << 4) | ((nibbles >> 4) & 0x0f0f_0f0f);
                word = (bytes << 24) | ((bytes & 0xff00) << 8) | ((bytes >> 8) & 0xff00) | (bytes >> 24);
            }
            bit_0 = word & 0x1111_1111;
            bit_1 = (word >> 1) & 0x1111_1111;
            bit_2 = (word >> 2) & 0x1111_1111;
            bit_3 = (word >> 3) & 0x1111_1111;
            if self.ones.val() {
                full = bit_0 & bit_1 & bit_2 & bit_3;
                two = (bit_0 & bit_1) | (bit_2 & bit_3) | ((bit_0 | bit_1) & (bit_2 | bit_3));
                sums = (bit_0 ^ bit_1 ^ bit_2 ^ bit_3) | ((two & !full) << 1) | (full << 2);
                self.count.next = ((bit_cast::<6, 3>(sums.get_bits::<3>(0))
                    + bit_cast::<6, 3>(sums.get_bits::<3>(4)))
                    + (bit_cast::<6, 3>(sums.get_bits::<3>(8)) + bit_cast::<6, 3>(sums.get_bits::<3>(12))))
                    + ((bit_cast::<6, 3>(sums.get_bits::<3>(16)) + bit_cast::<6, 3>(sums.get_bits::<3>(20)))
                        + (bit_cast::<6, 3>(sums.get_bits::<3>(24))
                            + bit_cast::<6, 3>(sums.get_bits::<3>(28))));
            } else {
                // In each nibble: bits 1:0 the zeros it begins with, bit 2 set if it is empty.
                zeros = ((!bit_3 & (bit_2 | !bit_1)) & 0x1111_1111)
                    | ((!(bit_3 | bit_2) & 0x1111_1111) << 1)
                    | ((!(bit_3 | bit_2 | bit_1 | bit_0) & 0x1111_1111) << 2);
                half = zeros.get_bits::<16>(16);
                if (half & bits::<16>(EMPTY_HALF)) == bits::<16>(EMPTY_HALF) {
                    half = zeros.get_bits::<16>(0);
                    skipped = bits::<6>(16);
                }
                byte = half.get_bits::<8>(8);
                if (byte & bits::<8>(EMPTY_BYTE)) == bits::<8>(EMPTY_BYTE) {
                    byte = half.get_bits::<8>(0);
                    skipped = skipped | 8;
                }
                nibble = byte.get_bits::<4>(4);
                if nibble.get_bit(2) {
                    nibble = byte.get_bits::<4>(0);
                    skipped = skipped | 4;
                }
                self.count.next = skipped | bit_cast::<6, 2>(nibble.get_bits::<2>(0));
                if nibble.get_bit(2) {
                    self.count.next = bits::<6>(32);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_hdl::prelude::simulate;
    use rand::Rng;

    #[test]
    fn counts_match_rust_on_corner_and_random_words() {
        let mut random = hermes_hdl::testing::random();
        let mut words: Vec<u32> = vec![0, u32::MAX, 0x5555_5555, 0xaaaa_aaaa];
        words.extend((0..32).flat_map(|i| [1 << i, u32::MAX << i, u32::MAX >> i]));
        words.extend((0..100).map(|_| random.gen::<u32>() & random.gen::<u32>()));
        let mut counter = BitCount::default();
        for a in words {
            counter.a.next = u64::from(a).into();
            let cases = [
                (true, true, false, a.count_ones()),
                (true, false, false, a.leading_zeros()),
                (true, false, true, a.trailing_zeros()),
                (false, true, true, 0),
            ];
            for (enable, ones, trailing, count) in cases {
                counter.enable.next = enable;
                counter.ones.next = ones;
                counter.trailing.next = trailing;
                assert!(simulate(&mut counter, 10));
                assert_eq!(counter.count.val().to_u32(), count, "{a:#x} ones {ones} trailing {trailing}");
            }
        }
    }
}
