//! Answers that wait for their time, for one direction of a channel.

use std::collections::VecDeque;

use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

/// In what order answers that are due are given. Answers to one ID always keep the order of their
/// requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// In the order of the requests.
    Requests,
    /// Any that is due, at random.
    Random,
    /// In the order in which they became due.
    Due,
}

#[derive(Debug)]
struct Pending<T> {
    /// Number of the request.
    token: u64,
    due: u64,
    id: u8,
    answer: T,
}

/// A queue of answers of type `T`.
#[derive(Debug)]
pub(super) struct Responder<T> {
    order: Order,
    pending: VecDeque<Pending<T>>,
    pushed: u64,
}

impl<T> Responder<T> {
    pub(super) fn new(order: Order) -> Self {
        Self { order, pending: VecDeque::new(), pushed: 0 }
    }

    /// Takes the answer to a request with `id`, which may be given from cycle `due` on, or when
    /// [`Self::set_due`] says, if `None`. Gives the number of the request.
    pub(super) fn push(&mut self, due: Option<u64>, id: u8, answer: T) -> u64 {
        let token = self.pushed;
        self.pushed += 1;
        self.pending.push_back(Pending { token, due: due.unwrap_or(u64::MAX), id, answer });
        token
    }

    /// Lets the answer to request `token` be given from cycle `due` on.
    pub(super) fn set_due(&mut self, token: u64, due: u64) {
        if let Some(pending) = self.pending.iter_mut().find(|p| p.token == token) {
            pending.due = due;
        }
    }

    /// The answer to give in cycle `now`, with its ID, if there is one.
    pub(super) fn pop(&mut self, now: u64, random: &mut ChaCha8Rng) -> Option<(u8, T)> {
        let index = match self.order {
            Order::Requests => (self.pending.front()?.due <= now).then_some(0)?,
            Order::Due => {
                let due = self.pending.iter().enumerate().filter(|(_, p)| p.due <= now);
                due.min_by_key(|(_, p)| p.due)?.0
            }
            Order::Random => {
                let mut seen = [false; 256];
                let mut ready = Vec::new();
                for (index, pending) in self.pending.iter().enumerate() {
                    let first_of_id = !std::mem::replace(&mut seen[usize::from(pending.id)], true);
                    if first_of_id && pending.due <= now {
                        ready.push(index);
                    }
                }
                if ready.is_empty() {
                    return None;
                }
                ready[random.gen_range(0..ready.len())]
            }
        };
        self.pending.remove(index).map(|p| (p.id, p.answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    #[test]
    fn answers_in_the_order_of_requests_wait_for_the_first() {
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut queue = Responder::new(Order::Requests);
        queue.push(Some(13), 1, 'a');
        queue.push(Some(12), 2, 'b');
        assert_eq!(queue.pop(12, &mut random), None);
        assert_eq!(queue.pop(13, &mut random), Some((1, 'a')));
        assert_eq!(queue.pop(13, &mut random), Some((2, 'b')));
        assert_eq!(queue.pop(20, &mut random), None);
    }

    #[test]
    fn answers_can_become_due_later_and_in_another_order() {
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut queue = Responder::new(Order::Due);
        let tokens = ['a', 'b', 'c'].map(|answer| queue.push(None, 0, answer));
        assert_eq!(queue.pop(u64::MAX - 1, &mut random), None);
        queue.set_due(tokens[2], 5);
        queue.set_due(tokens[0], 7);
        assert_eq!(queue.pop(4, &mut random), None);
        assert_eq!(queue.pop(9, &mut random), Some((0, 'c')));
        assert_eq!(queue.pop(9, &mut random), Some((0, 'a')));
        assert_eq!(queue.pop(9, &mut random), None);
    }

    #[test]
    fn random_order_keeps_the_order_of_one_id() {
        let seed = crate::test_seed();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut queue = Responder::new(Order::Random);
        let (mut last, mut overtaken, mut next) = ([None; 256], 0, 0_u32);
        let mut highest = 0;
        for now in 0..20_000_u64 {
            if queue.pending.len() < 8 {
                let due = now + random.gen_range(1..=20);
                // IDs from all of the range, some of which come twice among the pending ones.
                queue.push(Some(due), (next % 4 * 63 + 7) as u8, next);
                next += 1;
            }
            if let Some((id, answer)) = queue.pop(now, &mut random) {
                assert!(last[id as usize] < Some(answer), "order of ID {id}");
                last[id as usize] = Some(answer);
                overtaken += u32::from(answer < highest);
                highest = highest.max(answer);
            }
        }
        assert!(next > 1000 && overtaken > 100, "{next} answers, {overtaken} overtaken");
    }
}
