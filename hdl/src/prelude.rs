//! What every unit file imports: rust-hdl's prelude with `LogicBlock` and `hdl_gen` of this project
//! in place of rust-hdl's own, `connect!`, `interface!`, and the primitives.

#[doc(hidden)]
pub use crate::emit::unit_info;
pub use crate::emit::unit_info::{Flipped, Part, PortGroup};
pub use crate::prim::{
    LaneRam, LaneRegisters, LineRegister, Pack, PartialProducts, RamAsync, RamBytes, RamNoCollision,
    RamSized, RamSizedAsync, RamSizedBytes, RamSync, Register,
};
pub use crate::{connect, interface};
pub use hermes_hdl_macros::{clocked, hdl_gen, LogicBlock, LogicState, LogicStruct, Ports};
pub use rust_hdl::prelude::*;
