//! Where the cycles of a core go.

use crate::host::LostCycleCounters;
use crate::ports::LostInstruction;
use hermes_hdl::prelude::*;

/// Why stage X gets no instruction in a cycle.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum LostCycle {
    /// Stage D gets an instruction.
    None,
    /// No warp is on the core, or those that are sleep, or wait for their finish to be taken.
    NoWarp,
    /// Loads, stores or divisions must complete first.
    Memory,
    /// Instructions are not in the cache.
    Fetch,
    /// Warps wait for a branch or jump, or for path selection.
    Divergence,
    /// An instruction was blocked by a hazard and is replayed.
    Scoreboard,
}

/// Counts the cycles of a core that is occupied by their use; modulo 2^32, an event counts two
/// cycles after it.
///
/// In every cycle the pipeline either stalls (`conflict`: the instruction in stage W waits for the
/// register port, stage M, the fault collector or path selection), or stage X takes an instruction,
/// or it loses the cycle for the reason that came down the pipeline with the bubble.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct LostCycles {
    /// At least one warp is on the core.
    pub occupied: Signal<In, Bit>,
    /// The pipeline moves on.
    pub advance: Signal<In, Bit>,
    /// Reason why stage D holds no instruction.
    pub reason: Signal<In, LostCycle>,
    /// From stage D.
    pub outcome: LostInstruction,
    /// To the registers.
    pub counters: LostCycleCounters,
    occupied_q: Register<Bit>,
    advance_q: Register<Bit>,
    reason_q: Register<LostCycle>,
    memory_q: Register<Bits<32>>,
    fetch_q: Register<Bits<32>>,
    divergence_q: Register<Bits<32>>,
    scoreboard_q: Register<Bits<32>>,
    conflict_q: Register<Bits<32>>,
}

impl Logic for LostCycles {
    #[hdl_gen]
    fn update(&mut self) {
        self.occupied_q.d.next = self.occupied.val();
        self.advance_q.d.next = self.advance.val();
        self.reason_q.d.next = self.reason.val();
        let mut lost_to = self.reason_q.q.val();
        if self.outcome.replay.val() {
            lost_to = LostCycle::Scoreboard;
            if self.outcome.miss.val() {
                lost_to = LostCycle::Fetch;
            }
        }
        if self.occupied_q.q.val() {
            if !self.advance_q.q.val() {
                self.conflict_q.d.next = self.conflict_q.q.val() + bits::<32>(1);
            } else if lost_to == LostCycle::Memory {
                self.memory_q.d.next = self.memory_q.q.val() + bits::<32>(1);
            } else if lost_to == LostCycle::Fetch {
                self.fetch_q.d.next = self.fetch_q.q.val() + bits::<32>(1);
            } else if lost_to == LostCycle::Divergence {
                self.divergence_q.d.next = self.divergence_q.q.val() + bits::<32>(1);
            } else if lost_to == LostCycle::Scoreboard {
                self.scoreboard_q.d.next = self.scoreboard_q.q.val() + bits::<32>(1);
            }
        }
        self.counters.memory.next = self.memory_q.q.val();
        self.counters.fetch.next = self.fetch_q.q.val();
        self.counters.divergence.next = self.divergence_q.q.val();
        self.counters.scoreboard.next = self.scoreboard_q.q.val();
        self.counters.conflict.next = self.conflict_q.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tick;

    #[test]
    fn a_cycle_counts_for_one_reason() {
        use LostCycle::*;
        let mut unit = LostCycles::default();
        // What stage D had is replayed: known a cycle later than the rest.
        let (goes_on, again, missed) = ((false, false), (true, false), (true, true));
        let cycles = [
            (false, true, Memory, goes_on),
            (true, true, None, goes_on),
            (true, true, Memory, goes_on),
            (true, true, Fetch, goes_on),
            (true, true, NoWarp, goes_on),
            (true, true, Divergence, goes_on),
            (true, true, Divergence, goes_on),
            (true, true, None, goes_on),
            (true, true, None, again),
            (true, false, Scoreboard, missed),
            (true, false, None, goes_on),
            (true, false, Memory, goes_on),
            // The last one counts with the next edge.
            (false, true, None, goes_on),
        ];
        for (occupied, advance, reason, (replays, misses)) in cycles {
            unit.occupied.next = occupied;
            unit.advance.next = advance;
            unit.reason.next = reason;
            unit.outcome.replay.next = replays;
            unit.outcome.miss.next = misses;
            tick!(unit);
        }
        let LostCycleCounters { memory, fetch, divergence, scoreboard, conflict } = unit.counters;
        let counts = [memory, fetch, divergence, scoreboard, conflict].map(|c| c.val().index());
        assert_eq!(counts, [1, 2, 2, 1, 3]);
    }
}
