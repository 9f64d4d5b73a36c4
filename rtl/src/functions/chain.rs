//! Warps on their way from one network function to the next.

use super::BranchStep;
use crate::blocks::SyncFifo;
use crate::host::registers::branches::BranchEdges;
use crate::host::registers::functions::ChainControl;
use crate::ports::{FinishedLanes, WaitingWarps};
use crate::types::{FunctionIndex, PacketIndex, ThreadCount};
use hermes_hdl::prelude::*;

/// Puts a warp that finished with packets that go on in the FIFO of the next network function, by
/// the index of its entry in the delay commit queue.
///
/// The queue has `2^A` entries; `L` is `A + 1`.
///
/// 1. An entry is in one place: it runs, it is in one FIFO, or it is `done`. Each FIFO has room for
///    all entries, so that a finish never waits. Links lead to higher functions only
///    (`control.targets`): every entry is done some time.
/// 2. In the cycle of `finish` the entry `finish_index` is `done`, unless its function `goes_on`
///    and one of its packets survives: then it is in the FIFO of the function that is next, and its
///    bit of `waits.waiting` is high two cycles later, if nothing is in front of it.
/// 3. `waits.take` takes the oldest entry of `waits.function`: `taken_index` in the same cycle, its
///    packets and the lanes that are left in the next.
/// 4. `waits.room` is low while `control.limit` entries or more are in flight, unless that is zero.
///    One that commits counts for a cycle longer.
/// 5. Where packets branch `done` stays low. [`BranchStep`] finds in the two cycles after `finish`
///    where the entry goes: it is in a FIFO then, or `ended`. A start and the next finish of an
///    entry take turns, and `enter` and `waits.take` are not high in one cycle.
#[clocked("no warp waits or is in flight")]
#[derive(Clone, LogicBlock)]
#[new(functions: usize, lane_bytes: usize, branches: bool)]
pub struct Chain<const A: usize, const L: usize> {
    /// Registers CHAIN_CONTROL and NF_NEXT.
    pub control: ChainControl,

    /// A warp of new packets gets an entry.
    pub enter: Signal<In, Bit>,
    /// The entry.
    pub enter_index: Signal<In, Bits<A>>,
    /// packetIdx of its first packet.
    pub enter_packet: Signal<In, PacketIndex>,
    /// Packets of the warp.
    pub enter_count: Signal<In, ThreadCount>,
    /// An entry commits.
    pub leave: Signal<In, Bit>,

    /// A warp finished.
    pub finish: Signal<In, Bit>,
    /// Entry of the warp that finished.
    pub finish_index: Signal<In, Bits<A>>,
    /// Network function of the warp that finished.
    pub finish_function: Signal<In, FunctionIndex>,
    /// With `finish`.
    pub finished: Flipped<FinishedLanes>,
    /// With `finish`: the entry is done.
    pub done: Signal<Out, Bit>,

    /// To warp issue.
    pub waits: WaitingWarps,
    /// Entry that `waits.take` takes.
    pub taken_index: Signal<Out, Bits<A>>,

    /// NF_SELECT register: function whose FIFO is shown.
    pub select: Signal<In, FunctionIndex>,
    /// Entries in this FIFO.
    pub queued: Signal<Out, Bits<11>>,
    /// Most entries that were in it at a time, since reset.
    pub peak: Signal<Out, Bits<11>>,

    /// Edges by verdict, from the registers (only where packets branch, as the next ports).
    #[there(branches)]
    pub edges: Part<BranchEdges>,
    /// Codes of the verdicts of the warp that finished, with `finish`.
    #[there(branches)]
    pub finish_codes: Part<Signal<In, Bits<128>>>,
    /// An entry is done.
    #[there(branches)]
    pub ended: Part<Signal<Out, Bit>>,
    /// Entry that is done.
    #[there(branches)]
    pub ended_index: Part<Signal<Out, Bits<A>>>,

