//! Stage W: faults, next path, memory requests and register writes of a warp-instruction.

use super::{AccessCheck, FaultEncoder, PopulationCount, WINDOWS};
use crate::ports::{
    Controls, InFlight, LaneOutcome, LaneValues, MemoryRequest, PathContext, WarpContext, WarpFault,
};
use crate::types::LineAddress;
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
/// it has no effect, the younger instructions of its warp are flushed with it (`again_valid`), and
/// the warp's next access is doubtful.
///
/// A load that failed is a fault of its lanes at the next instruction of the warp (`execute.fault`
/// with cause 5); the other lanes stay and replay it. While such a fault waits for long-latency
/// results of its warp, more lanes may join it: so the record, too, is sent when the last of them
/// are here.
#[derive(LogicBlock)]
#[new(locals: usize)]
pub struct WriteStage<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// To all stages: they advance at this edge.
    pub advance: Signal<Out, Bit>,
    /// The instruction in stage R: its warp slot, depth and lanes.
    pub read: WarpContext<LANES>,
    /// The instruction in stage X.
    pub execute: Controls,
    /// From the atomic stage: the atomic operation also stores, and is checked as a store.
    pub stores: Signal<In, Bit>,
    /// From the atomic stage: lanes whose access is refused, whatever the windows say.
    pub refused: Signal<In, Bits<LANES>>,
    /// Lanes of the warp in stage W whose loads failed.
    pub load_error_lanes: Signal<In, Bits<LANES>>,
    /// The line that the last of these loads could not read.
    pub load_error_line: Signal<In, LineAddress>,
    /// From the lanes: what each of them computes.
    #[count(LANES)]
    pub lane: Vec<Flipped<LaneValues>>,
    /// Stage X: distance from the base of each window to the immediate. See
    /// [`AccessWindow`](super::AccessWindow).
    #[count(WINDOWS)]
    pub from_base: Vec<Signal<In, Bits<27>>>,
    /// Stage X: distance from the end of each window to the immediate.
    #[count(WINDOWS)]
    pub from_end: Vec<Signal<In, Bits<27>>>,
    /// Stage X, from the local window: lanes that access their stack, whatever the windows say (one
    /// element with a local window, as the next two).
    #[count(locals)]
    pub granted: Vec<Signal<In, Bits<LANES>>>,
    /// Stage X, from the local window: lanes that access its guard.
    #[count(locals)]
    pub guarded: Vec<Signal<In, Bits<LANES>>>,
    /// Stage X: the instruction is a load or a store, and not EXIT.
    #[count(locals)]
    pub execute_accesses: Vec<Signal<Out, Bit>>,
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
    /// Its `funct3`.
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
    /// To the scheduler: the warp can issue again, or ended.
    pub resume_valid: Signal<Out, Bit>,
    /// To the scheduler: all threads of the warp ended.
    pub ended_valid: Signal<Out, Bit>,
    /// To the stages before: lanes fault or stay, and the younger instructions of the warp are
    /// flushed.
    pub flush_valid: Signal<Out, Bit>,
    /// To the front end, with `flush_valid`: the instruction itself is replayed, and had no effect.
    pub again_valid: Signal<Out, Bit>,
    /// To the hazard check: stage M takes the load or store.
    pub memory_start: Signal<Out, Bit>,
    /// To the divider: the division starts. It is free, or the hazard check would have kept the
    /// instruction in stage D.
    pub divide_start: Signal<Out, Bit>,
    /// From path selection: a selection can start.
    pub path_ready: Signal<In, Bit>,
    /// To path selection: choose the next path.
    pub path_start_valid: Signal<Out, Bit>,
    /// To path selection: lanes to choose from.
    pub path_start_alive: Signal<Out, Bits<LANES>>,
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
    /// An instruction retires.
    pub fire: Signal<Out, Bit>,
    /// Lanes that execute it, faulting ones included.
    pub executed: Signal<Out, Bits<LANES>>,
    /// It belongs to the boot sequence.
    pub boot: Signal<Out, Bit>,
    /// A kernel instruction retires.
    pub retire: Signal<Out, Bit>,
    /// Its active lanes.
    pub retire_lanes: Signal<Out, Bits<6>>,
    /// Other lanes of its warp wait elsewhere.
    pub retire_diverged: Signal<Out, Bit>,
    slot_x: Register<Bits<5>>,
    depth_x: Register<Bits<6>>,
    active_x: Register<Bits<LANES>>,
    alive_x: Register<Bits<LANES>>,
    waiting_x: Register<Bits<36>>,
    packet_x: Register<Bits<32>>,
    valid_w: Register<Bit>,
    slot_w: Register<Bits<5>>,
    depth_w: Register<Bits<6>>,
    active_w: Register<Bits<LANES>>,
    alive_w: Register<Bits<LANES>>,
    /// All lanes that have not ended run.
    whole_w: Register<Bit>,
    waiting_w: Register<Bits<36>>,
    packet_w: Register<Bits<32>>,
    rd_w: Register<Bits<5>>,
    /// It writes `rd_w` itself, and has one: all lanes write, those that fault their verdict.
    writes_w: Register<Bit>,
    funct3_w: Register<Bits<3>>,
    control_w: Register<Bit>,
    multiply_w: Register<Bit>,
    divide_w: Register<Bit>,
    branch_w: Register<Bit>,
    jump_w: Register<Bit>,
    jump_register_w: Register<Bit>,
    link_w: Register<Bit>,
    plain_w: Register<Bit>,
    load_w: Register<Bit>,
    store_w: Register<Bit>,
    exit_w: Register<Bit>,
    boot_w: Register<Bit>,
    fault_w: Register<Bit>,
    /// It is a load or store, and not one that faults in all lanes whatever their addresses.
    reaches_w: Register<Bit>,
    cause_w: Register<Bits<5>>,
    fault_value_w: Register<Bits<32>>,
    target_w: Register<Bits<32>>,
    next_w: Register<Bits<30>>,
    pc_w: Register<Bits<30>>,
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
    #[init(AccessCheck::new(locals))]
    check: AccessCheck<LANES>,
    encoder: FaultEncoder<LANES>,
    active_count: PopulationCount<LANES>,
    #[init(locals)]
    _locals: usize,
}

