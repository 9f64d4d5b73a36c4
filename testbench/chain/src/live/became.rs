//! What became of the packets of a run, by function, and what the counters of the array must have
//! by that.

use std::collections::BTreeMap;

use anyhow::ensure;

use super::outcomes::ENDED;
use crate::cosim::{FunctionCounts, PacketRecord};
use crate::simulated::Stop;
use crate::verdict::Verdict;

/// What became of the packets at a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Became {
    /// Packets by verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// Packets of which nobody knows the verdict: a function before may have changed them before
    /// the watchdog ended it.
    pub unknown: u64,
}

/// What the counters of a function may be by the golden models. While tables change or a function
/// is bent to a stub, a packet may have been forwarded or dropped: where packets branch both may
/// lead the same way, and what leaves does not tell which of them it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    lanes: usize,
    /// At least and at most.
    forwarded: [usize; 2],
    /// Threads that the watchdog has not ended.
    faulted: [usize; 2],
    /// Threads that it has ended.
    ended: [usize; 2],
}

impl Bounds {
    /// A packet with one of these verdicts comes.
    pub fn add(&mut self, verdicts: impl Iterator<Item = Verdict> + Clone) {
        self.lanes += 1;
        for (count, is) in [
            (&mut self.forwarded, Verdict::is_forward as fn(Verdict) -> bool),
            (&mut self.faulted, |verdict| verdict.is_fault() && verdict != ENDED),
            (&mut self.ended, |verdict| verdict == ENDED),
        ] {
            count[0] += usize::from(verdicts.clone().all(is));
            count[1] += usize::from(verdicts.clone().any(is));
        }
    }

    /// The array has records of so many threads that the watchdog has ended, and has lost those of
    /// `lost` threads that faulted.
    pub fn ended(&mut self, threads: u32, lost: u32) {
        let [least, most] = self.ended;
        let most = most.min((threads + lost) as usize);
        self.ended = [least.max(threads as usize), most.max(threads as usize)];
    }

    /// Compares the counters of the function `name`, which got so many warps, with it.
    ///
    /// # Errors
    /// One is not what it may be.
    pub fn check(&self, name: &str, warps: u32, got: &FunctionCounts) -> anyhow::Result<()> {
        let [least, most] = self.forwarded;
        let faulted = [0, 1].map(|end| self.faulted[end] + self.ended[end]);
        for (register, got, [least, most]) in [
            ("NF_VISITS", got.visits, [warps as usize; 2]),
            ("NF_LANES", got.lanes, [self.lanes; 2]),
            ("NF_FORWARDED and NF_DROPPED", got.forwarded + got.dropped, [self.lanes; 2]),
            ("NF_FORWARDED", got.forwarded, self.forwarded),
            ("NF_DROPPED", got.dropped, [self.lanes - most, self.lanes - least]),
            ("NF_FAULTED", got.faulted, faulted),
            ("NF_QUEUED", got.queued, [0; 2]),
        ] {
            let expected = match least == most {
                true => most.to_string(),
                false => format!("{least} to {most}"),
            };
            ensure!(
                (least..=most).contains(&(got as usize)),
                "{register} of `{name}` is {got}; expected {expected} by the golden models"
            );
        }
        Ok(())
    }
}

/// A run that is as the golden models have it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Every packet.
    pub records: Vec<PacketRecord>,
    /// What became of them at each function.
    pub functions: Vec<Became>,
    /// The functions that each packet visited, and the cycles of the starts.
    pub ways: Vec<Vec<(Stop, u64)>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{DROP, FAULT};

    #[test]
    fn counters_are_between_their_bounds() {
        let (forward, drop, fault) = (Verdict::forward(3), Verdict(DROP | 9), Verdict(FAULT | 5));
        let mut bounds = Bounds::default();
        for verdicts in [&[forward][..], &[drop], &[fault], &[forward, drop], &[drop, fault]] {
            bounds.add(verdicts.iter().copied());
        }
        let counts = |forwarded, dropped, faulted| FunctionCounts {
            visits: 2,
            lanes: 5,
            forwarded,
            dropped,
            faulted,
            ..FunctionCounts::default()
        };
        for good in [counts(1, 4, 1), counts(2, 3, 1), counts(2, 3, 2)] {
            bounds.check("f", 2, &good).unwrap();
        }
        for (bad, expected) in [
            (FunctionCounts { visits: 1, ..counts(1, 4, 1) }, "NF_VISITS of `f` is 1; expected 2 by"),
            (FunctionCounts { lanes: 4, ..counts(1, 4, 1) }, "NF_LANES of `f` is 4; expected 5 by"),
            (FunctionCounts { queued: 1, ..counts(1, 4, 1) }, "NF_QUEUED of `f` is 1; expected 0 by"),
            (counts(0, 5, 1), "NF_FORWARDED of `f` is 0; expected 1 to 2 by"),
            (counts(3, 2, 1), "NF_FORWARDED of `f` is 3; expected 1 to 2 by"),
            (counts(1, 3, 1), "NF_FORWARDED and NF_DROPPED of `f` is 4; expected 5 by"),
            (counts(1, 4, 3), "NF_FAULTED of `f` is 3; expected 1 to 2 by"),
            (counts(1, 4, 0), "NF_FAULTED of `f` is 0; expected 1 to 2 by"),
        ] {
            let error = bounds.check("f", 2, &bad).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    /// Of a warp of which the watchdog has ended some threads nobody knows which, but how many.
    #[test]
    fn threads_that_the_watchdog_has_ended_are_counted() {
        for (threads, lost, good) in [(2, 0, 2..=2), (1, 0, 1..=1), (1, 1, 1..=2), (1, 9, 1..=3)] {
            let mut bounds = Bounds::default();
            bounds.add([ENDED].into_iter());
            for _ in 0..2 {
                bounds.add([ENDED, Verdict(DROP | 9)].into_iter());
            }
            bounds.ended(threads, lost);
            for faulted in 0..4 {
                let counts = FunctionCounts { lanes: 3, dropped: 3, faulted, ..FunctionCounts::default() };
                let checked = bounds.check("f", 0, &counts);
                assert_eq!(checked.is_ok(), good.contains(&faulted), "{threads} {lost} {faulted}");
            }
        }
    }
}
