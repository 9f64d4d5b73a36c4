//! Stage D: from the instruction to the controls of stage X.

use super::{AluOperation, BSource, BootRom, Decoder, ThreadIndex};
use crate::prelude::*;

/// Decodes the instruction of stage D and holds the controls of stage X.
///
/// All `execute_*` outputs are registers that take the instruction of stage D at the edge at which `advance` is high.
/// An instruction that missed in the cache becomes a bubble and is reported as `miss_valid`, in the cycle in which it
/// leaves stage D.
#[derive(LogicBlock)]
pub struct DecodeStage {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Stages D and X move on at this edge.
    pub advance: Signal<In, Bit>,
    /// Stage D holds an instruction.
    pub valid: Signal<In, Bit>,
    /// Its slot.
    pub slot: Signal<In, Bits<5>>,
    /// Its PC, bits 31:2.
    pub pc: Signal<In, Bits<30>>,
    /// It stands in the boot region.
    pub boot: Signal<In, Bit>,
    /// packetIdx of lane 0.
    pub packet: Signal<In, Bits<32>>,
    /// From the instruction cache: the line is there.
    pub hit: Signal<In, Bit>,
    /// From the instruction cache: the instruction.
    pub fetched: Signal<In, Bits<32>>,
    /// From the instruction cache: the line came with a bus error.
    pub fetch_error: Signal<In, Bit>,
    /// Number of the core in the array; constant.
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
    /// The instruction missed in the cache and leaves stage D as a bubble.
    pub miss_valid: Signal<Out, Bit>,
    /// To the lanes: register `rs1`, in stage D.
    pub rs1: Signal<Out, Bits<5>>,
    /// To the lanes: register `rs2`, in stage D.
    pub rs2: Signal<Out, Bits<5>>,
    /// Stage X holds an instruction.
    pub execute_valid: Signal<Out, Bit>,
    /// `rs1` is x0.
    pub execute_rs1_zero: Signal<Out, Bit>,
    /// `rs2` is x0.
    pub execute_rs2_zero: Signal<Out, Bit>,
    /// Destination register, 0 for none.
    pub execute_rd: Signal<Out, Bits<5>>,
    /// Arithmetic operation.
    pub execute_operation: Signal<Out, AluOperation>,
    /// `funct3`.
    pub execute_funct3: Signal<Out, Bits<3>>,
    /// The first operand is `rs1`.
    pub execute_a_is_register: Signal<Out, Bit>,
    /// First operand that all lanes share.
    pub execute_a_value: Signal<Out, Bits<32>>,
    /// Source of the second operand.
    pub execute_b_source: Signal<Out, BSource>,
    /// Immediate.
    pub execute_immediate: Signal<Out, Bits<32>>,
    /// Lane offset of lane 0.
    pub execute_offset_base: Signal<Out, Bits<32>>,
    /// Distance of two lanes, as a power of two.
    pub execute_offset_shift: Signal<Out, Bits<5>>,
    /// Bits of the lane offset that count.
    pub execute_offset_mask: Signal<Out, Bits<32>>,
    /// Conditional branch.
    pub execute_branch: Signal<Out, Bit>,
    /// `jal`.
    pub execute_jump: Signal<Out, Bit>,
    /// `jalr`.
    pub execute_jump_register: Signal<Out, Bit>,
    /// Load.
    pub execute_load: Signal<Out, Bit>,
    /// Store.
    pub execute_store: Signal<Out, Bit>,
    /// One call level deeper.
    pub execute_call: Signal<Out, Bit>,
    /// One call level up.
    pub execute_ret: Signal<Out, Bit>,
    /// EXIT: the lanes end.
    pub execute_exit: Signal<Out, Bit>,
    /// The instruction belongs to the boot sequence and is not counted.
    pub execute_boot: Signal<Out, Bit>,
    /// Every lane faults.
    pub execute_fault: Signal<Out, Bit>,
    /// Cause of that fault.
    pub execute_cause: Signal<Out, Bits<5>>,
    /// Value of that fault: the instruction word if it is illegal, the PC at a breakpoint or fetch error.
    pub execute_fault_value: Signal<Out, Bits<32>>,
    /// Next PC unless a lane jumps, bits 31:2 of it; `jal` takes its target from `execute_immediate`.
    pub execute_next: Signal<Out, Bits<30>>,
    /// PC of the instruction, bits 31:2.
    pub execute_pc: Signal<Out, Bits<30>>,
    rom: BootRom,
    decoder: Decoder,
    thread_index: ThreadIndex,
    valid_q: Register<Bit>,
    rs1_zero_q: Register<Bit>,
    rs2_zero_q: Register<Bit>,
    rd_q: Register<Bits<5>>,
    operation_q: Register<AluOperation>,
    funct3_q: Register<Bits<3>>,
    a_is_register_q: Register<Bit>,
    a_value_q: Register<Bits<32>>,
    b_source_q: Register<BSource>,
    immediate_q: Register<Bits<32>>,
    offset_base_q: Register<Bits<32>>,
    offset_shift_q: Register<Bits<5>>,
    offset_mask_q: Register<Bits<32>>,
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
    instruction: Signal<Local, Bits<32>>,
    exit: Signal<Local, Bit>,
    missed: Signal<Local, Bit>,
    fault: Signal<Local, Bit>,
    cause: Signal<Local, Bits<5>>,
    byte_pc: Signal<Local, Bits<32>>,
}

