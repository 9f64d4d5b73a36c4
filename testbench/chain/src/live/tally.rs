//! What the array has counted of each function, whatever numbers it had: the counters of a number
//! are read before it gets another function.

use std::collections::VecDeque;

use hermes_rtl::host::registers::offset;

use crate::cosim::{Access, Completion, FunctionCounts};

/// Registers of a number that are read, behind NF_SELECT.
const REGISTERS: [&str; 6] = ["NF_VISITS", "NF_LANES", "NF_FORWARDED", "NF_DROPPED", "NF_FAULTED", "NF_PEAK"];

/// The counters of functions.
#[derive(Debug)]
pub(super) struct Tally {
    functions: Vec<FunctionCounts>,
    /// The counters of each number when it got its function.
    before: [FunctionCounts; 8],
    /// Numbers that are being read, in their order, each with its function.
    reading: VecDeque<(u32, usize)>,
    words: Vec<u32>,
}

impl Tally {
    /// Of so many functions, on an array that was just reset.
    pub fn new(functions: usize) -> Self {
        Self {
            functions: vec![FunctionCounts::default(); functions],
            before: [FunctionCounts::default(); 8],
            reading: VecDeque::new(),
            words: Vec::new(),
        }
    }

    /// The accesses that read the counters of numbers whose functions go.
    pub fn read(&mut self, of: impl Iterator<Item = (u32, usize)>) -> Vec<Access> {
        self.reading.extend(of);
        let registers = |(number, _): &(u32, usize)| {
            let select = Access::Write { offset: offset("NF_SELECT"), value: *number };
            let reads = REGISTERS.map(|name| Access::Read { offset: offset(name) });
            std::iter::once(select).chain(reads)
        };
        self.reading.iter().flat_map(registers).collect()
    }

    /// Takes the answer to one of them.
    pub fn answer(&mut self, answer: Completion) {
        if matches!(answer.access, Access::Write { .. }) {
            return;
        }
        self.words.push(answer.value);
        let Ok([visits, lanes, forwarded, dropped, faulted, peak]) = <[u32; 6]>::try_from(&self.words[..])
        else {
            return;
        };
        self.words.clear();
        let counts = FunctionCounts { visits, lanes, forwarded, dropped, faulted, peak, queued: 0 };
        if let Some((number, function)) = self.reading.pop_front() {
            self.add(number, function, counts);
        }
    }

    /// A number that `function` has had until now has these counters.
    pub fn add(&mut self, number: u32, function: usize, now: FunctionCounts) {
        let before = std::mem::replace(&mut self.before[number as usize % 8], now);
        let counts = &mut self.functions[function];
        for (sum, now, before) in [
            (&mut counts.visits, now.visits, before.visits),
            (&mut counts.lanes, now.lanes, before.lanes),
            (&mut counts.forwarded, now.forwarded, before.forwarded),
            (&mut counts.dropped, now.dropped, before.dropped),
            (&mut counts.faulted, now.faulted, before.faulted),
        ] {
            *sum = sum.wrapping_add(now.wrapping_sub(before));
        }
        counts.queued += now.queued;
        // That of the functions before it stands as long as it has no more.
        if now.peak > before.peak {
            counts.peak = counts.peak.max(now.peak);
        }
    }

    /// The counters of the functions, when those of the numbers that have one were added.
    pub fn functions(self) -> Vec<FunctionCounts> {
        self.functions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_a_number_are_those_of_its_functions() {
        let mut tally = Tally::new(2);
        let accesses = tally.read([(3, 0), (5, 1)].into_iter());
        assert_eq!(accesses.len(), 14);
        for (place, access) in (0..).zip(accesses) {
            tally.answer(Completion { access, value: place, response: 0 });
        }
        // Function 1 had number 3 then, too.
        let now = |value| FunctionCounts {
            visits: value,
            lanes: value + 1,
            forwarded: value + 2,
            dropped: value + 3,
            faulted: value + 4,
            peak: 6,
            queued: 0,
        };
        tally.add(3, 1, now(101));
        let counts = |values: [u32; 5], peak| FunctionCounts {
            visits: values[0],
            lanes: values[1],
            forwarded: values[2],
            dropped: values[3],
            faulted: values[4],
            peak,
            queued: 0,
        };
        assert_eq!(tally.functions(), [counts([1, 2, 3, 4, 5], 6), counts([108, 109, 110, 111, 112], 13)]);
    }
}
