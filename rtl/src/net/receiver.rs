//! What a frame that came does.

use super::{
    nak, AnswerMark, CheckedFrame, MessageRow, PayloadPlace, PeerAnswer, ReceivePair, Region, WriteCheck,
};
use crate::prelude::*;

/// Takes the frames that were judged, in their order (InfiniBand Architecture Specification, volume 1, 9.7.5). The packet sequence number comes first:
///
/// | frame | |
/// | --- | --- |
/// | ACK, NAK | given to [`Requester`](super::Requester) |
/// | WRITE that is expected | its payload is given to [`PayloadWriter`](super::PayloadWriter), and answered by an ACK if the peer asks |
/// | another request that is expected, or a WRITE that cannot be ([`WriteCheck`]) | answered by NAK 0x61, and its queue pair takes nothing more (`closes`) |
/// | WRITE to memory that it may not write | answered by NAK 0x62, likewise |
/// | WRITE with an older sequence number (`repeated`) | answered by an ACK of the last one that was taken |
/// | request with a newer one (`newer`) | answered by a NAK of the expected one, once until that comes |
/// | all else | dropped |
///
/// 1. A frame is looked at for a cycle (`receives`), and judged in the next ones while a mark has room. It is taken (`checked_take`) in the cycle in which its payload, its
///    mark ([`Acknowledge`](super::Acknowledge)) or its answer is, or at once if it is dropped; `free_valid` is high for one cycle when its beats are
///    free, in the order of the frames. The first packet of a message waits until the earlier payloads of its queue pair are performed (`pending`): so
///    messages are performed in their order.
/// 2. `receive_pair` names the row of [`QueuePairs`](super::QueuePairs), `region_index` that of [`RegionTable`](super::RegionTable); the answers come
///    in the same cycle. A region counts as it is in the cycle in which the frame is taken.
/// 3. Dropped: what [`FrameCheck`](super::FrameCheck) found (`cause`); a queue pair that is not there, not up or whose peer has another address (`unknown`);
///    another opcode. `refused` tells these, and those that a NAK 0x61 or 0x62 answers. Each is high for one cycle.
#[derive(Clone, Debug, LogicBlock, Default)]
pub struct Receiver {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// A frame was judged.
    pub checked_valid: Signal<In, Bit>,
    /// It.
    pub checked: Signal<In, CheckedFrame>,
    /// It is taken at this edge.
    pub checked_take: Signal<Out, Bit>,
    /// The answers are looked at.
    pub receives: Signal<Out, Bit>,
    /// The row of the table.
    pub receive_pair: Signal<Out, Bits<4>>,
    /// It.
    pub receive: Signal<In, ReceivePair>,
    /// Queue pairs that are up.
    pub ups: Signal<In, Bits<16>>,
    /// Queue pairs of which a payload is not performed.
    pub pending: Signal<In, Bits<16>>,
    /// The region.
    pub region_index: Signal<Out, Bits<4>>,
    /// It.
    pub region: Signal<In, Region>,
    /// The packet that is expected came.
    pub received: Signal<Out, Bit>,
    /// The one that is expected now.
    pub next_expected: Signal<Out, Bits<24>>,
    /// The queue pair takes nothing more.
    pub closes: Signal<Out, Bit>,
    /// A payload is to be written.
    pub place_valid: Signal<Out, Bit>,
    /// It is taken at this edge; high again when its beats were read.
    pub place_ready: Signal<In, Bit>,
    /// It.
    pub place: Signal<Out, PayloadPlace>,
    /// Beats of the buffer are free.
    pub free_valid: Signal<Out, Bit>,
    /// How many.
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
    /// Which one.
    pub opens_pair: Signal<In, Bits<4>>,
    /// What is answered, and when.
    pub mark_valid: Signal<Out, Bit>,
    /// It is taken at this edge.
    pub mark_ready: Signal<In, Bit>,
    /// It.
    pub mark: Signal<Out, AnswerMark>,
    /// An ACK or NAK came.
    pub answer_valid: Signal<Out, Bit>,
    /// It is taken at this edge.
    pub answer_ready: Signal<In, Bit>,
    /// It.
    pub answer: Signal<Out, PeerAnswer>,
    /// No frame is being looked at, and no payload read.
    pub idle: Signal<Out, Bit>,
    check: WriteCheck,
    messages: RamAsync<MessageRow, 4>,
    /// Queue pairs of which a message has begun.
    inside: Register<Bits<16>>,
    /// Queue pairs that sent a NAK since their expected packet came.
    told: Register<Bits<16>>,
    /// A frame was looked at.
    looked: Register<Bit>,
    row: Register<ReceivePair>,
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
        if looks {
            self.looked.d.next = true;
            self.row.d.next = self.receive.val();
        }
        let whose = self.row.q.val();
        let free = self.looked.q.val() && self.mark_ready.val();

