//! `#[register_block]` and `#[register_file]`: registers from one declaration.
//!
//! | file | what it makes |
//! | --- | --- |
//! | `entry` | reads the declaration of a register |
//! | `unit` | the unit that decodes a block |
//! | `block` | port group, entries of the table, values for software; puts the block together |
//! | `file` | the register file from its list of blocks |

mod block;
mod entry;
mod file;
mod unit;

#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// A block of registers of the register file from one declaration: `#[register_block(Unit, ..)]` at
/// a struct, whose fields are the registers.
///
/// ```ignore
/// /// The packet ports.
/// #[register_block(PortRegisters, part = PacketPorts)]
/// pub struct PortControl {
///     /// Bit 0: the packet ports take and send frames.
///     #[register("PORTS", 0x200)]
///     pub enable: ReadWrite<1>,
///     /// Frames that left, modulo 2^32.
///     #[register("PORTS_FRAMES_OUT", 0x218)]
///     pub frames_out: ReadOnly<32>,
/// }
/// ```
///
/// A doc comment is the description for users. `#[register(.., reset = value)]` says what the host
/// reads after reset, else 0: of a register of the hardware `value` may be an expression with
/// `config`, and `unset = "reason"` says why it has no such value. The type is the access with the
/// number of implemented bits: `ReadWrite`, `ReadOnly`, `Fixed` (known when the array is made:
/// `value = expression`, with `config` for its configuration), `WriteOnly` and `Command` (a write
/// is an event in the next cycle; reads show 0, or the ports named in `#[state(busy[0])]`),
/// `Strobe` (a write is an event in the cycle of the access). `#[fields(run[0], cause[5:1])]` makes
/// several ports of a register; `#[on_read(name)]` adds one that is high while the host reads it.
/// `#[beside(run[0])]` names the bits of a `ReadWrite` or `ReadOnly` register that the block of
/// another part has, at the same offset: an array with both has one register, described here.
///
/// It makes
/// - the struct a port group with a port for each register, as the hardware has it: what it shows
///   goes out, what the host writes comes in;
/// - `Unit`, which decodes the registers, with the ports `request`, `answer` and
///   `hardware: Flipped<..>`. With `selected` `hardware` is a `Vec`, of which the input `select`
///   chooses one: for registers that every core has;
/// - the entries of the register table (`RegisterBlock`), with the `part` of the array that they
///   belong to;
/// - with `values = Values` a plain struct of the registers that are read only, and how software
///   reads it.
#[proc_macro_attribute]
pub fn register_block(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = syn::parse_macro_input!(attribute as block::Arguments);
    let input = syn::parse_macro_input!(item as syn::DeriveInput);
    block::expand(&arguments, &input).unwrap_or_else(|e| e.to_compile_error()).into()
}

/// The register file from the list of its blocks: `#[register_file(core_select = block.port)]` at a
/// struct, whose fields are their port groups. `Optional<Group>` is there with the part of the
/// array that it belongs to only, `PerCore<Group>` once for each core, of which `core_select`
/// chooses the one that is shown.
///
/// The unit has the AXI4-Lite port `axil`, the ports of every block, the units of the blocks behind
/// an `AxiLiteSlave`, and `BLOCKS`, the entries of the register table.
#[proc_macro_attribute]
pub fn register_file(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = syn::parse_macro_input!(attribute as file::Arguments);
    let input = syn::parse_macro_input!(item as syn::DeriveInput);
    file::expand(&arguments, &input).unwrap_or_else(|e| e.to_compile_error()).into()
}
