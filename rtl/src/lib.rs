//! The hardware of Hermes: every unit is a rust-hdl `LogicBlock`, one unit a file, and [`emit`]
//! writes them as Verilog-2005.
//!
//! | folder | what is in it |
//! | --- | --- |
//! | `prim` | registers, memories and packing: the only hand-written Verilog |
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
//! | `board` | what stands around the array on a board: serial line, packet memory
//! | `ports` | port groups: what passes between two units |
//! | `emit` | the Verilog back end |
//!
//! [`top`] puts them together.

pub mod board;
pub mod command;
pub mod config;
pub mod control;
pub mod core;
pub mod emit;
pub mod host;
pub mod l2;
pub mod memory;
pub mod net;
pub mod ports;
pub mod prelude;
pub mod prim;
pub mod queues;
pub mod spawn;
pub mod stream;
pub mod top;

#[cfg(test)]
mod testing;
