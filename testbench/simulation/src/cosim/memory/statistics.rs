//! What the memory did.

use serde::Serialize;

/// What one channel did since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChannelStatistics {
    /// Lines read.
    pub lines_read: u64,
    /// Those of the packet ring among them, once [`Simulation::count_ring`] has told where it is.
    ///
    /// [`Simulation::count_ring`]: crate::cosim::Simulation::count_ring
    pub ring_lines_read: u64,
    /// Lines written, wholly or in part.
    pub lines_written: u64,
    /// Cycles in which a line moved over the AXI4 port, either way.
    pub transfer_cycles: u64,
    /// Cycles in which a request of the design waited for a `ready` of the memory, each of AR, AW
    /// and W counted.
    pub stalled_cycles: u64,
    /// Most requests that were taken and not answered at a time.
    pub most_outstanding: u64,
    /// Answers other than OKAY.
    pub errors: u64,
    /// Those of writes among them.
    pub write_errors: u64,
    /// DRAM: requests whose row was open.
    pub row_hits: u64,
    /// DRAM: requests for which a row was opened.
    pub row_misses: u64,
    /// DRAM: refreshes.
    pub refreshes: u64,
    /// DRAM: cycles in which the data bus carried a line.
    pub bus_cycles: u64,
}

/// The error responses that are kept of each channel; the others are only counted.
pub(super) const MOST_ERROR_RESPONSES: usize = 16;

/// An answer of the memory other than OKAY.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorResponse {
    /// Cycle since reset in which it was given.
    pub cycle: u64,
    /// Whether it answers a write: what was to be written is lost. Otherwise a read.
    pub write: bool,
    /// Address of the line, or of the first line of a burst of writes.
    pub address: u32,
}

/// What all channels did since the last reset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryStatistics {
    /// Cycles counted.
    pub cycles: u64,
    /// The channels.
    pub channels: Vec<ChannelStatistics>,
    /// The first answers other than OKAY, by time.
    pub error_responses: Vec<ErrorResponse>,
}

impl MemoryStatistics {
    /// The sums over the channels; of [`ChannelStatistics::most_outstanding`] the largest.
    #[must_use]
    pub fn total(&self) -> ChannelStatistics {
        self.channels.iter().fold(ChannelStatistics::default(), |sum, c| ChannelStatistics {
            lines_read: sum.lines_read + c.lines_read,
            ring_lines_read: sum.ring_lines_read + c.ring_lines_read,
            lines_written: sum.lines_written + c.lines_written,
            transfer_cycles: sum.transfer_cycles + c.transfer_cycles,
            stalled_cycles: sum.stalled_cycles + c.stalled_cycles,
            most_outstanding: sum.most_outstanding.max(c.most_outstanding),
            errors: sum.errors + c.errors,
            write_errors: sum.write_errors + c.write_errors,
            row_hits: sum.row_hits + c.row_hits,
            row_misses: sum.row_misses + c.row_misses,
            refreshes: sum.refreshes + c.refreshes,
            bus_cycles: sum.bus_cycles + c.bus_cycles,
        })
    }
}
