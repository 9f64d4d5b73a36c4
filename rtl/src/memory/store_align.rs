//! Places one lane's store data in its word.

use hermes_hdl::prelude::*;

/// What one lane stores in its word of the line: byte strobes and data.
///
/// Combinational. While `enable` is low `strobe` is 0.
#[derive(Clone, Default, LogicBlock)]
pub struct StoreAlign {
    /// The lane stores to the line.
    pub enable: Signal<In, Bit>,
    /// Byte offset in the word, a multiple of the size.
    pub offset: Signal<In, Bits<2>>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub size: Signal<In, Bits<2>>,
    /// The lane's register; its lowest bytes are stored.
    pub data: Signal<In, Bits<32>>,
    /// One bit for each byte of the word that is written.
    pub strobe: Signal<Out, Bits<4>>,
    /// The data in every place of the word where it may belong.
    pub word: Signal<Out, Bits<32>>,
}

impl Logic for StoreAlign {
    #[hdl_gen]
    fn update(&mut self) {
        self.strobe.next = bits::<4>(0);
        self.word.next = self.data.val();
        if self.enable.val() {
            if self.size.val() == 0 {
                self.strobe.next = bits::<4>(1) << self.offset.val();
                self.word.next = (self.data.val() & 0xff)
                    | ((self.data.val() & 0xff) << 8)
                    | ((self.data.val() & 0xff) << 16)
                    | (self.data.val() << 24);
            } else if self.size.val() == 1 {
                self.strobe.next = bits::<4>(3) << self.offset.val();
                self.word.next = (self.data.val() & 0xffff) | (self.data.val() << 16);
            } else {
                self.strobe.next = bits::<4>(15);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::settle;
    use rand::Rng;

    #[test]
    fn every_offset_and_size() {
        let mut rng = random("store_align");
        let mut uut = StoreAlign::default();
        for size in 0..3u64 {
            let bytes = 1usize << size;
            for offset in (0..4).step_by(bytes) {
                let data: u32 = rng.gen();
                uut.enable.next = true;
                uut.offset.next = bits(offset as u64);
                uut.size.next = bits(size);
                uut.data.next = bits(data.into());
                settle(&mut uut);
                let word = uut.word.val().to_u32().to_le_bytes();
                let mut strobe = 0;
                for i in 0..bytes {
                    assert_eq!(word[offset + i], data.to_le_bytes()[i], "offset {offset} size {size}");
                    strobe |= 1 << (offset + i);
                }
                assert_eq!(uut.strobe.val().to_u32(), strobe);
            }
        }
        uut.enable.next = false;
        settle(&mut uut);
        assert!(!uut.strobe.val().any());
    }
}
