//! Between stage W of a core and the host: faults of threads.

use crate::types::{FaultCause, PacketIndex, ThreadCount, WarpSlot};
use hermes_hdl::prelude::*;

/// Threads of a warp ended with a fault, all for the same cause.
#[derive(Ports)]
#[held]
pub struct WarpFault {
    /// A record is offered.
    pub valid: Signal<Out, Bit>,
    /// The record is taken at this edge.
    pub ready: Signal<In, Bit>,
    /// Cause of the fault.
    pub cause: Signal<Out, FaultCause>,
    /// Warp slot.
    pub slot: Signal<Out, WarpSlot>,
    /// Threads of the warp that the fault ended, 1 to 32.
    pub threads: Signal<Out, ThreadCount>,
    /// Address of the instruction.
    pub pc: Signal<Out, Bits<32>>,
    /// Value that RISC-V writes to mtval for this cause, of the lowest faulting lane.
    pub value: Signal<Out, Bits<32>>,
    /// packetIdx of the lowest faulting lane.
    pub packet: Signal<Out, PacketIndex>,
}

/// What a fault record says of the lanes that fault.
#[derive(Ports)]
#[part_of(WarpFault)]
pub struct FaultRecord {
    /// Number of faulting lanes.
    pub threads: Signal<Out, ThreadCount>,
    /// packetIdx of the lowest faulting lane.
    pub packet: Signal<Out, PacketIndex>,
    /// Value that RISC-V writes to mtval, of the lowest faulting lane.
    pub value: Signal<Out, Bits<32>>,
}
