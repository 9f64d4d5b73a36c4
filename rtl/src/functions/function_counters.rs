//! What each network function did.

use super::FunctionCounter;
use crate::blocks::PopulationCount;
use crate::ports::{FunctionEvents, TakenFault};
use crate::types::FunctionIndex;
use hermes_hdl::prelude::*;

/// Counters of the network functions, modulo 2^32, zero after reset.
///
/// An event counts two cycles after its own: what is shown in a cycle are the events up to two
/// cycles before.
#[clocked]
#[derive(LogicBlock)]
#[new]
pub struct FunctionCounters {
    /// From the control path.
    pub events: FunctionEvents,
    /// From the fault collector.
    pub fault: Flipped<TakenFault>,
    /// NF_SELECT register: the function whose counters are shown.
    pub select: Signal<In, FunctionIndex>,
    /// Warps started.
    pub visits: Signal<Out, Bits<32>>,
    /// Packets of these warps.
    pub lanes: Signal<Out, Bits<32>>,
    /// Packets that were forwarded.
    pub forwarded: Signal<Out, Bits<32>>,
    /// Packets that were not.
    pub dropped: Signal<Out, Bits<32>>,
    /// Threads that ended with a fault.
    pub faulted: Signal<Out, Bits<32>>,
    start: Register<Bit>,
    start_function: Register<FunctionIndex>,
    start_lanes: Register<Bits<32>>,
    finish: Register<Bit>,
    finish_function: Register<FunctionIndex>,
    survivors: Register<Bits<32>>,
    ended: Register<Bits<32>>,
    taken: Register<Bit>,
    taken_function: Register<FunctionIndex>,
    taken_threads: Register<Bits<6>>,
    lane_count: PopulationCount<32>,
    survivor_count: PopulationCount<32>,
    ended_count: PopulationCount<32>,
    visit_sums: FunctionCounter,
    lane_sums: FunctionCounter,
    forwarded_sums: FunctionCounter,
    dropped_sums: FunctionCounter,
    faulted_sums: FunctionCounter,
}

impl Default for FunctionCounters {
    fn default() -> Self {
        Self::wired()
    }
}

impl Logic for FunctionCounters {
    #[hdl_gen]
    fn update(&mut self) {
        self.start.d.next = self.events.start.val();
        self.start_function.d.next = self.events.start_function.val();
        self.start_lanes.d.next = self.events.start_lanes.val();
        self.finish.d.next = self.events.finish.val();
        self.finish_function.d.next = self.events.finish_function.val();
        self.survivors.d.next = self.events.survivors.val();
        self.ended.d.next = self.events.ended.val();
        self.taken.d.next = self.fault.valid.val();
        self.taken_function.d.next = self.fault.function.val();
        self.taken_threads.d.next = self.fault.threads.val();
        self.lane_count.set.next = self.start_lanes.q.val();
        self.survivor_count.set.next = self.survivors.q.val();
        self.ended_count.set.next = self.ended.q.val();

        self.visit_sums.add.next = self.start.q.val();
        self.visit_sums.function.next = self.start_function.q.val();
        self.visit_sums.amount.next = bits::<6>(1);
        self.visit_sums.select.next = self.select.val();
        self.visits.next = self.visit_sums.value.val();

        self.lane_sums.add.next = self.start.q.val();
        self.lane_sums.function.next = self.start_function.q.val();
        self.lane_sums.amount.next = self.lane_count.count.val();
        self.lane_sums.select.next = self.select.val();
        self.lanes.next = self.lane_sums.value.val();

        self.forwarded_sums.add.next = self.finish.q.val();
        self.forwarded_sums.function.next = self.finish_function.q.val();
        self.forwarded_sums.amount.next = self.survivor_count.count.val();
        self.forwarded_sums.select.next = self.select.val();
        self.forwarded.next = self.forwarded_sums.value.val();

        self.dropped_sums.add.next = self.finish.q.val();
        self.dropped_sums.function.next = self.finish_function.q.val();
        self.dropped_sums.amount.next = self.ended_count.count.val();
        self.dropped_sums.select.next = self.select.val();
        self.dropped.next = self.dropped_sums.value.val();

        self.faulted_sums.add.next = self.taken.q.val();
        self.faulted_sums.function.next = self.taken_function.q.val();
        self.faulted_sums.amount.next = self.taken_threads.q.val();
        self.faulted_sums.select.next = self.select.val();
        self.faulted.next = self.faulted_sums.value.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    #[test]
    fn counts_lanes_by_function() {
        let mut random = random();
        let mut unit = FunctionCounters::default();
        reset!(unit);
        let mut sums = [[0u64; 5]; 8];
        // Sums as they were after each of the last two cycles.
        let mut late = VecDeque::from([sums, sums]);
        for cycle in 0..4_000 {
            let mut function = || random.gen_range(0..8usize);
            let (started, finished, faulted) = (function(), function(), function());
            let select = function();
            let (start, finish, fault): (bool, bool, bool) = random.gen();
            let (lanes, survivors): (u32, u32) = random.gen();
            let (survivors, ended) = (lanes & survivors, lanes & !survivors);
            let threads = random.gen_range(1..=32u64);
            unit.events.start.next = start;
            unit.events.start_function.next = (started as u64).into();
            unit.events.start_lanes.next = u64::from(lanes).into();
            unit.events.finish.next = finish;
            unit.events.finish_function.next = (finished as u64).into();
            unit.events.survivors.next = u64::from(survivors).into();
            unit.events.ended.next = u64::from(ended).into();
            unit.fault.valid.next = fault;
            unit.fault.function.next = (faulted as u64).into();
            unit.fault.threads.next = threads.into();
            unit.select.next = (select as u64).into();
            settle(&mut unit);
            let shown = [
                unit.visits.val(),
                unit.lanes.val(),
                unit.forwarded.val(),
                unit.dropped.val(),
                unit.faulted.val(),
            ];
            assert_eq!(shown.map(|value| value.to_u64()), late.pop_front().unwrap()[select], "cycle {cycle}");
            if start {
                sums[started][0] += 1;
                sums[started][1] += u64::from(lanes.count_ones());
            }
            if finish {
                sums[finished][2] += u64::from(survivors.count_ones());
                sums[finished][3] += u64::from(ended.count_ones());
            }
            if fault {
                sums[faulted][4] += threads;
            }
            late.push_back(sums);
            tick!(unit);
        }
    }
}
