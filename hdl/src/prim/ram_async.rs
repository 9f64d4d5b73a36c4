//! A distributed RAM: one write port, one combinational read port.

use crate::emit::unit_info::{self, HandWritten};
use hermes_hdl_macros::LogicBlock;
use rust_hdl::prelude::*;

/// Memory of `2^A` words with one synchronous write and one combinational read port, inferred as
/// distributed (LUT) RAM.
///
/// 1. A write takes effect at the rising edge at which `write_enable` is high.
/// 2. `read_data` is, in the same cycle, the word at `read_address`.
/// 3. The contents are undefined until written and are not reset.
#[derive(Clone, LogicBlock)]
pub struct RamAsync<T: Synth, const A: usize> {
    /// Rising-edge clock of the write port.
    pub clock: Signal<In, Clock>,
    /// Writes `write_data` to `write_address` at this edge.
    pub write_enable: Signal<In, Bit>,
    /// Word address of the write.
    pub write_address: Signal<In, Bits<A>>,
    /// Word to write.
    pub write_data: Signal<In, T>,
    /// Word address of the read.
    pub read_address: Signal<In, Bits<A>>,
    /// The word at `read_address`, in the same cycle.
    pub read_data: Signal<Out, T>,
    #[count(1 << A)]
    _memory: Vec<T>,
}

impl<T: Synth, const A: usize> Logic for RamAsync<T, A> {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.write_enable.val() {
            self._memory[self.write_address.val().index()] = self.write_data.val();
        }
        self.read_data.next = self._memory[self.read_address.val().index()];
    }
    fn timing(&self) -> Vec<TimingInfo> {
        HandWritten::new(
            std::any::type_name::<Self>(),
            "2^ADDRESS_BITS words of WIDTH bits, one write port, one combinational read port: distributed RAM.",
            file!(),
        )
        .parameter("WIDTH", T::BITS)
        .parameter("ADDRESS_BITS", A)
        .width(&["write_data", "read_data"], "WIDTH")
        .width(&["write_address", "read_address"], "ADDRESS_BITS")
        .follows("read_data", "read_address")
        .into_timing()
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "reg [WIDTH-1:0] words [0:(1<<ADDRESS_BITS)-1];\n\
             always @(posedge clk) begin\n    \
                 if (write_enable) words[write_address] <= write_data;\n\
             end\n\
             assign read_data = words[read_address];\n"
                .to_string(),
        )
    }
}