    /// Of functions 1 and up; no link leads to function 0.
    #[count(functions - 1)]
    fifo: Vec<SyncFifo<Bits<A>, A, L>>,
    #[count(functions - 1)]
    most: Vec<Register<Bits<L>>>,
    /// packetIdx (31:0) and packets (37:32) of each entry.
    packets: RamSync<Bits<38>, A>,
    /// Eight lanes each.
    #[count(lane_bytes)]
    lanes: Vec<RamSync<Bits<8>, A>>,
    in_flight: Register<Bits<L>>,
    #[init(Part::when(branches, || BranchStep::new(8 * lane_bytes)))]
    step: Part<BranchStep<A>>,
    #[init((1..functions as u64).map(|i| Constant::new(i.into())).collect())]
    index: Vec<Constant<FunctionIndex>>,
    #[init((0..functions as u64).map(|i| Constant::new(i.into())).collect())]
    number: Vec<Constant<FunctionIndex>>,
    #[init(functions)]
    _functions: usize,
    #[init(functions - 1)]
    _later: usize,
    #[init(lane_bytes)]
    _lane_bytes: usize,
    #[init(8)]
    _ports: usize,
}

impl<const A: usize, const L: usize> Chain<A, L> {
    /// The chain of `functions` network functions on cores with `lanes` lanes.
    ///
    /// # Panics
    /// If `functions` is not 2 to 8, `lanes` not 1 to 32, or `A` not 1 to 10.
    pub fn new(functions: usize, lanes: usize) -> Self {
        Self::checked(functions, lanes, false)
    }

    /// The same where packets branch by their verdicts.
    ///
    /// # Panics
    /// As [`Self::new`].
    pub fn with_branches(functions: usize, lanes: usize) -> Self {
        Self::checked(functions, lanes, true)
    }

    fn checked(functions: usize, lanes: usize, branches: bool) -> Self {
        assert!((2..=8).contains(&functions), "Chain: {functions} functions, expected 2 to 8");
        assert!((1..=32).contains(&lanes), "Chain: {lanes} lanes, expected 1 to 32");
        assert!((1..=10).contains(&A), "Chain: 2^{A} entries, expected at most 2^10");
        Self::wired(functions, lanes.div_ceil(8), branches)
    }
}

