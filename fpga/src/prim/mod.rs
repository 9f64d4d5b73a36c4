//! Primitives of FPGAs: hand-written Verilog around cells of the device.

mod ecp5_clock;

pub use ecp5_clock::{Ecp5Clock, Ecp5Pll};
