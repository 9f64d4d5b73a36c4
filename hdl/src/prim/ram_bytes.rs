//! A block RAM with byte enables.

use super::sized;
use crate::emit::unit_info::{self, HandWritten};
use hermes_hdl_macros::LogicBlock;
use rust_hdl::prelude::*;

/// Memory of up to `2^A` words of 32 bits with one port that reads or writes single bytes, inferred
/// as block RAM.
///
/// 1. At a rising edge with `enable` high and `write_strobe` not zero, the bytes whose strobe is
///    set are written.
/// 2. At a rising edge with `enable` high and `write_strobe` zero, `read_data` takes the word at
///    `address`; it keeps its value at all other edges.
/// 3. The contents and `read_data` are undefined until written and are not reset.
///
/// Reading and writing exclude each other, so that the RAM needs no logic around it for an access
/// to both at once.
///
/// A simulator writes the word with its new bytes at once: four writes of a byte each would be
/// evaluated in every cycle. Synthesis tools get a write for each byte, from which they infer a
/// block RAM with byte enables.
#[derive(Clone, LogicBlock)]
#[new(words: usize)]
pub struct RamBytes<const A: usize = 12> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Reads or writes at this edge.
    pub enable: Signal<In, Bit>,
    /// Bytes to write, strobe of bits 7:0 in bit 0; zero to read.
    pub write_strobe: Signal<In, Bits<4>>,
    /// Word address; bits above the size of the memory do not count.
    pub address: Signal<In, Bits<A>>,
    /// Bytes to write, in place.
    pub write_data: Signal<In, Bits<32>>,
    /// The word read, one cycle after its address.
    pub read_data: Signal<Out, Bits<32>>,
    #[init(vec![0; words])]
    _memory: Vec<u32>,
}

impl<const A: usize> RamBytes<A> {
    /// A memory of `words` words.
    ///
    /// # Panics
    /// If `words` is not a power of two from 2 to `2^A`.
    pub fn new(words: usize) -> Self {
        assert!(words.is_power_of_two() && (2..=1 << A).contains(&words), "RamBytes: {words} words");
        Self::wired(words)
    }
}

impl<const A: usize> Logic for RamBytes<A> {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.enable.val() {
            let address = self.address.val().index() % self._memory.len();
            let word = &mut self._memory[address];
            let strobe = self.write_strobe.val().to_u32();
            if strobe == 0 {
                self.read_data.next = bits((*word).into());
            } else {
                let data = self.write_data.val().to_u32();
                let mask = (0..4).filter(|i| strobe >> i & 1 == 1).fold(0u32, |m, i| m | 0xff << (8 * i));
                *word = (*word & !mask) | (data & mask);
            }
        }
    }
    fn timing(&self) -> Vec<TimingInfo> {
        let words = self._memory.len();
        HandWritten::new(
            if A == 12 { format!("RamBytes<{words}>") } else { format!("RamBytes<{words}, {A}>") },
            "2^INDEX_BITS words of 32 bits with byte enables, one port: block RAM. Address bits above do not count.",
            file!(),
        )
        .parameter("ADDRESS_BITS", A)
        .parameter("INDEX_BITS", words.ilog2() as usize)
        .width(&["address"], "ADDRESS_BITS")
        .into_timing()
    }
    fn hdl(&self) -> Verilog {
        let writes: String = (0..4)
            .map(|i| {
                let (low, high) = (8 * i, 8 * i + 7);
                format!("        if (write_strobe[{i}]) words[address[INDEX_BITS-1:0]][{high}:{low}] <= write_data[{high}:{low}];\n")
            })
            .collect();
        let merged: Vec<String> = (0..4)
            .rev()
            .map(|i| {
                let bits = format!("[{}:{}]", 8 * i + 7, 8 * i);
                format!("write_strobe[{i}] ? write_data{bits} : words[address[INDEX_BITS-1:0]]{bits}")
            })
            .collect();
        let merged = merged.join(", ");
        Verilog::Custom(format!(
            "reg [31:0] words [0:(1<<INDEX_BITS)-1];\n\
             reg [31:0] data;\n\
             {unused}\
             always @(posedge clk) begin\n    \
                 if (enable) begin\n\
             `ifdef SYNTHESIS\n\
             {writes}\
             `else\n        \
                     if (write_strobe != 4'd0) words[address[INDEX_BITS-1:0]] <= {{{merged}}};\n\
             `endif\n        \
                     if (write_strobe == 4'd0) data <= words[address[INDEX_BITS-1:0]];\n    \
                 end\n\
             end\n\
             assign read_data = data;\n",
            unused = sized::unused(&["address"], "ADDRESS_BITS-1", "INDEX_BITS"),
        ))
    }
}
