//! The value that a load gives to a lane.

use crate::types::riscv::size;
use hermes_hdl::prelude::*;

/// The value of one lane's load, from the word of memory at its address: byte or half select,
/// extension.
///
/// Combinational; `data` is 0 while `enable` is low.
#[derive(Clone, Default, LogicBlock)]
pub struct LoadValue {
    /// A value is wanted.
    pub enable: Signal<In, Bit>,
    /// The word, byte 0 in bits 7:0.
    pub word: Signal<In, Bits<32>>,
    /// Byte offset in the word, a multiple of the size.
    pub offset: Signal<In, Bits<2>>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub size: Signal<In, Bits<2>>,
    /// Extend bytes and half words by their sign instead of by zeros.
    pub sign_extend: Signal<In, Bit>,
    /// The extended value.
    pub data: Signal<Out, Bits<32>>,
}

impl Logic for LoadValue {
    #[hdl_gen]
    fn update(&mut self) {
        let mut first = bits::<8>(0);
        let mut second = bits::<8>(0);
        let mut upper = bits::<16>(0);
        let mut is_byte = false;
        let mut fill = false;
        let mut choice = false;
        self.data.next = bits::<32>(0);
        // All within the condition, so that a simulation skips it while nothing is loaded.
        if self.enable.val() {
            // The offset chooses the first byte for every size: that of a word is 0.
            match self.offset.val().index() {
                0 => first = self.word.val().get_bits::<8>(0),
                1 => first = self.word.val().get_bits::<8>(8),
                2 => first = self.word.val().get_bits::<8>(16),
                _ => first = self.word.val().get_bits::<8>(24),
            }
            // What extends the value
            is_byte = self.size.val() == bits::<2>(size::BYTE);
            fill = self.word.val().get_bit(15);
            if self.offset.val().get_bit(1) {
                fill = self.word.val().get_bit(31);
            }
            if is_byte {
                fill = first.get_bit(7);
            }
            fill &= self.sign_extend.val();
            // Of the second byte `choice` is the higher half of the word or, for a byte, the
            // extension: each bit depends on four.
            choice = self.offset.val().get_bit(1);
            if is_byte {
                choice = fill;
            }
            if choice {
                second = self.word.val().get_bits::<8>(24);
                if is_byte {
                    second = bits::<8>(0xff);
                }
            } else if !is_byte {
                second = self.word.val().get_bits::<8>(8);
            }
            if self.size.val().get_bit(1) {
                upper = self.word.val().get_bits::<16>(16);
            } else if fill {
                upper = bits::<16>(0xffff);
            }
            self.data.next = (bit_cast::<32, 16>(upper) << 16)
                | (bit_cast::<32, 8>(second) << 8)
                | bit_cast::<32, 8>(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{loaded_value, random};
    use crate::testing::settle;
    use rand::Rng;

    #[test]
    fn every_offset_size_and_sign() {
        let mut rng = random("load_value");
        let mut uut = LoadValue::default();
        for _ in 0..50 {
            let word: u32 = rng.gen();
            uut.word.next = bits(word.into());
            for size in 0..3u64 {
                for offset in (0..4).step_by(1 << size) {
                    for sign in [false, true] {
                        uut.enable.next = true;
                        uut.offset.next = bits(offset);
                        uut.size.next = bits(size);
                        uut.sign_extend.next = sign;
                        settle(&mut uut);
                        let expected = loaded_value(word, offset as u32, size, sign);
                        assert_eq!(
                            uut.data.val().to_u32(),
                            expected,
                            "offset {offset} size {size} sign {sign}"
                        );
                    }
                }
            }
            uut.enable.next = false;
            settle(&mut uut);
            assert_eq!(uut.data.val().to_u32(), 0);
        }
    }

    #[test]
    fn the_value_is_that_of_rust() {
        assert_eq!(loaded_value(0x8765_43a1, 0, 0, true), 0xffff_ffa1);
        assert_eq!(loaded_value(0x8765_43a1, 1, 0, true), 0x43);
        assert_eq!(loaded_value(0x8765_43a1, 2, 1, false), 0x8765);
        assert_eq!(loaded_value(0x8765_43a1, 2, 1, true), 0xffff_8765);
        assert_eq!(loaded_value(0x8765_43a1, 0, 2, true), 0x8765_43a1);
    }
}
