//! What warps work on.

use super::simulation::PacketRange;

/// What the threads of a warp are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Packets, one a lane.
    Packets(PacketRange),
    /// Threads of a job of the thread spawner.
    Job {
        /// The slot of the job.
        job: u8,
        /// Number of the first thread in the job.
        first: u32,
        /// How many threads.
        count: u32,
    },
}

impl Work {
    /// Number of the first packet or thread, and how many there are.
    #[must_use]
    pub const fn range(&self) -> (u32, u32) {
        match *self {
            Self::Packets(PacketRange { first, count }) | Self::Job { first, count, .. } => (first, count),
        }
    }

    /// Number of the last packet or thread.
    #[must_use]
    pub const fn last(&self) -> u32 {
        let (first, count) = self.range();
        first.wrapping_add(count.saturating_sub(1))
    }
}
