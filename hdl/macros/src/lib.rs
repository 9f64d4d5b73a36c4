//! Macros for hardware units, on rust-hdl's traits and syntax tree.
//!
//! `#[derive(LogicBlock)]` and `#[hdl_gen]` take the place of rust-hdl's macros of the same names
//! (the prelude of `hermes-hdl` exports them). A unit says its ports, its registers and children,
//! and what `update` computes; clock and reset, that registers keep their value, default values in
//! constructors and the types of `let`s follow from that. They also keep what the Verilog back end
//! wants to know: the type's name and parameters, the doc comments, and the values of the
//! constants in a kernel.

mod activity;
mod clock_ports;
mod clocked;
mod constructor;
mod describe;
mod group_registers;
mod kernel;
mod logic_block;
mod ports;
mod promises;
mod stimulus;
mod types;
mod values;

use proc_macro::TokenStream;

/// Implements rust-hdl's `Block` for a struct of signals and units, and describes the struct for
/// the Verilog back end: doc comments, const parameters and the integer fields whose names begin
/// with `_`.
///
/// - `unit_info::Clocked`: before each `update` the children and registers get the unit's clock
///   and reset, and a register's next value is its present one.
/// - `#[new(name: Type, ..)]` at the struct makes a private `fn wired(name: Type, ..) -> Self`, in
///   which a field has the value of its `#[init(value)]`, a `Vec` with `#[count(n)]` has `n`
///   default elements (one or none if `n` is a `bool`), a `Part` with `#[there(condition)]` its
///   default if the condition holds, and every other field has its default. Without `#[new]`, a
///   struct with such a field gets `Default` in this way.
/// - `unit_info::Drive`, for tests: sets clock, reset and random inputs.
/// - `Debug`: the signals of the unit and of its port groups, with their values.
/// - `#[held(valid, ready, payload, ..)]` at the struct: the output `valid` stays until `ready`,
///   and the payload with it. `#[one_hot]` at an output: at most one bit is set.
///   `#[never(first, second)]` at the struct: two ports of one bit are never both high at an edge
///   without reset. `emit` notes it ([`Promise`](../hermes_hdl/emit/enum.Promise.html)), and
///   assertions are made of it; native tests of the unit's crate panic where `never` is broken.
#[proc_macro_derive(LogicBlock, attributes(new, init, count, there, held, one_hot, never))]
pub fn logic_block(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    logic_block::expand(&input).unwrap_or_else(|e| e.to_compile_error()).into()
}

/// Declares the ports `clock` and `reset` in front of the fields of a unit, as almost every unit
/// has them: a rising-edge clock, and a synchronous reset that is active high. Stands above
/// `#[derive(.. LogicBlock)]`.
///
/// `#[clocked("the queue is empty")]` says what the reset does, in the comment of its port; what
/// begins as a sentence is one of its own. A struct with one of these fields is refused.
#[proc_macro_attribute]
pub fn clocked(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let unit = syn::parse_macro_input!(item as syn::ItemStruct);
    clock_ports::expand(attribute.into(), unit).unwrap_or_else(|e| e.to_compile_error()).into()
}

