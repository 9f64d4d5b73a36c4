//! The arithmetic unit of a lane.

use super::AluControl;
use crate::prelude::*;

/// RV32I and Zbb arithmetic, without the counts of bits, and branch conditions of one lane (RISC-V unprivileged specification).
///
/// Combinational: `y` and `taken` answer the operands in the same cycle. One adder serves addition, subtraction and all
/// comparisons, one rotator with a mask all shifts, rotations and extensions; so a branch needs an operation that makes
/// its comparison. The operation comes as the controls of these parts, which [`AluDecoder`](super::AluDecoder) finds for all lanes.
#[derive(LogicBlock, Default)]
pub struct LaneAlu {
    /// What `y` is. For a branch: `Xor` (eq, ne), `LessThan` (lt, ge) or `LessThanUnsigned` (ltu, geu).
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
    /// Its carry: the sum is 2^32 or more.
    pub carry: Signal<Out, Bit>,
    /// The branch condition holds.
    pub taken: Signal<Out, Bit>,

    operand: Signal<Local, Bits<32>>,
    /// The second operand, in all operations that invert it.
    straight: Signal<Local, Bits<32>>,
    total: Signal<Local, Bits<34>>,
    less: Signal<Local, Bit>,
    met: Signal<Local, Bit>,
    logic: Signal<Local, Bits<32>>,
    amount: Signal<Local, Bits<5>>,
    turn: Signal<Local, Bits<5>>,
    within: Signal<Local, Bits<32>>,
    swapped: Signal<Local, Bits<32>>,
    even: Signal<Local, Bits<32>>,
    odd: Signal<Local, Bits<32>>,
    edge: Signal<Local, Bits<5>>,
    cut: Signal<Local, Bits<5>>,
    below: Signal<Local, Bits<32>>,
    above: Signal<Local, Bits<32>>,
    keep: Signal<Local, Bits<32>>,
    fill: Signal<Local, Bits<32>>,
    shifted: Signal<Local, Bits<32>>,
    sum: Signal<Local, Bits<32>>,
    /// The second operand is the smaller or larger one that is wanted.
    picks_b: Signal<Local, Bit>,
    kept: Signal<Local, Bits<32>>,
    flag: Signal<Local, Bits<32>>,
}