impl DecodeStage {
    /// The stage of a core with `lanes` lanes.
    pub fn new(lanes: usize) -> Self {
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            advance: Signal::default(),
            valid: Signal::default(),
            slot: Signal::default(),
            pc: Signal::default(),
            boot: Signal::default(),
            packet: Signal::default(),
            hit: Signal::default(),
            fetched: Signal::default(),
            fetch_error: Signal::default(),
            core: Signal::default(),
            cycle: Signal::default(),
            small_registers: Signal::default(),
            kernel_entry: Signal::default(),
            ring_base: Signal::default(),
            ring_slots_log2: Signal::default(),
            slot_bytes_log2: Signal::default(),
            verdict_base: Signal::default(),
            argument: Signal::default(),
            stack_base: Signal::default(),
            stack_bytes_log2: Signal::default(),
            miss_valid: Signal::default(),
            rs1: Signal::default(),
            rs2: Signal::default(),
            execute_valid: Signal::default(),
            execute_rs1_zero: Signal::default(),
            execute_rs2_zero: Signal::default(),
            execute_rd: Signal::default(),
            execute_operation: Signal::default(),
            execute_funct3: Signal::default(),
            execute_a_is_register: Signal::default(),
            execute_a_value: Signal::default(),
            execute_b_source: Signal::default(),
            execute_immediate: Signal::default(),
            execute_offset_base: Signal::default(),
            execute_offset_shift: Signal::default(),
            execute_offset_mask: Signal::default(),
            execute_branch: Signal::default(),
            execute_jump: Signal::default(),
            execute_jump_register: Signal::default(),
            execute_load: Signal::default(),
            execute_store: Signal::default(),
            execute_call: Signal::default(),
            execute_ret: Signal::default(),
            execute_exit: Signal::default(),
            execute_boot: Signal::default(),
            execute_fault: Signal::default(),
            execute_cause: Signal::default(),
            execute_fault_value: Signal::default(),
            execute_next: Signal::default(),
            execute_pc: Signal::default(),
            rom: BootRom::default(),
            decoder: Decoder::default(),
            thread_index: ThreadIndex::new(lanes),
            valid_q: Register::default(),
            rs1_zero_q: Register::default(),
            rs2_zero_q: Register::default(),
            rd_q: Register::default(),
            operation_q: Register::default(),
            funct3_q: Register::default(),
            a_is_register_q: Register::default(),
            a_value_q: Register::default(),
            b_source_q: Register::default(),
            immediate_q: Register::default(),
            offset_base_q: Register::default(),
            offset_shift_q: Register::default(),
            offset_mask_q: Register::default(),
            branch_q: Register::default(),
            jump_q: Register::default(),
            jump_register_q: Register::default(),
            load_q: Register::default(),
            store_q: Register::default(),
            call_q: Register::default(),
            ret_q: Register::default(),
            exit_q: Register::default(),
            boot_q: Register::default(),
            fault_q: Register::default(),
            cause_q: Register::default(),
            fault_value_q: Register::default(),
            next_q: Register::default(),
            pc_q: Register::default(),
            instruction: Signal::default(),
            exit: Signal::default(),
            missed: Signal::default(),
            fault: Signal::default(),
            cause: Signal::default(),
            byte_pc: Signal::default(),
        }
    }
}

