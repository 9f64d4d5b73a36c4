//! What the sender does next.

use crate::blocks::{PriorityEncoder, RoundRobin};
use hermes_hdl::prelude::*;

/// What [`Requester`](super::Requester) does with a queue pair.
pub mod kind {
    /// Its row begins.
    pub const OPEN: u64 = 0;
    /// Its oldest commands end.
    pub const FINISH: u64 = 1;
    /// A payload could not be read.
    pub const FAULT: u64 = 2;
    /// A response is in memory.
    pub const GOT: u64 = 3;
    /// An answer came.
    pub const ANSWER: u64 = 4;
    /// Its timer expired.
    pub const EXPIRE: u64 = 5;
    /// A command is posted.
    pub const POST: u64 = 6;
    /// A packet is sent.
    pub const SEND: u64 = 7;
}

/// Chooses what the sender does next, in the same cycle: rows that begin and commands that may end,
/// faults, what came, answers, time-outs, posts, and packets, for which queue pairs take turns.
///
/// While `enable` something is chosen (`any`). Faults, responses and answers are taken in that
/// cycle (`fault_ready`, `got_ready`, `answer_ready`). A turn is over with `advance`.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct RequestChoice {
    /// Something may be chosen.
    pub enable: Signal<In, Bit>,
    /// Queue pairs whose row is to be begun.
    pub opening: Signal<In, Bits<16>>,
    /// Queue pairs whose oldest command may end.
    pub finishing: Signal<In, Bits<16>>,
    /// Queue pairs that have a packet to send.
    pub sendable: Signal<In, Bits<16>>,
    /// There is room for a frame.
    pub head_ready: Signal<In, Bit>,
    /// A packet was sent.
    pub advance: Signal<In, Bit>,
    /// A payload could not be read.
    pub fault_valid: Signal<In, Bit>,
    /// Queue pair of the fault.
    pub fault_pair: Signal<In, Bits<4>>,
    /// The fault is taken at this edge.
    pub fault_ready: Signal<Out, Bit>,
    /// A response is in memory.
    pub got_valid: Signal<In, Bit>,
    /// Queue pair of the response.
    pub got_pair: Signal<In, Bits<4>>,
    /// The response is taken at this edge.
    pub got_ready: Signal<Out, Bit>,
    /// An answer came.
    pub answer_valid: Signal<In, Bit>,
    /// Queue pair of the answer.
    pub answer_pair: Signal<In, Bits<4>>,
    /// The answer is taken at this edge.
    pub answer_ready: Signal<Out, Bit>,
    /// A timer expired.
    pub expired: Signal<In, Bit>,
    /// Queue pair of the timer.
    pub expired_pair: Signal<In, Bits<4>>,
    /// A command is posted.
    pub posted: Signal<In, Bit>,
    /// Queue pair of the command.
    pub posted_pair: Signal<In, Bits<4>>,
    /// Something is chosen.
    pub any: Signal<Out, Bit>,
    /// The kind of work, as in [`kind`].
    pub kind: Signal<Out, Bits<3>>,
    /// The queue pair.
    pub pair: Signal<Out, Bits<4>>,
    /// A packet waits to be sent.
    pub wants: Signal<Out, Bit>,
    turns: RoundRobin,
    urgent: PriorityEncoder,
}

