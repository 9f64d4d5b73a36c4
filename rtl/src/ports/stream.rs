//! AXI4-Streams of frames.

use hermes_hdl::prelude::*;

/// An AXI4-Stream into the design (AMBA AXI-Stream protocol specification), 64 bytes a beat.
#[derive(Ports)]
#[held]
pub struct StreamIn {
    /// Bytes of a frame, the first in bits 7:0.
    pub tdata: Signal<In, Bits<512>>,
    /// Bytes that count: all but in the last beat, there the first ones.
    pub tkeep: Signal<In, Bits<64>>,
    /// Last beat of the frame.
    pub tlast: Signal<In, Bit>,
    /// Bits 30:0 in the first beat: input port, for packet ports. Bit 31 in the last beat: the
    /// frame is damaged.
    pub tuser: Signal<In, Bits<32>>,
    /// A beat is offered.
    pub tvalid: Signal<In, Bit>,
    /// The beat is taken at this edge.
    pub tready: Signal<Out, Bit>,
}

/// An AXI4-Stream out of the design, 64 bytes a beat.
#[derive(Ports)]
#[held]
pub struct StreamOut {
    /// Bytes of a frame, the first in bits 7:0.
    pub tdata: Signal<Out, Bits<512>>,
    /// Bytes that count: all but in the last beat, there the first ones.
    pub tkeep: Signal<Out, Bits<64>>,
    /// Last beat of the frame.
    pub tlast: Signal<Out, Bit>,
    /// Bits 30:0: output port, of packet ports. Bit 31 in the last beat: the frame is damaged.
    pub tuser: Signal<Out, Bits<32>>,
    /// A beat is offered.
    pub tvalid: Signal<Out, Bit>,
    /// The beat is taken at this edge.
    pub tready: Signal<In, Bit>,
}
