//! Between stage M and the memories of a core, and inside the load/store unit.

use crate::types::{LaneMask, LineAddress, RegisterIndex, WarpSlot};
use hermes_hdl::prelude::*;

/// A load or a store of some lanes is offered to a memory of the core.
#[derive(Ports)]
#[held]
pub struct LaneRequest<const LANES: usize> {
    /// An operation is offered.
    pub valid: Signal<In, Bit>,
    /// The operation is accepted at this edge; depends on registers only.
    pub ready: Signal<Out, Bit>,
    /// Warp slot.
    pub slot: Signal<In, WarpSlot>,
    /// Store (else load).
    pub store: Signal<In, Bit>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub size: Signal<In, Bits<2>>,
    /// Loads: extend by the sign.
    pub signed: Signal<In, Bit>,
    /// Loads: destination register.
    pub rd: Signal<In, RegisterIndex>,
    /// Lanes that take part; at least one.
    pub mask: Signal<In, LaneMask<LANES>>,
    /// Byte address of each lane, a multiple of the size.
    #[count(LANES)]
    pub address: Vec<Signal<In, Bits<32>>>,
    /// Register of each lane to store.
    #[count(LANES)]
    pub data: Vec<Signal<In, Bits<32>>>,
}

/// The operation in stage M, of which one memory makes a [`LaneRequest`].
#[derive(Ports)]
#[part_of(LaneRequest<LANES>)]
pub struct LaneOperation<const LANES: usize> {
    /// Warp slot.
    pub slot: Signal<In, WarpSlot>,
    /// Store (else load).
    pub store: Signal<In, Bit>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub size: Signal<In, Bits<2>>,
    /// Loads: extend by the sign.
    pub signed: Signal<In, Bit>,
    /// Loads and atomic operations: destination register.
    pub rd: Signal<In, RegisterIndex>,
    /// Lanes that take part; at least one.
    pub mask: Signal<In, LaneMask<LANES>>,
    /// Byte address of each lane, a multiple of the size.
    #[count(LANES)]
    pub address: Vec<Signal<In, Bits<32>>>,
    /// Register of each lane to store, or operand of the atomic operation.
    #[count(LANES)]
    pub data: Vec<Signal<In, Bits<32>>>,
}

/// The operation in stage M, as the path of atomic operations takes it.
#[derive(Ports)]
#[part_of(LaneOperation<LANES>)]
pub struct AtomicOperands<const LANES: usize> {
    /// Warp slot.
    pub slot: Signal<In, WarpSlot>,
    /// Destination register.
    pub rd: Signal<In, RegisterIndex>,
    /// Lanes that take part; at least one.
    pub mask: Signal<In, LaneMask<LANES>>,
    /// Byte address of each lane, a multiple of four.
    #[count(LANES)]
    pub address: Vec<Signal<In, Bits<32>>>,
    /// Operand of each lane.
    #[count(LANES)]
    pub data: Vec<Signal<In, Bits<32>>>,
}

/// Whether an operation is an atomic one, and which.
#[derive(Ports)]
pub struct AtomicRequest {
    /// The operation is an atomic one.
    pub valid: Signal<In, Bit>,
    /// Kind of the atomic operation: `funct5` of the instruction.
    pub operation: Signal<In, Bits<5>>,
    /// Later loads of the warp must see what others wrote before.
    pub acquire: Signal<In, Bit>,
}

/// A register of all lanes is to be read for an operation that left the pipeline, in the place of
/// that of the instruction in stage D.
#[derive(Ports)]
pub struct RegisterRead {
    /// The register is to be read; stays until `ready`.
    pub valid: Signal<Out, Bit>,
    /// The register is read at this edge, and its values are here in the next cycle.
    pub ready: Signal<In, Bit>,
    /// Warp slot.
    pub slot: Signal<Out, WarpSlot>,
    /// Number of the register.
    pub register: Signal<Out, RegisterIndex>,
}

