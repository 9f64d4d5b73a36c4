//! The control path: from the task FIFO through warp forming, issue and finish to the in-order
//! commit.
//!
//! [`Dispatch`] composes the units; `docs/architecture.md` shows where they stand in the array.

mod adaptive_timeout;
mod binary_encoder;
mod core_slots;
mod delay_commit_queue;
mod dispatch;
mod fault_collector;
mod finish_arbiter;
mod least_occupied;
mod load_counters;
mod lookup_table;
mod priority_encoder;
mod round_robin;
mod short_fifo;
mod sync_fifo;
#[cfg(test)]
pub(crate) mod testing;
mod warp_former;
mod warp_issue;

pub use adaptive_timeout::AdaptiveTimeout;
pub use binary_encoder::BinaryEncoder;
pub use core_slots::CoreSlots;
pub use delay_commit_queue::DelayCommitQueue;
pub use dispatch::Dispatch;
pub use fault_collector::{FaultCollector, FaultRecord};
pub use finish_arbiter::FinishArbiter;
pub use least_occupied::LeastOccupied;
pub use load_counters::LoadCounters;
pub use lookup_table::LookupTable;
pub use priority_encoder::PriorityEncoder;
pub use round_robin::RoundRobin;
pub use short_fifo::ShortFifo;
pub use sync_fifo::{SyncFifo, TaskFifo};
pub use warp_former::WarpFormer;
pub use warp_issue::WarpIssue;

use hermes_hdl::prelude::{Bits, Constant};

/// The lowest `count` warp slots, a bit each.
pub(crate) fn slot_mask(count: usize) -> Constant<Bits<32>> {
    Constant::new(((1u64 << count) - 1).into())
}

/// The constants 0, 1, .. `count - 1` as 5-bit indices of cores or slots, for comparisons in loops.
///
/// # Panics
/// If `count` is more than 32.
pub(crate) fn indices(count: usize) -> Vec<Constant<Bits<5>>> {
    assert!(count <= 32, "{count} indices do not fit 5 bits");
    (0..count as u64).map(|i| Constant::new(i.into())).collect()
}
