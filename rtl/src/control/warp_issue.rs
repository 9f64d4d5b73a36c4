//! Issues warps to the cores (Hermes, section 3.3).

use super::{CoreSlots, LeastOccupied};
use crate::blocks::{indices, slot_mask, RoundRobin};
use crate::config::ControlOptions;
use crate::host::SlotControl;
use crate::ports::{
    CommitEntry, FormedWarp, FunctionCore, SpawnedWarp, StartingWarp, WaitingWarps, WarpEvent,
};
use crate::types::{FunctionIndex, JobSlot};
use hermes_hdl::prelude::*;

/// Issues each formed warp to the next core, round-robin, that can take one.
///
/// 1. A core can take a warp while it has fewer than min(`control.mcw`, slots for the kernel's
///    register class) warps: with `control.kernel_class` 0 (32 registers) at most 16, in slots 0 to
///    15; with 1 (16 registers) at most 32. Of the idle slots the lowest is used.
/// 2. A warp moves on when a core can take it, the delay commit queue has room and `control.run` is
///    high; otherwise it waits, and nothing else is needed to resume. One warp a cycle is possible.
/// 3. The `start_` outputs answer in the next cycle, for one cycle.
/// 4. `control.mcw` and `control.kernel_class` may change at any time and hold for the warps to
///    come.
/// 5. A slot freed in cycle t can be used by a warp that moves on in cycle t + 1.
/// 6. With a thread spawner a warp of spawned threads moves on when one of its cores has fewer than
///    `spawn_mcw` such warps and an idle slot of the register class; neither `control.run` nor the
///    delay commit queue matters. It goes before a packet warp, but never in two cycles in a row:
///    when both wait they alternate.
/// 7. With network functions a core belongs to one of them, which has its MCW and register class
///    (`function_core`; `control.mcw` and `control.kernel_class` do not count), and takes a warp
///    only while it is open. It takes the oldest warp that waits for its function; if there is
///    none, and its function is that of new packets (`waits.entry`), the formed one, under the
///    conditions of 2 and while `waits.room` is high. A core comes into question if there is a
///    warp for it, in turn: no core with such a warp starves, but with least-occupied issue one
///    with more busy slots waits for the others. `warp.ready` depends on `warp.valid`.
///    `idle_slot` is high while a core could take a formed warp.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(options: ControlOptions, cores: usize, warps: usize)]
pub struct WarpIssue {
    /// Registers CONTROL, MCW and KERNEL_CLASS.
    pub control: SlotControl,
    /// From the warp former.
    pub warp: Flipped<FormedWarp>,
    /// To the warp former: some core can take a warp.
    pub idle_slot: Signal<Out, Bit>,
    /// To the delay commit queue: an entry for this warp.
    pub allocate: Flipped<CommitEntry>,
    /// From the finish arbiter: a slot becomes idle.
    pub free: Flipped<WarpEvent>,
    /// To each core: a warp starts there in this cycle.
    #[count(cores)]
    pub start_valid: Vec<Signal<Out, Bit>>,
    /// A warp starts on some core.
    pub start_any: Signal<Out, Bit>,
    /// Core on which the warp starts.
    pub start_core: Signal<Out, Bits<5>>,
    /// The warp.
    pub start: Flipped<StartingWarp>,
    /// From the thread spawner: a warp of spawned threads (only with a spawner, as the next ports).
    #[there(options.spawns())]
    pub spawn: Part<SpawnedWarp>,
    /// Register SPAWN_MCW: warps of spawned threads on a core at a time.
    #[there(options.spawns())]
    pub spawn_mcw: Part<Signal<In, Bits<6>>>,
    /// To the lookup tables: a warp of spawned threads gets a slot at this edge.
    #[there(options.spawns())]
    pub spawn_take: Part<Signal<Out, Bit>>,
    /// Core of the warp of spawned threads.
    #[there(options.spawns())]
    pub spawn_core: Part<Signal<Out, Bits<5>>>,
    /// Slot of the warp of spawned threads.
    #[there(options.spawns())]
    pub spawn_slot: Part<Signal<Out, Bits<5>>>,
    /// The warp that starts is one of spawned threads; its `packet` is the number of its first
    /// thread.
    #[there(options.spawns())]
    pub start_spawned: Part<Signal<Out, Bit>>,
    /// Slot of its job.
    #[there(options.spawns())]
    pub start_job: Part<Signal<Out, JobSlot>>,
    /// The cores and their network functions (only with network functions, as the next).
    #[there(options.functions())]
    #[count(cores)]
    pub function_core: Part<Vec<FunctionCore>>,
    /// To and from the chain: warps that wait for their next function.
    #[there(options.functions())]
    pub waits: Part<Flipped<WaitingWarps>>,
    /// The warp that starts is one that waited: it is not at its first function.
    #[there(options.functions())]
    pub start_hop: Part<Signal<Out, Bit>>,
    /// Lanes with which the warp starts.
    #[there(options.functions())]
    pub start_lanes: Part<Signal<Out, Bits<32>>>,
    /// Function of the warp that starts.
    #[there(options.functions())]
    pub start_function: Part<Signal<Out, FunctionIndex>>,
    #[init(core_slots(options))]
    slots: Vec<CoreSlots>,
    #[init(Part::when(options.least_occupied_issue, || LeastOccupied::new(cores)))]
    least: Part<LeastOccupied>,
    arbiter: RoundRobin,
    issued: Register<Bit>,
    issued_core: Register<Bits<5>>,
    issued_slot: Register<Bits<5>>,
    issued_packet: Register<Bits<32>>,
    issued_count: Register<Bits<6>>,
    #[init(indices(cores))]
    index: Vec<Constant<Bits<5>>>,
    #[init(slot_count(warps.min(16)))]
    class_0_slots: Constant<Bits<6>>,
    #[init(slot_count(warps))]
    class_1_slots: Constant<Bits<6>>,
    #[init(slot_mask(warps.min(16)))]
    class_0_allowed: Constant<Bits<32>>,
    #[init(slot_mask(warps))]
    class_1_allowed: Constant<Bits<32>>,
    #[there(options.spawns())]
    spawn_arbiter: Part<RoundRobin>,
    #[there(options.spawns())]
    issued_spawned: Part<Register<Bit>>,
    #[there(options.spawns())]
    issued_job: Part<Register<JobSlot>>,
    #[there(options.functions())]
    issued_hop: Part<Register<Bit>>,
    #[there(options.functions())]
    issued_function: Part<Register<FunctionIndex>>,
    #[init(cores)]
    _cores: usize,
}

