//! What every unit file imports: rust-hdl's prelude with this crate's register and clock macros,
//! `LogicBlock` and `hdl_gen` in place of rust-hdl's own, and the primitives.

#[doc(hidden)]
pub use crate::emit::unit_info;
pub use crate::prim::{
    IndexHash, LaneRam, LaneRegisters, LineRegister, Pack, PartialProducts, RamAsync, RamBytes,
    RamNoCollision, RamSized, RamSizedAsync, RamSizedBytes, RamSync, Register,
};
pub use crate::{clock, dff_setup};
pub use hermes_rtl_macros::{hdl_gen, LogicBlock};
pub use rust_hdl::prelude::*;
