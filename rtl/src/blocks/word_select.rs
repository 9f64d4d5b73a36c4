//! Picks a word out of a line.

use hermes_hdl::prelude::*;

/// A word of a 64-byte line.
///
/// Combinational: `word` answers the inputs in the same cycle and is 0 while `enable` is low.
#[derive(Clone, Default, LogicBlock)]
pub struct WordSelect {
    /// A word is wanted.
    pub enable: Signal<In, Bit>,
    /// The line, byte 0 in bits 7:0.
    pub line: Signal<In, Bits<512>>,
    /// Index of the word in the line.
    pub index: Signal<In, Bits<4>>,
    /// Value of the word, 0 while `enable` is low.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{line_to_bits, random};
    use crate::testing::settle;
    use rand::Rng;

    #[test]
    fn every_word() {
        let mut rng = random("word_select");
        let mut uut = WordSelect::default();
        for _ in 0..8 {
            let line: [u8; 64] = std::array::from_fn(|_| rng.gen());
            uut.line.next = line_to_bits(&line);
            uut.enable.next = true;
            for index in 0..16 {
                uut.index.next = bits(index as u64);
                settle(&mut uut);
                let expected: [u8; 4] = std::array::from_fn(|i| line[4 * index + i]);
                assert_eq!(uut.word.val().to_u32(), u32::from_le_bytes(expected), "word {index}");
            }
            uut.enable.next = false;
            settle(&mut uut);
            assert_eq!(uut.word.val().to_u32(), 0);
        }
    }
}
