//! One write port of memory for the command processor and the thread spawner.

use super::COMPLETION_TAG;
use crate::ports::LineWrite;
use hermes_hdl::prelude::*;

/// Merges the stores of the command processor and the completion words of the thread spawner into
/// one requester of memory, in which a write that is on offer stays until it is accepted.
///
/// Combinational, but for that. Completion words go first: there is one at a time, and several
/// cycles between two. Acknowledgements with tag [`COMPLETION_TAG`](super::COMPLETION_TAG) are
/// those of completion words.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct WriteMerge {
    /// From the store buffer of the command processor.
    pub stores: Flipped<LineWrite>,
    /// From the thread spawner.
    pub completions: Flipped<LineWrite>,
    /// To memory.
    pub memory: LineWrite,
    /// A store is on offer and was not accepted.
    stays: Register<Bit>,
}

impl Logic for WriteMerge {
    #[hdl_gen]
    fn update(&mut self) {
        let completion = self.completions.valid.val() & !self.stays.q.val();
        always!(a_store_on_offer_is_not_taken_back, !self.stays.q.val() | self.stores.valid.val());
        self.memory.valid.next = self.stores.valid.val() | completion;
        self.memory.line.next = self.stores.line.val();
        self.memory.data.next = self.stores.data.val();
        self.memory.strobe.next = self.stores.strobe.val();
        self.memory.tag.next = self.stores.tag.val();
        self.stores.ready.next = self.memory.ready.val() & !completion;
        self.completions.ready.next = self.memory.ready.val() & completion;
        if completion {
            self.memory.line.next = self.completions.line.val();
            self.memory.data.next = self.completions.data.val();
            self.memory.strobe.next = self.completions.strobe.val();
            self.memory.tag.next = self.completions.tag.val();
        }
        self.stays.d.next = self.stores.valid.val() & !completion & !self.memory.ready.val();
        let of_completion = self.memory.written.tag.val() == bits::<6>(COMPLETION_TAG as u64);
        self.stores.written.valid.next = self.memory.written.valid.val() & !of_completion;
        self.stores.written.tag.next = self.memory.written.tag.val();
        self.completions.written.valid.next = self.memory.written.valid.val() & of_completion;
        self.completions.written.tag.next = self.memory.written.tag.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    #[test]
    fn every_write_passes_once_and_stays_until_it_is_accepted() {
        let mut random = random();
        let mut unit = WriteMerge::default();
        reset!(unit);
        let (mut stores, mut completions) = (VecDeque::new(), VecDeque::new());
        let mut next = 0u64;
        let mut on_offer = None;
        let (mut passed, mut waited) = ([0; 2], 0);
        for cycle in 0..8_000 {
            if random.gen_bool(0.5) && stores.len() < 4 {
                stores.push_back(next);
                next += 1;
            }
            if random.gen_bool(0.2) && completions.is_empty() {
                completions.push_back(next);
                next += 1;
            }
            unit.stores.valid.next = !stores.is_empty();
            unit.stores.line.next = stores.front().copied().unwrap_or(0).into();
            unit.stores.tag.next = 3.into();
            unit.completions.valid.next = !completions.is_empty();
            unit.completions.line.next = completions.front().copied().unwrap_or(0).into();
            unit.completions.tag.next = u64::from(COMPLETION_TAG).into();
            unit.memory.ready.next = random.gen_bool(0.6);
            unit.memory.written.valid.next = random.gen();
            unit.memory.written.tag.next = random.gen_range(28..32u64).into();
            settle(&mut unit);
            let offered = unit.memory.valid.val().then(|| unit.memory.line.val().to_u64());
            assert_eq!(offered.is_some(), !stores.is_empty() || !completions.is_empty());
            if let Some(before) = on_offer {
                assert_eq!(offered, Some(before), "cycle {cycle}: what was on offer stays");
            }
            let kind = usize::from(unit.memory.tag.val().to_u64() == 31);
            on_offer = offered.filter(|_| !unit.memory.ready.val());
            waited = if offered.is_some() && kind == 0 && !completions.is_empty() { waited + 1 } else { 0 };
            assert!(waited < 30, "a completion word waits for one store at most");
            let taken = [unit.stores.ready.val(), unit.completions.ready.val()];
            if unit.memory.ready.val() && offered.is_some() {
                assert_eq!(taken, [kind == 0, kind == 1], "cycle {cycle}");
                let source = if kind == 1 { &mut completions } else { &mut stores };
                assert_eq!(source.pop_front(), offered, "cycle {cycle}");
                passed[kind] += 1;
            }
            let is_completion = unit.memory.written.tag.val().to_u64() == 31;
            let written = unit.memory.written.valid.val();
            assert_eq!(unit.stores.written.valid.val(), written && !is_completion);
            assert_eq!(unit.completions.written.valid.val(), written && is_completion);
            tick!(unit);
        }
        assert!(passed[0] > 1_000 && passed[1] > 500, "{passed:?}");
    }
}
