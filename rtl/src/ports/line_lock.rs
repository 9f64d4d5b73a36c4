//! Between the registers of the network interface and the memory system.

use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// The line lock of the L2: where the command rings are, and what happened.
#[derive(Ports)]
pub struct LineLock {
    /// Writes to the rings lock their lines: NET_CONTROL bits 0 and 1, and NET_AREA is one that can
    /// be.
    pub enable: Signal<In, Bit>,
    /// NET_BASE, bits 31:6: line address of the first queue area.
    pub base: Signal<In, LineAddress>,
    /// NET_AREA: bytes of a queue area, as a power of two.
    pub area_log2: Signal<In, Bits<5>>,
    /// LOCK_REFUSED: writes to a ring whose line stayed unlocked since another one of its set was
    /// locked, modulo 2^32.
    pub refused: Signal<Out, Bits<32>>,
    /// LOCK_EXPIRED: locks that ended by 63 misses in their set, modulo 2^32.
    pub expired: Signal<Out, Bits<32>>,
}

/// Which lines a bank locks.
#[derive(Ports)]
pub struct LockedRings {
    /// Writes to the rings lock their lines.
    pub enable: Signal<In, Bit>,
    /// Line address of the first queue area.
    pub base: Signal<In, LineAddress>,
    /// Bits of a line address that are the same for all lines of rings: see
    /// [`RingWindow`](crate::l2::RingWindow).
    pub mask: Signal<In, Bits<26>>,
}
