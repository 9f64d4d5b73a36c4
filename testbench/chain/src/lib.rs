//! Chains of network functions: what vendors and operators write, checked and placed in one memory,
//! and what must come out.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `text` | files in TOML, and errors that name file, line and field |
//! | `manifest` | what a vendor says of a function |
//! | `plan` | what an operator says of a chain: which function follows which |
//! | `edges` | where packets go behind a function, by their verdicts |
//! | `graph` | the order of the visits, from the edges |
//! | `hang` | when a function hangs, and what then happens |
//! | `region` | where all that a function has lies in the shared memory |
//! | `placed` | the chain on an array: kernels built and placed, cores given out |
//! | `identity` | what tells kernel and tables of a function from others |
//! | `loaded` | a function whose inputs were read, before it has its place |
//! | `load` | the chain in the memory of a host |
//! | `model` | the golden model: those of the functions, one after the other |
//! | `start` | the chain on an array with network functions |
//! | `visits` | how long packets waited for a function and were there |
//! | `simulated` | the kernels of a chain on the reference simulator |
//! | `on_array` | the chain on a simulated array |
//! | `paper` | functions and chains of the G-NET paper, made from a seed |
//! | `live` | chains that change while packets flow |
//! | `turns` | functions that take turns with all cores |
//! | `profile` | what a function costs by its warps and cores: nBench of the G-NET paper |
//! | `schedule` | cores for the functions, by their profiles |

mod edges;
mod graph;
mod hang;
mod identity;
pub mod live;
mod load;
mod loaded;
mod manifest;
mod model;
mod on_array;
pub mod paper;
mod placed;
mod plan;
pub mod profile;
mod region;
pub mod schedule;
mod simulated;
mod start;
#[cfg(test)]
mod tests;
mod text;
mod turns;
mod visits;

pub use edges::{Edges, BRANCH_PORTS};
pub use hang::{window as hang_window, Hang, OnHang};
pub use manifest::{Code, Manifest, Packet, Table, Word, END};
pub use model::{ChainModel, Visit};
pub use on_array::{check_counts, check_ways, visits, Changed, Ran, Setting, Sharing};
pub use placed::{Chain, Function, Surroundings, MOST_FUNCTIONS};
pub use plan::{ChainPlan, Planned};
pub use region::{Needs, Part, Region};
pub use schedule::limit_for;
pub use simulated::{SimulatedChain, SimulatedError, SimulatedVisit, Stop};
pub use start::Started;
pub use text::{ChainError, Problem};
pub use visits::{FunctionTimes, VisitLog};

// What this floor takes from those below, under the same names.
use hermes_checks::outcome;
use hermes_packets::{golden, input, slot, staging, tables, traffic, verdict};
use hermes_programs::{apps, kernel};
use hermes_reference::iss;
use hermes_simulation::{cosim, reference};

#[cfg(test)]
use hermes_packets::test_seed;
