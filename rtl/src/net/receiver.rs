//! What a frame that came does.

use super::{
    cause, nak, opcode, AnswerMark, AtomicOperands, CheckedFrame, MessageRow, PayloadPlace, PeerAnswer,
    ReadJob, ReceivePair, Region, RequestCheck,
};
use hermes_hdl::prelude::*;

/// Takes the frames that were judged, in their order (InfiniBand Architecture Specification, volume
/// 1, 9.7.5). The packet sequence number comes first:
///
/// | frame | |
/// | --- | --- |
/// | ACK, NAK | given to [`Requester`](super::Requester) |
/// | response of a READ or an atomic operation | likewise; its payload is given to [`PayloadWriter`](super::PayloadWriter) if the requester says so (`judged`, `lands`), else dropped |
/// | WRITE that is expected | its payload is given to the writer, and answered by an ACK if the peer asks |
/// | READ or atomic operation that is expected | given to [`RemoteAtomics`](super::RemoteAtomics); a READ has a number for each of its responses |
/// | request that is expected and cannot be ([`RequestCheck`]), such as a SEND | answered by NAK 0x61, and its queue pair takes nothing more (`closes`) |
/// | request for memory that it may not use | answered by NAK 0x62, likewise |
/// | atomic operation that fails (`job_failed`) | answered by NAK 0x63, likewise |
/// | WRITE with an older sequence number (`repeated`) | answered by an ACK of the last one that was taken |
/// | READ or atomic operation with an older one (`repeated`) | given on as one that the peer went back to; to be answered if it is one that may be |
/// | request with a newer one (`newer`), or one without room for its answer | answered by a NAK of the expected one, once until that comes |
/// | all else | dropped |
///
/// 1. A frame is looked at for a cycle (`receives`), and judged in the next ones while a mark has
///    room. It is taken (`checked_take`) in the cycle in which its payload, its mark
///    ([`Acknowledge`](super::Acknowledge)) or its answer is, or at once if it is dropped;
///    `free_valid` is high for one cycle when its beats are free, in the order of the frames. The
///    first packet of a message waits until the earlier payloads of its queue pair are performed
///    (`pending`): so messages are performed in their order.
/// 2. `receive_pair` names the row of [`QueuePairs`](super::QueuePairs), `region_index` that of
///    [`RegionTable`](super::RegionTable); the answers come in the same cycle. A region counts as
///    it is in the cycle in which the frame is taken.
/// 3. Dropped: what [`FrameCheck`](super::FrameCheck) found (`cause`); a queue pair that is not
///    there, not up or whose peer has another address (`unknown`); a request that is not served
///    with an older number. `refused` tells these, and those that a NAK 0x61 or 0x62 answers. Each
///    is high for one cycle.
#[clocked]
#[derive(Clone, LogicBlock, Default)]
pub struct Receiver {
    /// A frame was judged.
    pub checked_valid: Signal<In, Bit>,
    /// The frame that was judged.
    pub checked: Signal<In, CheckedFrame>,
    /// The frame is taken at this edge.
    pub checked_take: Signal<Out, Bit>,
    /// The answers are looked at.
    pub receives: Signal<Out, Bit>,
    /// The row of the table.
    pub receive_pair: Signal<Out, Bits<4>>,
    /// Row of the queue pair.
    pub receive: Signal<In, ReceivePair>,
    /// Queue pairs that are up.
    pub ups: Signal<In, Bits<16>>,
    /// Queue pairs of which a payload is not performed.
    pub pending: Signal<In, Bits<16>>,
    /// The region.
    pub region_index: Signal<Out, Bits<4>>,
    /// The region of `region_index`.
    pub region: Signal<In, Region>,
    /// The packet that is expected came.
    pub received: Signal<Out, Bit>,
    /// The one that is expected now.
    pub next_expected: Signal<Out, Bits<24>>,
    /// The queue pair takes nothing more.
    pub closes: Signal<Out, Bit>,
    /// A payload is to be written.
    pub place_valid: Signal<Out, Bit>,
    /// The payload is taken at this edge; high again when its beats were read.
    pub place_ready: Signal<In, Bit>,
    /// Place of the payload in the buffer and in memory.
    pub place: Signal<Out, PayloadPlace>,
    /// Beats of the buffer are free.
    pub free_valid: Signal<Out, Bit>,
    /// Beats that are free.
    pub free_beats: Signal<Out, Bits<9>>,
    /// A frame is dropped: why, as [`cause`](super::cause) says; 0: none is.
    pub cause: Signal<Out, Bits<3>>,
    /// A frame is dropped that is for no queue pair that is up.
    pub unknown: Signal<Out, Bit>,
    /// A frame is dropped that its queue pair does not expect.
    pub refused: Signal<Out, Bit>,
    /// A WRITE came again.
    pub repeated: Signal<Out, Bit>,
    /// A WRITE came too early.
    pub newer: Signal<Out, Bit>,
    /// A queue pair goes up.
    pub opens: Signal<In, Bit>,
    /// Queue pair that goes up.
    pub opens_pair: Signal<In, Bits<4>>,
    /// A frame is to be answered, or its response told, in its turn.
    pub mark_valid: Signal<Out, Bit>,
    /// The mark is taken at this edge.
    pub mark_ready: Signal<In, Bit>,
    /// The answer, and when it is due.
    pub mark: Signal<Out, AnswerMark>,
    /// An ACK or NAK came.
    pub answer_valid: Signal<Out, Bit>,
    /// The answer is taken at this edge.
    pub answer_ready: Signal<In, Bit>,
    /// The ACK, NAK or response.
    pub answer: Signal<Out, PeerAnswer>,
    /// The response that was given last is judged.
    pub judged: Signal<In, Bit>,
    /// The payload of the judged response is to be written.
    pub lands: Signal<In, Bit>,
    /// Address of the first byte of the payload in memory.
    pub land_address: Signal<In, Bits<32>>,
    /// The queue pair of a response that was given, and is not dropped or its payload written yet.
    pub landing: Signal<Out, Bits<16>>,
    /// A READ or an atomic operation is to be performed and answered.
    pub job_valid: Signal<Out, Bit>,
    /// The operation is taken at this edge.
    pub job_ready: Signal<In, Bit>,
    /// The READ or atomic operation.
    pub job: Signal<Out, ReadJob>,
    /// Operands of an atomic operation.
    pub operands: Signal<Out, AtomicOperands>,
    /// The atomic operation failed.
    pub job_failed: Signal<In, Bit>,
    /// Queue pairs that have room for one.
    pub job_room: Signal<In, Bits<16>>,
    /// The queue pair of the frame that is looked at.
    pub held: Signal<Out, Bits<16>>,
    request_check: RequestCheck,
    messages: RamAsync<MessageRow, 4>,
    /// Queue pairs of which a message has begun.
    inside: Register<Bits<16>>,
    /// Queue pairs that sent a NAK since their expected packet came.
    told: Register<Bits<16>>,
    /// A frame was looked at.
    looked: Register<Bit>,
    row: Register<ReceivePair>,
    /// A response was given to the requester, and its payload is to be written.
    asked: Register<Bit>,
    writes_response: Register<Bit>,
    landing_address: Register<Bits<32>>,
    /// The atomic operation that is looked at failed.
    broken: Register<Bit>,
    /// The atomic operation was offered as a job: later changes of its region do not count.
    given_on: Register<Bit>,
    /// Messages that each queue pair took, and those of which none was counted yet.
    counts: RamAsync<Bits<24>, 4>,
    fresh: Register<Bits<16>>,
    /// A payload is being read: its beats.
    reading: Register<Bit>,
    beats: Register<Bits<9>>,
}

