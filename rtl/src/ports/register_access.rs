//! Between the command processor and the registers of the array.

use crate::prelude::*;

/// An access of the command processor to the registers of the array.
///
/// `valid` and the fields stand until `done`; a hart that is held withdraws it before that.
#[derive(Ports)]
pub struct RegisterAccess {
    /// An access waits.
    pub valid: Signal<In, Bit>,
    /// It is a write.
    pub write: Signal<In, Bit>,
    /// Offset of the register in bytes, a multiple of 4.
    pub address: Signal<In, Bits<12>>,
    /// Value to write.
    pub data: Signal<In, Bits<32>>,
    /// The access is performed at this edge.
    pub done: Signal<Out, Bit>,
    /// With `done`: the value read.
    pub value: Signal<Out, Bits<32>>,
    /// With `done`: there is such a register; low: access fault.
    pub known: Signal<Out, Bit>,
}
