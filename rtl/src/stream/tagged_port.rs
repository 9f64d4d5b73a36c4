//! Tags for a memory that answers in order.

use crate::memory::QueuePointers;
use crate::prelude::*;

/// Keeps the tags of requests to a memory whose answers come in the order of the requests, reads and writes apart: at most 64 each.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct TaggedPort {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// A read is offered.
    pub read_valid: Signal<In, Bit>,
    /// It is accepted at this edge.
    pub read_ready: Signal<Out, Bit>,
    /// Its tag.
    pub read_tag: Signal<In, Bits<7>>,
    /// A write is offered.
    pub write_valid: Signal<In, Bit>,
    /// It is accepted at this edge.
    pub write_ready: Signal<Out, Bit>,
    /// Its tag.
    pub write_tag: Signal<In, Bits<6>>,
    /// To memory: a read.
    pub memory_read_valid: Signal<Out, Bit>,
    /// From memory: it is accepted.
    pub memory_read_ready: Signal<In, Bit>,
    /// To memory: a write.
    pub memory_write_valid: Signal<Out, Bit>,
    /// From memory: it is accepted.
    pub memory_write_ready: Signal<In, Bit>,
    /// From memory: the oldest read is answered.
    pub memory_response: Signal<In, Bit>,
    /// From memory: the oldest write is performed.
    pub memory_written: Signal<In, Bit>,
    /// Tag of the oldest read.
    pub response_tag: Signal<Out, Bits<7>>,
    /// Tag of the oldest write.
    pub written_tag: Signal<Out, Bits<6>>,

    reads: QueuePointers<6>,
    read_tags: RamAsync<Bits<7>, 6>,
    writes: QueuePointers<6>,
    write_tags: RamAsync<Bits<6>, 6>,
    read: Signal<Local, Bit>,
    write: Signal<Local, Bit>,
}

impl Logic for TaggedPort {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, reads, writes);
        self.read_tags.clock.next = self.clock.val();
        self.write_tags.clock.next = self.clock.val();
        self.memory_read_valid.next = self.read_valid.val() && !self.reads.full.val();
        self.read_ready.next = self.memory_read_ready.val() && !self.reads.full.val();
        self.read.next = self.read_valid.val() && self.memory_read_ready.val() && !self.reads.full.val();
        self.reads.push.next = self.read.val();
        self.reads.pop.next = self.memory_response.val() && !self.reads.empty.val();
        self.read_tags.write_enable.next = self.read.val();
        self.read_tags.write_address.next = self.reads.write_address.val();
        self.read_tags.write_data.next = self.read_tag.val();
        self.read_tags.read_address.next = self.reads.read_address.val();
        self.response_tag.next = self.read_tags.read_data.val();
        self.memory_write_valid.next = self.write_valid.val() && !self.writes.full.val();
        self.write_ready.next = self.memory_write_ready.val() && !self.writes.full.val();
        self.write.next = self.write_valid.val() && self.memory_write_ready.val() && !self.writes.full.val();
        self.writes.push.next = self.write.val();
        self.writes.pop.next = self.memory_written.val() && !self.writes.empty.val();
        self.write_tags.write_enable.next = self.write.val();
        self.write_tags.write_address.next = self.writes.write_address.val();
        self.write_tags.write_data.next = self.write_tag.val();
        self.write_tags.read_address.next = self.writes.read_address.val();
        self.written_tag.next = self.write_tags.read_data.val();
    }
}
