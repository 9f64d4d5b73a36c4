//! What warps and harts did in which cycle, for people: a readable trace and a timeline for the
//! Perfetto viewer, from the ports of the retire traces and the array's events.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `warp` | a warp from its issue to its commit: stretches of instructions, and what it waited for between them |
//! | `hart` | a hart of the command processor: stretches of instructions in one function, waits, handlers |
//! | `names` | functions and source lines of addresses |
//! | `levels`, `counters` | what waits in the array and at its memory; counters over time |
//! | `range` | which cycles and packets are told |
//! | `recorder` | follows every warp of a run, cycle by cycle |
//! | `profile`, `cost` | the cost of every instruction of a run, by reason |
//! | `bounded` | outputs of a size at most |
//! | `text` | the readable trace, a block for each warp |
//! | `perfetto` | the timeline in the Trace Event Format |
//! | `wave` | waveforms of what a trace buffer recorded |

mod bounded;
mod cost;
mod counters;
mod hart;
mod levels;
mod names;
mod perfetto;
mod profile;
mod range;
mod recorder;
mod text;
mod warp;
mod wave;

pub use cost::Cost;
pub use counters::COUNTER_CYCLES;
pub use hart::{Functions, Handled, HartPart, HartStretch, HartWait};
pub use levels::{LevelPorts, Levels};
pub use names::{Name, Names, BOOT, EXIT};
pub use perfetto::Perfetto;
pub use profile::Profile;
pub use range::{CycleRange, PacketNumbers};
pub use recorder::Recorder;
pub use text::TextTrace;
pub use warp::{FaultMark, Phase, Step, Stretch, Wait, WarpTimeline};
pub use wave::write_wave;
