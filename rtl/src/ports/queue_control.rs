//! Between the registers of the network interface and the command queues.

use crate::types::LineAddress;
use crate::types::QueueRow;
use hermes_hdl::prelude::*;

/// How queues are switched on and off, and shown. A switch is not held until it is done: it waits
/// while the host changes where the areas are.
#[derive(Ports)]
#[held(show_valid, show_ready, show_queue)]
pub struct QueueControl {
    /// There are rings, and queues may be switched on.
    pub enable: Signal<In, Bit>,
    /// Line address of the first queue area. It changes while `enable` is low, as does the next,
    /// and three cycles before it rises; all three stay while `some_on` is high.
    pub base: Signal<In, LineAddress>,
    /// Bytes of a queue area, as a power of two.
    pub area_log2: Signal<In, Bits<5>>,
    /// NET_EPOCH: the epoch of a queue that is switched on.
    pub epoch: Signal<In, Bits<32>>,
    /// A queue is on, or is being switched.
    pub some_on: Signal<Out, Bit>,
    /// A queue is to be switched.
    pub switch_valid: Signal<In, Bit>,
    /// The queue is switched, or this is refused, in this cycle.
    pub switch_ready: Signal<Out, Bit>,
    /// Queue that is to be switched.
    pub switch_queue: Signal<In, Bits<16>>,
    /// On; else off.
    pub switch_on: Signal<In, Bit>,
    /// The last one was refused.
    pub switch_refused: Signal<Out, Bit>,
    /// A queue is looked at.
    pub show_valid: Signal<In, Bit>,
    /// `shown` is it from the next cycle on.
    pub show_ready: Signal<Out, Bit>,
    /// Queue that is looked at.
    pub show_queue: Signal<In, Bits<8>>,
    /// The one that was looked at last.
    pub shown: Signal<Out, QueueRow>,
}
