//! The array on a board, over a serial line (`docs/fpga-link.md`).
//!
//! | module | what is in it |
//! | --- | --- |
//! | `port` | opens the serial device |
//! | `hdlc` | frames of RFC 1662 |
//! | `link` | requests and answers; repeats |
//! | `device` | the board as a [`Device`](crate::cosim::Device) of the host library |
//! | `session` | runs of packets through any device, by its registers and memory alone |
//! | `trace` | the trace buffer: its settings, and what it recorded |
//! | `simulation` | the top of a board under simulation, bit by bit at its serial pins |

mod device;
#[cfg(test)]
mod fake;
pub mod hdlc;
mod link;
mod port;
mod session;
#[cfg(test)]
mod session_tests;
mod simulation;
#[cfg(test)]
mod tests;
pub mod trace;

pub use crate::cosim::{BoardError, LinkError};
pub use device::{Board, Identity};
pub use link::{Link, LinkOptions, LinkStatistics, Operation, Request, Status, MOST_BYTES};
pub use port::{open, Port, PortError};
pub use session::{run, SessionOptions, SessionResult};
pub use simulation::{BoardPins, BoardSimulation, LineNoise};
pub use trace::{TraceBytes, TraceEntry, TraceRecord, TraceSettings, TraceTrigger};
