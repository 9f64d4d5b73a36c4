//! Parts of register groups, for units that take some of their registers.

use super::registers::memory::MemoryControl;
use super::registers::packet_ports::PortCounters;
use super::registers::tasks::TaskOffer;
use hermes_hdl::prelude::*;

/// Host registers to the memory system: maintenance of the L2.
#[derive(Ports)]
#[part_of(MemoryControl)]
pub struct L2Maintenance {
    /// Writes back all changed lines (high for one cycle).
    pub l2_clean: Signal<In, Bit>,
    /// Writes back all changed lines and invalidates all lines (high for one cycle).
    pub l2_invalidate: Signal<In, Bit>,
    /// Either is in progress.
    pub l2_busy: Signal<Out, Bit>,
    /// Lines read from memory, modulo 2^32.
    pub lines_read: Signal<Out, Bits<32>>,
    /// Lines written to memory, wholly or in part, modulo 2^32.
    pub lines_written: Signal<Out, Bits<32>>,
}

/// A number of packets that became ready, on its way to the task FIFO.
#[derive(Ports)]
#[part_of(TaskOffer)]
#[held]
pub struct TaskCount {
    /// A count is offered; it stays until it is taken.
    pub valid: Signal<In, Bit>,
    /// The count is taken at this edge.
    pub ready: Signal<Out, Bit>,
    /// Number of packets.
    pub count: Signal<In, Bits<32>>,
}

/// What entered, since reset, modulo 2^32.
#[derive(Ports)]
#[part_of(PortCounters)]
pub struct IngressCounters {
    /// Frames that took a slot.
    pub frames_in: Signal<Out, Bits<32>>,
    /// Bytes of these frames in their slots.
    pub bytes_in: Signal<Out, Bits<32>>,
    /// Malformed frames.
    pub dropped_in: Signal<Out, Bits<32>>,
    /// Frames cut to what a slot holds.
    pub cut_in: Signal<Out, Bits<32>>,
}

/// What left, since reset, modulo 2^32.
#[derive(Ports)]
#[part_of(PortCounters)]
pub struct EgressCounters {
    /// Frames sent.
    pub frames_out: Signal<Out, Bits<32>>,
    /// Bytes of these frames.
    pub bytes_out: Signal<Out, Bits<32>>,
    /// Packets whose verdict was not a port.
    pub not_sent: Signal<Out, Bits<32>>,
    /// Packets with a length of 0 or above what a slot holds.
    pub length_errors: Signal<Out, Bits<32>>,
    /// Lines that could not be read.
    pub read_errors: Signal<Out, Bits<32>>,
}
