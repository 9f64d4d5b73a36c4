//! Reference simulators: what each instruction must do, written from the manuals.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `iss` | the instruction set of the cores: harts, threads, warps, with their memory |
//! | `harts` | the harts of the command processor in machine mode, and random programs for them |

pub mod harts;
pub mod iss;

// What this floor takes from those below, under the same names.
use hermes_packets::verdict;
use hermes_programs::{isa, kernel};

#[cfg(test)]
use hermes_packets::test_seed;
