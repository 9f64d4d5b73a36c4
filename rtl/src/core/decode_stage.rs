//! Stage D: from the instruction to the controls of stages R and X.

use super::{AluControl, AluDecoder, BSource, BootRom, Decoder, OperandSource, ThreadIndex};
use crate::ports::JobStart;
use hermes_hdl::prelude::*;

/// Decodes the instruction of stage D, decides whether it goes on, and holds the controls of stage
/// R.
///
/// All `read_*` outputs are registers that take the instruction of stage D at the edge at which
/// `advance` is high. In the cycle after that edge the stage reports what becomes of the warp: an
/// instruction that missed in the cache (`miss_valid`) or is blocked by a hazard leaves as a bubble
/// and is replayed (`replay_valid`), later if `wait_valid` is high; behind one on which the next
/// path depends (`control_valid`) the warp does not issue until stage W knows the path. If stage W
/// flushes the warp, the instruction leaves as a bubble and nothing is reported. The instruction of
/// a warp that has run for too long becomes a fault of all lanes that run, whatever it is and even
/// if it is not in the cache; EXIT alone is executed.
#[derive(LogicBlock)]
#[new(lanes: usize, spawns: usize, networks: usize, locals: usize)]
pub struct DecodeStage {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Stages I and D advance at this edge.
    pub advance: Signal<In, Bit>,
    /// Stage D holds an instruction.
    pub valid: Signal<In, Bit>,
    /// Its slot.
    pub slot: Signal<In, Bits<5>>,
    /// Its PC, bits 31:2.
    pub pc: Signal<In, Bits<30>>,
    /// It stands in the boot region.
    pub boot: Signal<In, Bit>,
    /// Lanes of its warp wait at the instruction after it.
    pub meets: Signal<In, Bit>,
    /// packetIdx of lane 0.
    pub packet: Signal<In, Bits<32>>,
    /// Warp-instructions that the warp retired before it.
    pub instructions: Signal<In, Bits<32>>,
    /// From the hazard check: it cannot be executed yet, or it has to sleep.
    pub blocked: Signal<In, Bit>,
    /// From the hazard check: it waits until an operation of its warp completes.
    pub waits: Signal<In, Bit>,
    /// From the hazard check: `rs1` is the result of the instruction in stage R.
    pub rs1_in_read: Signal<In, Bit>,
    /// From the hazard check: `rs2` is the result of the instruction in stage R.
    pub rs2_in_read: Signal<In, Bit>,
    /// From the hazard check: `rs1` is the result in stage X.
    pub rs1_in_execute: Signal<In, Bit>,
    /// From the hazard check: `rs1` is the result in stage W.
    pub rs1_in_write: Signal<In, Bit>,
    /// From the hazard check: `rs2` is the result in stage X.
    pub rs2_in_execute: Signal<In, Bit>,
    /// From the hazard check: `rs2` is the result in stage W.
    pub rs2_in_write: Signal<In, Bit>,
    /// From stage W: the younger instructions of a warp are flushed.
    pub flush_valid: Signal<In, Bit>,
    /// From stage W: slot of that warp.
    pub flush_slot: Signal<In, Bits<5>>,
    /// Stage I: PC of the instruction there, bits 31:2.
    pub fetched_pc: Signal<In, Bits<30>>,
    /// Stage I: it stands in the boot region.
    pub fetched_boot: Signal<In, Bit>,
    /// Stage I, from the instruction cache: the line is there.
    pub hit: Signal<In, Bit>,
    /// Stage I, from the instruction cache: the instruction.
    pub fetched: Signal<In, Bits<32>>,
    /// Stage I, from the instruction cache: the line came with a bus error.
    pub fetch_error: Signal<In, Bit>,
    /// A load of a lane that runs failed: the instruction becomes a fault.
    pub load_error: Signal<In, Bit>,
    /// From the watchdog: the warp has run for too long, and the instruction becomes a fault.
    pub overdue: Signal<In, Bit>,
    /// AES instructions are there; constant.
    pub aes_enabled: Signal<In, Bit>,
    /// Atomic instructions are there; constant.
    pub atomics_enabled: Signal<In, Bit>,
    /// Core ID: index of the core in the array; constant.
    pub core: Signal<In, Bits<5>>,
    /// Cycles since reset.
    pub cycle: Signal<In, Bits<64>>,
    /// KERNEL_CLASS register: the kernel has 16 registers.
    pub small_registers: Signal<In, Bit>,
    /// KERNEL_ENTRY register.
    pub kernel_entry: Signal<In, Bits<32>>,
    /// RING_BASE register.
    pub ring_base: Signal<In, Bits<32>>,
    /// RING_SLOTS_LOG2 register.
    pub ring_slots_log2: Signal<In, Bits<5>>,
    /// SLOT_BYTES_LOG2 register.
    pub slot_bytes_log2: Signal<In, Bits<5>>,
    /// VERDICT_BASE register.
    pub verdict_base: Signal<In, Bits<32>>,
    /// ARGUMENT register.
    pub argument: Signal<In, Bits<32>>,
    /// STACK_BASE register.
    pub stack_base: Signal<In, Bits<32>>,
    /// STACK_BYTES_LOG2 register.
    pub stack_bytes_log2: Signal<In, Bits<5>>,
    /// The instruction that was in stage D a cycle ago missed in the cache. Its slot and PC are
    /// those of stage R.
    pub miss_valid: Signal<Out, Bit>,
    /// It is blocked until an operation of its warp completes.
    pub wait_valid: Signal<Out, Bit>,
    /// It is replayed.
    pub replay_valid: Signal<Out, Bit>,
    /// The next path depends on it.
    pub control_valid: Signal<Out, Bit>,
    /// The instruction in stage D missed in the cache, and will be replayed.
    pub misses: Signal<Out, Bit>,
    /// The instruction in stage D will be replayed.
    pub stops: Signal<Out, Bit>,
    /// The instruction that was in stage D a cycle ago went on to stage R.
    pub entered: Signal<Out, Bit>,
    /// And it is a `fence` that the data cache must drop its lines for: with a network interface one
    /// that orders later reads, without it any.
    pub fenced: Signal<Out, Bit>,
    /// To the lanes: register `rs1`, in stage D.
    pub rs1: Signal<Out, Bits<5>>,
    /// To the lanes: register `rs2`, in stage D.
    pub rs2: Signal<Out, Bits<5>>,
    /// To the hazard check: destination register, in stage D. This and the following outputs follow
    /// from the form of the word: whether it is legal is known too late for the check. A fault
    /// waits in stage W for the long-latency results of its warp.
    pub rd: Signal<Out, Bits<5>>,
    /// To the hazard check: load, in stage D.
    pub load: Signal<Out, Bit>,
    /// To the hazard check: store, in stage D.
    pub store: Signal<Out, Bit>,
    /// To the hazard check: EXIT, in stage D.
    pub exit: Signal<Out, Bit>,
    /// To the hazard check: `fence`, in stage D.
    pub fence: Signal<Out, Bit>,
    /// To the hazard check: division, in stage D.
    pub divide: Signal<Out, Bit>,
    /// Atomic instruction, in stage D.
    pub atomic: Signal<Out, Bit>,
    /// The instruction word, in stage D.
    pub word: Signal<Out, Bits<32>>,
    /// Stage R holds an instruction.
    pub read_valid: Signal<Out, Bit>,
    /// Where the value of `rs1` is.
    pub read_rs1_source: Signal<Out, OperandSource>,
    /// Where the value of `rs2` is.
    pub read_rs2_source: Signal<Out, OperandSource>,
    /// Destination register, 0 for none.
    pub read_rd: Signal<Out, Bits<5>>,
    /// Arithmetic operation.
    pub read_operation: Signal<Out, AluControl>,
    /// `funct3`.
    pub read_funct3: Signal<Out, Bits<3>>,
    /// Source of the second operand.
    pub read_b_source: Signal<Out, BSource>,
    /// Immediate.
    pub read_immediate: Signal<Out, Bits<32>>,
    /// Added to the immediate, with anything but 0 only where there is no register `rs1`.
    pub read_base: Signal<Out, Bits<32>>,
    /// Offset of the lane: bits of the lane index that count. Where there is no register `rs1`, the
    /// offset is the first operand; for this and the next three see
    /// [`ThreadIndex`](super::ThreadIndex).
    pub read_offset_lanes: Signal<Out, Bits<5>>,
    /// Offset of the lane: last lane that does not wrap around.
    pub read_offset_last: Signal<Out, Bits<5>>,
    /// Offset of the lane: distance of two lanes.
    pub read_offset_step: Signal<Out, Bits<32>>,
    /// Offset of the lane: bits of the offset that count.
    pub read_offset_mask: Signal<Out, Bits<32>>,
    /// Multiplication.
    pub read_multiply: Signal<Out, Bit>,
    /// Division.
    pub read_divide: Signal<Out, Bit>,
    /// AES step.
    pub read_aes: Signal<Out, Bit>,
    /// Byte of `rs2` that an AES step takes.
    pub read_byte_select: Signal<Out, Bits<2>>,
    /// The AES step decrypts.
    pub read_aes_decrypt: Signal<Out, Bit>,
    /// The AES step mixes columns.
    pub read_aes_middle: Signal<Out, Bit>,
    /// The next path depends on the instruction.
    pub read_control: Signal<Out, Bit>,
    /// Conditional branch.
    pub read_branch: Signal<Out, Bit>,
    /// `jal`.
    pub read_jump: Signal<Out, Bit>,
    /// `jalr`.
    pub read_jump_register: Signal<Out, Bit>,
    /// Load.
    pub read_load: Signal<Out, Bit>,
    /// Store.
    pub read_store: Signal<Out, Bit>,
    /// One call level deeper.
    pub read_call: Signal<Out, Bit>,
    /// One call level up.
    pub read_ret: Signal<Out, Bit>,
    /// EXIT: the lanes end.
    pub read_exit: Signal<Out, Bit>,
    /// The instruction belongs to the boot sequence and is not counted.
    pub read_boot: Signal<Out, Bit>,
    /// Every lane faults.
    pub read_fault: Signal<Out, Bit>,
    /// Cause of that fault.
    pub read_cause: Signal<Out, Bits<5>>,
    /// Value of that fault: the instruction word if it is illegal, the PC at a breakpoint or fetch
    /// error.
    pub read_fault_value: Signal<Out, Bits<32>>,
    /// Next PC unless a lane jumps, bits 31:2 of it; `jal` takes its target from `read_immediate`.
    pub read_next: Signal<Out, Bits<30>>,
    /// PC of the instruction, bits 31:2.
    pub read_pc: Signal<Out, Bits<30>>,
    /// What the warp started with (one element with a thread spawner).
    #[count(spawns)]
    pub job: Vec<JobStart>,
    /// Lanes that run the instruction in stage D (one element with a network interface).
    #[count(networks)]
    pub running: Vec<Signal<In, Bits<32>>>,
    /// From the hazard check: it cannot be executed yet, not for sleep (one element with a network interface, as the next).
    #[count(networks)]
    pub hazard: Vec<Signal<In, Bit>>,
    /// From [`WarpWaits`](super::WarpWaits): a `wrs` of the warp in stage D waits.
    #[count(networks)]
    pub holds: Vec<Signal<In, Bit>>,
    /// The instruction in stage D is a `wrs` and has to sleep.
    #[count(networks)]
    pub sleeps: Vec<Signal<Out, Bit>>,
    /// The instruction that was in stage D a cycle ago is such a one; it is replayed.
    #[count(networks)]
    pub sleep_valid: Vec<Signal<Out, Bit>>,
    /// It is `wrs.sto`.
    #[count(networks)]
    pub sleep_brief: Vec<Signal<Out, Bit>>,
    /// It is a `wrs` that went on.
    #[count(networks)]
    pub pass_valid: Vec<Signal<Out, Bit>>,
    rom: BootRom,
    decoder: Decoder,
    #[init(ThreadIndex::new(lanes, spawns, networks, locals))]
    thread_index: ThreadIndex,
    word_d: Register<Bits<32>>,
    hit_d: Register<Bit>,
    error_d: Register<Bit>,
    exit_d: Register<Bit>,
    end_of_boot_d: Register<Bit>,
    /// The stages advanced at the last edge.
    advanced: Register<Bit>,
    miss_q: Register<Bit>,
    wait_q: Register<Bit>,
    replay_q: Register<Bit>,
    fence_q: Register<Bit>,
    /// The successor set of the `fence` has R.
    #[count(networks)]
    acquires_q: Vec<Register<Bit>>,
    #[count(networks)]
    sleep_q: Vec<Register<Bit>>,
    #[count(networks)]
    brief_q: Vec<Register<Bit>>,
    #[count(networks)]
    wrs_q: Vec<Register<Bit>>,
    valid_q: Register<Bit>,
    rs1_source_q: Register<OperandSource>,
    rs2_source_q: Register<OperandSource>,
    rd_q: Register<Bits<5>>,
    operation_q: Register<AluControl>,
    alu_decoder: AluDecoder,
    funct3_q: Register<Bits<3>>,
    b_source_q: Register<BSource>,
    immediate_q: Register<Bits<32>>,
    base_q: Register<Bits<32>>,
    offset_lanes_q: Register<Bits<5>>,
    offset_last_q: Register<Bits<5>>,
    offset_step_q: Register<Bits<32>>,
    offset_mask_q: Register<Bits<32>>,
    multiply_q: Register<Bit>,
    divide_q: Register<Bit>,
    aes_q: Register<Bit>,
    byte_select_q: Register<Bits<2>>,
    aes_decrypt_q: Register<Bit>,
    aes_middle_q: Register<Bit>,
    control_q: Register<Bit>,
    branch_q: Register<Bit>,
    jump_q: Register<Bit>,
    jump_register_q: Register<Bit>,
    load_q: Register<Bit>,
    store_q: Register<Bit>,
    call_q: Register<Bit>,
    ret_q: Register<Bit>,
    exit_q: Register<Bit>,
    boot_q: Register<Bit>,
    fault_q: Register<Bit>,
    cause_q: Register<Bits<5>>,
    fault_value_q: Register<Bits<32>>,
    next_q: Register<Bits<30>>,
    pc_q: Register<Bits<30>>,
    #[init(spawns)]
    _spawns: usize,
    #[init(networks)]
    _networks: usize,
}

