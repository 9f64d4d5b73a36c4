//! What hardware is written with: a unit is a rust-hdl `LogicBlock`, and [`emit`] writes a tree of
//! them as Verilog-2005. Nothing here belongs to a particular machine, and no other crate names
//! rust-hdl.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`prelude`] | what the file of a unit imports |
//! | [`prim`] | registers, memories and packing: the only hand-written Verilog |
//! | [`emit`] | the Verilog back end, and what a unit tells it |
//! | `testing` | a unit natively and in its Verilog, in Verilator and Icarus Verilog (feature `testing`) |
//!
//! `docs/hdl.md` shows a whole small design.

pub mod emit;
pub mod prelude;
pub mod prim;
#[cfg(feature = "testing")]
pub mod testing;
