//! A distributed RAM of rows with a word for each lane.

use crate::emit::unit_info::{self, HandWritten};
use hermes_hdl_macros::LogicBlock;
use rust_hdl::prelude::*;

/// Memory of `2^A` rows of one word of `N` bits for each lane, with one synchronous write and one
/// combinational read port, inferred as distributed (LUT) RAM.
///
/// 1. A write takes effect at the rising edge at which `write_enable` is high.
/// 2. `read_data` is, in the same cycle, the row at `read_address`.
/// 3. The contents are undefined until written and are not reset.
///
/// In hardware it is a [`RamAsync`](super::RamAsync) for each lane. A simulation moves rows of many
/// lanes much faster than single words, if the words have 32 bits; bits that are not read cost
/// nothing in hardware.
#[derive(Clone, LogicBlock)]
#[new(lanes: usize)]
pub struct LaneRam<const N: usize, const A: usize> {
    /// Rising-edge clock of the write port.
    pub clock: Signal<In, Clock>,
    /// Writes `write_data` to `write_address` at this edge.
    pub write_enable: Signal<In, Bit>,
    /// Row of the write.
    pub write_address: Signal<In, Bits<A>>,
    /// Word of each lane to write.
    #[count(lanes)]
    pub write_data: Vec<Signal<In, Bits<N>>>,
    /// Row of the read.
    pub read_address: Signal<In, Bits<A>>,
    /// Word of each lane at `read_address`, in the same cycle.
    #[count(lanes)]
    pub read_data: Vec<Signal<Out, Bits<N>>>,
    #[init(vec![vec![Bits::default(); lanes]; 1 << A])]
    _memory: Vec<Vec<Bits<N>>>,
}

impl<const N: usize, const A: usize> LaneRam<N, A> {
    /// A memory for `lanes` lanes.
    pub fn new(lanes: usize) -> Self {
        Self::wired(lanes)
    }
}

impl<const N: usize, const A: usize> Logic for LaneRam<N, A> {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.write_enable.val() {
            let row = &mut self._memory[self.write_address.val().index()];
            for (word, data) in row.iter_mut().zip(&self.write_data) {
                *word = data.val();
            }
        }
        let row = &self._memory[self.read_address.val().index()];
        for (data, word) in self.read_data.iter_mut().zip(row) {
            data.next = *word;
        }
    }
    fn timing(&self) -> Vec<TimingInfo> {
        let lanes = self.read_data.len();
        HandWritten::new(
            format!("LaneRam<{N}, {A}, {lanes}>"),
            "2^ADDRESS_BITS rows of LANES words of WIDTH bits, one write port, one combinational read port: \
             distributed RAM.",
            file!(),
        )
        .parameter("WIDTH", N)
        .parameter("ADDRESS_BITS", A)
        .parameter("LANES", lanes)
        .width(&["write_data", "read_data"], "LANES*WIDTH")
        .width(&["write_address", "read_address"], "ADDRESS_BITS")
        .follows("read_data", "read_address")
        .into_timing()
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "reg [LANES*WIDTH-1:0] rows [0:(1<<ADDRESS_BITS)-1];\n\
             always @(posedge clk) begin\n    \
                 if (write_enable) rows[write_address] <= write_data;\n\
             end\n\
             assign read_data = rows[read_address];\n"
                .to_string(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random;
    use rand::Rng;

    #[test]
    fn rows_hold_what_was_written() {
        let mut rng = random();
        let mut unit = LaneRam::<8, 2>::new(3);
        let mut rows = [[0u64; 3]; 4];
        for _ in 0..200 {
            let (enable, write, read) = (rng.gen_bool(0.6), rng.gen_range(0..4), rng.gen_range(0..4));
            let row: [u64; 3] = std::array::from_fn(|_| rng.gen_range(0..256));
            unit.write_enable.next = enable;
            unit.write_address.next = bits(write);
            unit.read_address.next = bits(read);
            for (data, word) in unit.write_data.iter_mut().zip(row) {
                data.next = word.into();
            }
            for clk in [true, false] {
                unit.clock.next = Clock { clk };
                assert!(simulate(&mut unit, 10));
            }
            if enable {
                rows[write as usize] = row;
            }
            for (data, word) in unit.read_data.iter().zip(rows[read as usize]) {
                assert_eq!(data.val(), bits(word));
            }
        }
    }
}
