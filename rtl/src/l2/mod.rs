//! The memory system that all cores share: crossbars, banks of the L2, AXI4 channels.

mod answers;
mod atomic_alu;
mod atomics;
#[cfg(test)]
mod atomics_system_tests;
#[cfg(test)]
mod atomics_tests;
mod axi4;
mod bank;
#[cfg(test)]
mod cache_tests;
mod channel;
#[cfg(test)]
mod channel_tests;
#[cfg(test)]
mod fairness_tests;
mod fetches;
mod lock;
#[cfg(test)]
mod lock_system_tests;
#[cfg(test)]
mod lock_tests;
mod memory_system;
#[cfg(test)]
mod memory_system_tests;
mod number_pool;
mod request_crossbar;
mod reservation;
mod response_crossbar;
mod ring_window;
mod stores;
#[cfg(test)]
pub(crate) mod testing;
mod way;
mod write_monitor;

pub use answers::L2Answers;
pub use atomic_alu::AtomicAlu;
pub use atomics::{AtomicState, L2Atomics};
pub use axi4::Axi4Master;
pub use bank::L2Bank;
pub use channel::MemoryChannel;
pub use fetches::L2Fetches;
pub use lock::L2Lock;
pub use memory_system::{MemorySizes, MemorySystem, NetworkSizes, Watchers};
pub use number_pool::NumberPool;
pub use request_crossbar::RequestCrossbar;
pub use reservation::Reservation;
pub use response_crossbar::ResponseCrossbar;
pub use ring_window::RingWindow;
pub use stores::L2Stores;
pub use way::L2Way;
pub use write_monitor::WriteMonitor;
