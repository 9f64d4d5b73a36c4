//! Which warp issues next, and what every warp of a core waits for.

use super::{BootFirst, IssueTurns, LostCycle, OldestFirst};
use crate::blocks::{slot_mask, BinaryEncoder, PriorityEncoder};
use crate::config::CoreOptions;
use crate::ports::{Completions, Flush, SchedulingOutcome, SlotStart, WarpFinish, WarpProgress};
use hermes_hdl::prelude::*;

/// State of the warp slots of a core and the choice of the warp that issues.
///
/// A slot is *occupied* from start to finish. An occupied slot can issue unless one of these holds:
///
/// - *resolving*: its next path depends on an instruction in the pipeline, or is being selected;
/// - *fetch*: the warp missed in the instruction cache, which has not reported yet that it should
///   look up again (`filled`);
/// - *waiting*: its instruction was blocked, and no operation of the warp has completed since;
/// - *ended*: the warp has retired: all its threads ended;
/// - *asleep* (with a network interface): it waits for a write into the L2
///   ([`WarpWaits`](super::WarpWaits)). Cycles in which warps do nothing but sleep are not lost:
///   there is no warp to issue.
///
/// Among the slots that can, the choice is round-robin: the next one above the last chosen; or, as
/// an option, it is the warp that started first. With spawned threads the choice in turns begins
/// with a warp of them that has just started ([`BootFirst`]). A warp may issue in every cycle.
/// `issue_*` answers the state combinationally and is taken at the edge at which `advance` is high.
/// An ended slot without outstanding stores is offered as `finish_*` and leaves the core when that
/// is accepted.
#[clocked]
#[derive(LogicBlock)]
#[new(options: CoreOptions, ages: bool, firsts: bool)]
pub struct WarpScheduler {
    /// From warp issue.
    pub start: SlotStart,
    /// From warp issue: the warp is one of spawned threads (only with a thread spawner).
    #[there(options.spawns())]
    pub start_spawned: Part<Signal<In, Bit>>,
    /// From stage W: the pipeline takes `issue_*` at this edge.
    pub advance: Signal<In, Bit>,
    /// To stage C: a warp issues.
    pub issue_valid: Signal<Out, Bit>,
    /// To stage C: slot of the warp.
    pub issue_slot: Signal<Out, Bits<5>>,
    /// To stage C: the instruction is the first one of the warp.
    pub issue_fresh: Signal<Out, Bit>,
    /// To stage C: why no warp issues.
    pub idle_reason: Signal<Out, LostCycle>,
    /// Warp slot of the instruction that was in stage D a cycle ago.
    pub hold_slot: Signal<In, Bits<5>>,
    /// From stage D: outcome of the instruction that was there a cycle ago.
    pub outcome: SchedulingOutcome,
    /// From the instruction cache: warps that missed before this cycle look up again.
    pub filled: Signal<In, Bit>,
    /// From stage W: how the warp of its instruction goes on.
    pub progress: WarpProgress,
    /// From the front end: stage W flushed a warp a cycle ago.
    pub flush: Flush,
    /// From path selection: the next path is known.
    pub path_valid: Signal<In, Bit>,
    /// From path selection: the slot.
    pub path_slot: Signal<In, Bits<5>>,
    /// Operations that complete.
    pub completions: Completions,
    /// Slots with outstanding stores.
    pub stores_busy: Signal<In, Bits<32>>,
    /// To the DCQ.
    pub finish: WarpFinish,
    /// At least one slot is occupied.
    pub occupied: Signal<Out, Bit>,
    /// From stage D, with `outcome.control`: the instruction waits for a write into the L2 (only
    /// with a network interface, as the next).
    #[there(options.network)]
    pub sleep_valid: Part<Signal<In, Bit>>,
    /// Slots whose warp need not wait for one.
    #[there(options.network)]
    pub wake: Part<Signal<In, Bits<32>>>,
    occupied_slots: Register<Bits<32>>,
    fresh: Register<Bits<32>>,
    resolving: Register<Bits<32>>,
    fetch: Register<Bits<32>>,
    waiting: Register<Bits<32>>,
    ended: Register<Bits<32>>,
    #[there(options.network)]
    asleep: Part<Register<Bits<32>>>,
    finishing: Register<Bit>,
    finishing_slot: Register<Bits<5>>,
    #[init(Part::when(!ages, || IssueTurns::new(firsts)))]
    turns: Part<IssueTurns>,
    #[there(firsts)]
    boot: Part<BootFirst>,
    #[there(ages)]
    age: Part<OldestFirst>,
    #[there(ages)]
    encoder: Part<BinaryEncoder>,
    finish_choice: PriorityEncoder,
    /// The slots in which warps start, and the bits of their numbers: what is kept of the others
    /// takes no registers.
    #[init(slot_mask(options.warps))]
    warp_slots: Constant<Bits<32>>,
    #[init(Constant::new((options.warps.next_power_of_two() as u64 - 1).into()))]
    slot_bits: Constant<Bits<5>>,
}

