//! A signed multiplier as FPGAs have them.

use crate::emit::unit_info::{self, HandWritten};
use hermes_hdl_macros::LogicBlock;
use rust_hdl::prelude::*;

/// The four products of the half words of two signed 33-bit numbers, registered: four DSP blocks of
/// 18 by 18 bits with their output registers.
///
/// At a rising edge with `enable` high the outputs take the products; they keep their values at all
/// other edges, are undefined before the first one and not reset. The low half is an unsigned
/// number of 16 bits, the high one a signed number of 17 bits. rust-hdl itself multiplies 16 by 16
/// bits only.
#[derive(Clone, Default, LogicBlock)]
pub struct PartialProducts {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Multiplies at this edge.
    pub enable: Signal<In, Bit>,
    /// First factor, two's complement.
    pub a: Signal<In, Bits<33>>,
    /// Second factor, two's complement.
    pub b: Signal<In, Bits<33>>,
    /// Low half of `a` by low half of `b`.
    pub low_low: Signal<Out, Bits<32>>,
    /// Low half of `a` by high half of `b`, two's complement.
    pub low_high: Signal<Out, Bits<33>>,
    /// High half of `a` by low half of `b`, two's complement.
    pub high_low: Signal<Out, Bits<33>>,
    /// High half of `a` by high half of `b`, two's complement.
    pub high_high: Signal<Out, Bits<34>>,
}

/// The halves of a 33-bit two's complement number.
fn halves(value: Bits<33>) -> (i64, i64) {
    let value = value.to_u64() as i64;
    let high = value >> 16;
    (value & 0xffff, high - ((high & 0x1_0000) << 1))
}

/// The low `N` bits of a two's complement number.
fn low<const N: usize>(value: i64) -> Bits<N> {
    (value as u64 & ((1 << N) - 1)).into()
}

impl Logic for PartialProducts {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.enable.val() {
            let ((a_low, a_high), (b_low, b_high)) = (halves(self.a.val()), halves(self.b.val()));
            self.low_low.next = low(a_low * b_low);
            self.low_high.next = low(a_low * b_high);
            self.high_low.next = low(a_high * b_low);
            self.high_high.next = low(a_high * b_high);
        }
    }
    fn timing(&self) -> Vec<TimingInfo> {
        HandWritten::new(
            std::any::type_name::<Self>(),
            "Four signed multipliers of 18 by 18 bits with output registers: DSP blocks.",
            file!(),
        )
        .into_timing()
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "// The factors are written out for each product: as nets of their own they would be computed in every simulated\n\
             // cycle, products only where enable is high.\n\
             reg signed [35:0] first, second, third, fourth;\n\
             always @(posedge clk) if (enable) begin\n    \
                 first <= $signed({2'd0, a[15:0]}) * $signed({2'd0, b[15:0]});\n    \
                 second <= $signed({2'd0, a[15:0]}) * $signed({b[32], b[32:16]});\n    \
                 third <= $signed({a[32], a[32:16]}) * $signed({2'd0, b[15:0]});\n    \
                 fourth <= $signed({a[32], a[32:16]}) * $signed({b[32], b[32:16]});\n\
             end\n\
             wire unused = |{first[35:32], second[35:33], third[35:33], fourth[35:34]};\n\
             assign low_low = first[31:0];\n\
             assign low_high = second[32:0];\n\
             assign high_low = third[32:0];\n\
             assign high_high = fourth[33:0];\n"
                .to_string(),
        )
    }
}
