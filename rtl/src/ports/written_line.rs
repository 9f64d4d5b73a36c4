//! From a bank of the L2 to the cores: a line was written.

use hermes_hdl::prelude::*;

/// What a bank tells the cores of each write that it accepts, a cycle later. Nothing holds it up.
#[derive(Ports)]
pub struct WrittenLine {
    /// A write was accepted in the cycle before.
    pub valid: Signal<Out, Bit>,
    /// Line address of the write, folded to eight bits ([`IndexHash`](crate::blocks::IndexHash)).
    pub fold: Signal<Out, Bits<8>>,
}