impl WarpScheduler {
    /// The scheduler of a core with these options: round-robin, or the warp that started first.
    ///
    /// # Panics
    /// If there are not 1 to 32 warp slots.
    pub fn new(options: CoreOptions) -> Self {
        let CoreOptions { warps, oldest_first, .. } = options;
        assert!((1..=32).contains(&warps), "WarpScheduler: {warps} warp slots, expected 1 to 32");
        Self::wired(options, oldest_first, options.spawns() && !oldest_first)
    }
}

impl Logic for WarpScheduler {
    #[hdl_gen]
    fn update(&mut self) {
        let ready = self.occupied_slots.q.val()
            & !(self.resolving.q.val() | self.fetch.q.val() | self.waiting.q.val() | self.ended.q.val());
        let mut choice = bits::<32>(0);
        self.issue_slot.next = bits::<5>(0);
        self.issue_fresh.next = false;
        if self.turns.is_there() {
            self.turns.request.next = ready;
            self.turns.mark.next = self.fresh.q.val();
            self.turns.advance.next = self.advance.val() & ready.any();
            choice = self.turns.choice.val();
            self.issue_slot.next = self.turns.slot.val() & self.slot_bits.val();
            self.issue_fresh.next = self.turns.marked.val();
        }
        if self.boot.is_there() {
            self.boot.start.valid.next = self.start.valid.val() & self.start_spawned.val();
            self.boot.start.slot.next = self.start.slot.val();
            self.boot.advance.next = self.advance.val();
            self.turns.begin_valid.next = self.boot.first_valid.val();
            self.turns.begin_slot.next = self.boot.first_slot.val();
        }
        if self.age.is_there() {
            connect!(self.start, self.age.start);
            self.age.request.next = ready;
            choice = self.age.choice.val();
            self.encoder.one_hot.next = self.age.choice.val();
            self.issue_slot.next = self.encoder.index.val() & self.slot_bits.val();
            self.issue_fresh.next = (self.fresh.q.val() & self.age.choice.val()).any();
        }
        self.issue_valid.next = ready.any();
        let mut issued = bits::<32>(0);
        if self.advance.val() {
            issued = choice;
        }
        self.idle_reason.next = LostCycle::NoWarp;
        if self.resolving.q.val().any() {
            self.idle_reason.next = LostCycle::Divergence;
        }
        if self.fetch.q.val().any() {
            self.idle_reason.next = LostCycle::Fetch;
        }
        if self.waiting.q.val().any() | (self.ended.q.val() & self.stores_busy.val()).any() {
            self.idle_reason.next = LostCycle::Memory;
        }

        let mut started = bits::<32>(0);
        if self.start.valid.val() {
            started = bits::<32>(1) << self.start.slot.val();
        }
        let held = bits::<32>(1) << self.hold_slot.val();
        let mut missed = bits::<32>(0);
        if self.outcome.miss.val() {
            missed = held;
        }
        let mut to_wait = bits::<32>(0);
        if self.outcome.wait.val() {
            to_wait = held;
        }
        let mut to_resolve = bits::<32>(0);
        if self.outcome.control.val() {
            to_resolve = held;
        }
        let written = bits::<32>(1) << self.progress.slot.val();
        let mut resumed = bits::<32>(0);
        if self.progress.resume.val() {
            resumed = written;
        }
        let mut flushed = bits::<32>(0);
        if self.flush.valid.val() {
            flushed = bits::<32>(1) << self.flush.slot.val();
        }
        // Flushed, with a path to be selected.
        let mut split_up = flushed;
        if self.flush.again.val() {
            split_up = bits::<32>(0);
            resumed = resumed | flushed;
        }
        let mut just_ended = bits::<32>(0);
        if self.progress.ended.val() {
            just_ended = written;
        }
        let mut selected = bits::<32>(0);
        if self.path_valid.val() {
            selected = bits::<32>(1) << self.path_slot.val();
        }
        // A warp that is asleep is resolving, too, until it wakes: `wake` stays, so it may rise
        // before.
        if self.sleep_valid.is_there() {
            let wakes = self.asleep.q.val() & self.wake.val();
            selected = selected | wakes;
            let mut to_sleep = bits::<32>(0);
            if self.sleep_valid.val() {
                to_sleep = held;
            }
            self.asleep.d.next = ((self.asleep.q.val() & !wakes) | to_sleep) & !flushed;
            let others = (self.resolving.q.val() & !self.asleep.q.val())
                | self.fetch.q.val()
                | self.waiting.q.val()
                | (self.ended.q.val() & self.stores_busy.val());
            if !others.any() {
                self.idle_reason.next = LostCycle::NoWarp;
            }
        }
        let mut woken = bits::<32>(0);
        if self.completions.late.valid.val() {
            woken = bits::<32>(1) << self.completions.late.slot.val();
        }
        if self.completions.scratchpad.valid.val() {
            woken = woken | (bits::<32>(1) << self.completions.scratchpad.slot.val());
        }
        if self.completions.stored.valid.val() {
            woken = woken | (bits::<32>(1) << self.completions.stored.slot.val());
        }
        if self.completions.any.val() {
            woken = bits::<32>(0xffff_ffff_u64);
        }

        // The finish on offer is held in a register, so that it does not change while it waits.
        self.finish.valid.next = self.finishing.q.val();
        self.finish.slot.next = self.finishing_slot.q.val();
        let mut left = bits::<32>(0);
        if self.finishing.q.val() & self.finish.ready.val() {
            self.finishing.d.next = false;
        }
        let done = self.ended.q.val() & !self.stores_busy.val();
        self.finish_choice.request.next = done;
        if !self.finishing.q.val() {
            self.finishing.d.next = done.any();
            self.finishing_slot.d.next = self.finish_choice.index.val() & self.slot_bits.val();
            left = self.finish_choice.one_hot.val();
        }

        self.occupied_slots.d.next =
            ((self.occupied_slots.q.val() & !left) | started) & self.warp_slots.val();
        self.fresh.d.next = ((self.fresh.q.val() & !issued) | started) & self.warp_slots.val();
        self.resolving.d.next = ((self.resolving.q.val() & !(resumed | selected)) | to_resolve | split_up)
            & self.warp_slots.val();
        self.fetch.d.next = (self.fetch.q.val() | missed) & !flushed & self.warp_slots.val();
        if self.filled.val() {
            self.fetch.d.next = missed & self.warp_slots.val();
        }
        // What wakes a warp may come in the very cycle in which it starts to wait.
        self.waiting.d.next = (self.waiting.q.val() | to_wait) & !(woken | flushed) & self.warp_slots.val();
        self.ended.d.next = ((self.ended.q.val() & !left) | just_ended) & self.warp_slots.val();
        self.occupied.next = self.occupied_slots.q.val().any();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_hdl::prelude::simulate;
    use rand::Rng;
    use rand_chacha::ChaCha8Rng;

    /// What a warp of the model is doing.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Warp {
        Absent,
        Ready,
        Resolving { in_write: bool },
        Fetch,
        Waiting,
        Ended,
    }

