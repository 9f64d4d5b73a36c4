//! The way of a warp whose lanes branch.

use super::verdict_codes::VERDICT_CODES;
use crate::types::FunctionIndex;
use hermes_hdl::prelude::*;

/// Finds where the lanes of an entry of the delay commit queue go after a visit, and which network
/// function the entry visits next: the lowest one that a lane of it waits for.
///
/// The queue has `2^A` entries.
///
/// 1. The lanes that finished wait for the functions to which the edges of their codes lead; the
///    others go on to wait. Behind a first visit no other lane waits.
/// 2. Two cycles after `finish` the entry `index` either goes `onward` to `target`, with the lanes
///    that wait there, or is `done`: no lane of it waits. There may be a finish in each cycle.
/// 3. If all edges lead to higher functions than that of the finish, the targets of an entry rise,
///    and a lane that waits for no function never does again.
/// 4. `start` and a `finish` of an entry take turns, and between a finish and the next start of the
///    entry there are two cycles or more. With reset no finish is on its way.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(lane_bytes: usize)]
pub struct BranchStep<const A: usize> {
    /// A warp starts.
    pub start: Signal<In, Bit>,
    /// Entry of the warp that starts.
    pub start_index: Signal<In, Bits<A>>,
    /// The warp that starts is one of new packets: the first visit.
    pub start_new: Signal<In, Bit>,

    /// A warp finished.
    pub finish: Signal<In, Bit>,
    /// Entry of the warp that finished.
    pub finish_index: Signal<In, Bits<A>>,
    /// Lanes of the warp that finished.
    pub finish_lanes: Signal<In, Bits<32>>,
    /// Codes of their verdicts, as of [`VerdictCodes`](super::VerdictCodes).
    pub finish_codes: Signal<In, Bits<128>>,
    /// Edges of its function by code, four bits each, code 0 lowest: bit 3: the packets go on, to
    /// the function in bits 2:0.
    pub finish_edges: Signal<In, Bits<44>>,

    /// The entry goes to the function `target`.
    pub onward: Signal<Out, Bit>,
    /// The entry is done.
    pub done: Signal<Out, Bit>,
    /// Entry that goes on or is done.
    pub index: Signal<Out, Bits<A>>,
    /// The next function.
    pub target: Signal<Out, FunctionIndex>,
    /// The lanes that wait for it.
    pub lanes: Signal<Out, Bits<32>>,

    /// Edge to the function that each lane of an entry waits for, 4 bits a lane, eight lanes a
    /// memory.
    #[count(lane_bytes)]
    waits: Vec<RamSync<Bits<32>, A>>,
    /// The entry had its first visit.
    visited: RamSync<Bit, A>,
    // The cycle after the finish
    read: Register<Bit>,
    read_index: Register<Bits<A>>,
    read_lanes: Register<Bits<32>>,
    read_codes: Register<Bits<128>>,
    read_edges: Register<Bits<44>>,
    // The next one
    moved: Register<Bit>,
    moved_index: Register<Bits<A>>,
    #[count(8 * lane_bytes)]
    moved_to: Vec<Register<Bits<4>>>,
    #[init((0..8u64).map(|i| Constant::new(i.into())).collect())]
    number: Vec<Constant<FunctionIndex>>,
    #[init(lane_bytes)]
    _lane_bytes: usize,
    #[init(8 * lane_bytes)]
    _lanes: usize,
    #[init(8)]
    _functions: usize,
    #[init(VERDICT_CODES)]
    _codes: usize,
}

impl<const A: usize> BranchStep<A> {
    /// The step of entries with so many lanes.
    ///
    /// # Panics
    /// If `lanes` is not 1 to 32.
    pub fn new(lanes: usize) -> Self {
        assert!((1..=32).contains(&lanes), "BranchStep: {lanes} lanes, expected 1 to 32");
        Self::wired(lanes.div_ceil(8))
    }
}

impl<const A: usize> Logic for BranchStep<A> {
    #[hdl_gen]
    fn update(&mut self) {
        self.visited.write_enable.next = self.start.val();
        self.visited.write_address.next = self.start_index.val();
        self.visited.write_data.next = !self.start_new.val();

        // Where the lanes waited
        self.read.d.next = self.finish.val();
        self.read_index.d.next = self.finish_index.val();
        self.read_lanes.d.next = self.finish_lanes.val();
        self.read_codes.d.next = self.finish_codes.val();
        self.read_edges.d.next = self.finish_edges.val();
        self.visited.read_enable.next = self.finish.val();
        self.visited.read_address.next = self.finish_index.val();
        for i in 0..self._lane_bytes {
            self.waits[i].read_enable.next = self.finish.val();
            self.waits[i].read_address.next = self.finish_index.val();
        }

        // Where they go
        self.moved.d.next = self.read.q.val();
        self.moved_index.d.next = self.read_index.q.val();
        for i in 0..self._lane_bytes {
            for j in 0..8 {
                let code = self.read_codes.q.val().get_bits::<4>(32 * i + 4 * j);
                let mut edge = bits::<4>(0);
                for c in 0..self._codes {
                    if code == bits::<4>(c as u64) {
                        edge = self.read_edges.q.val().get_bits::<4>(4 * c);
                    }
                }
                let mut to = bits::<4>(0);
                if self.visited.read_data.val() {
                    to = self.waits[i].read_data.val().get_bits::<4>(4 * j);
                }
                if self.read_lanes.q.val().get_bit(8 * i + j) {
                    to = edge;
                }
                self.moved_to[8 * i + j].d.next = to;
            }
        }

        // The lowest function that one of them waits for
        let mut wanted = bits::<8>(0);
        for i in 0..self._lanes {
            if self.moved_to[i].q.val().get_bit(3) {
                wanted = wanted | (bits::<8>(1) << self.moved_to[i].q.val().get_bits::<3>(0));
            }
        }
        let lowest = wanted & (!wanted + bits::<8>(1));
        let mut first = bits::<3>(0);
        for i in 0..self._functions {
            if lowest.get_bit(i) {
                first = self.number[i].val();
            }
        }
        let mut waiting = bits::<32>(0);
        for i in 0..self._lanes {
            waiting = waiting.replace_bit(
                i,
                self.moved_to[i].q.val().get_bit(3) & (self.moved_to[i].q.val().get_bits::<3>(0) == first),
            );
        }
        for i in 0..self._lane_bytes {
            let mut word = bits::<32>(0);
            for j in 0..8 {
                word = word | (bit_cast::<32, 4>(self.moved_to[8 * i + j].q.val()) << (4 * j as u64));
            }
            self.waits[i].write_enable.next = self.moved.q.val();
            self.waits[i].write_address.next = self.moved_index.q.val();
            self.waits[i].write_data.next = word;
        }
        self.onward.next = self.moved.q.val() & wanted.any();
        self.done.next = self.moved.q.val() & !wanted.any();
        self.index.next = self.moved_index.q.val();
        self.target.next = first;
        self.lanes.next = waiting;
    }
}

#[cfg(test)]
#[path = "branch_step_tests.rs"]
mod tests;
