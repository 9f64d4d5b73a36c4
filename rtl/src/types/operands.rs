//! Where the operands of an instruction come from.

use hermes_hdl::prelude::*;

/// Where the second operand of a lane's arithmetic comes from.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum BSource {
    /// Register `rs2` of the lane.
    Register,
    /// The immediate, the same in every lane; of a CSR read the part that all lanes share.
    Immediate,
}

/// Where the value of a source register is in stage X.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum OperandSource {
    /// The lane's registers.
    Registers,
    /// The result of the instruction before it, in stage W while this one is in stage X.
    Result,
    /// The result of the instruction two before it, while this one is in stage X.
    Written,
    /// The result of the instruction three before it, while this one is in stage R.
    JustWritten,
    /// No register: the offset of the lane as the first operand, 0 as the second.
    Zero,
}
