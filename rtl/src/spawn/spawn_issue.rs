//! From a descriptor to the warps of its threads.

use crate::ports::SpawnedWarp;
use crate::types::JobSlot;
use hermes_hdl::prelude::*;

/// Checks the descriptors of triggered jobs one after the other and offers their warps.
///
/// 1. A job is taken at an edge with `job_valid` and `job_take` high (cycle 1). In cycle 2 its
///    words are read, in cycle 3 they are checked, from cycle 4 on its first warp is offered.
/// 2. Warps have `lanes` threads, the last one what is left; thread numbers ascend from 0. A warp
///    is offered until it is taken, the next one two cycles later.
/// 3. `warp_taken` and `checked_valid` are high for one cycle: when a warp is taken, and in cycle 3
///    of a job, with `checked_code` 0 or the reason why no warp of it starts. `acquire` is high in
///    that cycle for the cores whose L1 a good job drops.
/// 4. `start_entry` and the arguments are those of the warp that was taken in the cycle before.
///
/// | code | the descriptor is rejected because |
/// | --- | --- |
/// | 1 | ENTRY is 0, not a multiple of 4, or 0xfff0_0000 or above |
/// | 2 | it has no threads |
/// | 3 | bits that must be zero are not (word 4; bits 24, 27 and 31:28 of SHAPE; bits 31:30 of TOKEN), or CLASS is not KERNEL_CLASS |
/// | 5 | CORES names a core that is not there |
#[clocked("no job is under way")]
#[derive(Clone, LogicBlock)]
#[new(cores: usize, lanes: usize)]
pub struct SpawnIssue {
    /// KERNEL_CLASS register.
    pub kernel_class: Signal<In, Bit>,
    /// From the order of the jobs: one waits.
    pub job_valid: Signal<In, Bit>,
    /// Slot of the job.
    pub job_slot: Signal<In, JobSlot>,
    /// To the order: the job is taken at this edge, if one waits; depends on no input.
    pub job_take: Signal<Out, Bit>,
    /// To the page: the descriptor to read.
    pub page_slot: Signal<Out, Bits<4>>,
    /// Word ENTRY of the descriptor.
    pub entry: Signal<In, Bits<32>>,
    /// Word ARG0 of the descriptor.
    pub argument_0: Signal<In, Bits<32>>,
    /// Word ARG1 of the descriptor.
    pub argument_1: Signal<In, Bits<32>>,
    /// Word SHAPE of the descriptor.
    pub shape: Signal<In, Bits<32>>,
    /// Word 4 of the descriptor.
    pub reserved: Signal<In, Bits<32>>,
    /// Word CORES of the descriptor.
    pub cores: Signal<In, Bits<32>>,
    /// Word TOKEN of the descriptor.
    pub token: Signal<In, Bits<32>>,
    /// To warp issue.
    pub warp: Flipped<SpawnedWarp>,
    /// A warp is taken in this cycle; `warp.job` is its job.
    pub warp_taken: Signal<Out, Bit>,
    /// The warp is the first one of its job.
    pub warp_first: Signal<Out, Bit>,
    /// The warp is the last one of its job.
    pub warp_last: Signal<Out, Bit>,
    /// A descriptor is checked in this cycle; `warp.job` is its slot.
    pub checked_valid: Signal<Out, Bit>,
    /// Reason why the descriptor is rejected; 0: it is good.
    pub checked_code: Signal<Out, Bits<3>>,
    /// To the cores: drop the L1 data cache.
    pub acquire: Signal<Out, Bits<32>>,
    /// To the cores: ENTRY of the warp that starts, bits 31:2.
    pub start_entry: Signal<Out, Bits<30>>,
    /// To the cores: ARG0 of the warp that starts.
    pub start_argument_0: Signal<Out, Bits<32>>,
    /// To the cores: ARG1 of the warp that starts.
    pub start_argument_1: Signal<Out, Bits<32>>,
    slot: Register<Bits<4>>,
    read_valid: Register<Bit>,
    check_valid: Register<Bit>,
    active: Register<Bit>,
    offered: Register<Bit>,
    entry_q: Register<Bits<32>>,
    argument_0_q: Register<Bits<32>>,
    argument_1_q: Register<Bits<32>>,
    cores_q: Register<Bits<32>>,
    acquire_q: Register<Bit>,
    class_q: Register<Bit>,
    /// Bits that must be zero are not.
    reserved_q: Register<Bit>,
    thread: Register<Bits<24>>,
    left: Register<Bits<24>>,
    #[init(Constant::new((lanes as u64).into()))]
    lanes: Constant<Bits<24>>,
    #[init(Constant::new(((1u64 << cores) - 1).into()))]
    all_cores: Constant<Bits<32>>,
}

