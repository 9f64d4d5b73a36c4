//! What load counters tell of a run.

use serde::{Deserialize, Serialize};

use crate::cosim::LoadCounters;

/// The load of an array over a run, by its load counters (option `load_counters` of the
/// configuration).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Warp slots of a core that were busy, mean over the cores and the cycles of the run.
    pub mean_busy_slots: f64,
    /// Warps of packets formed because there was a packet for each lane.
    pub formed_full: u64,
    /// Partial warps formed because their oldest packet waited for the time-out.
    pub formed_timeout: u64,
    /// Partial warps formed before that for an idle slot.
    pub formed_eager: u64,
    /// Lines that loads asked for: those that the L1 had, and those that it read.
    pub l1_lines: u64,
    /// Share of them that the L1 had: 0 to 1; 0 if there was none.
    pub l1_hit_rate: f64,
    /// Cycles in which the delay commit queue was full: no warp is issued then.
    pub commit_queue_full_cycles: u64,
    /// Most entries of the task FIFO.
    pub high_tasks: u32,
    /// Most warps in the delay commit queue.
    pub high_commit_queue: u32,
    /// Most slots of the ring that packets occupied; none without packet ports.
    pub high_ring: Option<u32>,
}

impl Load {
    /// Of a run that took `cycles`, whose cores read `line_reads` data lines, on an array with or
    /// without packet ports.
    #[must_use]
    pub fn of(counters: &LoadCounters, line_reads: u64, cycles: u64, packet_ports: bool) -> Self {
        let hits: u64 = counters.line_hits.iter().map(|hits| u64::from(*hits)).sum();
        let l1_lines = hits + line_reads;
        let slots = (cycles * counters.line_hits.len() as u64).max(1);
        Self {
            mean_busy_slots: counters.slot_cycles as f64 / slots as f64,
            formed_full: counters.formed_full.into(),
            formed_timeout: counters.formed_timeout.into(),
            formed_eager: counters.formed_eager.into(),
            l1_lines,
            l1_hit_rate: hits as f64 / l1_lines.max(1) as f64,
            commit_queue_full_cycles: counters.commit_queue_full.into(),
            high_tasks: counters.high_tasks,
            high_commit_queue: counters.high_commit_queue,
            high_ring: packet_ports.then_some(counters.high_ring),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_by_hand() {
        // Two cores for 100 cycles: 500 of 200 core-cycles.
        let counters = LoadCounters {
            line_hits: vec![30, 60],
            formed_full: 7,
            formed_timeout: 2,
            formed_eager: 1,
            slot_cycles: 500,
            commit_queue_full: 3,
            high_tasks: 4,
            high_commit_queue: 5,
            high_ring: 6,
        };
        let load = Load::of(&counters, 30, 100, true);
        assert_eq!((load.mean_busy_slots, load.l1_lines, load.l1_hit_rate), (2.5, 120, 0.75));
        assert_eq!((load.formed_full, load.formed_timeout, load.formed_eager), (7, 2, 1));
        assert_eq!(load.commit_queue_full_cycles, 3);
        assert_eq!((load.high_tasks, load.high_commit_queue, load.high_ring), (4, 5, Some(6)));
        assert_eq!(Load::of(&counters, 30, 100, false).high_ring, None);
        let none = Load::of(&LoadCounters::default(), 0, 0, false);
        assert_eq!((none.mean_busy_slots, none.l1_hit_rate), (0.0, 0.0));
    }
}
