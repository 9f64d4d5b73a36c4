//! Abuse of the command processor and the thread spawner of a Verilated array: jobs from everywhere
//! at random times, harts that are held in any cycle, events in any cycle, a lane that writes to
//! the descriptor page, code that changes under who executes it. `HERMES_SEED` repeats a run.

mod array;
mod events;
// Of the grid only the array of these tests.
#[allow(dead_code)]
#[path = "../grid/mod.rs"]
mod grid;
mod holds;
mod page;
mod progress;
mod spawns;
