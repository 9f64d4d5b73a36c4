//! The whole control path between the host's registers and the cores.

use super::{AdaptiveTimeout, DelayCommitQueue, FinishArbiter, LookupTable, WarpFormer, WarpIssue};
use crate::blocks::{indices, TaskFifo};
use crate::config::ControlOptions;
use crate::functions::Chain;
use crate::host::registers::branches::BranchEdges;
use crate::host::registers::functions::ChainControl;
use crate::host::registers::progress::Progress;
use crate::host::registers::timeout::TimeoutControl;
use crate::host::{IssueControl, TaskCount};
use crate::ports::{
    FinishedLanes, FormedBy, FormedTrace, FunctionCore, FunctionEvents, HopTrace, SpawnedFinish, SpawnedWarp,
    StartingWarp, WarpEvent, WarpFinish, WarpTrace,
};
use crate::types::{FunctionIndex, JobSlot};
use hermes_hdl::prelude::*;

/// Task FIFO, warp former, warp issue, finish arbiter, lookup tables and delay commit queue,
/// connected.
///
/// The task FIFO and the delay commit queue have `2^A` entries each (1,024 in the array:
/// `Dispatch<10, 11>`); `L` is `A + 1`.
///
/// 1. A warp's life on the ports is `start_valid`, then `finish` of its core and slot, then
///    `trace_commit`, in the order of packetIdx.
/// 2. `trace_issue` reports what starts in this cycle; `trace_finish` follows the transfer of a
///    finish by one cycle; `trace_commit` follows `trace_finish` by two cycles or more.
/// 3. The counters change in the cycle after the event they count.
/// 4. With a thread spawner warps of spawned threads pass by the delay commit queue: they start as
///    packet warps do, with `start_spawned`; when one finishes, `spawned_finish` reports it
///    in the cycle of `trace_finish`. No counter here counts them.
/// 5. With network functions a warp has a start and a finish at each function that its packets
///    visit, and one entry in the delay commit queue, which is done with the last finish.
///    `trace_issue` and the counter of issued warps report the first start, `trace_hop` the others:
///    4 cycles after the transfer of the finish before at the earliest, 6 where packets branch.
///    `finished` of a core answers the slot that it offered in the cycle before.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(options: ControlOptions, cores: usize, lanes: usize)]
pub struct Dispatch<const A: usize, const L: usize> {
    /// From the registers: how warps are formed and issued.
    pub control: IssueControl,

    /// From the host or the packet ports; `ready` depends on no input.
    pub task: TaskCount,

    /// To each core: a warp starts there in this cycle.
    #[count(cores)]
    pub start_valid: Vec<Signal<Out, Bit>>,
    /// To the cores: the warp.
    pub start: Flipped<StartingWarp>,
    /// From each core; `ready` depends on every `valid`.
    #[count(cores)]
    pub finish: Vec<Flipped<WarpFinish>>,

    /// A warp starts.
    pub trace_issue: WarpTrace,
    /// A warp finished.
    pub trace_finish: WarpEvent,
    /// A warp commits; core, slot and count are undefined while `valid` is low.
    pub trace_commit: WarpTrace,

    /// Entries in the task FIFO.
    pub task_level: Signal<Out, Bits<L>>,
    /// To the registers: what waits, and what was issued and committed since reset.
    pub progress: Progress,

