//! The thread spawner in the array: the host writes descriptors, threads run on the cores,
//! completion words and counters tell how they ended, and packets that pass meanwhile keep their
//! verdicts and their order. `HERMES_SEED` repeats a run.

mod array;
mod figure_3;
mod jobs;
mod latency;
mod packets;
