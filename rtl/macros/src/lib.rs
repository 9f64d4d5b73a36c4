//! Macros for hardware units, on rust-hdl's traits and syntax tree.
//!
//! `#[derive(LogicBlock)]` and `#[hdl_gen]` take the place of rust-hdl's macros of the same names (the prelude of
//! `hermes-rtl` exports them). A unit says its ports, its registers and children, and what `update` computes; clock and
//! reset, that registers keep their value, default values in constructors and the types of `let`s follow from that.
//! They also keep what the Verilog back end wants to know: the type's name and parameters, the doc comments, and the
//! values of the constants in a kernel.

mod activity;
mod clocked;
mod constructor;
mod describe;
mod kernel;
mod logic_block;
mod ports;
mod registers;
mod stimulus;
mod types;

use proc_macro::TokenStream;

/// Implements rust-hdl's `Block` for a struct of signals and units, and describes the struct for the Verilog
/// back end: doc comments, const parameters and the integer fields whose names begin with `_`.
///
/// - `unit_info::Clocked`: before each `update` the children and registers get the unit's clock and reset, and a register's
///   next value is its present one.
/// - `#[new(name: Type, ..)]` at the struct makes a private `fn wired(name: Type, ..) -> Self`, in which a field has the value
///   of its `#[init(value)]`, a `Vec` with `#[count(n)]` has `n` default elements, and every other field has its default.
///   Without `#[new]`, a struct with such a field gets `Default` in this way.
/// - `unit_info::Drive`, for tests: sets clock, reset and random inputs.
#[proc_macro_derive(LogicBlock, attributes(new, init, count))]
pub fn logic_block(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    logic_block::expand(&input).unwrap_or_else(|e| e.to_compile_error()).into()
}

/// Makes a struct of `Signal<In, T>`, `Signal<Out, T>`, `Vec`s of them and other port groups a group of ports: a public field of
/// units, which is connected as one.
///
/// - In the Verilog the ports of a field `start` are `start_valid`, `start_slot`, ...; the comment of the field and that of the
///   struct stand above the first of them, those of the signals beside them. A `Vec` of groups is one port for each signal,
///   with the elements side by side, as a `Vec` of signals is.
/// - `unit_info::Connect`: `connect!` connects the group of a unit with that of its child, or those of two children, one of
///   which has it as `Flipped<Name>`, with inputs and outputs exchanged.
/// - `Default`, `Clone`, `Debug`; a field has the value of its `#[init(value)]`, else its default. A `Vec` needs a `#[count(N)]`
///   that gives it its length.
#[proc_macro_derive(Ports, attributes(init, count))]
pub fn ports(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    ports::expand(&input).unwrap_or_else(|e| e.to_compile_error()).into()
}

/// The kernel of a unit: `fn update(&mut self)` runs in the native simulation as it stands, and is translated to rust-hdl's
/// syntax tree for the Verilog back end. The unit's description and the types of its `let`s travel through `Logic::timing`.
///
/// A kernel has assignments (`self.signal.next = value`, also to a field of a struct), `let` and `let mut`, `if`, `match`,
/// `for index in from..to`, `connect!`, operators, literals, casts and the methods of rust-hdl's values. A choice between
/// values may stand where a value is assigned: `let x = if a { b } else { c };`. What does not translate is refused with
/// an error at its place that says what to write instead.
#[proc_macro_attribute]
pub fn hdl_gen(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    let function = syn::parse_macro_input!(item as syn::ItemFn);
    kernel::expand(&function).unwrap_or_else(|e| e.to_compile_error()).into()
}

/// A block of registers of the register file from one declaration: `#[register_block(Unit, ..)]` at a struct, whose fields are the
/// registers.
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
/// A doc comment is the description for users. The type is the access with the number of implemented bits: `ReadWrite` (after
/// `#[register(.., reset = value)]`, else 0), `ReadOnly`, `Fixed` (known when the array is made: `value = expression`,
/// with `config` for its configuration), `WriteOnly` and `Command` (a write is an event in the next cycle; reads show 0, or the ports
/// named in `#[state(busy[0])]`), `Strobe` (a write is an event in the cycle of the access). `#[fields(run[0], cause[5:1])]` makes several
/// ports of a register; `#[on_read(name)]` adds one that is high while the host reads it.
///
/// It makes
/// - the struct a port group with a port for each register, as the hardware has it: what it shows goes out, what the host
///   writes comes in;
/// - `Unit`, which decodes the registers, with the ports `request`, `answer` and `hardware: Flipped<..>`. With `selected`
///   `hardware` is a `Vec`, of which the input `select` chooses one: for registers that every core has;
/// - the entries of the register table (`RegisterBlock`), with the `part` of the array that they belong to;
/// - with `values = Values` a plain struct of the registers that are read only, and how software reads it.
#[proc_macro_attribute]
pub fn register_block(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = syn::parse_macro_input!(attribute as registers::block::Arguments);
    let input = syn::parse_macro_input!(item as syn::DeriveInput);
    registers::block::expand(&arguments, &input).unwrap_or_else(|e| e.to_compile_error()).into()
}

/// The register file from the list of its blocks: `#[register_file(core_select = block.port)]` at a struct, whose fields are
/// their port groups. `Optional<Group>` is there with the part of the array that it belongs to only, `PerCore<Group>` once for each core, of
/// which `core_select` chooses the one that is shown.
///
/// The unit has the AXI4-Lite port `axil`, the ports of every block, the units of the blocks behind an `AxiLiteSlave`, and
/// `BLOCKS`, the entries of the register table.
#[proc_macro_attribute]
pub fn register_file(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = syn::parse_macro_input!(attribute as registers::file::Arguments);
    let input = syn::parse_macro_input!(item as syn::DeriveInput);
    registers::file::expand(&arguments, &input).unwrap_or_else(|e| e.to_compile_error()).into()
}