    /// From the thread spawner: a warp of spawned threads (only with a spawner, as the next ports).
    #[there(options.spawns())]
    pub spawn: Part<SpawnedWarp>,
    /// Register SPAWN_MCW: warps of spawned threads on a core at a time.
    #[there(options.spawns())]
    pub spawn_mcw: Part<Signal<In, Bits<6>>>,
    /// To the thread spawner: a warp of spawned threads finished.
    #[there(options.spawns())]
    pub spawned_finish: Part<Flipped<SpawnedFinish>>,
    /// To the cores: the warp that starts is one of spawned threads, `start.packet` the number of
    /// its first one.
    #[there(options.spawns())]
    pub start_spawned: Part<Signal<Out, Bit>>,
    /// To the cores: slot of its job.
    #[there(options.spawns())]
    pub start_job: Part<Signal<Out, JobSlot>>,
    /// From each core: one of the threads of the warp that finished ended with a fault.
    #[there(options.spawns())]
    #[count(cores)]
    pub finish_faulted: Part<Vec<Signal<In, Bit>>>,
    /// The warp that finished is one of spawned threads.
    #[there(options.spawns())]
    pub trace_finish_spawned: Part<Signal<Out, Bit>>,

    /// The warp that waits for its issue (only with a trace): from the cycle after it was formed to
    /// the one before `trace_issue`.
    #[there(options.trace)]
    pub trace_formed: Part<FormedTrace>,

    /// To the load counters (only with them): a warp of packets is formed.
    #[there(options.load_counters)]
    pub formed_by: Part<FormedBy>,

    /// From and to the registers: how the time-out follows the traffic (only with an adaptive
    /// time-out).
    #[there(options.adaptive_timeout)]
    pub timeout: Part<TimeoutControl>,

    /// From the registers: where packets go (only with network functions, as the next).
    #[there(options.functions())]
    pub function_links: Part<ChainControl>,
    /// RING_SLOTS_LOG2 register: no warp crosses the ring's end.
    #[there(options.functions())]
    pub ring_slots_log2: Part<Signal<In, Bits<5>>>,
    /// From and to the owner of the cores, and from their contexts.
    #[there(options.functions())]
    #[count(cores)]
    pub function_core: Part<Vec<FunctionCore>>,
    /// From each core: lanes of the warp that it offered as finished in the cycle before.
    #[there(options.functions())]
    #[count(cores)]
    pub finished: Part<Vec<Flipped<FinishedLanes>>>,
    /// To the cores: lanes with which the warp starts.
    #[there(options.functions())]
    pub start_lanes: Part<Signal<Out, Bits<32>>>,
    /// From the registers: edges by verdict (only where packets branch).
    #[there(options.function_branches)]
    pub function_edges: Part<BranchEdges>,
    /// From each core: codes of the verdicts of the warp that it offered as finished in the cycle
    /// before (only where packets branch).
    #[there(options.function_branches)]
    #[count(cores)]
    pub finished_codes: Part<Vec<Signal<In, Bits<128>>>>,
    /// A warp starts at a function that is not its first.
    #[there(options.functions())]
    pub trace_hop: Part<HopTrace>,
    /// To the counters of the functions.
    #[there(options.functions())]
    pub function_events: Part<Flipped<FunctionEvents>>,
    /// NF_SELECT register: function whose FIFO the next ones show.
    #[there(options.functions())]
    pub function_select: Part<Signal<In, FunctionIndex>>,
    /// Warps that wait for this function.
    #[there(options.functions())]
    pub function_queued: Part<Signal<Out, Bits<11>>>,
    /// Most warps that waited for it at a time, since reset.
    #[there(options.functions())]
    pub function_peak: Part<Signal<Out, Bits<11>>>,

    tasks: TaskFifo<A, L>,
    #[init(WarpFormer::new(options))]
    former: WarpFormer,
    #[init(Part::when(options.adaptive_timeout, || AdaptiveTimeout::new(cores, lanes)))]
    adaptive: Part<AdaptiveTimeout>,
    #[init(WarpIssue::new(options))]
    issue: WarpIssue,
    #[init(FinishArbiter::new(cores, options.spawns()))]
    finishes: FinishArbiter,
    #[init((0..cores).map(|_| LookupTable::new(options.spawns())).collect())]
    tables: Vec<LookupTable<A>>,
    commit: DelayCommitQueue<A>,
    #[init(chain(options))]
    chain: Part<Chain<A, L>>,
    issued: Register<Bits<32>>,
    committed: Register<Bits<32>>,
    #[init(indices(cores))]
    index: Vec<Constant<Bits<5>>>,
    #[init(cores)]
    _cores: usize,
}

