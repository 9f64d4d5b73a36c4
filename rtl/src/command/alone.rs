//! A command processor by itself, to see what it takes of a device.

use super::CommandProcessor;
use crate::config::Config;
use hermes_hdl::emit::{emit, Design, EmitError};

/// The Verilog of the command processor of `config`, which is the top module `command_processor`:
/// to estimate its cost. Of the array it has the pipeline of all harts, their caches, local
/// memories, CSRs, timer and channels of user-level interrupts, not the registers of the host and
/// no share of the L2.
///
/// # Errors
/// [`EmitError`] if the design has no Verilog meaning.
///
/// # Panics
/// If the configuration has no command processor.
pub fn emit_processor(config: &Config) -> Result<Design, EmitError> {
    emit(&CommandProcessor::new(config.into()), "command_processor")
}
