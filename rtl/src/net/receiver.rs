//! What a frame that came does.

use super::{AnswerMark, CheckedFrame, PayloadPlace, PeerAnswer};
use crate::prelude::*;

/// Takes the frames that were judged, in their order (InfiniBand Architecture Specification, volume 1, 9.7.5). The packet sequence number comes first:
///
/// | frame | |
/// | --- | --- |
/// | ACK, NAK | given to [`Requester`](super::Requester) |
/// | WRITE of one packet that is expected | its payload is given to [`PayloadWriter`](super::PayloadWriter), and answered by an ACK if the peer asks |
/// | WRITE with an older sequence number (`repeated`) | answered by an ACK of the last one that was taken |
/// | WRITE with a newer one (`newer`) | answered by a NAK of the expected one, once until that comes |
/// | all else | dropped |
///
/// 1. A frame is looked at while a mark has room. It is taken (`checked_take`) in the cycle in which its payload, its mark ([`Acknowledge`](super::Acknowledge)) or its answer is, or at once
///    if it is dropped; `free_valid` is high for one cycle when its beats are free, in the order of the frames.
/// 2. `receive_pair` names the row of [`QueuePairs`](super::QueuePairs); the answers come in the same cycle.
/// 3. Dropped: what [`FrameCheck`](super::FrameCheck) found (`cause`); a queue pair that is not there, not up or whose peer has another address (`unknown`);
///    another opcode, a length that is not the payload's, 0 or more than 4,096, or a payload that does not end below 2^32 (`refused`). Each is high for
///    one cycle.
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
    /// The queue pair is up.
    pub receive_up: Signal<In, Bit>,
    /// The peer's IPv4 address.
    pub receive_ip: Signal<In, Bits<32>>,
    /// The sequence number that is expected.
    pub expected: Signal<In, Bits<24>>,
    /// It came.
    pub received: Signal<Out, Bit>,
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
    /// No payload is being read.
    pub idle: Signal<Out, Bit>,
    /// Queue pairs that sent a NAK since their expected packet came.
    told: Register<Bits<16>>,
    /// A payload is being read: its beats.
    reading: Register<Bit>,
    beats: Register<Bits<9>>,
}

impl Logic for Receiver {
    #[hdl_gen]
    fn update(&mut self) {
        let frame = self.checked.val();
        self.receive_pair.next = frame.queue_pair.get_bits::<4>(0);
        let is_good = !frame.cause.any();
        let is_known = !frame.queue_pair.get_bits::<20>(4).any()
            && self.receive_up.val()
            && (frame.ip == self.receive_ip.val());
        // RETH: address, key, length. Addresses of memory have 32 bits, and a packet at most 4,096 bytes.
        let length = frame.extension.get_bits::<32>(96);
        let address = frame.extension.get_bits::<64>(160);
        let is_whole = (length == bit_cast::<32, 13>(frame.bytes)) && frame.bytes.any();
        let is_longer = frame.bytes > bits::<13>(4096);
        let behind =
            bit_cast::<33, 32>(address.get_bits::<32>(0)) + bit_cast::<33, 13>(frame.bytes) - bits::<33>(1);
        let is_outside = address.get_bits::<32>(32).any() || behind.get_bit(32);
        let is_write = frame.opcode == bits::<8>(0x0a);
        let distance = frame.sequence - self.expected.val();
        let is_new = !distance.any();
        let is_older = distance.get_bit(23);
        let is_right = is_good && is_known;
        let pair = frame.queue_pair.get_bits::<4>(0);
        let was_told = self.told.q.val().get_bit(pair.index());
        let writes = is_right && is_write && is_new && is_whole && !is_longer && !is_outside;
        let repeats = is_right && is_write && is_older;
        let is_early = is_right && is_write && !is_new && !is_older;
        let tells = is_early && !was_told;
        let is_answer = is_right && (frame.opcode == bits::<8>(0x11));

        // One frame after the other: its beats are free when its payload was read.
        let free = !self.reading.q.val() && self.checked_valid.val() && self.mark_ready.val();
        self.receives.next = free;
        let marks = repeats || tells;
        self.place_valid.next = free && writes;
        self.place.next.first = frame.first;
        self.place.next.header = frame.header;
        self.place.next.bytes = frame.bytes;
        self.place.next.address = address.get_bits::<32>(0);
        let given = free && writes && self.place_ready.val();
        let marked = free && marks;
        self.answer_valid.next = free && is_answer;
        self.answer.next.pair = pair;
        self.answer.next.sequence = frame.sequence;
        self.answer.next.syndrome = frame.extension.get_bits::<8>(216);
        let answered = free && is_answer && self.answer_ready.val();
        let rejected = free && !writes && !marks && !is_answer;
        let dropped = marked || answered || rejected;
        self.checked_take.next = given || dropped;
        self.received.next = given;
        let ends = self.reading.q.val() && self.place_ready.val();
        self.idle.next = !self.reading.q.val();

        // What is answered: the packet itself, the last one that was taken, or the one that is expected.
        self.mark_valid.next = given || marked;
        self.mark.next.pair = pair;
        self.mark.next.sequence = self.expected.val();
        self.mark.next.answers = frame.acknowledge || !writes;
        self.mark.next.nak = tells;
        self.mark.next.payload = writes;
        if repeats {
            self.mark.next.sequence = self.expected.val() - bits::<24>(1);
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
        self.refused.next = rejected && is_right && !is_early;
        self.repeated.next = marked && repeats;
        self.newer.next = (marked && tells) || (rejected && is_early);
    }
}
