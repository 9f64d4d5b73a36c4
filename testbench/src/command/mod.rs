//! Programs on the command processor: built from source or at random, run on the Verilated array,
//! compared with the reference simulator instruction by instruction.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `build` | programs in C and assembly, with the stock GNU tools |
//! | `generate` | random programs |
//! | `checker` | the reference, in lock-step with the retire trace |
//! | `machine` | the reference simulator of a hart in machine mode |
//! | `ports` | the ports of the retire trace |
//! | `profile` | where the cycles of a hart go |
//! | `bench` | loads a program, runs a hart to its end, and compares what it left |

mod bench;
mod build;
mod checker;
mod generate;
pub mod machine;
mod ports;
mod profile;

pub use bench::{CommandBench, CommandError, Ended};
pub use build::build_program;
pub use checker::{CommandChecker, CommandRetired, Seen};
pub use generate::{random_program, DATA_BASES};
pub use ports::CommandPorts;
pub use profile::{CycleProfile, Lost};
