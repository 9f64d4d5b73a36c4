//! What answers READs and atomic operations.

use super::{
    access, header_words, nak, opcode, syndrome, AnswerMark, FrameHead, PayloadFault, PayloadSource, Region,
    RegionCheck, SendPair,
};
use crate::blocks::RoundRobin;
use hermes_hdl::prelude::*;

/// READs of a queue pair that wait.
const RING: u64 = 16;

/// A READ of a peer, or an atomic operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadJob {
    /// Our queue pair.
    pub pair: Bits<4>,
    /// Packet sequence number of its first response.
    pub sequence: Bits<24>,
    /// Number of responses.
    pub packets: Bits<23>,
    /// Address of its first byte.
    pub address: Bits<32>,
    /// Bytes of the READ.
    pub bytes: Bits<32>,
    /// Key of its region.
    pub key: Bits<32>,
    /// Message sequence number of the responses.
    pub message: Bits<24>,
    /// A READ that came before: the peer went back to it.
    pub back: Bit,
    /// The READ is answered; else the peer only went back.
    pub serve: Bit,
    /// An atomic operation: its result stands in `bytes`, upper half, and `address`.
    pub atomic: Bit,
}

/// Where a queue pair's READs are: a ring of sixteen.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct JobRow {
    /// The oldest.
    pub head: Bits<4>,
    /// READs in the ring.
    pub count: Bits<5>,
    /// Responses of the oldest that were sent.
    pub sent: Bits<23>,
}

/// What [`Responder`] does in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum ResponderStep {
    /// Chooses a queue pair.
    Choose,
    /// Reads its row.
    Read,
    /// Looks at a READ.
    Look,
    /// Takes a READ, sends a response, or refuses.
    Act,
}

