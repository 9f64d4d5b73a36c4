//! What an answer of the peer does to the oldest command.

use super::{aeth_class, PeerAnswer, RequestRow, WorkEntry};
use hermes_hdl::prelude::*;

/// Looks at an answer and the oldest command that is not acknowledged, in the same cycle
/// (InfiniBand Architecture Specification, volume 1, 9.7.5.1).
///
/// 1. An ACK of packet p acknowledges all up to p; a response of p, a NAK of p and all else
///    acknowledge those before p. `counts`: p was sent, and had no answer yet when the answer came
///    (`origin`); and it is an ACK, a NAK, an RNR NAK or a response: other syndromes mean nothing.
/// 2. `passes`: the command is acknowledged to its last packet, and the next one is to be looked
///    at. No ACK passes a GET or an atomic operation, which has answers of its own; a NAK that is
///    no loss does, since the peer performed it.
/// 3. `settles`: the oldest packet is `oldest` now; `moved` says that it has moved. If a command
///    with answers of its own stands in the way there is a `gap`: its answer was lost.
/// 4. `expects`: it is the response of just that packet.
#[derive(Clone, LogicBlock)]
pub struct AnswerStep {
    /// The row of its queue pair, as the commands that were passed left it.
    pub row: Signal<In, RequestRow>,
    /// The oldest packet when the answer came.
    pub origin: Signal<In, Bits<24>>,
    /// The queue pair was up then.
    pub was_up: Signal<In, Bit>,
    /// The answer.
    pub reply: Signal<In, PeerAnswer>,
    /// The oldest command that is not acknowledged, if the row has one (`open`).
    pub entry: Signal<In, WorkEntry>,
    /// Number of its first packet.
    pub first: Signal<In, Bits<24>>,
    /// The answer has an effect.
    pub counts: Signal<Out, Bit>,
    /// The command is acknowledged.
    pub passes: Signal<Out, Bit>,
    /// The command is not acknowledged, or not to its end.
    pub settles: Signal<Out, Bit>,
    /// The oldest packet that is not acknowledged.
    pub oldest: Signal<Out, Bits<24>>,
    /// The oldest packet is another than when the answer came.
    pub moved: Signal<Out, Bit>,
    /// An answer was lost.
    pub gap: Signal<Out, Bit>,
    /// The answer is the response that is due.
    pub expects: Signal<Out, Bit>,
    /// The answer is an RNR NAK: the peer is not ready for the packet.
    pub rests: Signal<Out, Bit>,
    /// The answer is a NAK of a packet that was lost.
    pub repeats: Signal<Out, Bit>,
    /// The answer is a NAK of a packet that the peer refuses.
    pub fatal: Signal<Out, Bit>,
    /// The result: that of an atomic operation, or the first bytes of a response with zeros behind
    /// its last.
    pub value: Signal<Out, Bits<64>>,
    #[init(Constant::new(u64::MAX.into()))]
    all: Constant<Bits<64>>,
}

impl Logic for AnswerStep {
    #[hdl_gen]
    fn update(&mut self) {
        let taken_reply = self.reply.val();
        let current_row = self.row.val();
        let start = self.origin.val();
        let class = taken_reply.syndrome.get_bits::<3>(5);
        let is_ack = !taken_reply.response && (class == bits::<3>(aeth_class::ACK));
        let is_nak = !taken_reply.response && (class == bits::<3>(aeth_class::NAK));
        let is_rest = !taken_reply.response && (class == bits::<3>(aeth_class::RNR_NAK));
        let has_meaning = taken_reply.response || is_ack || is_nak || is_rest;
        let is_fatal = is_nak && taken_reply.syndrome.get_bits::<5>(0).any();
        let covers = (taken_reply.sequence - start) < (current_row.top - start);
        let takes = covers && self.was_up.val() && has_meaning;
        let mut target = taken_reply.sequence;
        if is_ack {
            target = taken_reply.sequence + bits::<24>(1);
        }
        let far = target - start;
        let behind = self.first.val() + bit_cast::<24, 23>(self.entry.val().packets);
        let has = current_row.open.any();
        let is_answered = self.entry.val().operation.any();
        let goes_past = takes && has && ((behind - start) <= far) && (!is_answered || is_fatal);
        let ends = takes && !goes_past;
        let holds = has && is_answered;
        let mut place = target;
        if holds {
            place = current_row.oldest;
        }
        self.counts.next = takes;
        self.passes.next = goes_past;
        self.settles.next = ends;
        self.oldest.next = place;
        self.moved.next = place != start;
        self.gap.next = ends && holds && !is_fatal && (far > (current_row.oldest - start));
        self.expects.next =
            ends && holds && taken_reply.response && (taken_reply.sequence == current_row.oldest);
        self.rests.next = ends && is_rest;
        self.repeats.next = is_nak && !is_fatal;
        self.fatal.next = is_fatal;

        // Bytes of a response come lowest address first, the value of an atomic operation most
        // significant byte first.
        let mut swapped = bits::<64>(0);
        for i in 0..8 {
            swapped = (swapped << 8) | bit_cast::<64, 8>(taken_reply.value.get_bits::<8>(8 * i));
        }
        let mut kept = self.all.val();
        if !taken_reply.bytes.get_bit(3) {
            kept = !(self.all.val() << (bit_cast::<6, 3>(taken_reply.bytes.get_bits::<3>(0)) << 3));
        }
        self.value.next = swapped & kept;
        if taken_reply.atomic {
            self.value.next = taken_reply.value;
        }
    }
}
