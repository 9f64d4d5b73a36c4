//! The time-out of warp forming, where it can follow the traffic.

use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// How the time-out of warp forming follows the traffic.
#[register_block(TimeoutRegisters, part = AdaptiveTimeout)]
pub struct TimeoutControl {
    /// Bit 0: the time-out is TIMEOUT_FACTOR / 4 times ARRIVAL_CYCLES, within TIMEOUT_MIN and
    /// TIMEOUT_MAX, TIMEOUT_MIN until something is measured; and TIMEOUT_EAGER holds. 0: it is
    /// TIMEOUT. An array that does not have this register has no such time-out.
    #[register("TIMEOUT_MODE", 0xa80)]
    #[fields(adaptive[0])]
    pub adaptive: ReadWrite<1>,
    /// Quarters: 8 is twice the time in which a warp arrives.
    #[register("TIMEOUT_FACTOR", 0xa84, reset = 8)]
    pub factor: ReadWrite<8>,
    /// Cycles of the adaptive time-out at least.
    #[register("TIMEOUT_MIN", 0xa88, reset = 64)]
    pub min: ReadWrite<24>,
    /// Cycles of the adaptive time-out at most, even if TIMEOUT_MIN is more.
    #[register("TIMEOUT_MAX", 0xa8c, reset = 1024)]
    pub max: ReadWrite<24>,
    /// Cycles in which the packets of a full warp arrive, averaged; 0: nothing was measured since
    /// reset. It is measured in both modes.
    #[register("ARRIVAL_CYCLES", 0xa90)]
    pub arrival: ReadOnly<24>,
    /// Quarters of a warp: while fewer packet warps than that for each core of the array are on all
    /// cores together, an adaptive time-out of TIMEOUT cycles or more is not waited for. 0: every
    /// time-out is.
    #[register("TIMEOUT_EAGER", 0xa94, reset = 8)]
    pub eager: ReadWrite<8>,
}
