//! Between a bank of the L2 and the command queues.

use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// The writes that a bank of the L2 accepts, as [`QueueWatch`](crate::queues::QueueWatch) sees
/// them: those that write byte 1 of a line, whoever writes.
#[derive(Ports)]
pub struct WriteTap {
    /// Such a write is accepted at this edge.
    pub valid: Signal<In, Bit>,
    /// Line address of the write.
    pub line: Signal<In, LineAddress>,
    /// Bit 8 of the line, as it is written.
    pub phase: Signal<In, Bit>,
    /// No such write may be accepted in this cycle.
    pub hold: Signal<Out, Bit>,
}