/// `count` warp slots.
fn slot_count(count: usize) -> Constant<Bits<6>> {
    Constant::new((count as u64).into())
}

/// The slots of each core, counted where a core is chosen by their number.
fn core_slots(options: ControlOptions) -> Vec<CoreSlots> {
    let is_counted = options.least_occupied_issue || options.functions();
    let slots = if is_counted { CoreSlots::counted } else { CoreSlots::new };
    (0..options.cores).map(|_| slots(options.spawns())).collect()
}

impl WarpIssue {
    /// The issue of a control path with these options: packet warps, with a thread spawner also
    /// those of spawned threads; with least-occupied issue only cores than which no other one that
    /// can take a packet warp has fewer busy slots, whatever warps they are of, come into question
    /// for it, in turn.
    ///
    /// # Panics
    /// If there are not 1 to 32 cores and warp slots.
    pub fn new(options: ControlOptions) -> Self {
        let ControlOptions { cores, warps, .. } = options;
        assert!((1..=32).contains(&cores), "WarpIssue: {cores} cores, expected 1 to 32");
        assert!((1..=32).contains(&warps), "WarpIssue: {warps} warp slots, expected 1 to 32");
        Self::wired(options, cores, warps)
    }
}

impl Logic for WarpIssue {
    #[hdl_gen]
    fn update(&mut self) {
        // What the kernel's register class and MCW allow.
        let mut limit = self.class_0_slots.val();
        let mut allowed = self.class_0_allowed.val();
        if self.control.kernel_class.val() {
            limit = self.class_1_slots.val();
            allowed = self.class_1_allowed.val();
        }
        if self.control.mcw.val() < limit {
            limit = self.control.mcw.val();
        }

        // Choose a core and its slot.
        let mut request = bits::<32>(0);
        for i in 0..self._cores {
            self.slots[i].limit.next = limit;
            self.slots[i].allowed.next = allowed;
            request = request.replace_bit(i, self.slots[i].available.val());
        }
        self.arbiter.request.next = request;
        if self.least.is_there() {
            self.least.request.next = request;
            for i in 0..self._cores {
                self.least.busy[i].next = self.slots[i].busy_slots.val();
            }
            self.arbiter.request.next = self.least.least.val();
        }
        let mut slot = bits::<5>(0);
        for i in 0..self._cores {
            if self.arbiter.grant.val().get_bit(i) {
                slot = self.slots[i].slot.val();
            }
        }
        self.idle_slot.next = self.arbiter.any.val();

        // The warp moves on.
        self.warp.ready.next = self.control.run.val() & self.arbiter.any.val() & self.allocate.ready.val();
        self.allocate.valid.next = self.control.run.val() & self.arbiter.any.val() & self.warp.valid.val();
        self.allocate.core.next = self.arbiter.index.val();
        self.allocate.slot.next = slot;
        let issue = self.control.run.val()
            & self.arbiter.any.val()
            & self.warp.valid.val()
            & self.allocate.ready.val();
        self.arbiter.advance.next = issue;
        for i in 0..self._cores {
            self.slots[i].take.next = issue & self.arbiter.grant.val().get_bit(i);
            self.slots[i].free.next = self.free.valid.val() & (self.free.core.val() == self.index[i].val());
            self.slots[i].free_slot.next = self.free.slot.val();
        }

        // And starts in the next cycle.
        self.issued.d.next = issue;
        if issue {
            self.issued_core.d.next = self.arbiter.index.val();
            self.issued_slot.d.next = slot;
            self.issued_packet.d.next = self.warp.packet.val();
            self.issued_count.d.next = self.warp.count.val();
        }
        for i in 0..self._cores {
            self.start_valid[i].next =
                self.issued.q.val() & (self.issued_core.q.val() == self.index[i].val());
        }
        self.start_any.next = self.issued.q.val();
        self.start_core.next = self.issued_core.q.val();
        self.start.slot.next = self.issued_slot.q.val();
        self.start.packet.next = self.issued_packet.q.val();
        self.start.count.next = self.issued_count.q.val();

        // Network functions: a core takes the oldest warp that waits for its function, else a
        // formed one if that is the function of new packets.
        if self.waits.is_there() {
            let enters = self.control.run.val()
                & self.warp.valid.val()
                & self.allocate.ready.val()
                & self.waits.room.val();
            let mut has_warp = bits::<32>(0);
            let mut could_enter = false;
            for i in 0..self._cores {
                let mut core_limit = self.class_0_slots.val();
                let mut core_allowed = self.class_0_allowed.val();
                if self.function_core[i].class.val() {
                    core_limit = self.class_1_slots.val();
                    core_allowed = self.class_1_allowed.val();
                }
                if self.function_core[i].mcw.val() < core_limit {
                    core_limit = self.function_core[i].mcw.val();
                }
                self.slots[i].limit.next = core_limit;
                self.slots[i].allowed.next = core_allowed;
                let is_free = self.slots[i].available.val() & self.function_core[i].open.val();
                let waited = self.waits.waiting.val().get_bit(self.function_core[i].function.val().index());
                let is_entry = self.function_core[i].function.val() == self.waits.entry.val();
                has_warp = has_warp.replace_bit(i, is_free & (waited | (is_entry & enters)));
                if is_free & is_entry & !waited {
                    could_enter = true;
                }
                self.function_core[i].idle.next = !self.slots[i].busy_slots.val().any();
            }
            self.arbiter.request.next = has_warp;
            if self.least.is_there() {
                self.least.request.next = has_warp;
                self.arbiter.request.next = self.least.least.val();
            }
            self.idle_slot.next = could_enter & self.waits.room.val();

            let mut function = bits::<3>(0);
            for i in 0..self._cores {
                if self.arbiter.grant.val().get_bit(i) {
                    function = self.function_core[i].function.val();
                }
            }
            let hops = self.arbiter.any.val() & self.waits.waiting.val().get_bit(function.index());
            let forms = self.arbiter.any.val() & !self.waits.waiting.val().get_bit(function.index());
            self.warp.ready.next = forms;
            self.allocate.valid.next = forms;
            self.waits.take.next = hops;
            self.waits.function.next = function;
            self.waits.core.next = self.arbiter.index.val();
            self.waits.slot.next = slot;
            self.arbiter.advance.next = self.arbiter.any.val();
            for i in 0..self._cores {
                self.slots[i].take.next = self.arbiter.grant.val().get_bit(i);
            }
            self.issued.d.next = self.arbiter.any.val();
            self.issued_hop.d.next = hops;
            self.issued_function.d.next = function;
            if self.arbiter.any.val() {
                self.issued_core.d.next = self.arbiter.index.val();
                self.issued_slot.d.next = slot;
            }

            // What the chain knows of a warp that waited comes with its start.
            self.start_hop.next = self.issued_hop.q.val();
            self.start_function.next = self.issued_function.q.val();
            self.start_lanes.next = bits::<32>(0xffff_ffffu64) >> (bits::<6>(32) - self.issued_count.q.val());
            if self.issued_hop.q.val() {
                self.start.packet.next = self.waits.packet.val();
                self.start.count.next = self.waits.count.val();
                self.start_lanes.next = self.waits.lanes.val();
            }
        }

        // A warp of spawned threads takes the cycle from a packet warp.
        if self.spawn.is_there() {
            let mut spawn_request = bits::<32>(0);
            for i in 0..self._cores {
                self.slots[i].spawn_limit.next = self.spawn_mcw.val();
                spawn_request = spawn_request.replace_bit(i, self.slots[i].spawn_available.val());
            }
            self.spawn_arbiter.request.next = spawn_request & self.spawn.cores.val();
            let mut slot_of_core = bits::<5>(0);
            for i in 0..self._cores {
                if self.spawn_arbiter.grant.val().get_bit(i) {
                    slot_of_core = self.slots[i].slot.val();
                }
            }
            let turn = self.spawn_arbiter.any.val() & !self.issued_spawned.q.val();
            let takes = self.spawn.valid.val() & turn;
            self.spawn.ready.next = turn;
            self.spawn_arbiter.advance.next = takes;
            self.spawn_take.next = takes;
            self.spawn_core.next = self.spawn_arbiter.index.val();
            self.spawn_slot.next = slot_of_core;
            self.issued_spawned.d.next = takes;
            if takes {
                self.warp.ready.next = false;
                self.allocate.valid.next = false;
                self.arbiter.advance.next = false;
                self.issued.d.next = true;
                self.issued_core.d.next = self.spawn_arbiter.index.val();
                self.issued_slot.d.next = slot_of_core;
                self.issued_packet.d.next = self.spawn.thread.val();
                self.issued_count.d.next = self.spawn.count.val();
                self.issued_job.d.next = self.spawn.job.val();
            }
            for i in 0..self._cores {
                self.slots[i].take_spawned.next = takes;
                if takes {
                    self.slots[i].take.next = self.spawn_arbiter.grant.val().get_bit(i);
                }
            }
            self.start_spawned.next = self.issued_spawned.q.val();
            self.start_job.next = self.issued_job.q.val();
        }
    }
}

#[cfg(test)]
#[path = "warp_issue_function_tests.rs"]
mod function_tests;

#[cfg(test)]
#[path = "warp_issue_tests.rs"]
mod tests;
