//! The memory path: instruction cache, load/store unit with coalescer, data cache, scratchpad.

mod atomic_path;
mod cache_tags;
mod coalescer;
mod data_cache;
#[cfg(test)]
mod data_cache_tests;
mod instruction_cache;
#[cfg(test)]
mod instruction_cache_tests;
mod load_path;
mod load_store_unit;
#[cfg(test)]
mod load_store_unit_tests;
mod load_value;
mod read_merge;
mod reorder_buffer;
mod scratchpad;
#[cfg(test)]
mod scratchpad_tests;
mod store_align;
mod store_merge;
mod store_path;
#[cfg(test)]
pub(crate) mod testing;

pub use atomic_path::AtomicPath;
pub use cache_tags::CacheTags;
pub use coalescer::Coalescer;
pub use data_cache::DataCache;
pub use instruction_cache::{FillState, InstructionCache};
pub use load_path::LoadPath;
pub use load_store_unit::LoadStoreUnit;
pub use load_value::LoadValue;
pub use read_merge::ReadMerge;
pub use reorder_buffer::ReorderBuffer;
pub use scratchpad::{Scratchpad, SCRATCHPAD_BYTES};
pub use store_align::StoreAlign;
pub use store_merge::StoreMerge;
pub use store_path::StorePath;
