//! What warps and harts did in which cycle, for people: a readable trace and a timeline for the Perfetto viewer, from the ports of the
//! retire traces and the array's events.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `warp` | a warp from its issue to its commit: stretches of instructions, and what it waited for between them |
//! | `hart` | a hart of the command processor: stretches of instructions in one function, waits, handlers |
//! | `recorder` | follows every warp of a run, cycle by cycle |
//! | `text` | the readable trace, a block for each warp |
//! | `perfetto` | the timeline in the Trace Event Format |

mod hart;
mod perfetto;
mod recorder;
mod text;
mod warp;

pub use hart::{Functions, Handled, HartPart, HartStretch, HartWait};
pub use perfetto::Perfetto;
pub use recorder::{CycleRange, Recorder};
pub use text::TextTrace;
pub use warp::{FaultMark, Phase, Step, Stretch, Wait, WarpTimeline, Work};