impl Logic for DecodeStage {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            valid_q,
            rs1_zero_q,
            rs2_zero_q,
            rd_q,
            operation_q,
            funct3_q,
            a_is_register_q,
            a_value_q,
            b_source_q,
            immediate_q,
            offset_base_q,
            offset_shift_q,
            offset_mask_q,
            branch_q,
            jump_q,
            jump_register_q,
            load_q,
            store_q,
            call_q,
            ret_q,
            exit_q,
            boot_q,
            fault_q,
            cause_q,
            fault_value_q,
            next_q,
            pc_q
        );
        self.rom.word.next = self.pc.val().get_bits::<6>(0);
        self.instruction.next = self.fetched.val();
        self.exit.next = false;
        if self.boot.val() {
            self.instruction.next = self.rom.instruction.val();
            self.exit.next = self.rom.exit.val();
        }
        self.byte_pc.next = bit_cast::<32, 30>(self.pc.val()) << bits::<5>(2);
        self.missed.next = self.valid.val() & !self.boot.val() & !self.hit.val();
        self.miss_valid.next = self.missed.val() & self.advance.val();

        self.decoder.instruction.next = self.instruction.val();
        self.decoder.exit.next = self.exit.val();
        self.decoder.small_registers.next = self.small_registers.val();
        self.decoder.aes_enabled.next = false;
        self.rs1.next = self.decoder.rs1.val();
        self.rs2.next = self.decoder.rs2.val();

        self.thread_index.number.next = self.instruction.val().get_bits::<12>(20);
        self.thread_index.exit.next = self.exit.val();
        self.thread_index.packet.next = self.packet.val();
        self.thread_index.core.next = self.core.val();
        self.thread_index.slot.next = self.slot.val();
        self.thread_index.cycle.next = self.cycle.val();
        self.thread_index.ring_base.next = self.ring_base.val();
        self.thread_index.ring_slots_log2.next = self.ring_slots_log2.val();
        self.thread_index.slot_bytes_log2.next = self.slot_bytes_log2.val();
        self.thread_index.verdict_base.next = self.verdict_base.val();
        self.thread_index.argument.next = self.argument.val();
        self.thread_index.stack_base.next = self.stack_base.val();
        self.thread_index.stack_bytes_log2.next = self.stack_bytes_log2.val();

        self.fault.next =
            self.decoder.fault.val() | (self.decoder.csr.val() & !self.thread_index.known.val());
        self.cause.next = self.decoder.cause.val();
        if self.fetch_error.val() & !self.boot.val() {
            self.fault.next = true;
            self.cause.next = bits::<5>(1);
        }
        if self.boot.val() & self.rom.last.val() & self.kernel_entry.val().get_bits::<2>(0).any() {
            self.fault.next = true;
            self.cause.next = bits::<5>(0);
        }

        self.execute_valid.next = self.valid_q.q.val();
        self.execute_rs1_zero.next = self.rs1_zero_q.q.val();
        self.execute_rs2_zero.next = self.rs2_zero_q.q.val();
        self.execute_rd.next = self.rd_q.q.val();
        self.execute_operation.next = self.operation_q.q.val();
        self.execute_funct3.next = self.funct3_q.q.val();
        self.execute_a_is_register.next = self.a_is_register_q.q.val();
        self.execute_a_value.next = self.a_value_q.q.val();
        self.execute_b_source.next = self.b_source_q.q.val();
        self.execute_immediate.next = self.immediate_q.q.val();
        self.execute_offset_base.next = self.offset_base_q.q.val();
        self.execute_offset_shift.next = self.offset_shift_q.q.val();
        self.execute_offset_mask.next = self.offset_mask_q.q.val();
        self.execute_branch.next = self.branch_q.q.val();
        self.execute_jump.next = self.jump_q.q.val();
        self.execute_jump_register.next = self.jump_register_q.q.val();
        self.execute_load.next = self.load_q.q.val();
        self.execute_store.next = self.store_q.q.val();
        self.execute_call.next = self.call_q.q.val();
        self.execute_ret.next = self.ret_q.q.val();
        self.execute_exit.next = self.exit_q.q.val();
        self.execute_boot.next = self.boot_q.q.val();
        self.execute_fault.next = self.fault_q.q.val();
        self.execute_cause.next = self.cause_q.q.val();
        self.execute_fault_value.next = self.fault_value_q.q.val();
        self.execute_next.next = self.next_q.q.val();
        self.execute_pc.next = self.pc_q.q.val();
        if self.advance.val() {
            self.valid_q.d.next = self.valid.val() & !self.missed.val();
            self.rs1_zero_q.d.next = !self.decoder.rs1.val().any();
            self.rs2_zero_q.d.next = !self.decoder.rs2.val().any();
            self.rd_q.d.next = self.decoder.rd.val();
            self.operation_q.d.next = self.decoder.operation.val();
            self.funct3_q.d.next = self.decoder.funct3.val();
            self.a_is_register_q.d.next = self.decoder.a_is_register.val();
            self.a_value_q.d.next = bits::<32>(0);
            if self.decoder.a_is_pc.val() {
                self.a_value_q.d.next = self.byte_pc.val();
            }
            if self.decoder.csr.val() {
                self.a_value_q.d.next = self.thread_index.base.val();
            }
            self.b_source_q.d.next = self.decoder.b_source.val();
            self.immediate_q.d.next = self.decoder.immediate.val();
            self.offset_base_q.d.next = self.thread_index.offset_base.val();
            self.offset_shift_q.d.next = self.thread_index.shift.val();
            self.offset_mask_q.d.next = self.thread_index.mask.val();
            self.branch_q.d.next = self.decoder.branch.val();
            self.jump_q.d.next = self.decoder.jump.val();
            self.jump_register_q.d.next = self.decoder.jump_register.val();
            self.load_q.d.next = self.decoder.load.val();
            self.store_q.d.next = self.decoder.store.val();
            self.call_q.d.next = self.decoder.call.val();
            self.ret_q.d.next = self.decoder.ret.val();
            self.exit_q.d.next = self.exit.val();
            self.boot_q.d.next = self.boot.val();
            self.fault_q.d.next = self.fault.val();
            self.cause_q.d.next = self.cause.val();
            self.fault_value_q.d.next = bits::<32>(0);
            if self.cause.val() == bits::<5>(0) {
                self.fault_value_q.d.next = self.kernel_entry.val();
            }
            if self.cause.val() == bits::<5>(2) {
                self.fault_value_q.d.next = self.instruction.val();
            }
            if (self.cause.val() == bits::<5>(1)) | (self.cause.val() == bits::<5>(3)) {
                self.fault_value_q.d.next = self.byte_pc.val();
            }
            self.next_q.d.next = self.pc.val() + bits::<30>(1);
            if self.boot.val() & self.rom.last.val() {
                self.next_q.d.next = self.kernel_entry.val().get_bits::<30>(2);
            }
            self.pc_q.d.next = self.pc.val();
        }
    }
}
