//! From the path of atomic operations to the warps that wait for writes.

use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// A lane looked at a word of the L2: an `amoor.w` with the operand 0 was sent in the cycle before.
#[derive(Ports)]
pub struct Look {
    /// The `amoor.w` was sent in the cycle before.
    pub valid: Signal<Out, Bit>,
    /// Slot of its warp.
    pub slot: Signal<Out, Bits<5>>,
    /// Line address of the word.
    pub line: Signal<Out, LineAddress>,
}
