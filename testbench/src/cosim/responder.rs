//! Answers that wait for their time: the latency model of the memory, for one direction.

use std::collections::VecDeque;

use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

/// Cycles from the edge at which a request is taken to the first edge at which its answer can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latency {
    /// Always so many, at least 1.
    Fixed(u32),
    /// Evenly distributed from the first to the second number, both included and at least 1; answers to different
    /// IDs may overtake each other, those of one ID do not.
    Random(u32, u32),
}

#[derive(Debug)]
struct Pending<T> {
    due: u64,
    id: u8,
    answer: T,
}

/// A queue of answers of type `T`.
#[derive(Debug)]
pub(super) struct Responder<T> {
    latency: Latency,
    pending: VecDeque<Pending<T>>,
}

impl<T> Responder<T> {
    pub(super) fn new(latency: Latency) -> Self {
        Self { latency, pending: VecDeque::new() }
    }

    pub(super) fn clear(&mut self) {
        self.pending.clear();
    }

    /// Takes an answer to a request with `id` that was taken at the edge that ends cycle `now`.
    pub(super) fn push(&mut self, now: u64, id: u8, answer: T, random: &mut ChaCha8Rng) {
        let cycles = match self.latency {
            Latency::Fixed(cycles) => cycles.max(1),
            Latency::Random(low, high) => random.gen_range(low.max(1)..=high.max(low).max(1)),
        };
        self.pending.push_back(Pending { due: now + u64::from(cycles), id, answer });
    }

    /// The answer to give in cycle `now`, with its ID, if there is one.
    pub(super) fn pop(&mut self, now: u64, random: &mut ChaCha8Rng) -> Option<(u8, T)> {
        let index = match self.latency {
            Latency::Fixed(_) => (self.pending.front()?.due <= now).then_some(0)?,
            Latency::Random(..) => {
                let mut seen = 0_u64;
                let mut ready = Vec::new();
                for (index, pending) in self.pending.iter().enumerate() {
                    let first_of_id = seen >> pending.id & 1 == 0;
                    seen |= 1 << pending.id;
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
    fn a_fixed_latency_keeps_the_order() {
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut queue = Responder::new(Latency::Fixed(3));
        queue.push(10, 1, 'a', &mut random);
        queue.push(11, 2, 'b', &mut random);
        assert_eq!(queue.pop(12, &mut random), None);
        assert_eq!(queue.pop(13, &mut random), Some((1, 'a')));
        assert_eq!(queue.pop(13, &mut random), None);
        assert_eq!(queue.pop(20, &mut random), Some((2, 'b')));
        assert!(queue.pending.is_empty());
    }

    #[test]
    fn random_latencies_reorder_ids_but_not_one_id() {
        let seed = crate::test_seed();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut queue = Responder::new(Latency::Random(1, 20));
        let (mut last, mut overtaken, mut next) = ([None; 4], 0, 0_u32);
        let mut highest = 0;
        for now in 0..20_000_u64 {
            if queue.pending.len() < 8 {
                queue.push(now, (next % 4) as u8, next, &mut random);
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