impl DecodeStage {
    /// The stage of a core with `lanes` lanes that runs packets alone (`spawns` 0), or packets and
    /// spawned threads (1), without (`networks` 0) or with a network interface (1), without
    /// (`locals` 0) or with a local window (1).
    pub fn new(lanes: usize, spawns: usize, networks: usize, locals: usize) -> Self {
        Self::wired(lanes, spawns, networks, locals)
    }
}

impl Logic for DecodeStage {
    #[hdl_gen]
    fn update(&mut self) {
        // I: the instruction comes from the cache or the boot ROM.
        self.rom.word.next = self.fetched_pc.val().get_bits::<6>(0);
        if self.advance.val() {
            self.word_d.d.next = self.fetched.val();
            self.hit_d.d.next = self.hit.val() | self.fetched_boot.val();
            self.error_d.d.next = self.fetch_error.val() & !self.fetched_boot.val();
            self.exit_d.d.next = self.fetched_boot.val() & self.rom.exit.val();
            self.end_of_boot_d.d.next = self.fetched_boot.val() & self.rom.last.val();
            if self.fetched_boot.val() {
                self.word_d.d.next = self.rom.instruction.val();
            }
        }

        // D
        // A fault that is not the instruction's own is known late, so decoding and the hazard check
        // do not wait for it.
        let timed_out = self.overdue.val() & !self.load_error.val() & !self.exit_d.q.val();
        // A failed load or the watchdog ends the lanes here.
        let voided = self.load_error.val() | timed_out;
        let at_exit = self.exit_d.q.val() & !self.load_error.val();
        self.word.next = self.word_d.q.val();
        if voided {
            self.word.next = bits::<32>(0);
        }
        let byte_pc = bit_cast::<32, 30>(self.pc.val()) << bits::<5>(2);

        self.decoder.instruction.next = self.word_d.q.val();
        self.decoder.exit.next = self.exit_d.q.val();
        self.decoder.voided.next = voided;
        self.decoder.aes_enabled.next = self.aes_enabled.val();
        self.decoder.atomics_enabled.next = self.atomics_enabled.val();
        self.decoder.small_registers.next = self.small_registers.val();
        self.rs1.next = self.decoder.rs1.val();
        self.rs2.next = self.decoder.rs2.val();
        self.load.next = self.decoder.load_form.val();
        self.store.next = self.decoder.store_form.val();
        self.exit.next = self.exit_d.q.val();
        self.fence.next = self.decoder.fence_form.val();
        self.divide.next = self.decoder.divide_form.val();
        self.atomic.next = self.decoder.atomic.val();

        self.thread_index.number.next = self.word_d.q.val().get_bits::<12>(20);
        self.thread_index.exit.next = self.exit_d.q.val();
        self.thread_index.packet.next = self.packet.val();
        self.thread_index.core.next = self.core.val();
        self.thread_index.slot.next = self.slot.val();
        self.thread_index.instructions.next = self.instructions.val();
        self.thread_index.cycle.next = self.cycle.val();
        self.thread_index.ring_base.next = self.ring_base.val();
        self.thread_index.ring_slots_log2.next = self.ring_slots_log2.val();
        self.thread_index.slot_bytes_log2.next = self.slot_bytes_log2.val();
        self.thread_index.verdict_base.next = self.verdict_base.val();
        self.thread_index.argument.next = self.argument.val();
        self.thread_index.stack_base.next = self.stack_base.val();
        self.thread_index.stack_bytes_log2.next = self.stack_bytes_log2.val();

        let mut fault = self.decoder.fault.val() | (self.decoder.csr.val() & !self.thread_index.known.val());
        let mut cause = self.decoder.cause.val();
        if self.error_d.q.val() {
            fault = true;
            cause = bits::<5>(1);
        }
        let mut bad_entry = self.end_of_boot_d.q.val() & self.kernel_entry.val().get_bits::<2>(0).any();
        for k in 0..self._spawns {
            self.thread_index.spawned[k].next = self.job[k].spawned.val();
            self.thread_index.job[k].next = self.job[k].job.val();
            self.thread_index.argument_0[k].next = self.job[k].argument_0.val();
            self.thread_index.argument_1[k].next = self.job[k].argument_1.val();
            // The spawner has checked the entry.
            if self.job[k].spawned.val() {
                bad_entry = false;
            }
        }
        // `wrs.nto` and `wrs.sto` (Zawrs): they wait for the loads and stores before them, as a `fence` does, and then for a write.
        for k in 0..self._networks {
            self.thread_index.running[k].next = self.running[k].val();
            let wrs = !self.error_d.q.val()
                & ((self.word_d.q.val() & bits::<32>(0xfeff_ffff_u64)) == bits::<32>(0x00d0_0073));
            self.sleeps[k].next = wrs & self.holds[k].val();
            if wrs {
                fault = false;
                self.fence.next = true;
            }
            if self.advance.val() {
                self.wrs_q[k].d.next = wrs;
            }
        }
        if bad_entry {
            fault = true;
            cause = bits::<5>(0);
        }

        if self.load_error.val() {
            fault = true;
            cause = bits::<5>(5);
        }
        if timed_out {
            // WATCHDOG_CAUSE
            fault = true;
            cause = bits::<5>(24);
        }

        self.rd.next = self.decoder.rd_form.val();

        // What becomes of the instruction and its warp
        let control = fault
            | self.decoder.branch.val()
            | self.decoder.jump.val()
            | self.decoder.jump_register.val()
            | at_exit
            | self.meets.val();
        let here = self.valid.val() & !(self.flush_valid.val() & (self.flush_slot.val() == self.slot.val()));
        let missed = !self.hit_d.q.val() & !timed_out;
        let stopped = missed | (self.blocked.val() & !voided);
        self.misses.next = here & self.advance.val() & missed;
        self.stops.next = here & self.advance.val() & stopped;

        // The front end is notified a cycle later, and once, whether the stages advance then or
        // not. `advance` is known late, so it reaches no further than one register. Stage D
        // advanced at that edge, so stage R has slot and PC in this cycle.
        self.advanced.d.next = self.advance.val();
        self.miss_valid.next = self.advanced.q.val() & self.miss_q.q.val();
        self.wait_valid.next = self.advanced.q.val() & self.wait_q.q.val();
        self.replay_valid.next = self.advanced.q.val() & self.replay_q.q.val();
        self.entered.next = self.advanced.q.val() & self.valid_q.q.val();
        self.control_valid.next = self.advanced.q.val() & self.valid_q.q.val() & self.control_q.q.val();
        self.fenced.next = self.advanced.q.val() & self.valid_q.q.val() & self.fence_q.q.val();
        for k in 0..self._networks {
            if !self.acquires_q[k].q.val() {
                self.fenced.next = false;
            }
            self.sleep_valid[k].next = self.advanced.q.val() & self.sleep_q[k].q.val();
            self.sleep_brief[k].next = self.brief_q[k].q.val();
            self.pass_valid[k].next = self.advanced.q.val() & self.valid_q.q.val() & self.wrs_q[k].q.val();
        }

        self.read_valid.next = self.valid_q.q.val();
        self.read_rs1_source.next = self.rs1_source_q.q.val();
        self.read_rs2_source.next = self.rs2_source_q.q.val();
        self.read_rd.next = self.rd_q.q.val();
        self.alu_decoder.operation.next = self.decoder.operation.val();
        self.read_operation.next = self.operation_q.q.val();
        self.read_funct3.next = self.funct3_q.q.val();
        self.read_b_source.next = self.b_source_q.q.val();
        self.read_immediate.next = self.immediate_q.q.val();
        self.read_base.next = self.base_q.q.val();
        self.read_offset_lanes.next = self.offset_lanes_q.q.val();
        self.read_offset_last.next = self.offset_last_q.q.val();
        self.read_offset_step.next = self.offset_step_q.q.val();
        self.read_offset_mask.next = self.offset_mask_q.q.val();
        self.read_multiply.next = self.multiply_q.q.val();
        self.read_divide.next = self.divide_q.q.val();
        self.read_aes.next = self.aes_q.q.val();
        self.read_byte_select.next = self.byte_select_q.q.val();
        self.read_aes_decrypt.next = self.aes_decrypt_q.q.val();
        self.read_aes_middle.next = self.aes_middle_q.q.val();
        self.read_control.next = self.control_q.q.val();
        self.read_branch.next = self.branch_q.q.val();
        self.read_jump.next = self.jump_q.q.val();
        self.read_jump_register.next = self.jump_register_q.q.val();
        self.read_load.next = self.load_q.q.val();
        self.read_store.next = self.store_q.q.val();
        self.read_call.next = self.call_q.q.val();
        self.read_ret.next = self.ret_q.q.val();
        self.read_exit.next = self.exit_q.q.val();
        self.read_boot.next = self.boot_q.q.val();
        self.read_fault.next = self.fault_q.q.val();
        self.read_cause.next = self.cause_q.q.val();
        self.read_fault_value.next = self.fault_value_q.q.val();
        self.read_next.next = self.next_q.q.val();
        self.read_pc.next = self.pc_q.q.val();
        if self.advance.val() {
            self.miss_q.d.next = here & missed;
            self.wait_q.d.next = here & !missed & !voided & self.waits.val();
            self.replay_q.d.next = here & stopped;
            self.fence_q.d.next = self.decoder.fence.val();
            for k in 0..self._networks {
                self.acquires_q[k].d.next = self.word_d.q.val().get_bit(21);
                self.sleep_q[k].d.next =
                    here & !missed & !voided & !self.hazard[k].val() & self.sleeps[k].val();
                self.brief_q[k].d.next = self.word_d.q.val().get_bit(24);
            }
            self.valid_q.d.next = here & !stopped;
            self.rs1_source_q.d.next = OperandSource::Registers;
            if self.rs1_in_read.val() {
                self.rs1_source_q.d.next = OperandSource::Result;
            } else if self.rs1_in_execute.val() {
                self.rs1_source_q.d.next = OperandSource::Written;
            } else if self.rs1_in_write.val() {
                self.rs1_source_q.d.next = OperandSource::JustWritten;
            } else if !self.decoder.rs1.val().any() {
                self.rs1_source_q.d.next = OperandSource::Zero;
            }
            self.rs2_source_q.d.next = OperandSource::Registers;
            if self.rs2_in_read.val() {
                self.rs2_source_q.d.next = OperandSource::Result;
            } else if self.rs2_in_execute.val() {
                self.rs2_source_q.d.next = OperandSource::Written;
            } else if self.rs2_in_write.val() {
                self.rs2_source_q.d.next = OperandSource::JustWritten;
            } else if !self.decoder.rs2.val().any() {
                self.rs2_source_q.d.next = OperandSource::Zero;
            }
            self.rd_q.d.next = self.decoder.rd.val();
            self.operation_q.d.next = self.alu_decoder.control.val();
            self.funct3_q.d.next = self.decoder.funct3.val();
            self.b_source_q.d.next = self.decoder.b_source.val();
            self.immediate_q.d.next = self.decoder.immediate.val();
            self.base_q.d.next = bits::<32>(0);
            if self.decoder.a_is_pc.val() {
                self.base_q.d.next = byte_pc;
            }
            self.offset_step_q.d.next = self.thread_index.step.val();
            self.offset_lanes_q.d.next = self.thread_index.lanes.val();
            self.offset_last_q.d.next = bits::<5>(31);
            self.offset_mask_q.d.next = bits::<32>(0);
            if self.decoder.csr.val() {
                self.immediate_q.d.next = self.thread_index.base.val();
                self.base_q.d.next = self.thread_index.offset_base.val();
                self.offset_last_q.d.next = self.thread_index.last.val();
                self.offset_mask_q.d.next = self.thread_index.mask.val();
            }
            if self.decoder.divide.val() {
                // Stage W takes the operands as result and store data: the result is rs1 + 0.
                self.b_source_q.d.next = BSource::Immediate;
                self.immediate_q.d.next = bits::<32>(0);
            }
            self.multiply_q.d.next = self.decoder.multiply.val();
            self.divide_q.d.next = self.decoder.divide.val();
            self.aes_q.d.next = self.decoder.aes.val();
            self.byte_select_q.d.next = self.decoder.byte_select.val();
            self.aes_decrypt_q.d.next = self.decoder.aes_decrypt.val();
            self.aes_middle_q.d.next = self.decoder.aes_middle.val();
            self.control_q.d.next = control;
            self.branch_q.d.next = self.decoder.branch.val();
            self.jump_q.d.next = self.decoder.jump.val();
            self.jump_register_q.d.next = self.decoder.jump_register.val();
            self.load_q.d.next = self.decoder.load.val();
            self.store_q.d.next = self.decoder.store.val();
            self.call_q.d.next = self.decoder.call.val();
            self.ret_q.d.next = self.decoder.ret.val();
            self.exit_q.d.next = at_exit;
            self.boot_q.d.next = self.boot.val();
            self.fault_q.d.next = fault;
            self.cause_q.d.next = cause;
            self.fault_value_q.d.next = bits::<32>(0);
            if cause == bits::<5>(0) {
                self.fault_value_q.d.next = self.kernel_entry.val();
            }
            if cause == bits::<5>(2) {
                self.fault_value_q.d.next = self.word_d.q.val();
            }
            if (cause == bits::<5>(1)) | (cause == bits::<5>(3)) {
                self.fault_value_q.d.next = byte_pc;
            }
            self.next_q.d.next = self.pc.val() + bits::<30>(1);
            if self.end_of_boot_d.q.val() {
                self.next_q.d.next = self.kernel_entry.val().get_bits::<30>(2);
            }
            self.pc_q.d.next = self.pc.val();
            for k in 0..self._spawns {
                if self.job[k].spawned.val() & self.end_of_boot_d.q.val() {
                    self.next_q.d.next = self.job[k].entry.val();
                }
                // A spawned thread has no verdict.
                if self.job[k].spawned.val() & self.exit_d.q.val() {
                    self.store_q.d.next = false;
                }
            }
        }
    }
}
