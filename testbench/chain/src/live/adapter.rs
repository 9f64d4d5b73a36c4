//! Cores that are given out anew when what comes changes: the host reads counters of the array
//! every 65,536 cycles, and decides by them.

use super::events::When;
use super::steps::{Change, Step};
use crate::cosim::{Access, Completion};
use crate::schedule::adapt::{rescale, Counted, Watch, WINDOW};
use crate::schedule::{limit_for, place, split, Demand, Share};
use hermes_rtl::host::registers::offset;

/// Registers of a function that are read, behind NF_SELECT.
const OF_FUNCTION: [&str; 5] = ["NF_LANES", "NF_VISITS", "NF_FORWARDED", "NF_DROPPED", "NF_QUEUED"];
/// Part of the warp slots of a function with a warp, from which on they count as full.
const FULL: f64 = 0.75;

/// What cores are given out by.
#[derive(Clone, Debug)]
pub struct Adapt {
    /// What each function costs, by its profile.
    pub demands: Vec<Demand>,
    /// Lanes of a core.
    pub lanes: u32,
    /// CHAIN_LIMIT follows the warp slots; else it stays as it is.
    pub limit_follows: bool,
    /// Cycles of a window: 65,536.
    pub window: u64,
}

impl Adapt {
    /// By the profiles of the functions, on an array whose cores have `lanes` lanes.
    #[must_use]
    pub fn new(demands: Vec<Demand>, lanes: u32, limit_follows: bool) -> Self {
        Self { demands, lanes, limit_follows, window: WINDOW }
    }
}

/// What was counted of a function in the window behind which cores were given out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DecidedBy {
    /// Packets that came to it, a cycle.
    pub rate: f64,
    /// Cycles of its cores with a warp, for each packet.
    pub core_cycles: f64,
    /// Warps that waited for it at the end.
    pub queued: u32,
}

/// A decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The cycle of the run.
    pub cycle: u64,
    /// What it was made by, for each function.
    pub by: Vec<DecidedBy>,
    /// Cores and warps of each function before.
    pub before: Vec<Share>,
    /// Cores and warps of each function from then on.
    pub after: Vec<Share>,
    /// Packets a cycle that are expected of them; none if no split keeps the limits of time.
    pub expected: Option<f64>,
    /// The cycle from which on all cores have their functions; none if the run ended before.
    pub stood: Option<u64>,
}

/// Counters at the end of a window.
#[derive(Clone, Debug, Default)]
struct Reading {
    cycle: u64,
    functions: Vec<[u32; OF_FUNCTION.len()]>,
    active: Vec<u32>,
    committed: u32,
}

/// The host that gives out cores anew.
#[derive(Clone, Debug)]
pub(super) struct Adapter {
    lanes: u32,
    limit_follows: bool,
    window: u64,
    demands: Vec<Demand>,
    shares: Vec<Share>,
    watch: Watch,
    last: Option<Reading>,
    /// Words of the reading under way.
    words: Vec<u32>,
    next: u64,
    /// From when on windows count: what is before belongs to another split.
    from: u64,
    /// What was decided.
    pub decisions: Vec<Decision>,
}

impl Adapter {
    /// Of functions with these cores and warps.
    pub fn new(adapt: &Adapt, shares: Vec<Share>) -> Self {
        Self {
            lanes: adapt.lanes,
            limit_follows: adapt.limit_follows,
            window: adapt.window,
            demands: adapt.demands.clone(),
            shares,
            watch: Watch::default(),
            last: None,
            words: Vec::new(),
            next: adapt.window,
            from: 0,
            decisions: Vec::new(),
        }
    }

    /// The accesses of a reading, if a window ends now on an array of `cores` cores.
    pub fn reading(&mut self, now: u64, cores: u32) -> Vec<Access> {
        if now < self.next {
            return Vec::new();
        }
        self.next = (now / self.window + 1) * self.window;
        self.words.clear();
        let write = |name, value| Access::Write { offset: offset(name), value };
        let read = |name| Access::Read { offset: offset(name) };
        let mut accesses = vec![read("COMMITTED_WARPS")];
        for function in 0..self.demands.len() as u32 {
            accesses.push(write("NF_SELECT", function));
            accesses.extend(OF_FUNCTION.map(read));
        }
        for core in 0..cores {
            accesses.extend([write("CORE_SELECT", core), read("CORE_ACTIVE_CYCLES")]);
        }
        accesses
    }

