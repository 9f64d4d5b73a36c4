//! Primitives of FPGAs: hand-written Verilog around cells of the device.

mod ecp5_clock;
mod ecp5_global;

pub use ecp5_clock::{Ecp5Clock, Ecp5Pll};
pub use ecp5_global::Ecp5Global;