impl SpawnIssue {
    /// For `cores` cores with `lanes` lanes.
    ///
    /// # Panics
    /// If one of them is not 1 to 32.
    pub fn new(cores: usize, lanes: usize) -> Self {
        assert!((1..=32).contains(&cores), "SpawnIssue: {cores} cores, expected 1 to 32");
        assert!((1..=32).contains(&lanes), "SpawnIssue: {lanes} lanes, expected 1 to 32");
        Self::wired(cores, lanes)
    }
}

impl Logic for SpawnIssue {
    #[hdl_gen]
    fn update(&mut self) {
        // Take a job.
        let free = !self.read_valid.q.val() & !self.check_valid.q.val() & !self.active.q.val();
        self.job_take.next = free;
        always!(
            a_job_is_in_one_step,
            !(self.read_valid.q.val() & self.check_valid.q.val())
                & !(self.active.q.val() & (self.read_valid.q.val() | self.check_valid.q.val()))
        );
        always!(a_warp_is_offered_of_an_active_job, !self.offered.q.val() | self.active.q.val());
        always!(an_active_job_has_threads_left, !self.active.q.val() | self.left.q.val().any());
        self.read_valid.d.next = free & self.job_valid.val();
        if free {
            self.slot.d.next = self.job_slot.val();
        }

        // Read its descriptor.
        self.page_slot.next = self.slot.q.val();
        self.check_valid.d.next = self.read_valid.q.val();
        if self.read_valid.q.val() {
            self.entry_q.d.next = self.entry.val();
            self.argument_0_q.d.next = self.argument_0.val();
            self.argument_1_q.d.next = self.argument_1.val();
            self.class_q.d.next = self.shape.val().get_bit(25);
            self.acquire_q.d.next = self.shape.val().get_bit(26);
            self.reserved_q.d.next = self.shape.val().get_bits::<5>(27).any()
                | self.shape.val().get_bit(24)
                | self.reserved.val().any()
                | self.token.val().get_bits::<2>(30).any();
            self.cores_q.d.next = self.cores.val();
            if !self.cores.val().any() {
                self.cores_q.d.next = self.all_cores.val();
            }
            self.thread.d.next = bits::<24>(0);
            self.left.d.next = self.shape.val().get_bits::<24>(0);
        }

        // Check it.
        let mut code = bits::<3>(0);
        if (self.cores_q.q.val() & !self.all_cores.val()).any() {
            code = bits::<3>(5);
        }
        if self.reserved_q.q.val() | (self.class_q.q.val() != self.kernel_class.val()) {
            code = bits::<3>(3);
        }
        if !self.left.q.val().any() {
            code = bits::<3>(2);
        }
        if !self.entry_q.q.val().any()
            | self.entry_q.q.val().get_bits::<2>(0).any()
            | self.entry_q.q.val().get_bits::<12>(20).all()
        {
            code = bits::<3>(1);
        }
        let good = self.check_valid.q.val() & !code.any();
        self.checked_valid.next = self.check_valid.q.val();
        self.checked_code.next = code;
        self.acquire.next = bits::<32>(0);
        if good & self.acquire_q.q.val() {
            self.acquire.next = self.cores_q.q.val();
        }
        if good {
            self.active.d.next = true;
            self.offered.d.next = true;
        }

        // Offer its warps.
        let last = self.left.q.val() <= self.lanes.val();
        // A change of the register class holds the job up: its warps would not fit.
        let fits = self.class_q.q.val() == self.kernel_class.val();
        let taken = self.offered.q.val() & fits & self.warp.ready.val();
        self.warp.valid.next = self.offered.q.val() & fits;
        self.warp.cores.next = self.cores_q.q.val();
        self.warp.job.next = self.slot.q.val();
        self.warp.thread.next = bit_cast::<32, 24>(self.thread.q.val());
        self.warp.count.next = self.lanes.val().get_bits::<6>(0);
        if last {
            self.warp.count.next = self.left.q.val().get_bits::<6>(0);
        }
        self.warp_taken.next = taken;
        self.warp_first.next = !self.thread.q.val().any();
        self.warp_last.next = last;
        if self.active.q.val() {
            self.offered.d.next = !taken;
        }
        if taken {
            self.thread.d.next = self.thread.q.val() + self.lanes.val();
            self.left.d.next = self.left.q.val() - self.lanes.val();
            if last {
                self.active.d.next = false;
            }
        }
        self.start_entry.next = self.entry_q.q.val().get_bits::<30>(2);
        self.start_argument_0.next = self.argument_0_q.q.val();
        self.start_argument_1.next = self.argument_1_q.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// Shows the words of a descriptor, as the page does in the cycle after the job was taken.
    fn show(unit: &mut SpawnIssue, words: [u32; 8]) {
        let [entry, argument_0, argument_1, shape, reserved, cores, _, token] = words.map(u64::from);
        unit.entry.next = entry.into();
        unit.argument_0.next = argument_0.into();
        unit.argument_1.next = argument_1.into();
        unit.shape.next = shape.into();
        unit.reserved.next = reserved.into();
        unit.cores.next = cores.into();
        unit.token.next = token.into();
    }

    /// Gives the unit a job; the words show from the next cycle on.
    fn job(unit: &mut SpawnIssue, slot: u64, words: [u32; 8]) {
        unit.job_valid.next = true;
        unit.job_slot.next = slot.into();
        settle(unit);
        assert!(unit.job_take.val());
        tick!(*unit);
        unit.job_valid.next = false;
        assert_eq!(unit.page_slot.val().to_u64(), slot);
        show(unit, words);
        tick!(*unit);
        show(unit, [0xffff_ffff; 8]);
        settle(unit);
    }

    #[test]
    fn every_thread_is_in_one_warp() {
        let mut random = random();
        for lanes in [1u32, 4, 32] {
            let mut unit = SpawnIssue::new(3, lanes as usize);
            reset!(unit);
            for round in 0..60u32 {
                let threads = if round == 0 { 1 } else { random.gen_range(1..=5 * lanes) };
                let (entry, cores) = (random.gen_range(1..1 << 28) * 4, random.gen_range(0..8u32));
                let acquire = random.gen_range(0..2u32);
                let slot = u64::from(round % 16);
                let class = random.gen_range(0..2u32);
                unit.kernel_class.next = class == 1;
                job(
                    &mut unit,
                    slot,
                    [entry, round, !round, threads | class << 25 | acquire << 26, 0, cores, 0, 3],
                );
                let everywhere = if cores == 0 { 7 } else { u64::from(cores) };
                assert!(unit.checked_valid.val() && !unit.warp.valid.val());
                assert_eq!(unit.checked_code.val().to_u64(), 0);
                assert_eq!(unit.acquire.val().to_u64(), if acquire == 1 { everywhere } else { 0 });
                tick!(unit);
                let mut first = 0;
                while first < threads {
                    while !{
                        unit.warp.ready.next = random.gen();
                        settle(&mut unit);
                        assert!(unit.warp.valid.val() && !unit.checked_valid.val());
                        unit.warp_taken.val()
                    } {
                        tick!(unit);
                    }
                    let count = lanes.min(threads - first);
                    assert_eq!(unit.warp.thread.val().to_u32(), first);
                    assert_eq!(unit.warp.count.val().to_u64(), u64::from(count));
                    assert_eq!(unit.warp.job.val().to_u64(), slot);
                    assert_eq!(unit.warp.cores.val().to_u64(), everywhere);
                    assert_eq!(unit.warp_first.val(), first == 0);
                    assert_eq!(unit.warp_last.val(), first + count == threads);
                    first += count;
                    tick!(unit);
                    unit.warp.ready.next = true;
                    settle(&mut unit);
                    assert!(!unit.warp.valid.val() && !unit.warp_taken.val());
                    assert_eq!(unit.start_entry.val().to_u64(), u64::from(entry / 4));
                    assert_eq!(unit.start_argument_0.val().to_u32(), round);
                    assert_eq!(unit.start_argument_1.val().to_u32(), !round);
                    if first < threads {
                        assert!(!unit.job_take.val());
                        tick!(unit);
                    }
                }
            }
        }
    }

    #[test]
    fn bad_descriptors_start_nothing() {
        let mut unit = SpawnIssue::new(3, 8);
        reset!(unit);
        let good = [0x1000, 0, 0, 9, 0, 0, 0, 0];
        let with = |word: usize, value| {
            let mut words = good;
            words[word] = value;
            words
        };
        let mut cases = vec![
            (with(0, 0), 1),
            (with(0, 0x1001), 1),
            (with(0, 0x1002), 1),
            (with(0, 0xffff_ff00), 1),
            (with(3, 0), 2),
            (with(3, 9 | 1 << 25), 3),
            (with(4, 1), 3),
            (with(4, 1 << 31), 3),
            (with(5, 8), 5),
            (with(5, 1 << 31 | 1), 5),
            (with(7, 1 << 30), 3),
            (with(7, 1 << 31), 3),
            (with(0, 3).map(|word| if word == 9 { 0 } else { word }), 1),
        ];
        cases.extend([24, 27, 28, 29, 30, 31].map(|bit| (with(3, 9 | 1 << bit), 3)));
        unit.warp.ready.next = true;
        for (words, code) in cases {
            job(&mut unit, 5, words);
            assert!(unit.checked_valid.val(), "{words:x?}");
            assert_eq!(unit.checked_code.val().to_u64(), code, "{words:x?}");
            assert!(!unit.acquire.val().any());
            tick!(unit);
            settle(&mut unit);
            assert!(unit.job_take.val() && !unit.warp.valid.val(), "{words:x?}");
        }
        job(&mut unit, 5, good);
        assert_eq!(unit.checked_code.val().to_u64(), 0);
    }
}
