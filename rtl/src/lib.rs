//! The hardware of Hermes, one unit a file, written with [`hermes_hdl`], which also writes it as
//! Verilog-2005.
//!
//! | folder | what is in it |
//! | --- | --- |
//! | `control` | task FIFO, warp former, warp issue, DCQ with its LUTs |
//! | `core` | the SIMT shader core |
//! | `command` | the command processor |
//! | `memory` | instruction cache, load/store unit with coalescer |
//! | `l2` | the memory system that all cores share: banks of the L2, AXI4 channels |
//! | `host` | the AXI4-Lite register file and its table |
//! | `spawn` | the thread spawner |
//! | `stream` | the packet ports: AXI4-Stream to and from the packet ring |
//! | `net` | the network interface: RoCEv2 |
//! | `queues` | the command queues of warps: noticed, fetched, counted |
//! | `trace` | the trace buffer, which keeps what happened until the host reads it |
//! | `board` | what stands around the array on a board: serial line, packet memory |
//! | `functions` | network functions: contexts, chain, guards |
//! | `config` | the options of an array |
//! | `ports` | port groups: what passes between two units |
//! | `blocks` | units of no subsystem: FIFOs, arbiters, encoders, pointers of queues |
//! | `types` | plain types and constants that several folders use, names of widths |
//!
//! [`top`] puts them together.

pub mod blocks;
pub mod board;
pub mod command;
pub mod config;
pub mod control;
pub mod core;
pub mod functions;
pub mod host;
pub mod l2;
pub mod memory;
pub mod net;
pub mod ports;
pub mod queues;
pub mod spawn;
pub mod stream;
#[cfg(test)]
mod testing;
pub mod top;
pub mod trace;
pub mod types;
