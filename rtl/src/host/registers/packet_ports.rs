//! The packet ports.

use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// Switch and state of the packet ports.
#[register_block(PortControlRegisters, part = PacketPorts)]
pub struct PortControl {
    /// Bit 0: the packet ports take and send frames. Set it when the host's packets are committed,
    /// clear it when PORTS_BUSY is 0; while it is set the host pushes no packets. RING_SLOTS_LOG2
    /// must be at least 1 and VERDICT_BASE a multiple of 64.
    #[register("PORTS", 0x200)]
    pub enable: ReadWrite<1>,
    /// 1: packets are in flight, from the first byte of a frame (or the host's push) until the slot
    /// is free and the frame has left.
    #[register("PORTS_BUSY", 0x204)]
    pub busy: ReadOnly<1>,
}

/// Dropping of frames that find no slot.
#[register_block(PortDropRegisters, part = DropWhenFull)]
pub struct PortDrops {
    /// Bit 0: the packet ports take and send frames. Set it when the host's packets are committed,
    /// clear it when PORTS_BUSY is 0; while it is set the host pushes no packets. RING_SLOTS_LOG2
    /// must be at least 1 and VERDICT_BASE a multiple of 64. Bit 1, only with dropping when full: a
    /// frame that finds no free slot is dropped whole, and counted in PORTS_DROPPED_FULL, instead
    /// of made to wait. It may change at any time, and counts for frames of which no beat was taken
    /// yet.
    #[register("PORTS", 0x200)]
    #[fields(drop[1])]
    #[beside(enable[0])]
    pub drop: ReadWrite<2>,
    /// Frames that found no free slot and were dropped, modulo 2^32.
    #[register("PORTS_DROPPED_FULL", 0xa40)]
    pub dropped_full: ReadOnly<32>,
}

/// What went through the packet ports, each modulo 2^32.
#[register_block(PortCounterRegisters, part = PacketPorts, values = PortCounterValues)]
pub struct PortCounters {
    /// Frames that entered and took a slot, modulo 2^32.
    #[register("PORTS_FRAMES_IN", 0x208)]
    pub frames_in: ReadOnly<32>,
    /// Bytes of these frames in their slots, modulo 2^32.
    #[register("PORTS_BYTES_IN", 0x20c)]
    pub bytes_in: ReadOnly<32>,
    /// Frames that were malformed or marked as damaged and took no slot, modulo 2^32.
    #[register("PORTS_DROPPED_IN", 0x210)]
    pub dropped_in: ReadOnly<32>,
    /// Frames that were cut to what a slot holds, modulo 2^32.
    #[register("PORTS_CUT_IN", 0x214)]
    pub cut_in: ReadOnly<32>,
    /// Frames that left, modulo 2^32.
    #[register("PORTS_FRAMES_OUT", 0x218)]
    pub frames_out: ReadOnly<32>,
    /// Bytes of these frames, modulo 2^32.
    #[register("PORTS_BYTES_OUT", 0x21c)]
    pub bytes_out: ReadOnly<32>,
    /// Packets whose verdict was drop or fault, modulo 2^32.
    #[register("PORTS_NOT_SENT", 0x220)]
    pub not_sent: ReadOnly<32>,
    /// Packets to be sent whose descriptor had a length of 0 (not sent) or above what a slot holds
    /// (cut to that), modulo 2^32.
    #[register("PORTS_LENGTH_ERRORS", 0x224)]
    pub length_errors: ReadOnly<32>,
    /// Lines that the packet ports could not read, modulo 2^32.
    #[register("PORTS_READ_ERRORS", 0x228)]
    pub read_errors: ReadOnly<32>,
}