/// Makes a struct of `Signal<In, T>`, `Signal<Out, T>`, `Vec`s of them and other port groups a
/// group of ports: a public field of units, which is connected as one.
///
/// - In the Verilog the ports of a field `start` are `start_valid`, `start_slot`, ...; the comment
///   of the field and that of the struct stand above the first of them, those of the signals
///   beside them. A `Vec` of groups is one port for each signal, with the elements side by side,
///   as a `Vec` of signals is.
/// - `unit_info::Connect`: `connect!` connects the group of a unit with that of its child, or
///   those of two children, one of which has it as `Flipped<Name>`, with inputs and outputs
///   exchanged.
/// - `Default`, `Clone`, `Debug`; a field has the value of its `#[init(value)]`, else its default.
///   A `Vec` needs a `#[count(N)]` that gives it its length.
/// - `#[part_of(Group)]` at the struct: each of its ports is also one of that group. `connect!`
///   connects a part with the group, also where one of the two is `Flipped`. The ports of the
///   group that the part does not have are left out.
/// - `#[registers(Name)]` at the struct makes a unit `Name` of registers for all of its signals,
///   with `enable`, `d` and `q`: what moves from a stage to the next is one value, and not a
///   register for each of its parts.
/// - `#[separate]` at the struct: each element of a `Vec` of the group has ports of its own,
///   `m_axi_0_awid`, `m_axi_1_awid`, ..., as the masters of a bus that tools connect one by one.
/// - `#[held]` at the struct: each `..valid` stays until the `..ready` of the same begin, and so
///   do the ports of this begin that have its direction. `#[held(valid, ready, payload, ..)]`
///   names the ports, where some may change. `emit` notes it for every unit with the group.
#[proc_macro_derive(Ports, attributes(init, count, there, part_of, registers, held, separate))]
pub fn ports(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    ports::expand(&input).unwrap_or_else(|e| e.to_compile_error()).into()
}

/// Makes a struct of values (`Bit`, `Bits`, enums with `LogicState`, other such structs) a value
/// itself: the first field has the lowest bits. The struct must derive `Clone`, `Copy`, `Debug`,
/// `Default` and `PartialEq` too.
///
/// Takes the place of rust-hdl's derive of the same name. `unit_info::RandomValue`, for tests:
/// each field has a random value.
#[proc_macro_derive(LogicStruct)]
pub fn logic_struct(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    values::logic_struct(&input).unwrap_or_else(|e| e.to_compile_error()).into()
}

/// Makes an enum without fields a value: the first variant has code 0 and is the default. The
/// enum must derive `Clone`, `Copy`, `Debug` and `PartialEq` too.
///
/// Takes the place of rust-hdl's derive of the same name. `unit_info::RandomValue`, for tests: any
/// variant.
#[proc_macro_derive(LogicState)]
pub fn logic_state(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    values::logic_state(&input).unwrap_or_else(|e| e.to_compile_error()).into()
}

/// The kernel of a unit: `fn update(&mut self)` runs in the native simulation as it stands, and is
/// translated to rust-hdl's syntax tree for the Verilog back end. The unit's description and the
/// types of its `let`s travel through `Logic::timing`.
///
/// `always!(name, condition);`, outside of branches, states what holds at each rising edge without
/// reset: an assertion beside the Verilog of the unit ([`Promise`]), of which the module itself has
/// nothing, and a look in native tests of the unit's crate.
///
/// [`Promise`]: ../hermes_hdl/emit/enum.Promise.html
///
/// A kernel has assignments (`self.signal.next = value`, also to a field of a struct), `let` and
/// `let mut`, `if`, `match`, `for index in from..to`, `connect!`, operators, literals, casts and
/// the methods of rust-hdl's values. An `if` whose condition is known when the design is emitted
/// (`self.part.is_there()`, `self._number > 1`) is decided then: the branch that is not taken is
/// not translated, and a `let` may stand in the other one. A choice between values may stand where
/// a value is assigned: `let x = if a { b } else { c };`. What does not translate is refused with
/// an error at its place that says what to write instead.
///
/// A long kernel is divided: a function `fn part(&mut self, value: Type, ..)` with `#[hdl_gen]` in
/// an `impl` of the unit stands in the circuit where `update`, or another part, calls it as
/// `self.part(value, ..)`: once, outside of loops, and of branches that are not decided. The values
/// are `let`s of the caller with the names of the parameters. What a part finds out for others goes
/// through a signal of the unit, such as a `Signal<Local, T>`; a `let` has its name once in all
/// functions of a unit.
#[proc_macro_attribute]
pub fn hdl_gen(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    let function = syn::parse_macro_input!(item as syn::ItemFn);
    kernel::expand(&function).unwrap_or_else(|e| e.to_compile_error()).into()
}
