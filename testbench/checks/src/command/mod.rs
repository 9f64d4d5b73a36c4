//! Programs on the command processor: run on the Verilated array, compared with the reference
//! simulator instruction by instruction.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `checker` | the reference, in lock-step with the retire trace |
//! | `ports` | the ports of the retire trace |
//! | `profile` | where the cycles of a hart go |
//! | `bench` | loads a program, runs a hart to its end, and compares what it left |

mod bench;
mod checker;
mod ports;
mod profile;

pub use bench::{CommandBench, CommandError, Ended};
pub use checker::{CommandChecker, CommandRetired, Seen};
pub use ports::CommandPorts;
pub use profile::{CycleProfile, Lost};