impl Logic for Receiver {
    #[hdl_gen]
    fn update(&mut self) {
        let frame = self.checked.val();
        let pair = frame.queue_pair.get_bits::<4>(0);
        self.receive_pair.next = pair;
        // One frame after the other: its beats are free when its payload was read.
        let looks = self.checked_valid.val() && !self.looked.q.val() && !self.reading.q.val();
        self.receives.next = looks;
        always!(one_frame_is_in_progress, !self.looked.q.val() || !self.reading.q.val());
        if looks {
            self.looked.d.next = true;
            self.row.d.next = self.receive.val();
        }
        let pair_row = self.row.q.val();
        let free = self.looked.q.val() && self.mark_ready.val();

        let is_good = !frame.cause.any();
        // It may go down in the meantime.
        let is_known = !frame.queue_pair.get_bits::<20>(4).any()
            && pair_row.up
            && self.ups.val().get_bit(pair.index())
            && (frame.ip == pair_row.ip);
        let is_right = is_good && is_known;
        self.messages.read_address.next = pair;
        let is_inside = self.inside.q.val().get_bit(pair.index());
        self.request_check.frame.next = frame;
        self.request_check.pair.next = pair_row;
        self.request_check.inside.next = is_inside;
        self.request_check.message.next = self.messages.read_data.val();
        connect!(self.region_index, self.request_check.region_index);
        connect!(self.region, self.request_check.region);
        let is_write = self.request_check.is_write.val();
        let is_read = self.request_check.is_read.val();
        let is_atomic = self.request_check.is_atomic.val();
        let has_answer = is_read || is_atomic;
        let is_request = is_write || has_answer || self.request_check.is_unserved.val();
        connect!(self.operands, self.request_check.operands);
        let is_atomic_response = frame.opcode == bits::<8>(opcode::RC_ATOMIC_ACKNOWLEDGE);
        let is_response = is_atomic_response
            || (frame.opcode == bits::<8>(opcode::RC_RDMA_READ_RESPONSE_FIRST))
            || (frame.opcode == bits::<8>(opcode::RC_RDMA_READ_RESPONSE_MIDDLE))
            || (frame.opcode == bits::<8>(opcode::RC_RDMA_READ_RESPONSE_LAST))
            || (frame.opcode == bits::<8>(opcode::RC_RDMA_READ_RESPONSE_ONLY));
        // A response that was given to the requester is no more judged here.
        let was_asked = self.asked.q.val();
        always!(only_the_frame_in_progress_is_given, !was_asked || self.looked.q.val());
        let is_answer =
            is_right && !was_asked && (is_response || (frame.opcode == bits::<8>(opcode::RC_ACKNOWLEDGE)));

        // By its sequence number
        let distance = frame.sequence - pair_row.expected;
        let is_new = !distance.any();
        let is_older = distance.get_bit(23);
        let was_told = self.told.q.val().get_bit(pair.index());
        self.request_check.repeated.next = is_older;
        let is_due = is_right && is_request && is_new;
        // Without room for its answer it comes too early.
        let has_room = !has_answer || self.job_room.val().get_bit(pair.index());
        let is_invalid = is_due && self.request_check.invalid.val();
        let is_forbidden =
            is_due && !is_invalid && self.request_check.forbidden.val() && !self.given_on.q.val();
        let is_taken = is_due && !is_invalid && !is_forbidden && has_room;
        let is_broken = is_due && self.broken.q.val();
        let comes_again = is_right && has_answer && is_older;
        let repeats = is_right && is_write && is_older;
        let is_newer = is_right && is_request && !is_new && !is_older;
        let is_early = is_newer || (is_due && !is_invalid && !is_forbidden && !has_room);
        let tells = is_early && !was_told;
        let ends_it = is_invalid || is_forbidden || is_broken;

        // What is given on. Messages wait for each other.
        let has_bytes = frame.bytes.any();
        let begins = self.request_check.is_first.val() && (is_taken || comes_again);
        let waits = begins && self.pending.val().get_bit(pair.index());
        let writes = is_taken && is_write && has_bytes;
        let lands_now = self.writes_response.q.val();
        let jobs = (is_taken && has_answer && !is_broken) || comes_again;
        let marks = repeats || tells || ends_it || (is_taken && is_write && !has_bytes);
        let places = free && !waits && (writes || lands_now);
        self.place_valid.next = places;
        self.place.next.first = frame.first;
        self.place.next.header = frame.header;
        self.place.next.bytes = frame.bytes;
        self.place.next.address = self.request_check.address.val();
        if lands_now {
            self.place.next.address = self.landing_address.q.val();
        }
        let given = places && self.place_ready.val();
        let marked = free && marks && !waits && !was_asked;
        let offers_job = free && jobs && !waits && !was_asked;
        self.job_valid.next = offers_job;
        let job_given = offers_job && self.job_ready.val();
        let asks = free && is_answer;
        self.answer_valid.next = asks;
        self.answer.next.pair = pair;
        self.answer.next.sequence = frame.sequence;
        self.answer.next.syndrome = frame.extension.get_bits::<8>(216);
        self.answer.next.response = is_response;
        self.answer.next.atomic = is_atomic_response;
        self.answer.next.bytes = frame.bytes;
        self.answer.next.value = frame.extension.get_bits::<64>(128);
        let is_only = frame.opcode == bits::<8>(opcode::RC_RDMA_READ_RESPONSE_ONLY);
        self.answer.next.begins = is_only || (frame.opcode == bits::<8>(opcode::RC_RDMA_READ_RESPONSE_FIRST));
        self.answer.next.ends = is_only || (frame.opcode == bits::<8>(opcode::RC_RDMA_READ_RESPONSE_LAST));
        let answered = asks && self.answer_ready.val();
        if answered && is_response {
            self.asked.d.next = true;
        }
        if was_asked && self.judged.val() {
            self.writes_response.d.next = self.lands.val();
            self.landing_address.d.next = self.land_address.val();
        }
        let fails_there = was_asked && self.judged.val() && !self.lands.val();
        if given || fails_there {
            self.asked.d.next = false;
            self.writes_response.d.next = false;
        }
        self.landing.next = bits::<16>(0);
        if was_asked {
            self.landing.next = bits::<16>(1) << pair;
        }
        let rejected = free && !writes && !marks && !jobs && !is_answer && !was_asked;
        let dropped = marked || job_given || (answered && !is_response) || fails_there || rejected;
        let leaves = given || dropped;
        self.checked_take.next = leaves;
        if leaves {
            self.looked.d.next = false;
        }
        if leaves {
            self.given_on.d.next = false;
        } else if offers_job && is_atomic {
            self.given_on.d.next = true;
        }
        if leaves {
            self.broken.d.next = false;
        } else if self.job_failed.val() {
            self.broken.d.next = true;
        }
        let proceeds = is_taken && !is_broken && ((given && !was_asked) || marked || job_given);
        self.received.next = proceeds;
        self.next_expected.next = pair_row.expected + bit_cast::<24, 23>(self.request_check.packets.val());
        self.closes.next = marked && ends_it;
        let ends = self.reading.q.val() && self.place_ready.val();
        self.held.next = bits::<16>(0);
        if self.looked.q.val() {
            self.held.next = bits::<16>(1) << pair;
        }

        // The message that it belongs to
        self.messages.write_enable.next = proceeds && is_write;
        self.messages.write_address.next = pair;
        self.messages.write_data.next = self.request_check.after.val();
        let mut begun = self.inside.q.val();
        if proceeds {
            begun = begun.replace_bit(pair.index(), !self.request_check.last.val());
        }
        self.counts.read_address.next = pair;
        let mut count = self.counts.read_data.val();
        if self.fresh.q.val().get_bit(pair.index()) {
            count = bits::<24>(0);
        }
        let completes = is_taken && self.request_check.last.val() && !is_broken;
        if completes {
            count = count + bits::<24>(1);
        }
        self.counts.write_enable.next = proceeds && completes;
        self.counts.write_address.next = pair;
        self.counts.write_data.next = count;
        let mut uncounted = self.fresh.q.val();
        if proceeds && completes {
            uncounted = uncounted.replace_bit(pair.index(), false);
        }
        if self.opens.val() {
            begun = begun.replace_bit(self.opens_pair.val().index(), false);
            uncounted = uncounted.replace_bit(self.opens_pair.val().index(), true);
        }
        self.inside.d.next = begun;
        self.fresh.d.next = uncounted;

        // A READ
        self.job.next.pair = pair;
        self.job.next.sequence = frame.sequence;
        self.job.next.packets = self.request_check.packets.val();
        self.job.next.address = self.request_check.address.val();
        self.job.next.bytes = self.request_check.bytes.val();
        self.job.next.key = frame.extension.get_bits::<32>(128);
        self.job.next.message = count;
        self.job.next.back = is_older;
        self.job.next.atomic = is_atomic;
        self.job.next.serve = !self.request_check.invalid.val() && !self.request_check.forbidden.val();

        // What is answered: the packet itself, the last one that was taken, or the one that is
        // expected.
        self.mark_valid.next = given || marked;
        self.mark.next.pair = pair;
        self.mark.next.sequence = pair_row.expected;
        self.mark.next.answers = frame.acknowledge || !is_taken || is_broken;
        self.mark.next.nak = bits::<3>(nak::NONE);
        if tells {
            self.mark.next.nak = bits::<3>(nak::PSN_SEQUENCE_ERROR);
        }
        if is_invalid {
            self.mark.next.nak = bits::<3>(nak::INVALID_REQUEST);
        }
        if is_forbidden {
            self.mark.next.nak = bits::<3>(nak::REMOTE_ACCESS_ERROR);
        }
        if is_broken {
            self.mark.next.nak = bits::<3>(nak::REMOTE_OPERATIONAL_ERROR);
        }
        self.mark.next.payload = writes || lands_now;
        self.mark.next.message = count;
        self.mark.next.got = lands_now;
        if repeats {
            self.mark.next.sequence = pair_row.expected - bits::<24>(1);
            self.mark.next.nak = bits::<3>(nak::DUPLICATE);
        }
        if lands_now {
            self.mark.next.sequence = frame.sequence;
            self.mark.next.answers = false;
        }
        let mut naks = self.told.q.val();
        if marked || proceeds {
            naks = naks.replace_bit(pair.index(), tells || (repeats && was_told));
        }
        if self.opens.val() {
            naks = naks.replace_bit(self.opens_pair.val().index(), false);
        }
        self.told.d.next = naks;

        self.free_valid.next = ends || dropped;
        self.free_beats.next = frame.beats;
        if self.reading.q.val() {
            self.free_beats.next = self.beats.q.val();
        }
        if given {
            self.reading.d.next = true;
            self.beats.d.next = frame.beats;
        } else if ends {
            self.reading.d.next = false;
        }
        self.cause.next = bits::<3>(cause::NONE);
        if rejected {
            self.cause.next = frame.cause;
        }
        self.unknown.next = rejected && is_good && !is_known;
        self.refused.next = (rejected && is_right && !is_early) || (marked && ends_it);
        self.repeated.next = (marked && repeats) || (job_given && comes_again);
        self.newer.next = (marked && tells) || (rejected && is_early);
    }
}

#[cfg(test)]
#[path = "receiver_tests.rs"]
mod tests;
