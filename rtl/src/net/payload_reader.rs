//! Payloads from memory to the frames that are sent.

use super::{ByteRotate, PairCounts};
use crate::blocks::QueuePointers;
use crate::blocks::SyncFifo;
use crate::ports::LineRead;
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Where the payload of a packet stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct PayloadSource {
    /// In memory, `data` bits 31:0 being the address of its first byte, and bits 55:32 the message
    /// sequence number if it is of a response; else it is `data`, with zeros behind its last byte.
    pub memory: Bit,
    /// Bytes or address, as `memory` says; the first byte in bits 7:0.
    pub data: Bits<128>,
    /// Bytes of the payload, 1 to 4,096; at most 16 if it is not in memory.
    pub bytes: Bits<13>,
    /// Queue pair of the packet.
    pub pair: Bits<4>,
    /// Packet sequence number of the packet.
    pub sequence: Bits<24>,
    /// Place of its command.
    pub place: Bits<12>,
    /// The frame is a response to a peer.
    pub response: Bit,
}

/// A packet whose payload could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct PayloadFault {
    /// Index of the queue pair.
    pub pair: Bits<4>,
    /// Packet sequence number of the packet.
    pub sequence: Bits<24>,
    /// Place of its command.
    pub place: Bits<12>,
    /// The frame is a response to a peer.
    pub response: Bit,
}

/// Reads the payloads of packets from memory, and gives them in lines of 64 bytes that begin with
/// their first byte; zeros follow the last.
///
/// 1. `source` is taken with `source_valid` and `source_ready`. Payloads come in their order: the
///    reads of those that follow begin while the first is given, up to 32 lines ahead.
/// 2. A line is offered with `line_valid`, and taken with `line_ready`. At most one comes a cycle;
///    those of a payload without pause if memory answers in time, and a payload begins four cycles
///    after the one before ended.
/// 3. If a line could not be read, `line_error` is high with the last line of the payload at the
///    latest. `fault_valid` follows with `fault` and `fault_message`, until `fault_ready`; no other
///    payload begins before.
/// 4. `pairs` are those of which a command's payload in memory waits, is read, or has a fault that
///    was not taken; `responding` those of which a response's is.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct PayloadReader {
    /// A payload is wanted.
    pub source_valid: Signal<In, Bit>,
    /// The payload is taken at this edge.
    pub source_ready: Signal<Out, Bit>,
    /// Place of the payload.
    pub source: Signal<In, PayloadSource>,
    /// To memory.
    pub read: LineRead,
    /// A line is offered.
    pub line_valid: Signal<Out, Bit>,
    /// The line is taken at this edge.
    pub line_ready: Signal<In, Bit>,
    /// The line, its first byte in bits 7:0.
    pub line_data: Signal<Out, Bits<512>>,
    /// A line of its payload could not be read.
    pub line_error: Signal<Out, Bit>,
    /// A payload could not be read.
    pub fault_valid: Signal<Out, Bit>,
    /// The fault is noted at this edge.
    pub fault_ready: Signal<In, Bit>,
    /// Packet whose payload could not be read.
    pub fault: Signal<Out, PayloadFault>,
    /// The message sequence number of its response.
    pub fault_message: Signal<Out, Bits<24>>,
    /// Queue pairs that have payloads here.
    pub pairs: Signal<Out, Bits<16>>,
    /// Queue pairs that have payloads of responses here.
    pub responding: Signal<Out, Bits<16>>,
    counts: PairCounts,
    responses: PairCounts,
    /// Payloads whose reads have begun.
    sources: SyncFifo<PayloadSource, 2, 3>,
    // The reads of a payload
    left: Register<Bits<7>>,
    line: Register<LineAddress>,
    window: QueuePointers<5>,
    lines: RamSync<Bits<512>, 5>,
    arrived: Register<Bits<32>>,
    errors: Register<Bits<32>>,
    // The payload that is given: its lines that were taken from memory's, and given
    fetched: Register<Bits<7>>,
    given: Register<Bits<7>>,
    bad: Register<Bit>,
    rotate: ByteRotate,
    // A line from memory, in the rotation, rotated
    valid_1: Register<Bit>,
    valid_2: Register<Bit>,
    valid_3: Register<Bit>,
    first_1: Register<Bit>,
    first_2: Register<Bit>,
    first_3: Register<Bit>,
    last_1: Register<Bit>,
    last_2: Register<Bit>,
    last_3: Register<Bit>,
    /// The bytes of the line before.
    before: Register<Bits<512>>,
    /// The last line is still to be given: of the bytes before alone.
    tail: Register<Bit>,
    failed: Register<Bit>,
    failed_packet: Register<PayloadFault>,
    failed_message: Register<Bits<24>>,
    #[init(Constant::new(u64::MAX.into()))]
    all: Constant<Bits<64>>,
    #[init(Pack::new(64))]
    merged: Pack<Bits<8>, 8, 512>,
}

