//! Places one lane's store data in its word.

use crate::prelude::*;

/// Where and what one lane stores: the word of the line, the byte strobes in it and the data in place.
///
/// Combinational. While `enable` is low every output is 0.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct StoreAlign {
    /// This lane stores to the line.
    pub enable: Signal<In, Bit>,
    /// Byte offset in the line, a multiple of the size.
    pub offset: Signal<In, Bits<6>>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub size: Signal<In, Bits<2>>,
    /// The lane's register; its lowest bytes are stored.
    pub data: Signal<In, Bits<32>>,
    /// One bit for each word of the line: the word that the lane writes.
    pub select: Signal<Out, Bits<16>>,
    /// One bit for each byte of the word that is written.
    pub strobe: Signal<Out, Bits<4>>,
    /// One bit for each bit of the word that is written.
    pub keep: Signal<Out, Bits<32>>,
    /// The data in its place in the word; bits that are not written are 0.
    pub word: Signal<Out, Bits<32>>,

    replicated: Signal<Local, Bits<32>>,
}

impl Logic for StoreAlign {
    #[hdl_gen]
    fn update(&mut self) {
        self.select.next = bits::<16>(0);
        self.strobe.next = bits::<4>(0);
        self.keep.next = bits::<32>(0);
        self.replicated.next = self.data.val();
        if self.enable.val() {
            self.select.next = bits::<16>(1) << self.offset.val().get_bits::<4>(2);
            if self.size.val() == 0 {
                self.replicated.next = bit_cast::<32, 8>(self.data.val().get_bits::<8>(0))
                    | (bit_cast::<32, 8>(self.data.val().get_bits::<8>(0)) << 8)
                    | (bit_cast::<32, 8>(self.data.val().get_bits::<8>(0)) << 16)
                    | (bit_cast::<32, 8>(self.data.val().get_bits::<8>(0)) << 24);
                if self.offset.val().get_bits::<2>(0) == 0 {
                    self.strobe.next = bits::<4>(1);
                    self.keep.next = bits::<32>(0xff);
                } else if self.offset.val().get_bits::<2>(0) == 1 {
                    self.strobe.next = bits::<4>(2);
                    self.keep.next = bits::<32>(0xff00);
                } else if self.offset.val().get_bits::<2>(0) == 2 {
                    self.strobe.next = bits::<4>(4);
                    self.keep.next = bits::<32>(0xff_0000);
                } else {
                    self.strobe.next = bits::<4>(8);
                    self.keep.next = bits::<32>(0xff00_0000_u64);
                }
            } else if self.size.val() == 1 {
                self.replicated.next = bit_cast::<32, 16>(self.data.val().get_bits::<16>(0))
                    | (bit_cast::<32, 16>(self.data.val().get_bits::<16>(0)) << 16);
                if self.offset.val().get_bit(1) {
                    self.strobe.next = bits::<4>(12);
                    self.keep.next = bits::<32>(0xffff_0000_u64);
                } else {
                    self.strobe.next = bits::<4>(3);
                    self.keep.next = bits::<32>(0xffff);
                }
            } else {
                self.strobe.next = bits::<4>(15);
                self.keep.next = bits::<32>(0xffff_ffff_u64);
            }
        }
        self.word.next = self.replicated.val() & self.keep.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{random, settle};
    use rand::Rng;

    #[test]
    fn every_offset_and_size() {
        let mut rng = random("store_align");
        let mut uut = StoreAlign::default();
        for size in 0..3u64 {
            let bytes = 1usize << size;
            for offset in (0..64).step_by(bytes) {
                let data: u32 = rng.gen();
                uut.enable.next = true;
                uut.offset.next = bits(offset as u64);
                uut.size.next = bits(size);
                uut.data.next = bits(data.into());
                settle(&mut uut);
                let mut word = [0u8; 4];
                let mut keep = [0u8; 4];
                let mut strobe = 0;
                for i in 0..bytes {
                    word[offset % 4 + i] = data.to_le_bytes()[i];
                    keep[offset % 4 + i] = 0xff;
                    strobe |= 1 << (offset % 4 + i);
                }
                assert_eq!(uut.select.val().to_u32(), 1 << (offset / 4));
                assert_eq!(uut.strobe.val().to_u32(), strobe);
                assert_eq!(uut.keep.val().to_u32(), u32::from_le_bytes(keep));
                assert_eq!(uut.word.val().to_u32(), u32::from_le_bytes(word));
            }
        }
        uut.enable.next = false;
        settle(&mut uut);
        assert!(!uut.select.val().any() && !uut.strobe.val().any() && !uut.word.val().any());
    }
}
