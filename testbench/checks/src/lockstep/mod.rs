//! Lock-step: every warp-instruction that a core retires, compared lane by lane with the reference
//! simulator.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `checker`, `running` | compare the trace with the reference |
//! | `mismatch` | the report of a difference |

mod checker;
#[cfg(test)]
mod checker_tests;
mod mismatch;
mod running;

pub use checker::{Checker, CheckerStatistics};
pub use mismatch::Mismatch;
