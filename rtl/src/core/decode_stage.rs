//! Stage D: from the instruction to the controls of stages R and X.

use super::{AluControl, AluDecoder, BSource, BootRom, Decoder, OperandSource, ThreadIndex};
use crate::ports::{Arithmetic, Controls, Forwards, HazardQuery, JobStart, KernelSetup, Operands};
use hermes_hdl::prelude::*;

/// Decodes the instruction of stage D, decides whether it goes on, and holds the controls of stage
/// R.
///
/// All outputs of stage R (`read`, `read_base`, ...) are registers that take the instruction of stage
/// D at the edge at which `advance` is high. In the cycle after that edge the stage reports what becomes of the warp: an
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
    /// From the hazard check.
    pub forward: Forwards,
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
    /// From the registers: what the threads of the kernel start with.
    pub setup: KernelSetup,
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
    /// To the hazard check, and registers `rs1` and `rs2` to the lanes, in stage D.
    pub query: Flipped<HazardQuery>,
    /// The instruction word, in stage D.
    pub word: Signal<Out, Bits<32>>,
    /// The instruction in stage R.
    pub read: Flipped<Controls>,
    /// Added to the immediate, with anything but 0 only where there is no register `rs1`.
    pub read_base: Signal<Out, Bits<32>>,
    /// Stage R: to the lanes, a stage later.
    pub read_arithmetic: Flipped<Arithmetic>,
    /// To the lanes: what they read in stage R.
    pub read_operands: Flipped<Operands>,
    /// What the warp started with (one element with a thread spawner).
    #[count(spawns)]
    pub job: Vec<JobStart>,
    /// Lanes that run the instruction in stage D (one element with a network interface).
    #[count(networks)]
    pub running: Vec<Signal<In, Bits<32>>>,
    /// From the hazard check: it cannot be executed yet, for another reason than sleep (one element
    /// with a network interface, as the next).
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
        self.decoder.small_registers.next = self.setup.kernel_class.val();
        self.query.rs1.next = self.decoder.rs1.val();
        self.query.rs2.next = self.decoder.rs2.val();
        self.query.load.next = self.decoder.load_form.val();
        self.query.store.next = self.decoder.store_form.val();
        self.query.exit.next = self.exit_d.q.val();
        self.query.fence.next = self.decoder.fence_form.val();
        self.query.divide.next = self.decoder.divide_form.val();
        self.query.atomic.next = self.decoder.atomic.val();

        self.thread_index.number.next = self.word_d.q.val().get_bits::<12>(20);
        self.thread_index.exit.next = self.exit_d.q.val();
        self.thread_index.packet.next = self.packet.val();
        self.thread_index.core.next = self.core.val();
        self.thread_index.slot.next = self.slot.val();
        self.thread_index.instructions.next = self.instructions.val();
        self.thread_index.cycle.next = self.cycle.val();
        connect!(self.setup, self.thread_index.setup);

        let mut fault = self.decoder.fault.val() | (self.decoder.csr.val() & !self.thread_index.known.val());
        let mut cause = self.decoder.cause.val();
        if self.error_d.q.val() {
            fault = true;
            cause = bits::<5>(1);
        }
        let mut bad_entry = self.end_of_boot_d.q.val() & self.setup.kernel_entry.val().get_bits::<2>(0).any();
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
                self.query.fence.next = true;
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

        self.query.rd.next = self.decoder.rd_form.val();

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

        self.read.valid.next = self.valid_q.q.val();
        self.read_operands.rs1_source.next = self.rs1_source_q.q.val();
        self.read_operands.rs2_source.next = self.rs2_source_q.q.val();
        self.read.rd.next = self.rd_q.q.val();
        self.alu_decoder.operation.next = self.decoder.operation.val();
        self.read_arithmetic.operation.next = self.operation_q.q.val();
        self.read.funct3.next = self.funct3_q.q.val();
        self.read_arithmetic.b_source.next = self.b_source_q.q.val();
        self.read.immediate.next = self.immediate_q.q.val();
        self.read_base.next = self.base_q.q.val();
        self.read_operands.offset_lanes.next = self.offset_lanes_q.q.val();
        self.read_operands.offset_last.next = self.offset_last_q.q.val();
        self.read_operands.offset_step.next = self.offset_step_q.q.val();
        self.read_operands.offset_mask.next = self.offset_mask_q.q.val();
        self.read.multiply.next = self.multiply_q.q.val();
        self.read.divide.next = self.divide_q.q.val();
        self.read_arithmetic.aes.next = self.aes_q.q.val();
        self.read_arithmetic.byte_select.next = self.byte_select_q.q.val();
        self.read_arithmetic.aes_decrypt.next = self.aes_decrypt_q.q.val();
        self.read_arithmetic.aes_middle.next = self.aes_middle_q.q.val();
        self.read.control.next = self.control_q.q.val();
        self.read.branch.next = self.branch_q.q.val();
        self.read.jump.next = self.jump_q.q.val();
        self.read.jump_register.next = self.jump_register_q.q.val();
        self.read.load.next = self.load_q.q.val();
        self.read.store.next = self.store_q.q.val();
        self.read.call.next = self.call_q.q.val();
        self.read.ret.next = self.ret_q.q.val();
        self.read.exit.next = self.exit_q.q.val();
        self.read.boot.next = self.boot_q.q.val();
        self.read.fault.next = self.fault_q.q.val();
        self.read.cause.next = self.cause_q.q.val();
        self.read.fault_value.next = self.fault_value_q.q.val();
        self.read.next_pc.next = self.next_q.q.val();
        self.read.pc.next = self.pc_q.q.val();
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
            if self.forward.rs1_in_read.val() {
                self.rs1_source_q.d.next = OperandSource::Result;
            } else if self.forward.rs1_in_execute.val() {
                self.rs1_source_q.d.next = OperandSource::Written;
            } else if self.forward.rs1_in_write.val() {
                self.rs1_source_q.d.next = OperandSource::JustWritten;
            } else if !self.decoder.rs1.val().any() {
                self.rs1_source_q.d.next = OperandSource::Zero;
            }
            self.rs2_source_q.d.next = OperandSource::Registers;
            if self.forward.rs2_in_read.val() {
                self.rs2_source_q.d.next = OperandSource::Result;
            } else if self.forward.rs2_in_execute.val() {
                self.rs2_source_q.d.next = OperandSource::Written;
            } else if self.forward.rs2_in_write.val() {
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
                self.fault_value_q.d.next = self.setup.kernel_entry.val();
            }
            if cause == bits::<5>(2) {
                self.fault_value_q.d.next = self.word_d.q.val();
            }
            if (cause == bits::<5>(1)) | (cause == bits::<5>(3)) {
                self.fault_value_q.d.next = byte_pc;
            }
            self.next_q.d.next = self.pc.val() + bits::<30>(1);
            if self.end_of_boot_d.q.val() {
                self.next_q.d.next = self.setup.kernel_entry.val().get_bits::<30>(2);
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
