//! Every counter of the array against an independent count: of what stands at the array's ports
//! (events, AXI4, streams), of the retire trace, of models of the caches for accesses that are
//! known, and of kernels that lose their cycles for one known reason.
//!
//! A counter that is read in place of another one, or counts something else, fails one of these
//! tests. `HERMES_SEED` repeats a run.

mod array;
mod caches;
mod cycles;
mod load;
mod observed;
mod ports;