    #[test]
    fn issues_ready_warps_in_turn_and_finishes_each_once() {
        issues_and_finishes(32);
        issues_and_finishes(5);
    }

    /// Runs warps in the lowest `slots` slots.
    fn issues_and_finishes(slots: usize) {
        let mut rng = hermes_hdl::testing::random();
        let mut unit = WarpScheduler::new(CoreOptions { warps: slots, ..CoreOptions::default() });
        let mut warps = [Warp::Absent; 32];
        let mut storing = 0u64;
        let mut passed_over = [0; 32];
        let mut finishing: Option<usize> = None;
        let (mut started, mut finished) = (0, 0);
        for _ in 0..20_000 {
            let choose = |rng: &mut ChaCha8Rng, warps: &[Warp; 32], wanted: fn(Warp) -> bool| {
                let among: Vec<usize> = (0..slots).filter(|&s| wanted(warps[s])).collect();
                (!among.is_empty() && rng.gen_bool(0.5)).then(|| among[rng.gen_range(0..among.len())])
            };
            let mut next = warps;
            unit.advance.next = rng.gen_bool(0.8);
            unit.finish.ready.next = rng.gen_bool(0.3);

            let start = choose(&mut rng, &warps, |w| w == Warp::Absent).filter(|&s| finishing != Some(s));
            unit.start.valid.next = start.is_some();
            unit.start.slot.next = (start.unwrap_or(0) as u64).into();
            if let Some(slot) = start {
                next[slot] = Warp::Ready;
                started += 1;
            }

            // Stage D had an instruction of a warp that is otherwise ready.
            let hold = choose(&mut rng, &warps, |w| w == Warp::Ready);
            let why = rng.gen_range(0..3);
            unit.hold_slot.next = (hold.unwrap_or(0) as u64).into();
            unit.outcome.miss.next = hold.is_some() && why == 0;
            unit.outcome.wait.next = hold.is_some() && why == 1;
            unit.outcome.control.next = hold.is_some() && why == 2;
            if let Some(slot) = hold {
                next[slot] = [Warp::Fetch, Warp::Waiting, Warp::Resolving { in_write: true }][why];
            }

            // Stage W: the next path is known, or to be selected, or the warp ended, or lanes of
            // any warp fault.
            let resolved = choose(&mut rng, &warps, |w| w == Warp::Resolving { in_write: true });
            let what = rng.gen_range(0..4);
            let flush = choose(&mut rng, &warps, |w| matches!(w, Warp::Ready | Warp::Fetch | Warp::Waiting))
                .filter(|&s| resolved.is_none() && hold != Some(s));
            unit.progress.slot.next = (resolved.unwrap_or(0) as u64).into();
            unit.progress.resume.next = resolved.is_some() && what != 2;
            unit.progress.ended.next = resolved.is_some() && what == 3;
            // Or one was flushed a cycle ago, even with an instruction on which its path depends.
            let depends = choose(&mut rng, &warps, |w| w == Warp::Resolving { in_write: true })
                .filter(|_| resolved.is_none() && flush.is_none());
            let again = depends.is_some() || (flush.is_some() && rng.gen());
            let flush = depends.or(flush);
            unit.flush.valid.next = flush.is_some();
            unit.flush.slot.next = (flush.unwrap_or(0) as u64).into();
            unit.flush.again.next = again;
            if let Some(slot) = resolved {
                next[slot] = match what {
                    2 => Warp::Resolving { in_write: false },
                    3 => Warp::Ended,
                    _ => Warp::Ready,
                };
                if what == 3 && rng.gen() {
                    storing |= 1 << slot;
                }
            }
            if let Some(slot) = flush {
                next[slot] = if again { Warp::Ready } else { Warp::Resolving { in_write: false } };
            }

            let path = choose(&mut rng, &warps, |w| w == Warp::Resolving { in_write: false });
            unit.path_valid.next = path.is_some();
            unit.path_slot.next = (path.unwrap_or(0) as u64).into();
            if let Some(slot) = path {
                next[slot] = Warp::Ready;
            }
            unit.filled.next = rng.gen_bool(0.05);
            if unit.filled.next {
                for (slot, warp) in warps.iter().enumerate() {
                    if *warp == Warp::Fetch && flush != Some(slot) {
                        next[slot] = Warp::Ready;
                    }
                }
            }
            // What a warp waits for may come just as it starts to wait.
            let at_once = hold.filter(|_| why == 1 && rng.gen_bool(0.3));
            let woken = choose(&mut rng, &warps, |w| w == Warp::Waiting).filter(|&s| flush != Some(s));
            let woken = at_once.or(woken);
            let by = rng.gen_range(0..3);
            unit.completions.late.valid.next = woken.is_some() && by == 0;
            unit.completions.stored.valid.next = woken.is_some() && by == 1;
            unit.completions.scratchpad.valid.next = woken.is_some() && by == 2;
            unit.completions.late.slot.next = (woken.unwrap_or(0) as u64).into();
            unit.completions.stored.slot.next = (woken.unwrap_or(0) as u64).into();
            unit.completions.scratchpad.slot.next = (woken.unwrap_or(0) as u64).into();
            unit.completions.any.next = rng.gen_bool(0.02);
            for (slot, warp) in warps.iter().enumerate() {
                let wakes = woken == Some(slot) || unit.completions.any.next;
                let waits = *warp == Warp::Waiting || (hold == Some(slot) && why == 1);
                if waits && wakes && flush != Some(slot) {
                    next[slot] = Warp::Ready;
                }
            }
            unit.stores_busy.next = storing.into();
            assert!(simulate(&mut unit, 20));

            let any_ready = warps.contains(&Warp::Ready);
            assert_eq!(unit.issue_valid.val(), any_ready);
            if any_ready {
                let slot = unit.issue_slot.val().index();
                assert_eq!(warps[slot], Warp::Ready);
                if unit.advance.val() {
                    for (other, count) in passed_over.iter_mut().enumerate() {
                        *count = if other != slot && warps[other] == Warp::Ready { *count + 1 } else { 0 };
                        assert!(*count < slots, "slot {other} starves");
                    }
                }
            }
            if unit.finish.valid.val() {
                let slot = unit.finish.slot.val().index();
                assert!(finishing.is_none() || finishing == Some(slot), "the finish on offer changed");
                if finishing.is_none() {
                    assert_eq!(warps[slot], Warp::Ended);
                    next[slot] = Warp::Absent;
                }
                finishing = Some(slot);
                if unit.finish.ready.val() {
                    finished += 1;
                    finishing = None;
                }
            } else {
                assert!(finishing.is_none());
            }
            // A warp that ended leaves only after its last store.
            let leaving = unit.finish.valid.val().then(|| unit.finish.slot.val().index());
            assert!(leaving.is_none_or(|slot| storing >> slot & 1 == 0));
            storing &= rng.gen::<u64>() | rng.gen::<u64>();

            unit.clock.next = Clock { clk: true };
            assert!(simulate(&mut unit, 20));
            unit.clock.next = Clock { clk: false };
            warps = next;
        }
        println!("{slots} slots: {started} started, {finished} finished");
        assert!(finished > 500 && started - finished <= 33);
    }
}
