//! Counters of the load of the array: what forms warps, busy warp slots, and how full queues
//! became.

use crate::blocks::indices;
use crate::host::registers::load_counters::LoadCounts;
use crate::ports::FormedBy;
use hermes_hdl::prelude::*;

/// Counts events of the control path and of the cores (the registers from CORE_LINE_HITS on).
///
/// `2^A` is the size of the delay commit queue; `L`, which is `A + 1`, the bits of the level of the
/// task FIFO.
///
/// 1. Warps formed and lines found count two cycles after the event: it is known late in a cycle.
/// 2. A slot is busy from the cycle after `start` to that of `finish`; so
///    `counters.slot_cycles` grows by the time from start to finish of each warp, and by as
///    much as there are busy slots in each cycle.
/// 3. Warps are in the delay commit queue from `start`, unless `start_spawned` is high, to
///    `commit`. Both follow what they tell of the queue by one cycle, so that the level is that of
///    the queue a cycle ago, and the cycles in which it is full are as many.
/// 4. A high-water mark shows a level two cycles after it.
#[clocked("all counters are 0")]
#[derive(Clone, LogicBlock)]
#[new(cores: usize, spawns: bool, ports: bool)]
pub struct LoadCounters<const A: usize, const L: usize> {
    /// From the warp former: a warp is formed.
    pub formed_by: Flipped<FormedBy>,
    /// From the warp issue: a warp starts.
    pub start: Signal<In, Bit>,
    /// The warp that starts is one of spawned threads (only with a thread spawner).
    #[there(spawns)]
    pub start_spawned: Part<Signal<In, Bit>>,
    /// From the finish arbiter: a warp finished.
    pub finish: Signal<In, Bit>,
    /// From the delay commit queue: a warp commits.
    pub commit: Signal<In, Bit>,
    /// Entries in the task FIFO.
    pub tasks: Signal<In, Bits<L>>,
    /// From the packet ports: slots of the ring that packets occupy (only with packet ports).
    #[there(ports)]
    pub ring: Part<Signal<In, Bits<32>>>,
    /// From each core: a data line is found in the data cache.
    #[count(cores)]
    pub line_hit: Vec<Signal<In, Bit>>,
    /// CORE_SELECT register: the core of `counters.line_hits`.
    pub core_select: Signal<In, Bits<5>>,
    /// To the registers.
    pub counters: LoadCounts,
    full_q: Register<Bit>,
    timeout_q: Register<Bit>,
    eager_q: Register<Bit>,
    #[count(cores)]
    hit_q: Vec<Register<Bit>>,
    tasks_q: Register<Bits<L>>,
    formed_full: Register<Bits<32>>,
    formed_timeout: Register<Bits<32>>,
    formed_eager: Register<Bits<32>>,
    #[count(cores)]
    line_hits: Vec<Register<Bits<32>>>,
    busy_slots: Register<Bits<11>>,
    slot_cycles: Register<Bits<64>>,
    in_queue: Register<Bits<L>>,
    commit_queue_full: Register<Bits<32>>,
    high_tasks: Register<Bits<L>>,
    high_commit_queue: Register<Bits<L>>,
    #[there(ports)]
    ring_q: Part<Register<Bits<32>>>,
    #[there(ports)]
    high_ring: Part<Register<Bits<32>>>,
    #[init(Constant::new((1u64 << A).into()))]
    capacity: Constant<Bits<L>>,
    #[init(indices(cores))]
    index: Vec<Constant<Bits<5>>>,
    #[init(cores)]
    _cores: usize,
}

impl<const A: usize, const L: usize> LoadCounters<A, L> {
    /// The counters of an array of `cores` cores, with a thread spawner (`spawns`) or none, and
    /// with packet ports (`ports`) or none.
    ///
    /// # Panics
    /// If `cores` is not 1 to 32, `A` more than 10 or `L` not `A + 1`.
    pub fn new(cores: usize, spawns: bool, ports: bool) -> Self {
        assert!((1..=32).contains(&cores), "LoadCounters: {cores} cores, expected 1 to 32");
        assert!(A <= 10 && L == A + 1, "LoadCounters: 2^{A} entries, and a level of {L} bits");
        Self::wired(cores, spawns, ports)
    }
}

