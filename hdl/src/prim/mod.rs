//! Primitives: registers and memories, the only units whose Verilog text is written by hand.

mod lane_ram;
mod lane_registers;
#[cfg(test)]
mod lane_tests;
mod line_register;
mod multiply;
mod pack;
mod ram_async;
mod ram_bytes;
mod ram_no_collision;
mod ram_sized;
mod ram_sized_async;
mod ram_sized_bytes;
mod ram_sync;
mod register;
mod sized;

pub use lane_ram::LaneRam;
pub use lane_registers::LaneRegisters;
pub use line_register::LineRegister;
pub use multiply::PartialProducts;
pub use pack::Pack;
pub use ram_async::RamAsync;
pub use ram_bytes::RamBytes;
pub use ram_no_collision::RamNoCollision;
pub use ram_sized::RamSized;
pub use ram_sized_async::RamSizedAsync;
pub use ram_sized_bytes::RamSizedBytes;
pub use ram_sync::RamSync;
pub use register::Register;