/// Keeps up to sixteen READs of each queue pair, and sends their responses in order (InfiniBand
/// Architecture Specification, volume 1, 9.7.5.1.5 and 9.7.5.2.8). Atomic operations that are
/// performed are READs of one response, which has their result.
///
/// 1. A READ is taken with `job_valid` and `job_ready`. With `back` the READs before it give back
///    what they still have to send from its number on: the peer wants it again. There is room in
///    the queue pairs of `room`; a READ with `back` that finds none is dropped.
/// 2. The queue pairs of `pairs` have READs, and take turns by packet. A response is offered with
///    `head_valid`, its headers and, if it has a payload (`source_valid`), where that stands, until
///    `head_taken`; with another READ that comes it is offered again later. The region of its
///    payload is checked in that cycle.
/// 3. If its region may not be read any more, or `fault` tells that a payload could not be read,
///    all READs of the queue pair are dropped, and a NAK goes with `refuse_valid`, `refuse` and
///    `refuse_ready`; `closes` with `closes_pair` tells it in the last cycle of these.
/// 4. READs of a queue pair that is neither up nor closing (`ups`) are dropped. One may be
///    withdrawn before it is taken.
/// 5. `sends` with `send_pair` looks at the row of [`QueuePairs`](super::QueuePairs), and `looks`
///    with `region_index` at that of [`RegionTable`](super::RegionTable), each in a cycle with
///    `row_free` or `region_free`; they answer in the same cycle.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct Responder {
    /// A READ came.
    pub job_valid: Signal<In, Bit>,
    /// The READ is taken at this edge.
    pub job_ready: Signal<Out, Bit>,
    /// The READ, or the atomic operation with its result.
    pub job: Signal<In, ReadJob>,
    /// Queue pairs that have room for one.
    pub room: Signal<Out, Bits<16>>,
    /// Queue pairs that have some.
    pub pairs: Signal<Out, Bits<16>>,
    /// Queue pairs that are up, or closing.
    pub ups: Signal<In, Bits<16>>,
    /// The row may be looked at.
    pub row_free: Signal<In, Bit>,
    /// The row is looked at.
    pub sends: Signal<Out, Bit>,
    /// Number of the row.
    pub send_pair: Signal<Out, Bits<4>>,
    /// The row.
    pub send: Signal<In, SendPair>,
    /// The region may be looked at.
    pub region_free: Signal<In, Bit>,
    /// The region is looked at.
    pub looks: Signal<Out, Bit>,
    /// Number of the region.
    pub region_index: Signal<Out, Bits<4>>,
    /// The region of `region_index`.
    pub region: Signal<In, Region>,
    /// A response is to be sent.
    pub head_valid: Signal<Out, Bit>,
    /// The response is taken at this edge.
    pub head_taken: Signal<In, Bit>,
    /// Headers of the response.
    pub head: Signal<Out, FrameHead>,
    /// The response has a payload.
    pub source_valid: Signal<Out, Bit>,
    /// Place of the payload.
    pub source: Signal<Out, PayloadSource>,
    /// A payload could not be read.
    pub fault_valid: Signal<In, Bit>,
    /// The fault is noted at this edge.
    pub fault_ready: Signal<Out, Bit>,
    /// Packet whose payload could not be read.
    pub fault: Signal<In, PayloadFault>,
    /// The message sequence number of its response.
    pub fault_message: Signal<In, Bits<24>>,
    /// A READ is refused.
    pub refuse_valid: Signal<Out, Bit>,
    /// The NAK is taken at this edge.
    pub refuse_ready: Signal<In, Bit>,
    /// The NAK.
    pub refuse: Signal<Out, AnswerMark>,
    /// A queue pair takes nothing any more.
    pub closes: Signal<Out, Bit>,
    /// Queue pair that takes nothing any more.
    pub closes_pair: Signal<Out, Bits<4>>,
    /// The queue pair of which a READ is taken, or a response or a NAK sent.
    pub held: Signal<Out, Bits<16>>,
    turns: RoundRobin,
    region_check: RegionCheck,
    jobs: RamSync<ReadJob, 8>,
    /// Responses of each that are to be sent.
    limits: RamAsync<Bits<23>, 8>,
    rows: RamAsync<JobRow, 4>,
    busy: Register<Bits<16>>,
    full: Register<Bits<16>>,
    step: Register<ResponderStep>,
    /// A READ is taken; else a response is sent.
    takes: Register<Bit>,
    /// A NAK is sent.
    refuses: Register<Bit>,
    pair: Register<Bits<4>>,
    row: Register<JobRow>,
    peer_row: Register<SendPair>,
    answer: Register<AnswerMark>,
    /// The READ that is sent.
    read_job: Register<ReadJob>,
    limit: Register<Bits<23>>,
}

impl Responder {
    /// What is next: faults, READs that came, responses.
    #[hdl_gen]
    fn choose(&mut self, chooses: Bit, ready_pairs: Bits<16>) {
        // What is next: faults, READs that came, responses
        self.turns.request.next = bit_cast::<32, 16>(ready_pairs);
        self.fault_ready.next = chooses;
        if chooses {
            if self.fault_valid.val() {
                self.step.d.next = ResponderStep::Act;
                self.refuses.d.next = true;
                self.pair.d.next = self.fault.val().pair;
                self.answer.d.next.pair = self.fault.val().pair;
                self.answer.d.next.sequence = self.fault.val().sequence;
                self.answer.d.next.nak = bits::<3>(nak::REMOTE_OPERATIONAL_ERROR);
                self.answer.d.next.message = self.fault_message.val();
            } else if self.job_valid.val() {
                self.step.d.next = ResponderStep::Read;
                self.takes.d.next = true;
                self.pair.d.next = self.job.val().pair;
            } else if self.turns.any.val() {
                self.step.d.next = ResponderStep::Read;
                self.takes.d.next = false;
                self.pair.d.next = self.turns.index.val().get_bits::<4>(0);
            }
        }
    }
}

