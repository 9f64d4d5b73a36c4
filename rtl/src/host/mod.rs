//! The host's side: the registers and the AXI4-Lite port in front of them.

mod axi_lite_slave;
mod kernel;
mod parts;
mod register_port;
pub mod registers;
mod task_push;

pub use axi_lite_slave::AxiLiteSlave;
pub use kernel::{
    FormerControl, IssueControl, KernelSetup, PacketRing, ReadWindows, RingPlaces, SlotControl, StackPlaces,
    ThreadPlaces, VerdictPlaces,
};
pub use parts::{EgressCounters, IngressCounters, L2Maintenance, TaskCount};
pub use register_port::RegisterPort;
pub use registers::core_counters::{CoreCounters, L2Counters, LostCycleCounters};
pub use registers::RegisterFile;
pub use task_push::TaskPush;
