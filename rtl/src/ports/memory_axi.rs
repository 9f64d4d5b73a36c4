//! AXI4 at the packet memory of a board.

use hermes_hdl::prelude::*;

/// What the packet memory of a board needs of the array's AXI4 master
/// ([`Axi4Master`](crate::l2::Axi4Master)): every access is a line of 64 bytes in one beat, so the
/// rest is always the same.
#[derive(Ports)]
pub struct MemoryAxi {
    /// Write address: ID.
    pub awid: Signal<In, Bits<8>>,
    /// Write address, 64-byte aligned.
    pub awaddr: Signal<In, Bits<32>>,
    /// Write address valid.
    pub awvalid: Signal<In, Bit>,
    /// Write address ready.
    pub awready: Signal<Out, Bit>,
    /// Write data.
    pub wdata: Signal<In, Bits<512>>,
    /// Write strobes.
    pub wstrb: Signal<In, Bits<64>>,
    /// Write data valid.
    pub wvalid: Signal<In, Bit>,
    /// Write data ready.
    pub wready: Signal<Out, Bit>,
    /// Write response: ID.
    pub bid: Signal<Out, Bits<8>>,
    /// Write response: OKAY or DECERR.
    pub bresp: Signal<Out, Bits<2>>,
    /// Write response valid.
    pub bvalid: Signal<Out, Bit>,
    /// Write response ready.
    pub bready: Signal<In, Bit>,
    /// Read address: ID.
    pub arid: Signal<In, Bits<8>>,
    /// Read address, 64-byte aligned.
    pub araddr: Signal<In, Bits<32>>,
    /// Read address valid.
    pub arvalid: Signal<In, Bit>,
    /// Read address ready.
    pub arready: Signal<Out, Bit>,
    /// Read data: ID.
    pub rid: Signal<Out, Bits<8>>,
    /// Read data.
    pub rdata: Signal<Out, Bits<512>>,
    /// Read response: OKAY or DECERR.
    pub rresp: Signal<Out, Bits<2>>,
    /// Read data valid.
    pub rvalid: Signal<Out, Bit>,
    /// Read data ready.
    pub rready: Signal<In, Bit>,
}
