//! The host's side: the register table and the AXI4-Lite register file.

mod axi_lite_slave;
mod configuration_registers;
mod counter_registers;
#[cfg(test)]
mod equivalence;
mod port_registers;
mod register_file;
pub mod registers;
mod task_push;
mod window_registers;

pub use axi_lite_slave::AxiLiteSlave;
pub use configuration_registers::ConfigurationRegisters;
pub use counter_registers::CounterRegisters;
pub use port_registers::PortRegisters;
pub use register_file::RegisterFile;
pub use task_push::TaskPush;
pub use window_registers::WindowRegisters;