impl<const A: usize, const L: usize> Logic for Chain<A, L> {
    #[hdl_gen]
    fn update(&mut self) {
        // New packets
        self.packets.write_enable.next = self.enter.val();
        self.packets.write_address.next = self.enter_index.val();
        self.packets.write_data.next = (bit_cast::<38, 6>(self.enter_count.val()) << bits::<6>(32))
            | bit_cast::<38, 32>(self.enter_packet.val());
        if self.enter.val() & !self.leave.val() {
            self.in_flight.d.next = self.in_flight.q.val() + 1;
        }
        if self.leave.val() & !self.enter.val() {
            self.in_flight.d.next = self.in_flight.q.val() - 1;
        }
        self.waits.entry.next = self.control.entry.val();
        self.waits.room.next = !self.control.limit.val().any()
            | (bit_cast::<11, L>(self.in_flight.q.val()) < self.control.limit.val());

        // The FIFOs
        let mut waiting = bits::<8>(0);
        let mut taken = self.fifo[0].pop_data.val();
        let mut entries = bits::<L>(0);
        let mut highest = bits::<L>(0);
        for i in 0..self._later {
            let is_chosen = self.waits.function.val() == self.index[i].val();
            self.fifo[i].pop_ready.next = self.waits.take.val() & is_chosen;
            waiting = waiting.replace_bit(i + 1, self.fifo[i].pop_valid.val());
            if is_chosen {
                taken = self.fifo[i].pop_data.val();
            }
            if self.fifo[i].level.val() > self.most[i].q.val() {
                self.most[i].d.next = self.fifo[i].level.val();
            }
            if self.select.val() == self.index[i].val() {
                entries = self.fifo[i].level.val();
                highest = self.most[i].q.val();
            }
        }
        self.waits.waiting.next = waiting;
        self.taken_index.next = taken;
        self.queued.next = bit_cast::<11, L>(entries);
        self.peak.next = bit_cast::<11, L>(highest);

        // Where packets branch: what was found out of a warp that finished two cycles ago
        if self.edges.is_there() {
            // Ports without an edge of their own have that of NF_NEXT.
            let mut next = bits::<4>(0);
            let mut ports = bits::<32>(0);
            let mut ends = bits::<8>(0);
            for i in 0..self._functions {
                if self.finish_function.val() == self.number[i].val() {
                    next = bit_cast::<4, 3>(self.control.targets.val().get_bits::<3>(3 * i))
                        .replace_bit(3, self.control.goes_on.val().get_bit(i));
                    ports = self.edges.ports.val().get_bits::<32>(32 * i);
                    ends = self.edges.ends.val().get_bits::<8>(8 * i);
                }
            }
            let mut by_code =
                (bit_cast::<44, 8>(ends) << bits::<6>(36)) | (bit_cast::<44, 4>(next) << bits::<6>(32));
            for i in 0..self._ports {
                let mut edge = ports.get_bits::<4>(4 * i);
                if !edge.any() {
                    edge = next;
                }
                by_code = by_code | (bit_cast::<44, 4>(edge) << (4 * i as u64));
            }
            self.step.start.next = self.enter.val() | self.waits.take.val();
            self.step.start_new.next = self.enter.val();
            self.step.start_index.next = taken;
            if self.enter.val() {
                self.step.start_index.next = self.enter_index.val();
            }
            self.step.finish.next = self.finish.val();
            self.step.finish_index.next = self.finish_index.val();
            self.step.finish_lanes.next = self.finished.survivors.val() | self.finished.ended.val();
            self.step.finish_codes.next = self.finish_codes.val();
            self.step.finish_edges.next = by_code;
            // They end when the step is done.
            self.done.next = false;
            self.ended.next = self.step.done.val();
            self.ended_index.next = self.step.index.val();
            for i in 0..self._later {
                self.fifo[i].push_valid.next =
                    self.step.onward.val() & (self.step.target.val() == self.index[i].val());
                self.fifo[i].push_data.next = self.step.index.val();
            }
            for i in 0..self._lane_bytes {
                self.lanes[i].write_enable.next = self.step.onward.val();
                self.lanes[i].write_address.next = self.step.index.val();
                self.lanes[i].write_data.next = self.step.lanes.val().get_bits::<8>(8 * i);
            }
        } else {
            let survives = self.finished.survivors.val().any();
            let onward = self.control.goes_on.val().get_bit(self.finish_function.val().index());
            let mut target = bits::<3>(0);
            for i in 0..self._functions {
                if self.finish_function.val() == self.number[i].val() {
                    target = self.control.targets.val().get_bits::<3>(3 * i);
                }
            }
            let hops = self.finish.val() & survives & onward;
            self.done.next = !(survives & onward);
            for i in 0..self._later {
                self.fifo[i].push_valid.next = hops & (target == self.index[i].val());
                self.fifo[i].push_data.next = self.finish_index.val();
            }
            for i in 0..self._lane_bytes {
                self.lanes[i].write_enable.next = hops;
                self.lanes[i].write_address.next = self.finish_index.val();
                self.lanes[i].write_data.next = self.finished.survivors.val().get_bits::<8>(8 * i);
            }
        }

        // What it starts with
        self.packets.read_enable.next = self.waits.take.val();
        self.packets.read_address.next = taken;
        self.waits.packet.next = self.packets.read_data.val().get_bits::<32>(0);
        self.waits.count.next = self.packets.read_data.val().get_bits::<6>(32);
        let mut left = bits::<32>(0);
        for i in 0..self._lane_bytes {
            self.lanes[i].read_enable.next = self.waits.take.val();
            self.lanes[i].read_address.next = taken;
            left = left | (bit_cast::<32, 8>(self.lanes[i].read_data.val()) << (8 * i as u64));
        }
        self.waits.lanes.next = left;
    }
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "chain_branch_tests.rs"]
mod branch_tests;
