//! The multiplier of a lane.

use crate::types::riscv::funct3;
use hermes_hdl::prelude::*;

/// Bits 1:0 of the `funct3` of `mulhu`.
const MULHU: u64 = funct3::MULHU & 3;

/// `mul`, `mulh`, `mulhsu` and `mulhu` of one lane, one a cycle, in two stages.
///
/// 1. Stage X: at an edge with `advance` high the four products of the operands' half words are
///    registered. Drive `advance` low when the instruction is no multiplication, so that the
///    registers do not toggle.
/// 2. Stage W: `product` is their sum, combinational from these registers while `wanted` is high,
///    and is stable until the next such edge.
///
/// The operands get the sign that the instruction gives them as bit 32, so that no correction is
/// needed.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct Multiplier {
    /// A multiplication leaves stage X at this edge.
    pub advance: Signal<In, Bit>,
    /// Stage X: first operand.
    pub a: Signal<In, Bits<32>>,
    /// Stage X: second operand.
    pub b: Signal<In, Bits<32>>,
    /// Stage X: 0 mul, 1 mulh, 2 mulhsu, 3 mulhu; bit 2 does not count.
    pub funct3: Signal<In, Bits<3>>,
    /// Stage W: the product is wanted.
    pub wanted: Signal<In, Bit>,
    /// Stage W: low or high word of the product, 0 while it is not wanted.
    pub product: Signal<Out, Bits<32>>,

    parts: PartialProducts,
    high_word_w: Register<Bit>,
}

impl Logic for Multiplier {
    #[hdl_gen]
    fn update(&mut self) {
        // X: mulh takes both operands as signed, mulhsu the first one; for mul it does not matter.
        self.parts.enable.next = self.advance.val();
        self.parts.a.next = bit_cast::<33, 32>(self.a.val());
        if self.a.val().get_bit(31) & (self.funct3.val().get_bits::<2>(0) != bits::<2>(MULHU)) {
            self.parts.a.next = bit_cast::<33, 32>(self.a.val()) | 0x1_0000_0000_u64;
        }
        self.parts.b.next = bit_cast::<33, 32>(self.b.val());
        if self.b.val().get_bit(31) & !self.funct3.val().get_bit(1) {
            self.parts.b.next = bit_cast::<33, 32>(self.b.val()) | 0x1_0000_0000_u64;
        }
        if self.advance.val() {
            self.high_word_w.d.next = self.funct3.val().get_bits::<2>(0).any();
        }

        // W: the middle products count from bit 16 on and have a sign.
        let mut first = bits::<34>(0);
        let mut second = bits::<34>(0);
        let mut middle = bits::<34>(0);
        let mut extended = bits::<48>(0);
        let mut upper = bits::<48>(0);
        self.product.next = bits::<32>(0);
        if self.wanted.val() {
            first = bit_cast::<34, 33>(self.parts.low_high.val());
            if self.parts.low_high.val().get_bit(32) {
                first = bit_cast::<34, 33>(self.parts.low_high.val()) | 0x2_0000_0000_u64;
            }
            second = bit_cast::<34, 33>(self.parts.high_low.val());
            if self.parts.high_low.val().get_bit(32) {
                second = bit_cast::<34, 33>(self.parts.high_low.val()) | 0x2_0000_0000_u64;
            }
            middle = first + second;
            extended = bit_cast::<48, 34>(middle);
            if middle.get_bit(33) {
                extended = bit_cast::<48, 34>(middle) | 0xfffc_0000_0000_u64;
            }
            upper = ((bit_cast::<48, 32>(self.parts.high_high.val().get_bits::<32>(0)) << 16)
                | bit_cast::<48, 16>(self.parts.low_low.val().get_bits::<16>(16)))
                + extended;
            self.product.next = (bit_cast::<32, 16>(upper.get_bits::<16>(0)) << 16)
                | bit_cast::<32, 16>(self.parts.low_low.val().get_bits::<16>(0));
            if self.high_word_w.q.val() {
                self.product.next = upper.get_bits::<32>(16);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    /// What the instruction gives, from 64-bit arithmetic.
    fn expected(a: u32, b: u32, funct3: u64) -> u32 {
        let (signed_a, signed_b) = (i64::from(a as i32), i64::from(b as i32));
        match funct3 {
            0 => a.wrapping_mul(b),
            1 => ((signed_a * signed_b) >> 32) as u32,
            2 => ((signed_a * i64::from(b)) >> 32) as u32,
            _ => ((u64::from(a) * u64::from(b)) >> 32) as u32,
        }
    }

    #[test]
    fn products_match_wide_arithmetic() {
        let mut random = hermes_hdl::testing::random();
        let mut operands = vec![0, 1, 2, 0x7fff, 0x8000, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000];
        operands.extend([0x8000_0001, 0xffff_0000, 0xffff_ffff]);
        operands.extend((0..8).map(|_| random.gen::<u32>()));
        let mut uut = Multiplier::default();
        reset!(uut);
        for &a in &operands {
            for &b in &operands {
                for funct3 in 0..4 {
                    uut.a.next = bits(a.into());
                    uut.b.next = bits(b.into());
                    uut.funct3.next = bits(funct3);
                    uut.advance.next = true;
                    uut.wanted.next = false;
                    tick!(uut);
                    // The product stands while the stage waits.
                    uut.advance.next = false;
                    uut.a.next = bits(random.gen::<u32>().into());
                    uut.funct3.next = bits(random.gen_range(0..4));
                    tick!(uut);
                    settle(&mut uut);
                    assert!(!uut.product.val().any());
                    uut.wanted.next = true;
                    settle(&mut uut);
                    assert_eq!(
                        uut.product.val().to_u32(),
                        expected(a, b, funct3),
                        "{a:#x} {b:#x} funct3 {funct3}"
                    );
                }
            }
        }
    }
}
