//! A divider.

use hermes_hdl::prelude::*;

/// `div`, `divu`, `rem` and `remu` of one pair of operands, one bit of the quotient a cycle.
///
/// 1. At the edge with `load` high the operands are taken.
/// 2. At each of 32 following edges with `step` high one bit of the quotient is found.
/// 3. From then on `result` is the result while `wanted` is high, until the next `load`. Division
///    by zero and overflow give what the RISC-V unprivileged specification says (chapter M, table
///    of semantics for division by zero and overflow).
///
/// Restoring division of magnitudes; the magnitude of a negative divisor is subtracted by adding
/// the divisor.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct Divider {
    /// Takes the operands.
    pub load: Signal<In, Bit>,
    /// With `load`: dividend.
    pub a: Signal<In, Bits<32>>,
    /// With `load`: divisor.
    pub b: Signal<In, Bits<32>>,
    /// With `load`: the operands are signed.
    pub signed: Signal<In, Bit>,
    /// With `load`: the result is the remainder, else the quotient.
    pub remainder: Signal<In, Bit>,
    /// Finds the next bit of the quotient.
    pub step: Signal<In, Bit>,
    /// The result is wanted; never with `load`.
    pub wanted: Signal<In, Bit>,
    /// Quotient or remainder; undefined while it is not wanted.
    pub result: Signal<Out, Bits<32>>,

    divisor: Register<Bits<32>>,
    divisor_negative: Register<Bit>,
    dividend_negative: Register<Bit>,
    wants_remainder: Register<Bit>,
    /// The part of the dividend that is smaller than the divisor.
    rest: Register<Bits<32>>,
    /// Bits of the dividend to come in the upper part, bits of the quotient found in the lower one.
    quotient: Register<Bits<32>>,
}

impl Logic for Divider {
    #[hdl_gen]
    fn update(&mut self) {
        // Difference of the rest with one more bit of the dividend and the divisor's magnitude. Bit
        // 0 of the wide sum makes the carry into bit 1; bit 34 is the sign.
        let mut shifted = bits::<33>(0);
        let mut extended = bits::<34>(0);
        let mut operand = bits::<34>(0);
        let mut difference = bits::<35>(0);
        if self.step.val() {
            shifted = (bit_cast::<33, 32>(self.rest.q.val()) << 1)
                | bit_cast::<33, 1>(self.quotient.q.val().get_bit(31).into());
            if self.divisor_negative.q.val() {
                operand = bit_cast::<34, 32>(self.divisor.q.val()) | 0x3_0000_0000_u64;
            } else {
                extended = bit_cast::<34, 32>(self.divisor.q.val());
                operand = !extended;
            }
            difference = ((bit_cast::<35, 33>(shifted) << 1) | 1)
                + ((bit_cast::<35, 34>(operand) << 1)
                    | bit_cast::<35, 1>((!self.divisor_negative.q.val()).into()));
            self.rest.d.next = difference.get_bits::<32>(1);
            self.quotient.d.next = (self.quotient.q.val() << 1) | 1;
            if difference.get_bit(34) {
                self.rest.d.next = shifted.get_bits::<32>(0);
                self.quotient.d.next = self.quotient.q.val() << 1;
            }
        }

        // One negation serves the dividend and the result. A quotient of magnitudes with both
        // highest bits set comes from a division by zero (or has no sign): it is -1.
        let mut negative = false;
        let mut negate = false;
        let mut value = bits::<32>(0);
        let mut magnitude = bits::<32>(0);
        if self.load.val() | self.wanted.val() {
            negative = self.signed.val() & self.a.val().get_bit(31);
            negate = (self.dividend_negative.q.val() ^ self.divisor_negative.q.val())
                & !(self.quotient.q.val().get_bit(31) & self.quotient.q.val().get_bit(30));
            value = self.quotient.q.val();
            if self.wants_remainder.q.val() {
                negate = self.dividend_negative.q.val();
                value = self.rest.q.val();
            }
            if self.load.val() {
                negate = negative;
                value = self.a.val();
            }
            if negate {
                value = !value;
            }
            magnitude = value + bit_cast::<32, 1>(negate.into());
        }
        self.result.next = magnitude;
        if self.load.val() {
            self.divisor.d.next = self.b.val();
            self.divisor_negative.d.next = self.signed.val() & self.b.val().get_bit(31);
            self.dividend_negative.d.next = negative;
            self.wants_remainder.d.next = self.remainder.val();
            self.rest.d.next = bits::<32>(0);
            self.quotient.d.next = magnitude;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    /// What the specification says.
    fn expected(a: u32, b: u32, signed: bool, remainder: bool) -> u32 {
        let (signed_a, signed_b) = (a as i32, b as i32);
        match (signed, remainder) {
            (true, false) if b == 0 => u32::MAX,
            (true, false) => signed_a.wrapping_div(signed_b) as u32,
            (true, true) if b == 0 => a,
            (true, true) => signed_a.wrapping_rem(signed_b) as u32,
            (false, false) => a.checked_div(b).unwrap_or(u32::MAX),
            (false, true) => a.checked_rem(b).unwrap_or(a),
        }
    }

    #[test]
    fn quotients_and_remainders_match_the_specification() {
        let mut random = hermes_hdl::testing::random();
        let mut operands = vec![0, 1, 2, 3, 10, 0xffff, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_fffe];
        operands.push(0xffff_ffff);
        operands.extend((0..3).map(|i| random.gen::<u32>() >> (9 * i)));
        let mut uut = Divider::default();
        reset!(uut);
        for &a in &operands {
            for &b in &operands {
                for (signed, remainder) in [(false, false), (false, true), (true, false), (true, true)] {
                    uut.wanted.next = false;
                    uut.load.next = true;
                    uut.a.next = bits(a.into());
                    uut.b.next = bits(b.into());
                    uut.signed.next = signed;
                    uut.remainder.next = remainder;
                    tick!(uut);
                    uut.load.next = false;
                    uut.a.next = bits(random.gen::<u32>().into());
                    uut.b.next = bits(random.gen::<u32>().into());
                    uut.signed.next = random.gen();
                    uut.remainder.next = random.gen();
                    for _ in 0..32 {
                        uut.step.next = true;
                        tick!(uut);
                    }
                    // The result holds.
                    uut.step.next = false;
                    tick!(uut);
                    uut.wanted.next = true;
                    settle(&mut uut);
                    assert_eq!(
                        uut.result.val().to_u32(),
                        expected(a, b, signed, remainder),
                        "{a:#x} {b:#x} signed {signed} remainder {remainder}"
                    );
                }
            }
        }
    }
}
