//! The host's side: the registers and the AXI4-Lite port in front of them.

mod axi_lite_slave;
mod register_port;
pub mod registers;
mod task_push;

pub use axi_lite_slave::AxiLiteSlave;
pub use register_port::RegisterPort;
pub use registers::RegisterFile;
pub use task_push::TaskPush;
