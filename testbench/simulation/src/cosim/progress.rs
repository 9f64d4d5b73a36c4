//! Tells a run that goes on from one that is stuck.
//!
//! Whether instructions retire is read from the array's own counters through the register port,
//! since every array has both. That is done seldom, and only when no warp was issued, finished or
//! committed for long, so that it costs no simulated speed and runs take the cycles that they take
//! without it.

use hermes_rtl::config::WATCHDOG_CAUSE;
use hermes_rtl::host::registers::offset;

use super::axi_lite::Access;
use super::device::Device as _;
use super::error::CosimError;
use super::fault_record::FaultRecord;
use super::host::Host;
use super::session::RunOptions;
use super::simulation::{Event, Simulation};

/// Times that the counters are read within [`RunOptions::stall_limit`].
const READS: u64 = 4;

/// What is to be done in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing.
    GoOn,
    /// The counters are to be read, if the register port is free.
    Read,
    /// The run is to be given up.
    GiveUp(Stuck),
}

/// Why a run is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stuck {
    /// Nothing went on for so many cycles.
    Stall(u64),
    /// No packet was committed for so many cycles.
    NoCommit(u64),
}

impl Stuck {
    /// The error of a run of `host` in `cycle`; `state` tells what is pending.
    pub(super) fn error(self, host: &mut Host<Simulation>, cycle: u64, state: String) -> CosimError {
        match self {
            Self::Stall(quiet) => CosimError::NoProgress { cycle, quiet, state },
            Self::NoCommit(quiet) => {
                let at = warps(host).unwrap_or_default();
                CosimError::NoCommit { cycle, quiet, state, at }
            }
        }
    }
}

/// Cycles until the watchdog has ended all warps that are on cores.
const WATCHDOG_CYCLES: u64 = 4_096;

/// Where the warps are that are on cores: the watchdog ends them, and its records tell. With
/// firmware, which may take the records, nothing is told.
fn warps(host: &mut Host<Simulation>) -> Result<Vec<FaultRecord>, CosimError> {
    if host.has_firmware() {
        return Ok(Vec::new());
    }
    // What comes now is not of the run.
    host.device_mut().remove_observer();
    host.write("WATCHDOG", 1)?;
    host.device_mut().run(WATCHDOG_CYCLES)?;
    let (records, _) = host.take_faults()?;
    Ok(records.into_iter().filter(|record| record.cause == WATCHDOG_CAUSE).collect())
}

/// The watch over one run. Cycles are those of the run.
#[derive(Debug)]
pub(super) struct Watch {
    stall_limit: u64,
    commit_limit: u64,
    now: u64,
    /// The last cycle in which something is known to have gone on, or nothing was to be done.
    alive: u64,
    /// The last commit, or cycle in which nothing was to be done.
    committed: u64,
    /// The counters when they were read last.
    counts: Vec<u32>,
    read: Vec<u32>,
    next_read: u64,
}

impl Watch {
    pub(super) fn new(options: &RunOptions) -> Self {
        Self {
            stall_limit: options.stall_limit,
            commit_limit: options.commit_limit,
            now: 0,
            alive: 0,
            committed: 0,
            counts: Vec::new(),
            read: Vec::new(),
            next_read: 0,
        }
    }

    /// The array told of `event`.
    pub(super) fn event(&mut self, now: u64, event: Event) {
        self.alive = now;
        if let Event::Commit(..) = event {
            self.committed = now;
        }
    }

    /// A frame entered or left.
    pub(super) fn moved(&mut self, now: u64) {
        self.alive = now;
    }

    /// A cycle has passed; `busy`: the array has something to do.
    #[inline]
    pub(super) fn cycle(&mut self, now: u64, busy: bool) -> Step {
        self.now = now;
        if !busy {
            (self.alive, self.committed) = (now, now);
            return Step::GoOn;
        }
        if now - self.committed > self.commit_limit {
            return Step::GiveUp(Stuck::NoCommit(now - self.committed));
        }
        let between = self.stall_limit / READS;
        if now - self.alive > between && now >= self.next_read {
            Step::Read
        } else {
            Step::GoOn
        }
    }

    /// The accesses that read the counters of `cores` cores.
    pub(super) fn accesses(&mut self, cores: u32) -> Vec<Access> {
        self.read.clear();
        self.next_read = self.now + (self.stall_limit / READS).max(1);
        let core = |core| {
            let select = Access::Write { offset: offset("CORE_SELECT"), value: core };
            [select, Access::Read { offset: offset("CORE_INSTRUCTIONS") }]
        };
        (0..cores).flat_map(core).collect()
    }

