//! A distributed RAM whose depth is a parameter of `new`.

use super::sized;
use crate::emit::unit_info::{self, HandWritten};
use hermes_hdl_macros::LogicBlock;
use rust_hdl::prelude::*;

/// Memory of `2^depth_log2` words of `N` bits with one synchronous write and one combinational read
/// port, inferred as distributed (LUT) RAM.
///
/// 1. A write takes effect at the rising edge at which `write_enable` is high.
/// 2. `read_data` is, in the same cycle, the word at `read_address`.
/// 3. Address bits above the depth do not count. The contents are undefined until written and are
///    not reset.
#[derive(Clone, LogicBlock)]
#[new(depth_log2: usize)]
pub struct RamSizedAsync<const N: usize> {
    /// Rising-edge clock of the write port.
    pub clock: Signal<In, Clock>,
    /// Writes `write_data` to `write_address` at this edge.
    pub write_enable: Signal<In, Bit>,
    /// Word address of the write.
    pub write_address: Signal<In, Bits<16>>,
    /// Word to write.
    pub write_data: Signal<In, Bits<N>>,
    /// Word address of the read.
    pub read_address: Signal<In, Bits<16>>,
    /// The word at `read_address`, in the same cycle.
    pub read_data: Signal<Out, Bits<N>>,
    #[count(sized::words("RamSizedAsync", depth_log2))]
    _memory: Vec<Bits<N>>,
}

impl<const N: usize> RamSizedAsync<N> {
    /// A memory of `2^depth_log2` words.
    ///
    /// # Panics
    /// If `depth_log2` is not 1 to 16.
    pub fn new(depth_log2: usize) -> Self {
        Self::wired(depth_log2)
    }
}

impl<const N: usize> Logic for RamSizedAsync<N> {
    fn update(&mut self) {
        let last = self._memory.len() - 1;
        if self.clock.pos_edge() && self.write_enable.val() {
            self._memory[self.write_address.val().index() & last] = self.write_data.val();
        }
        self.read_data.next = self._memory[self.read_address.val().index() & last];
    }
    fn timing(&self) -> Vec<TimingInfo> {
        let words = self._memory.len();
        HandWritten::new(
            format!("RamSizedAsync<{N}, {words}>"),
            "2^ADDRESS_BITS words of WIDTH bits, one write port, one combinational read port: distributed RAM. \
             Address bits above do not count.",
            file!(),
        )
        .parameter("WIDTH", N)
        .parameter("ADDRESS_BITS", words.ilog2() as usize)
        .width(&["write_data", "read_data"], "WIDTH")
        .follows("read_data", "read_address")
        .into_timing()
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "reg [WIDTH-1:0] words [0:(1<<ADDRESS_BITS)-1];\n\
             {unused}\
             always @(posedge clk) begin\n    \
                 if (write_enable) words[write_address[ADDRESS_BITS-1:0]] <= write_data;\n\
             end\n\
             assign read_data = words[read_address[ADDRESS_BITS-1:0]];\n",
            unused = sized::unused(&["write_address", "read_address"], "15", "ADDRESS_BITS"),
        ))
    }
}
