//! The command processor: a small in-order CPU beside the shader cores, behind the same L2.
//!
//! Stages: F chooses a hardware thread (hart), I fetches, D decodes, R reads registers, X executes,
//! W writes. No stage stalls: what cannot complete in W leaves without effect and is replayed. See
//! `docs/command-processor.md`.

mod alone;
mod atomics;
mod cache;
mod cached_loads;
#[cfg(test)]
mod cached_tests;
mod clint;
mod csr_map;
mod data;
mod debug;
#[cfg(test)]
mod debug_tests;
#[cfg(test)]
mod debug_word_tests;
mod decode;
#[cfg(test)]
mod device_tests;
mod devices;
mod execute;
mod fetch;
mod hart;
mod hart_csrs;
mod hart_registers;
mod hart_scheduler;
mod hart_state;
#[cfg(test)]
mod hart_tests;
mod hart_turns;
mod held_reads;
mod instruction;
mod local_memory;
mod long_operations;
#[cfg(test)]
mod next_tests;
mod pipeline;
#[cfg(test)]
mod pipeline_tests;
mod processor;
#[cfg(test)]
mod reservation_tests;
mod store_buffer;
mod system_decoder;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod testing_memory;
#[cfg(test)]
mod timing_tests;
mod trace;
#[cfg(test)]
mod trap_tests;
mod trap_unit;
mod uli_channels;
#[cfg(test)]
mod uli_tests;
mod write;

pub use alone::emit_processor;
pub use atomics::CommandAtomics;
pub use cache::CommandCache;
pub use cached_loads::CachedLoads;
pub use clint::Clint;
pub use csr_map::CsrMap;
pub use data::CommandData;
pub use debug::CommandDebug;
pub use decode::CommandDecode;
pub use devices::CommandDevices;
pub use execute::CommandExecute;
pub use fetch::CommandFetch;
pub use hart::CommandHart;
pub use hart_csrs::HartCsrs;
pub use hart_registers::HartRegisters;
pub use hart_scheduler::HartScheduler;
pub use hart_state::HartState;
pub use hart_turns::HartTurns;
pub use held_reads::HeldReads;
pub use instruction::{CommandInstruction, CommandOutcome, CommandResult};
pub use local_memory::LocalMemory;
pub use long_operations::LongOperations;
pub use pipeline::CommandPipeline;
pub use processor::CommandProcessor;
pub use store_buffer::{StoreBuffer, STORES};
pub use system_decoder::SystemDecoder;
pub use trace::CommandTrace;
pub use trap_unit::TrapUnit;
pub use uli_channels::{scenario, UliChannels};
pub use write::CommandWrite;
