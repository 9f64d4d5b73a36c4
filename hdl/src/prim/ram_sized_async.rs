//! A distributed RAM whose depth is a parameter of `new`.

use super::sized;
use crate::emit::unit_info::{self, Primitive};
use hermes_hdl_macros::LogicBlock;
use rust_hdl::prelude::*;

/// Memory of `2^depth_log2` words of `N` bits with one synchronous write and one combinational read
/// port, inferred as distributed (LUT) RAM.
///
/// 1. A write takes effect at the rising edge at which `write_enable` is high.
/// 2. `read_data` is, in the same cycle, the word at `read_address`.
/// 3. Address bits above the depth do not count. The contents are undefined until written and are
///    not reset.
#[derive(Clone, Debug, LogicBlock)]
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
        Primitive::Memory {
            type_name: format!("RamSizedAsync<{N}, {words}>"),
            doc: format!(
                "{words} words of {N} bits, one write port, one combinational read port: distributed RAM."
            ),
            combinational: vec![("read_data".to_string(), "read_address".to_string())],
        }
        .into_timing()
    }
    fn hdl(&self) -> Verilog {
        let last = self._memory.len() - 1;
        Verilog::Custom(format!(
            "reg [{msb}:0] words [0:{last}];\n\
             {unused}\
             always @(posedge clk) begin\n    \
                 if (write_enable) words[{write}] <= write_data;\n\
             end\n\
             assign read_data = words[{read}];\n",
            msb = N - 1,
            unused = sized::unused(&["write_address", "read_address"], last),
            write = sized::index("write_address", last),
            read = sized::index("read_address", last),
        ))
    }
}