impl Logic for Responder {
    #[hdl_gen]
    fn update(&mut self) {
        let chooses = self.step.q.val() == ResponderStep::Choose;
        let reads = self.step.q.val() == ResponderStep::Read;
        let is_look = self.step.q.val() == ResponderStep::Look;
        let is_act = self.step.q.val() == ResponderStep::Act;
        let selected_pair = self.pair.q.val();
        let ring = bit_cast::<8, 4>(selected_pair) << 4;
        let ready_pairs = self.busy.q.val() & self.ups.val();
        let mut busy_after = ready_pairs;
        let mut full_after = self.full.q.val();
        let current_job = self.read_job.q.val();

        self.choose(chooses, ready_pairs);
        // The row, and the READ that is looked at: the newest if one is taken, else the oldest
        self.rows.read_address.next = selected_pair;
        let stored_row = self.rows.read_data.val();
        let is_there = ready_pairs.get_bit(selected_pair.index());
        let mut jobs_in = stored_row.count;
        if !is_there {
            jobs_in = bits::<5>(0);
        }
        let mut newest = stored_row.head + jobs_in.get_bits::<4>(0) - bits::<4>(1);
        if !self.takes.q.val() {
            newest = stored_row.head;
        }
        if reads {
            self.step.d.next = ResponderStep::Look;
            self.row.d.next = stored_row;
            self.row.d.next.count = jobs_in;
            if !jobs_in.any() {
                self.row.d.next.sent = bits::<23>(0);
            }
        }
        let current_row = self.row.q.val();
        let last_place = current_row.head + current_row.count.get_bits::<4>(0) - bits::<4>(1);
        let mut at_place = current_row.head;
        if self.takes.q.val() {
            at_place = last_place;
        }
        let job_place = ring | bit_cast::<8, 4>(at_place);
        self.limits.read_address.next = job_place;
        let unsent = self.limits.read_data.val();
        let found = self.jobs.read_data.val();

        // A READ that the peer went back to: those behind it are gone, the one that it is a part of
        // ends before it.
        let new_job = self.job.val();
        let behind = new_job.sequence - found.sequence;
        let is_behind = behind.any() && !behind.get_bit(23);
        // Its queue pair may go down in the meantime, and another one follow.
        let is_selected = self.job_valid.val() && (new_job.pair == selected_pair);
        let backs = is_look && self.takes.q.val() && is_selected && new_job.back && current_row.count.any();
        let drops = backs && !is_behind;
        let cuts = backs && is_behind && (behind < bit_cast::<24, 23>(unsent));
        let is_through =
            (current_row.count == bits::<5>(1)) && (current_row.sent >= behind.get_bits::<23>(0));
        self.limits.write_enable.next = cuts;
        self.limits.write_address.next = job_place;
        self.limits.write_data.next = behind.get_bits::<23>(0);
        let mut fewer = current_row.count;
        if drops || (cuts && is_through) {
            fewer = current_row.count - bits::<5>(1);
        }
        if backs {
            self.row.d.next.count = fewer;
            if !fewer.any() {
                self.row.d.next.sent = bits::<23>(0);
            }
        }
        let place_before = current_row.head + fewer.get_bits::<4>(0) - bits::<4>(1);
        let goes_on = drops && fewer.any();
        self.jobs.read_enable.next = reads || goes_on;
        self.jobs.read_address.next = ring | bit_cast::<8, 4>(newest);
        if goes_on {
            self.jobs.read_address.next = ring | bit_cast::<8, 4>(place_before);
        }
        if is_look && self.takes.q.val() && !goes_on {
            self.step.d.next = ResponderStep::Act;
        }
        let is_lost = (is_look || is_act) && self.takes.q.val() && !self.refuses.q.val() && !is_selected;

        // It is taken.
        let enters = is_act && self.takes.q.val() && !self.refuses.q.val() && is_selected;
        let fits = new_job.serve && !current_row.count.get_bit(4);
        self.job_ready.next = enters;
        let free_place = current_row.head + current_row.count.get_bits::<4>(0);
        self.jobs.write_enable.next = enters && fits;
        self.jobs.write_address.next = ring | bit_cast::<8, 4>(free_place);
        self.jobs.write_data.next = new_job;
        if enters && fits {
            self.limits.write_enable.next = true;
            self.limits.write_address.next = ring | bit_cast::<8, 4>(free_place);
            self.limits.write_data.next = new_job.packets;
        }

        // A response: the row of its queue pair is kept, its region is looked at while it is
        // offered.
        let prepares = is_look && !self.takes.q.val();
        self.sends.next = prepares && self.row_free.val();
        self.send_pair.next = selected_pair;
        if prepares {
            if self.row_free.val() {
                self.peer_row.d.next = self.send.val();
                self.read_job.d.next = found;
                self.limit.d.next = unsent;
                self.step.d.next = ResponderStep::Act;
            }
            if !is_there {
                self.step.d.next = ResponderStep::Choose;
            }
        }
        let peer = self.peer_row.q.val();
        let offset = bit_cast::<32, 23>(current_row.sent) << peer.mtu;
        let is_first = !current_row.sent.any();
        let is_last = current_row.sent + bits::<23>(1) == current_job.packets;
        let mut size = bits::<13>(1) << peer.mtu;
        if is_last {
            size = (current_job.bytes - offset).get_bits::<13>(0);
        }
        if current_job.atomic {
            size = bits::<13>(0);
        }
        let responds = is_act && !self.takes.q.val() && !self.refuses.q.val();
        let looks_now = responds && self.region_free.val() && is_there;
        self.looks.next = looks_now;
        self.region_index.next = current_job.key.get_bits::<4>(0);
        self.region_check.region.next = self.region.val();
        self.region_check.domain.next = peer.domain;
        self.region_check.rights.next = bits::<5>(access::REMOTE_READ);
        self.region_check.address.next = current_job.address + offset;
        self.region_check.bytes.next = bit_cast::<32, 13>(size);
        let is_allowed =
            !size.any() || (self.region_check.allowed.val() && (self.region.val().key == current_job.key));
        let offers = looks_now && is_allowed;
        self.head_valid.next = offers;
        self.head.next.queue_pair = bit_cast::<5, 4>(selected_pair);
        self.head.next.mac = peer.mac;
        self.head.next.ip = peer.ip;
        self.head.next.opcode = bits::<8>(opcode::RC_RDMA_READ_RESPONSE_MIDDLE);
        if is_last {
            self.head.next.opcode = bits::<8>(opcode::RC_RDMA_READ_RESPONSE_LAST);
        }
        if is_first {
            self.head.next.opcode = bits::<8>(opcode::RC_RDMA_READ_RESPONSE_FIRST);
        }
        if is_first && is_last {
            self.head.next.opcode = bits::<8>(opcode::RC_RDMA_READ_RESPONSE_ONLY);
        }
        self.head.next.acknowledge = false;
        self.head.next.remote = peer.remote;
        self.head.next.sequence = current_job.sequence + bit_cast::<24, 23>(current_row.sent);
        self.head.next.extension = bits::<224>(0);
        self.head.next.extension_words = bits::<3>(header_words::NONE);
        if is_first || is_last {
            self.head.next.extension = (bit_cast::<224, 8>(bits::<8>(syndrome::ACK)) << 216)
                | (bit_cast::<224, 24>(current_job.message) << 192);
            self.head.next.extension_words = bits::<3>(header_words::AETH);
        }
        if current_job.atomic {
            self.head.next.opcode = bits::<8>(opcode::RC_ATOMIC_ACKNOWLEDGE);
            self.head.next.extension = (bit_cast::<224, 8>(bits::<8>(syndrome::ACK)) << 216)
                | (bit_cast::<224, 24>(current_job.message) << 192)
                | (bit_cast::<224, 32>(current_job.bytes) << 160)
                | (bit_cast::<224, 32>(current_job.address) << 128);
            self.head.next.extension_words = bits::<3>(header_words::ATOMIC_ACKNOWLEDGE);
        }
        self.head.next.bytes = size;
        self.source_valid.next = size.any();
        self.source.next.memory = true;
        self.source.next.data = bit_cast::<128, 32>(current_job.address + offset)
            | (bit_cast::<128, 24>(current_job.message) << 32);
        self.source.next.bytes = size;
        self.source.next.pair = selected_pair;
        self.source.next.sequence = current_job.sequence + bit_cast::<24, 23>(current_row.sent);
        self.source.next.place = bits::<12>(0);
        self.source.next.response = true;
        let sent = offers && self.head_taken.val();
        let ends_it = sent && (current_row.sent + bits::<23>(1) == self.limit.q.val());
        self.turns.advance.next = sent;
        if looks_now && !is_allowed {
            self.refuses.d.next = true;
            self.answer.d.next.pair = selected_pair;
            self.answer.d.next.sequence = current_job.sequence + bit_cast::<24, 23>(current_row.sent);
            self.answer.d.next.nak = bits::<3>(nak::REMOTE_ACCESS_ERROR);
            self.answer.d.next.message = current_job.message;
        } else if responds && (sent || self.job_valid.val() || self.fault_valid.val() || !is_there) {
            self.step.d.next = ResponderStep::Choose;
        }

        // A NAK
        let tells = is_act && self.refuses.q.val();
        let is_gone = !self.ups.val().get_bit(selected_pair.index());
        self.refuse_valid.next = tells && !is_gone;
        self.refuse.next = self.answer.q.val();
        self.refuse.next.answers = true;
        let told = tells && self.refuse_ready.val() && !is_gone;
        self.closes.next = told;
        self.closes_pair.next = selected_pair;
        if tells && (told || is_gone) {
            self.step.d.next = ResponderStep::Choose;
            self.refuses.d.next = false;
            busy_after = busy_after.replace_bit(selected_pair.index(), false);
            full_after = full_after.replace_bit(selected_pair.index(), false);
        }

        // What becomes of the row
        let writes = enters || sent;
        self.rows.write_enable.next = writes;
        self.rows.write_address.next = selected_pair;
        self.rows.write_data.next = current_row;
        let mut after = current_row.count;
        if enters && fits {
            after = current_row.count + bits::<5>(1);
        }
        always!(reads_fit_their_ring, current_row.count <= bits::<5>(RING));
        always!(responses_stay_below_the_limit, !sent || (current_row.sent < self.limit.q.val()));
        if sent {
            self.rows.write_data.next.sent = current_row.sent + bits::<23>(1);
        }
        if ends_it {
            after = current_row.count - bits::<5>(1);
            self.rows.write_data.next.sent = bits::<23>(0);
            self.rows.write_data.next.head = current_row.head + bits::<4>(1);
        }
        self.rows.write_data.next.count = after;
        if enters || is_lost {
            self.step.d.next = ResponderStep::Choose;
        }
        if writes {
            busy_after = busy_after.replace_bit(
                selected_pair.index(),
                after.any() && self.ups.val().get_bit(selected_pair.index()),
            );
            full_after = full_after.replace_bit(selected_pair.index(), after.get_bit(4));
        }
        always!(only_an_act_refuses, !self.refuses.q.val() || is_act);
        self.busy.d.next = busy_after;
        self.full.d.next = full_after & busy_after;
        self.room.next = !(self.full.q.val() & self.busy.q.val());
        self.pairs.next = self.busy.q.val();
        self.held.next = bits::<16>(0);
        if !chooses {
            self.held.next = bits::<16>(1) << selected_pair;
        }
    }
}

#[cfg(test)]
#[path = "responder_tests.rs"]
mod tests;
