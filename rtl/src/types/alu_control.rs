//! Operations of the lanes' arithmetic units, and their controls.

use hermes_hdl::prelude::*;

/// What [`LaneAlu`](crate::core::LaneAlu) computes.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum AluOperation {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// 1 if `a < b` as signed numbers, else 0.
    LessThan,
    /// 1 if `a < b` as unsigned numbers, else 0.
    LessThanUnsigned,
    /// The smaller of `a` and `b` as signed numbers.
    Min,
    /// The smaller of `a` and `b` as unsigned numbers.
    MinUnsigned,
    /// The larger of `a` and `b` as signed numbers.
    Max,
    /// The larger of `a` and `b` as unsigned numbers.
    MaxUnsigned,
    /// `a` shifted left by `b[4:0]`.
    ShiftLeft,
    /// `a` rotated left by `b[4:0]`.
    RotateLeft,
    /// `a` shifted right by `b[4:0]`, zeros from the left.
    ShiftRight,
    /// `a` rotated right by `b[4:0]`.
    RotateRight,
    /// `a` shifted right by `b[4:0]`, copies of the sign from the left.
    ShiftRightSigned,
    /// The low byte (`b[4:0]` = 24) or half word (`b[4:0]` = 16) of `a`, extended by its sign.
    SignExtend,
    /// Every byte of `a` that is not zero becomes 0xff.
    OrCombine,
    /// The bytes of `a` in reverse order; `b[4:0]` must be 24.
    ReverseBytes,
    /// `a ^ b`.
    Xor,
    /// `a ^ !b`.
    XorNot,
    /// `a | b`.
    Or,
    /// `a | !b`.
    OrNot,
    /// `a & b`.
    And,
    /// `a & !b`.
    AndNot,
}

/// The controls of the parts of [`LaneAlu`](crate::core::LaneAlu). A part that is not selected
/// gives 0, and what the parts give is or-ed together.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct AluControl {
    /// The second operand is inverted and the sum takes a carry: in all operations but those that
    /// take the sum, or bits of the operand as it is.
    pub invert: Bit,
    /// Sum.
    pub add: Bit,
    /// Bits that both operands have.
    pub both: Bit,
    /// Bits that one operand has.
    pub either: Bit,
    /// 1 if the first operand is less.
    pub compare: Bit,
    /// Operands are compared as unsigned numbers.
    pub unsigned: Bit,
    /// The smaller operand.
    pub minimum: Bit,
    /// The larger operand.
    pub maximum: Bit,
    /// A shift or rotation goes to the left.
    pub left: Bit,
    /// The bits that a shift keeps.
    pub shift: Bit,
    /// All bits of the rotated word.
    pub whole: Bit,
    /// Rotation by 0: the amount only says which bits are kept.
    pub extend: Bit,
    /// Odd bytes are not rotated by half a word.
    pub reverse: Bit,
    /// Copies of the sign of the word fill a shift.
    pub fill_word: Bit,
    /// Copies of the sign of the byte or half word, by bit 3 of the amount, fill an extension.
    pub fill_part: Bit,
    /// Bytes that are not zero give 0xff.
    pub combine: Bit,
}
