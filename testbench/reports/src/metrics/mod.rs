//! Quality of service of a run: throughput, delays, verdicts, work of the cores; as JSON and as a
//! table.
//!
//! Cycles are those of the array's clock, in simulation at 1 GHz unless another is stated, on a
//! board at its own. The throughput counts the bytes of the committed frames as they were on the
//! wire, without preamble, FCS and gap.

mod delays;
mod distribution;
mod faults;
mod load;
mod report;
mod report_text;
mod steady_state;
mod verdicts;

pub use crate::clock::Clock;
pub use delays::{Delays, Stages};
pub use distribution::Distribution;
pub use faults::FaultCause;
pub use load::Load;
pub use report::{
    BoardRun, ChannelWork, CoreWork, Counted, Environment, FrameLines, Loss, Report, RunFacts, Waits,
};
pub use steady_state::SteadyState;
pub use verdicts::{name_verdicts, write_verdicts};

use crate::cosim::PacketTimes;
use crate::verdict::Verdict;

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// packetIdx: the packet's number in the run, from 0.
    pub packet: u64,
    /// Its verdict.
    pub verdict: Verdict,
    /// When it passed which stage, in cycles since the start of the run, if that was seen.
    pub times: Option<PacketTimes>,
}
