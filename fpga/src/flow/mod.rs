//! From Verilog to a bitstream, with Yosys, nextpnr and the tools of Project Trellis.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `tools` | the programs: where they are, how they are started |
//! | `synthesis` | Yosys: a netlist of ECP5 cells, and how many of each |
//! | `netlist` | the netlist for a simulator |
//! | `units` | the cells of each unit of the design |
//! | `placement` | nextpnr: one attempt, its log, the clock that it found |
//! | `room` | LUTs that stay empty, so that the wires of the others have room |
//! | `race` | attempts with several seeds at once; the first that meets the clock wins |

mod netlist;
mod placement;
mod race;
mod room;
mod synthesis;
mod tools;
mod units;

pub use netlist::simulation_netlist;
pub use placement::{clock, overused, Device, Effort, Placement, Placer};
pub use race::{race, Progress, RaceOptions, Winner};
pub use room::keep_room;
pub use synthesis::{synthesize, Cells};
pub use tools::{FlowError, Tool};
pub use units::Units;
