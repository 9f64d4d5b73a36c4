//! A byte of the packet memory of a board, or of the trace buffer.

use hermes_hdl::prelude::*;

/// Between the link to the host and the packet memory, or the trace buffer. A byte is taken with
/// `valid` and `ready`; one that is read is answered in the cycle after that. It is not held for
/// ever: the link gives up memory that does not answer.
#[derive(Ports)]
pub struct MemoryByte {
    /// A byte is to be read or written.
    pub valid: Signal<In, Bit>,
    /// The byte is taken.
    pub ready: Signal<Out, Bit>,
    /// The byte is to be written.
    pub write: Signal<In, Bit>,
    /// Address of the byte.
    pub address: Signal<In, Bits<32>>,
    /// The byte to write.
    pub data: Signal<In, Bits<8>>,
    /// The byte that was read is given.
    pub answer: Signal<Out, Bit>,
    /// The byte that was read.
    pub read: Signal<Out, Bits<8>>,
}
