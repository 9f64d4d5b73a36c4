//! Constrained-random programs for the array, compared with the reference simulator.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `features` | what programs may use |
//! | `program` | programs as trees of statements |
//! | `assemble` | programs to machine words |
//! | `generate` | random programs and their data |
//! | `shrink` | small programs from failing ones |
//! | `coverage` | what ran: instructions, hazards, faults |
//! | `reference` | what a run must leave behind |
//! | `bench` | runs programs on a Verilated array and compares |

mod assemble;
mod bench;
mod coverage;
mod features;
mod generate;
mod program;
mod reference;
mod shrink;
#[cfg(test)]
mod tests;

pub use assemble::assemble;
pub use bench::{Bench, Failure, Outcome};
pub use coverage::{Coverage, Dependency};
pub use features::Features;
pub use generate::{generate, Case};
pub use program::{Access, Area, Block, FaultKind, Function, Program, Statement, Target, Trips};
pub use reference::{warps_of, Reference};
pub use shrink::shrink;
