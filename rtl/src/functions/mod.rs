//! Network functions: what each of them is, which cores they have, and how packets go from one to
//! the next.
//!
//! A core belongs to one network function at a time. [`ContextTable`] keeps what a core must know
//! of each function, [`CoreContext`] is the copy of a core, and [`CoreOwner`] hands cores from one
//! function to another, cleared by [`CoreClear`]. [`Chain`] holds the warps that wait for their
//! next function; in each core [`Survivors`] finds which packets of a warp go on. Where packets
//! branch, [`VerdictCodes`] in each core keeps by which edge, and [`BranchStep`] finds where the
//! lanes of a warp wait. [`PacketWindow`] and [`FetchWindow`] find which memory is that of its
//! packets, and where its instructions may come from. [`FunctionCounters`] count what the functions
//! do. See docs/network-functions.md.

mod branch_step;
mod chain;
mod context_table;
mod core_clear;
mod core_context;
mod core_owner;
mod fetch_window;
mod function_counter;
mod function_counters;
mod packet_window;
mod survivors;
mod verdict_codes;

pub use branch_step::BranchStep;
pub use chain::Chain;
pub use context_table::ContextTable;
pub use core_clear::CoreClear;
pub use core_context::CoreContext;
pub use core_owner::{CoreOwner, CONTEXT_WORDS};
pub use fetch_window::FetchWindow;
pub use function_counter::FunctionCounter;
pub use function_counters::FunctionCounters;
pub use packet_window::PacketWindow;
pub use survivors::Survivors;
pub use verdict_codes::{VerdictCodes, DROPPED, FAULTED, OTHER_PORT, VERDICT_CODES};
