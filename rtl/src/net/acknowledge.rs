//! What answers the packets that came.

use super::{header_words, nak, opcode, syndrome, FrameHead, PairCounts, SendPair};
use crate::blocks::{RoundRobin, SyncFifo};
use hermes_hdl::prelude::*;

/// A frame that its queue pair took, or answers; or the response of a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct AnswerMark {
    /// Index of our queue pair.
    pub pair: Bits<4>,
    /// The packet sequence number of the answer, or of the response.
    pub sequence: Bits<24>,
    /// The frame is answered.
    pub answers: Bit,
    /// The answer, as in [`nak`].
    pub nak: Bits<3>,
    /// The frame has a payload that is written to memory: the answer waits for that.
    pub payload: Bit,
    /// The message sequence number of the answer.
    pub message: Bits<24>,
    /// The frame is a response: who sent its command is to know when it is in memory.
    pub got: Bit,
}

/// Answers frames when what they cover is in memory, so that an ACK means "visible there".
///
/// 1. Marks are taken in the order of the frames, with `mark_valid` and `mark_ready`. One with a
///    payload waits for its `performed`, which comes in that order, and passes in that cycle if
///    it is the oldest; one without waits for all marks before it. That of a response is told,
///    until it is noted, with `got_valid`, `got_pair`, `got_sequence` and `got_ready`.
/// 2. A mark with an answer replaces the answer of its queue pair that was not sent yet: an answer
///    covers all before it. So does `refuse`, which is taken with `refuse_valid` and
///    `refuse_ready`, and which no mark and no other refusal replaces. The ACK of a packet that
///    came again does not replace a NAK 0x60, which covers that packet too and is not repeated.
/// 3. Queue pairs take turns. One that has responses to send (`responds`) waits for these. While
///    `row_free` an answer is offered: `sends` with `send_pair` looks at the row of
///    [`QueuePairs`](super::QueuePairs), `send` answers in the same cycle, and so do `head_valid`
///    and `head`. With `head_taken` it is gone.
/// 4. Answers of a queue pair that is neither up nor closing are dropped. `closed` with `send_pair`
///    is high for one cycle when a NAK is gone behind which its queue pair takes nothing.
/// 5. `pending` are the queue pairs of which a payload is not performed.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct Acknowledge {
    /// A mark comes.
    pub mark_valid: Signal<In, Bit>,
    /// The mark is taken at this edge.
    pub mark_ready: Signal<Out, Bit>,
    /// The mark that comes.
    pub mark: Signal<In, AnswerMark>,
    /// The oldest payload that was not performed is.
    pub performed: Signal<In, Bit>,
    /// Queue pairs that are up, or closing.
    pub ups: Signal<In, Bits<16>>,
    /// A response is in memory.
    pub got_valid: Signal<Out, Bit>,
    /// The response is noted at this edge.
    pub got_ready: Signal<In, Bit>,
    /// Queue pair of the response.
    pub got_pair: Signal<Out, Bits<4>>,
    /// Packet sequence number of the response.
    pub got_sequence: Signal<Out, Bits<24>>,
    /// A READ is refused.
    pub refuse_valid: Signal<In, Bit>,
    /// The refusal is taken at this edge.
    pub refuse_ready: Signal<Out, Bit>,
    /// The answer.
    pub refuse: Signal<In, AnswerMark>,
    /// Queue pairs that have responses to send.
    pub responds: Signal<In, Bits<16>>,
    /// The row may be looked at.
    pub row_free: Signal<In, Bit>,
    /// The row is looked at.
    pub sends: Signal<Out, Bit>,
    /// Number of the row.
    pub send_pair: Signal<Out, Bits<4>>,
    /// The row.
    pub send: Signal<In, SendPair>,
    /// An answer is to be sent.
    pub head_valid: Signal<Out, Bit>,
    /// The answer is taken at this edge.
    pub head_taken: Signal<In, Bit>,
    /// Headers of the answer.
    pub head: Signal<Out, FrameHead>,
    /// Queue pairs of which a mark or an answer waits.
    pub held: Signal<Out, Bits<16>>,
    /// A NAK is sent.
    pub sent_nak: Signal<Out, Bit>,
    /// The NAK is the last answer of its queue pair.
    pub closed: Signal<Out, Bit>,
    /// Queue pairs of which a payload is not performed.
    pub pending: Signal<Out, Bits<16>>,
    unperformed: PairCounts,
    /// Marks that were not taken.
    kept: PairCounts,
    marks: SyncFifo<AnswerMark, 4, 5>,
    /// Payloads that are performed and whose mark was not taken: at most as many as there are
    /// marks.
    done: Register<Bits<5>>,
    answers: RamAsync<AnswerMark, 4>,
    waiting: Register<Bits<16>>,
    /// Queue pairs whose answer is a refusal.
    refused: Register<Bits<16>>,
    /// Queue pairs whose answer is a NAK 0x60.
    missing: Register<Bits<16>>,
    turns: RoundRobin,
}

