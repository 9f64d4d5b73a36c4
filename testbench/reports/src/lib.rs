//! What is told of a run.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `metrics` | throughput, delays, verdict counts; the run's report |
//! | `timeline` | what warps did in which cycle, as text and for the Perfetto viewer |
//! | `profile` | where the cycles of the warps go, by source line, function and instruction |

pub mod metrics;
pub mod profile;
pub mod timeline;

// What this floor takes from those below, under the same names.
use hermes_checks::{command, races};
use hermes_packets::{clock, traffic, verdict, words};
use hermes_programs::{apps, kernel};
use hermes_reference::iss;
use hermes_simulation::{board, cosim};

#[cfg(test)]
use hermes_packets::golden;
