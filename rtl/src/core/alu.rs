//! The arithmetic unit of a lane.

use crate::prelude::*;

/// What [`LaneAlu`] computes.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum AluOperation {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a` shifted left by `b[4:0]`.
    ShiftLeft,
    /// `a` shifted right by `b[4:0]`, zeros from the left.
    ShiftRight,
    /// `a` shifted right by `b[4:0]`, copies of the sign from the left.
    ShiftRightSigned,
    /// 1 if `a < b` as signed numbers, else 0.
    LessThan,
    /// 1 if `a < b` as unsigned numbers, else 0.
    LessThanUnsigned,
    /// Bitwise exclusive or.
    Xor,
    /// Bitwise or.
    Or,
    /// Bitwise and.
    And,
}

/// RV32I arithmetic and branch conditions of one lane (RISC-V unprivileged specification, chapter 2).
///
/// Combinational: `y` and `taken` answer the operands in the same cycle.
#[derive(LogicBlock, Default)]
pub struct LaneAlu {
    /// What `y` is.
    pub operation: Signal<In, AluOperation>,
    /// `funct3` of a branch: which comparison `taken` is (0 eq, 1 ne, 4 lt, 5 ge, 6 ltu, 7 geu).
    pub condition: Signal<In, Bits<3>>,
    /// First operand.
    pub a: Signal<In, Bits<32>>,
    /// Second operand; its low 5 bits are the amount of a shift.
    pub b: Signal<In, Bits<32>>,
    /// Result of the operation.
    pub y: Signal<Out, Bits<32>>,
    /// The branch condition holds.
    pub taken: Signal<Out, Bit>,
    amount: Signal<Local, Bits<5>>,
    signed: Signal<Local, Bit>,
    less: Signal<Local, Bit>,
    met: Signal<Local, Bit>,
}

impl Logic for LaneAlu {
    #[hdl_gen]
    fn update(&mut self) {
        self.amount.next = self.b.val().get_bits::<5>(0);
        self.signed.next = !self.condition.val().get_bit(1);
        if self.operation.val() == AluOperation::LessThan {
            self.signed.next = true;
        }
        if self.operation.val() == AluOperation::LessThanUnsigned {
            self.signed.next = false;
        }
        // Numbers of different sign compare the other way round when they are signed.
        self.less.next = (self.a.val() < self.b.val())
            ^ (self.signed.val() & (self.a.val().get_bit(31) ^ self.b.val().get_bit(31)));
        self.met.next = self.less.val();
        if !self.condition.val().get_bit(2) {
            self.met.next = self.a.val() == self.b.val();
        }
        self.taken.next = self.met.val() ^ self.condition.val().get_bit(0);
        match self.operation.val() {
            AluOperation::Sub => self.y.next = self.a.val() - self.b.val(),
            AluOperation::ShiftLeft => self.y.next = self.a.val() << self.amount.val(),
            AluOperation::ShiftRight => self.y.next = self.a.val() >> self.amount.val(),
            AluOperation::ShiftRightSigned => {
                self.y.next = self.a.val() >> self.amount.val();
                if self.a.val().get_bit(31) {
                    self.y.next = (self.a.val() >> self.amount.val())
                        | !(bits::<32>(0xffff_ffff_u64) >> self.amount.val());
                }
            }
            AluOperation::LessThan => {
                self.y.next = bits::<32>(0);
                if self.less.val() {
                    self.y.next = bits::<32>(1);
                }
            }
            AluOperation::LessThanUnsigned => {
                self.y.next = bits::<32>(0);
                if self.less.val() {
                    self.y.next = bits::<32>(1);
                }
            }
            AluOperation::Xor => self.y.next = self.a.val() ^ self.b.val(),
            AluOperation::Or => self.y.next = self.a.val() | self.b.val(),
            AluOperation::And => self.y.next = self.a.val() & self.b.val(),
            _ => self.y.next = self.a.val() + self.b.val(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_hdl::prelude::simulate;

    const CORNERS: [u32; 9] = [0, 1, 2, 31, 32, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1234_5678];

    #[test]
    fn operations_match_the_specification_on_corner_operands() {
        let mut alu = LaneAlu::default();
        alu.connect_all();
        for a in CORNERS {
            for b in CORNERS {
                let amount = b & 31;
                let expected = [
                    (AluOperation::Add, a.wrapping_add(b)),
                    (AluOperation::Sub, a.wrapping_sub(b)),
                    (AluOperation::ShiftLeft, a << amount),
                    (AluOperation::ShiftRight, a >> amount),
                    (AluOperation::ShiftRightSigned, ((a as i32) >> amount) as u32),
                    (AluOperation::LessThan, u32::from((a as i32) < (b as i32))),
                    (AluOperation::LessThanUnsigned, u32::from(a < b)),
                    (AluOperation::Xor, a ^ b),
                    (AluOperation::Or, a | b),
                    (AluOperation::And, a & b),
                ];
                alu.a.next = u64::from(a).into();
                alu.b.next = u64::from(b).into();
                for (operation, y) in expected {
                    alu.operation.next = operation;
                    assert!(simulate(&mut alu, 10));
                    assert_eq!(alu.y.val().to_u32(), y, "{operation:?} of {a:#x}, {b:#x}");
                }
            }
        }
    }

    #[test]
    fn conditions_match_the_specification_on_corner_operands() {
        let mut alu = LaneAlu::default();
        alu.connect_all();
        for a in CORNERS {
            for b in CORNERS {
                alu.a.next = u64::from(a).into();
                alu.b.next = u64::from(b).into();
                let expected = [
                    (0, a == b),
                    (1, a != b),
                    (4, (a as i32) < (b as i32)),
                    (5, (a as i32) >= (b as i32)),
                    (6, a < b),
                    (7, a >= b),
                ];
                for (condition, taken) in expected {
                    alu.condition.next = bits::<3>(condition);
                    assert!(simulate(&mut alu, 10));
                    assert_eq!(alu.taken.val(), taken, "condition {condition} of {a:#x}, {b:#x}");
                }
            }
        }
    }
}
