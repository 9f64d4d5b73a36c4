//! Packets on the reference simulator: a warp of threads on memory that looks as in a run on the
//! array.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `device` | registers and memory without an array behind them: a [`Device`](crate::cosim::Device) for the host library |
//! | `run` | a warp with its packets |
//! | `debugger` | breakpoints, watchpoints, single steps, faults that stop before they end a thread |

mod debugger;
#[cfg(test)]
mod debugger_tests;
mod device;
mod run;
#[cfg(test)]
mod run_tests;

pub use debugger::{Debugger, Resume, Stop, Watch};
pub use device::ReferenceDevice;
pub use run::{Executed, Reference};
