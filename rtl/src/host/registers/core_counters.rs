//! The event counters of the cores: those of the core that CORE_SELECT chooses.

use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// Event counters of a core, each modulo 2^32.
#[register_block(CoreCounterRegisters, selected, values = CoreCounterValues)]
pub struct CoreCounters {
    /// Warp-instructions retired, modulo 2^32.
    #[register("CORE_INSTRUCTIONS", 0x090)]
    pub instructions: ReadOnly<32>,
    /// Lane-instructions retired (active lanes summed over the warp-instructions), modulo 2^32.
    #[register("CORE_LANE_INSTRUCTIONS", 0x094)]
    pub lane_instructions: ReadOnly<32>,
    /// Cycles with at least one warp on the core, modulo 2^32.
    #[register("CORE_ACTIVE_CYCLES", 0x098)]
    pub active_cycles: ReadOnly<32>,
    /// Cycles with a warp on the core in which stage X took no instruction, modulo 2^32: the sum of
    /// the CORE_LOST registers and of the cycles in which warps slept (`wrs.nto`, `wrs.sto`) or
    /// ended warps waited for their finish to be taken, and no other was there.
    #[register("CORE_STALL_CYCLES", 0x09c)]
    pub stall_cycles: ReadOnly<32>,
    /// Warp-instructions retired while some lanes of the warp waited at another PC, modulo 2^32.
    #[register("CORE_DIVERGENT", 0x0a0)]
    pub divergent: ReadOnly<32>,
    /// Instruction cache line fills, modulo 2^32.
    #[register("CORE_FETCH_MISSES", 0x0a4)]
    pub fetch_misses: ReadOnly<32>,
    /// Data lines read, modulo 2^32.
    #[register("CORE_LINE_READS", 0x0a8)]
    pub line_reads: ReadOnly<32>,
    /// Data lines written, modulo 2^32.
    #[register("CORE_LINE_WRITES", 0x0ac)]
    pub line_writes: ReadOnly<32>,
}

/// Cycles with a warp on the core that it lost, by reason, each modulo 2^32.
#[register_block(LostCycleRegisters, selected, values = LostCycleValues)]
pub struct LostCycleCounters {
    /// Cycles with a warp on the core lost because loads, stores or divisions had to complete,
    /// modulo 2^32.
    #[register("CORE_LOST_MEMORY", 0x0b0)]
    pub memory: ReadOnly<32>,
    /// Cycles with a warp on the core lost because instructions were not in the cache, modulo 2^32.
    #[register("CORE_LOST_FETCH", 0x0b4)]
    pub fetch: ReadOnly<32>,
    /// Cycles with a warp on the core lost because warps waited for a branch, a jump or path
    /// selection, modulo 2^32.
    #[register("CORE_LOST_DIVERGENCE", 0x0b8)]
    pub divergence: ReadOnly<32>,
    /// Cycles with a warp on the core lost because an instruction was blocked by a hazard and
    /// replayed, modulo 2^32.
    #[register("CORE_LOST_SCOREBOARD", 0x0bc)]
    pub scoreboard: ReadOnly<32>,
    /// Cycles with a warp on the core lost because the pipeline stalled for the register port, the
    /// load/store unit, the fault collector or path selection, modulo 2^32.
    #[register("CORE_LOST_CONFLICT", 0x0c0)]
    pub conflict: ReadOnly<32>,
}

/// What a core asked of the L2, each modulo 2^32.
#[register_block(L2CounterRegisters, selected, values = L2CounterValues)]
pub struct L2Counters {
    /// Lines read (data and instructions) that the L2 had, modulo 2^32.
    #[register("CORE_L2_READ_HITS", 0x0c4)]
    pub read_hits: ReadOnly<32>,
    /// Lines read (data and instructions) that came from memory, modulo 2^32.
    #[register("CORE_L2_READ_MISSES", 0x0c8)]
    pub read_misses: ReadOnly<32>,
    /// Lines written to the L2, wholly or in part, and atomic operations, modulo 2^32.
    #[register("CORE_L2_WRITES", 0x0cc)]
    pub writes: ReadOnly<32>,
}
