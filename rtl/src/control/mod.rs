//! The control path: from the task FIFO through warp forming, issue and finish to the in-order
//! commit.
//!
//! [`Dispatch`] composes the units; `docs/architecture.md` shows where they stand in the array.

mod adaptive_timeout;
mod core_slots;
mod delay_commit_queue;
mod dispatch;
mod fault_collector;
mod finish_arbiter;
mod least_occupied;
mod load_counters;
mod lookup_table;
#[cfg(test)]
pub(crate) mod testing;
mod warp_former;
mod warp_issue;

pub use adaptive_timeout::AdaptiveTimeout;
pub use core_slots::CoreSlots;
pub use delay_commit_queue::DelayCommitQueue;
pub use dispatch::Dispatch;
pub use fault_collector::{FaultCollector, FaultRecord};
pub use finish_arbiter::FinishArbiter;
pub use least_occupied::LeastOccupied;
pub use load_counters::LoadCounters;
pub use lookup_table::LookupTable;
pub use warp_former::WarpFormer;
pub use warp_issue::WarpIssue;
