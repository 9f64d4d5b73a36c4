//! One shader core as a design of its own.

use super::ShaderCore;
use crate::config::CoreOptions;
use hermes_hdl::emit::{emit, Design, EmitError};

/// The Verilog of one core of `lanes` lanes (1, 2, 4, 8, 16 or 32; any other number counts as 32),
/// with these options, with the core as top module `shader_core`: to estimate its cost.
///
/// # Errors
/// [`EmitError`] if the design has no Verilog meaning.
pub fn emit_core(lanes: usize, options: CoreOptions) -> Result<Design, EmitError> {
    const TOP: &str = "shader_core";
    match lanes {
        1 => emit(&ShaderCore::<1>::new(options), TOP),
        2 => emit(&ShaderCore::<2>::new(options), TOP),
        4 => emit(&ShaderCore::<4>::new(options), TOP),
        8 => emit(&ShaderCore::<8>::new(options), TOP),
        16 => emit(&ShaderCore::<16>::new(options), TOP),
        _ => emit(&ShaderCore::<32>::new(options), TOP),
    }
}
