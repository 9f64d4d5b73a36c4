//! The answers of a bank that wait for their requesters.

use crate::blocks::QueuePointers;
use crate::ports::{BankResponse, BankWritten};
use hermes_hdl::prelude::*;

/// Two queues of four: lines that were read, and writes that were done.
///
/// What `push_response` or `push_written` brings is in its queue from the next cycle on; they may
/// be high only if `response_full` or `written_full` is not.
#[clocked("the queues are empty")]
#[derive(Clone, Default, LogicBlock)]
pub struct L2Answers {
    /// From the bank: a line was read.
    pub push_response: Signal<In, Bit>,
    /// There is no room for another.
    pub response_full: Signal<Out, Bit>,
    /// Requester of the read.
    pub requester: Signal<In, Bits<5>>,
    /// Tag of the read.
    pub tag: Signal<In, Bits<7>>,
    /// The line.
    pub data: Signal<In, Bits<512>>,
    /// Memory could not read it.
    pub error: Signal<In, Bit>,
    /// The line came from memory.
    pub missed: Signal<In, Bit>,
    /// From the bank: a write was done.
    pub push_written: Signal<In, Bit>,
    /// There is no room for another.
    pub written_full: Signal<Out, Bit>,
    /// Requester of the write.
    pub writer: Signal<In, Bits<5>>,
    /// Tag of the write.
    pub write_tag: Signal<In, Bits<6>>,

    /// To the response crossbar: answers of reads.
    pub response: BankResponse,
    /// To the response crossbar: answers of writes.
    pub written: BankWritten,

    responses: QueuePointers<2>,
    requesters: RamAsync<Bits<5>, 2>,
    tags: RamAsync<Bits<7>, 2>,
    lines: RamAsync<Bits<512>, 2>,
    errors: RamAsync<Bit, 2>,
    misses: RamAsync<Bit, 2>,
    writes: QueuePointers<2>,
    writers: RamAsync<Bits<5>, 2>,
    write_tags: RamAsync<Bits<6>, 2>,
}

impl Logic for L2Answers {
    #[hdl_gen]
    fn update(&mut self) {
        self.response_full.next = self.responses.full.val();
        self.responses.push.next = self.push_response.val();
        self.responses.pop.next = !self.responses.empty.val() && self.response.ready.val();
        self.requesters.write_enable.next = self.push_response.val();
        self.requesters.write_address.next = self.responses.write_address.val();
        self.requesters.write_data.next = self.requester.val();
        self.requesters.read_address.next = self.responses.read_address.val();
        self.tags.write_enable.next = self.push_response.val();
        self.tags.write_address.next = self.responses.write_address.val();
        self.tags.write_data.next = self.tag.val();
        self.tags.read_address.next = self.responses.read_address.val();
        self.lines.write_enable.next = self.push_response.val();
        self.lines.write_address.next = self.responses.write_address.val();
        self.lines.write_data.next = self.data.val();
        self.lines.read_address.next = self.responses.read_address.val();
        self.errors.write_enable.next = self.push_response.val();
        self.errors.write_address.next = self.responses.write_address.val();
        self.errors.write_data.next = self.error.val();
        self.errors.read_address.next = self.responses.read_address.val();
        self.misses.write_enable.next = self.push_response.val();
        self.misses.write_address.next = self.responses.write_address.val();
        self.misses.write_data.next = self.missed.val();
        self.misses.read_address.next = self.responses.read_address.val();
        self.response.valid.next = !self.responses.empty.val();
        self.response.requester.next = self.requesters.read_data.val();
        self.response.tag.next = self.tags.read_data.val();
        self.response.data.next = self.lines.read_data.val();
        self.response.error.next = self.errors.read_data.val();
        self.response.missed.next = self.misses.read_data.val();

        self.written_full.next = self.writes.full.val();
        self.writes.push.next = self.push_written.val();
        self.writes.pop.next = !self.writes.empty.val() && self.written.ready.val();
        self.writers.write_enable.next = self.push_written.val();
        self.writers.write_address.next = self.writes.write_address.val();
        self.writers.write_data.next = self.writer.val();
        self.writers.read_address.next = self.writes.read_address.val();
        self.write_tags.write_enable.next = self.push_written.val();
        self.write_tags.write_address.next = self.writes.write_address.val();
        self.write_tags.write_data.next = self.write_tag.val();
        self.write_tags.read_address.next = self.writes.read_address.val();
        self.written.valid.next = !self.writes.empty.val();
        self.written.requester.next = self.writers.read_data.val();
        self.written.tag.next = self.write_tags.read_data.val();
    }
}
