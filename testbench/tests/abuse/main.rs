//! The whole array against what real systems meet: resets at any time, a bus that fails and pauses,
//! full and empty queues, kernels that are wrong in every way, packets of every length.
//!
//! In all of it every packet that was accepted is committed once, in order, with a verdict, and the
//! machine goes on: a run fails if a commit comes twice, out of order, or not at all. `HERMES_SEED`
//! repeats a test.

mod array;
mod bus;
// Of the grid only the array of these tests.
#[allow(dead_code)]
#[path = "../grid/mod.rs"]
mod grid;
mod isolation;
mod kernels;
mod late_faults;
mod packets;
mod queues;
mod resets;
