//! What every unit file imports: rust-hdl's prelude with this crate's register and clock macros in
//! place of rust-hdl's own, and the primitives.

pub use crate::prim::{Pack, RamAsync, RamSync, Register};
pub use crate::{clock, dff_setup};
pub use rust_hdl::prelude::*;