/// The chain of an array with network functions.
fn chain<const A: usize, const L: usize>(options: ControlOptions) -> Part<Chain<A, L>> {
    let chain = if options.function_branches { Chain::with_branches } else { Chain::new };
    Part::when(options.functions(), || chain(options.network_functions, options.lanes))
}

impl<const A: usize, const L: usize> Dispatch<A, L> {
    /// The control path of an array with these options.
    ///
    /// # Panics
    /// If there are not 1 to 32 cores, lanes and warp slots, `A` is zero (with a thread spawner
    /// below 4), `L` is not `A + 1`, or there is one network function or more than eight.
    pub fn new(options: ControlOptions) -> Self {
        let ControlOptions { cores, lanes, network_functions: functions, .. } = options;
        let spawns = options.spawns();
        assert!(!spawns || A >= 4, "Dispatch: a lookup table of {A} bits cannot hold the slot of a job");
        let possible = functions == 0 || (2..=8).contains(&functions);
        assert!(possible, "Dispatch: {functions} functions, expected 2 to 8");
        Self::wired(options, cores, lanes)
    }
}

impl<const A: usize, const L: usize> Logic for Dispatch<A, L> {
    #[hdl_gen]
    fn update(&mut self) {
        // Host to task FIFO to warp former.
        self.tasks.push_valid.next = self.task.valid.val();
        self.tasks.push_data.next = self.task.count.val();
        self.task.ready.next = self.tasks.push_ready.val();
        self.former.task.valid.next = self.tasks.pop_valid.val();
        self.former.task.count.next = self.tasks.pop_data.val();
        self.tasks.pop_ready.next = self.former.task.ready.val();
        connect!(self.control, self.former.control);
        self.former.idle_slot.next = self.issue.idle_slot.val();

        // Warp former to warp issue, which allocates in the delay commit queue.
        connect!(self.control, self.issue.control);
        connect!(self.former.warp, self.issue.warp);
        connect!(self.issue.allocate, self.commit.allocate);
        self.commit.allocate_count.next = self.former.warp.count.val();
        let allocated = self.issue.allocate.valid.val() & self.commit.allocate.ready.val();

        // A finish frees the slot and marks the entry that the core's table holds for it.
        connect!(self.finishes.event, self.issue.free);
        let mut done_index = self.tables[0].read_index.val();
        for i in 0..self._cores {
            self.tables[i].write.next = allocated & (self.issue.allocate.core.val() == self.index[i].val());
            self.tables[i].write_slot.next = self.issue.allocate.slot.val();
            self.tables[i].write_index.next = self.commit.allocate_index.val();
            self.tables[i].read_slot.next = self.finishes.event.slot.val();
            if self.finishes.event.core.val() == self.index[i].val() {
                done_index = self.tables[i].read_index.val();
            }
        }
        self.commit.done_valid.next = self.finishes.event.valid.val();
        self.commit.done_index.next = done_index;

        // The cores.
        connect!(self.start, self.issue.start);
        connect!(self.start_valid, self.issue.start_valid);
        connect!(self.finish, self.finishes.finish);

        // Events and counters.
        connect!(self.trace_issue, self.issue.start);
        self.trace_issue.valid.next = self.issue.start_any.val();
        self.trace_issue.core.next = self.issue.start_core.val();
        connect!(self.trace_finish, self.finishes.event);
        connect!(self.trace_commit, self.commit.commit);
        if !self.spawn.is_there() && !self.chain.is_there() {
            if self.issue.start_any.val() {
                self.issued.d.next = self.issued.q.val() + 1;
            }
        }
        if self.commit.commit.valid.val() {
            self.committed.d.next = self.committed.q.val() + 1;
        }
        self.task_level.next = self.tasks.level.val();
        self.progress.pending.next = self.former.pending.val();
        self.progress.issued_warps.next = self.issued.q.val();
        self.progress.committed_warps.next = self.committed.q.val();
        self.progress.committed_packets.next = self.commit.commit.packet.val();

        if self.trace_formed.is_there() {
            self.trace_formed.valid.next = self.former.warp.valid.val();
            self.trace_formed.packet.next = self.former.warp.packet.val();
            self.trace_formed.count.next = self.former.warp.count.val();
        }

        if self.formed_by.is_there() {
            connect!(self.formed_by, self.former.formed_by);
        }

        // The time-out follows the traffic.
        if self.timeout.is_there() {
            connect!(*self.timeout, self.adaptive.registers);
            self.adaptive.fixed.next = self.control.timeout.val();
            self.adaptive.arrive.next = self.task.valid.val() & self.tasks.push_ready.val();
            self.adaptive.packets.next = self.task.count.val();
            self.adaptive.issued.next = allocated;
            self.adaptive.finished.next = self.finishes.event.valid.val();
            self.former.control.timeout.next = self.adaptive.timeout.val();
            self.former.control.eager.next = self.control.eager.val() | self.adaptive.eager.val();
        }

        // Network functions: a warp that waits starts with the entry that it has, and a finish ends
        // the entry only where no packet goes on.
        if self.function_links.is_there() {
            self.former.ring_slots_log2.next = self.ring_slots_log2.val();
            connect!(*self.function_links, self.chain.control);
            connect!(*self.issue.waits, self.chain.waits);
            self.chain.enter.next = allocated;
            self.chain.enter_index.next = self.commit.allocate_index.val();
            self.chain.enter_packet.next = self.former.warp.packet.val();
            self.chain.enter_count.next = self.former.warp.count.val();
            self.chain.leave.next = self.commit.commit.valid.val();
            let mut function = bits::<3>(0);
            let mut survivors = bits::<32>(0);
            let mut ended = bits::<32>(0);
            for i in 0..self._cores {
                connect!(self.function_core[i], self.issue.function_core[i]);
                if self.issue.waits.take.val() {
                    self.tables[i].write.next = self.issue.waits.core.val() == self.index[i].val();
                    self.tables[i].write_slot.next = self.issue.waits.slot.val();
                    self.tables[i].write_index.next = self.chain.taken_index.val();
                }
                if self.finishes.event.core.val() == self.index[i].val() {
                    function = self.function_core[i].function.val();
                    survivors = self.finished[i].survivors.val();
                    ended = self.finished[i].ended.val();
                }
            }
            self.chain.finish.next = self.finishes.event.valid.val();
            self.chain.finish_index.next = done_index;
            self.chain.finish_function.next = function;
            self.chain.finished.survivors.next = survivors;
            self.chain.finished.ended.next = ended;
            self.commit.done_valid.next = self.finishes.event.valid.val() & self.chain.done.val();
            if self.function_edges.is_there() {
                connect!(self.function_edges, self.chain.edges);
                let mut codes = bits::<128>(0);
                for i in 0..self._cores {
                    if self.finishes.event.core.val() == self.index[i].val() {
                        codes = self.finished_codes[i].val();
                    }
                }
                self.chain.finish_codes.next = codes;
                self.commit.done_valid.next = self.chain.ended.val();
                self.commit.done_index.next = self.chain.ended_index.val();
            }

            let hops = self.issue.start_any.val() & self.issue.start_hop.val();
            self.start_lanes.next = self.issue.start_lanes.val();
            self.trace_issue.valid.next = self.issue.start_any.val() & !self.issue.start_hop.val();
            if self.issue.start_any.val() & !self.issue.start_hop.val() {
                self.issued.d.next = self.issued.q.val() + 1;
            }
            connect!(*self.trace_hop, self.issue.start);
            self.trace_hop.valid.next = hops;
            self.trace_hop.core.next = self.issue.start_core.val();
            self.trace_hop.lanes.next = self.issue.start_lanes.val();
            self.trace_hop.function.next = self.issue.start_function.val();
            self.function_events.start.next = self.issue.start_any.val();
            self.function_events.start_function.next = self.issue.start_function.val();
            self.function_events.start_lanes.next = self.issue.start_lanes.val();
            self.function_events.finish.next = self.finishes.event.valid.val();
            self.function_events.finish_function.next = function;
            self.function_events.survivors.next = survivors;
            self.function_events.ended.next = ended;
            self.chain.select.next = self.function_select.val();
            self.function_queued.next = self.chain.queued.val();
            self.function_peak.next = self.chain.peak.val();
        }

        // Warps of spawned threads: no entry in the delay commit queue, and in no counter.
        if self.spawn.is_there() {
            connect!(self.spawn, self.issue.spawn);
            self.issue.spawn_mcw.next = self.spawn_mcw.val();
            self.start_spawned.next = self.issue.start_spawned.val();
            self.start_job.next = self.issue.start_job.val();
            let mut was_spawned = false;
            for i in 0..self._cores {
                self.tables[i].write_spawned.next = self.issue.spawn_take.val();
                if self.issue.spawn_take.val() {
                    self.tables[i].write.next = self.issue.spawn_core.val() == self.index[i].val();
                    self.tables[i].write_slot.next = self.issue.spawn_slot.val();
                    self.tables[i].write_index.next = bit_cast::<A, 4>(self.spawn.job.val());
                }
                if self.finishes.event.core.val() == self.index[i].val() {
                    was_spawned = self.tables[i].read_spawned.val();
                }
                self.finishes.finish_faulted[i].next = self.finish_faulted[i].val();
            }
            self.commit.done_valid.next = self.finishes.event.valid.val() & !was_spawned;
            if self.timeout.is_there() {
                self.adaptive.finished.next = self.finishes.event.valid.val() & !was_spawned;
            }
            self.spawned_finish.valid.next = self.finishes.event.valid.val() & was_spawned;
            self.spawned_finish.job.next = bit_cast::<4, A>(done_index);
            self.spawned_finish.faulted.next = self.finishes.event_faulted.val();
            self.trace_finish_spawned.next = self.finishes.event.valid.val() & was_spawned;
            if self.issue.start_any.val() & !self.issue.start_spawned.val() {
                self.issued.d.next = self.issued.q.val() + 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Warp {
        core: usize,
        slot: usize,
        packet: u64,
        count: usize,
    }

    struct Shape {
        cores: usize,
        lanes: usize,
        warps: usize,
        cycles: usize,
    }

    /// Cores that run each warp for a random time, against the order of issue.
    fn random_run<const A: usize, const L: usize>(shape: Shape) {
        let Shape { cores, lanes, warps, cycles } = shape;
        let mut random = random();
        let mut unit = Dispatch::<A, L>::new(ControlOptions::of(cores, lanes, warps));
        reset!(unit);
        // On each core: slot -> cycle in which the warp ends.
        let mut running: Vec<[Option<usize>; 32]> = vec![[None; 32]; cores];
        let mut finishing: Vec<Option<usize>> = vec![None; cores];
        let mut in_flight: VecDeque<(Warp, bool)> = VecDeque::new();
        let (mut pushed, mut started, mut committed) = (0u64, 0u64, 0u64);
        let (mut warps_started, mut warps_committed) = (0u64, 0u64);
        let (mut out_of_order, mut fifo_full, mut queue_full) = (0, 0, 0);
        let mut count = 0;
        unit.control.run.next = true;
        for cycle in 0..cycles + 20_000 {
            let feeding = cycle < cycles;
            if cycle % 512 == 0 {
                unit.control.mcw.next = random.gen_range(1..=32).into();
                unit.control.kernel_class.next = random.gen();
                unit.control.eager.next = random.gen();
                unit.control.timeout.next = random.gen_range(0..50).into();
            }
            if !feeding {
                unit.control.mcw.next = 4.into();
                unit.control.timeout.next = 20.into();
            }
            let longest = if cycle / 1024 % 2 == 0 { 20 } else { 300 };
            if !unit.task.valid.val() {
                unit.task.valid.next = feeding && random.gen_bool(0.5);
                count = random.gen_range(0..=2 * lanes as u64);
                unit.task.count.next = count.into();
            }
            for core in 0..cores {
                if finishing[core].is_none() {
                    let ended = |slot: &usize| running[core][*slot].is_some_and(|end| end <= cycle);
                    finishing[core] = (0..32).find(ended);
                }
                unit.finish[core].valid.next = finishing[core].is_some();
                unit.finish[core].slot.next = (finishing[core].unwrap_or(31) as u64).into();
            }
            settle(&mut unit);

            assert_eq!(unit.progress.committed_packets.val().to_u64(), committed, "cycle {cycle}");
            assert_eq!(unit.progress.committed_warps.val().to_u64(), warps_committed, "cycle {cycle}");
            assert_eq!(unit.progress.issued_warps.val().to_u64(), warps_started, "cycle {cycle}");
            fifo_full += usize::from(!unit.task.ready.val());
            queue_full += usize::from(in_flight.len() == 1 << A);
            if unit.trace_issue.valid.val() {
                let warp = Warp {
                    core: unit.trace_issue.core.val().index(),
                    slot: unit.trace_issue.slot.val().index(),
                    packet: unit.trace_issue.packet.val().to_u64(),
                    count: unit.trace_issue.count.val().index(),
                };
                assert_eq!(unit.start.slot.val(), unit.trace_issue.slot.val());
                assert_eq!(unit.start.packet.val(), unit.trace_issue.packet.val());
                assert_eq!(unit.start.count.val(), unit.trace_issue.count.val());
                assert!((1..=lanes).contains(&warp.count), "cycle {cycle}: {warp:?}");
                assert_eq!(warp.packet, started, "cycle {cycle}: packets are consecutive");
                assert!(running[warp.core][warp.slot].is_none(), "cycle {cycle}: busy slot {warp:?}");
                assert!(warp.slot < warps, "cycle {cycle}: {warp:?}");
                running[warp.core][warp.slot] = Some(cycle + random.gen_range(1..longest));
                started += warp.count as u64;
                warps_started += 1;
                in_flight.push_back((warp, false));
            }
            for core in 0..cores {
                let expected = unit.trace_issue.valid.val() && unit.trace_issue.core.val().index() == core;
                assert_eq!(unit.start_valid[core].val(), expected, "cycle {cycle}");
                if unit.finish[core].valid.val() && unit.finish[core].ready.val() {
                    let slot = finishing[core].take().unwrap();
                    running[core][slot] = None;
                    let position =
                        in_flight.iter().position(|(w, done)| (w.core, w.slot, *done) == (core, slot, false));
                    out_of_order += usize::from(position.unwrap() > 0);
                    in_flight[position.unwrap()].1 = true;
                }
            }
            if unit.trace_commit.valid.val() {
                let (warp, done) = in_flight.pop_front().expect("nothing commits that was not issued");
                assert!(done, "cycle {cycle}: {warp:?} has not finished");
                let got = Warp {
                    core: unit.trace_commit.core.val().index(),
                    slot: unit.trace_commit.slot.val().index(),
                    packet: unit.trace_commit.packet.val().to_u64(),
                    count: unit.trace_commit.count.val().index(),
                };
                assert_eq!(got, warp, "cycle {cycle}");
                committed += warp.count as u64;
                warps_committed += 1;
            }
            let transfer = unit.task.valid.val() && unit.task.ready.val();
            tick!(unit);
            if transfer {
                pushed += count;
                unit.task.valid.next = false;
                settle(&mut unit);
            }
        }
        assert_eq!(started, pushed, "every packet starts");
        assert_eq!(committed, pushed, "every packet commits");
        assert!(in_flight.is_empty() && !unit.task_level.val().any() && !unit.progress.pending.val().any());
        assert!(A > 3 || fifo_full > 0, "the FIFO was never full");
        assert!(A > 3 || cores * warps <= 1 << A || queue_full > 0, "the queue was never full");
        assert!(cores * warps == 1 || out_of_order > 100, "{out_of_order}");
    }

    /// A spawned warp runs, then a packet warp: partial warps are formed at once before, and with
    /// the packet warp on the core they wait for the time-out.
    #[test]
    fn adaptive_time_out_counts_packet_warps_alone() {
        let mut unit = Dispatch::<4, 5>::new(ControlOptions {
            adaptive_timeout: true,
            spawn_slots: 8,
            ..ControlOptions::of(2, 4, 8)
        });
        reset!(unit);
        unit.control.run.next = true;
        unit.control.mcw.next = 4.into();
        unit.control.timeout.next = 300.into();
        unit.spawn_mcw.next = 4.into();
        unit.spawn.cores.next = 3.into();
        unit.spawn.count.next = 4.into();
        unit.timeout.adaptive.next = true;
        unit.timeout.factor.next = 8.into();
        // What it is before anything is measured.
        unit.timeout.min.next = 300.into();
        unit.timeout.max.next = 9_999.into();
        // Less than one warp in two cores, but not none.
        unit.timeout.eager.next = 1.into();
        // Cycles until the warp of one packet starts, and its core.
        let partial = |unit: &mut Dispatch<4, 5>| {
            unit.task.valid.next = true;
            unit.task.count.next = 1.into();
            settle(unit);
            tick!(*unit);
            unit.task.valid.next = false;
            settle(unit);
            let mut cycles = 1;
            while !unit.trace_issue.valid.val() {
                assert!(cycles < 1_000, "the warp never starts");
                tick!(*unit);
                cycles += 1;
            }
            (cycles, unit.trace_issue.core.val().index(), unit.trace_issue.slot.val())
        };
        let finish = |unit: &mut Dispatch<4, 5>, core: usize, slot| {
            unit.finish[core].valid.next = true;
            unit.finish[core].slot.next = slot;
            settle(unit);
            assert!(unit.finish[core].ready.val());
            tick!(*unit);
            unit.finish[core].valid.next = false;
            settle(unit);
            for _ in 0..4 {
                tick!(*unit);
            }
        };
        unit.spawn.valid.next = true;
        settle(&mut unit);
        tick!(unit);
        unit.spawn.valid.next = false;
        settle(&mut unit);
        let (core, slot) = (unit.trace_issue.core.val().index(), unit.trace_issue.slot.val());
        assert!(unit.trace_issue.valid.val() && unit.start_spawned.val());
        let (at_once, first_core, first_slot) = partial(&mut unit);
        assert!(at_once < 8, "{at_once}");
        finish(&mut unit, core, slot);
        let (late, second_core, second_slot) = partial(&mut unit);
        assert!((300..310).contains(&late), "{late}");
        finish(&mut unit, first_core, first_slot);
        assert!((300..310).contains(&partial(&mut unit).0), "the second is still there");
        finish(&mut unit, second_core, second_slot);
    }

    #[test]
    fn one_slot() {
        random_run::<2, 3>(Shape { cores: 1, lanes: 1, warps: 1, cycles: 10_000 });
    }

    #[test]
    fn tiny_queues() {
        random_run::<2, 3>(Shape { cores: 2, lanes: 4, warps: 4, cycles: 20_000 });
        random_run::<3, 4>(Shape { cores: 3, lanes: 8, warps: 32, cycles: 20_000 });
    }

    #[test]
    fn full_array() {
        random_run::<10, 11>(Shape { cores: 8, lanes: 32, warps: 32, cycles: 30_000 });
    }
}
