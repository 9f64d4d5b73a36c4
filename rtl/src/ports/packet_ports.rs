//! Between the units of the packet ports.

use super::{LineWrite, LineWritten};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// The verdict of the next packet, from the verdict reader to the slot reader.
#[derive(Ports)]
#[held]
pub struct Verdict {
    /// The verdict is here.
    pub valid: Signal<Out, Bit>,
    /// The verdict is taken at this edge.
    pub ready: Signal<In, Bit>,
    /// The verdict: a port unless bit 31 is set.
    pub value: Signal<Out, Bits<32>>,
}

/// The next line of the frames to send, from the slot reader to the frame sender.
#[derive(Ports)]
#[held(valid, ready, data, error, start, last)]
pub struct FrameLine {
    /// A line is here.
    pub valid: Signal<Out, Bit>,
    /// The line is taken at this edge.
    pub ready: Signal<In, Bit>,
    /// The line.
    pub data: Signal<Out, Bits<512>>,
    /// The line could not be read.
    pub error: Signal<Out, Bit>,
    /// The line is line 0 of a slot.
    pub start: Signal<Out, Bit>,
    /// The line is the last one of its frame.
    pub last: Signal<Out, Bit>,
    /// With line 0: bytes of the frame, at least 1.
    pub frame_bytes: Signal<Out, Bits<17>>,
    /// With line 0: output port, that of the verdict.
    pub frame_port: Signal<Out, Bits<31>>,
}

/// A line of a frame that is to be written, from the line builder.
#[derive(Ports)]
#[held]
pub struct BuiltLine {
    /// A line is to be written.
    pub valid: Signal<Out, Bit>,
    /// The line is taken at this edge.
    pub ready: Signal<In, Bit>,
    /// Line address to write to.
    pub address: Signal<Out, LineAddress>,
    /// Bytes of the line.
    pub data: Signal<Out, Bits<512>>,
    /// The line is the last one of its frame.
    pub end: Signal<Out, Bit>,
}

/// A line of a frame, as the write window sees it.
#[derive(Ports)]
#[part_of(BuiltLine)]
#[held]
pub struct WindowLine {
    /// A line is to be written.
    pub valid: Signal<Out, Bit>,
    /// The line is taken at this edge.
    pub ready: Signal<In, Bit>,
    /// The line is the last one of its frame.
    pub end: Signal<Out, Bit>,
}

/// A write and its answer, without line and data.
#[derive(Ports)]
#[part_of(LineWrite)]
#[held]
pub struct TaggedWrite {
    /// A write is offered.
    pub valid: Signal<Out, Bit>,
    /// The write is accepted at this edge.
    pub ready: Signal<In, Bit>,
    /// Tag of the write.
    pub tag: Signal<Out, Bits<6>>,
    /// From memory.
    pub written: LineWritten,
}
