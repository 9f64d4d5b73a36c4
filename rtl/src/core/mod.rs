//! The SIMT shader core (docs/shader-core.md).
//!
//! Seven stages, each one cycle when nothing stalls, and an eighth for what goes to memory:
//!
//! | stage | what happens | units |
//! | --- | --- | --- |
//! | S select | pick a ready warp, read its context | [`FrontEnd`], [`WarpScheduler`] |
//! | C context | PC and masks known, look up the instruction | [`FrontEnd`], [`ProgramCounters`], `InstructionCache` |
//! | I instruction | the instruction comes from the cache | `InstructionCache`, [`FrontEnd`] |
//! | D decode | instruction known, hazards checked | [`DecodeStage`], [`Hazards`], [`Scoreboard`] |
//! | R registers | operands known | [`ReadStage`], [`Lane`] |
//! | X execute | arithmetic, branch condition, address and its check | [`Lane`], [`LaneAlu`], [`AccessCheck`], [`LocalWindow`] |
//! | W write | products, write back, next PC, memory request, faults | [`WriteStage`], [`Lane`], [`PathSelector`] |
//! | M memory | loads and stores go to their memory | [`MemoryStage`], [`DataMemory`] |

mod access_check;
mod access_window;
mod address_region;
mod aes_unit;
mod alone;
mod alu;
mod alu_decoder;
mod atomic_stage;
mod atomic_turns;
mod bit_count;
mod boot;
mod boot_first;
mod counters;
mod data_memory;
#[cfg(test)]
mod data_memory_tests;
mod decode_stage;
mod decoder;
mod divide_unit;
mod divider;
mod fault_buffer;
mod fault_encoder;
mod front_end;
mod hazards;
mod instruction_count;
mod issue_turns;
mod lane;
mod lane_traps;
mod late_results;
mod load_errors;
mod local_window;
mod lost_cycles;
mod memory_stage;
mod multiplier;
#[cfg(test)]
mod network_tests;
mod oldest_first;
mod outstanding;
mod path_selector;
mod program_counters;
mod read_stage;
mod register_address;
mod reservation_ends;
mod retire_trace;
mod scheduler;
mod scoreboard;
mod shader_core;
#[cfg(test)]
mod shader_core_tests;
mod spawned_warps;
mod substitution_box;
#[cfg(test)]
pub(crate) mod testing;
mod thread_index;
mod warp_waits;
mod watchdog;
mod write_stage;
#[cfg(test)]
mod write_stage_tests;

pub use crate::types::{AluControl, AluOperation, BSource, OperandSource};
pub use access_check::AccessCheck;
pub use access_window::{AccessWindow, WINDOWS};
pub use address_region::AddressRegion;
pub use aes_unit::AesUnit;
pub use alone::emit_core;
pub use alu::LaneAlu;
pub use alu_decoder::AluDecoder;
pub use atomic_stage::AtomicStage;
pub use atomic_turns::AtomicTurns;
pub use bit_count::BitCount;
pub use boot::{BootRom, BOOT_ADDRESS};
pub use boot_first::{BootFirst, FIRST_ISSUES};
pub use counters::EventCounters;
pub use data_memory::DataMemory;
pub use decode_stage::DecodeStage;
pub use decoder::Decoder;
pub use divide_unit::DivideUnit;
pub use divider::Divider;
pub use fault_buffer::FaultBuffer;
pub use fault_encoder::FaultEncoder;
pub use front_end::FrontEnd;
pub use hazards::Hazards;
pub use instruction_count::InstructionCount;
pub use issue_turns::IssueTurns;
pub use lane::Lane;
pub use lane_traps::{LaneTraps, TRAP_CAUSES};
pub use late_results::{LateResults, FROM_DIVISION, FROM_MEMORY, FROM_SCRATCHPAD, LATE_SOURCES};
pub use load_errors::LoadErrors;
pub use local_window::LocalWindow;
pub use lost_cycles::{LostCycle, LostCycles};
pub use memory_stage::MemoryStage;
pub use multiplier::Multiplier;
pub use oldest_first::OldestFirst;
pub use outstanding::OutstandingOperations;
pub use path_selector::PathSelector;
pub use program_counters::ProgramCounters;
pub use read_stage::ReadStage;
pub use register_address::RegisterAddress;
pub use reservation_ends::ReservationEnds;
pub use retire_trace::RetireTrace;
pub use scheduler::WarpScheduler;
pub use scoreboard::Scoreboard;
pub use shader_core::ShaderCore;
pub use spawned_warps::SpawnedWarps;
pub use substitution_box::SubstitutionBox;
pub use thread_index::ThreadIndex;
pub use warp_waits::WarpWaits;
pub use watchdog::Watchdog;
pub use write_stage::WriteStage;
