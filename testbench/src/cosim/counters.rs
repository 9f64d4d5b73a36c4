//! What the registers of an array have counted.

use hermes_rtl::host::registers::core_counters::{CoreCounterValues, L2CounterValues, LostCycleValues};

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

/// What the registers tell of a run at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOut {
    /// Event counters of every core.
    pub counters: Vec<CoreCounters>,
    /// Threads ended by a fault since reset, modulo 2^32.
    pub fault_count: u32,
    /// AXI4 responses other than OKAY since reset, modulo 2^32.
    pub bus_errors: u32,
}
