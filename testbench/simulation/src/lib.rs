//! The array at work: in simulation, on a board, beside others.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `cosim` | the Verilated array with its memory, and the host library for every device |
//! | `board` | the array on a board, over a serial line |
//! | `cluster` | several arrays and the switch between them |
//! | `reference` | packets on the reference simulator, with the layout of a run, and what a debugger needs |
//! | `model` | how a model of the array is built |

pub mod board;
pub mod cluster;
pub mod cosim;
pub mod model;
pub mod reference;

// What this floor takes from those below, under the same names.
use hermes_packets::{egress, golden, input, output, slot, verdict, words};
use hermes_programs::{apps, firmware, isa, kernel};
use hermes_reference::iss;

#[cfg(test)]
use hermes_packets::{test_seed, traffic};
