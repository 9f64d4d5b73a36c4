//! A block RAM whose depth is a parameter of `new`.

use super::sized;
use crate::emit::unit_info::{self, HandWritten};
use hermes_hdl_macros::LogicBlock;
use rust_hdl::prelude::*;

/// Memory of `2^depth_log2` words of `N` bits with one write and one read port on the same clock,
/// inferred as block RAM.
///
/// 1. A write takes effect at the rising edge at which `write_enable` is high.
/// 2. `read_data` holds, from the edge at which `read_enable` was high on, the word at
///    `read_address`; it keeps its value while `read_enable` is low.
/// 3. The word read in the cycle in which it is written is undefined; the write takes effect. In
///    simulation it is the inverse of the word before, so that a use of it shows.
/// 4. Address bits above the depth do not count. The contents and `read_data` are undefined until
///    written and are not reset.
#[derive(Clone, LogicBlock)]
#[new(depth_log2: usize)]
pub struct RamSized<const N: usize> {
    /// Rising-edge clock of both ports.
    pub clock: Signal<In, Clock>,
    /// Writes `write_data` to `write_address` at this edge.
    pub write_enable: Signal<In, Bit>,
    /// Word address of the write.
    pub write_address: Signal<In, Bits<16>>,
    /// Word to write.
    pub write_data: Signal<In, Bits<N>>,
    /// Loads `read_data` at this edge.
    pub read_enable: Signal<In, Bit>,
    /// Word address of the read.
    pub read_address: Signal<In, Bits<16>>,
    /// The word read, one cycle after its address.
    pub read_data: Signal<Out, Bits<N>>,
    #[count(sized::words("RamSized", depth_log2))]
    _memory: Vec<Bits<N>>,
}

impl<const N: usize> RamSized<N> {
    /// A memory of `2^depth_log2` words.
    ///
    /// # Panics
    /// If `depth_log2` is not 1 to 16.
    pub fn new(depth_log2: usize) -> Self {
        Self::wired(depth_log2)
    }
}

impl<const N: usize> Logic for RamSized<N> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let last = self._memory.len() - 1;
            let (write, read) =
                (self.write_address.val().index() & last, self.read_address.val().index() & last);
            if self.read_enable.val() {
                let collides = self.write_enable.val() && write == read;
                self.read_data.next = if collides { !self._memory[read] } else { self._memory[read] };
            }
            if self.write_enable.val() {
                self._memory[write] = self.write_data.val();
            }
        }
    }
    fn timing(&self) -> Vec<TimingInfo> {
        let words = self._memory.len();
        HandWritten::new(
            format!("RamSized<{N}, {words}>"),
            "2^ADDRESS_BITS words of WIDTH bits, one write port, one registered read port: block RAM; \
             the word read while it is written is undefined. Address bits above do not count.",
            file!(),
        )
        .parameter("WIDTH", N)
        .parameter("ADDRESS_BITS", words.ilog2() as usize)
        .width(&["write_data", "read_data"], "WIDTH")
        .into_timing()
    }
    fn hdl(&self) -> Verilog {
        let (write, read) = ("write_address[ADDRESS_BITS-1:0]", "read_address[ADDRESS_BITS-1:0]");
        Verilog::Custom(format!(
            "(* no_rw_check, ram_style = \"block\" *)\n\
             reg [WIDTH-1:0] words [0:(1<<ADDRESS_BITS)-1];\n\
             reg [WIDTH-1:0] data;\n\
             {unused}\
             always @(posedge clk) begin\n    \
                 if (read_enable) data <= words[{read}];\n\
             `ifndef SYNTHESIS\n    \
                 if (read_enable && write_enable && {read} == {write}) data <= ~words[{read}];\n\
             `endif\n    \
                 if (write_enable) words[{write}] <= write_data;\n\
             end\n\
             assign read_data = data;\n",
            unused = sized::unused(&["write_address", "read_address"], "15", "ADDRESS_BITS"),
        ))
    }
}
