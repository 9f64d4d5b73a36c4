//! Macros for hardware units.
//!
//! They take the place of rust-hdl's `#[derive(LogicBlock)]` and `#[hdl_gen]` (the prelude of `hermes-rtl`
//! exports them under the same names) and do the same, but also keep what the Verilog back end wants to
//! know: the type's name and parameters, the doc comments, and the values of the constants in a kernel.

mod describe;
mod kernel;
mod logic_block;
mod stimulus;

use proc_macro::TokenStream;

/// Implements rust-hdl's `Block` for a struct of signals and units, and describes the struct for the Verilog
/// back end: doc comments, const parameters and the integer fields whose names begin with `_`. For tests
/// it also implements `unit_info::Drive`, which sets clock, reset and random inputs.
#[proc_macro_derive(LogicBlock)]
pub fn logic_block(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    logic_block::expand(&input).unwrap_or_else(|e| e.to_compile_error()).into()
}

/// rust-hdl's `#[hdl_gen]` on the `update` of a unit, with two additions: the unit's description reaches the
/// Verilog back end (through `Logic::timing`), and constants named in the kernel keep their value there.
/// Inclusive ranges are refused, because rust-hdl would take them for exclusive ones.
#[proc_macro_attribute]
pub fn hdl_gen(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    let function = syn::parse_macro_input!(item as syn::ItemFn);
    kernel::expand(&function).unwrap_or_else(|e| e.to_compile_error()).into()
}
