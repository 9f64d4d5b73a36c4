//! Counting bits.

use crate::prelude::*;

/// `clz`, `ctz` and `cpop` of the RISC-V extension Zbb.
///
/// Combinational; `count` is 0 while `enable` is low. Trailing zeros are the leading zeros of the reversed word. Leading
/// zeros: each nibble tells whether it is empty and else how many zeros it begins with; the first nibble that is not empty
/// is found by halving. Ones: the sum of the nibbles' counts. What is said of a nibble stands in that nibble of a vector,
/// so that all nibbles are worked on at once.
#[derive(LogicBlock, Default)]
pub struct BitCount {
    /// A count is wanted.
    pub enable: Signal<In, Bit>,
    /// Count the ones, else the zeros at one end.
    pub ones: Signal<In, Bit>,
    /// Zeros below the lowest one, else above the highest.
    pub trailing: Signal<In, Bit>,
    /// The word.
    pub a: Signal<In, Bits<32>>,
    /// The count, 0 to 32.
    pub count: Signal<Out, Bits<6>>,

    pairs: Signal<Local, Bits<32>>,
    nibbles: Signal<Local, Bits<32>>,
    bytes: Signal<Local, Bits<32>>,
    word: Signal<Local, Bits<32>>,
    bit_0: Signal<Local, Bits<32>>,
    bit_1: Signal<Local, Bits<32>>,
    bit_2: Signal<Local, Bits<32>>,
    bit_3: Signal<Local, Bits<32>>,
    full: Signal<Local, Bits<32>>,
    two: Signal<Local, Bits<32>>,
    sums: Signal<Local, Bits<32>>,
    zeros: Signal<Local, Bits<32>>,
    half: Signal<Local, Bits<16>>,
    byte: Signal<Local, Bits<8>>,
    nibble: Signal<Local, Bits<4>>,
    skipped: Signal<Local, Bits<6>>,
}

impl Logic for BitCount {
    #[hdl_gen]
    fn update(&mut self) {
        self.pairs.next = bits::<32>(0);
        self.nibbles.next = bits::<32>(0);
        self.bytes.next = bits::<32>(0);
        self.word.next = bits::<32>(0);
        self.bit_0.next = bits::<32>(0);
        self.bit_1.next = bits::<32>(0);
        self.bit_2.next = bits::<32>(0);
        self.bit_3.next = bits::<32>(0);
        self.full.next = bits::<32>(0);
        self.two.next = bits::<32>(0);
        self.sums.next = bits::<32>(0);
        self.zeros.next = bits::<32>(0);
        self.half.next = bits::<16>(0);
        self.byte.next = bits::<8>(0);
        self.nibble.next = bits::<4>(0);
        self.skipped.next = bits::<6>(0);
        self.count.next = bits::<6>(0);
        if self.enable.val() {
            self.word.next = self.a.val();
            if self.trailing.val() {
                self.pairs.next = ((self.a.val() & 0x5555_5555) << 1) | ((self.a.val() >> 1) & 0x5555_5555);
                self.nibbles.next =
                    ((self.pairs.val() & 0x3333_3333) << 2) | ((self.pairs.val() >> 2) & 0x3333_3333);
                self.bytes.next =
                    ((self.nibbles.val() & 0x0f0f_0f0f) << 4) | ((self.nibbles.val() >> 4) & 0x0f0f_0f0f);
                self.word.next = (self.bytes.val() << 24)
                    | ((self.bytes.val() & 0xff00) << 8)
                    | ((self.bytes.val() >> 8) & 0xff00)
                    | (self.bytes.val() >> 24);
            }
            self.bit_0.next = self.word.val() & 0x1111_1111;
            self.bit_1.next = (self.word.val() >> 1) & 0x1111_1111;
            self.bit_2.next = (self.word.val() >> 2) & 0x1111_1111;
            self.bit_3.next = (self.word.val() >> 3) & 0x1111_1111;
            if self.ones.val() {
                self.full.next = self.bit_0.val() & self.bit_1.val() & self.bit_2.val() & self.bit_3.val();
                self.two.next = (self.bit_0.val() & self.bit_1.val())
                    | (self.bit_2.val() & self.bit_3.val())
                    | ((self.bit_0.val() | self.bit_1.val()) & (self.bit_2.val() | self.bit_3.val()));
                self.sums.next = (self.bit_0.val() ^ self.bit_1.val() ^ self.bit_2.val() ^ self.bit_3.val())
                    | ((self.two.val() & !self.full.val()) << 1)
                    | (self.full.val() << 2);
                self.count.next = ((bit_cast::<6, 3>(self.sums.val().get_bits::<3>(0))
                    + bit_cast::<6, 3>(self.sums.val().get_bits::<3>(4)))
                    + (bit_cast::<6, 3>(self.sums.val().get_bits::<3>(8))
                        + bit_cast::<6, 3>(self.sums.val().get_bits::<3>(12))))
                    + ((bit_cast::<6, 3>(self.sums.val().get_bits::<3>(16))
                        + bit_cast::<6, 3>(self.sums.val().get_bits::<3>(20)))
                        + (bit_cast::<6, 3>(self.sums.val().get_bits::<3>(24))
                            + bit_cast::<6, 3>(self.sums.val().get_bits::<3>(28))));
            } else {
                // In each nibble: bits 1:0 the zeros it begins with, bit 2 set if it is empty.
                self.zeros.next = ((!self.bit_3.val() & (self.bit_2.val() | !self.bit_1.val()))
                    & 0x1111_1111)
                    | ((!(self.bit_3.val() | self.bit_2.val()) & 0x1111_1111) << 1)
                    | ((!(self.bit_3.val() | self.bit_2.val() | self.bit_1.val() | self.bit_0.val())
                        & 0x1111_1111)
                        << 2);
                self.half.next = self.zeros.val().get_bits::<16>(16);
                if (self.half.val() & 0x4444) == 0x4444 {
                    self.half.next = self.zeros.val().get_bits::<16>(0);
                    self.skipped.next = bits::<6>(16);
                }
                self.byte.next = self.half.val().get_bits::<8>(8);
                if (self.byte.val() & 0x44) == 0x44 {
                    self.byte.next = self.half.val().get_bits::<8>(0);
                    self.skipped.next = self.skipped.val() | 8;
                }
                self.nibble.next = self.byte.val().get_bits::<4>(4);
                if self.nibble.val().get_bit(2) {
                    self.nibble.next = self.byte.val().get_bits::<4>(0);
                    self.skipped.next = self.skipped.val() | 4;
                }
                self.count.next = self.skipped.val() | bit_cast::<6, 2>(self.nibble.val().get_bits::<2>(0));
                if self.nibble.val().get_bit(2) {
                    self.count.next = bits::<6>(32);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use rust_hdl::prelude::simulate;

    #[test]
    fn counts_match_rust_on_corner_and_random_words() {
        let mut random = crate::testing::random();
        let mut words: Vec<u32> = vec![0, u32::MAX, 0x5555_5555, 0xaaaa_aaaa];
        words.extend((0..32).flat_map(|i| [1 << i, u32::MAX << i, u32::MAX >> i]));
        words.extend((0..100).map(|_| random.gen::<u32>() & random.gen::<u32>()));
        let mut counter = BitCount::default();
        counter.connect_all();
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
