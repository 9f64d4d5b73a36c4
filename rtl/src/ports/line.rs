//! Ports of a requester of the L2.

use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// The read port of a requester of the L2. Every unit between a requester and the L2 has the whole
/// tag. A read is not held until it is accepted: the network interface puts the read of a ring
/// before one that waits.
#[derive(Ports)]
pub struct LineRead {
    /// A line is to be read.
    pub valid: Signal<Out, Bit>,
    /// The read is accepted at this edge.
    pub ready: Signal<In, Bit>,
    /// Line address of the read.
    pub line: Signal<Out, LineAddress>,
    /// Tag for the answer; bit 6 marks a fetch of instructions.
    pub tag: Signal<Out, Bits<7>>,
    /// From memory.
    pub response: LineResponse,
}

/// The answer of a read. Answers come in any order and cannot wait.
#[derive(Ports)]
pub struct LineResponse {
    /// A line comes.
    pub valid: Signal<In, Bit>,
    /// The tag of its read.
    pub tag: Signal<In, Bits<7>>,
    /// The line, byte 0 in bits 7:0.
    pub data: Signal<In, Bits<512>>,
    /// The line could not be read.
    pub error: Signal<In, Bit>,
}

/// The write port of a requester of the L2. A write is not held until it is accepted: the network
/// interface puts an atomic operation, or a word of a ring, before one that waits.
#[derive(Ports)]
pub struct LineWrite {
    /// A line is to be written, or an atomic operation to be performed.
    pub valid: Signal<Out, Bit>,
    /// The write is accepted at this edge.
    pub ready: Signal<In, Bit>,
    /// Line address of the write.
    pub line: Signal<Out, LineAddress>,
    /// The line, byte 0 in bits 7:0, or what describes the atomic operation.
    pub data: Signal<Out, Bits<512>>,
    /// Bytes to write.
    pub strobe: Signal<Out, Bits<64>>,
    /// Tag for the answer; bit 5 marks an atomic operation.
    pub tag: Signal<Out, Bits<6>>,
    /// From memory.
    pub written: LineWritten,
}

/// A write that memory accepts, for a unit that observes the port.
#[derive(Ports)]
#[part_of(LineWrite)]
pub struct AcceptedWrite {
    /// A write is accepted at this edge.
    pub valid: Signal<Out, Bit>,
    /// Line address of the write.
    pub line: Signal<Out, LineAddress>,
    /// Tag of the write.
    pub tag: Signal<Out, Bits<6>>,
}

/// The answer of a write. Answers come in any order and cannot wait.
#[derive(Ports)]
pub struct LineWritten {
    /// A write is performed, and every later read of any requester sees it.
    pub valid: Signal<In, Bit>,
    /// Tag of the write.
    pub tag: Signal<In, Bits<6>>,
}

/// What comes with the answer of a write if it was an atomic operation.
#[derive(Ports)]
pub struct AtomicAnswer {
    /// The value for the register.
    pub word: Signal<In, Bits<32>>,
    /// The line could not be read.
    pub error: Signal<In, Bit>,
}
