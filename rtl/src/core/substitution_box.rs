//! The substitution box of AES.

use hermes_hdl::prelude::*;

/// SubBytes or InvSubBytes of one byte (FIPS 197, sections 5.1.1 and 5.3.2).
///
/// Combinational; `y` is 0 while `enable` is low. Both directions share one inversion in GF(2^8),
/// written as pairs of elements of GF(2^4): `high * Y + low` with `Y^2 = Y + 9`, over
/// `X^4 = X + 1`. The affine maps of the cipher are merged with the changes of basis, so that each
/// bit into or out of the inversion is a parity of some bits of the byte.
#[derive(LogicBlock, Default)]
pub struct SubstitutionBox {
    /// A substitution is wanted.
    pub enable: Signal<In, Bit>,
    /// InvSubBytes, else SubBytes.
    pub inverse_box: Signal<In, Bit>,
    /// The byte.
    pub x: Signal<In, Bits<8>>,
    /// The byte that takes the place of `x`.
    pub y: Signal<Out, Bits<8>>,
}

impl Logic for SubstitutionBox {
    #[hdl_gen]
    fn update(&mut self) {
        self.y.next = bits::<8>(0);
        let mut pair = bits::<8>(0);
        let mut high = bits::<4>(0);
        let mut low = bits::<4>(0);
        let mut sum = bits::<4>(0);
        let mut term = bits::<4>(0);
        let mut norm = bits::<4>(0);
        let mut inverse = bits::<4>(0);
        let mut inverse_high = bits::<4>(0);
        let mut inverse_low = bits::<4>(0);
        let mut inverted = bits::<8>(0);
        if self.enable.val() {
            if self.inverse_box.val() {
                pair = bit_cast::<8, 1>((self.x.val() & 0x79).xor().into())
                    | (bit_cast::<8, 1>((self.x.val() & 0xe5).xor().into()) << 1)
                    | (bit_cast::<8, 1>((self.x.val() & 0xb4).xor().into()) << 2)
                    | (bit_cast::<8, 1>((self.x.val() & 0xe0).xor().into()) << 3)
                    | (bit_cast::<8, 1>((self.x.val() & 0x86).xor().into()) << 4)
                    | (bit_cast::<8, 1>((self.x.val() & 0x71).xor().into()) << 5)
                    | (bit_cast::<8, 1>((self.x.val() & 0xbe).xor().into()) << 6)
                    | (bit_cast::<8, 1>((self.x.val() & 0xc6).xor().into()) << 7);
                pair = pair ^ 0x37;
            } else {
                pair = bit_cast::<8, 1>((self.x.val() & 0x23).xor().into())
                    | (bit_cast::<8, 1>((self.x.val() & 0x8c).xor().into()) << 1)
                    | (bit_cast::<8, 1>((self.x.val() & 0x1e).xor().into()) << 2)
                    | (bit_cast::<8, 1>((self.x.val() & 0xba).xor().into()) << 3)
                    | (bit_cast::<8, 1>((self.x.val() & 0xdc).xor().into()) << 4)
                    | (bit_cast::<8, 1>((self.x.val() & 0xac).xor().into()) << 5)
                    | (bit_cast::<8, 1>((self.x.val() & 0x72).xor().into()) << 6)
                    | (bit_cast::<8, 1>((self.x.val() & 0xa0).xor().into()) << 7);
            }
            high = pair.get_bits::<4>(4);
            low = pair.get_bits::<4>(0);
            sum = high ^ low;

            // The norm 9 * high^2 + low^2 + high * low lies in GF(2^4), where squaring and scaling
            // are linear.
            if high.get_bit(0) {
                norm = norm ^ bits::<4>(9);
            }
            if high.get_bit(1) {
                norm = norm ^ bits::<4>(2);
            }
            if high.get_bit(2) {
                norm = norm ^ bits::<4>(8);
            }
            if high.get_bit(3) {
                norm = norm ^ bits::<4>(6);
            }
            if low.get_bit(0) {
                norm = norm ^ bits::<4>(1);
            }
            if low.get_bit(1) {
                norm = norm ^ bits::<4>(4);
            }
            if low.get_bit(2) {
                norm = norm ^ bits::<4>(3);
            }
            if low.get_bit(3) {
                norm = norm ^ bits::<4>(12);
            }
            term = high;
            for i in 0..4 {
                if low.get_bit(i) {
                    norm = norm ^ term;
                }
                if term.get_bit(3) {
                    term = (term << 1) ^ bits::<4>(3);
                } else {
                    term = term << 1;
                }
            }
            match norm.index() {
                0 => inverse = bits::<4>(0),
                1 => inverse = bits::<4>(1),
                2 => inverse = bits::<4>(9),
                3 => inverse = bits::<4>(14),
                4 => inverse = bits::<4>(13),
                5 => inverse = bits::<4>(11),
                6 => inverse = bits::<4>(7),
                7 => inverse = bits::<4>(6),
                8 => inverse = bits::<4>(15),
                9 => inverse = bits::<4>(2),
                10 => inverse = bits::<4>(12),
                11 => inverse = bits::<4>(5),
                12 => inverse = bits::<4>(10),
                13 => inverse = bits::<4>(4),
                14 => inverse = bits::<4>(3),
                _ => inverse = bits::<4>(8),
            }
            term = high;
            for i in 0..4 {
                if inverse.get_bit(i) {
                    inverse_high = inverse_high ^ term;
                }
                if term.get_bit(3) {
                    term = (term << 1) ^ bits::<4>(3);
                } else {
                    term = term << 1;
                }
            }
            term = sum;
            for i in 0..4 {
                if inverse.get_bit(i) {
                    inverse_low = inverse_low ^ term;
                }
                if term.get_bit(3) {
                    term = (term << 1) ^ bits::<4>(3);
                } else {
                    term = term << 1;
                }
            }
            inverted = (bit_cast::<8, 4>(inverse_high) << 4) | bit_cast::<8, 4>(inverse_low);

            if self.inverse_box.val() {
                self.y.next = bit_cast::<8, 1>((inverted & 0x53).xor().into())
                    | (bit_cast::<8, 1>((inverted & 0x70).xor().into()) << 1)
                    | (bit_cast::<8, 1>((inverted & 0x8c).xor().into()) << 2)
                    | (bit_cast::<8, 1>((inverted & 0x2c).xor().into()) << 3)
                    | (bit_cast::<8, 1>((inverted & 0xd4).xor().into()) << 4)
                    | (bit_cast::<8, 1>((inverted & 0x22).xor().into()) << 5)
                    | (bit_cast::<8, 1>((inverted & 0xc6).xor().into()) << 6)
                    | (bit_cast::<8, 1>((inverted & 0xa2).xor().into()) << 7);
            } else {
                self.y.next = bit_cast::<8, 1>((inverted & 0xc1).xor().into())
                    | (bit_cast::<8, 1>((inverted & 0x65).xor().into()) << 1)
                    | (bit_cast::<8, 1>((inverted & 0xcb).xor().into()) << 2)
                    | (bit_cast::<8, 1>((inverted & 0x21).xor().into()) << 3)
                    | (bit_cast::<8, 1>((inverted & 0x57).xor().into()) << 4)
                    | (bit_cast::<8, 1>((inverted & 0x26).xor().into()) << 5)
                    | (bit_cast::<8, 1>((inverted & 0x90).xor().into()) << 6)
                    | (bit_cast::<8, 1>((inverted & 0xbe).xor().into()) << 7);
                self.y.next = self.y.val() ^ 0x63;
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use hermes_hdl::prelude::simulate;

    /// Product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197, section 4.2).
    pub fn multiply(a: u8, b: u8) -> u8 {
        let double = |x: u8| x << 1 ^ if x & 0x80 == 0 { 0 } else { 0x1b };
        (0..8).fold((0, a), |(sum, a), i| (if b >> i & 1 == 1 { sum ^ a } else { sum }, double(a))).0
    }

    /// SubBytes by its definition: the inverse (0 for 0), then the affine map.
    pub fn substitute(x: u8) -> u8 {
        let inverse = (1..=255).find(|&y| multiply(x, y) == 1).unwrap_or(0u8);
        let rotated = |n| inverse.rotate_left(n);
        inverse ^ rotated(1) ^ rotated(2) ^ rotated(3) ^ rotated(4) ^ 0x63
    }

    #[test]
    fn every_byte_both_ways() {
        assert_eq!(substitute(0x53), 0xed); // the example of FIPS 197
        let mut uut = SubstitutionBox::default();
        for x in 0..=255u8 {
            let y = substitute(x);
            for (enable, inverse, from, to) in [(true, false, x, y), (true, true, y, x), (false, false, x, 0)]
            {
                uut.enable.next = enable;
                uut.inverse_box.next = inverse;
                uut.x.next = bits(from.into());
                assert!(simulate(&mut uut, 10));
                assert_eq!(uut.y.val().to_u32(), u32::from(to), "{from:#04x} inverse {inverse}");
            }
        }
    }
}
