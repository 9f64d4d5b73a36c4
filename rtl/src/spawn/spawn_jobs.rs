//! The books of the jobs.

use crate::ports::SpawnedFinish;
use hermes_hdl::prelude::*;

/// Which slots are busy, and when the last warp of a job has finished.
///
/// 1. A slot is busy from the edge at which it is triggered until `freed_valid`.
/// 2. A job has ended when all its warps were taken by warp issue and have finished, or when its
///    descriptor was rejected: `ended` of its slot is high from the next cycle on, until
///    `end_taken`.
/// 3. `end_code` and `end_faulted` of `end_slot` answer in the same cycle: why the descriptor was
///    rejected (0: it was not), and whether one of its threads ended with a fault.
///
/// A job has at most 1,024 warps at a time on the cores: the counts go round at 2,048.
#[clocked("all slots are free")]
#[derive(Clone, Default, LogicBlock)]
pub struct SpawnJobs {
    /// A job is triggered; only in a free slot.
    pub trigger_valid: Signal<In, Bit>,
    /// Slot of the job.
    pub trigger_slot: Signal<In, Bits<4>>,
    /// From the issue: a descriptor is checked.
    pub checked_valid: Signal<In, Bit>,
    /// Reason why the descriptor is rejected; 0: it is good.
    pub checked_code: Signal<In, Bits<3>>,
    /// A warp is taken by warp issue.
    pub warp_taken: Signal<In, Bit>,
    /// The warp is the first one of its job.
    pub warp_first: Signal<In, Bit>,
    /// The warp is the last one of its job.
    pub warp_last: Signal<In, Bit>,
    /// Slot of the job that is checked, or whose warp is taken.
    pub issue_slot: Signal<In, Bits<4>>,
    /// From the control path: a warp finished.
    pub finish: SpawnedFinish,
    /// Slots of the jobs that have ended and are not reported yet.
    pub ended: Signal<Out, Bits<16>>,
    /// The completion writer takes the job of `end_slot`.
    pub end_taken: Signal<In, Bit>,
    /// Slot of the job that is taken.
    pub end_slot: Signal<In, Bits<4>>,
    /// Reason why the descriptor of the job was rejected.
    pub end_code: Signal<Out, Bits<3>>,
    /// One of its threads ended with a fault.
    pub end_faulted: Signal<Out, Bit>,
    /// A slot becomes free: its completion is visible.
    pub freed_valid: Signal<In, Bit>,
    /// Slot that becomes free.
    pub freed_slot: Signal<In, Bits<4>>,
    /// Slots that are busy.
    pub busy: Signal<Out, Bits<16>>,
    busy_q: Register<Bits<16>>,
    ended_q: Register<Bits<16>>,
    /// The last warp was taken.
    issued: Register<Bits<16>>,
    /// A warp has finished.
    begun: Register<Bits<16>>,
    faulted: Register<Bits<16>>,
    codes: RamAsync<Bits<3>, 4>,
    /// Warps taken, of the job that is issued and of each slot, and warps finished.
    taken: Register<Bits<11>>,
    started: RamAsync<Bits<11>, 4>,
    finished: RamAsync<Bits<11>, 4>,
}