    /// An access of [`Self::accesses`] ended and gave `value`.
    pub(super) fn take(&mut self, access: Access, value: u32) {
        if let Access::Read { .. } = access {
            self.read.push(value);
        }
    }

    /// All these accesses ended. `lines`: lines that were written to memory, while the caches are
    /// cleaned; then they tell of progress too.
    pub(super) fn counted(&mut self, lines: Option<u64>) -> Option<Stuck> {
        self.read.extend(lines.map(|lines| lines as u32));
        if self.read != self.counts {
            std::mem::swap(&mut self.read, &mut self.counts);
            self.alive = self.now;
        }
        let quiet = self.now - self.alive;
        (quiet > self.stall_limit).then_some(Stuck::Stall(quiet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::{PacketRange, WarpSlot};

    /// Runs a watch with limits of 1,000 and 10,000 cycles for `cycles` cycles, while `retired`
    /// tells how many instructions each of two cores has retired by a cycle, and a commit comes in
    /// those that `commits` names. Gives the end, and the reads.
    fn watch(
        cycles: u64,
        retired: impl Fn(u64) -> [u32; 2],
        commits: &[u64],
    ) -> (Option<(u64, Stuck)>, usize) {
        let options = RunOptions { stall_limit: 1_000, commit_limit: 10_000, ..RunOptions::default() };
        let (mut watch, mut reads) = (Watch::new(&options), 0);
        for now in 0..cycles {
            if commits.contains(&now) {
                let warp = WarpSlot { core: 0, slot: 0 };
                watch.event(now, Event::Commit(warp, PacketRange { first: 0, count: 1 }));
            }
            let stuck = match watch.cycle(now, true) {
                Step::GoOn => None,
                Step::GiveUp(stuck) => Some(stuck),
                Step::Read => {
                    reads += 1;
                    for (at, access) in watch.accesses(2).into_iter().enumerate() {
                        watch.take(access, retired(now)[at / 2]);
                    }
                    watch.counted(None)
                }
            };
            if let Some(stuck) = stuck {
                return (Some((now, stuck)), reads);
            }
        }
        (None, reads)
    }

    #[test]
    fn a_core_that_retires_is_alive_until_the_commits_are_overdue() {
        let (end, reads) = watch(9_000, |now| [7, now as u32 / 200], &[]);
        assert_eq!(end, None);
        assert!((30..=36).contains(&reads), "{reads}");
        let (end, _) = watch(30_000, |now| [now as u32, 0], &[9_000]);
        assert_eq!(end, Some((19_001, Stuck::NoCommit(10_001))));
        assert_eq!(watch(30_000, |now| [now as u32, 0], &[9_000, 19_000, 29_000]).0, None);
    }

    #[test]
    fn cores_that_retire_nothing_are_stuck() {
        let (end, _) = watch(9_000, |now| [(now as u32).min(3_000), 5], &[]);
        let (cycle, stuck) = end.expect("an end");
        // The last read that saw something new is at most a quarter of the limit after the last
        // instruction.
        assert!((4_000..4_600).contains(&cycle), "{cycle}");
        assert!(matches!(stuck, Stuck::Stall(1_001..=1_300)), "{stuck:?}");
        // Commits alone keep a run going, without reads.
        assert_eq!(watch(3_000, |_| [0; 2], &std::array::from_fn::<_, 16, _>(|i| 200 * i as u64)), (None, 0));
    }

    #[test]
    fn idle_cycles_do_not_count() {
        let options = RunOptions { stall_limit: 1_000, commit_limit: 10_000, ..RunOptions::default() };
        let mut watch = Watch::new(&options);
        assert!((0..50_000).all(|now| watch.cycle(now, false) == Step::GoOn));
        assert!((50_000..50_200).all(|now| watch.cycle(now, true) == Step::GoOn));
    }

    #[test]
    fn lines_count_while_the_caches_are_cleaned() {
        let options = RunOptions { stall_limit: 1_000, ..RunOptions::default() };
        let mut watch = Watch::new(&options);
        for (now, lines, stuck) in [(1_000, 1, false), (2_500, 2, false), (4_000, 2, true)] {
            assert!(matches!(watch.cycle(now, true), Step::Read));
            watch.accesses(1);
            assert_eq!(watch.counted(Some(lines)).is_some(), stuck, "cycle {now}");
        }
    }
}