impl Logic for LaneAlu {
    #[hdl_gen]
    fn update(&mut self) {
        // The second operand as the adder takes it. All that wants it as it is takes this, inverted back, so that there is nothing between.
        self.operand.next = self.b.val();
        if self.control.val().invert {
            self.operand.next = !self.b.val();
        }
        self.straight.next = !self.operand.val();
        self.amount.next = self.straight.val().get_bits::<5>(0);

        // What a shift or an extension is filled with, or the bytes that are not zero
        self.fill.next = bits::<32>(0);
        if self.control.val().fill_word & self.a.val().get_bit(31) {
            self.fill.next = bits::<32>(0xffff_ffff_u64);
        }
        if self.control.val().fill_part {
            if self.amount.val().get_bit(3) {
                if self.a.val().get_bit(7) {
                    self.fill.next = bits::<32>(0xffff_ffff_u64);
                }
            } else if self.a.val().get_bit(15) {
                self.fill.next = bits::<32>(0xffff_ffff_u64);
            }
        }
        if self.control.val().combine {
            if self.a.val().get_bits::<8>(0).any() {
                self.fill.next = self.fill.val() | 0xff;
            }
            if self.a.val().get_bits::<8>(8).any() {
                self.fill.next = self.fill.val() | 0xff00;
            }
            if self.a.val().get_bits::<8>(16).any() {
                self.fill.next = self.fill.val() | 0xff_0000;
            }
            if self.a.val().get_bits::<8>(24).any() {
                self.fill.next = self.fill.val() | 0xff00_0000_u64;
            }
        }

        // Sum or difference. Bit 0 of the wide sum makes the carry into bit 1; bit 33 is the carry out.
        self.total.next = ((bit_cast::<34, 32>(self.a.val()) << 1) | bits::<34>(1))
            + ((bit_cast::<34, 32>(self.operand.val()) << 1)
                | bit_cast::<34, 1>(self.control.val().invert.into()));
        self.address.next = self.total.val().get_bits::<32>(1);
        self.carry.next = self.total.val().get_bit(33);
        self.sum.next = bits::<32>(0);
        if self.control.val().add {
            self.sum.next = self.total.val().get_bits::<32>(1);
        }

        // Bitwise logic
        self.logic.next = bits::<32>(0);
        if self.control.val().both {
            self.logic.next = self.a.val() & self.operand.val();
        }
        if self.control.val().either {
            self.logic.next = self.logic.val() | (self.a.val() ^ self.operand.val());
        }

        // Comparisons. Numbers of different sign compare the other way round when they are signed.
        self.less.next = !self.total.val().get_bit(33)
            ^ (!self.control.val().unsigned & (self.a.val().get_bit(31) ^ self.straight.val().get_bit(31)));
        self.met.next = self.less.val();
        if !self.condition.val().get_bit(2) {
            self.met.next = !self.logic.val().any();
        }
        self.taken.next = self.met.val() ^ self.condition.val().get_bit(0);
        self.picks_b.next =
            (self.control.val().minimum & !self.less.val()) | (self.control.val().maximum & self.less.val());

        // Rotation to the right: within 16 bits, then by a half word; by 0 in operations that do not rotate. Reversed bytes are bytes 0 and 2
        // rotated by 24 and bytes 1 and 3 rotated by 8.
        self.edge.next = self.amount.val();
        if self.control.val().left {
            self.edge.next = bits::<5>(0) - self.amount.val();
        }
        self.turn.next = bits::<5>(0);
        if (self.control.val().shift | self.control.val().whole) & !self.control.val().extend {
            self.turn.next = self.edge.val();
        }
        self.within.next = self.a.val();
        if self.control.val().shift | self.control.val().whole {
            self.within.next = (((bit_cast::<64, 32>(self.a.val()) << 32)
                | bit_cast::<64, 32>(self.a.val()))
                >> self.turn.val().get_bits::<4>(0))
            .get_bits::<32>(0);
        }
        self.swapped.next = (self.within.val() << 16) | (self.within.val() >> 16);
        self.even.next = self.within.val();
        if self.turn.val().get_bit(4) {
            self.even.next = self.swapped.val();
        }
        self.odd.next = self.within.val();
        if self.turn.val().get_bit(4) & !self.control.val().reverse {
            self.odd.next = self.swapped.val();
        }

        // A shift is a rotation of which a part is kept: the bits below the edge, or above it if it goes to the left. Each bit is so a
        // function of four: the rotated one, whether it is below, which of both parts is kept, and the fill. The rest keeps nothing, but for
        // the first operand where the smaller or larger one is wanted.
        self.cut.next = bits::<5>(0);
        if self.control.val().shift {
            self.cut.next = self.edge.val();
        }
        self.below.next = bits::<32>(0xffff_ffff_u64) >> self.cut.val();
        self.above.next = bits::<32>(0);
        if (self.control.val().shift & self.control.val().left & self.amount.val().any())
            | (!self.control.val().shift
                & !self.control.val().whole
                & !self.control.val().minimum
                & !self.control.val().maximum)
        {
            self.above.next = bits::<32>(0xffff_ffff_u64);
        }
        self.keep.next = self.below.val() ^ self.above.val();
        self.shifted.next = (((self.even.val() & 0x00ff_00ff) | (self.odd.val() & 0xff00_ff00_u64))
            & self.keep.val())
            | (self.fill.val() & !self.keep.val());

        self.flag.next = bit_cast::<32, 1>((self.control.val().compare & self.less.val()).into());
        // The second operand takes its place, if it is the one: that is known last of all.
        self.kept.next = self.shifted.val();
        if self.picks_b.val() {
            self.kept.next = self.straight.val();
        }
        self.y.next = self.sum.val() | self.logic.val() | self.kept.val() | self.flag.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{AluDecoder, AluOperation};
    use rand::Rng;
    use rust_hdl::prelude::simulate;

    /// Applies `operation`, decoded.
    fn settle(alu: &mut LaneAlu, decoder: &mut AluDecoder, operation: AluOperation) {
        decoder.operation.next = operation;
        assert!(simulate(decoder, 10));
        alu.control.next = decoder.control.val();
        assert!(simulate(alu, 10));
    }

    /// Corner operands and a few random ones.
    fn operands() -> Vec<u32> {
        let mut random = crate::testing::random();
        let corners =
            [0, 1, 2, 31, 32, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1234_5678, 0x0080_ff00, 0x8000_7f80];
        corners.into_iter().chain((0..8).map(|_| random.gen())).collect()
    }

    #[test]
    fn operations_match_the_specification() {
        let (mut alu, mut decoder) = (LaneAlu::default(), AluDecoder::default());
        alu.connect_all();
        decoder.connect_all();
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
        alu.connect_all();
        decoder.connect_all();
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