impl<const A: usize, const L: usize> Logic for LoadCounters<A, L> {
    #[hdl_gen]
    fn update(&mut self) {
        // Warps formed
        self.full_q.d.next = self.formed_by.full.val();
        self.timeout_q.d.next = self.formed_by.timeout.val();
        self.eager_q.d.next = self.formed_by.eager.val();
        if self.full_q.q.val() {
            self.formed_full.d.next = self.formed_full.q.val() + 1;
        }
        if self.timeout_q.q.val() {
            self.formed_timeout.d.next = self.formed_timeout.q.val() + 1;
        }
        if self.eager_q.q.val() {
            self.formed_eager.d.next = self.formed_eager.q.val() + 1;
        }
        self.counters.formed_full.next = self.formed_full.q.val();
        self.counters.formed_timeout.next = self.formed_timeout.q.val();
        self.counters.formed_eager.next = self.formed_eager.q.val();

        // Busy slots, as many as a core's slots times the cores at most: 1,024
        if self.start.val() & !self.finish.val() {
            self.busy_slots.d.next = self.busy_slots.q.val() + 1;
        }
        if self.finish.val() & !self.start.val() {
            self.busy_slots.d.next = self.busy_slots.q.val() - 1;
        }
        self.slot_cycles.d.next = self.slot_cycles.q.val() + bit_cast::<64, 11>(self.busy_slots.q.val());
        self.counters.slot_cycles.next = self.slot_cycles.q.val();

        // Delay commit queue
        let mut enters = self.start.val();
        if self.start_spawned.is_there() {
            enters = self.start.val() & !self.start_spawned.val();
        }
        if enters & !self.commit.val() {
            self.in_queue.d.next = self.in_queue.q.val() + 1;
        }
        if self.commit.val() & !enters {
            self.in_queue.d.next = self.in_queue.q.val() - 1;
        }
        if self.in_queue.q.val() == self.capacity.val() {
            self.commit_queue_full.d.next = self.commit_queue_full.q.val() + 1;
        }
        if self.in_queue.q.val() > self.high_commit_queue.q.val() {
            self.high_commit_queue.d.next = self.in_queue.q.val();
        }
        self.counters.commit_queue_full.next = self.commit_queue_full.q.val();
        self.counters.high_commit_queue.next = bit_cast::<11, L>(self.high_commit_queue.q.val());

        // Task FIFO
        self.tasks_q.d.next = self.tasks.val();
        if self.tasks_q.q.val() > self.high_tasks.q.val() {
            self.high_tasks.d.next = self.tasks_q.q.val();
        }
        self.counters.high_tasks.next = bit_cast::<11, L>(self.high_tasks.q.val());

        // Ring
        self.counters.high_ring.next = bits::<32>(0);
        if self.ring.is_there() {
            self.ring_q.d.next = self.ring.val();
            if self.ring_q.q.val() > self.high_ring.q.val() {
                self.high_ring.d.next = self.ring_q.q.val();
            }
            self.counters.high_ring.next = self.high_ring.q.val();
        }

        // Data caches
        self.counters.line_hits.next = bits::<32>(0);
        for i in 0..self._cores {
            self.hit_q[i].d.next = self.line_hit[i].val();
            if self.hit_q[i].q.val() {
                self.line_hits[i].d.next = self.line_hits[i].q.val() + 1;
            }
            if self.core_select.val() == self.index[i].val() {
                self.counters.line_hits.next = self.line_hits[i].q.val();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// What is counted, and what a cycle makes of it.
    #[derive(Default)]
    struct Model {
        formed: [u64; 3],
        hits: [u64; 3],
        slot_cycles: u64,
        queue_full: u64,
        high: [u64; 3],
    }

    /// Random events of an array of three cores, within what it can do, against plain numbers; then
    /// two quiet cycles, in which the last of them count.
    fn random_run(spawns: bool, ports: bool, rounds: usize) {
        let mut random = random();
        let mut unit = LoadCounters::<3, 4>::new(3, spawns, ports);
        let mut spawned_starts = 0;
        let mut model = Model::default();
        for round in 0..rounds {
            reset!(unit);
            model = Model::default();
            // Warps on cores, and in the queue; of spawned threads the cores only.
            let (mut busy, mut queued) = (0u64, 0u64);
            // Phases in which the queue fills and drains.
            for cycle in 0..400 {
                let fills = cycle / 100 % 2 == 0;
                let start = busy < 20 && random.gen_bool(if fills { 0.6 } else { 0.2 });
                let spawned = spawns && (queued == 8 || random.gen_bool(0.3));
                let start = start && (spawned || queued < 8);
                let finish = busy > 0 && random.gen_bool(0.3);
                let commit = queued > 0 && random.gen_bool(if fills { 0.1 } else { 0.6 });
                unit.start.next = start;
                if spawns {
                    unit.start_spawned.next = spawned;
                }
                unit.finish.next = finish;
                unit.commit.next = commit;
                let cause = random.gen_range(0..6);
                unit.formed_by.full.next = cause == 0;
                unit.formed_by.timeout.next = cause == 1;
                unit.formed_by.eager.next = cause == 2;
                let tasks = random.gen_range(0..=[8, 2][round % 2]);
                unit.tasks.next = tasks.into();
                let ring = u64::from(random.gen::<u32>() >> random.gen_range(0..32));
                if ports {
                    unit.ring.next = ring.into();
                    model.high[2] = model.high[2].max(ring);
                }
                for core in 0..3 {
                    let hit = random.gen_bool(0.2 * (core + 1) as f64);
                    unit.line_hit[core].next = hit;
                    model.hits[core] += u64::from(hit);
                }
                tick!(unit);
                if cause < 3 {
                    model.formed[cause] += 1;
                }
                spawned_starts += usize::from(start && spawned);
                busy = busy + u64::from(start) - u64::from(finish);
                queued = queued + u64::from(start && !spawned) - u64::from(commit);
                model.slot_cycles += busy;
                model.queue_full += u64::from(queued == 8);
                model.high[0] = model.high[0].max(tasks);
                model.high[1] = model.high[1].max(queued);
            }
            unit.start.next = false;
            unit.finish.next = false;
            unit.commit.next = false;
            unit.formed_by.full.next = false;
            unit.formed_by.timeout.next = false;
            unit.formed_by.eager.next = false;
            unit.line_hit.iter_mut().for_each(|hit| hit.next = false);
            tick!(unit);
            tick!(unit);
            // Slots and queue stay as they are meanwhile; what counts of a cycle is there after it.
            model.slot_cycles += busy;
            model.queue_full += u64::from(queued == 8);
            let counts = &unit.counters;
            let formed = [&counts.formed_full, &counts.formed_timeout, &counts.formed_eager];
            assert_eq!(formed.map(|count| count.val().to_u64()), model.formed, "round {round}");
            assert_eq!(counts.slot_cycles.val().to_u64(), model.slot_cycles, "round {round}");
            assert_eq!(counts.commit_queue_full.val().to_u64(), model.queue_full, "round {round}");
            assert_eq!(counts.high_tasks.val().to_u64(), model.high[0], "round {round}");
            assert_eq!(counts.high_commit_queue.val().to_u64(), model.high[1], "round {round}");
            assert_eq!(counts.high_ring.val().to_u64(), model.high[2], "round {round}");
            for core in 0..4 {
                unit.core_select.next = (core as u64).into();
                settle(&mut unit);
                let hits = model.hits.get(core).copied().unwrap_or(0);
                assert_eq!(unit.counters.line_hits.val().to_u64(), hits, "round {round}, core {core}");
            }
        }
        assert!(model.queue_full > 10 && model.high[1] == 8, "the queue was never full");
        assert!(spawned_starts > 100 || !spawns, "{spawned_starts}");
    }

    #[test]
    fn counts_what_happens() {
        random_run(false, false, 20);
        random_run(false, true, 20);
        random_run(true, true, 20);
    }

    /// All slots of the largest array are busy for long: nothing is lost at 32 bits.
    #[test]
    fn slot_cycles_have_64_bits() {
        let mut unit = LoadCounters::<10, 11>::new(32, false, false);
        reset!(unit);
        unit.start.next = true;
        for _ in 0..1024 {
            tick!(unit);
        }
        unit.start.next = false;
        settle(&mut unit);
        // Close to 2^32 by hand: it would take four million cycles.
        unit.slot_cycles.q.next = 0xffff_fe00u64.into();
        settle(&mut unit);
        tick!(unit);
        assert_eq!(unit.counters.slot_cycles.val().to_u64(), 0xffff_fe00 + 1024);
        assert_eq!(unit.counters.commit_queue_full.val().to_u64(), 1, "1,024 warps are in the queue");
        assert_eq!(unit.counters.high_commit_queue.val().to_u64(), 1024);
    }
}
