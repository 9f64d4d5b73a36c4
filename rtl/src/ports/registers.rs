//! Between the bus and the blocks of registers.

use hermes_hdl::prelude::*;

/// An access of the host, for one cycle; every block of registers gets it.
#[derive(Ports)]
pub struct RegisterRequest {
    /// Byte offset of the register.
    pub address: Signal<In, Bits<12>>,
    /// The access is a read.
    pub read: Signal<In, Bit>,
    /// The access is a write.
    pub write: Signal<In, Bit>,
    /// Value to write.
    pub data: Signal<In, Bits<32>>,
    /// The bits to write.
    pub mask: Signal<In, Bits<32>>,
}

/// What a block of registers answers to an access, in the same cycle; all low if the address is
/// none of its registers.
#[derive(Ports)]
pub struct RegisterAnswer {
    /// The address is one of a register, and the access is done.
    pub known: Signal<Out, Bit>,
    /// The value of the register.
    pub value: Signal<Out, Bits<32>>,
    /// The write cannot be done in this cycle.
    pub delay: Signal<Out, Bit>,
}