impl<const LANES: usize> WriteStage<LANES> {
    /// The stage of a core without (`locals` 0) or with a local window (1).
    pub fn new(locals: usize) -> Self {
        Self::wired(locals)
    }
}

impl<const LANES: usize> Logic for WriteStage<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        // Lanes that fault
        self.check.execute_active.next = self.active_x.q.val();
        let execute_access = (self.execute.load.val() | self.execute.store.val()) & !self.execute.exit.val();
        self.check.execute_access.next = execute_access;
        self.check.execute_size.next = self.execute.funct3.val().get_bits::<2>(0);
        self.check.execute_jump_register.next = self.execute.jump_register.val();
        self.check.execute_jump.next = self.execute.branch.val() | self.execute.jump.val();
        self.check.execute_fault.next = self.execute.fault.val();
        self.check.active.next = self.active_w.q.val();
        self.check.load.next = self.load_w.q.val() & !self.stores.val();
        self.check.store.next = self.store_w.q.val() | self.stores.val();
        self.check.refused.next = self.refused.val();
        self.check.exit.next = self.exit_w.q.val();
        self.check.branch.next = self.branch_w.q.val();
        self.check.jump.next = self.jump_w.q.val();
        self.check.fault.next = self.fault_w.q.val();
        self.check.fault_cause.next = self.cause_w.q.val();
        self.check.immediate.next = self.execute.immediate.val();
        for i in 0..LANES {
            self.check.address[i].next = self.lane[i].address.val();
            self.check.operand[i].next = self.lane[i].operand.val();
            self.check.carry[i].next = self.lane[i].carry.val();
            self.check.taken[i].next = self.lane[i].taken.val();
        }
        for i in 0..WINDOWS {
            self.check.from_base[i].next = self.from_base[i].val();
            self.check.from_end[i].next = self.from_end[i].val();
        }
        for k in 0..self._locals {
            self.check.granted[k].next = self.granted[k].val();
            self.check.guarded[k].next = self.guarded[k].val();
            self.execute_accesses[k].next = execute_access;
        }
        let access = (self.load_w.q.val() | self.store_w.q.val()) & !self.exit_w.q.val();
        self.faulting_q.d.next = self.check.faulting.val();
        self.staying_q.d.next = self.check.staying.val();
        let load_failed = self.fault_w.q.val() & (self.cause_w.q.val() == bits::<5>(5));
        if load_failed {
            self.faulting_q.d.next = self.active_w.q.val() & self.load_error_lanes.val();
            self.staying_q.d.next = self.active_w.q.val() & !self.load_error_lanes.val();
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
        self.executed.next = self.active_w.q.val() & !self.stay_lanes.val();
        let sound = self.executed.val() & !self.fault_lanes.val();

        // Where the warp goes
        let branching = self.active_w.q.val() & self.check.conditions.val();
        let mut living = self.alive_w.q.val();
        if self.exit_w.q.val() {
            living = self.alive_w.q.val() & !self.active_w.q.val();
        }
        let all_ended = self.exit_w.q.val() & self.whole_w.q.val();
        let mut together = !self.jump_register_w.q.val() & !self.exit_w.q.val();
        if self.branch_w.q.val() & branching.any() & (branching != self.active_w.q.val()) {
            together = false;
        }
        self.outcome.next_pc.next = self.next_w.q.val();
        if self.jump_w.q.val() {
            self.outcome.next_pc.next = self.target_w.q.val().get_bits::<30>(2);
        }
        let mut direct_pc = self.outcome.next_pc.val();
        if self.branch_w.q.val() & branching.any() {
            direct_pc = self.target_w.q.val().get_bits::<30>(2);
        }
        // Both keys are compared before it is known which way the warp goes.
        let onward_key = (bit_cast::<36, 6>(!self.depth_w.q.val()) << bits::<6>(30))
            | bit_cast::<36, 30>(self.outcome.next_pc.val());
        let branch_key = (bit_cast::<36, 6>(!self.depth_w.q.val()) << bits::<6>(30))
            | bit_cast::<36, 30>(self.target_w.q.val().get_bits::<30>(2));
        // The warp's path has priority over the pending ones.
        let mut preferred = onward_key < self.waiting_w.q.val();
        if self.branch_w.q.val() & branching.any() {
            preferred = branch_key < self.waiting_w.q.val();
        }
        let direct = together & !split & (self.whole_w.q.val() | preferred);
        let selects = self.valid_w.q.val() & (split | (self.control_w.q.val() & !direct)) & !all_ended;

        // When it can leave. A fault waits for older results of its warp: its verdict is the last
        // write, and no load can fail any more and add lanes to those that are recorded.
        self.warp_late_q.d.next = self.warp_late.val();
        let older_missing = self.warp_late_q.q.val() & !self.request_taken.q.val();
        let held_back =
            self.doubtful_w.q.val() & (!self.judged.q.val() | (self.faults_q.q.val() & older_missing));
        let memory = self.valid_w.q.val() & self.reaches_w.q.val() & sound.any();
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
            | (self.control_w.q.val() & (!self.path_ready.val() | self.path_valid.val()));
        self.advance.next = !(self.valid_w.q.val() & blocked);
        // The access is to be sent back.
        let refuses = self.valid_w.q.val() & !self.doubtful_w.q.val() & self.check.parts.val();
        // The instruction leaves the stage at this edge.
        let leaves = self.valid_w.q.val() & !blocked;
        // The access is sent back at this edge.
        let goes_back = leaves & refuses;
        self.fire.next = leaves & !refuses;
        self.judged.d.next = self.valid_w.q.val() & self.doubtful_w.q.val() & blocked;
        self.sent_back.write_enable.next = leaves;
        self.sent_back.write_address.next = self.slot_w.q.val();
        self.sent_back.write_data.next = refuses;
        self.sent_back.read_address.next = self.slot_x.q.val();
        self.check.advance.next = self.advance.val();
        // What is sent back is an access on which no path depends, and was not judged: no other
        // output waits for `refuses`.
        let flush = leaves & (refuses | split);
        self.flush_valid.next = flush;
        self.again_valid.next = goes_back;
        self.divide_start.next = leaves & self.divide_w.q.val();

        // Memory request and fault record, each sent once, and not before older values are here
        let request_offered = memory & !self.request_taken.q.val() & !held_back & !refuses;
        self.request.valid.next = request_offered;
        self.request.scratchpad.next = self.check.scratchpad.val();
        self.request.store.next = self.store_w.q.val();
        self.request.size.next = self.funct3_w.q.val().get_bits::<2>(0);
        self.request.signed.next = !self.funct3_w.q.val().get_bit(2);
        self.request.slot.next = self.slot_w.q.val();
        self.request.rd.next = self.rd_w.q.val();
        self.request.mask.next = sound;
        self.memory_start.next = request_offered & self.request.ready.val();
        let fault_offered = self.fault_lanes.val().any() & !self.fault_taken.q.val() & !held_back;
        self.fault.valid.next = fault_offered;
        self.fault.slot.next = self.slot_w.q.val();
        self.fault.cause.next = self.cause_q.q.val();
        self.encoder.lanes.next = self.faulting_q.q.val();
        self.encoder.packet.next = self.packet_w.q.val();
        self.encoder.value_is_address.next =
            !self.fault_w.q.val() & !self.branch_w.q.val() & !self.jump_w.q.val();
        self.encoder.shared_value.next = self.target_w.q.val();
        if self.fault_w.q.val() {
            self.encoder.shared_value.next = self.fault_value_w.q.val();
        }
        if load_failed {
            self.encoder.shared_value.next = bit_cast::<32, 26>(self.load_error_line.val()) << bits::<5>(6);
        }
        for i in 0..LANES {
            self.encoder.address[i].next = self.lane[i].result.val();
            if self.jump_register_w.q.val() {
                // The target of `jalr` is even.
                self.encoder.address[i].next = self.lane[i].result.val() & bits::<32>(0xffff_fffe_u64);
            }
        }
        self.fault.threads.next = self.encoder.threads.val();
        self.fault.packet.next = self.encoder.first_packet.val();
        self.fault.value.next = self.encoder.value.val();
        self.fault.pc.next = bit_cast::<32, 30>(self.pc_w.q.val()) << bits::<5>(2);
        self.request_taken.d.next =
            blocked & (self.request_taken.q.val() | (request_offered & self.request.ready.val()));
        self.fault_taken.d.next =
            blocked & (self.fault_taken.q.val() | (fault_offered & self.fault.ready.val()));

        // To the lanes, the divider and the hazard check
        self.execute_slot.next = self.slot_x.q.val();
        self.in_write.valid.next = self.valid_w.q.val();
        self.slot.next = self.slot_w.q.val();
        self.in_write.load.next = self.load_w.q.val();
        self.in_write.store.next = self.store_w.q.val();
        self.outcome.multiply.next = self.multiply_w.q.val();
        self.in_write.divide.next = self.divide_w.q.val();
        self.funct3.next = self.funct3_w.q.val();
        self.in_write.rd.next = self.rd_w.q.val();
        self.outcome.link.next = self.link_w.q.val();
        self.outcome.plain.next = self.plain_w.q.val();
        self.outcome.link_value.next =
            (bit_cast::<32, 30>(self.pc_w.q.val()) << bits::<5>(2)) + bits::<32>(4);
        self.outcome.verdict.next = bits::<32>(0xc000_0000_u64) | bit_cast::<32, 5>(self.cause_q.q.val());
        self.outcome.path_depth.next = self.depth_w.q.val();
        self.outcome.jump_register.next = self.jump_register_w.q.val();
        self.outcome.branch.next = self.branch_w.q.val();
        self.outcome.target.next = self.target_w.q.val().get_bits::<30>(2);
        if access | self.fault_w.q.val() {
            self.outcome.target.next = self.pc_w.q.val();
        }
        self.write_lanes.next = bits::<LANES>(0);
        self.path_lanes.next = bits::<LANES>(0);
        if self.valid_w.q.val() & (self.control_w.q.val() | self.doubtful_w.q.val()) {
            self.path_lanes.next = self.active_w.q.val();
        }
        if leaves {
            self.write_lanes.next = self.fault_lanes.val();
            if self.writes_w.q.val() {
                self.write_lanes.next = self.active_w.q.val();
            }
        }

        // To scheduler, path selection and contexts
        self.ended_valid.next = leaves & all_ended;
        self.resume_valid.next = leaves & ((self.control_w.q.val() & direct) | all_ended);
        self.path_start_valid.next = leaves & selects;
        self.path_start_alive.next = living;
        self.context_write.next =
            self.path_valid.val() | (leaves & (refuses | (self.control_w.q.val() & direct)));
        if self.path_valid.val() {
            self.context.slot.next = self.chosen.slot.val();
            self.context.pc.next = self.chosen.pc.val();
            self.context.depth.next = self.chosen.depth.val();
            self.context.active.next = self.chosen.active.val();
            self.context.alive.next = self.chosen.alive.val();
            self.context.waiting.next = self.chosen.waiting.val();
        } else {
            self.context.slot.next = self.slot_w.q.val();
            self.context.pc.next = direct_pc;
            if refuses {
                self.context.pc.next = self.pc_w.q.val();
            }
            self.context.depth.next = self.depth_w.q.val();
            self.context.active.next = self.active_w.q.val();
            self.context.alive.next = self.alive_w.q.val();
            self.context.waiting.next = self.waiting_w.q.val();
        }

        // Counters
        self.boot.next = self.boot_w.q.val();
        self.active_count.set.next = self.executed.val();
        self.retire.next = self.fire.val() & !self.boot_w.q.val();
        self.retire_lanes.next = self.active_count.count.val();
        self.retire_diverged.next = !self.whole_w.q.val();

        // Stage registers
        let execute_writes = self.execute.rd.val().any()
            & !self.execute.load.val()
            & !self.execute.divide.val()
            & !self.execute.fault.val();
        self.port_wanted_next.next = self.valid_w.q.val() & self.writes_w.q.val();
        if self.advance.val() {
            self.slot_x.d.next = self.read.slot.val();
            self.depth_x.d.next = self.read.depth.val();
            self.active_x.d.next = self.read.active.val();
            self.alive_x.d.next = self.read.alive.val();
            self.waiting_x.d.next = self.read.waiting.val();
            self.packet_x.d.next = self.read.packet.val();
            self.valid_w.d.next =
                self.execute.valid.val() & !(flush & (self.slot_x.q.val() == self.slot_w.q.val()));
            self.slot_w.d.next = self.slot_x.q.val();
            self.depth_w.d.next = self.depth_x.q.val();
            if self.execute.call.val() & (self.depth_x.q.val() != bits::<6>(63)) {
                self.depth_w.d.next = self.depth_x.q.val() + bits::<6>(1);
            }
            if self.execute.ret.val() & self.depth_x.q.val().any() {
                self.depth_w.d.next = self.depth_x.q.val() - bits::<6>(1);
            }
            self.active_w.d.next = self.active_x.q.val();
            self.alive_w.d.next = self.alive_x.q.val();
            self.whole_w.d.next = self.active_x.q.val() == self.alive_x.q.val();
            self.waiting_w.d.next = self.waiting_x.q.val();
            self.packet_w.d.next = self.packet_x.q.val();
            self.rd_w.d.next = self.execute.rd.val();
            self.writes_w.d.next = execute_writes;
            self.port_wanted_next.next = self.execute.valid.val() & execute_writes;
            self.funct3_w.d.next = self.execute.funct3.val();
            self.control_w.d.next = self.execute.control.val();
            self.multiply_w.d.next = self.execute.multiply.val();
            self.divide_w.d.next = self.execute.divide.val();
            self.branch_w.d.next = self.execute.branch.val();
            self.jump_w.d.next = self.execute.jump.val();
            self.jump_register_w.d.next = self.execute.jump_register.val();
            self.link_w.d.next = self.execute.jump.val() | self.execute.jump_register.val();
            self.plain_w.d.next =
                !self.execute.multiply.val() & !self.execute.jump.val() & !self.execute.jump_register.val();
            self.load_w.d.next = self.execute.load.val();
            self.store_w.d.next = self.execute.store.val();
            self.exit_w.d.next = self.execute.exit.val();
            self.boot_w.d.next = self.execute.boot.val();
            self.fault_w.d.next = self.execute.fault.val();
            self.reaches_w.d.next =
                (self.execute.load.val() | self.execute.store.val()) & !self.execute.fault.val();
            self.cause_w.d.next = self.execute.cause.val();
            self.fault_value_w.d.next = self.execute.fault_value.val();
            self.target_w.d.next =
                (bit_cast::<32, 30>(self.execute.pc.val()) << bits::<5>(2)) + self.execute.immediate.val();
            self.next_w.d.next = self.execute.next_pc.val();
            self.pc_w.d.next = self.execute.pc.val();
            // Where other lanes wait behind an access, its outcome decides the path.
            self.doubtful_w.d.next = self.check.early_fault.val()
                | (execute_access & (self.sent_back.read_data.val() | self.execute.control.val()));
        }
    }
}