impl Logic for SpawnJobs {
    #[hdl_gen]
    fn update(&mut self) {
        let mut triggered = bits::<16>(0);
        if self.trigger_valid.val() {
            triggered = bits::<16>(1) << self.trigger_slot.val();
        }
        let mut freed = bits::<16>(0);
        if self.freed_valid.val() {
            freed = bits::<16>(1) << self.freed_slot.val();
        }
        self.busy_q.d.next = (self.busy_q.q.val() & !freed) | triggered;
        self.busy.next = self.busy_q.q.val();
        always!(only_a_free_slot_is_triggered, !(triggered & self.busy_q.q.val()).any());
        always!(only_a_busy_slot_is_freed, !(freed & !self.busy_q.q.val()).any());

        // Checked, and issued
        let issuing = bits::<16>(1) << self.issue_slot.val();
        self.codes.write_enable.next = self.checked_valid.val();
        self.codes.write_address.next = self.issue_slot.val();
        self.codes.write_data.next = self.checked_code.val();
        let mut rejected = bits::<16>(0);
        if self.checked_valid.val() & self.checked_code.val().any() {
            rejected = issuing;
        }
        let mut count = self.taken.q.val() + 1;
        if self.warp_first.val() {
            count = bits::<11>(1);
        }
        if self.warp_taken.val() {
            self.taken.d.next = count;
        }
        self.started.write_enable.next = self.warp_taken.val();
        self.started.write_address.next = self.issue_slot.val();
        self.started.write_data.next = count;
        let mut all_taken = bits::<16>(0);
        if self.warp_taken.val() & self.warp_last.val() {
            all_taken = issuing;
        }
        self.issued.d.next = (self.issued.q.val() & !triggered) | all_taken;

        // Finished. Behind the last warp that is taken there is always one that finishes.
        let finishing = bits::<16>(1) << self.finish.job.val();
        self.started.read_address.next = self.finish.job.val();
        self.finished.read_address.next = self.finish.job.val();
        let mut done = bits::<11>(1);
        if self.begun.q.val().get_bit(self.finish.job.val().index()) {
            done = self.finished.read_data.val() + 1;
        }
        self.finished.write_enable.next = self.finish.valid.val();
        self.finished.write_address.next = self.finish.job.val();
        self.finished.write_data.next = done;
        let mut begins = bits::<16>(0);
        let mut all_finished = bits::<16>(0);
        let mut fault = bits::<16>(0);
        if self.finish.valid.val() {
            begins = finishing;
            if self.finish.faulted.val() {
                fault = finishing;
            }
            if self.issued.q.val().get_bit(self.finish.job.val().index())
                & (done == self.started.read_data.val())
            {
                all_finished = finishing;
            }
        }
        always!(
            warps_that_finish_were_taken,
            !self.finish.valid.val() || (done <= self.started.read_data.val())
        );
        self.begun.d.next = (self.begun.q.val() & !triggered) | begins;
        self.faulted.d.next = (self.faulted.q.val() & !triggered) | fault;

        // Ended
        let mut reported = bits::<16>(0);
        if self.end_taken.val() {
            reported = bits::<16>(1) << self.end_slot.val();
        }
        self.ended_q.d.next = (self.ended_q.q.val() & !reported) | rejected | all_finished;
        always!(only_a_busy_slot_has_ended, !(self.ended_q.q.val() & !self.busy_q.q.val()).any());
        self.ended.next = self.ended_q.q.val();
        self.codes.read_address.next = self.end_slot.val();
        self.end_code.next = self.codes.read_data.val();
        self.end_faulted.next = self.faulted.q.val().get_bit(self.end_slot.val().index());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::seq::IteratorRandom;
    use rand::Rng;

    /// What the test knows of a slot.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Slot {
        Free,
        /// Triggered, not checked.
        Triggered,
        /// Good: warps left to be taken, warps that run, and whether one faulted.
        Issued {
            left: u32,
            running: u32,
            first: bool,
            faulted: bool,
        },
        /// Ended with this code and fault, not reported.
        Ended {
            code: u64,
            faulted: bool,
        },
        /// Reported; its completion is on its way.
        Reported,
    }

