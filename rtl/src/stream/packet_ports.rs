//! The packet ports of the array.

use super::{Egress, Ingress, TaskMerge};
use crate::host::registers::packet_ports::{PortControl, PortCounters};
use crate::ports::{PacketRing, TaskCount};
use hermes_hdl::prelude::*;

/// Ingress and egress at one port of the memory system.
///
/// 1. Frames that enter go to the packet ring and are counted to the task FIFO, as [`Ingress`]
///    says; frames of committed packets leave as [`Egress`] says. Reads and writes of memory have
///    separate ports.
/// 2. The host's counts pass to the task FIFO as well. While `control.enable` is low, they are what the
///    next packet of ingress and egress follow; the host pushes none while `control.enable` is high, as its
///    packets and the frames would share slots.
/// 3. `control.enable` may be set when the host's packets are all committed, and cleared when the frames
///    have left. The registers that place ring and verdicts may change while it is low.
#[derive(Clone, Debug, LogicBlock)]
pub struct PacketPorts {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,

    // From the registers and the control path
    /// Switch and state.
    pub control: PortControl,
    /// What went through.
    pub counters: PortCounters,
    /// Cycles since reset, modulo 2^32.
    pub cycle: Signal<In, Bits<32>>,
    /// Where ring and verdicts stand.
    pub ring: PacketRing,
    /// Packets committed, modulo 2^32.
    pub committed: Signal<In, Bits<32>>,

    // Packet counts
    /// From the host; `ready` follows `task.ready`.
    pub host_task: TaskCount,
    /// To the task FIFO.
    pub task: Flipped<TaskCount>,

    // Frames
    /// A beat is offered.
    pub rx_tvalid: Signal<In, Bit>,
    /// It is taken at this edge.
    pub rx_tready: Signal<Out, Bit>,
    /// Its bytes, the first in bits 7:0.
    pub rx_tdata: Signal<In, Bits<512>>,
    /// Which of them count, the first in bit 0.
    pub rx_tkeep: Signal<In, Bits<64>>,
    /// It is the last beat of its frame.
    pub rx_tlast: Signal<In, Bit>,
    /// Bits 30:0 in the first beat: input port. Bit 31 in the last beat: the frame is damaged.
    pub rx_tuser: Signal<In, Bits<32>>,
    /// A beat is offered.
    pub tx_tvalid: Signal<Out, Bit>,
    /// It is taken at this edge.
    pub tx_tready: Signal<In, Bit>,
    /// Its bytes, the first in bits 7:0.
    pub tx_tdata: Signal<Out, Bits<512>>,
    /// Which of them count, the first in bit 0.
    pub tx_tkeep: Signal<Out, Bits<64>>,
    /// It is the last beat of its frame.
    pub tx_tlast: Signal<Out, Bit>,
    /// Bits 30:0: output port. Bit 31 in the last beat: a line of the frame could not be read.
    pub tx_tuser: Signal<Out, Bits<32>>,

    // To and from memory: one requester
    /// A read is offered.
    pub read_valid: Signal<Out, Bit>,
    /// It is accepted at this edge.
    pub read_ready: Signal<In, Bit>,
    /// Its line address.
    pub read_line: Signal<Out, Bits<26>>,
    /// Its tag; below 64.
    pub read_tag: Signal<Out, Bits<7>>,
    /// A write is offered.
    pub write_valid: Signal<Out, Bit>,
    /// It is accepted at this edge.
    pub write_ready: Signal<In, Bit>,
    /// Its line address.
    pub write_line: Signal<Out, Bits<26>>,
    /// Its bytes.
    pub write_data: Signal<Out, Bits<512>>,
    /// Bytes to write: all.
    pub write_strobe: Signal<Out, Bits<64>>,
    /// Its tag.
    pub write_tag: Signal<Out, Bits<6>>,
    /// A read is answered.
    pub response_valid: Signal<In, Bit>,
    /// Its tag.
    pub response_tag: Signal<In, Bits<7>>,
    /// The line.
    pub response_data: Signal<In, Bits<512>>,
    /// It could not be read.
    pub response_error: Signal<In, Bit>,
    /// A write is performed.
    pub written_valid: Signal<In, Bit>,
    /// Its tag.
    pub written_tag: Signal<In, Bits<6>>,

