//! A block RAM: one write port, one read port with a registered output.

use crate::emit::unit_info::{self, HandWritten};
use hermes_hdl_macros::LogicBlock;
use rust_hdl::prelude::*;

/// Memory of `2^A` words with one write and one read port on the same clock, inferred as block RAM.
///
/// 1. A write takes effect at the rising edge at which `write_enable` is high.
/// 2. `read_data` holds, from the edge at which `read_enable` was high on, the word that stood at
///    `read_address` before that edge (read first); it keeps its value while `read_enable` is low.
/// 3. The contents and `read_data` are undefined until written and are not reset.
#[derive(Clone, LogicBlock)]
pub struct RamSync<T: Synth, const A: usize> {
    /// Rising-edge clock of both ports.
    pub clock: Signal<In, Clock>,
    /// Writes `write_data` to `write_address` at this edge.
    pub write_enable: Signal<In, Bit>,
    /// Word address of the write.
    pub write_address: Signal<In, Bits<A>>,
    /// Word to write.
    pub write_data: Signal<In, T>,
    /// Loads `read_data` at this edge.
    pub read_enable: Signal<In, Bit>,
    /// Word address of the read.
    pub read_address: Signal<In, Bits<A>>,
    /// The word read, one cycle after its address.
    pub read_data: Signal<Out, T>,
    #[count(1 << A)]
    _memory: Vec<T>,
}

impl<T: Synth, const A: usize> Logic for RamSync<T, A> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            if self.read_enable.val() {
                self.read_data.next = self._memory[self.read_address.val().index()];
            }
            if self.write_enable.val() {
                self._memory[self.write_address.val().index()] = self.write_data.val();
            }
        }
    }
    fn timing(&self) -> Vec<TimingInfo> {
        HandWritten::new(
            std::any::type_name::<Self>(),
            "2^ADDRESS_BITS words of WIDTH bits, one write port, one registered read port: block RAM.",
            file!(),
        )
        .parameter("WIDTH", T::BITS)
        .parameter("ADDRESS_BITS", A)
        .width(&["write_data", "read_data"], "WIDTH")
        .width(&["write_address", "read_address"], "ADDRESS_BITS")
        .into_timing()
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "reg [WIDTH-1:0] words [0:(1<<ADDRESS_BITS)-1];\n\
             reg [WIDTH-1:0] data;\n\
             always @(posedge clk) begin\n    \
                 if (read_enable) data <= words[read_address];\n    \
                 if (write_enable) words[write_address] <= write_data;\n\
             end\n\
             assign read_data = data;\n"
                .to_string(),
        )
    }
}
