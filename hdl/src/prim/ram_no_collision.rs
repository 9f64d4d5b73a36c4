//! A block RAM whose word must not be read while it is written.

use crate::emit::unit_info::{self, HandWritten};
use hermes_hdl_macros::LogicBlock;
use rust_hdl::prelude::*;

/// Memory of `2^A` words of `N` bits with one write and one read port on the same clock: block RAM
/// and nothing else.
///
/// 1. A write takes effect at the rising edge at which `write_enable` is high.
/// 2. `read_data` holds, from the edge at which `read_enable` was high on, the word at
///    `read_address`; it keeps its value while `read_enable` is low.
/// 3. The word read in the cycle in which it is written is undefined; the write takes effect. In
///    simulation it is the inverse of the word before, so that a use of it shows.
/// 4. The contents and `read_data` are undefined until written and are not reset.
///
/// A block RAM leaves such a read undefined. [`RamSync`](super::RamSync), which promises the word
/// before, costs a comparator, a multiplexer and registers for the word and the addresses on top:
/// with 512 words of 32 bits 40 LUTs and 75 flip-flops.
#[derive(Clone, LogicBlock)]
pub struct RamNoCollision<const N: usize, const A: usize> {
    /// Rising-edge clock of both ports.
    pub clock: Signal<In, Clock>,
    /// Writes `write_data` to `write_address` at this edge.
    pub write_enable: Signal<In, Bit>,
    /// Word address of the write.
    pub write_address: Signal<In, Bits<A>>,
    /// Word to write.
    pub write_data: Signal<In, Bits<N>>,
    /// Loads `read_data` at this edge.
    pub read_enable: Signal<In, Bit>,
    /// Word address of the read.
    pub read_address: Signal<In, Bits<A>>,
    /// The word read, one cycle after its address.
    pub read_data: Signal<Out, Bits<N>>,
    #[count(1 << A)]
    _memory: Vec<Bits<N>>,
}

impl<const N: usize, const A: usize> Logic for RamNoCollision<N, A> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let (write, read) = (self.write_address.val().index(), self.read_address.val().index());
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
        HandWritten::new(
            std::any::type_name::<Self>(),
            "2^ADDRESS_BITS words of WIDTH bits, one write port, one registered read port: block RAM; \
             the word read while it is written is undefined.",
            file!(),
        )
        .parameter("WIDTH", N)
        .parameter("ADDRESS_BITS", A)
        .width(&["write_data", "read_data"], "WIDTH")
        .width(&["write_address", "read_address"], "ADDRESS_BITS")
        .into_timing()
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "(* no_rw_check, ram_style = \"block\" *)\n\
             reg [WIDTH-1:0] words [0:(1<<ADDRESS_BITS)-1];\n\
             reg [WIDTH-1:0] data;\n\
             always @(posedge clk) begin\n    \
                 if (read_enable) data <= words[read_address];\n\
             `ifndef SYNTHESIS\n    \
                 if (read_enable && write_enable && read_address == write_address) data <= ~words[read_address];\n\
             `endif\n    \
                 if (write_enable) words[write_address] <= write_data;\n\
             end\n\
             assign read_data = data;\n"
                .to_string(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::settle;

    #[test]
    fn a_collision_gives_the_inverse_of_the_word_before() {
        let mut uut = RamNoCollision::<8, 3>::default();
        // Write enable, word and read address, with what is read afterwards
        for (write, word, read, expected) in [
            (true, 0x12, 0, 0x00),
            (false, 0x34, 5, 0x12),
            (true, 0x34, 5, 0xed),
            (false, 0, 5, 0x34),
            (true, 0x56, 0, 0x00),
        ] {
            uut.write_enable.next = write;
            uut.write_address.next = bits(5);
            uut.write_data.next = bits(word);
            uut.read_enable.next = true;
            uut.read_address.next = bits(read);
            uut.clock.next = Clock { clk: true };
            settle(&mut uut);
            uut.clock.next = Clock { clk: false };
            settle(&mut uut);
            assert_eq!(uut.read_data.val().to_u64(), expected);
        }
    }
}
