//! Which thread comes before which.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::cosim::{WarpSlot, Work};

/// Instructions that a warp retired up to an access: its time.
pub(super) type Step = u32;

/// Lanes of a warp, in the numbers of hardware threads.
const LANES: u32 = 32;

/// A hardware thread: a lane of a warp slot of a core.
fn place(slot: WarpSlot, lane: u32) -> u32 {
    (u32::from(slot.core) << 5 | u32::from(slot.slot)) * LANES + lane
}

/// What a thread knows of others: of each hardware thread the last warp and its time that come
/// before. What earlier warps of that hardware thread did comes before, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(BTreeMap<u32, (u32, Step)>);

impl Clock {
    /// Adds what `other` knows.
    pub fn join(&mut self, other: &Self) {
        for (place, time) in &other.0 {
            self.add(*place, *time);
        }
    }

    fn add(&mut self, place: u32, time: (u32, Step)) {
        let known = self.0.entry(place).or_insert(time);
        *known = (*known).max(time);
    }
}

/// A job of the thread spawner.
#[derive(Clone, Copy, Debug, Default)]
struct Job {
    triggered: u64,
    completed: Option<u64>,
}

/// A warp of the run.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    /// Where it is.
    pub slot: WarpSlot,
    /// Its packets, or threads of a job.
    pub work: Work,
    /// It asked for core, warp slot or stack.
    pub uses_place: bool,
    /// The number of its job.
    job: Option<usize>,
    issued: u64,
    finished: Option<u64>,
    /// What its threads knew at its end, if they knew anything.
    last: Option<Rc<Clock>>,
}

/// All warps of a run by their numbers, in the order of their issues, and the jobs.
#[derive(Debug, Default)]
pub(super) struct Order {
    warps: Vec<Warp>,
    jobs: Vec<Job>,
    /// The job that has a slot of the spawner.
    in_slot: BTreeMap<u8, usize>,
    /// Slots of the ring as a power of two.
    ring_slots_log2: u32,
    /// Events so far.
    now: u64,
    /// Warps of packets that may be before others and knew something at their ends.
    knowing: Vec<u32>,
}

impl Order {
    /// The order of packets in a ring of `1 << ring_slots_log2` slots.
    pub fn new(ring_slots_log2: u32) -> Self {
        Self { ring_slots_log2, ..Self::default() }
    }

    pub fn warp(&self, number: u32) -> &Warp {
        &self.warps[number as usize]
    }

    /// A warp is issued; gives its number.
    pub fn issue(&mut self, slot: WarpSlot, work: Work) -> u32 {
        self.now += 1;
        let job = match work {
            Work::Packets(_) => None,
            Work::Job { job, .. } => self.in_slot.get(&job).copied(),
        };
        let (uses_place, finished, last) = (false, None, None);
        self.warps.push(Warp { slot, work, uses_place, job, issued: self.now, finished, last });
        (self.warps.len() - 1) as u32
    }

    /// The warp asked where it runs.
    pub fn uses_place(&mut self, number: u32) {
        self.warps[number as usize].uses_place = true;
    }

    /// A warp is at its end; its threads know what `clocks` have.
    pub fn finish<'a>(&mut self, number: u32, clocks: impl Iterator<Item = &'a Clock>) {
        self.now += 1;
        let mut last = Clock::default();
        clocks.for_each(|clock| last.join(clock));
        let warp = &mut self.warps[number as usize];
        warp.finished = Some(self.now);
        if !last.0.is_empty() {
            warp.last = Some(Rc::new(last));
            self.knowing.push(number);
        }
    }

    /// A job is triggered in this slot of the spawner.
    pub fn trigger(&mut self, slot: u8) {
        self.now += 1;
        self.in_slot.insert(slot, self.jobs.len());
        self.jobs.push(Job { triggered: self.now, completed: None });
    }

    /// The job in this slot of the spawner is complete.
    pub fn complete(&mut self, slot: u8) {
        self.now += 1;
        if let Some(job) = self.in_slot.remove(&slot) {
            self.jobs[job].completed = Some(self.now);
        }
    }

    /// Whether all of warp `first` comes before all of `second`, whatever they do.
    pub fn warps_are_ordered(&self, first: u32, second: u32) -> bool {
        if first >= second {
            return false;
        }
        let (a, b) = (self.warp(first), self.warp(second));
        if a.uses_place && b.uses_place && a.slot == b.slot {
            return true;
        }
        let job = |warp: &Warp| warp.job.map(|job| self.jobs[job]);
        let before = |end: Option<u64>, begin: u64| end.is_some_and(|end| end < begin);
        match (a.work, b.work) {
            (Work::Packets(packets), Work::Packets(_)) => {
                // The last packet of `b` has a slot of its own, so that the warp that had it was
                // committed.
                b.work.last().wrapping_sub(packets.first) >> self.ring_slots_log2 != 0
            }
            (Work::Job { .. }, Work::Job { .. }) => {
                job(b).is_some_and(|b| before(job(a).and_then(|a| a.completed), b.triggered))
            }
            (Work::Packets(_), Work::Job { .. }) => job(b).is_some_and(|b| before(a.finished, b.triggered)),
            (Work::Job { .. }, Work::Packets(_)) => before(job(a).and_then(|job| job.completed), b.issued),
        }
    }

    /// Whether time `step` of a lane of warp `first` comes before what a thread of warp `second`
    /// does next that knows what `clock` has.
    pub fn is_before(&self, first: u32, lane: u32, step: Step, second: u32, clock: &Clock) -> bool {
        if self.warps_are_ordered(first, second) {
            return true;
        }
        let place = place(self.warp(first).slot, lane);
        let knows = |clock: &Clock| clock.0.get(&place).is_some_and(|known| *known >= (first, step));
        // Through a release of another thread, behind which the thread comes; or through a warp
        // that comes before.
        knows(clock)
            || clock.0.values().any(|(warp, _)| self.warps_are_ordered(first, *warp))
            || self.knowing.iter().any(|warp| {
                let last = self.warp(*warp).last.as_deref();
                self.warps_are_ordered(*warp, second) && last.is_some_and(knows)
            })
    }

    /// Adds to `clock` that all comes before that a lane of a warp did up to `step`.
    pub fn note(&self, clock: &mut Clock, warp: u32, lane: u32, step: Step) {
        clock.add(place(self.warp(warp).slot, lane), (warp, step));
    }

    /// Forgets what warps knew that come before all that are issued from now on: those of packets
    /// that are a ring behind `packet`.
    pub fn forget(&mut self, packet: u32) {
        let Self { knowing, warps, ring_slots_log2, .. } = self;
        if knowing.len() < 4096 {
            return;
        }
        knowing.retain(|number| {
            let warp = &mut warps[*number as usize];
            let keep = match warp.work {
                Work::Packets(packets) => packet.wrapping_sub(packets.first) >> *ring_slots_log2 < 2,
                Work::Job { .. } => true,
            };
            if !keep {
                warp.last = None;
            }
            keep
        });
    }
}
