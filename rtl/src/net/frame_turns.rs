//! Which frame is sent next.

use super::FrameHead;
use crate::prelude::*;

/// Commands' packets and answers take turns at the frame builder.
///
/// The outputs answer the inputs in the same cycle. A command's packet that is offered is taken if the builder takes a frame; it is offered for one
/// cycle. An answer waits while one is offered, and while one is about to be (`request_wants`) if the last frame was an answer.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct FrameTurns {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// A command's packet waits.
    pub request_wants: Signal<In, Bit>,
    /// It is offered.
    pub request_valid: Signal<In, Bit>,
    /// Its headers.
    pub request: Signal<In, FrameHead>,
    /// An answer is offered.
    pub answer_valid: Signal<In, Bit>,
    /// Its headers.
    pub answer: Signal<In, FrameHead>,
    /// It is taken at this edge.
    pub answer_taken: Signal<Out, Bit>,
    /// To the builder: a frame is to be sent.
    pub head_valid: Signal<Out, Bit>,
    /// It is taken at this edge.
    pub head_ready: Signal<In, Bit>,
    /// Its headers.
    pub head: Signal<Out, FrameHead>,
    /// The last frame was an answer.
    answered: Register<Bit>,
}

impl Logic for FrameTurns {
    #[hdl_gen]
    fn update(&mut self) {
        let answers = self.answer_valid.val()
            && !self.request_valid.val()
            && !(self.answered.q.val() && self.request_wants.val());
        let begins = self.request_valid.val() || answers;
        self.answer_taken.next = answers && self.head_ready.val();
        self.head_valid.next = begins;
        self.head.next = self.request.val();
        if answers {
            self.head.next = self.answer.val();
        }
        if begins && self.head_ready.val() {
            self.answered.d.next = answers;
        }
    }
}
