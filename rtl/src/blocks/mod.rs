//! Units of no subsystem: FIFOs, arbiters, encoders, pointers and memories of queues, a hash.

mod binary_encoder;
mod index_hash;
mod population_count;
mod priority_encoder;
mod queue_pointers;
mod queue_ram;
mod round_robin;
mod short_fifo;
mod sync_fifo;
mod word_select;

pub use binary_encoder::BinaryEncoder;
pub use index_hash::IndexHash;
pub use population_count::PopulationCount;
pub use priority_encoder::PriorityEncoder;
pub use queue_pointers::QueuePointers;
pub use queue_ram::QueueRam;
pub use round_robin::RoundRobin;
pub use short_fifo::ShortFifo;
pub use sync_fifo::{SyncFifo, TaskFifo};
pub use word_select::WordSelect;

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
