//! Which warp issues next, and what every warp of a core waits for.

use super::LowestSet;
use crate::prelude::*;

/// State of the warp slots of a core and the choice of the warp that issues.
///
/// A slot is *occupied* from start to finish. An occupied slot can issue unless one of these holds:
///
/// - *in flight*: an instruction of the warp is in the pipeline, or the next path is being selected;
/// - *memory*: a load or store of the warp is not complete;
/// - *fetch*: the warp missed in the instruction cache while a line is being filled;
/// - *ended*: all threads of the warp ended.
///
/// Among the slots that can, the choice goes round: the next one above the last chosen. `issue_*` answers the state
/// combinationally and is taken at the edge at which `advance` is high. An ended slot whose last store is complete
/// is offered as `finish_*` and leaves the core when that is accepted.
#[derive(LogicBlock, Default)]
pub struct WarpScheduler {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// From warp issue: a warp starts in a free slot.
    pub start_valid: Signal<In, Bit>,
    /// From warp issue: its slot.
    pub start_slot: Signal<In, Bits<5>>,
    /// The pipeline takes `issue_*` at this edge.
    pub advance: Signal<In, Bit>,
    /// To stage C: a warp issues.
    pub issue_valid: Signal<Out, Bit>,
    /// To stage C: its slot.
    pub issue_slot: Signal<Out, Bits<5>>,
    /// To stage C: it is the first instruction of the warp.
    pub issue_fresh: Signal<Out, Bit>,
    /// From stage D: the instruction missed in the cache.
    pub miss_valid: Signal<In, Bit>,
    /// From stage D: its slot.
    pub miss_slot: Signal<In, Bits<5>>,
    /// From the instruction cache: a line is being filled.
    pub filling: Signal<In, Bit>,
    /// From stage W: the instruction is done and the next PC is known.
    pub resume_valid: Signal<In, Bit>,
    /// From stage W: its slot.
    pub resume_slot: Signal<In, Bits<5>>,
    /// From stage W: the instruction waits for memory.
    pub memory_valid: Signal<In, Bit>,
    /// From stage W: all threads of the warp ended.
    pub ended_valid: Signal<In, Bit>,
    /// From path selection: the next PC is known.
    pub path_valid: Signal<In, Bit>,
    /// From path selection: the slot.
    pub path_slot: Signal<In, Bits<5>>,
    /// From the load/store unit: a load is complete.
    pub loaded_valid: Signal<In, Bit>,
    /// From the load/store unit: its slot.
    pub loaded_slot: Signal<In, Bits<5>>,
    /// From the load/store unit: a store is complete.
    pub stored_valid: Signal<In, Bit>,
    /// From the load/store unit: its slot.
    pub stored_slot: Signal<In, Bits<5>>,
    /// To the DCQ: a warp finished.
    pub finish_valid: Signal<Out, Bit>,
    /// From the DCQ: the finish is taken.
    pub finish_ready: Signal<In, Bit>,
    /// To the DCQ: slot of the finished warp.
    pub finish_slot: Signal<Out, Bits<5>>,
    /// At least one slot is occupied.
    pub occupied: Signal<Out, Bit>,
    occupied_slots: Register<Bits<32>>,
    fresh: Register<Bits<32>>,
    in_flight: Register<Bits<32>>,
    memory: Register<Bits<32>>,
    fetch: Register<Bits<32>>,
    ended: Register<Bits<32>>,
    above: Register<Bits<32>>,
    finishing: Register<Bit>,
    finishing_slot: Register<Bits<5>>,
    choice: LowestSet,
    finish_choice: LowestSet,
    ready: Signal<Local, Bits<32>>,
    issued: Signal<Local, Bits<32>>,
    started: Signal<Local, Bits<32>>,
    missed: Signal<Local, Bits<32>>,
    resumed: Signal<Local, Bits<32>>,
    selected: Signal<Local, Bits<32>>,
    to_memory: Signal<Local, Bits<32>>,
    from_memory: Signal<Local, Bits<32>>,
    just_ended: Signal<Local, Bits<32>>,
    left: Signal<Local, Bits<32>>,
}

