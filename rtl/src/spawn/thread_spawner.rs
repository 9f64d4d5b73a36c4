//! The thread spawner.

use super::{CompletionWriter, SpawnCapture, SpawnIssue, SpawnJobs, SpawnOrder, SpawnPage};
use crate::config::SpawnOptions;
use crate::host::registers::spawn::SpawnerControl;
use crate::ports::{JobStart, LineWrite, PageMove, SpawnedFinish, SpawnedWarp, StoreTap};
use crate::types::JobSlot;
use hermes_hdl::prelude::*;

/// Write tag of the completion words.
pub const COMPLETION_TAG: u8 = 31;

/// Starts the threads of descriptors on the cores (Pangaea, section 4.2), and reports their end.
///
/// 1. A write of a descriptor's word 0 triggers its job, if the spawner is enabled and the slot is
///    free. The first warp is offered to warp issue three cycles later, if no other job is under
///    way.
/// 2. Jobs start in the order of their triggers, with the words as they stood then; a slot is busy
///    until its completion word is visible. A write to the descriptor of a busy slot, or of a slot
///    that is not there, has no effect and counts as an overrun.
/// 3. Words come from the registers, and with a command processor from its stores to the page,
///    which go first: `control.waits` holds the registers' write up.
/// 4. Disabling keeps jobs from being triggered; those that were go on.
#[clocked("all slots are free, the descriptors undefined")]
#[derive(Clone, LogicBlock)]
#[new(options: SpawnOptions)]
pub struct ThreadSpawner {
    /// KERNEL_CLASS register.
    pub kernel_class: Signal<In, Bit>,
    /// From and to the registers.
    pub control: SpawnerControl,
    /// To warp issue.
    pub warp: Flipped<SpawnedWarp>,
    /// From warp issue: the warp that starts is one of spawned threads.
    pub begins: Signal<In, Bit>,
    /// From warp issue: job of the warp.
    pub begins_job: Signal<In, JobSlot>,
    /// To the cores: what the warp that starts is.
    pub start: Flipped<JobStart>,
    /// To the cores: drop the L1 data cache.
    pub acquire: Signal<Out, Bits<32>>,
    /// From the control path: a warp of spawned threads finished.
    pub finish: SpawnedFinish,
    /// To the L2: the completion words.
    pub write: LineWrite,
    /// From the command processor: stores (only with a command processor, as the next).
    #[there(options.captures())]
    pub store: Part<StoreTap>,
    /// From the command processor: SIGNAL.RANGE.
    #[there(options.captures())]
    pub page_move: Part<PageMove>,
    /// The command processor is held: there is no page from the next cycle on.
    #[there(options.captures())]
    pub hold: Part<Signal<In, Bit>>,
    /// Slots that are busy.
    pub busy: Signal<Out, Bits<16>>,
    /// A job is triggered.
    pub trace_trigger_valid: Signal<Out, Bit>,
    /// Slot of the job that is triggered.
    pub trace_trigger_slot: Signal<Out, Bits<4>>,
    /// A job is complete: its slot is free again.
    pub trace_complete_valid: Signal<Out, Bit>,
    /// Slot of the job that is complete.
    pub trace_complete_slot: Signal<Out, Bits<4>>,
    #[init(Part::when(options.captures(), || SpawnCapture::new(options.spawn_slots)))]
    capture: Part<SpawnCapture>,
    page: SpawnPage,
    order: SpawnOrder,
    #[init(SpawnIssue::new(options.cores, options.lanes))]
    issue: SpawnIssue,
    jobs: SpawnJobs,
    completion: CompletionWriter,
    warps: Register<Bits<32>>,
    completed: Register<Bits<32>>,
    overruns: Register<Bits<16>>,
    rejected: Register<Bits<16>>,
    #[init(Constant::new((options.spawn_slots as u64).into()))]
    slots: Constant<Bits<5>>,
}