impl Logic for Acknowledge {
    #[hdl_gen]
    fn update(&mut self) {
        self.marks.push_valid.next = self.mark_valid.val();
        self.marks.push_data.next = self.mark.val();
        self.mark_ready.next = self.marks.push_ready.val();

        // The oldest mark
        let oldest = self.marks.pop_data.val();
        let has_done = self.done.q.val().any() || self.performed.val();
        let is_due = self.marks.pop_valid.val() && (!oldest.payload || has_done);
        self.got_valid.next = is_due && oldest.got;
        self.got_pair.next = oldest.pair;
        self.got_sequence.next = oldest.sequence;
        let passes = is_due && (!oldest.got || self.got_ready.val());
        self.marks.pop_ready.next = passes;
        let pays = passes && oldest.payload;
        always!(performed_payloads_have_marks, self.done.q.val() <= self.marks.level.val());
        always!(payloads_that_pass_are_performed, !pays || has_done);
        if self.performed.val() && !pays {
            self.done.d.next = self.done.q.val() + bits::<5>(1);
        }
        if pays && !self.performed.val() {
            self.done.d.next = self.done.q.val() - bits::<5>(1);
        }
        self.unperformed.add.next =
            self.mark_valid.val() && self.marks.push_ready.val() && self.mark.val().payload;
        self.unperformed.add_pair.next = self.mark.val().pair;
        self.unperformed.remove.next = pays;
        self.unperformed.remove_pair.next = oldest.pair;
        self.pending.next = self.unperformed.any.val();
        self.kept.add.next = self.mark_valid.val() && self.marks.push_ready.val();
        self.kept.add_pair.next = self.mark.val().pair;
        self.kept.remove.next = passes;
        self.kept.remove_pair.next = oldest.pair;
        // A refusal is the last answer of its queue pair.
        let is_refused = self.refused.q.val().get_bit(oldest.pair.index());
        let is_covered = self.waiting.q.val().get_bit(oldest.pair.index())
            && self.missing.q.val().get_bit(oldest.pair.index())
            && (oldest.nak == bits::<3>(nak::DUPLICATE));
        let answered = passes && oldest.answers && !is_refused && !is_covered;
        if answered {
            self.missing.d.next = self
                .missing
                .q
                .val()
                .replace_bit(oldest.pair.index(), oldest.nak == bits::<3>(nak::PSN_SEQUENCE_ERROR));
        }
        let is_known = self.refused.q.val().get_bit(self.refuse.val().pair.index());
        let refuses = self.refuse_valid.val() && !answered && !is_known;
        self.refuse_ready.next = !answered;
        self.answers.write_enable.next = answered || refuses;
        self.answers.write_address.next = oldest.pair;
        self.answers.write_data.next = oldest;
        if refuses {
            self.answers.write_address.next = self.refuse.val().pair;
            self.answers.write_data.next = self.refuse.val();
        }

        // Whose turn it is
        self.turns.request.next =
            bit_cast::<32, 16>(self.waiting.q.val() & self.ups.val() & !self.responds.val());
        let selected_pair = self.turns.index.val().get_bits::<4>(0);
        let offers = self.turns.any.val() && self.row_free.val();
        let leaves = offers && self.head_taken.val();
        self.turns.advance.next = leaves;
        let mut waiting_after = self.waiting.q.val() & self.ups.val();
        let mut refused_after = self.refused.q.val() & self.ups.val();
        if leaves {
            waiting_after = waiting_after.replace_bit(selected_pair.index(), false);
        }
        if answered {
            waiting_after = waiting_after.replace_bit(oldest.pair.index(), true);
        }
        if refuses {
            waiting_after = waiting_after.replace_bit(self.refuse.val().pair.index(), true);
            refused_after = refused_after.replace_bit(self.refuse.val().pair.index(), true);
        }
        self.waiting.d.next = waiting_after;
        self.refused.d.next = refused_after;

        // AETH: syndrome, message sequence number
        self.answers.read_address.next = selected_pair;
        let answer = self.answers.read_data.val();
        let mut nak_code = answer.nak;
        if nak_code == bits::<3>(nak::DUPLICATE) {
            nak_code = bits::<3>(nak::NONE);
        }
        let mut syndrome = bits::<8>(syndrome::ACK);
        if nak_code.any() {
            syndrome = bits::<8>(syndrome::NAK_PSN_SEQUENCE_ERROR - nak::PSN_SEQUENCE_ERROR)
                + bit_cast::<8, 3>(nak_code);
        }
        let row = self.send.val();
        self.sends.next = offers;
        self.send_pair.next = selected_pair;
        self.head_valid.next = offers;
        self.head.next.queue_pair = bit_cast::<5, 4>(selected_pair);
        self.head.next.mac = row.mac;
        self.head.next.ip = row.ip;
        self.head.next.opcode = bits::<8>(opcode::RC_ACKNOWLEDGE);
        self.head.next.acknowledge = false;
        self.head.next.remote = row.remote;
        self.head.next.sequence = answer.sequence;
        self.head.next.extension =
            (bit_cast::<224, 8>(syndrome) << 216) | (bit_cast::<224, 24>(answer.message) << 192);
        self.head.next.extension_words = bits::<3>(header_words::AETH);
        self.head.next.bytes = bits::<13>(0);
        self.sent_nak.next = leaves && nak_code.any();
        self.closed.next = leaves && (nak_code > bits::<3>(nak::PSN_SEQUENCE_ERROR));
        self.held.next = self.kept.any.val() | self.waiting.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{reset, settle, tick};

    /// Two refusals of a queue pair, and a mark behind them: the first one is sent.
    #[test]
    fn the_first_refusal_is_the_answer() {
        let mut uut = Acknowledge::default();
        reset!(uut);
        uut.ups.next = 0xffff.into();
        let answer = |sequence: u64, kind: u64| AnswerMark {
            pair: 7.into(),
            sequence: sequence.into(),
            answers: true,
            nak: kind.into(),
            ..AnswerMark::default()
        };
        for sequence in [20, 21] {
            uut.refuse_valid.next = true;
            uut.refuse.next = answer(sequence, nak::REMOTE_OPERATIONAL_ERROR);
            settle(&mut uut);
            assert!(uut.refuse_ready.val());
            tick!(uut);
        }
        uut.refuse_valid.next = false;
        uut.mark_valid.next = true;
        uut.mark.next = answer(22, nak::NONE);
        tick!(uut);
        uut.mark_valid.next = false;
        for _ in 0..4 {
            tick!(uut);
        }
        uut.row_free.next = true;
        settle(&mut uut);
        assert!(uut.head_valid.val());
        assert_eq!(uut.head.val().sequence.to_u64(), 20);
        assert_eq!(uut.head.val().extension.get_bits::<8>(216).to_u64(), 0x63);
        uut.head_taken.next = true;
        settle(&mut uut);
        assert!(uut.closed.val());
        tick!(uut);
        settle(&mut uut);
        assert!(!uut.head_valid.val(), "nothing follows");
    }

    /// A queue pair is held from its mark on until its answer left, and the one behind it alone is
    /// longer; a mark without payload holds as one with payload does.
    #[test]
    fn a_queue_pair_is_held_until_its_answer_left() {
        let mut uut = Acknowledge::default();
        reset!(uut);
        uut.ups.next = 0xffff.into();
        for (pair, payload) in [(2u64, true), (5, false), (2, false)] {
            uut.mark_valid.next = true;
            uut.mark.next = AnswerMark {
                pair: pair.into(),
                answers: true,
                nak: nak::DUPLICATE.into(),
                payload,
                ..AnswerMark::default()
            };
            tick!(uut);
        }
        uut.mark_valid.next = false;
        for _ in 0..5 {
            tick!(uut);
        }
        // The payload is not performed, and all marks wait for it.
        settle(&mut uut);
        assert_eq!(uut.held.val().to_u64(), 1 << 2 | 1 << 5);
        uut.performed.next = true;
        tick!(uut);
        uut.performed.next = false;
        uut.row_free.next = true;
        uut.head_taken.next = true;
        let mut left = [0; 16];
        for _ in 0..10 {
            settle(&mut uut);
            if uut.head_valid.val() {
                left[uut.send_pair.val().index()] += 1;
            }
            let waits = uut.head_valid.val() || uut.marks.pop_valid.val();
            assert!(!waits || uut.held.val().any());
            tick!(uut);
        }
        settle(&mut uut);
        assert!(left[2] > 0 && left[5] == 1 && !uut.held.val().any(), "{left:?}");
    }

    /// A NAK 0x60 waits while the link is busy; an ACK of a packet that came again does not replace
    /// it, the one of the packet that was missing does, and an ACK of a packet that comes again
    /// behind that is sent.
    #[test]
    fn a_nak_of_a_missing_packet_stays() {
        let cases = [
            (&[(9, nak::DUPLICATE)][..], (10, 0x60)),
            (&[(9, nak::DUPLICATE), (10, nak::NONE)], (10, 0x1f)),
            (&[(10, nak::NONE), (10, nak::DUPLICATE)], (10, 0x1f)),
            (&[(9, nak::DUPLICATE), (10, nak::REMOTE_ACCESS_ERROR)], (10, 0x62)),
        ];
        for (marks, expected) in cases {
            let mut uut = Acknowledge::default();
            reset!(uut);
            uut.ups.next = 0xffff.into();
            for (sequence, kind) in [(10, nak::PSN_SEQUENCE_ERROR)].iter().chain(marks) {
                uut.mark_valid.next = true;
                uut.mark.next = AnswerMark {
                    pair: 3.into(),
                    sequence: (*sequence as u64).into(),
                    answers: true,
                    nak: (*kind).into(),
                    ..AnswerMark::default()
                };
                tick!(uut);
            }
            uut.mark_valid.next = false;
            for _ in 0..4 {
                tick!(uut);
            }
            uut.row_free.next = true;
            uut.head_taken.next = true;
            settle(&mut uut);
            let head = uut.head.val();
            let sent = (head.sequence.to_u64(), head.extension.get_bits::<8>(216).to_u64());
            assert!(uut.head_valid.val() && sent == expected, "{marks:?}: {sent:x?}");
            tick!(uut);
            settle(&mut uut);
            assert!(!uut.head_valid.val(), "{marks:?}: nothing follows");
        }
    }
}
