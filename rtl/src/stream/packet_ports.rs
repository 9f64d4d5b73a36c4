//! The packet ports of the array.

use super::{Egress, Ingress, TaskMerge};
use crate::host::registers::packet_ports::{PortControl, PortCounters, PortDrops};
use crate::host::{PacketRing, TaskCount};
use crate::ports::{LineRead, LineWrite, StreamIn, StreamOut};
use hermes_hdl::prelude::*;

/// Ingress and egress at one port of the memory system.
///
/// 1. Frames that enter go to the packet ring and are counted to the task FIFO, as [`Ingress`]
///    says; frames of committed packets leave as [`Egress`] says. Reads and writes of memory have
///    separate ports.
/// 2. The host's counts pass to the task FIFO as well. While `control.enable` is low, they are what
///    the next packet of ingress and egress follow; the host pushes none while `control.enable` is
///    high, as its packets and the frames would share slots.
/// 3. `control.enable` may be set when the host's packets are all committed, and cleared when the
///    frames have left. The registers that place ring and verdicts may change while it is low.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(drops: bool, loads: bool)]
pub struct PacketPorts {
    // From the registers and the control path
    /// Switch and state.
    pub control: PortControl,
    /// Frames that find no slot: only of ports that can drop them.
    #[there(drops)]
    pub drops: Part<PortDrops>,
    /// A frame was dropped: the cycle after the one in which its last beat was taken.
    #[there(drops)]
    pub drop_ended: Part<Signal<Out, Bit>>,
    /// To the registers.
    pub counters: PortCounters,
    /// Cycles since reset, modulo 2^32.
    pub cycle: Signal<In, Bits<32>>,
    /// From the registers.
    pub ring: PacketRing,
    /// Packets committed, modulo 2^32.
    pub committed: Signal<In, Bits<32>>,

    // Packet counts
    /// From the host; `ready` follows `task.ready`.
    pub host_task: TaskCount,
    /// To the task FIFO.
    pub task: Flipped<TaskCount>,

    // Frames
    /// Frames that enter.
    pub rx: StreamIn,
    /// Frames of committed packets; damaged if a line of the frame could not be read.
    pub tx: StreamOut,

    // To and from memory: one requester
    /// Reads of egress, with tags below 64.
    pub read: LineRead,
    /// Writes of ingress.
    pub write: LineWrite,

    /// To the cores: the data caches invalidate every line.
    pub drop_caches: Signal<Out, Bit>,

    /// To the load counters (only with them): slots that packets occupy.
    #[there(loads)]
    pub occupied: Part<Signal<Out, Bits<32>>>,

    #[init(Ingress::new(drops, loads))]
    ingress: Ingress,
    egress: Egress,
    tasks: TaskMerge,
}

impl PacketPorts {
    /// The packet ports; with `drops` they can drop frames that find no slot, with `loads` they
    /// have ports for load counters.
    pub fn new(drops: bool, loads: bool) -> Self {
        Self::wired(drops, loads)
    }
}

impl Logic for PacketPorts {
    #[hdl_gen]
    fn update(&mut self) {
        // Ingress
        self.ingress.enable.next = self.control.enable.val();
        self.ingress.cycle.next = self.cycle.val();
        connect!(self.ring, self.ingress.ring);
        connect!(self.rx, self.ingress.rx);
        connect!(self.write, self.ingress.write);
        self.ingress.freed.next = self.egress.freed.val();
        if self.drops.is_there() {
            self.ingress.drop.next = self.drops.drop.val();
            self.drop_ended.next = self.ingress.drop_ended.val();
            self.drops.dropped_full.next = self.ingress.dropped_full.val();
        }
        self.drop_caches.next = self.ingress.drop_caches.val();

        // Packet counts
        connect!(self.host_task, self.tasks.host);
        connect!(self.ingress.task, self.tasks.ingress);
        connect!(self.task, self.tasks.task);
        self.ingress.host_pushed.next = self.host_task.valid.val() && self.tasks.host.ready.val();
        self.ingress.host_count.next = self.host_task.count.val();

        // Egress
        self.egress.enable.next = self.control.enable.val();
        connect!(self.ring, self.egress.ring);
        self.egress.committed.next = self.committed.val();
        connect!(self.read, self.egress.read);
        connect!(self.tx, self.egress.tx);
        self.control.busy.next = self.ingress.busy.val() || !self.egress.idle.val();

        connect!(self.counters, self.ingress.counters);
        connect!(self.counters, self.egress.counters);
        if self.occupied.is_there() {
            self.occupied.next = self.ingress.occupied.val();
        }
    }
}

#[cfg(test)]
#[path = "packet_ports_tests.rs"]
mod tests;
