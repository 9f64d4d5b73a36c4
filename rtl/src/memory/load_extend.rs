//! Picks a byte or half word out of a word.

use crate::prelude::*;

/// The value that a load gives from the word at its address: byte or half select, extension.
///
/// Combinational.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct LoadExtend {
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

    half: Signal<Local, Bits<16>>,
    byte: Signal<Local, Bits<8>>,
    extension: Signal<Local, Bits<32>>,
}

impl Logic for LoadExtend {
    #[hdl_gen]
    fn update(&mut self) {
        self.half.next = self.word.val().get_bits::<16>(0);
        if self.offset.val().get_bit(1) {
            self.half.next = self.word.val().get_bits::<16>(16);
        }
        self.byte.next = self.half.val().get_bits::<8>(0);
        if self.offset.val().get_bit(0) {
            self.byte.next = self.half.val().get_bits::<8>(8);
        }
        self.extension.next = bits::<32>(0);
        if self.size.val().get_bit(1) {
            self.data.next = self.word.val();
        } else if self.size.val().get_bit(0) {
            if self.sign_extend.val() && self.half.val().get_bit(15) {
                self.extension.next = bits::<32>(0xffff_0000_u64);
            }
            self.data.next = self.extension.val() | bit_cast::<32, 16>(self.half.val());
        } else {
            if self.sign_extend.val() && self.byte.val().get_bit(7) {
                self.extension.next = bits::<32>(0xffff_ff00_u64);
            }
            self.data.next = self.extension.val() | bit_cast::<32, 8>(self.byte.val());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{random, settle};
    use rand::Rng;

    #[test]
    fn every_offset_size_and_sign() {
        let mut rng = random("load_extend");
        let mut uut = LoadExtend::default();
        for _ in 0..50 {
            let word: u32 = rng.gen();
            uut.word.next = bits(word.into());
            for size in 0..3u32 {
                for offset in (0..4).step_by(1 << size) {
                    for sign in [false, true] {
                        uut.offset.next = bits(offset);
                        uut.size.next = bits(size.into());
                        uut.sign_extend.next = sign;
                        settle(&mut uut);
                        let raw = word >> (8 * offset);
                        let expected = match (size, sign) {
                            (0, false) => raw & 0xff,
                            (0, true) => raw as u8 as i8 as u32,
                            (1, false) => raw & 0xffff,
                            (1, true) => raw as u16 as i16 as u32,
                            _ => raw,
                        };
                        assert_eq!(
                            uut.data.val().to_u32(),
                            expected,
                            "offset {offset} size {size} sign {sign}"
                        );
                    }
                }
            }
        }
    }
}
