//! The packet memory in SDRAM (`docs/sdram.md`).

mod chip;
#[cfg(test)]
mod chip_tests;
mod sdram_memory;
#[cfg(test)]
mod tests;
mod timing;

pub use chip::{SdramChip, SdramData, SdramPins};
pub use sdram_memory::SdramMemory;
pub use timing::{SdramTimes, SdramTiming, SDRAM_TIMES};
