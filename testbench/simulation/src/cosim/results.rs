//! What a run of packets gives.

use std::time::Duration;

use super::counters::{CoreCounters, LoadCounters};
use super::fault_record::FaultRecord;
use super::memory::MemoryStatistics;
use super::tracker::PacketTimes;

/// A packet after its commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// packetIdx.
    pub index: u64,
    /// The verdict word.
    pub verdict: u32,
    /// When it passed which stage, and where.
    pub times: PacketTimes,
    /// The frame as the kernel left it; its length is that of the descriptor, at most what the slot
    /// holds.
    pub bytes: Vec<u8>,
    /// What the kernel left in the descriptor of the slot.
    pub left: LeftLength,
    /// The frames that leave in its place, if the kernel sends others.
    pub egress: Vec<Vec<u8>>,
}

/// Lengths in the descriptor of a slot, as a kernel left them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftLength {
    /// Bytes of the frame that are in the slot; more than the slot holds if the kernel erred.
    pub length: u32,
    /// Bytes cut from the frame's end: with `length` the length on the wire.
    pub cut: u16,
}

impl LeftLength {
    /// That of a frame of so many bytes, of which none was cut.
    #[must_use]
    pub fn whole(bytes: usize) -> Self {
        Self { length: u32::try_from(bytes).unwrap_or(u32::MAX), cut: 0 }
    }
}

impl PacketRecord {
    /// What it left in memory, and its times.
    #[must_use]
    pub fn into_parts(self) -> (PacketResult, PacketTimes) {
        let Self { index, verdict, times, bytes, left, egress } = self;
        (PacketResult { index, verdict, bytes, left, egress }, times)
    }
}

/// What a packet left in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketResult {
    /// packetIdx.
    pub index: u64,
    /// The verdict word.
    pub verdict: u32,
    /// The frame as the kernel left it; its length is that of the descriptor, at most what the slot
    /// holds.
    pub bytes: Vec<u8>,
    /// What the kernel left in the descriptor of the slot.
    pub left: LeftLength,
    /// The frames that leave in its place, if the kernel sends others.
    pub egress: Vec<Vec<u8>>,
}

/// What a run gave; by default, one without packets.
#[derive(Clone, Debug, Default)]
pub struct RunResult {
    /// Every packet, in the order of commits, which is the order of arrival.
    pub packets: Vec<PacketRecord>,
    /// Cycles from the start of the run to the last commit, that one included.
    pub cycles: u64,
    /// Cycles of these that were left out because the array rested.
    pub skipped_cycles: u64,
    /// Cycles in which a packet that should have arrived waited for a free slot of the ring.
    pub deferred_cycles: u64,
    /// How many times the host cleaned the caches before the end, to read results and take slots
    /// back: the array pauses meanwhile.
    pub cache_cleanings: u64,
    /// Event counters of every core.
    pub counters: Vec<CoreCounters>,
    /// The load counters, if the array has them.
    pub load: Option<LoadCounters>,
    /// The records of the fault FIFO.
    pub faults: Vec<FaultRecord>,
    /// Records that the fault FIFO could not hold, modulo 2^16.
    pub lost_faults: u32,
    /// Threads ended by a fault.
    pub fault_count: u32,
    /// AXI4 responses other than OKAY that the array saw.
    pub bus_errors: u32,
    /// What the memory did.
    pub memory: MemoryStatistics,
    /// Cycles simulated, those of set-up and read-out of the results included.
    pub simulated_cycles: u64,
    /// Wall-clock time of the simulation.
    pub elapsed: Duration,
}

impl RunResult {
    /// Speed of the simulation in thousands of cycles per second.
    #[must_use]
    pub fn kilohertz(&self) -> f64 {
        self.simulated_cycles as f64 / self.elapsed.as_secs_f64().max(1e-9) / 1e3
    }
}
