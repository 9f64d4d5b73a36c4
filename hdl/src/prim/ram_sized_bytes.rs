//! A block RAM of lines with byte enables, whose depth is a parameter of `new`.

use super::sized;
use crate::emit::unit_info::{self, HandWritten};
use hermes_hdl_macros::LogicBlock;
use rust_hdl::prelude::*;

/// Memory of `2^depth_log2` lines of 64 bytes with one write port that has byte enables and one
/// read port on the same clock, inferred as block RAM.
///
/// 1. At a rising edge with `write_enable` high, the bytes of `write_data` whose strobe is set are
///    written.
/// 2. `read_data` holds, from the edge at which `read_enable` was high on, the line at
///    `read_address`; it keeps its value while `read_enable` is low.
/// 3. The line read in the cycle in which it is written is undefined; the write takes effect. In
///    simulation it is the inverse of the line before, so that a use of it shows.
/// 4. Address bits above the depth do not count. The contents and `read_data` are undefined until
///    written and are not reset.
///
/// A simulator writes the line with its new bytes at once: 64 writes of a byte each would be
/// evaluated in every cycle. Synthesis tools get a write for each byte, in a process of its own,
/// from which they infer a block RAM with byte enables: with all in one process, Yosys takes 45 s
/// longer for a RAM, since `proc_mux` is quadratic in the bits that a process writes.
#[derive(Clone, LogicBlock)]
#[new(depth_log2: usize)]
pub struct RamSizedBytes {
    /// Rising-edge clock of both ports.
    pub clock: Signal<In, Clock>,
    /// Writes at this edge.
    pub write_enable: Signal<In, Bit>,
    /// Line address of the write.
    pub write_address: Signal<In, Bits<16>>,
    /// Line to write, byte 0 in bits 7:0.
    pub write_data: Signal<In, Bits<512>>,
    /// Bytes to write, strobe of byte 0 in bit 0.
    pub write_strobe: Signal<In, Bits<64>>,
    /// Loads `read_data` at this edge.
    pub read_enable: Signal<In, Bit>,
    /// Line address of the read.
    pub read_address: Signal<In, Bits<16>>,
    /// The line read, one cycle after its address.
    pub read_data: Signal<Out, Bits<512>>,
    #[count(sized::words("RamSizedBytes", depth_log2))]
    _memory: Vec<Bits<512>>,
}

impl RamSizedBytes {
    /// A memory of `2^depth_log2` lines.
    ///
    /// # Panics
    /// If `depth_log2` is not 1 to 16.
    pub fn new(depth_log2: usize) -> Self {
        Self::wired(depth_log2)
    }
}

impl Logic for RamSizedBytes {
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
                let (data, strobe) = (self.write_data.val(), self.write_strobe.val().to_u64());
                let line = &mut self._memory[write];
                if strobe == u64::MAX {
                    *line = data;
                } else {
                    for byte in (0..64).filter(|byte| strobe >> byte & 1 == 1) {
                        line.set_bits(8 * byte, data.get_bits::<8>(8 * byte));
                    }
                }
            }
        }
    }
    fn timing(&self) -> Vec<TimingInfo> {
        let words = self._memory.len();
        HandWritten::new(
            format!("RamSizedBytes<{words}>"),
            "2^ADDRESS_BITS lines of 64 bytes, one write port with byte enables, one registered read port: block RAM; \
             the line read while it is written is undefined. Address bits above do not count.",
            file!(),
        )
        .parameter("ADDRESS_BITS", words.ilog2() as usize)
        .into_timing()
    }
    fn hdl(&self) -> Verilog {
        let (write, read) = ("write_address[ADDRESS_BITS-1:0]", "read_address[ADDRESS_BITS-1:0]");
        // No function: Verilator numbers its variables for each instance, so that instances could
        // not share their code.
        let bytes: Vec<String> = (0..64).rev().map(|i| format!("{{8{{write_strobe[{i}]}}}}")).collect();
        let mask: Vec<String> = bytes.chunks(4).map(|word| format!("    {}", word.join(", "))).collect();
        let mask = mask.join(",\n");
        Verilog::Custom(format!(
            "(* no_rw_check, ram_style = \"block\" *)\n\
             reg [511:0] words [0:(1<<ADDRESS_BITS)-1];\n\
             reg [511:0] data;\n\
             {unused}\
             `ifdef SYNTHESIS\n\
             genvar i;\n\
             generate\n    \
                 for (i = 0; i < 64; i = i + 1) begin : bytes\n        \
                     always @(posedge clk) begin\n            \
                         if (write_enable && write_strobe[i]) words[{write}][8 * i +: 8] <= write_data[8 * i +: 8];\n        \
                     end\n    \
                 end\n\
             endgenerate\n\
             `else\n\
             wire [511:0] mask = {{\n{mask}\n}};\n\
             `endif\n\
             always @(posedge clk) begin\n    \
                 if (read_enable) data <= words[{read}];\n\
             `ifndef SYNTHESIS\n    \
                 if (read_enable && write_enable && {read} == {write}) data <= ~words[{read}];\n    \
                 if (write_enable) words[{write}] <= (words[{write}] & ~mask) | (write_data & mask);\n\
             `endif\n\
             end\n\
             assign read_data = data;\n",
            unused = sized::unused(&["write_address", "read_address"], "15", "ADDRESS_BITS"),
        ))
    }
}
