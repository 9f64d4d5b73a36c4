//! What a core knows of the warps of spawned threads on it.

use crate::ports::{JobStart, SlotStart};
use crate::types::WarpJob;
use hermes_hdl::prelude::*;

/// Keeps for each warp slot whether its warp is one of spawned threads, and of which job, from its
/// start on.
///
/// 1. `start` counts at an edge with `warp.valid` high, for packet warps too.
/// 2. `job` is that of the instruction in stage D: at an edge with `advance` high it takes what is
///    kept for `fetched_slot`.
/// 3. `write_job` answers `write_slot` in the same cycle, `finish_faulted` answers `finish_slot`:
///    whether a fault was recorded for the warp since its start.
/// 4. What is kept for a slot that never had a warp is undefined, but for `spawned_slots`.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct SpawnedWarps {
    /// From warp issue.
    pub warp: SlotStart,
    /// From warp issue and the thread spawner: whether it is one of spawned threads, and its job.
    pub start: JobStart,
    /// The stages advance at this edge.
    pub advance: Signal<In, Bit>,
    /// Stage I: warp slot.
    pub fetched_slot: Signal<In, Bits<5>>,
    /// Stage D: what the warp started with.
    pub job: Flipped<JobStart>,
    /// Stage W: warp slot.
    pub write_slot: Signal<In, Bits<5>>,
    /// Stage W: slot of the warp's job in bits 3:0; bit 4: it is a warp of spawned threads.
    pub write_job: Signal<Out, WarpJob>,
    /// Stage W: a fault of the warp is recorded at this edge.
    pub fault_valid: Signal<In, Bit>,
    /// The slot of the warp that is offered as finished.
    pub finish_slot: Signal<In, Bits<5>>,
    /// One of its threads ended with a fault.
    pub finish_faulted: Signal<Out, Bit>,
    /// Slots whose warp, or last warp, is one of spawned threads.
    pub spawned_slots: Signal<Out, Bits<32>>,
    parameters: RamSync<Bits<99>, 5>,
    jobs: RamAsync<Bits<4>, 5>,
    spawned: Register<Bits<32>>,
    faulted: Register<Bits<32>>,
}

