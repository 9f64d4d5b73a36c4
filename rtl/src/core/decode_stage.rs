//! Stage D: from the instruction to the controls of stages R and X.

use super::{AluDecoder, BSource, BootRom, Decoder, OperandSource, ThreadIndex};
use crate::config::{CoreOptions, WATCHDOG_CAUSE};
use crate::host::KernelSetup;
use crate::ports::{
    Arithmetic, ArithmeticRegisters, ControlRegisters, Controls, DecodeOutcome, FetchAddress,
    FetchedInstruction, FetchedWord, Forwards, HazardQuery, JobStart, OperandRegisters, Operands,
    SleepRequest, SlotEvent,
};
use crate::types::riscv::{cause, funct5, instruction};
use hermes_hdl::prelude::*;

/// Decodes the instruction of stage D, decides whether it goes on, and holds the controls of stage
/// R.
///
/// All outputs of stage R (`read`, `read_base`, ...) are registers that take the instruction of
/// stage D at the edge at which `advance` is high. In the cycle after that edge the stage reports
/// what becomes of the warp: an instruction that missed in the cache (`outcome.miss`) or is blocked
/// by a hazard leaves as a bubble and is replayed (`outcome.replay`), later if `outcome.wait` is
/// high; behind one on which the next path depends (`outcome.control`) the warp does not issue
/// until stage W knows the path. If stage W flushes the warp, the instruction leaves as a bubble
/// and nothing is reported. The instruction of a warp that has run for too long becomes a fault of
/// all lanes that run, whatever it is and even if it is not in the cache; EXIT alone is executed.
#[clocked]
#[derive(LogicBlock)]
#[new(lanes: usize, options: CoreOptions)]
pub struct DecodeStage {
    /// Stages I and D advance at this edge.
    pub advance: Signal<In, Bit>,
    /// From the front end: the instruction in stage D.
    pub instruction: FetchedInstruction,
    /// Warp-instructions that the warp retired before it.
    pub instructions: Signal<In, Bits<32>>,
    /// From the hazard check: the instruction cannot be executed yet, or it has to sleep.
    pub blocked: Signal<In, Bit>,
    /// From the hazard check: the instruction waits until an operation of its warp completes.
    pub waits: Signal<In, Bit>,
    /// From the hazard check.
    pub forward: Forwards,
    /// From stage W: the younger instructions of the warp are flushed.
    pub flush: SlotEvent,
    /// From the front end: the instruction in stage I.
    pub fetched: FetchAddress,
    /// From the instruction cache: the instruction word.
    pub cached: FetchedWord,
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
    /// To the scheduler and the counters.
    pub outcome: Flipped<DecodeOutcome>,
    /// The instruction in stage D missed in the cache, and will be replayed.
    pub misses: Signal<Out, Bit>,
    /// The instruction in stage D will be replayed.
    pub stops: Signal<Out, Bit>,
    /// The instruction that was in stage D a cycle ago went on to stage R.
    pub entered: Signal<Out, Bit>,
    /// And it is a `fence` that the data cache must drop its lines for: with a network interface
    /// one that orders later reads, without it any.
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
    /// From the warps of spawned threads (only with a thread spawner).
    #[there(options.spawns())]
    pub job: Part<JobStart>,
    /// Lanes that run the instruction in stage D (only with a network interface).
    #[there(options.network)]
    pub running: Part<Signal<In, Bits<32>>>,
    /// From the hazard check: the instruction cannot be executed yet, for another reason than sleep
    /// (only with a network interface, as the next).
    #[there(options.network)]
    pub hazard: Part<Signal<In, Bit>>,
    /// From [`WarpWaits`](super::WarpWaits): a `wrs` of the warp in stage D waits.
    #[there(options.network)]
    pub holds: Part<Signal<In, Bit>>,
    /// The instruction in stage D is a `wrs` and has to sleep.
    #[there(options.network)]
    pub sleeps: Part<Signal<Out, Bit>>,
    /// To the waits of warps.
    #[there(options.network)]
    pub sleep: Part<Flipped<SleepRequest>>,
    /// From the core's context: `lr.w` is legal (only with network functions).
    #[there(options.functions())]
    pub may_reserve: Part<Signal<In, Bit>>,
    /// The instruction in stage I is outside the fetch window: it becomes a fault, whether it is in
    /// the cache or not (only with network functions, as the next).
    #[there(options.functions())]
    pub outside: Part<Signal<In, Bit>>,
    /// To the instruction cache: the instruction in stage D is outside the fetch window.
    #[there(options.functions())]
    pub refused: Part<Signal<Out, Bit>>,
    rom: BootRom,
    #[init(Decoder::new(options.compare_and_swap))]
    decoder: Decoder,
    #[init(ThreadIndex::new(lanes, options))]
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
    #[there(options.network)]
    acquires_q: Part<Register<Bit>>,
    #[there(options.network)]
    sleep_q: Part<Register<Bit>>,
    #[there(options.network)]
    brief_q: Part<Register<Bit>>,
    #[there(options.network)]
    wrs_q: Part<Register<Bit>>,
    #[there(options.functions())]
    refused_d: Part<Register<Bit>>,
    alu_decoder: AluDecoder,
    controls: ControlRegisters,
    arithmetic: ArithmeticRegisters,
    operands: OperandRegisters,
    base_q: Register<Bits<32>>,
}

