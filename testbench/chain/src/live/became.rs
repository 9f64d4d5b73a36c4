//! What became of the packets of a run: by function, and by number for the counters of the array.

use std::collections::BTreeMap;

use anyhow::ensure;

use crate::chain::simulated::Stop;
use crate::cosim::{FunctionCounts, PacketRecord};
use crate::verdict::Verdict;

/// What became of the packets at a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Became {
    /// Packets by verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
}

impl Became {
    /// The counters of the function, which started `visits` warps. Nobody has counted how many
    /// waited.
    #[must_use]
    pub fn counts(&self, visits: u32) -> FunctionCounts {
        let count = |of: fn(Verdict) -> bool| {
            let of_kind = self.verdicts.iter().filter(|(verdict, _)| of(**verdict));
            of_kind.map(|(_, packets)| *packets as u32).sum::<u32>()
        };
        let forwarded = count(Verdict::is_forward);
        let lanes = count(|_| true);
        let (dropped, faulted) = (lanes - forwarded, count(Verdict::is_fault));
        FunctionCounts { visits, lanes, forwarded, dropped, faulted, ..FunctionCounts::default() }
    }
}

/// What the counters of a number may be by the golden models. While tables change or a function is
/// bent to a stub, a packet may have been forwarded or dropped: where packets branch both may lead
/// the same way, and what leaves does not tell which of them it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    lanes: usize,
    /// At least and at most.
    forwarded: [usize; 2],
    faulted: [usize; 2],
}

impl Bounds {
    /// A packet with one of these verdicts comes.
    pub fn add(&mut self, verdicts: impl Iterator<Item = Verdict> + Clone) {
        self.lanes += 1;
        for (count, is) in [
            (&mut self.forwarded, Verdict::is_forward as fn(Verdict) -> bool),
            (&mut self.faulted, Verdict::is_fault),
        ] {
            count[0] += usize::from(verdicts.clone().all(is));
            count[1] += usize::from(verdicts.clone().any(is));
        }
    }

    /// Compares the counters of number `number` with it.
    ///
    /// # Errors
    /// One is not what it may be.
    pub fn check(&self, number: usize, got: &FunctionCounts) -> anyhow::Result<()> {
        let [least, most] = self.forwarded;
        for (name, got, [least, most]) in [
            ("NF_LANES", got.lanes, [self.lanes; 2]),
            ("NF_FORWARDED and NF_DROPPED", got.forwarded + got.dropped, [self.lanes; 2]),
            ("NF_FORWARDED", got.forwarded, self.forwarded),
            ("NF_DROPPED", got.dropped, [self.lanes - most, self.lanes - least]),
            ("NF_FAULTED", got.faulted, self.faulted),
            ("NF_QUEUED", got.queued, [0; 2]),
        ] {
            let expected = match least == most {
                true => most.to_string(),
                false => format!("{least} to {most}"),
            };
            ensure!(
                (least..=most).contains(&(got as usize)),
                "{name} of number {number} is {got}; expected {expected} by the golden models"
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
            lanes: 5,
            forwarded,
            dropped,
            faulted,
            ..FunctionCounts::default()
        };
        for good in [counts(1, 4, 1), counts(2, 3, 1), counts(2, 3, 2)] {
            bounds.check(0, &good).unwrap();
        }
        for (bad, expected) in [
            (FunctionCounts { lanes: 4, ..counts(1, 4, 1) }, "NF_LANES of number 2 is 4; expected 5 by"),
            (FunctionCounts { queued: 1, ..counts(1, 4, 1) }, "NF_QUEUED of number 2 is 1; expected 0 by"),
            (counts(0, 5, 1), "NF_FORWARDED of number 2 is 0; expected 1 to 2 by"),
            (counts(3, 2, 1), "NF_FORWARDED of number 2 is 3; expected 1 to 2 by"),
            (counts(1, 3, 1), "NF_FORWARDED and NF_DROPPED of number 2 is 4; expected 5 by"),
            (counts(1, 4, 3), "NF_FAULTED of number 2 is 3; expected 1 to 2 by"),
            (counts(1, 4, 0), "NF_FAULTED of number 2 is 0; expected 1 to 2 by"),
        ] {
            let error = bounds.check(2, &bad).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