impl Logic for RequestChoice {
    #[hdl_gen]
    fn update(&mut self) {
        self.urgent.request.next = bit_cast::<32, 16>(self.opening.val() | self.finishing.val());
        self.turns.request.next = bit_cast::<32, 16>(self.sendable.val());
        self.turns.advance.next = self.advance.val();
        self.wants.next = self.turns.any.val();
        let is_urgent = self.urgent.one_hot.val().any();
        let calm = self.enable.val() && !is_urgent;
        self.fault_ready.next = calm;
        self.got_ready.next = calm && !self.fault_valid.val();
        self.answer_ready.next = calm && !self.fault_valid.val() && !self.got_valid.val();
        let mut chosen = bits::<4>(0);
        let mut chosen_kind = bits::<3>(kind::OPEN);
        let mut is_chosen = true;
        if is_urgent {
            chosen = self.urgent.index.val().get_bits::<4>(0);
            if !self.opening.val().get_bit(chosen.index()) {
                chosen_kind = bits::<3>(kind::FINISH);
            }
        } else if self.fault_valid.val() {
            chosen = self.fault_pair.val();
            chosen_kind = bits::<3>(kind::FAULT);
        } else if self.got_valid.val() {
            chosen = self.got_pair.val();
            chosen_kind = bits::<3>(kind::GOT);
        } else if self.answer_valid.val() {
            chosen = self.answer_pair.val();
            chosen_kind = bits::<3>(kind::ANSWER);
        } else if self.expired.val() {
            chosen = self.expired_pair.val();
            chosen_kind = bits::<3>(kind::EXPIRE);
        } else if self.posted.val() {
            chosen = self.posted_pair.val();
            chosen_kind = bits::<3>(kind::POST);
        } else if self.turns.any.val() && self.head_ready.val() {
            chosen = self.turns.index.val().get_bits::<4>(0);
            chosen_kind = bits::<3>(kind::SEND);
        } else {
            is_chosen = false;
        }
        self.any.next = self.enable.val() && is_chosen;
        self.kind.next = chosen_kind;
        self.pair.next = chosen;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    /// The order of what is chosen, and that queue pairs with packets take turns.
    #[test]
    fn first_things_first() {
        let mut rng = random("request_choice");
        let mut uut = RequestChoice::default();
        reset!(uut);
        let (mut counts, mut last) = ([0; 8], 15);
        for _ in 0..8_000 {
            let rare = |rng: &mut rand_chacha::ChaCha8Rng| match rng.gen_bool(0.2) {
                true => 1u64 << rng.gen_range(0..16),
                false => 0,
            };
            let (opening, finishing, sendable) = (rare(&mut rng), rare(&mut rng), rng.gen::<u64>() & 0xffff);
            let valids = [0; 5].map(|_| rng.gen_bool(0.15));
            let pairs = [0; 5].map(|_| rng.gen_range(0..16u64));
            let (enable, ready) = (rng.gen_bool(0.8), rng.gen_bool(0.7));
            uut.enable.next = enable;
            uut.opening.next = opening.into();
            uut.finishing.next = finishing.into();
            uut.sendable.next = sendable.into();
            uut.head_ready.next = ready;
            uut.fault_valid.next = valids[0];
            uut.got_valid.next = valids[1];
            uut.answer_valid.next = valids[2];
            uut.expired.next = valids[3];
            uut.posted.next = valids[4];
            uut.fault_pair.next = pairs[0].into();
            uut.got_pair.next = pairs[1].into();
            uut.answer_pair.next = pairs[2].into();
            uut.expired_pair.next = pairs[3].into();
            uut.posted_pair.next = pairs[4].into();
            settle(&mut uut);
            let urgent = u64::from((opening | finishing).trailing_zeros());
            let first = valids.iter().position(|valid| *valid);
            let turn = (1..=16).map(|step| (last + step) % 16).find(|pair| sendable >> pair & 1 == 1);
            let expected = match (urgent < 16, first, turn) {
                (true, ..) if opening >> urgent & 1 == 1 => Some((kind::OPEN, urgent)),
                (true, ..) => Some((kind::FINISH, urgent)),
                (_, Some(first), _) => Some((kind::FAULT + first as u64, pairs[first])),
                (.., Some(turn)) if ready => Some((kind::SEND, turn)),
                _ => None,
            };
            let expected = expected.filter(|_| enable);
            let got = uut.any.val().then(|| (uut.kind.val().to_u64(), uut.pair.val().to_u64()));
            assert_eq!(got, expected);
            assert_eq!(uut.wants.val(), sendable != 0);
            // One that is here is taken if nothing goes before it.
            let taken = [uut.fault_ready.val(), uut.got_ready.val(), uut.answer_ready.val()];
            for (index, taken) in taken.into_iter().enumerate().filter(|(index, _)| valids[*index]) {
                assert_eq!(taken, got == Some((kind::FAULT + index as u64, pairs[index])));
            }
            if let Some((kind, _)) = got {
                counts[kind as usize] += 1;
            }
            let advances = matches!(got, Some((kind::SEND, _)));
            uut.advance.next = advances;
            settle(&mut uut);
            if advances {
                last = turn.unwrap();
            }
            tick!(uut);
            uut.advance.next = false;
        }
        assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
    }
}
