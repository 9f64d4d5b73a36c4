//! What the registers of an array have counted.

use hermes_rtl::host::registers::core_counters::{CoreCounterValues, L2CounterValues, LostCycleValues};
use hermes_rtl::host::registers::load_counters::LoadCounterValues;

/// Event counters of a core since reset, each modulo 2^32: all that the register table has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct CoreCounters {
    /// What it did.
    #[serde(flatten)]
    pub core: CoreCounterValues,
    /// What it asked of the L2.
    #[serde(flatten, serialize_with = "with_prefix")]
    pub l2: L2CounterValues,
    /// Cycles with a warp on the core in which none started to execute an instruction, by reason.
    pub lost: LostCycles,
}

/// Cycles with a warp on the core in which none started to execute an instruction, by reason, each
/// modulo 2^32.
pub type LostCycles = LostCycleValues;

/// The counters of the L2 beside those of the core: `l2_read_hits`.
fn with_prefix<S: serde::Serializer>(values: &L2CounterValues, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(values.named().map(|(name, value)| (format!("l2_{name}"), value)))
}

/// The load counters of an array since reset; those of 32 bits modulo 2^32.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadCounters {
    /// Data lines that each core found in its L1.
    pub line_hits: Vec<u32>,
    /// Warps of packets formed because they were full.
    pub formed_full: u32,
    /// Partial warps formed by time-out.
    pub formed_timeout: u32,
    /// Partial warps formed before that for an idle slot.
    pub formed_eager: u32,
    /// Busy warp slots of all cores, summed over the cycles.
    pub slot_cycles: u64,
    /// Cycles with a full delay commit queue.
    pub commit_queue_full: u32,
    /// Most entries of the task FIFO.
    pub high_tasks: u32,
    /// Most warps in the delay commit queue.
    pub high_commit_queue: u32,
    /// Most slots of the ring that packets occupied; 0 without packet ports.
    pub high_ring: u32,
}

impl LoadCounters {
    /// From the registers, and CORE_LINE_HITS of every core.
    pub(super) fn new(line_hits: Vec<u32>, values: LoadCounterValues) -> Self {
        Self {
            line_hits,
            formed_full: values.formed_full,
            formed_timeout: values.formed_timeout,
            formed_eager: values.formed_eager,
            slot_cycles: u64::from(values.slot_cycles_high) << 32 | u64::from(values.slot_cycles),
            commit_queue_full: values.commit_queue_full,
            high_tasks: values.high_tasks,
            high_commit_queue: values.high_commit_queue,
            high_ring: values.high_ring,
        }
    }
}

/// What the registers tell of a run at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOut {
    /// Event counters of every core.
    pub counters: Vec<CoreCounters>,
    /// The load counters, if the array has them.
    pub load: Option<LoadCounters>,
    /// Threads ended by a fault since reset, modulo 2^32.
    pub fault_count: u32,
    /// AXI4 responses other than OKAY since reset, modulo 2^32.
    pub bus_errors: u32,
}