impl Logic for PayloadReader {
    #[hdl_gen]
    fn update(&mut self) {
        // Reads: one payload after the other, a line a cycle
        let issues = self.left.q.val().any();
        self.read.valid.next = issues && !self.window.full.val();
        self.read.line.next = self.line.q.val();
        self.read.tag.next = bit_cast::<7, 5>(self.window.write_address.val());
        let issued = issues && !self.window.full.val() && self.read.ready.val();
        self.window.push.next = issued;
        let wanted = self.source.val();
        let wanted_end = bit_cast::<13, 6>(wanted.data.get_bits::<6>(0)) + wanted.bytes + bits::<13>(63);
        let takes = self.source_valid.val() && !issues && self.sources.push_ready.val();
        self.source_ready.next = !issues && self.sources.push_ready.val();
        self.sources.push_valid.next = self.source_valid.val() && !issues;
        self.sources.push_data.next = wanted;
        if issued {
            self.left.d.next = self.left.q.val() - bits::<7>(1);
            self.line.d.next = self.line.q.val() + bits::<26>(1);
        }
        if takes && wanted.memory {
            self.left.d.next = wanted_end.get_bits::<7>(6);
            self.line.d.next = wanted.data.get_bits::<26>(6);
        }

        always!(payloads_have_room, !takes || self.sources.push_ready.val());
        always!(reads_that_are_left_do_not_wrap, !issued || self.left.q.val().any());

        // Lines that came
        let came = self.read.response.valid.val();
        let came_tag = self.read.response.tag.val().get_bits::<5>(0);
        self.lines.write_enable.next = came;
        self.lines.write_address.next = came_tag;
        self.lines.write_data.next = self.read.response.data.val();
        let mut marks = self.arrived.q.val();
        let mut broken = self.errors.q.val();
        if issued {
            marks = marks.replace_bit(self.window.write_address.val().index(), false);
        }
        if came {
            marks = marks.replace_bit(came_tag.index(), true);
            broken = broken.replace_bit(came_tag.index(), self.read.response.error.val());
        }
        self.arrived.d.next = marks;
        self.errors.d.next = broken;

        // The payload that is given
        let oldest_source = self.sources.pop_data.val();
        let begins = self.sources.pop_valid.val() && !self.failed.q.val();
        let offset = oldest_source.data.get_bits::<6>(0);
        let end = bit_cast::<13, 6>(offset) + oldest_source.bytes + bits::<13>(63);
        let lines_in = end.get_bits::<7>(6);
        let rounded = oldest_source.bytes + bits::<13>(63);
        let lines_out = rounded.get_bits::<7>(6);
        let is_single = lines_in == bits::<7>(1);

        // What is offered
        let is_direct = !offset.any() || is_single;
        let emits = self.valid_3.q.val() && (is_direct || !self.first_3.q.val());
        let is_inline = begins && !oldest_source.memory;
        let offers = emits || self.tail.q.val() || is_inline;
        let at_end = self.given.q.val() + bits::<7>(1) == lines_out;
        let holds = offers && !self.line_ready.val();
        let given_now = offers && self.line_ready.val();
        let ends = given_now && at_end;

        // From memory's lines to the rotation
        let next_tag = self.window.read_address.val();
        let reads = begins
            && oldest_source.memory
            && (self.fetched.q.val() != lines_in)
            && !self.window.empty.val()
            && self.arrived.q.val().get_bit(next_tag.index())
            && !holds;
        self.window.pop.next = reads;
        self.lines.read_enable.next = reads;
        self.lines.read_address.next = next_tag;
        let is_bad = self.bad.q.val() || (reads && self.errors.q.val().get_bit(next_tag.index()));
        self.bad.d.next = is_bad && !ends;
        if reads {
            self.fetched.d.next = self.fetched.q.val() + bits::<7>(1);
        }
        if !holds {
            self.valid_1.d.next = reads;
            self.first_1.d.next = !self.fetched.q.val().any();
            self.last_1.d.next = self.fetched.q.val() + bits::<7>(1) == lines_in;
            self.valid_2.d.next = self.valid_1.q.val();
            self.first_2.d.next = self.first_1.q.val();
            self.last_2.d.next = self.last_1.q.val();
            self.valid_3.d.next = self.valid_2.q.val();
            self.first_3.d.next = self.first_2.q.val();
            self.last_3.d.next = self.last_2.q.val();
        }
        self.rotate.hold.next = holds;
        self.rotate.data.next = self.lines.read_data.val();
        self.rotate.places.next = bits::<6>(0) - offset;
        if self.valid_3.q.val() && !holds {
            self.before.d.next = self.rotate.rotated.val();
            // Bytes of the last line may make one more.
            self.tail.d.next = self.last_3.q.val() && !is_direct && (lines_out == lines_in);
        }
        if self.tail.q.val() && given_now {
            self.tail.d.next = false;
        }

        // The line: bytes of the line before, then of this one
        let low = self.all.val() >> offset;
        let mut kept = self.all.val();
        if at_end && oldest_source.bytes.get_bits::<6>(0).any() {
            kept = !(self.all.val() << oldest_source.bytes.get_bits::<6>(0));
        }
        for i in 0..64 {
            self.merged.x[i].next = self.rotate.rotated.val().get_bits::<8>(8 * i);
            if self.tail.q.val() || (!is_direct && low.get_bit(i)) {
                self.merged.x[i].next = self.before.q.val().get_bits::<8>(8 * i);
            }
            if !kept.get_bit(i) {
                self.merged.x[i].next = bits::<8>(0);
            }
        }
        self.line_valid.next = offers;
        self.line_data.next = self.merged.y.val();
        if is_inline {
            self.line_data.next = bit_cast::<512, 128>(oldest_source.data);
        }
        self.line_error.next = self.bad.q.val();
        if given_now {
            self.given.d.next = self.given.q.val() + bits::<7>(1);
        }
        self.sources.pop_ready.next = ends;
        if ends {
            self.given.d.next = bits::<7>(0);
            self.fetched.d.next = bits::<7>(0);
        }

        // Faults
        let fails = ends && self.bad.q.val();
        if fails {
            self.failed.d.next = true;
        } else if self.fault_ready.val() {
            self.failed.d.next = false;
        }
        if fails {
            self.failed_packet.d.next.pair = oldest_source.pair;
            self.failed_packet.d.next.sequence = oldest_source.sequence;
            self.failed_packet.d.next.place = oldest_source.place;
            self.failed_packet.d.next.response = oldest_source.response;
            self.failed_message.d.next = oldest_source.data.get_bits::<24>(32);
        }
        self.fault_valid.next = self.failed.q.val();
        self.fault.next = self.failed_packet.q.val();
        self.fault_message.next = self.failed_message.q.val();
        let noted = self.failed.q.val() && self.fault_ready.val();
        let leaves = noted || (ends && oldest_source.memory && !fails);
        let mut leaving_pair = oldest_source.pair;
        let mut is_response = oldest_source.response;
        if noted {
            leaving_pair = self.failed_packet.q.val().pair;
            is_response = self.failed_packet.q.val().response;
        }
        self.counts.add.next = takes && wanted.memory && !wanted.response;
        self.counts.add_pair.next = wanted.pair;
        self.counts.remove.next = leaves && !is_response;
        self.counts.remove_pair.next = leaving_pair;
        self.responses.add.next = takes && wanted.memory && wanted.response;
        self.responses.add_pair.next = wanted.pair;
        self.responses.remove.next = leaves && is_response;
        self.responses.remove_pair.next = leaving_pair;
        self.pairs.next = self.counts.any.val();
        self.responding.next = self.responses.any.val();
    }
}

#[cfg(test)]
#[path = "payload_reader_tests.rs"]
mod tests;
