//! Primitives of FPGAs: hand-written Verilog around cells of the device.

mod ecp5_clock;
mod ecp5_global;
mod ecp5_sdram_pins;

pub use ecp5_clock::{Ecp5Clock, Ecp5Pll};
pub use ecp5_global::Ecp5Global;
pub use ecp5_sdram_pins::Ecp5SdramPins;