impl DecodeStage {
    /// The stage of a core with `lanes` lanes and these options.
    pub fn new(lanes: usize, options: CoreOptions) -> Self {
        Self::wired(lanes, options)
    }
}

impl Logic for DecodeStage {
    #[hdl_gen]
    fn update(&mut self) {
        // I: the instruction comes from the cache or the boot ROM.
        self.rom.word.next = self.fetched.pc.val().get_bits::<6>(0);
        if self.advance.val() {
            self.word_d.d.next = self.cached.word.val();
            self.hit_d.d.next = self.cached.hit.val() | self.fetched.boot.val();
            self.error_d.d.next = self.cached.error.val() & !self.fetched.boot.val();
            self.exit_d.d.next = self.fetched.boot.val() & self.rom.exit.val();
            self.end_of_boot_d.d.next = self.fetched.boot.val() & self.rom.last.val();
            if self.fetched.boot.val() {
                self.word_d.d.next = self.rom.instruction.val();
            }
        }
        if self.may_reserve.is_there() {
            if self.advance.val() {
                self.refused_d.d.next = self.outside.val();
                if self.outside.val() {
                    self.word_d.d.next = bits::<32>(0);
                    self.hit_d.d.next = true;
                    self.error_d.d.next = true;
                }
            }
            self.refused.next = self.refused_d.q.val();
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
        let byte_pc = bit_cast::<32, 30>(self.instruction.pc.val()) << bits::<5>(2);

        self.decoder.instruction.next = self.word_d.q.val();
        self.decoder.exit.next = self.exit_d.q.val();
        self.decoder.voided.next = voided;
        self.decoder.aes_enabled.next = self.aes_enabled.val();
        self.decoder.atomics_enabled.next = self.atomics_enabled.val();
        if self.may_reserve.is_there() {
            // `lr.w` is the only atomic instruction with this `funct5`.
            if !self.may_reserve.val() & (self.word_d.q.val().get_bits::<5>(27) == bits::<5>(funct5::LR)) {
                self.decoder.atomics_enabled.next = false;
            }
        }
        self.decoder.small_registers.next = self.setup.kernel_class.val();
        connect!(self.query, self.decoder.query);
        self.query.exit.next = self.exit_d.q.val();

        self.thread_index.number.next = self.word_d.q.val().get_bits::<12>(20);
        self.thread_index.exit.next = self.exit_d.q.val();
        self.thread_index.packet.next = self.instruction.packet.val();
        self.thread_index.core.next = self.core.val();
        self.thread_index.slot.next = self.instruction.slot.val();
        self.thread_index.instructions.next = self.instructions.val();
        self.thread_index.cycle.next = self.cycle.val();
        connect!(self.setup, self.thread_index.setup);

        let mut fault = self.decoder.fault.val() | (self.decoder.csr.val() & !self.thread_index.known.val());
        let mut cause = self.decoder.cause.val();
        if self.error_d.q.val() {
            fault = true;
            cause = bits::<5>(cause::INSTRUCTION_ACCESS_FAULT);
        }
        let mut bad_entry = self.end_of_boot_d.q.val() & self.setup.kernel_entry.val().get_bits::<2>(0).any();
        if self.job.is_there() {
            connect!(self.job, self.thread_index.start);
            // The spawner has checked the entry.
            if self.job.spawned.val() {
                bad_entry = false;
            }
        }
        // `wrs.nto` and `wrs.sto` (Zawrs): they wait for the loads and stores before them, as a
        // `fence` does, and then for a write.
        if self.running.is_there() {
            self.thread_index.running.next = self.running.val();
            let wrs = !self.error_d.q.val()
                & ((self.word_d.q.val() & bits::<32>(instruction::WRS_MASK)) == bits::<32>(instruction::WRS));
            self.sleeps.next = wrs & self.holds.val();
            if wrs {
                fault = false;
                self.query.fence.next = true;
            }
            if self.advance.val() {
                self.wrs_q.d.next = wrs;
            }
        }
        if bad_entry {
            fault = true;
            cause = bits::<5>(cause::INSTRUCTION_ADDRESS_MISALIGNED);
        }

        if self.load_error.val() {
            fault = true;
            cause = bits::<5>(cause::LOAD_ACCESS_FAULT);
        }
        if timed_out {
            fault = true;
            cause = bits::<5>(WATCHDOG_CAUSE as u64);
        }

        // What becomes of the instruction and its warp
        let control = fault
            | self.decoder.controls.branch.val()
            | self.decoder.controls.jump.val()
            | self.decoder.controls.jump_register.val()
            | at_exit
            | self.instruction.meets.val();
        let here = self.instruction.valid.val()
            & !(self.flush.valid.val() & (self.flush.slot.val() == self.instruction.slot.val()));
        let missed = !self.hit_d.q.val() & !timed_out;
        let stopped = missed | (self.blocked.val() & !voided);
        self.misses.next = here & self.advance.val() & missed;
        self.stops.next = here & self.advance.val() & stopped;

        // The front end is notified a cycle later, and once, whether the stages advance then or
        // not. `advance` is known late, so it reaches no further than one register. Stage D
        // advanced at that edge, so stage R has slot and PC in this cycle.
        self.advanced.d.next = self.advance.val();
        self.outcome.miss.next = self.advanced.q.val() & self.miss_q.q.val();
        self.outcome.wait.next = self.advanced.q.val() & self.wait_q.q.val();
        self.outcome.replay.next = self.advanced.q.val() & self.replay_q.q.val();
        self.entered.next = self.advanced.q.val() & self.controls.q.valid.val();
        self.outcome.control.next =
            self.advanced.q.val() & self.controls.q.valid.val() & self.controls.q.control.val();
        self.fenced.next = self.advanced.q.val() & self.controls.q.valid.val() & self.fence_q.q.val();
        if self.running.is_there() {
            if !self.acquires_q.q.val() {
                self.fenced.next = false;
            }
            self.sleep.valid.next = self.advanced.q.val() & self.sleep_q.q.val();
            self.sleep.brief.next = self.brief_q.q.val();
            self.sleep.pass.next = self.advanced.q.val() & self.controls.q.valid.val() & self.wrs_q.q.val();
        }

        self.alu_decoder.operation.next = self.decoder.operation.val();
        self.read_base.next = self.base_q.q.val();
        if self.advance.val() {
            self.miss_q.d.next = here & missed;
            self.wait_q.d.next = here & !missed & !voided & self.waits.val();
            self.replay_q.d.next = here & stopped;
            self.fence_q.d.next = self.decoder.fence.val();
            if self.running.is_there() {
                self.acquires_q.d.next = self.word_d.q.val().get_bit(21);
                self.sleep_q.d.next = here & !missed & !voided & !self.hazard.val() & self.sleeps.val();
                self.brief_q.d.next = self.word_d.q.val().get_bit(24);
            }
        }

        // What goes to stage R.
        self.controls.enable.next = self.advance.val();
        self.arithmetic.enable.next = self.advance.val();
        self.operands.enable.next = self.advance.val();
        connect!(self.read, self.controls.q);
        connect!(self.read_arithmetic, self.arithmetic.q);
        connect!(self.read_operands, self.operands.q);
        connect!(self.decoder.controls, self.controls.d);
        connect!(self.decoder.arithmetic, self.arithmetic.d);
        self.controls.d.valid.next = here & !stopped;
        self.operands.d.rs1_source.next = OperandSource::Registers;
        if self.forward.rs1_in_read.val() {
            self.operands.d.rs1_source.next = OperandSource::Result;
        } else if self.forward.rs1_in_execute.val() {
            self.operands.d.rs1_source.next = OperandSource::Written;
        } else if self.forward.rs1_in_write.val() {
            self.operands.d.rs1_source.next = OperandSource::JustWritten;
        } else if !self.decoder.query.rs1.val().any() {
            self.operands.d.rs1_source.next = OperandSource::Zero;
        }
        self.operands.d.rs2_source.next = OperandSource::Registers;
        if self.forward.rs2_in_read.val() {
            self.operands.d.rs2_source.next = OperandSource::Result;
        } else if self.forward.rs2_in_execute.val() {
            self.operands.d.rs2_source.next = OperandSource::Written;
        } else if self.forward.rs2_in_write.val() {
            self.operands.d.rs2_source.next = OperandSource::JustWritten;
        } else if !self.decoder.query.rs2.val().any() {
            self.operands.d.rs2_source.next = OperandSource::Zero;
        }
        self.arithmetic.d.operation.next = self.alu_decoder.control.val();
        let mut base = bits::<32>(0);
        if self.decoder.a_is_pc.val() {
            base = byte_pc;
        }
        self.operands.d.offset_step.next = self.thread_index.step.val();
        self.operands.d.offset_lanes.next = self.thread_index.lanes.val();
        self.operands.d.offset_last.next = bits::<5>(31);
        self.operands.d.offset_mask.next = bits::<32>(0);
        if self.decoder.csr.val() {
            self.controls.d.immediate.next = self.thread_index.base.val();
            base = self.thread_index.offset_base.val();
            self.operands.d.offset_last.next = self.thread_index.last.val();
            self.operands.d.offset_mask.next = self.thread_index.mask.val();
        }
        if self.decoder.controls.divide.val() {
            // Stage W takes the operands as result and store data: the result is rs1 + 0.
            self.arithmetic.d.b_source.next = BSource::Immediate;
            self.controls.d.immediate.next = bits::<32>(0);
        }
        self.controls.d.control.next = control;
        self.controls.d.exit.next = at_exit;
        self.controls.d.boot.next = self.instruction.boot.val();
        self.controls.d.fault.next = fault;
        self.controls.d.cause.next = cause;
        self.controls.d.fault_value.next = bits::<32>(0);
        if cause == bits::<5>(cause::INSTRUCTION_ADDRESS_MISALIGNED) {
            self.controls.d.fault_value.next = self.setup.kernel_entry.val();
        }
        if cause == bits::<5>(cause::ILLEGAL_INSTRUCTION) {
            self.controls.d.fault_value.next = self.word_d.q.val();
        }
        if (cause == bits::<5>(cause::INSTRUCTION_ACCESS_FAULT)) | (cause == bits::<5>(cause::BREAKPOINT)) {
            self.controls.d.fault_value.next = byte_pc;
        }
        self.controls.d.next_pc.next = self.instruction.pc.val() + bits::<30>(1);
        if self.end_of_boot_d.q.val() {
            self.controls.d.next_pc.next = self.setup.kernel_entry.val().get_bits::<30>(2);
        }
        self.controls.d.pc.next = self.instruction.pc.val();
        if self.job.is_there() {
            if self.job.spawned.val() & self.end_of_boot_d.q.val() {
                self.controls.d.next_pc.next = self.job.entry.val();
            }
            // A spawned thread has no verdict.
            if self.job.spawned.val() & self.exit_d.q.val() {
                self.controls.d.store.next = false;
            }
        }
        if self.advance.val() {
            self.base_q.d.next = base;
        }
    }
}
