//! Stage W: faults, next path, memory requests and register writes of a warp-instruction.

use super::{AccessCheck, FaultEncoder, WINDOWS};
use crate::blocks::PopulationCount;
use crate::config::CoreOptions;
use crate::ports::{
    Controls, DivideStart, Flush, InFlight, LaneErrors, LaneOutcome, LaneValues, LocalAccess, MemoryRequest,
    PathContext, PathStart, Retired, WarpContext, WarpContextRegisters, WarpFault, WarpProgress,
    WindowDistance, WriteControlRegisters,
};
use crate::types::riscv::cause;
use hermes_hdl::prelude::*;

/// Decides what the instruction in stage W does to its warp.
///
/// The controls of stage X are taken over at every edge at which `advance` is high. The instruction
/// *fires*, and its effects take place, in the cycle in which it leaves stage W. It waits, and the
/// stages before it stall, while
///
/// - a long-latency result takes the register write port that it needs;
/// - stage M or the fault buffer has not taken what it sends them;
/// - it faults while long-latency results of its warp are outstanding, which could overwrite the
///   verdict;
/// - path selection is not ready for it, or writes the context memories that it needs.
///
/// An instruction in sequence leaves the contexts alone. After one on which the path depends
/// (`execute.control`), the next path is known at once (*direct*) when all running lanes go the
/// same way, without `jalr` or fault, and their key stays smaller than that of the pending paths.
/// Otherwise every running lane stores its next PC, and path selection chooses. If lanes fault, the
/// younger instructions of the warp are flushed. [`AccessCheck`] finds which lanes fault and which
/// stay at the instruction.
///
/// An instruction that may fault is *doubtful*: it stays for a cycle, and registers say then which
/// of its lanes fault. The region of an access is known too late to keep it here. So one whose
/// lanes split up (some may not access, or they go to both memories) is *sent back* for a replay:
/// it has no effect, the younger instructions of its warp are flushed with it (`flush.again`), and
/// the warp's next access is doubtful.
///
/// A load that failed is a fault of its lanes at the next instruction of the warp (`execute.fault`
/// with cause 5); the other lanes stay and replay it. While such a fault waits for long-latency
/// results of its warp, more lanes may join it: so the record, too, is sent when the last of them
/// are here.
///
/// With a thread spawner lanes that fault may go to a trap entry ([`LaneTraps`](super::LaneTraps)):
/// they write the address of the instruction in place of a verdict then, and what takes the record
/// drops it.
#[clocked]
#[derive(LogicBlock)]
#[new(options: CoreOptions)]
pub struct WriteStage<const LANES: usize> {
    /// To all stages: the stages advance at this edge.
    pub advance: Signal<Out, Bit>,
    /// The instruction in stage R: its warp slot, depth and lanes.
    pub read: WarpContext<LANES>,
    /// The instruction in stage X.
    pub execute: Controls,
    /// From the atomic stage: the atomic operation also stores, and is checked as a store.
    pub stores: Signal<In, Bit>,
    /// From the atomic stage: lanes whose access is refused, whatever the windows say.
    pub refused: Signal<In, Bits<LANES>>,
    /// Loads of the warp in stage W that failed.
    pub load_error: LaneErrors<LANES>,
    /// From the lanes: what each of them computes.
    #[count(LANES)]
    pub lane: Vec<Flipped<LaneValues>>,
    /// Stage X, from the access windows.
    #[count(WINDOWS)]
    pub window: Vec<WindowDistance>,
    /// Stage X, from the local window (only with a local window).
    #[there(options.local_window)]
    pub local: Part<LocalAccess<LANES>>,
    /// Stage X: the instruction is a load or a store, and not EXIT.
    #[there(options.local_window)]
    pub execute_accesses: Part<Signal<Out, Bit>>,
    /// A long-latency result is written to registers in this cycle.
    pub late_write: Signal<In, Bit>,
    /// The instruction that is here in the next cycle writes a result, unless it is flushed. It
    /// needs the register write port then.
    pub port_wanted_next: Signal<Out, Bit>,
    /// From the hazard check: the warp in stage W has long-latency results outstanding.
    pub warp_late: Signal<In, Bit>,
    /// Stage X: warp slot.
    pub execute_slot: Signal<Out, Bits<5>>,
    /// To the hazard check: the instruction.
    pub in_write: Flipped<InFlight>,
    /// Warp slot of the instruction.
    pub slot: Signal<Out, Bits<5>>,
    /// Field `funct3` of the instruction.
    pub funct3: Signal<Out, Bits<3>>,
    /// To the lanes: lanes that write a register, the destination or that of the verdict.
    pub write_lanes: Signal<Out, Bits<LANES>>,
    /// To the lanes.
    pub outcome: LaneOutcome,
    /// To the lanes: lanes that fault, in the cycle in which the instruction leaves.
    pub fault_lanes: Signal<Out, Bits<LANES>>,
    /// To the lanes: lanes that store their next PC. They do so even if no selection follows; what
    /// running lanes have stored counts only in a selection.
    pub path_lanes: Signal<Out, Bits<LANES>>,
    /// To the lanes: lanes that stay at the instruction.
    pub stay_lanes: Signal<Out, Bits<LANES>>,
    /// To the scheduler: how the warp goes on.
    pub progress: Flipped<WarpProgress>,
    /// To the stages before: lanes fault or stay, and the younger instructions of the warp are
    /// flushed. With `again` the instruction itself is replayed, and had no effect.
    pub flush: Flipped<Flush>,
    /// To the hazard check: stage M takes the load or store.
    pub memory_start: Signal<Out, Bit>,
    /// To the divider: the division starts. It is free, or the hazard check would have kept the
    /// instruction in stage D.
    pub divide: Flipped<DivideStart<LANES>>,
    /// From path selection: a selection can start.
    pub path_ready: Signal<In, Bit>,
    /// To path selection: choose the next path.
    pub path_start: Flipped<PathStart<LANES>>,
    /// From path selection: a path is chosen; it goes before a direct one to the context memories.
    pub path_valid: Signal<In, Bit>,
    /// From path selection: where it goes on.
    pub chosen: PathContext<LANES>,
    /// To the contexts: write at this edge.
    pub context_write: Signal<Out, Bit>,
    /// To the contexts: what is written.
    pub context: Flipped<PathContext<LANES>>,
    /// To stage M: the load, store or atomic operation.
    pub request: Flipped<MemoryRequest<LANES>>,
    /// To the fault buffer; a record is offered before stage W knows whether it is taken.
    pub fault: WarpFault,
    /// Lanes that fault go to the trap entry (only with a thread spawner, as the next). Depends on
    /// `fault.cause`, `fault.pc` and `of_failed_load`.
    #[there(options.spawns())]
    pub traps: Part<Signal<In, Bit>>,
    /// The fault is that of a load that failed.
    #[there(options.spawns())]
    pub of_failed_load: Part<Signal<Out, Bit>>,
    /// An instruction retires.
    pub fire: Signal<Out, Bit>,
    /// Lanes that execute the instruction, faulting ones included.
    pub executed: Signal<Out, Bits<LANES>>,
    /// The instruction belongs to the boot sequence.
    pub boot: Signal<Out, Bit>,
    /// Lanes that store no verdict if the instruction is EXIT (only with network functions).
    #[there(options.functions())]
    pub keeps_verdict: Part<Signal<In, Bits<LANES>>>,
    /// The instruction is EXIT, if it retires: its lanes end (only with network functions).
    #[there(options.functions())]
    pub exits: Part<Signal<Out, Bit>>,
    /// To the counters: a kernel instruction retires.
    pub retired: Flipped<Retired>,
    context_x: WarpContextRegisters<LANES>,
    context_w: WarpContextRegisters<LANES>,
    controls_w: WriteControlRegisters,
    /// All lanes that have not ended run.
    whole_w: Register<Bit>,
    /// The instruction writes its destination register itself, and has one: all lanes write, those
    /// that fault their verdict.
    writes_w: Register<Bit>,
    link_w: Register<Bit>,
    plain_w: Register<Bit>,
    /// The instruction is a load or store, and not one that faults in all lanes whatever their
    /// addresses.
    reaches_w: Register<Bit>,
    target_w: Register<Bits<32>>,
    /// Warps whose access was sent back: their next one is judged before it fires.
    sent_back: RamAsync<Bit, 5>,
    /// The instruction may fault, or an access of its warp was sent back.
    doubtful_w: Register<Bit>,
    /// The instruction is doubtful and was in stage W a cycle ago, too: the following registers
    /// describe it.
    judged: Register<Bit>,
    warp_late_q: Register<Bit>,
    faulting_q: Register<Bits<LANES>>,
    staying_q: Register<Bits<LANES>>,
    cause_q: Register<Bits<5>>,
    faults_q: Register<Bit>,
    mixed_q: Register<Bit>,
    request_taken: Register<Bit>,
    fault_taken: Register<Bit>,
    #[init(AccessCheck::new(options.local_window))]
    check: AccessCheck<LANES>,
    encoder: FaultEncoder<LANES>,
    active_count: PopulationCount<LANES>,
}