/// A request of the load/store unit, as the coalescer takes it.
#[derive(Ports)]
#[part_of(LaneRequest<LANES>)]
#[held]
pub struct CoalescerRequest<const LANES: usize> {
    /// An operation is offered.
    pub valid: Signal<In, Bit>,
    /// The operation is accepted at this edge if it is offered; a register.
    pub ready: Signal<Out, Bit>,
    /// Warp slot.
    pub slot: Signal<In, WarpSlot>,
    /// Store (else load).
    pub store: Signal<In, Bit>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub size: Signal<In, Bits<2>>,
    /// Lanes that take part; at least one.
    pub mask: Signal<In, LaneMask<LANES>>,
    /// Byte address of each lane, a multiple of the size.
    #[count(LANES)]
    pub address: Vec<Signal<In, Bits<32>>>,
    /// Register of each lane whose lowest bytes a store writes.
    #[count(LANES)]
    pub data: Vec<Signal<In, Bits<32>>>,
}

/// A request of the load/store unit, as the load path takes it when the load starts.
#[derive(Ports)]
#[part_of(LaneRequest<LANES>)]
pub struct LoadStart<const LANES: usize> {
    /// A load starts.
    pub valid: Signal<In, Bit>,
    /// Warp slot.
    pub slot: Signal<In, WarpSlot>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub size: Signal<In, Bits<2>>,
    /// Extend by the sign.
    pub signed: Signal<In, Bit>,
    /// Destination register.
    pub rd: Signal<In, RegisterIndex>,
    /// Byte address of each lane; its place in the line counts.
    #[count(LANES)]
    pub address: Vec<Signal<In, Bits<32>>>,
}

/// A line that the coalescer offers to the load path or the store path.
#[derive(Ports)]
pub struct CoalescedLine<const LANES: usize> {
    /// Line address.
    pub line: Signal<In, LineAddress>,
    /// Lanes that the line serves.
    pub lanes: Signal<In, LaneMask<LANES>>,
    /// The line is the last one of its operation.
    pub last: Signal<In, Bit>,
}

/// The store path reads an entry of the coalescer's queue.
#[derive(Ports)]
pub struct HeldEntry<const LANES: usize> {
    /// A line is merged; its entry must not change in this cycle. A register.
    pub valid: Signal<Out, Bit>,
    /// Entry of the operation of this line.
    pub entry: Signal<Out, Bits<3>>,
    /// Of that entry: 0 = byte, 1 = half word, 2 = word.
    pub size: Signal<In, Bits<2>>,
    /// Of that entry: byte address of each lane; its place in the line counts.
    #[count(LANES)]
    pub address: Vec<Signal<In, Bits<32>>>,
    /// Of that entry: register of each lane.
    #[count(LANES)]
    pub data: Vec<Signal<In, Bits<32>>>,
}

/// The load path requests a line from the data cache.
#[derive(Ports)]
#[held]
pub struct CacheRequest {
    /// A line is requested.
    pub valid: Signal<Out, Bit>,
    /// The request is accepted at this edge.
    pub ready: Signal<In, Bit>,
    /// Line address.
    pub line: Signal<Out, LineAddress>,
}

/// The data cache answers the oldest request.
#[derive(Ports)]
#[held]
pub struct CacheAnswer {
    /// The line of the oldest request can be had.
    pub valid: Signal<Out, Bit>,
    /// The line is taken at this edge; a register, low in the first cycle after reset.
    pub ready: Signal<In, Bit>,
    /// The line taken last, byte 0 in bits 7:0.
    pub data: Signal<Out, Bits<512>>,
    /// Memory could not read it.
    pub error: Signal<Out, Bit>,
}

/// Where in their words the values of a load are; see [`LoadValue`](crate::memory::LoadValue).
#[derive(Ports)]
pub struct ValuePlace<const LANES: usize> {
    /// Byte address of each lane whose value is here.
    #[count(LANES)]
    pub address: Vec<Signal<Out, Bits<32>>>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub size: Signal<Out, Bits<2>>,
    /// Extend by the sign.
    pub signed: Signal<Out, Bit>,
}