impl Logic for SpawnedWarps {
    #[hdl_gen]
    fn update(&mut self) {
        let mut started = bits::<32>(0);
        if self.warp.valid.val() {
            started = bits::<32>(1) << self.warp.slot.val();
        }
        let mut of_job = bits::<99>(0);
        if self.start.spawned.val() {
            of_job = bits::<99>(1) << bits::<7>(98);
        }
        self.parameters.write_enable.next = self.warp.valid.val();
        self.parameters.write_address.next = self.warp.slot.val();
        self.parameters.write_data.next = of_job
            | (bit_cast::<99, 4>(self.start.job.val()) << bits::<7>(94))
            | (bit_cast::<99, 30>(self.start.entry.val()) << bits::<7>(64))
            | (bit_cast::<99, 32>(self.start.argument_1.val()) << bits::<7>(32))
            | bit_cast::<99, 32>(self.start.argument_0.val());
        self.parameters.read_enable.next = self.advance.val();
        self.parameters.read_address.next = self.fetched_slot.val();
        self.job.spawned.next = self.parameters.read_data.val().get_bit(98);
        self.job.job.next = self.parameters.read_data.val().get_bits::<4>(94);
        self.job.entry.next = self.parameters.read_data.val().get_bits::<30>(64);
        self.job.argument_1.next = self.parameters.read_data.val().get_bits::<32>(32);
        self.job.argument_0.next = self.parameters.read_data.val().get_bits::<32>(0);

        self.jobs.write_enable.next = self.warp.valid.val();
        self.jobs.write_address.next = self.warp.slot.val();
        self.jobs.write_data.next = self.start.job.val();
        self.jobs.read_address.next = self.write_slot.val();
        self.spawned.d.next = self.spawned.q.val() & !started;
        if self.start.spawned.val() {
            self.spawned.d.next = self.spawned.q.val() | started;
        }
        self.spawned_slots.next = self.spawned.q.val();
        self.write_job.next = bit_cast::<5, 4>(self.jobs.read_data.val());
        if self.spawned.q.val().get_bit(self.write_slot.val().index()) {
            self.write_job.next = bits::<5>(16) | bit_cast::<5, 4>(self.jobs.read_data.val());
        }

        let mut recorded = bits::<32>(0);
        if self.fault_valid.val() {
            recorded = bits::<32>(1) << self.write_slot.val();
        }
        self.faulted.d.next = (self.faulted.q.val() | recorded) & !started;
        self.finish_faulted.next = self.faulted.q.val().get_bit(self.finish_slot.val().index());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    #[derive(Clone, Copy, Default)]
    struct Warp {
        spawned: bool,
        job: u64,
        entry: u64,
        arguments: [u64; 2],
        faulted: bool,
    }

    #[test]
    fn follows_the_warps_of_every_slot() {
        let mut random = random();
        let mut unit = SpawnedWarps::default();
        reset!(unit);
        let mut warps = [None::<Warp>; 32];
        let mut decoded = None;
        for cycle in 0..4_000 {
            let started = random.gen_range(0..32usize);
            let warp = Warp {
                spawned: random.gen(),
                job: random.gen_range(0..16),
                entry: random.gen_range(0..1 << 30),
                arguments: [random.gen::<u32>().into(), random.gen::<u32>().into()],
                faulted: false,
            };
            unit.warp.valid.next = random.gen_bool(0.3);
            unit.warp.slot.next = (started as u64).into();
            unit.start.spawned.next = warp.spawned;
            unit.start.job.next = warp.job.into();
            unit.start.entry.next = warp.entry.into();
            unit.start.argument_0.next = warp.arguments[0].into();
            unit.start.argument_1.next = warp.arguments[1].into();
            unit.advance.next = random.gen();
            let [fetched, written, finished] = [(); 3].map(|()| random.gen_range(0..32usize));
            unit.fetched_slot.next = (fetched as u64).into();
            unit.write_slot.next = (written as u64).into();
            unit.finish_slot.next = (finished as u64).into();
            unit.fault_valid.next = random.gen_bool(0.1);
            settle(&mut unit);

            if let Some(expected) = decoded {
                let Warp { spawned, job, entry, arguments, .. } = expected;
                assert_eq!(unit.job.spawned.val(), spawned, "cycle {cycle}");
                assert_eq!(unit.job.job.val().to_u64(), job, "cycle {cycle}");
                assert_eq!(unit.job.entry.val().to_u64(), entry, "cycle {cycle}");
                assert_eq!(unit.job.argument_0.val().to_u64(), arguments[0], "cycle {cycle}");
                assert_eq!(unit.job.argument_1.val().to_u64(), arguments[1], "cycle {cycle}");
            }
            if let Some(warp) = warps[written] {
                let expected = warp.job | u64::from(warp.spawned) << 4;
                assert_eq!(unit.write_job.val().to_u64(), expected, "cycle {cycle}");
            }
            if let Some(warp) = warps[finished] {
                assert_eq!(unit.finish_faulted.val(), warp.faulted, "cycle {cycle}");
            }
            let slots = (0..32).filter(|&s| warps[s].is_some_and(|w| w.spawned));
            assert_eq!(
                unit.spawned_slots.val().to_u64(),
                slots.fold(0, |all, s| all | 1 << s),
                "cycle {cycle}"
            );
            if unit.advance.val() {
                decoded = warps[fetched];
            }
            if unit.fault_valid.val() {
                if let Some(warp) = &mut warps[written] {
                    warp.faulted = true;
                }
            }
            if unit.warp.valid.val() {
                warps[started] = Some(warp);
            }
            tick!(unit);
        }
    }
}
