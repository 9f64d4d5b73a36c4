//! The AXI4 master to memory.

use hermes_hdl::prelude::*;

/// AXI4 master (AMBA AXI protocol specification, part A): 8-bit IDs, 32-bit byte address, 512-bit
/// data.
///
/// In Verilog, element 0 of a field `m_axi: Vec<Axi4Master>` has the ports `m_axi_0_awid`,
/// `m_axi_0_awaddr`, ...
#[derive(Ports)]
#[separate]
pub struct Axi4Master {
    /// Write address: ID.
    pub awid: Signal<Out, Bits<8>>,
    /// Write address, 64-byte aligned.
    pub awaddr: Signal<Out, Bits<32>>,
    /// Burst length - 1: 0.
    pub awlen: Signal<Out, Bits<8>>,
    /// Bytes of a beat as a power of two: 6.
    pub awsize: Signal<Out, Bits<3>>,
    /// Burst type: INCR.
    pub awburst: Signal<Out, Bits<2>>,
    /// Normal access.
    pub awlock: Signal<Out, Bit>,
    /// Memory type: normal, non-cacheable, bufferable.
    pub awcache: Signal<Out, Bits<4>>,
    /// Unprivileged secure data access.
    pub awprot: Signal<Out, Bits<3>>,
    /// No quality of service.
    pub awqos: Signal<Out, Bits<4>>,
    /// Write address valid.
    pub awvalid: Signal<Out, Bit>,
    /// Write address ready.
    pub awready: Signal<In, Bit>,
    /// Write data.
    pub wdata: Signal<Out, Bits<512>>,
    /// Write strobes.
    pub wstrb: Signal<Out, Bits<64>>,
    /// Last beat of the burst: always.
    pub wlast: Signal<Out, Bit>,
    /// Write data valid.
    pub wvalid: Signal<Out, Bit>,
    /// Write data ready.
    pub wready: Signal<In, Bit>,
    /// Write response: ID.
    pub bid: Signal<In, Bits<8>>,
    /// Write response: 0 is OKAY.
    pub bresp: Signal<In, Bits<2>>,
    /// Write response valid.
    pub bvalid: Signal<In, Bit>,
    /// Write response ready: always.
    pub bready: Signal<Out, Bit>,
    /// Read address: ID.
    pub arid: Signal<Out, Bits<8>>,
    /// Read address, 64-byte aligned.
    pub araddr: Signal<Out, Bits<32>>,
    /// Burst length - 1: 0.
    pub arlen: Signal<Out, Bits<8>>,
    /// Bytes of a beat as a power of two: 6.
    pub arsize: Signal<Out, Bits<3>>,
    /// Burst type: INCR.
    pub arburst: Signal<Out, Bits<2>>,
    /// Normal access.
    pub arlock: Signal<Out, Bit>,
    /// Memory type: normal, non-cacheable, bufferable.
    pub arcache: Signal<Out, Bits<4>>,
    /// Unprivileged secure access; bit 2 is 1 for a fetch of instructions.
    pub arprot: Signal<Out, Bits<3>>,
    /// No quality of service.
    pub arqos: Signal<Out, Bits<4>>,
    /// Read address valid.
    pub arvalid: Signal<Out, Bit>,
    /// Read address ready.
    pub arready: Signal<In, Bit>,
    /// Read data: ID.
    pub rid: Signal<In, Bits<8>>,
    /// Read data.
    pub rdata: Signal<In, Bits<512>>,
    /// Read response: 0 is OKAY.
    pub rresp: Signal<In, Bits<2>>,
    /// Last beat of the burst.
    pub rlast: Signal<In, Bit>,
    /// Read data valid.
    pub rvalid: Signal<In, Bit>,
    /// Read data ready.
    pub rready: Signal<Out, Bit>,
}
