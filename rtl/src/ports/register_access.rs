//! Between the command processor and the registers.

use hermes_hdl::prelude::*;

/// An access of the command processor to the registers of the array.
/// `valid` and the fields stand until `done`; a hart that is held withdraws it before that.
#[derive(Ports)]
pub struct RegisterAccess {
    /// An access waits.
    pub valid: Signal<In, Bit>,
    /// The access is a write.
    pub write: Signal<In, Bit>,
    /// Byte offset of the register, a multiple of 4.
    pub address: Signal<In, Bits<12>>,
    /// Value to write.
    pub data: Signal<In, Bits<32>>,
    /// The access is performed at this edge.
    pub done: Signal<Out, Bit>,
    /// The value read, with `done`.
    pub value: Signal<Out, Bits<32>>,
    /// With `done`: the register may be accessed; low: access fault.
    pub known: Signal<Out, Bit>,
}
