//! What every unit file imports: rust-hdl's prelude with `LogicBlock` and `hdl_gen` of this project in place of
//! rust-hdl's own, `connect!`, and the primitives.

pub use crate::connect;
#[doc(hidden)]
pub use crate::emit::unit_info;
pub use crate::emit::unit_info::{Flipped, PortGroup};
pub use crate::prim::{
    IndexHash, LaneRam, LaneRegisters, LineRegister, Pack, PartialProducts, RamAsync, RamBytes,
    RamNoCollision, RamSized, RamSizedAsync, RamSizedBytes, RamSync, Register,
};
pub use hermes_rtl_macros::{hdl_gen, register_block, register_file, LogicBlock, Ports};
pub use rust_hdl::prelude::*;
