//! The Verilog back end: writes a tree of rust-hdl units as Verilog-2005 with the meaning that the
//! Rust has.
//!
//! [`scope`] reads the units, [`kernel`] and [`expression`] translate their kernels to statements
//! over variables with a width at every node, [`flow`] finds latches and loops, [`plan`] shares the
//! statements out over `assign`s and blocks, [`wakes`] sees to it that no block wakes itself,
//! [`module`] and [`text`] write them. See `docs/verilog.md`.

mod activity;
mod bidirectional;
mod comment;
#[cfg(test)]
mod comment_tests;
mod connection;
mod design;
mod elements;
mod error;
mod expression;
mod fields;
mod flow;
mod kernel;
mod lines;
mod locals;
mod loops;
mod module;
#[cfg(feature = "mutants")]
mod mutants;
mod named;
mod names;
mod node;
mod part;
mod path;
mod plan;
mod port_groups;
mod port_list;
#[cfg(test)]
mod ports_tests;
mod promise;
mod scope;
mod temporaries;
mod text;
mod tree;
mod unit;
pub mod unit_info;
mod visit;
mod wakes;

#[cfg(test)]
mod error_tests;
#[cfg(test)]
pub(crate) mod example;
#[cfg(test)]
mod field_tests;
#[cfg(test)]
mod hdl_gen_tests;
#[cfg(test)]
mod kernel_part_tests;
#[cfg(test)]
mod meaning_tests;
#[cfg(test)]
mod named_tests;
#[cfg(test)]
mod part_tests;
#[cfg(test)]
mod random;
#[cfg(test)]
mod stable_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wakes_tests;

pub use design::{emit, emit_prefixed, Design, Module};
pub use error::EmitError;
pub use port_list::{Direction, Port};
pub use promise::Promise;
pub(crate) use scope::literal_value;
#[cfg(feature = "testing")]
pub(crate) use {
    names::{identifier, module_name},
    port_groups::GroupNames,
    port_list::port_name,
    unit::split_element,
};
