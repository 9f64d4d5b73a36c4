//! Ports of a bank of the L2.

use crate::types::{LineAddress, WarpSlot};
use hermes_hdl::prelude::*;

/// A request to a bank, as the request crossbar or the atomic unit makes it. It is not held until
/// it is taken: the atomic unit puts a request of its own before one that waits.
#[derive(Ports)]
pub struct BankRequest {
    /// A request is here.
    pub valid: Signal<Out, Bit>,
    /// The request is taken at this edge.
    pub ready: Signal<In, Bit>,
    /// The request is a write.
    pub write: Signal<Out, Bit>,
    /// Requester of the read or write.
    pub requester: Signal<Out, Bits<5>>,
    /// Tag of a read; bit 6 marks a fetch of instructions.
    pub tag: Signal<Out, Bits<7>>,
    /// Tag of a write.
    pub write_tag: Signal<Out, Bits<6>>,
    /// Line address.
    pub line: Signal<Out, LineAddress>,
    /// Line to write, byte 0 in bits 7:0.
    pub data: Signal<Out, Bits<512>>,
    /// Bytes to write.
    pub strobe: Signal<Out, Bits<64>>,
}

/// A write to a bank, for a unit that observes it.
#[derive(Ports)]
#[part_of(BankRequest)]
pub struct ObservedWrite {
    /// Requester of the write.
    pub requester: Signal<Out, Bits<5>>,
    /// Tag of the write.
    pub write_tag: Signal<Out, Bits<6>>,
    /// Line address of the write.
    pub line: Signal<Out, LineAddress>,
    /// Bytes that it writes.
    pub strobe: Signal<Out, Bits<64>>,
}

/// A read whose line is fetched.
#[derive(Ports)]
#[part_of(BankRequest)]
pub struct MissedRead {
    /// Requester that waits for the line.
    pub requester: Signal<Out, Bits<5>>,
    /// Tag of the read; bit 6 without bit 5 marks a fetch of instructions.
    pub tag: Signal<Out, Bits<7>>,
    /// Line address.
    pub line: Signal<Out, LineAddress>,
}

/// What is in a place of a bank, for the choice of a victim.
#[derive(Ports)]
pub struct PlaceState {
    /// A line is here or is being fetched.
    pub present: Signal<Out, Bit>,
    /// The line is being fetched.
    pub fetching: Signal<Out, Bit>,
    /// Bytes of it were written.
    pub changed: Signal<Out, Bit>,
    /// A line that was here is being written back.
    pub leaving: Signal<Out, Bit>,
}

/// The atomic operation that a bank performs, for its reservations.
#[derive(Ports)]
pub struct HeldOperation {
    /// Requester of the operation.
    pub requester: Signal<In, Bits<5>>,
    /// Lane (4:0) and warp slot (9:5) of the operation.
    pub thread: Signal<In, Bits<10>>,
    /// Line address of the operation.
    pub line: Signal<In, LineAddress>,
}

/// A thread executed `lr.w` or `sc.w` at a bank in the cycle before; the others end its
/// reservation.
#[derive(Ports)]
pub struct ReservationEvent {
    /// A thread did so in the cycle before.
    pub valid: Signal<Out, Bit>,
    /// Requester of the thread.
    pub requester: Signal<Out, Bits<5>>,
    /// Lane (4:0) and warp slot (9:5) of the thread.
    pub thread: Signal<Out, Bits<10>>,
}

/// The reservations of a warp, or of a hart, end.
#[derive(Ports)]
pub struct ReservationEnd {
    /// The reservations end.
    pub valid: Signal<Out, Bit>,
    /// The warp or hart left its loop of `lr.w` and `sc.w`, and is owed none either; else its
    /// `sc.w` is complete.
    pub left: Signal<Out, Bit>,
    /// Slot of the warp; of the command processor, the hart.
    pub slot: Signal<Out, WarpSlot>,
}

/// The answer of a read, as a bank gives it.
#[derive(Ports)]
#[held]
pub struct BankResponse {
    /// An answer is here.
    pub valid: Signal<Out, Bit>,
    /// The answer is taken at this edge.
    pub ready: Signal<In, Bit>,
    /// Requester of the read.
    pub requester: Signal<Out, Bits<5>>,
    /// Tag of the read.
    pub tag: Signal<Out, Bits<7>>,
    /// The line.
    pub data: Signal<Out, Bits<512>>,
    /// Memory could not read it.
    pub error: Signal<Out, Bit>,
    /// The line came from memory.
    pub missed: Signal<Out, Bit>,
}

/// The answer of a write, as a bank gives it. It is not held until it is taken: the atomic unit
/// puts the answer of an operation before one that waits.
#[derive(Ports)]
pub struct BankWritten {
    /// An answer is here.
    pub valid: Signal<Out, Bit>,
    /// The answer is taken at this edge.
    pub ready: Signal<In, Bit>,
    /// Requester of the write.
    pub requester: Signal<Out, Bits<5>>,
    /// Tag of the write.
    pub tag: Signal<Out, Bits<6>>,
}

/// A fetch, from a bank to its channel.
#[derive(Ports)]
#[held]
pub struct BankFetch {
    /// A line is to be fetched.
    pub valid: Signal<Out, Bit>,
    /// Accepted at this edge.
    pub ready: Signal<In, Bit>,
    /// Line address of the fetch.
    pub line: Signal<Out, LineAddress>,
    /// Number of the fetch.
    pub number: Signal<Out, Bits<6>>,
    /// The line holds instructions.
    pub code: Signal<Out, Bit>,
}

/// A fetched line, from the channel to the bank.
#[derive(Ports)]
#[held]
pub struct BankFill {
    /// The line is here.
    pub valid: Signal<In, Bit>,
    /// The line is taken at this edge.
    pub ready: Signal<Out, Bit>,
    /// Number of the fetch.
    pub number: Signal<In, Bits<6>>,
    /// The line.
    pub data: Signal<In, Bits<512>>,
    /// Memory could not read it.
    pub error: Signal<In, Bit>,
}

/// A write-back, from a bank to its channel.
#[derive(Ports)]
#[held]
pub struct BankStore {
    /// A line is to be written back.
    pub valid: Signal<Out, Bit>,
    /// Accepted at this edge.
    pub ready: Signal<In, Bit>,
    /// Line address of the write-back.
    pub line: Signal<Out, LineAddress>,
    /// The line.
    pub data: Signal<Out, Bits<512>>,
    /// Bytes to write.
    pub strobe: Signal<Out, Bits<64>>,
    /// Number of the write-back.
    pub number: Signal<Out, Bits<6>>,
}

/// The end of a write-back, from the channel to the bank. It cannot wait.
#[derive(Ports)]
pub struct BankStored {
    /// A write-back is done.
    pub valid: Signal<In, Bit>,
    /// Number of the write-back.
    pub number: Signal<In, Bits<6>>,
}
