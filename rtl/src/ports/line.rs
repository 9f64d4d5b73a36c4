//! Ports of a requester of the L2.

use hermes_hdl::prelude::*;

/// The write port of a requester of the L2, and its answer.
#[derive(Ports)]
pub struct LineWrite {
    /// A line is to be written.
    pub valid: Signal<Out, Bit>,
    /// The write is accepted at this edge.
    pub ready: Signal<In, Bit>,
    /// Its line address.
    pub line: Signal<Out, Bits<26>>,
    /// The line, byte 0 in bits 7:0.
    pub data: Signal<Out, Bits<512>>,
    /// Bytes to write.
    pub strobe: Signal<Out, Bits<64>>,
    /// Tag for the answer.
    pub tag: Signal<Out, Bits<6>>,
    /// A write is performed, and every later read of any requester sees it.
    pub written_valid: Signal<In, Bit>,
    /// Its tag.
    pub written_tag: Signal<In, Bits<6>>,
}

/// The read port of a requester of the L2, and its answer.
#[derive(Ports)]
pub struct LineRead {
    /// A line is to be read.
    pub valid: Signal<Out, Bit>,
    /// The read is accepted at this edge.
    pub ready: Signal<In, Bit>,
    /// Its line address.
    pub line: Signal<Out, Bits<26>>,
    /// Tag for the answer.
    pub tag: Signal<Out, Bits<7>>,
    /// A line comes; it cannot wait.
    pub response_valid: Signal<In, Bit>,
    /// The tag of its read.
    pub response_tag: Signal<In, Bits<7>>,
    /// The line, byte 0 in bits 7:0.
    pub response_data: Signal<In, Bits<512>>,
    /// It could not be read.
    pub response_error: Signal<In, Bit>,
}
