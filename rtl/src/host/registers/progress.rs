//! How far the array is.

use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// How far the array is.
#[register_block(ProgressRegisters)]
pub struct Progress {
    /// Packets in the warp former that wait for a warp.
    #[register("PENDING", 0x048)]
    pub pending: ReadOnly<32>,
    /// Warps issued since reset, modulo 2^32.
    #[register("ISSUED_WARPS", 0x04c)]
    pub issued_warps: ReadOnly<32>,
    /// Warps committed since reset, modulo 2^32.
    #[register("COMMITTED_WARPS", 0x050)]
    pub committed_warps: ReadOnly<32>,
    /// Packets committed since reset, modulo 2^32: all packets with a lower packetIdx are done.
    /// Their frames and verdicts may stand in the L2 until it is cleaned (L2_MAINTENANCE).
    #[register("COMMITTED_PACKETS", 0x054)]
    pub committed_packets: ReadOnly<32>,
}