impl ThreadSpawner {
    /// The spawner of an array with these options; with channels of user-level interrupts the
    /// stores of the command processor to the descriptor page count.
    ///
    /// # Panics
    /// If it has not 8 or 16 slots, or not 1 to 32 cores or lanes.
    pub fn new(options: SpawnOptions) -> Self {
        let slots = options.spawn_slots;
        assert!(matches!(slots, 8 | 16), "ThreadSpawner: {slots} slots, expected 8 or 16");
        Self::wired(options)
    }
}

impl Logic for ThreadSpawner {
    #[hdl_gen]
    fn update(&mut self) {
        // Descriptors, and what triggers them
        let mut written = self.control.write.val();
        let mut wide_slot = self.control.slot.val();
        let mut word = self.control.word.val();
        let mut value = self.control.value.val();
        let mut partial = false;
        self.control.waits.next = false;
        self.control.base.next = bits::<26>(0);
        if self.store.is_there() {
            connect!(*self.store, self.capture.store);
            connect!(*self.page_move, self.capture.page);
            self.capture.busy.next = self.jobs.busy.val();
            self.capture.hold.next = self.hold.val();
            self.control.base.next = self.capture.base.val();
            if self.capture.word_valid.val() & self.control.enable.val() {
                self.control.waits.next = true;
                written = true;
                wide_slot = self.capture.slot.val();
                word = self.capture.word.val();
                value = self.capture.value.val();
            }
            partial = self.capture.partial.val() & self.control.enable.val();
        }
        let slot = wide_slot.get_bits::<4>(0);
        let there = wide_slot < self.slots.val();
        let writable = there & !self.jobs.busy.val().get_bit(slot.index());
        let writes = written & writable;
        let trigger = writes & !word.any() & self.control.enable.val();
        let overrun = written & !writable;
        self.busy.next = self.jobs.busy.val();
        self.page.write_valid.next = writes;
        self.page.write_slot.next = slot;
        self.page.write_word.next = word;
        self.page.write_data.next = value;
        self.order.push.next = trigger;
        self.order.push_slot.next = slot;
        self.jobs.trigger_valid.next = trigger;
        self.jobs.trigger_slot.next = slot;

        // Jobs to warps
        self.issue.kernel_class.next = self.kernel_class.val();
        self.issue.job_valid.next = self.order.valid.val();
        self.issue.job_slot.next = self.order.slot.val();
        self.order.take.next = self.issue.job_take.val();
        self.page.read_slot.next = self.issue.page_slot.val();
        self.issue.entry.next = self.page.entry.val();
        self.issue.argument_0.next = self.page.argument_0.val();
        self.issue.argument_1.next = self.page.argument_1.val();
        self.issue.shape.next = self.page.shape.val();
        self.issue.reserved.next = self.page.reserved.val();
        self.issue.cores.next = self.page.cores.val();
        self.issue.token.next = self.page.token.val();
        connect!(self.warp, self.issue.warp);
        always!(
            only_a_busy_job_starts,
            !self.begins.val() | self.jobs.busy.val().get_bit(self.begins_job.val().index())
        );
        self.start.spawned.next = self.begins.val();
        self.start.job.next = self.begins_job.val();
        self.start.entry.next = self.issue.start_entry.val();
        self.start.argument_0.next = self.issue.start_argument_0.val();
        self.start.argument_1.next = self.issue.start_argument_1.val();
        self.acquire.next = self.issue.acquire.val();

        // Warps to ended jobs
        self.jobs.checked_valid.next = self.issue.checked_valid.val();
        self.jobs.checked_code.next = self.issue.checked_code.val();
        self.jobs.warp_taken.next = self.issue.warp_taken.val();
        self.jobs.warp_first.next = self.issue.warp_first.val();
        self.jobs.warp_last.next = self.issue.warp_last.val();
        self.jobs.issue_slot.next = self.issue.warp.job.val();
        connect!(self.finish, self.jobs.finish);
        self.completion.ended.next = self.jobs.ended.val();
        self.jobs.end_taken.next = self.completion.end_taken.val();
        self.jobs.end_slot.next = self.completion.end_slot.val();
        self.page.end_slot.next = self.completion.end_slot.val();
        self.completion.completion.next = self.page.end_completion.val();
        self.completion.token.next = self.page.end_token.val();
        self.completion.code.next = self.jobs.end_code.val();
        self.completion.faulted.next = self.jobs.end_faulted.val();
        connect!(self.write, self.completion.write);
        self.jobs.freed_valid.next = self.completion.freed_valid.val();
        self.jobs.freed_slot.next = self.completion.freed_slot.val();

        // Counters and events
        let is_rejected = self.issue.checked_valid.val() & self.issue.checked_code.val().any();
        if self.issue.warp_taken.val() {
            self.warps.d.next = self.warps.q.val() + 1;
        }
        if self.completion.freed_valid.val() {
            self.completed.d.next = self.completed.q.val() + 1;
        }
        if overrun | partial {
            self.overruns.d.next = self.overruns.q.val() + 1;
        }
        if overrun & partial {
            self.overruns.d.next = self.overruns.q.val() + 2;
        }
        if is_rejected | self.completion.misaligned.val() {
            self.rejected.d.next = self.rejected.q.val() + 1;
        }
        if is_rejected & self.completion.misaligned.val() {
            self.rejected.d.next = self.rejected.q.val() + 2;
        }
        self.control.busy.next = self.jobs.busy.val();
        self.control.warps.next = self.warps.q.val();
        self.control.jobs.next = self.completed.q.val();
        self.control.overruns.next = self.overruns.q.val();
        self.control.rejected.next = self.rejected.q.val();
        self.trace_trigger_valid.next = trigger;
        self.trace_trigger_slot.next = slot;
        self.trace_complete_valid.next = self.completion.freed_valid.val();
        self.trace_complete_slot.next = self.completion.freed_slot.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::seq::{IteratorRandom, SliceRandom};
    use rand::Rng;
    use std::collections::{BTreeMap, VecDeque};

    const LANES: u32 = 4;
    const CORES: u32 = 3;

    /// A job from its trigger to its completion.
    #[derive(Clone, Debug)]
    struct Job {
        words: [u32; 8],
        next: u32,
        running: u32,
        faulted: bool,
    }

    impl Job {
        /// Why its descriptor is bad.
        fn code(&self, class: bool) -> u32 {
            let [entry, _, _, shape, reserved, cores, _, token] = self.words;
            if entry == 0 || entry % 4 != 0 || entry >= 0xfff0_0000 {
                1
            } else if shape & 0xff_ffff == 0 {
                2
            } else if shape >> 27 != 0
                || shape >> 24 & 1 != 0
                || reserved != 0
                || token >> 30 != 0
                || (shape >> 25 & 1 == 1) != class
            {
                3
            } else if cores >> CORES != 0 {
                5
            } else {
                0
            }
        }

        fn threads(&self) -> u32 {
            self.words[3] & 0xff_ffff
        }
    }

    fn descriptor(random: &mut impl Rng, class: bool) -> [u32; 8] {
        let mut words: [u32; 8] = random.gen();
        words[0] &= !3;
        words[3] = random.gen_range(1..20) | u32::from(class) << 25 | random.gen_range(0..2) << 26;
        words[4] = 0;
        words[5] = random.gen_range(0..1 << CORES);
        words[6] = if random.gen_bool(0.2) { 0 } else { words[6] & !3 | 4 };
        words[7] &= 0x3fff_ffff;
        if random.gen_bool(0.2) {
            let word = [0, 3, 4, 5, 7].choose(random).unwrap();
            words[*word] = random.gen();
            words[3] &= 0xff00_001f;
        }
        words
    }

    /// Jobs at random times, cores that run their warps for random times, an L2 that answers when
    /// it likes: every job starts in its turn with the words of its trigger, every thread once, and
    /// one completion comes after the last finish.
    #[test]
    fn every_job_is_done_once_and_in_its_turn() {
        let mut random = random();
        let mut unit = ThreadSpawner::new(SpawnOptions {
            cores: CORES as usize,
            lanes: LANES as usize,
            spawn_slots: 16,
            uli_channels: 0,
        });
        reset!(unit);
        unit.control.enable.next = true;
        let mut page = [[0u32; 8]; 16];
        let mut writes: VecDeque<(usize, usize, u32)> = VecDeque::new();
        let mut jobs: BTreeMap<usize, Job> = BTreeMap::new();
        let mut order: VecDeque<usize> = VecDeque::new();
        let mut running: Vec<(usize, usize)> = vec![];
        let mut writing: Option<(usize, u64)> = None;
        let (mut starting, mut acknowledged) = (None::<(usize, [u32; 8])>, None::<u64>);
        let (mut completed, mut warps, mut overruns, mut rejected) = (0u32, 0, 0, 0);
        for cycle in 0..62_000u64 {
            let feeding = cycle < 60_000;
            let class = unit.kernel_class.val();
            // Words of descriptors, the trigger last; now and then a write to a busy slot.
            if feeding && writes.is_empty() && random.gen_bool(0.3) {
                if let Some(slot) = (0..16).filter(|s| !jobs.contains_key(s)).choose(&mut random) {
                    let words = descriptor(&mut random, class);
                    writes.extend((0..8).rev().map(|word| (slot, word, words[word])));
                } else {
                    writes.push_back((random.gen_range(0..17), random.gen_range(0..8), random.gen()));
                }
            }
            let write = if random.gen_bool(0.7) { writes.pop_front() } else { None };
            unit.control.write.next = write.is_some();
            let shown = write.unwrap_or((random.gen_range(0..32), random.gen_range(0..8), random.gen()));
            unit.control.slot.next = (shown.0 as u64).into();
            unit.control.word.next = (shown.1 as u64).into();
            unit.control.value.next = u64::from(shown.2).into();
            unit.warp.ready.next = random.gen_bool(0.7);
            let finishing = (0..running.len()).choose(&mut random).filter(|_| random.gen_bool(0.2));
            let finished = finishing.map(|index| running.swap_remove(index).0);
            unit.finish.valid.next = finished.is_some();
            unit.finish.job.next = (finished.unwrap_or(random.gen_range(0..16)) as u64).into();
            unit.finish.faulted.next = random.gen_bool(0.05);
            unit.begins.next = starting.is_some();
            unit.begins_job.next = (starting.map_or(0, |s| s.0) as u64).into();
            unit.write.ready.next = random.gen_bool(0.5);
            unit.write.written.valid.next = acknowledged == Some(0);
            unit.write.written.tag.next = 31.into();
            settle(&mut unit);

            // What starts has the words of its job.
            assert_eq!(unit.start.spawned.val(), starting.is_some());
            if let Some((slot, words)) = starting.take() {
                assert_eq!(unit.start.job.val().index(), slot, "cycle {cycle}");
                assert_eq!(unit.start.entry.val().to_u32(), words[0] >> 2, "cycle {cycle}");
                assert_eq!(unit.start.argument_0.val().to_u32(), words[1], "cycle {cycle}");
                assert_eq!(unit.start.argument_1.val().to_u32(), words[2], "cycle {cycle}");
            }
            // Busy are the jobs that are not complete.
            let busy = jobs.keys().fold(0, |mask, slot| mask | 1u64 << slot);
            assert_eq!(unit.control.busy.val().to_u64(), busy, "cycle {cycle}");
            let counts = [unit.control.warps.val(), unit.control.jobs.val()].map(|count| count.to_u32());
            assert_eq!(counts, [warps, completed], "cycle {cycle}");
            let errors =
                [unit.control.overruns.val(), unit.control.rejected.val()].map(|count| count.to_u32());
            assert_eq!(errors[0], overruns, "cycle {cycle}");
            assert!(errors[1] >= rejected, "cycle {cycle}");

            // A warp.
            if unit.warp.valid.val() {
                let slot = unit.warp.job.val().index();
                while order.front() != Some(&slot) {
                    let skipped = order.pop_front().expect("only jobs that were triggered start");
                    let job = jobs.get(&skipped);
                    assert!(job.is_none_or(|j| j.code(class) != 0 || j.next == j.threads()), "cycle {cycle}");
                }
                let job = jobs.get_mut(&slot).unwrap();
                assert_eq!(job.code(class), 0, "cycle {cycle}: {job:x?}");
                let cores = unit.warp.cores.val().to_u32();
                assert_eq!(cores, if job.words[5] == 0 { 7 } else { job.words[5] }, "cycle {cycle}");
                assert_eq!(unit.warp.thread.val().to_u32(), job.next, "cycle {cycle}");
                let count = LANES.min(job.threads() - job.next);
                assert_eq!(unit.warp.count.val().to_u32(), count, "cycle {cycle}");
                if unit.warp.ready.val() {
                    job.next += count;
                    job.running += 1;
                    warps += 1;
                    running.push((slot, warps as usize));
                    starting = Some((slot, job.words));
                }
            }
            if let Some(slot) = finished {
                let job = jobs.get_mut(&slot).unwrap();
                job.running -= 1;
                job.faulted |= unit.finish.faulted.val();
            }
            // A completion word.
            if acknowledged == Some(0) {
                acknowledged = None;
            }
            acknowledged = acknowledged.map(|left| left - 1);
            if unit.write.valid.val() && unit.write.ready.val() {
                let strobe = unit.write.strobe.val().to_u64();
                let address = unit.write.line.val().to_u32() << 6 | strobe.trailing_zeros();
                let value = unit.write.data.val().get_bits::<32>(0).to_u32();
                acknowledged = Some(random.gen_range(1..8));
                writing = Some((address as usize, u64::from(value)));
            }
            if unit.trace_complete_valid.val() {
                let slot = unit.trace_complete_slot.val().index();
                let job = jobs.remove(&slot).unwrap();
                let code = job.code(class);
                assert!(code != 0 || job.next == job.threads(), "cycle {cycle}: {job:x?}");
                assert_eq!(job.running, 0, "cycle {cycle}: {job:x?}");
                let value = match (code, job.faulted) {
                    (0, false) => job.words[7],
                    (0, true) => 0x8000_0000 | job.words[7],
                    _ => 0xc000_0000 | code,
                };
                let misplaced = job.words[6] % 4 != 0 || job.words[6] >= 0xfff0_0000;
                let written = job.words[6] != 0 && !misplaced;
                let expected = written.then_some((job.words[6] as usize, u64::from(value)));
                assert_eq!(writing.take(), expected, "cycle {cycle}: {job:x?}");
                completed += 1;
                rejected += u32::from(code != 0) + u32::from(misplaced);
            }
            // The page.
            if let Some((slot, word, value)) = write {
                if slot >= 16 || busy >> slot & 1 == 1 {
                    overruns += 1;
                } else {
                    page[slot][word] = value;
                    if word == 0 {
                        assert!(unit.trace_trigger_valid.val());
                        jobs.insert(slot, Job { words: page[slot], next: 0, running: 0, faulted: false });
                        order.push_back(slot);
                    }
                }
            }
            assert!(
                unit.trace_trigger_valid.val()
                    == (write.is_some_and(|w| w.1 == 0) && busy >> shown.0 & 1 == 0 && shown.0 < 16)
            );
            tick!(unit);
        }
        assert!(jobs.is_empty() && unit.control.rejected.val().to_u32() == rejected);
        assert!(completed > 500 && rejected > 50 && overruns > 10, "{completed} {rejected} {overruns}");
    }

    #[test]
    fn a_disabled_spawner_starts_nothing() {
        let mut unit =
            ThreadSpawner::new(SpawnOptions { cores: 1, lanes: 4, spawn_slots: 8, uli_channels: 0 });
        reset!(unit);
        for (enable, slot, starts) in [(false, 3u64, false), (true, 3, true), (true, 8, false)] {
            unit.control.enable.next = enable;
            unit.control.write.next = true;
            unit.control.slot.next = slot.into();
            unit.control.word.next = 0.into();
            unit.control.value.next = 0x1000.into();
            settle(&mut unit);
            assert_eq!(unit.trace_trigger_valid.val(), starts, "slot {slot}");
            tick!(unit);
            unit.control.write.next = false;
            settle(&mut unit);
            assert_eq!(unit.control.busy.val().to_u64(), u64::from(starts) << 3);
            for _ in 0..12 {
                tick!(unit);
            }
        }
        assert_eq!(unit.control.overruns.val().to_u64(), 1, "slot 8 is not there");
    }
}