        let is_good = !frame.cause.any();
        // It may go down in the meantime.
        let is_known = !frame.queue_pair.get_bits::<20>(4).any()
            && whose.up
            && self.ups.val().get_bit(pair.index())
            && (frame.ip == whose.ip);
        let is_right = is_good && is_known;
        self.messages.read_address.next = pair;
        let is_inside = self.inside.q.val().get_bit(pair.index());
        self.check.frame.next = frame;
        self.check.pair.next = whose;
        self.check.inside.next = is_inside;
        self.check.message.next = self.messages.read_data.val();
        connect!(self.region_index, self.check.region_index);
        connect!(self.region, self.check.region);
        let is_write = self.check.is_write.val();
        let is_request = is_write
            || (frame.opcode == bits::<8>(0x0c))
            || (frame.opcode == bits::<8>(0x13))
            || (frame.opcode == bits::<8>(0x14));
        let is_answer = is_right && (frame.opcode == bits::<8>(0x11));

        // By its sequence number
        let distance = frame.sequence - whose.expected;
        let is_new = !distance.any();
        let is_older = distance.get_bit(23);
        let was_told = self.told.q.val().get_bit(pair.index());
        let comes = is_right && is_request && is_new;
        let is_invalid = comes && (!is_write || self.check.invalid.val());
        let is_forbidden = comes && !is_invalid && self.check.forbidden.val();
        let is_taken = comes && !is_invalid && !is_forbidden;
        let repeats = is_right && is_write && is_older;
        let is_early = is_right && is_request && !is_new && !is_older;
        let tells = is_early && !was_told;
        let ends_it = is_invalid || is_forbidden;

        // What is given on. Messages wait for each other.
        let has_bytes = frame.bytes.any();
        let waits = is_taken && self.check.is_first.val() && self.pending.val().get_bit(pair.index());
        let writes = is_taken && has_bytes;
        let marks = repeats || tells || ends_it || (is_taken && !has_bytes);
        self.place_valid.next = free && writes && !waits;
        self.place.next.first = frame.first;
        self.place.next.header = frame.header;
        self.place.next.bytes = frame.bytes;
        self.place.next.address = self.check.address.val();
        let given = free && writes && !waits && self.place_ready.val();
        let marked = free && marks && !waits;
        self.answer_valid.next = free && is_answer;
        self.answer.next.pair = pair;
        self.answer.next.sequence = frame.sequence;
        self.answer.next.syndrome = frame.extension.get_bits::<8>(216);
        let answered = free && is_answer && self.answer_ready.val();
        let rejected = free && !writes && !marks && !is_answer;
        let dropped = marked || answered || rejected;
        let leaves = given || dropped;
        self.checked_take.next = leaves;
        if leaves {
            self.looked.d.next = false;
        }
        let proceeds = given || (marked && is_taken);
        self.received.next = proceeds;
        self.next_expected.next = whose.expected + bits::<24>(1);
        self.closes.next = marked && ends_it;
        let ends = self.reading.q.val() && self.place_ready.val();
        self.idle.next = !self.reading.q.val() && !self.looked.q.val();

        // The message that it belongs to
        self.messages.write_enable.next = proceeds;
        self.messages.write_address.next = pair;
        self.messages.write_data.next = self.check.after.val();
        let mut begun = self.inside.q.val();
        if proceeds {
            begun = begun.replace_bit(pair.index(), !self.check.last.val());
        }
        if self.opens.val() {
            begun = begun.replace_bit(self.opens_pair.val().index(), false);
        }
        self.inside.d.next = begun;

        // What is answered: the packet itself, the last one that was taken, or the one that is expected.
        self.mark_valid.next = given || marked;
        self.mark.next.pair = pair;
        self.mark.next.sequence = whose.expected;
        self.mark.next.answers = frame.acknowledge || !is_taken;
        self.mark.next.nak = bits::<3>(nak::NONE);
        if tells {
            self.mark.next.nak = bits::<3>(nak::SEQUENCE);
        }
        if is_invalid {
            self.mark.next.nak = bits::<3>(nak::INVALID);
        }
        if is_forbidden {
            self.mark.next.nak = bits::<3>(nak::ACCESS);
        }
        self.mark.next.payload = writes;
        self.mark.next.message = is_taken && self.check.last.val();
        if repeats {
            self.mark.next.sequence = whose.expected - bits::<24>(1);
        }
        let mut naks = self.told.q.val();
        if given || marked {
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
        self.cause.next = bits::<3>(0);
        if rejected {
            self.cause.next = frame.cause;
        }
        self.unknown.next = rejected && is_good && !is_known;
        self.refused.next = (rejected && is_right && !is_early) || (marked && ends_it);
        self.repeated.next = marked && repeats;
        self.newer.next = (marked && tells) || (rejected && is_early);
    }
}
