//! The memory path: instruction cache, load/store unit with coalescer, AXI4 master.

mod load_align;
mod queue_pointers;
mod store_align;
mod store_merge;
#[cfg(test)]
mod testing;

pub use load_align::LoadAlign;
pub use queue_pointers::QueuePointers;
pub use store_align::StoreAlign;
pub use store_merge::StoreMerge;
