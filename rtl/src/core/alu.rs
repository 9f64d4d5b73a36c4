//! The arithmetic unit of a lane.

use super::AluControl;
use hermes_hdl::prelude::*;

/// RV32I and Zbb arithmetic, without the counts of bits, and branch conditions of one lane (RISC-V
/// unprivileged specification).
///
/// Combinational: `y` and `taken` answer the operands in the same cycle. One adder serves addition,
/// subtraction and all comparisons, one rotator with a mask all shifts, rotations and extensions;
/// so a branch needs an operation that makes its comparison. The operation comes as the controls of
/// these parts, which [`AluDecoder`](super::AluDecoder) finds for all lanes.
#[derive(LogicBlock, Default)]
pub struct LaneAlu {
    /// Operation whose result is `y`. For a branch: `Xor` (eq, ne), `LessThan` (lt, ge) or
    /// `LessThanUnsigned` (ltu, geu).
    pub control: Signal<In, AluControl>,
    /// `funct3` of a branch: which comparison `taken` is (0 eq, 1 ne, 4 lt, 5 ge, 6 ltu, 7 geu).
    pub condition: Signal<In, Bits<3>>,
    /// First operand.
    pub a: Signal<In, Bits<32>>,
    /// Second operand; its low 5 bits are the amount of a shift.
    pub b: Signal<In, Bits<32>>,
    /// Result of the operation.
    pub y: Signal<Out, Bits<32>>,
    /// Sum of the operands, if the operation is `Add`.
    pub address: Signal<Out, Bits<32>>,
    /// Carry of the sum: it is 2^32 or more.
    pub carry: Signal<Out, Bit>,
    /// The branch condition holds.
    pub taken: Signal<Out, Bit>,
}