impl<const LANES: usize> WriteStage<LANES> {
    /// The stage of a core with these options; it has a trap entry beside a thread spawner.
    pub fn new(options: CoreOptions) -> Self {
        Self::wired(options)
    }
}

impl<const LANES: usize> WriteStage<LANES> {
    /// What the counters see.
    #[hdl_gen]
    fn count(&mut self) {
        // Counters
        self.boot.next = self.controls_w.q.boot.val();
        self.active_count.set.next = self.executed.val();
        self.retired.valid.next = self.fire.val() & !self.controls_w.q.boot.val();
        self.retired.lanes.next = self.active_count.count.val();
        self.retired.diverged.next = !self.whole_w.q.val();
        if self.exits.is_there() {
            self.exits.next = self.controls_w.q.exit.val();
        }
    }

    /// The registers of stages X and W.
    #[hdl_gen]
    fn advance_stages(&mut self, execute_access: Bit, flushes: Bit) {
        // Stage registers
        let execute_writes = self.execute.rd.val().any()
            & !self.execute.load.val()
            & !self.execute.divide.val()
            & !self.execute.fault.val();
        self.port_wanted_next.next = self.controls_w.q.valid.val() & self.writes_w.q.val();
        self.context_x.enable.next = self.advance.val();
        connect!(self.read, self.context_x.d);
        self.context_w.enable.next = self.advance.val();
        connect!(self.context_x.q, self.context_w.d);
        if self.execute.call.val() & (!self.context_x.q.depth.val().all()) {
            self.context_w.d.depth.next = self.context_x.q.depth.val() + bits::<6>(1);
        }
        if self.execute.ret.val() & self.context_x.q.depth.val().any() {
            self.context_w.d.depth.next = self.context_x.q.depth.val() - bits::<6>(1);
        }
        self.controls_w.enable.next = self.advance.val();
        connect!(self.execute, self.controls_w.d);
        self.controls_w.d.valid.next = self.execute.valid.val()
            & !(flushes & (self.context_x.q.slot.val() == self.context_w.q.slot.val()));
        if self.advance.val() {
            self.whole_w.d.next = self.context_x.q.active.val() == self.context_x.q.alive.val();
            self.writes_w.d.next = execute_writes;
            self.port_wanted_next.next = self.execute.valid.val() & execute_writes;
            self.link_w.d.next = self.execute.jump.val() | self.execute.jump_register.val();
            self.plain_w.d.next =
                !self.execute.multiply.val() & !self.execute.jump.val() & !self.execute.jump_register.val();
            self.reaches_w.d.next =
                (self.execute.load.val() | self.execute.store.val()) & !self.execute.fault.val();
            self.target_w.d.next =
                (bit_cast::<32, 30>(self.execute.pc.val()) << bits::<5>(2)) + self.execute.immediate.val();
            // Where other lanes wait behind an access, its outcome decides the path.
            self.doubtful_w.d.next = self.check.early_fault.val()
                | (execute_access & (self.sent_back.read_data.val() | self.execute.control.val()));
        }
    }
}