    /// Takes the answer to an access of the reading; with the last one a change is given, if cores
    /// are to move. `owners` are the functions of the cores.
    pub fn answer(&mut self, answer: Completion, now: u64, owners: &[Option<u32>]) -> Option<Change> {
        if let Access::Read { .. } = answer.access {
            self.words.push(answer.value);
        }
        let functions = self.demands.len();
        let of_functions = OF_FUNCTION.len() * functions;
        if self.words.len() < 1 + of_functions + owners.len() {
            return None;
        }
        let (of_functions, active) = self.words[1..].split_at(of_functions);
        let rows = of_functions.chunks_exact(OF_FUNCTION.len());
        let reading = Reading {
            cycle: now,
            functions: rows.filter_map(|row| row.try_into().ok()).collect(),
            active: active.to_vec(),
            committed: self.words[0],
        };
        self.words.clear();
        let before = self.last.replace(reading.clone())?;
        // The first packets are still on their way, or the window belongs to another split.
        if before.committed == 0 || before.cycle < self.from {
            return None;
        }
        let counted = self.counted(&before, &reading, owners);
        // Nothing comes: no split is better than another one.
        if counted.first().is_none_or(|entry| entry.packets == 0) || !self.watch.window(&counted) {
            return None;
        }
        self.decide(&counted, now, owners)
    }

    /// What was counted between two readings, to the length of a window.
    fn counted(&self, before: &Reading, now: &Reading, owners: &[Option<u32>]) -> Vec<Counted> {
        let of = |function: usize| {
            let (a, b) = (&before.functions[function], &now.functions[function]);
            let [packets, warps] = [0, 1].map(|at| b[at].wrapping_sub(a[at]));
            let owned = |core: &usize| owners[*core] == Some(function as u32);
            let cores = (0..owners.len()).filter(owned);
            let active = cores.map(|core| u64::from(now.active[core].wrapping_sub(before.active[core])));
            // Packets on its cores, of as many as its slots hold with the lanes that a warp had.
            let here = b[0].wrapping_sub(b[2]).wrapping_sub(b[3]);
            let Share { cores, warps: mcw } = self.shares[function];
            let slots = cores as f64 * f64::from(mcw);
            let lanes = f64::from(packets) / f64::from(warps).max(1.0);
            let of_window = |count: u64| count * self.window / (now.cycle - before.cycle).max(1);
            let left = now.committed.wrapping_sub(before.committed);
            Counted {
                packets: of_window(packets.into()),
                warps: of_window(warps.into()),
                visits: f64::from(warps) / f64::from(left.max(1)),
                core_cycles: of_window(active.sum()),
                queued: b[4],
                full: f64::from(here) >= FULL * slots * lanes,
            }
        };
        (0..self.demands.len()).map(of).collect()
    }

    /// Gives out the cores by what was counted in a window.
    fn decide(&mut self, counted: &[Counted], now: u64, owners: &[Option<u32>]) -> Option<Change> {
        let per_packet =
            |demand: &Demand, share: &Share| demand.cycles(*share) / f64::from(self.lanes * share.warps);
        let known = self.demands.iter().zip(&self.shares);
        let known: Vec<_> = known.map(|(demand, share)| per_packet(demand, share)).collect();
        rescale(&mut self.demands, self.lanes, &known, counted);
        let by = counted.iter().map(|counted| DecidedBy {
            rate: counted.packets as f64 / self.window as f64,
            core_cycles: counted.core_cycles as f64 / counted.packets.max(1) as f64,
            queued: counted.queued,
        });
        let by = by.collect();
        // Where a limit of time cannot be kept any more, cores stay as they are.
        let found = split(self.lanes, owners.len(), &self.demands, None).ok();
        let after = found.as_ref().map_or_else(|| self.shares.clone(), |found| found.shares.clone());
        let before = std::mem::replace(&mut self.shares, after.clone());
        let moves = before != after;
        self.decisions.push(Decision {
            cycle: now,
            by,
            before: before.clone(),
            after: after.clone(),
            expected: found.map(|found| found.rate),
            stood: (!moves).then_some(now),
        });
        if !moves {
            return None;
        }
        // No window counts before all cores have their functions.
        self.from = u64::MAX;
        let counts: Vec<_> = after.iter().map(|share| share.cores).collect();
        let cores = place(owners, &counts);
        let mut steps = Vec::new();
        for (number, (before, after)) in before.iter().zip(&after).enumerate() {
            if before.warps != after.warps {
                steps.push(Step::Warps { number: number as u32, warps: after.warps });
            }
        }
        if self.limit_follows {
            steps.push(Step::Limit(limit_for(&after)));
        }
        steps.extend([Step::Cores(cores), Step::WaitCores]);
        let (told, chain, edges) = ("cores given out anew".to_string(), Vec::new(), Vec::new());
        Some(Change { when: When::Cycle(now), told, chain, edges, cores: counts, steps })
    }

    /// The last decision stands.
    pub fn stands(&mut self, now: u64) {
        self.from = now;
        if let Some(last) = self.decisions.last_mut() {
            last.stood.get_or_insert(now);
        }
    }
}
