//! Lock-step: every warp-instruction that a core retires, compared lane by lane with the reference
//! simulator.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `trace` | what the trace ports tell in a cycle |
//! | `ports` | the trace ports of a model |
//! | `warp` | the reference: a warp of threads, executed along the preferred path |
//! | `checker`, `running` | compare the trace with the reference |
//! | `mismatch` | the report of a difference |

mod checker;
#[cfg(test)]
mod checker_tests;
mod mismatch;
mod ports;
mod running;
mod trace;
mod warp;

pub use checker::{Checker, CheckerStatistics};
pub use mismatch::Mismatch;
pub use ports::RetirePorts;
pub(crate) use trace::lanes;
pub use trace::{LateWrite, Retired, TraceCycle, WarpStart};
pub use warp::{Expected, Warp, WarpMemory};