impl<const LANES: usize> Logic for WriteStage<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        // Lanes that fault
        self.check.execute_active.next = self.context_x.q.active.val();
        let execute_access = (self.execute.load.val() | self.execute.store.val()) & !self.execute.exit.val();
        self.check.execute_access.next = execute_access;
        self.check.execute_size.next = self.execute.funct3.val().get_bits::<2>(0);
        self.check.execute_jump_register.next = self.execute.jump_register.val();
        self.check.execute_jump.next = self.execute.branch.val() | self.execute.jump.val();
        self.check.execute_fault.next = self.execute.fault.val();
        self.check.active.next = self.context_w.q.active.val();
        self.check.load.next = self.controls_w.q.load.val() & !self.stores.val();
        self.check.store.next = self.controls_w.q.store.val() | self.stores.val();
        self.check.refused.next = self.refused.val();
        self.check.exit.next = self.controls_w.q.exit.val();
        self.check.branch.next = self.controls_w.q.branch.val();
        self.check.jump.next = self.controls_w.q.jump.val();
        self.check.fault.next = self.controls_w.q.fault.val();
        self.check.fault_cause.next = self.controls_w.q.cause.val();
        self.check.immediate.next = self.execute.immediate.val();
        for i in 0..LANES {
            connect!(self.lane[i], self.check.lane[i]);
        }
        for i in 0..WINDOWS {
            connect!(self.window[i], self.check.window[i]);
        }
        if self.local.is_there() {
            connect!(self.local, self.check.local);
            self.execute_accesses.next = execute_access;
        }
        let access =
            (self.controls_w.q.load.val() | self.controls_w.q.store.val()) & !self.controls_w.q.exit.val();
        self.faulting_q.d.next = self.check.faulting.val();
        self.staying_q.d.next = self.check.staying.val();
        let load_failed = self.controls_w.q.fault.val()
            & (self.controls_w.q.cause.val() == bits::<5>(cause::LOAD_ACCESS_FAULT));
        if load_failed {
            self.faulting_q.d.next = self.context_w.q.active.val() & self.load_error.lanes.val();
            self.staying_q.d.next = self.context_w.q.active.val() & !self.load_error.lanes.val();
        }
        self.cause_q.d.next = self.check.cause.val();
        self.faults_q.d.next = self.check.any_faulting.val();
        self.mixed_q.d.next = self.check.mixed.val();

        // What stalls the pipeline must be known early, so it does not wait for the lanes. A
        // doubtful instruction stays a cycle at least and is judged by registers. The region of an
        // access is known too late to make it doubtful: it is sent back and comes again as
        // doubtful.
        self.fault_lanes.next = bits::<LANES>(0);
        self.stay_lanes.next = bits::<LANES>(0);
        if self.judged.q.val() {
            self.fault_lanes.next = self.faulting_q.q.val();
            self.stay_lanes.next = self.staying_q.q.val();
        }
        let split = self.judged.q.val() & (self.faults_q.q.val() | self.mixed_q.q.val());
        self.executed.next = self.context_w.q.active.val() & !self.stay_lanes.val();
        let mut sound = self.executed.val() & !self.fault_lanes.val();
        if self.keeps_verdict.is_there() {
            if self.controls_w.q.exit.val() {
                sound = sound & !self.keeps_verdict.val();
            }
        }

        // Where the warp goes
        let branching = self.context_w.q.active.val() & self.check.conditions.val();
        let mut living = self.context_w.q.alive.val();
        if self.controls_w.q.exit.val() {
            living = self.context_w.q.alive.val() & !self.context_w.q.active.val();
        }
        let all_ended = self.controls_w.q.exit.val() & self.whole_w.q.val();
        let mut together = !self.controls_w.q.jump_register.val() & !self.controls_w.q.exit.val();
        if self.controls_w.q.branch.val() & branching.any() & (branching != self.context_w.q.active.val()) {
            together = false;
        }
        self.outcome.next_pc.next = self.controls_w.q.next_pc.val();
        if self.controls_w.q.jump.val() {
            self.outcome.next_pc.next = self.target_w.q.val().get_bits::<30>(2);
        }
        let mut direct_pc = self.outcome.next_pc.val();
        if self.controls_w.q.branch.val() & branching.any() {
            direct_pc = self.target_w.q.val().get_bits::<30>(2);
        }
        // Both keys are compared before it is known which way the warp goes.
        let onward_key = (bit_cast::<36, 6>(!self.context_w.q.depth.val()) << bits::<6>(30))
            | bit_cast::<36, 30>(self.outcome.next_pc.val());
        let branch_key = (bit_cast::<36, 6>(!self.context_w.q.depth.val()) << bits::<6>(30))
            | bit_cast::<36, 30>(self.target_w.q.val().get_bits::<30>(2));
        // The warp's path has priority over the pending ones.
        let mut preferred = onward_key < self.context_w.q.waiting.val();
        if self.controls_w.q.branch.val() & branching.any() {
            preferred = branch_key < self.context_w.q.waiting.val();
        }
        let direct = together & !split & (self.whole_w.q.val() | preferred);
        let selects = self.controls_w.q.valid.val()
            & (split | (self.controls_w.q.control.val() & !direct))
            & !all_ended;

        // When it can leave. A fault waits for older results of its warp: its verdict is the last
        // write, and no load can fail any more and add lanes to those that are recorded.
        self.warp_late_q.d.next = self.warp_late.val();
        let older_missing = self.warp_late_q.q.val() & !self.request_taken.q.val();
        let held_back =
            self.doubtful_w.q.val() & (!self.judged.q.val() | (self.faults_q.q.val() & older_missing));
        let memory = self.controls_w.q.valid.val() & self.reaches_w.q.val() & sound.any();
        let fault_waits = self.late_write.val()
            | (!self.fault.ready.val() & !self.fault_taken.q.val())
            | !self.path_ready.val();
        // A load or store waits for stage M even if no lane of it is left to go there, which is
        // known late.
        let request_waits = self.reaches_w.q.val() & !self.request_taken.q.val();
        let blocked = held_back
            | (self.judged.q.val() & self.faults_q.q.val() & fault_waits)
            | (split & !self.path_ready.val())
            | (request_waits & !self.request.ready.val())
            | (access & self.path_valid.val())
            | (self.writes_w.q.val() & self.late_write.val())
            | (self.controls_w.q.control.val() & (!self.path_ready.val() | self.path_valid.val()));
        self.advance.next = !(self.controls_w.q.valid.val() & blocked);
        // The access is to be sent back.
        let refuses = self.controls_w.q.valid.val() & !self.doubtful_w.q.val() & self.check.parts.val();
        // The instruction leaves the stage at this edge.
        let leaves = self.controls_w.q.valid.val() & !blocked;
        // The access is sent back at this edge.
        let goes_back = leaves & refuses;
        self.fire.next = leaves & !refuses;
        self.judged.d.next = self.controls_w.q.valid.val() & self.doubtful_w.q.val() & blocked;
        self.sent_back.write_enable.next = leaves;
        self.sent_back.write_address.next = self.context_w.q.slot.val();
        self.sent_back.write_data.next = refuses;
        self.sent_back.read_address.next = self.context_x.q.slot.val();
        self.check.advance.next = self.advance.val();
        // What is sent back is an access on which no path depends, and was not judged: no other
        // output waits for `refuses`.
        let flushes = leaves & (refuses | split);
        self.flush.valid.next = flushes;
        self.flush.again.next = goes_back;
        self.divide.valid.next = leaves & self.controls_w.q.divide.val();

        // Memory request and fault record, each sent once, and not before older values are here
        let request_offered = memory & !self.request_taken.q.val() & !held_back & !refuses;
        self.request.valid.next = request_offered;
        self.request.scratchpad.next = self.check.scratchpad.val();
        self.request.store.next = self.controls_w.q.store.val();
        self.request.size.next = self.controls_w.q.funct3.val().get_bits::<2>(0);
        self.request.signed.next = !self.controls_w.q.funct3.val().get_bit(2);
        self.request.slot.next = self.context_w.q.slot.val();
        self.request.rd.next = self.controls_w.q.rd.val();
        self.request.mask.next = sound;
        self.memory_start.next = request_offered & self.request.ready.val();
        let fault_offered = self.fault_lanes.val().any() & !self.fault_taken.q.val() & !held_back;
        self.fault.valid.next = fault_offered;
        self.fault.slot.next = self.context_w.q.slot.val();
        self.fault.cause.next = self.cause_q.q.val();
        self.encoder.lanes.next = self.faulting_q.q.val();
        self.encoder.packet.next = self.context_w.q.packet.val();
        self.encoder.value_is_address.next =
            !self.controls_w.q.fault.val() & !self.controls_w.q.branch.val() & !self.controls_w.q.jump.val();
        self.encoder.shared_value.next = self.target_w.q.val();
        if self.controls_w.q.fault.val() {
            self.encoder.shared_value.next = self.controls_w.q.fault_value.val();
        }
        if load_failed {
            self.encoder.shared_value.next = bit_cast::<32, 26>(self.load_error.line.val()) << bits::<5>(6);
        }
        for i in 0..LANES {
            self.encoder.address[i].next = self.lane[i].result.val();
            if self.controls_w.q.jump_register.val() {
                // The target of `jalr` is even.
                self.encoder.address[i].next = self.lane[i].result.val() & bits::<32>(0xffff_fffe_u64);
            }
        }
        connect!(self.fault, self.encoder.record);
        self.fault.pc.next = bit_cast::<32, 30>(self.controls_w.q.pc.val()) << bits::<5>(2);
        self.request_taken.d.next =
            blocked & (self.request_taken.q.val() | (request_offered & self.request.ready.val()));
        self.fault_taken.d.next =
            blocked & (self.fault_taken.q.val() | (fault_offered & self.fault.ready.val()));

        // To the lanes, the divider and the hazard check
        self.execute_slot.next = self.context_x.q.slot.val();
        connect!(self.in_write, self.controls_w.q);
        self.slot.next = self.context_w.q.slot.val();
        self.progress.slot.next = self.context_w.q.slot.val();
        self.flush.slot.next = self.context_w.q.slot.val();
        self.path_start.slot.next = self.context_w.q.slot.val();
        self.divide.slot.next = self.context_w.q.slot.val();
        self.divide.rd.next = self.controls_w.q.rd.val();
        self.divide.lanes.next = self.executed.val();
        self.outcome.multiply.next = self.controls_w.q.multiply.val();
        self.funct3.next = self.controls_w.q.funct3.val();
        self.outcome.link.next = self.link_w.q.val();
        self.outcome.plain.next = self.plain_w.q.val();
        self.outcome.link_value.next =
            (bit_cast::<32, 30>(self.controls_w.q.pc.val()) << bits::<5>(2)) + bits::<32>(4);
        self.outcome.verdict.next = bits::<32>(0xc000_0000_u64) | bit_cast::<32, 5>(self.cause_q.q.val());
        if self.traps.is_there() {
            self.of_failed_load.next = load_failed;
            if self.traps.val() {
                self.outcome.verdict.next = self.fault.pc.val();
            }
        }
        self.outcome.path_depth.next = self.context_w.q.depth.val();
        self.outcome.jump_register.next = self.controls_w.q.jump_register.val();
        self.outcome.branch.next = self.controls_w.q.branch.val();
        self.outcome.target.next = self.target_w.q.val().get_bits::<30>(2);
        if access | self.controls_w.q.fault.val() {
            self.outcome.target.next = self.controls_w.q.pc.val();
        }
        self.write_lanes.next = bits::<LANES>(0);
        self.path_lanes.next = bits::<LANES>(0);
        if self.controls_w.q.valid.val() & (self.controls_w.q.control.val() | self.doubtful_w.q.val()) {
            self.path_lanes.next = self.context_w.q.active.val();
        }
        if leaves {
            self.write_lanes.next = self.fault_lanes.val();
            if self.writes_w.q.val() {
                self.write_lanes.next = self.context_w.q.active.val();
            }
        }

        // To scheduler, path selection and contexts
        self.progress.ended.next = leaves & all_ended;
        self.progress.resume.next = leaves & ((self.controls_w.q.control.val() & direct) | all_ended);
        self.path_start.valid.next = leaves & selects;
        self.path_start.alive.next = living;
        self.context_write.next =
            self.path_valid.val() | (leaves & (refuses | (self.controls_w.q.control.val() & direct)));
        if self.path_valid.val() {
            self.context.slot.next = self.chosen.slot.val();
            self.context.pc.next = self.chosen.pc.val();
            self.context.depth.next = self.chosen.depth.val();
            self.context.active.next = self.chosen.active.val();
            self.context.alive.next = self.chosen.alive.val();
            self.context.waiting.next = self.chosen.waiting.val();
        } else {
            self.context.slot.next = self.context_w.q.slot.val();
            self.context.pc.next = direct_pc;
            if refuses {
                self.context.pc.next = self.controls_w.q.pc.val();
            }
            self.context.depth.next = self.context_w.q.depth.val();
            self.context.active.next = self.context_w.q.active.val();
            self.context.alive.next = self.context_w.q.alive.val();
            self.context.waiting.next = self.context_w.q.waiting.val();
        }

        self.count();
        self.advance_stages(execute_access, flushes);
    }
}
