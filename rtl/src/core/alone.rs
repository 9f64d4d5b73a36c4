//! One shader core as a design of its own.

use super::ShaderCore;
use hermes_hdl::emit::{emit, Design, EmitError};

/// The Verilog of one core of `lanes` lanes (1, 2, 4, 8, 16 or 32; any other number counts as 32),
/// with the core as top module `shader_core`: to estimate its cost.
///
/// # Errors
/// [`EmitError`] if the design has no Verilog meaning.
pub fn emit_core(lanes: usize) -> Result<Design, EmitError> {
    const TOP: &str = "shader_core";
    match lanes {
        1 => emit(&ShaderCore::<1>::default(), TOP),
        2 => emit(&ShaderCore::<2>::default(), TOP),
        4 => emit(&ShaderCore::<4>::default(), TOP),
        8 => emit(&ShaderCore::<8>::default(), TOP),
        16 => emit(&ShaderCore::<16>::default(), TOP),
        _ => emit(&ShaderCore::<32>::default(), TOP),
    }
}
