//! Chains that change while packets flow.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `event_file` | what the file of changes has, as it is written |
//! | `event_reader` | its changes, one after the other, checked |
//! | `events` | the changes |
//! | `numbering` | the numbers that functions get |
//! | `steps` | what the host does for each of them, in its order |
//! | `faults` | what the host reads of threads that fault |
//! | `manager` | the host that does so, cycle by cycle |
//! | `adapter` | the host that gives out cores anew by what it counts |
//! | `tally` | what the array has counted of each function, whatever numbers it had |
//! | `paths` | which functions each packet visited, and what was in force meanwhile |
//! | `ended` | which threads the watchdog has ended, by the records of the array |
//! | `hangs` | whether functions can be found to hang at all |
//! | `outcomes` | what may become of a packet at these functions, by the golden models |
//! | `check` | the run against that |
//! | `became` | what became of the packets, and what counters must have by that |

mod adapter;
mod became;
mod check;
mod ended;
mod event_file;
mod event_reader;
mod events;
mod faults;
mod hangs;
mod manager;
mod numbering;
mod outcomes;
mod paths;
mod steps;
mod tally;
#[cfg(test)]
mod tests;

pub use adapter::{Adapt, DecidedBy, Decision};
pub use became::{Became, Checked};
pub use events::{CoresAfter, Events, PlannedEvent, What, When};
pub use manager::{Hung, LiveHost, Made};
pub use paths::{History, Paths, Seen};
pub use steps::{Change, Live, NewTables, Step};