impl Logic for WarpScheduler {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            occupied_slots,
            fresh,
            in_flight,
            memory,
            fetch,
            ended,
            above,
            finishing,
            finishing_slot
        );
        self.ready.next = self.occupied_slots.q.val()
            & !(self.in_flight.q.val() | self.memory.q.val() | self.fetch.q.val() | self.ended.q.val());
        self.choice.set.next = self.ready.val();
        if (self.ready.val() & self.above.q.val()).any() {
            self.choice.set.next = self.ready.val() & self.above.q.val();
        }
        self.issue_valid.next = self.choice.any.val();
        self.issue_slot.next = self.choice.index.val();
        self.issue_fresh.next = self.fresh.q.val().get_bit(self.choice.index.val().index());
        self.issued.next = bits::<32>(0);
        if self.choice.any.val() & self.advance.val() {
            self.issued.next = bits::<32>(1) << self.choice.index.val();
            self.above.d.next = bits::<32>(0xffff_fffe_u64) << self.choice.index.val();
        }

        self.started.next = bits::<32>(0);
        if self.start_valid.val() {
            self.started.next = bits::<32>(1) << self.start_slot.val();
        }
        self.missed.next = bits::<32>(0);
        if self.miss_valid.val() {
            self.missed.next = bits::<32>(1) << self.miss_slot.val();
        }
        self.resumed.next = bits::<32>(0);
        if self.resume_valid.val() {
            self.resumed.next = bits::<32>(1) << self.resume_slot.val();
        }
        self.to_memory.next = bits::<32>(0);
        if self.memory_valid.val() {
            self.to_memory.next = bits::<32>(1) << self.resume_slot.val();
        }
        self.just_ended.next = bits::<32>(0);
        if self.ended_valid.val() {
            self.just_ended.next = bits::<32>(1) << self.resume_slot.val();
        }
        self.selected.next = bits::<32>(0);
        if self.path_valid.val() {
            self.selected.next = bits::<32>(1) << self.path_slot.val();
        }
        self.from_memory.next = bits::<32>(0);
        if self.loaded_valid.val() {
            self.from_memory.next = bits::<32>(1) << self.loaded_slot.val();
        }
        if self.stored_valid.val() {
            self.from_memory.next = self.from_memory.val() | (bits::<32>(1) << self.stored_slot.val());
        }

        // The finish on offer is held in a register, so that it does not change while it waits.
        self.finish_valid.next = self.finishing.q.val();
        self.finish_slot.next = self.finishing_slot.q.val();
        self.left.next = bits::<32>(0);
        if self.finishing.q.val() & self.finish_ready.val() {
            self.finishing.d.next = false;
        }
        self.finish_choice.set.next = self.ended.q.val() & !self.memory.q.val();
        if !self.finishing.q.val() & self.finish_choice.any.val() {
            self.finishing.d.next = true;
            self.finishing_slot.d.next = self.finish_choice.index.val();
            self.left.next = bits::<32>(1) << self.finish_choice.index.val();
        }

        self.occupied_slots.d.next = (self.occupied_slots.q.val() & !self.left.val()) | self.started.val();
        self.fresh.d.next = (self.fresh.q.val() & !self.issued.val()) | self.started.val();
        self.in_flight.d.next = (self.in_flight.q.val()
            & !(self.missed.val() | self.resumed.val() | self.selected.val()))
            | self.issued.val();
        self.memory.d.next = (self.memory.q.val() & !self.from_memory.val()) | self.to_memory.val();
        self.fetch.d.next = bits::<32>(0);
        if self.filling.val() | self.miss_valid.val() {
            self.fetch.d.next = self.fetch.q.val() | self.missed.val();
        }
        self.ended.d.next = (self.ended.q.val() & !self.left.val()) | self.just_ended.val();
        self.occupied.next = self.occupied_slots.q.val().any();
    }
}
