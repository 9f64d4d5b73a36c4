//! Registers with a word for each lane and one enable.

use crate::emit::unit_info::{self, HandWritten};
use hermes_hdl_macros::LogicBlock;
use rust_hdl::prelude::*;

/// A word of `N` bits for each lane: flip-flops with a common clock enable.
///
/// At a rising edge with `write_enable` high `q` takes `d`. The words are undefined until written
/// and not reset.
///
/// In hardware it is a [`Register`](super::Register) without reset for each lane. A simulation
/// moves the words of many lanes at once much faster than single ones, if they have 32 bits; bits
/// that are not read cost nothing in hardware.
#[derive(Clone, LogicBlock)]
#[new(lanes: usize)]
pub struct LaneRegisters<const N: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Takes `d` at this edge.
    pub write_enable: Signal<In, Bit>,
    /// Next word of each lane.
    #[count(lanes)]
    pub d: Vec<Signal<In, Bits<N>>>,
    /// Present word of each lane.
    #[count(lanes)]
    pub q: Vec<Signal<Out, Bits<N>>>,
}

impl<const N: usize> LaneRegisters<N> {
    /// Registers for `lanes` lanes.
    pub fn new(lanes: usize) -> Self {
        Self::wired(lanes)
    }
}

impl<const N: usize> Logic for LaneRegisters<N> {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.write_enable.val() {
            for (q, d) in self.q.iter_mut().zip(&self.d) {
                q.next = d.val();
            }
        }
    }
    fn timing(&self) -> Vec<TimingInfo> {
        let lanes = self.q.len();
        HandWritten::new(
            format!("LaneRegisters<{N}, {lanes}>"),
            "LANES words of WIDTH bits with one enable: flip-flops.",
            file!(),
        )
        .parameter("WIDTH", N)
        .parameter("LANES", lanes)
        .width(&["d", "q"], "LANES*WIDTH")
        .into_timing()
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "reg [LANES*WIDTH-1:0] words;\n\
             always @(posedge clk) begin\n    \
                 if (write_enable) words <= d;\n\
             end\n\
             assign q = words;\n"
                .to_string(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_change_with_the_enable() {
        let mut unit = LaneRegisters::<8>::new(3);
        let mut clock = |enable: bool, first: u64| {
            unit.write_enable.next = enable;
            for (d, word) in unit.d.iter_mut().zip(first..) {
                d.next = word.into();
            }
            for clk in [true, false] {
                unit.clock.next = Clock { clk };
                assert!(simulate(&mut unit, 10));
            }
            unit.q.iter().map(|q| q.val().to_u64()).collect::<Vec<_>>()
        };
        assert_eq!(clock(true, 5), [5, 6, 7]);
        assert_eq!(clock(false, 50), [5, 6, 7]);
        assert_eq!(clock(true, 60), [60, 61, 62]);
    }
}
