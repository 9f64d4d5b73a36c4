//! The command processor: a small in-order CPU beside the shader cores, behind the same L2.
//!
//! Stages: F chooses a hardware thread (hart), I fetches, D decodes, R reads registers, X executes,
//! W writes. No stage stalls: what cannot complete in W leaves without effect and is replayed. See
//! `docs/command-processor.md`.

mod cache;
mod data;
mod decode;
#[cfg(test)]
mod equivalence;
mod execute;
mod fetch;
mod hart_registers;
mod hart_state;
mod instruction;
mod pipeline;
#[cfg(test)]
mod pipeline_tests;
mod processor;
mod store_buffer;
mod system_decoder;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod timing_tests;
mod trace;
mod uli_channels;
mod write;

pub use cache::CommandCache;
pub use data::CommandData;
pub use decode::CommandDecode;
pub use execute::CommandExecute;
pub use fetch::CommandFetch;
pub use hart_registers::HartRegisters;
pub use hart_state::HartState;
pub use instruction::{CommandInstruction, CommandResult};
pub use pipeline::CommandPipeline;
pub use processor::CommandProcessor;
pub use store_buffer::{StoreBuffer, STORES};
pub use system_decoder::SystemDecoder;
pub use trace::CommandTrace;
pub use uli_channels::UliChannels;
pub use write::CommandWrite;
