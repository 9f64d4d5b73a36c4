//! What warps did in which cycle, for people: a readable trace and a timeline for the Perfetto viewer, from the ports of the
//! retire trace and the array's events.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `warp` | a warp from its issue to its commit: stretches of instructions, and what it waited for between them |
//! | `recorder` | follows every warp of a run, cycle by cycle |
//! | `text` | the readable trace, a block for each warp |
//! | `perfetto` | the timeline in the Trace Event Format |

mod perfetto;
mod recorder;
mod text;
mod warp;

pub use perfetto::Perfetto;
pub use recorder::{CycleRange, Recorder};
pub use text::TextTrace;
pub use warp::{FaultMark, Phase, Step, Stretch, Wait, WarpTimeline};
