//! A register of one line with byte enables.

use crate::emit::unit_info::{self, HandWritten};
use hermes_hdl_macros::LogicBlock;
use rust_hdl::prelude::*;

/// 64 bytes, each with an enable of its own: flip-flops whose clock enables do the merging.
///
/// At a rising edge with `write_enable` high the bytes whose strobe is set are written; the others
/// keep their value. They are undefined until written and not reset. As a
/// [`Register`](super::Register) the line would need a multiplexer for each bit.
#[derive(Clone, Default, LogicBlock)]
pub struct LineRegister {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Writes at this edge.
    pub write_enable: Signal<In, Bit>,
    /// Bytes to write, strobe of bits 7:0 in bit 0.
    pub write_strobe: Signal<In, Bits<64>>,
    /// The bytes, in place.
    pub write_data: Signal<In, Bits<512>>,
    /// The bytes that the register holds.
    pub line: Signal<Out, Bits<512>>,
}

impl Logic for LineRegister {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.write_enable.val() {
            let (strobe, data) = (self.write_strobe.val().to_u64(), self.write_data.val());
            let mut line = self.line.val();
            for byte in (0..64).filter(|byte| strobe >> byte & 1 == 1) {
                line.set_bits(8 * byte, data.get_bits::<8>(8 * byte));
            }
            self.line.next = line;
        }
    }
    fn timing(&self) -> Vec<TimingInfo> {
        HandWritten::new(std::any::type_name::<Self>(), "64 bytes with byte enables: flip-flops.", file!())
            .into_timing()
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "reg [511:0] bytes;\n\
             integer i;\n\
             always @(posedge clk) begin\n    \
                 if (write_enable) begin\n        \
                     for (i = 0; i < 64; i = i + 1) begin\n            \
                         if (write_strobe[i]) bytes[8 * i +: 8] <= write_data[8 * i +: 8];\n        \
                     end\n    \
                 end\n\
             end\n\
             assign line = bytes;\n"
                .to_string(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_enabled_bytes_are_written() {
        let mut unit = LineRegister::default();
        let mut write = |enable: bool, strobe: u64, byte: u8| {
            unit.write_enable.next = enable;
            unit.write_strobe.next = strobe.into();
            unit.write_data.next = num_bigint::BigUint::from_bytes_le(&[byte; 64]).into();
            for clk in [true, false] {
                unit.clock.next = Clock { clk };
                assert!(simulate(&mut unit, 10));
            }
            let mut bytes = num_bigint::BigUint::from(unit.line.val()).to_bytes_le();
            bytes.resize(64, 0);
            bytes
        };
        assert_eq!(write(true, u64::MAX, 0x55), [0x55; 64]);
        assert_eq!(write(false, u64::MAX, 0xaa), [0x55; 64]);
        let mut expected = [0x55; 64];
        (expected[0], expected[62], expected[63]) = (0xaa, 0xaa, 0xaa);
        assert_eq!(write(true, 1 | 3 << 62, 0xaa), expected);
    }
}