    #[test]
    fn a_job_ends_with_its_last_warp() {
        let mut random = random();
        let mut unit = SpawnJobs::default();
        reset!(unit);
        let mut slots = [Slot::Free; 16];
        let mut issuing = None;
        let (mut ended, mut rejected, mut faults) = (0, 0, 0);
        for cycle in 0..20_000 {
            let find = |random: &mut _, wanted: fn(&Slot) -> bool| {
                (0..16).filter(|&s| wanted(&slots[s])).choose(random)
            };
            let triggered = find(&mut random, |s| *s == Slot::Free).filter(|_| random.gen_bool(0.3));
            let finishing = find(&mut random, |s| matches!(s, Slot::Issued { running: 1.., .. }))
                .filter(|_| random.gen_bool(0.4));
            let reported =
                find(&mut random, |s| matches!(s, Slot::Ended { .. })).filter(|_| random.gen_bool(0.3));
            let freed = find(&mut random, |s| *s == Slot::Reported).filter(|_| random.gen_bool(0.3));
            if issuing.is_none() {
                issuing = find(&mut random, |s| *s == Slot::Triggered);
            }
            let number = |slot: Option<usize>, random: &mut rand_chacha::ChaCha8Rng| {
                slot.map_or_else(|| random.gen_range(0..16), |s| s as u64)
            };
            unit.trigger_valid.next = triggered.is_some();
            unit.trigger_slot.next = number(triggered, &mut random).into();
            unit.finish.valid.next = finishing.is_some();
            unit.finish.job.next = number(finishing, &mut random).into();
            unit.finish.faulted.next = random.gen_bool(0.1);
            unit.end_taken.next = reported.is_some();
            unit.end_slot.next = number(reported, &mut random).into();
            unit.freed_valid.next = freed.is_some();
            unit.freed_slot.next = number(freed, &mut random).into();
            unit.issue_slot.next = number(issuing, &mut random).into();
            let state = issuing.map(|slot| slots[slot]);
            let checks = state == Some(Slot::Triggered);
            let code = if random.gen_bool(0.2) { random.gen_range(1..6u64) } else { 0 };
            let takes = matches!(state, Some(Slot::Issued { .. })) && random.gen();
            unit.checked_valid.next = checks;
            unit.checked_code.next = code.into();
            unit.warp_taken.next = takes;
            let warp = match state {
                Some(Slot::Issued { left, first, .. }) => (first, left == 1),
                _ => (random.gen(), random.gen()),
            };
            unit.warp_first.next = warp.0;
            unit.warp_last.next = warp.1;
            settle(&mut unit);

            for (slot, state) in slots.iter().enumerate() {
                let shown = (unit.busy.val().get_bit(slot), unit.ended.val().get_bit(slot));
                let expected = (*state != Slot::Free, matches!(state, Slot::Ended { .. }));
                assert_eq!(shown, expected, "cycle {cycle}, slot {slot}: {state:?}");
            }
            if let Some(slot) = reported {
                let Slot::Ended { code, faulted } = slots[slot] else { unreachable!() };
                assert_eq!(unit.end_code.val().to_u64(), code, "cycle {cycle}, slot {slot}");
                assert!(code != 0 || unit.end_faulted.val() == faulted, "cycle {cycle}, slot {slot}");
                slots[slot] = Slot::Reported;
            }
            if let (Some(slot), true) = (issuing, checks) {
                rejected += usize::from(code != 0);
                slots[slot] = if code == 0 {
                    let left = random.gen_range(1..30);
                    Slot::Issued { left, running: 0, first: true, faulted: false }
                } else {
                    issuing = None;
                    Slot::Ended { code, faulted: false }
                };
            }
            if let (Some(slot), true) = (issuing, takes) {
                let Slot::Issued { left, running, faulted, .. } = slots[slot] else { unreachable!() };
                slots[slot] = Slot::Issued { left: left - 1, running: running + 1, first: false, faulted };
                if left == 1 {
                    issuing = None;
                }
            }
            if let Some(slot) = finishing {
                let Slot::Issued { left, running, first, faulted } = slots[slot] else { unreachable!() };
                let faulted = faulted || unit.finish.faulted.val();
                slots[slot] = Slot::Issued { left, running: running - 1, first, faulted };
                if left == 0 && running == 1 {
                    ended += 1;
                    faults += usize::from(faulted);
                    slots[slot] = Slot::Ended { code: 0, faulted };
                }
            }
            if let Some(slot) = freed {
                slots[slot] = Slot::Free;
            }
            if let Some(slot) = triggered {
                slots[slot] = Slot::Triggered;
            }
            tick!(unit);
        }
        assert!(ended > 100 && rejected > 20 && faults > 20 && faults < ended, "{ended} {rejected} {faults}");
    }
}
