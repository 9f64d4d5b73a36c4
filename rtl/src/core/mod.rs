//! The SIMT shader core (DESIGN.md section 3).
//!
//! Five stages, each one cycle when nothing stalls:
//!
//! | stage | what happens | units |
//! | --- | --- | --- |
//! | S select | pick a ready warp, read its context | [`FrontEnd`], [`WarpScheduler`] |
//! | C context | PC and masks known, look up the instruction | [`FrontEnd`], `InstructionCache` |
//! | D decode | instruction known, read registers | [`DecodeStage`] |
//! | X execute | arithmetic, branch condition, address | [`Lane`], [`LaneAlu`] |
//! | W write | write back, next PC, memory request, faults | [`WriteStage`], [`Lane`], [`PathSelector`] |

mod alone;
mod alu;
mod boot;
mod counters;
mod decode_stage;
mod decoder;
mod fault_encoder;
mod front_end;
mod lane;
mod path_selector;
mod population_count;
mod register_address;
mod scheduler;
mod shader_core;
mod thread_index;
mod write_stage;

#[cfg(test)]
mod programs;
#[cfg(test)]
mod testing;

pub use alone::emit_core;
pub use alu::{AluOperation, LaneAlu};
pub use boot::{BootRom, BOOT_ADDRESS};
pub use counters::CoreCounters;
pub use decode_stage::DecodeStage;
pub use decoder::{BSource, Decoder};
pub use fault_encoder::FaultEncoder;
pub use front_end::FrontEnd;
pub use lane::Lane;
pub use path_selector::PathSelector;
pub use population_count::PopulationCount;
pub use register_address::RegisterAddress;
pub use scheduler::WarpScheduler;
pub use shader_core::ShaderCore;
pub use thread_index::ThreadIndex;
pub use write_stage::WriteStage;