impl Logic for LaneAlu {
    #[hdl_gen]
    fn update(&mut self) {
        // The second operand as the adder takes it. Parts that need it uninverted invert this back,
        // so that no multiplexer is in between.
        let mut operand = self.b.val();
        if self.control.val().invert {
            operand = !self.b.val();
        }
        // The second operand, in all operations that invert it.
        let straight = !operand;
        let amount = straight.get_bits::<5>(0);

        // What a shift or an extension is filled with, or the bytes that are not zero
        let mut fill = bits::<32>(0);
        if self.control.val().fill_word & self.a.val().get_bit(31) {
            fill = bits::<32>(0xffff_ffff_u64);
        }
        if self.control.val().fill_part {
            if amount.get_bit(3) {
                if self.a.val().get_bit(7) {
                    fill = bits::<32>(0xffff_ffff_u64);
                }
            } else if self.a.val().get_bit(15) {
                fill = bits::<32>(0xffff_ffff_u64);
            }
        }
        if self.control.val().combine {
            if self.a.val().get_bits::<8>(0).any() {
                fill = fill | 0xff;
            }
            if self.a.val().get_bits::<8>(8).any() {
                fill = fill | 0xff00;
            }
            if self.a.val().get_bits::<8>(16).any() {
                fill = fill | 0xff_0000;
            }
            if self.a.val().get_bits::<8>(24).any() {
                fill = fill | 0xff00_0000_u64;
            }
        }

        // Sum or difference. Bit 0 of the wide sum makes the carry into bit 1; bit 33 is the carry
        // out.
        let total: Bits<34> = ((bit_cast::<34, 32>(self.a.val()) << 1) | bits::<34>(1))
            + ((bit_cast::<34, 32>(operand) << 1) | bit_cast::<34, 1>(self.control.val().invert.into()));
        self.address.next = total.get_bits::<32>(1);
        self.carry.next = total.get_bit(33);
        let mut sum = bits::<32>(0);
        if self.control.val().add {
            sum = total.get_bits::<32>(1);
        }

        // Bitwise logic
        let mut logic = bits::<32>(0);
        if self.control.val().both {
            logic = self.a.val() & operand;
        }
        if self.control.val().either {
            logic = logic | (self.a.val() ^ operand);
        }

        // Comparisons. Numbers of different sign compare the other way round when they are signed.
        let less = !total.get_bit(33)
            ^ (!self.control.val().unsigned & (self.a.val().get_bit(31) ^ straight.get_bit(31)));
        let mut met = less;
        if !self.condition.val().get_bit(2) {
            met = !logic.any();
        }
        self.taken.next = met ^ self.condition.val().get_bit(0);
        // The second operand is the smaller or larger one that is wanted.
        let picks_b = (self.control.val().minimum & !less) | (self.control.val().maximum & less);

        // Rotation to the right: within 16 bits, then by a half word; by 0 in operations that do
        // not rotate. Reversed bytes are bytes 0 and 2 rotated by 24 and bytes 1 and 3 rotated by
        // 8.
        let mut edge = amount;
        if self.control.val().left {
            edge = bits::<5>(0) - amount;
        }
        let mut turn = bits::<5>(0);
        if (self.control.val().shift | self.control.val().whole) & !self.control.val().extend {
            turn = edge;
        }
        let mut within = self.a.val();
        if self.control.val().shift | self.control.val().whole {
            within = (((bit_cast::<64, 32>(self.a.val()) << 32) | bit_cast::<64, 32>(self.a.val()))
                >> turn.get_bits::<4>(0))
            .get_bits::<32>(0);
        }
        let swapped = (within << 16) | (within >> 16);
        let mut even = within;
        if turn.get_bit(4) {
            even = swapped;
        }
        let mut odd = within;
        if turn.get_bit(4) & !self.control.val().reverse {
            odd = swapped;
        }

        // A shift is a rotation of which a part is kept: the bits below the edge, or above it if it
        // goes to the left. Each bit is so a function of four: the rotated one, whether it is
        // below, which of both parts is kept, and the fill. The rest keeps nothing, but for the
        // first operand where the smaller or larger one is wanted.
        let mut cut = bits::<5>(0);
        if self.control.val().shift {
            cut = edge;
        }
        let below = bits::<32>(0xffff_ffff_u64) >> cut;
        let mut above = bits::<32>(0);
        if (self.control.val().shift & self.control.val().left & amount.any())
            | (!self.control.val().shift
                & !self.control.val().whole
                & !self.control.val().minimum
                & !self.control.val().maximum)
        {
            above = bits::<32>(0xffff_ffff_u64);
        }
        let keep = below ^ above;
        let shifted = (((even & 0x00ff_00ff) | (odd & 0xff00_ff00_u64)) & keep) | (fill & !keep);

        let flag: Bits<32> = bit_cast::<32, 1>((self.control.val().compare & less).into());
        // `min` and `max`: the second operand replaces the first. The comparison is known last of
        // all.
        let mut kept = shifted;
        if picks_b {
            kept = straight;
        }
        self.y.next = sum | logic | kept | flag;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::AluDecoder;
    use crate::types::AluOperation;
    use hermes_hdl::prelude::simulate;
    use rand::Rng;

    /// Applies `operation`, decoded.
    fn settle(alu: &mut LaneAlu, decoder: &mut AluDecoder, operation: AluOperation) {
        decoder.operation.next = operation;
        assert!(simulate(decoder, 10));
        alu.control.next = decoder.control.val();
        assert!(simulate(alu, 10));
    }

    /// Corner operands and a few random ones.
    fn operands() -> Vec<u32> {
        let mut random = hermes_hdl::testing::random();
        let corners =
            [0, 1, 2, 31, 32, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1234_5678, 0x0080_ff00, 0x8000_7f80];
        corners.into_iter().chain((0..8).map(|_| random.gen())).collect()
    }

    #[test]
    fn operations_match_the_specification() {
        let (mut alu, mut decoder) = (LaneAlu::default(), AluDecoder::default());
        let operands = operands();
        for &a in &operands {
            for &b in &operands {
                let amount = b & 31;
                let (signed_a, signed_b) = (a as i32, b as i32);
                let expected = [
                    (AluOperation::Add, a.wrapping_add(b)),
                    (AluOperation::Sub, a.wrapping_sub(b)),
                    (AluOperation::LessThan, u32::from(signed_a < signed_b)),
                    (AluOperation::LessThanUnsigned, u32::from(a < b)),
                    (AluOperation::Min, signed_a.min(signed_b) as u32),
                    (AluOperation::MinUnsigned, a.min(b)),
                    (AluOperation::Max, signed_a.max(signed_b) as u32),
                    (AluOperation::MaxUnsigned, a.max(b)),
                    (AluOperation::ShiftLeft, a << amount),
                    (AluOperation::RotateLeft, a.rotate_left(amount)),
                    (AluOperation::ShiftRight, a >> amount),
                    (AluOperation::RotateRight, a.rotate_right(amount)),
                    (AluOperation::ShiftRightSigned, (signed_a >> amount) as u32),
                    (
                        AluOperation::OrCombine,
                        u32::from_le_bytes(a.to_le_bytes().map(|x| if x == 0 { 0 } else { 255 })),
                    ),
                    (AluOperation::Xor, a ^ b),
                    (AluOperation::XorNot, !(a ^ b)),
                    (AluOperation::Or, a | b),
                    (AluOperation::OrNot, a | !b),
                    (AluOperation::And, a & b),
                    (AluOperation::AndNot, a & !b),
                ];
                alu.a.next = u64::from(a).into();
                alu.b.next = u64::from(b).into();
                for (operation, y) in expected {
                    settle(&mut alu, &mut decoder, operation);
                    assert_eq!(alu.y.val().to_u32(), y, "{operation:?} of {a:#x}, {b:#x}");
                }
            }
            // These take their kind or amount from the second operand.
            let expected = [
                (AluOperation::SignExtend, 24, a as i8 as u32),
                (AluOperation::SignExtend, 16, a as i16 as u32),
                (AluOperation::ReverseBytes, 0x698, a.swap_bytes()),
            ];
            for (operation, b, y) in expected {
                alu.b.next = b.into();
                settle(&mut alu, &mut decoder, operation);
                assert_eq!(alu.y.val().to_u32(), y, "{operation:?} of {a:#x}, {b}");
            }
        }
    }

    #[test]
    fn conditions_match_the_specification() {
        let (mut alu, mut decoder) = (LaneAlu::default(), AluDecoder::default());
        let operands = operands();
        for &a in &operands {
            for &b in &operands {
                alu.a.next = u64::from(a).into();
                alu.b.next = u64::from(b).into();
                let expected = [
                    (0, AluOperation::Xor, a == b),
                    (1, AluOperation::Xor, a != b),
                    (4, AluOperation::LessThan, (a as i32) < (b as i32)),
                    (5, AluOperation::LessThan, (a as i32) >= (b as i32)),
                    (6, AluOperation::LessThanUnsigned, a < b),
                    (7, AluOperation::LessThanUnsigned, a >= b),
                ];
                for (condition, operation, taken) in expected {
                    alu.condition.next = bits::<3>(condition);
                    settle(&mut alu, &mut decoder, operation);
                    assert_eq!(alu.taken.val(), taken, "condition {condition} of {a:#x}, {b:#x}");
                }
            }
        }
    }
}
