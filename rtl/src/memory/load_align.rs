//! Picks one lane's value out of a line.

use super::LoadExtend;
use crate::prelude::*;

/// The word at an offset in a 64-byte line.
///
/// Combinational: `word` answers the inputs in the same cycle and is 0 while `enable` is low.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct WordSelect {
    /// A word is wanted.
    pub enable: Signal<In, Bit>,
    /// The line, byte 0 in bits 7:0.
    pub line: Signal<In, Bits<512>>,
    /// Number of the word in the line.
    pub index: Signal<In, Bits<4>>,
    /// The word.
    pub word: Signal<Out, Bits<32>>,
}

impl Logic for WordSelect {
    #[hdl_gen]
    fn update(&mut self) {
        // One line in 16 parts, of which the index picks one: the form that costs the fewest LUTs.
        self.word.next = bits::<32>(0);
        if self.enable.val() {
            match self.index.val().index() {
                0 => self.word.next = self.line.val().get_bits::<32>(0),
                1 => self.word.next = self.line.val().get_bits::<32>(32),
                2 => self.word.next = self.line.val().get_bits::<32>(64),
                3 => self.word.next = self.line.val().get_bits::<32>(96),
                4 => self.word.next = self.line.val().get_bits::<32>(128),
                5 => self.word.next = self.line.val().get_bits::<32>(160),
                6 => self.word.next = self.line.val().get_bits::<32>(192),
                7 => self.word.next = self.line.val().get_bits::<32>(224),
                8 => self.word.next = self.line.val().get_bits::<32>(256),
                9 => self.word.next = self.line.val().get_bits::<32>(288),
                10 => self.word.next = self.line.val().get_bits::<32>(320),
                11 => self.word.next = self.line.val().get_bits::<32>(352),
                12 => self.word.next = self.line.val().get_bits::<32>(384),
                13 => self.word.next = self.line.val().get_bits::<32>(416),
                14 => self.word.next = self.line.val().get_bits::<32>(448),
                _ => self.word.next = self.line.val().get_bits::<32>(480),
            }
        }
    }
}

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

    select: WordSelect,
    extend: LoadExtend,
}

impl Logic for LoadAlign {
    #[hdl_gen]
    fn update(&mut self) {
        self.select.enable.next = self.enable.val();
        self.select.line.next = self.line.val();
        self.select.index.next = self.offset.val().get_bits::<4>(2);
        self.extend.word.next = self.select.word.val();
        self.extend.offset.next = self.offset.val().get_bits::<2>(0);
        self.extend.size.next = self.size.val();
        self.extend.sign_extend.next = self.sign_extend.val();
        self.data.next = self.extend.data.val();
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
