//! Hermes on FPGA boards: tops, pins, and the way from Verilog to a bitstream.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`board`] | the boards, and the settings of an array on one |
//! | [`boards`] | the tops: clock and pins |
//! | [`system`], [`array_on_board`] | what all boards have: serial line, link, array, packet memory |
//! | [`flow`] | from Verilog to a bitstream, and what it takes of the device |
//! | [`prim`] | cells of the device: the PLL, the global network |

pub mod array_on_board;
pub mod board;
mod board_memory;
pub mod boards;
pub mod flow;
pub mod prim;
pub mod system;
