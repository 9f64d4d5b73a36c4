//! Quality of service, computed: the analytical model of the Hermes papers and the CPU/GPU system
//! that they compare with. No simulation is in here; what it takes was measured elsewhere.
//!
//! Times are cycles; at 1 GHz a cycle is a nanosecond.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `computing_rate` | cycles between two warps of a core, against the MCW (equation 1) |
//! | `burst` | delay while packets wait (equations 2, 3, 6 to 8) |
//! | `sparse` | delay while none waits (equations 4, 5, 9) |
//! | `unified` | both, in turns |
//! | `machine`, `calibration` | ours: the array as a queue, packet by packet, and what it is fitted to |
//! | `baseline` | batches over PCIe |

pub mod baseline;
pub mod burst;
pub mod calibration;
mod computing_rate;
pub mod machine;
pub mod sparse;
pub mod unified;

pub use computing_rate::{computing_rate, ComputingRates, RatesError};
