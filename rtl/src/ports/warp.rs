//! Between the control path and the cores: warps start, finish and commit.

use crate::types::{CoreIndex, PacketIndex, ThreadCount, WarpSlot};
use hermes_hdl::prelude::*;

/// A warp starts on a core, in a slot that is free.
#[derive(Ports)]
pub struct WarpStart {
    /// A warp starts in this cycle.
    pub valid: Signal<In, Bit>,
    /// Slot of the warp.
    pub slot: Signal<In, WarpSlot>,
    /// packetIdx of lane 0; of a warp of spawned threads the number of its first one.
    pub packet: Signal<In, PacketIndex>,
    /// Threads of the warp, 1 to the lanes of a core.
    pub count: Signal<In, ThreadCount>,
}

/// The start of a warp, for units that only keep something for its slot.
#[derive(Ports)]
#[part_of(WarpStart)]
pub struct SlotStart {
    /// A warp starts in this cycle.
    pub valid: Signal<In, Bit>,
    /// Slot of the warp.
    pub slot: Signal<In, WarpSlot>,
}

/// The warp that starts in this cycle: all cores see it, and one of them that it starts.
#[derive(Ports)]
#[part_of(WarpStart)]
#[part_of(WarpTrace)]
#[part_of(crate::ports::HopTrace)]
pub struct StartingWarp {
    /// Slot of the warp.
    pub slot: Signal<In, WarpSlot>,
    /// packetIdx of lane 0; of a warp of spawned threads the number of its first one.
    pub packet: Signal<In, PacketIndex>,
    /// Threads of the warp, 1 to the lanes of a core.
    pub count: Signal<In, ThreadCount>,
}

/// A core offers a warp that finished: its threads ended, and its stores are performed.
#[derive(Ports)]
#[held]
pub struct WarpFinish {
    /// A warp is offered; it stays until it is taken.
    pub valid: Signal<Out, Bit>,
    /// The warp is taken at this edge.
    pub ready: Signal<In, Bit>,
    /// Slot of the warp.
    pub slot: Signal<Out, WarpSlot>,
}

/// Something happens to a warp, for one cycle.
#[derive(Ports)]
pub struct WarpEvent {
    /// The event happens in this cycle.
    pub valid: Signal<Out, Bit>,
    /// Core of the warp.
    pub core: Signal<Out, CoreIndex>,
    /// Slot of the warp.
    pub slot: Signal<Out, WarpSlot>,
}

/// Something happens to a warp and its packets, for one cycle.
#[derive(Ports)]
pub struct WarpTrace {
    /// The event happens in this cycle.
    pub valid: Signal<Out, Bit>,
    /// Core of the warp.
    pub core: Signal<Out, CoreIndex>,
    /// Slot of the warp.
    pub slot: Signal<Out, WarpSlot>,
    /// packetIdx of its first packet.
    pub packet: Signal<Out, PacketIndex>,
    /// Packets of the warp.
    pub count: Signal<Out, ThreadCount>,
}

/// A warp that the warp former formed, on its way to warp issue.
#[derive(Ports)]
#[held]
pub struct FormedWarp {
    /// A warp is offered; it stays until it is taken.
    pub valid: Signal<Out, Bit>,
    /// The warp is taken at this edge; depends on `valid` with network functions alone.
    pub ready: Signal<In, Bit>,
    /// packetIdx of its first packet.
    pub packet: Signal<Out, PacketIndex>,
    /// Packets of the warp, 1 to the lanes of a core.
    pub count: Signal<Out, ThreadCount>,
}

/// The warp that stands at the output of the warp former, for a trace: two that follow each other
/// differ in their packets.
#[derive(Ports)]
pub struct FormedTrace {
    /// There is one.
    pub valid: Signal<Out, Bit>,
    /// packetIdx of its first packet.
    pub packet: Signal<Out, PacketIndex>,
    /// Packets of the warp.
    pub count: Signal<Out, ThreadCount>,
}

/// A warp is formed at this edge, and why: one of the three at most. For the load counters.
#[derive(Ports)]
pub struct FormedBy {
    /// There are packets for all of its threads.
    pub full: Signal<Out, Bit>,
    /// The warp is a partial one, whose oldest packet waited for the time-out.
    pub timeout: Signal<Out, Bit>,
    /// The warp is a partial one, formed before the time-out for an idle slot.
    pub eager: Signal<Out, Bit>,
}

/// A packet warp asks for an entry of the delay commit queue. It is not held until there is one:
/// the request ends with the array's run bit and when a spawned warp takes the cycle, and a slot
/// that becomes free may be chosen instead.
#[derive(Ports)]
pub struct CommitEntry {
    /// A warp is issued.
    pub valid: Signal<In, Bit>,
    /// An entry is free.
    pub ready: Signal<Out, Bit>,
    /// Core of the warp.
    pub core: Signal<In, CoreIndex>,
    /// Slot of the warp.
    pub slot: Signal<In, WarpSlot>,
}
