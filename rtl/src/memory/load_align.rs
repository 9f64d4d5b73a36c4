//! Picks one lane's value out of a line.

use crate::prelude::*;

/// The value that one lane loads from a 64-byte line: word select, byte or half select, extension.
///
/// Combinational: `data` answers the inputs in the same cycle and is 0 while `enable` is low.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct LoadAlign {
    /// This lane's value is wanted.
    pub enable: Signal<In, Bit>,
    /// The line, byte 0 in bits 7:0.
    pub line: Signal<In, Bits<512>>,
    /// Byte offset in the line, a multiple of the size.
    pub offset: Signal<In, Bits<6>>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub size: Signal<In, Bits<2>>,
    /// Extend bytes and half words by their sign instead of by zeros.
    pub sign_extend: Signal<In, Bit>,
    /// The extended value.
    pub data: Signal<Out, Bits<32>>,

    quarter: Signal<Local, Bits<128>>,
    word: Signal<Local, Bits<32>>,
    half: Signal<Local, Bits<16>>,
    byte: Signal<Local, Bits<8>>,
}

impl Logic for LoadAlign {
    #[hdl_gen]
    fn update(&mut self) {
        self.quarter.next = bits::<128>(0);
        self.word.next = bits::<32>(0);
        self.half.next = bits::<16>(0);
        self.byte.next = bits::<8>(0);
        self.data.next = bits::<32>(0);
        if self.enable.val() {
            // A tree of constant slices: cheaper than a shift by a variable, in LUTs and in simulation.
            if self.offset.val().get_bit(5) {
                if self.offset.val().get_bit(4) {
                    self.quarter.next = self.line.val().get_bits::<128>(384);
                } else {
                    self.quarter.next = self.line.val().get_bits::<128>(256);
                }
            } else if self.offset.val().get_bit(4) {
                self.quarter.next = self.line.val().get_bits::<128>(128);
            } else {
                self.quarter.next = self.line.val().get_bits::<128>(0);
            }
            if self.offset.val().get_bit(3) {
                if self.offset.val().get_bit(2) {
                    self.word.next = self.quarter.val().get_bits::<32>(96);
                } else {
                    self.word.next = self.quarter.val().get_bits::<32>(64);
                }
            } else if self.offset.val().get_bit(2) {
                self.word.next = self.quarter.val().get_bits::<32>(32);
            } else {
                self.word.next = self.quarter.val().get_bits::<32>(0);
            }
            if self.offset.val().get_bit(1) {
                self.half.next = self.word.val().get_bits::<16>(16);
            } else {
                self.half.next = self.word.val().get_bits::<16>(0);
            }
            if self.offset.val().get_bit(0) {
                self.byte.next = self.half.val().get_bits::<8>(8);
            } else {
                self.byte.next = self.half.val().get_bits::<8>(0);
            }
            if self.size.val() == 0 {
                if self.sign_extend.val() && self.byte.val().get_bit(7) {
                    self.data.next = bit_cast::<32, 8>(self.byte.val()) | 0xffff_ff00_u64;
                } else {
                    self.data.next = bit_cast::<32, 8>(self.byte.val());
                }
            } else if self.size.val() == 1 {
                if self.sign_extend.val() && self.half.val().get_bit(15) {
                    self.data.next = bit_cast::<32, 16>(self.half.val()) | 0xffff_0000_u64;
                } else {
                    self.data.next = bit_cast::<32, 16>(self.half.val());
                }
            } else {
                self.data.next = self.word.val();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{line_to_bits, random, settle};
    use rand::Rng;

    #[test]
    fn every_offset_size_and_sign() {
        let mut rng = random("load_align");
        let mut uut = LoadAlign::default();
        for _ in 0..8 {
            let line: [u8; 64] = std::array::from_fn(|_| rng.gen());
            uut.line.next = line_to_bits(&line);
            for size in 0..3u64 {
                let bytes = 1 << size;
                for offset in (0..64).step_by(bytes) {
                    for sign in [false, true] {
                        uut.enable.next = true;
                        uut.offset.next = bits(offset as u64);
                        uut.size.next = bits(size);
                        uut.sign_extend.next = sign;
                        settle(&mut uut);
                        let raw: u32 = (0..bytes).map(|i| u32::from(line[offset + i]) << (8 * i)).sum();
                        let expected = match (size, sign) {
                            (0, true) => raw as u8 as i8 as u32,
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
            uut.enable.next = false;
            settle(&mut uut);
            assert_eq!(uut.data.val().to_u32(), 0);
        }
    }
}