    /// To the cores: the data caches invalidate every line.
    pub drop_caches: Signal<Out, Bit>,

    ingress: Ingress,
    egress: Egress,
    tasks: TaskMerge,
    #[init(Constant::new(u64::MAX.into()))]
    all_bytes: Constant<Bits<64>>,
}

impl Logic for PacketPorts {
    #[hdl_gen]
    fn update(&mut self) {
        // Ingress
        self.ingress.enable.next = self.control.enable.val();
        self.ingress.cycle.next = self.cycle.val();
        self.ingress.ring_base.next = self.ring.ring_base.val();
        self.ingress.ring_slots_log2.next = self.ring.ring_slots_log2.val();
        self.ingress.slot_bytes_log2.next = self.ring.slot_bytes_log2.val();
        self.ingress.rx_tvalid.next = self.rx_tvalid.val();
        self.rx_tready.next = self.ingress.rx_tready.val();
        self.ingress.rx_tdata.next = self.rx_tdata.val();
        self.ingress.rx_tkeep.next = self.rx_tkeep.val();
        self.ingress.rx_tlast.next = self.rx_tlast.val();
        self.ingress.rx_tuser.next = self.rx_tuser.val();
        self.write_valid.next = self.ingress.write_valid.val();
        self.ingress.write_ready.next = self.write_ready.val();
        self.write_line.next = self.ingress.write_line.val();
        self.write_data.next = self.ingress.write_data.val();
        self.write_strobe.next = self.all_bytes.val();
        self.write_tag.next = self.ingress.write_tag.val();
        self.ingress.written_valid.next = self.written_valid.val();
        self.ingress.written_tag.next = self.written_tag.val();
        self.ingress.freed.next = self.egress.freed.val();
        self.drop_caches.next = self.ingress.drop_caches.val();

        // Packet counts
        connect!(self.host_task, self.tasks.host);
        connect!(self.ingress.task, self.tasks.ingress);
        connect!(self.task, self.tasks.task);
        self.ingress.host_pushed.next = self.host_task.valid.val() && self.tasks.host.ready.val();
        self.ingress.host_count.next = self.host_task.count.val();

        // Egress
        self.egress.enable.next = self.control.enable.val();
        self.egress.ring_base.next = self.ring.ring_base.val();
        self.egress.ring_slots_log2.next = self.ring.ring_slots_log2.val();
        self.egress.slot_bytes_log2.next = self.ring.slot_bytes_log2.val();
        self.egress.verdict_base.next = self.ring.verdict_base.val();
        self.egress.committed.next = self.committed.val();
        self.read_valid.next = self.egress.read_valid.val();
        self.egress.read_ready.next = self.read_ready.val();
        self.read_line.next = self.egress.read_line.val();
        self.read_tag.next = self.egress.read_tag.val();
        self.egress.response_valid.next = self.response_valid.val();
        self.egress.response_tag.next = self.response_tag.val();
        self.egress.response_data.next = self.response_data.val();
        self.egress.response_error.next = self.response_error.val();
        self.tx_tvalid.next = self.egress.tx_tvalid.val();
        self.egress.tx_tready.next = self.tx_tready.val();
        self.tx_tdata.next = self.egress.tx_tdata.val();
        self.tx_tkeep.next = self.egress.tx_tkeep.val();
        self.tx_tlast.next = self.egress.tx_tlast.val();
        self.tx_tuser.next = self.egress.tx_tuser.val();
        self.control.busy.next = self.ingress.busy.val() || !self.egress.idle.val();

        self.counters.frames_in.next = self.ingress.frames.val();
        self.counters.bytes_in.next = self.ingress.bytes.val();
        self.counters.dropped_in.next = self.ingress.dropped.val();
        self.counters.cut_in.next = self.ingress.cut.val();
        self.counters.frames_out.next = self.egress.frames.val();
        self.counters.bytes_out.next = self.egress.bytes.val();
        self.counters.not_sent.next = self.egress.skipped.val();
        self.counters.length_errors.next = self.egress.length_errors.val();
        self.counters.read_errors.next = self.egress.read_errors.val();
    }
}

#[cfg(test)]
#[path = "packet_ports_tests.rs"]
mod tests;
