//! A signed multiplier as FPGAs have them.

use crate::emit::unit_info::Primitive;
use rust_hdl::prelude::*;

/// `y = a * b` for signed numbers of 18 bits: one DSP block of the common FPGA families.
///
/// Combinational. rust-hdl multiplies 16 by 16 bits only; two more bits carry the sign of a half word that may be
/// signed or unsigned.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct Multiply18 {
    /// First factor, two's complement.
    pub a: Signal<In, Bits<18>>,
    /// Second factor, two's complement.
    pub b: Signal<In, Bits<18>>,
    /// The product, two's complement.
    pub y: Signal<Out, Bits<36>>,
}

/// The value of an 18-bit two's complement number.
fn signed(value: Bits<18>) -> i64 {
    let value = value.to_u64() as i64;
    value - ((value & 0x2_0000) << 1)
}

impl Logic for Multiply18 {
    fn update(&mut self) {
        let product = signed(self.a.val()) * signed(self.b.val());
        self.y.next = (product as u64 & 0xf_ffff_ffff).into();
    }
    fn connect(&mut self) {
        self.y.connect();
    }
    fn timing(&self) -> Vec<TimingInfo> {
        let combinational = ["a", "b"].map(|input| ("y".to_string(), input.to_string()));
        Primitive::Memory {
            type_name: std::any::type_name::<Self>().to_string(),
            doc: "Signed multiplier of 18 by 18 bits: a DSP block.".to_string(),
            combinational: combinational.into(),
        }
        .into_timing()
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom("assign y = $signed(a) * $signed(b);\n".to_string())
    }
}
