//! Chains that change while packets flow.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `events` | the file of changes, checked |
//! | `steps` | what the host does for each of them, in its order |
//! | `faults` | what the host reads of threads that fault |
//! | `manager` | the host that does so, cycle by cycle |
//! | `adapter` | the host that gives out cores anew by what it counts |
//! | `became` | what became of the packets, and what counters must have by that |
//! | `paths` | which functions each packet visited, and what must come out by that |

mod adapter;
mod became;
mod events;
mod faults;
mod manager;
mod paths;
mod steps;
#[cfg(test)]
mod tests;

pub use adapter::{Adapt, DecidedBy, Decision};
pub use became::{Became, Checked};
pub use events::{CoresAfter, Events, PlannedEvent, What, When};
pub use manager::{Hung, LiveHost, Made};
pub use paths::{History, Paths, Seen};
pub use steps::{Change, Live, NewTables, Step};
