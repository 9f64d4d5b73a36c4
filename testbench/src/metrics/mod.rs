//! Quality of service of a run: throughput, delays, verdicts, work of the cores; as JSON and as a table.
//!
//! Cycles are those of the array's clock at 1 GHz. The throughput counts the bytes of the committed frames as they were on the
//! wire, without preamble, FCS and gap.

mod distribution;
mod faults;
mod report;
mod verdicts;

pub use distribution::Distribution;
pub use faults::FaultCause;
pub use report::{ChannelWork, CoreWork, Counted, Report, RunFacts};
pub use verdicts::write_verdicts;

use crate::verdict::Verdict;

/// What happened to a packet, in cycles since the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// packetIdx: the packet's number in the run, from 0.
    pub packet: u64,
    /// Its verdict.
    pub verdict: Verdict,
    /// The packet had arrived whole, by its schedule if there is one.
    pub arrival: u64,
    /// Its warp was issued to a core.
    pub start: u64,
    /// Its warp finished.
    pub finish: u64,
    /// Its warp was committed.
    pub commit: u64,
}
