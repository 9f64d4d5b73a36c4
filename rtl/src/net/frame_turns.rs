//! Which frame is sent next.

use super::FrameHead;
use hermes_hdl::prelude::*;

/// What the last frame was, in [`FrameTurns`].
mod sender {
    pub const REQUEST: u64 = 0;
    pub const RESPONSE: u64 = 1;
    pub const ANSWER: u64 = 2;
}

/// Commands' packets, responses and answers take turns.
///
/// 1. The outputs answer the inputs in the same cycle. While `head_ready` one frame is taken; a
///    request or a response, with a payload or without, while `source_ready` too.
/// 2. A command's packet is offered for one cycle (`request_valid`), and only if `request_ready`
///    is high in it: then it is taken. A response or an answer is taken with `response_taken` or
///    `answer_taken`; it may be withdrawn before.
/// 3. After a frame of one of them the next ones, in this order, go first. One that is about to
///    offer (`request_wants`) counts as offered.
/// 4. An answer that goes while `source_ready` is low does not count as a turn: else requests and
///    answers alone could go while a response waits for room.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct FrameTurns {
    /// A command's packet waits.
    pub request_wants: Signal<In, Bit>,
    /// There is room for it.
    pub request_ready: Signal<Out, Bit>,
    /// A command's packet is offered.
    pub request_valid: Signal<In, Bit>,
    /// Headers of the command's packet.
    pub request: Signal<In, FrameHead>,
    /// A response is offered.
    pub response_valid: Signal<In, Bit>,
    /// Headers of the response.
    pub response: Signal<In, FrameHead>,
    /// The response is taken at this edge.
    pub response_taken: Signal<Out, Bit>,
    /// An answer is offered.
    pub answer_valid: Signal<In, Bit>,
    /// Headers of the answer.
    pub answer: Signal<In, FrameHead>,
    /// The answer is taken at this edge.
    pub answer_taken: Signal<Out, Bit>,
    /// There is room for a payload.
    pub source_ready: Signal<In, Bit>,
    /// A frame is to be sent.
    pub head_valid: Signal<Out, Bit>,
    /// The frame is taken at this edge.
    pub head_ready: Signal<In, Bit>,
    /// Headers of the frame.
    pub head: Signal<Out, FrameHead>,
    last: Register<Bits<2>>,
}

impl Logic for FrameTurns {
    #[hdl_gen]
    fn update(&mut self) {
        let after_request = self.last.q.val() == bits::<2>(sender::REQUEST);
        let after_response = self.last.q.val() == bits::<2>(sender::RESPONSE);
        let after_answer = self.last.q.val() == bits::<2>(sender::ANSWER);
        let has_response = self.response_valid.val() && self.source_ready.val();
        let has_answer = self.answer_valid.val();
        let wants = self.request_wants.val() && self.source_ready.val();
        let yields = (after_request && (has_response || has_answer)) || (after_response && has_answer);
        self.request_ready.next = self.head_ready.val() && self.source_ready.val() && !yields;
        let is_request = self.request_valid.val();
        let is_response = has_response
            && !is_request
            && !(after_answer && wants)
            && !(after_response && (has_answer || wants));
        let is_answer =
            has_answer && !is_request && !is_response && !(after_answer && (wants || has_response));
        self.response_taken.next = is_response && self.head_ready.val();
        self.answer_taken.next = is_answer && self.head_ready.val();
        self.head_valid.next = is_request || is_response || is_answer;
        self.head.next = self.request.val();
        if is_response {
            self.head.next = self.response.val();
        }
        if is_answer {
            self.head.next = self.answer.val();
        }
        // An answer that goes without room for a payload leaves the turn as it is.
        let goes = (is_request || is_response || is_answer) && self.head_ready.val();
        if goes && self.source_ready.val() {
            self.last.d.next = bits::<2>(sender::REQUEST);
            if is_response {
                self.last.d.next = bits::<2>(sender::RESPONSE);
            }
            if is_answer {
                self.last.d.next = bits::<2>(sender::ANSWER);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::net::testing::random_head;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    /// Each is taken as it is offered, none waits for more than one frame of each other, and
    /// nothing is lost while all have some. Of frames with a payload the cycles without room for it
    /// do not count.
    #[test]
    fn all_take_turns() {
        let mut rng = random("frame_turns");
        let mut uut = FrameTurns::default();
        reset!(uut);
        let mut counts = [0; 3];
        // Frames of each that passed each other.
        let mut passed = [[0; 3]; 3];
        let mut offered = [false; 2];
        for cycle in 0..20_000 {
            let wants = cycle % 2_000 < 1_000 || rng.gen_bool(0.2);
            let heads = [0; 3].map(|_| random_head(&mut rng, 8));
            uut.request_wants.next = wants;
            for offers in &mut offered {
                *offers |= rng.gen_bool(if cycle % 3_000 < 1_500 { 1.0 } else { 0.2 });
            }
            uut.response_valid.next = offered[0];
            uut.answer_valid.next = offered[1];
            uut.source_ready.next = rng.gen_bool(0.8);
            uut.head_ready.next = rng.gen_bool(0.7);
            uut.request_valid.next = false;
            uut.request.next = heads[0];
            uut.response.next = heads[1];
            uut.answer.next = heads[2];
            settle(&mut uut);
            let asks = wants && rng.gen_bool(0.7) && uut.request_ready.val();
            uut.request_valid.next = asks;
            settle(&mut uut);
            let taken = [asks, uut.response_taken.val(), uut.answer_taken.val()];
            let ready = uut.head_ready.val();
            match taken.iter().filter(|taken| **taken).count() {
                0 => {
                    let can = ready && uut.source_ready.val() && !wants && (offered[0] || offered[1]);
                    assert!(!can, "cycle {cycle}: a frame waits, and the link is free");
                }
                1 => {
                    let which = taken.iter().position(|taken| *taken).unwrap();
                    assert!(ready && uut.head_valid.val() && uut.head.val() == heads[which]);
                    assert!(which == 2 || uut.source_ready.val());
                    counts[which] += 1;
                    passed[which] = [0; 3];
                    let waits = [wants, offered[0], offered[1]];
                    for other in (0..3).filter(|other| *other != which && waits[*other]) {
                        passed[other][which] += u32::from(other == 2 || uut.source_ready.val());
                    }
                }
                _ => panic!("two frames in a cycle"),
            }
            for other in 0..2 {
                offered[other] &= !taken[other + 1];
            }
            if !wants {
                passed[0] = [0; 3];
            }
            assert!(passed.iter().flatten().all(|frames| *frames <= 1), "cycle {cycle}: {passed:?}");
            tick!(uut);
        }
        assert!(counts.iter().all(|count| *count > 2_000), "{counts:?}");
    }
}
