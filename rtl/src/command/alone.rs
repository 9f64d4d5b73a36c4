//! A command processor by itself, to see what it takes of a device.

use super::{CommandParts, CommandProcessor};
use crate::config::Config;
use hermes_hdl::emit::{emit, Design, EmitError};

impl CommandProcessor {
    /// The command processor of an array with this configuration.
    ///
    /// # Panics
    /// If the configuration has none.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let parts = CommandParts {
            cache_lines: config.command_cache_lines,
            atomics: config.atomics,
            compare_and_swap: config.compare_and_swap,
            window: config.network,
        };
        let (lines, ways) = config.command_instruction_cache();
        Self::new(config.command_threads, config.uli_channels, lines, ways, config.trace, parts)
    }
}

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
    emit(&CommandProcessor::of(config), "command_processor")
}
