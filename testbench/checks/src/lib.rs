//! Checks of the array: against golden models, the reference simulators, the memory model.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `outcome` | the packets of a run against the golden model of their app |
//! | `lockstep` | compares what the cores retire with the reference simulator |
//! | `command` | the same of the harts of the command processor |
//! | `fuzz` | constrained-random programs, with shrinking and coverage |
//! | `litmus` | tests of the memory model |
//! | `races` | data races of threads, and stores into the slots of other packets |

pub mod command;
pub mod fuzz;
pub mod litmus;
pub mod lockstep;
pub mod outcome;
pub mod races;

// What this floor takes from those below, under the same names.
use hermes_packets::{golden, slot, verdict, words};
use hermes_programs::{apps, kernel};
use hermes_reference::{harts, iss};
use hermes_simulation::cosim;

#[cfg(test)]
use hermes_packets::{test_seed, traffic};
