//! Bytes of a line to other places.

use hermes_hdl::prelude::*;

/// Rotates 64 bytes in two stages: byte n goes to place n + `places`, modulo 64.
///
/// `rotated` answers the inputs two cycles later. While `hold` is high both stages keep what they
/// have.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct ByteRotate {
    /// The stages keep what they have.
    pub hold: Signal<In, Bit>,
    /// The bytes, byte 0 in bits 7:0.
    pub data: Signal<In, Bits<512>>,
    /// Places by which the bytes are rotated.
    pub places: Signal<In, Bits<6>>,
    /// The bytes at their places.
    pub rotated: Signal<Out, Bits<512>>,
    coarse: Register<Bits<512>>,
    fine_places: Register<Bits<3>>,
    fine: Register<Bits<512>>,
}

impl Logic for ByteRotate {
    #[hdl_gen]
    fn update(&mut self) {
        let mut by_32 = self.data.val();
        if self.places.val().get_bit(5) {
            by_32 = (self.data.val() << 256) | (self.data.val() >> 256);
        }
        let mut by_16 = by_32;
        if self.places.val().get_bit(4) {
            by_16 = (by_32 << 128) | (by_32 >> 384);
        }
        let mut by_8 = by_16;
        if self.places.val().get_bit(3) {
            by_8 = (by_16 << 64) | (by_16 >> 448);
        }
        let half = self.coarse.q.val();
        let mut by_4 = half;
        if self.fine_places.q.val().get_bit(2) {
            by_4 = (half << 32) | (half >> 480);
        }
        let mut by_2 = by_4;
        if self.fine_places.q.val().get_bit(1) {
            by_2 = (by_4 << 16) | (by_4 >> 496);
        }
        let mut by_1 = by_2;
        if self.fine_places.q.val().get_bit(0) {
            by_1 = (by_2 << 8) | (by_2 >> 504);
        }
        if !self.hold.val() {
            self.coarse.d.next = by_8;
            self.fine_places.d.next = self.places.val().get_bits::<3>(0);
            self.fine.d.next = by_1;
        }
        self.rotated.next = self.fine.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{bits_to_line, line_to_bits, random};
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    #[test]
    fn every_place() {
        let mut rng = random("byte_rotate");
        let mut uut = ByteRotate::default();
        reset!(uut);
        for places in 0..64 {
            let line: [u8; 64] = std::array::from_fn(|_| rng.gen());
            uut.data.next = line_to_bits(&line);
            uut.places.next = (places as u64).into();
            uut.hold.next = false;
            tick!(uut);
            // Both stages keep what they have.
            for _ in 0..rng.gen_range(0..3) {
                uut.hold.next = true;
                uut.data.next = line_to_bits(&[0; 64]);
                tick!(uut);
            }
            uut.hold.next = false;
            tick!(uut);
            settle(&mut uut);
            let rotated = bits_to_line(uut.rotated.val());
            for i in 0..64 {
                assert_eq!(rotated[(i + places) % 64], line[i], "{places} places");
            }
        }
    }
}
