//! The AXI4-Lite port of the registers.

use hermes_hdl::prelude::*;

/// AXI4-Lite slave (AMBA AXI protocol specification, part B): 12-bit byte address, 32-bit data.
#[derive(Ports)]
#[held]
pub struct AxiLite {
    /// Write address in bytes.
    pub awaddr: Signal<In, Bits<12>>,
    /// Write protection; not used.
    pub awprot: Signal<In, Bits<3>>,
    /// Write address valid.
    pub awvalid: Signal<In, Bit>,
    /// Write address ready.
    pub awready: Signal<Out, Bit>,
    /// Write data.
    pub wdata: Signal<In, Bits<32>>,
    /// Bytes of the write data that count.
    pub wstrb: Signal<In, Bits<4>>,
    /// Write data valid.
    pub wvalid: Signal<In, Bit>,
    /// Write data ready.
    pub wready: Signal<Out, Bit>,
    /// Write response: 0 OKAY, 2 SLVERR.
    pub bresp: Signal<Out, Bits<2>>,
    /// Write response valid.
    pub bvalid: Signal<Out, Bit>,
    /// Write response ready.
    pub bready: Signal<In, Bit>,
    /// Read address in bytes.
    pub araddr: Signal<In, Bits<12>>,
    /// Read protection; not used.
    pub arprot: Signal<In, Bits<3>>,
    /// Read address valid.
    pub arvalid: Signal<In, Bit>,
    /// Read address ready.
    pub arready: Signal<Out, Bit>,
    /// Read data.
    pub rdata: Signal<Out, Bits<32>>,
    /// Read response: 0 OKAY, 2 SLVERR.
    pub rresp: Signal<Out, Bits<2>>,
    /// Read response valid.
    pub rvalid: Signal<Out, Bit>,
    /// Read response ready.
    pub rready: Signal<In, Bit>,
}
