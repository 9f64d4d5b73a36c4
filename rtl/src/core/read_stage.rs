//! Stage R: the registers are read.

use super::{AluControl, BSource};
use hermes_hdl::prelude::*;

/// Holds the instruction of stage R, while the lanes read their registers, and the controls of
/// stage X.
///
/// The context of the instruction in stage D (`decode_*`) becomes that of stage R (`slot` to
/// `packet`), and its controls, which are those of stage R (`read_*`, registers of
/// [`DecodeStage`](super::DecodeStage)), become those of stage X (`execute_*`), at each edge with
/// `advance` high. An instruction that stage W flushes at this edge leaves stage R as a bubble.
#[derive(LogicBlock, Default)]
pub struct ReadStage<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Stages D and R advance at this edge.
    pub advance: Signal<In, Bit>,
    /// From stage W: the younger instructions of a warp are flushed.
    pub flush_valid: Signal<In, Bit>,
    /// From stage W: slot of that warp.
    pub flush_slot: Signal<In, Bits<5>>,
    /// Stage D: slot of its instruction.
    pub decode_slot: Signal<In, Bits<5>>,
    /// Stage D: its call depth.
    pub decode_depth: Signal<In, Bits<6>>,
    /// Stage D: lanes that run it.
    pub decode_active: Signal<In, Bits<LANES>>,
    /// Stage D: lanes of its warp that have not ended.
    pub decode_alive: Signal<In, Bits<LANES>>,
    /// Stage D: key of the pending path with the highest priority of its warp.
    pub decode_waiting: Signal<In, Bits<36>>,
    /// Stage D: packetIdx of lane 0.
    pub decode_packet: Signal<In, Bits<32>>,
    /// Stage R holds an instruction.
    pub read_valid: Signal<In, Bit>,
    /// Stage R: see `execute_rd`.
    pub read_rd: Signal<In, Bits<5>>,
    /// Stage R: see `execute_operation`.
    pub read_operation: Signal<In, AluControl>,
    /// Stage R: see `execute_funct3`.
    pub read_funct3: Signal<In, Bits<3>>,
    /// Stage R: see `execute_b_source`.
    pub read_b_source: Signal<In, BSource>,
    /// Stage R: part of `execute_immediate`.
    pub read_immediate: Signal<In, Bits<32>>,
    /// Stage R: the other part of `execute_immediate`.
    pub read_base: Signal<In, Bits<32>>,
    /// Stage R: see `execute_multiply`.
    pub read_multiply: Signal<In, Bit>,
    /// Stage R: see `execute_divide`.
    pub read_divide: Signal<In, Bit>,
    /// Stage R: see `execute_aes`.
    pub read_aes: Signal<In, Bit>,
    /// Stage R: see `execute_byte_select`.
    pub read_byte_select: Signal<In, Bits<2>>,
    /// Stage R: see `execute_aes_decrypt`.
    pub read_aes_decrypt: Signal<In, Bit>,
    /// Stage R: see `execute_aes_middle`.
    pub read_aes_middle: Signal<In, Bit>,
    /// Stage R: see `execute_control`.
    pub read_control: Signal<In, Bit>,
    /// Stage R: see `execute_branch`.
    pub read_branch: Signal<In, Bit>,
    /// Stage R: see `execute_jump`.
    pub read_jump: Signal<In, Bit>,
    /// Stage R: see `execute_jump_register`.
    pub read_jump_register: Signal<In, Bit>,
    /// Stage R: see `execute_load`.
    pub read_load: Signal<In, Bit>,
    /// Stage R: see `execute_store`.
    pub read_store: Signal<In, Bit>,
    /// Stage R: see `execute_call`.
    pub read_call: Signal<In, Bit>,
    /// Stage R: see `execute_ret`.
    pub read_ret: Signal<In, Bit>,
    /// Stage R: see `execute_exit`.
    pub read_exit: Signal<In, Bit>,
    /// Stage R: see `execute_boot`.
    pub read_boot: Signal<In, Bit>,
    /// Stage R: see `execute_fault`.
    pub read_fault: Signal<In, Bit>,
    /// Stage R: see `execute_cause`.
    pub read_cause: Signal<In, Bits<5>>,
    /// Stage R: see `execute_fault_value`.
    pub read_fault_value: Signal<In, Bits<32>>,
    /// Stage R: see `execute_next`.
    pub read_next: Signal<In, Bits<30>>,
    /// Stage R: see `execute_pc`.
    pub read_pc: Signal<In, Bits<30>>,
    /// Slot of the instruction in stage R.
    pub slot: Signal<Out, Bits<5>>,
    /// Its call depth.
    pub depth: Signal<Out, Bits<6>>,
    /// Lanes that run it.
    pub active: Signal<Out, Bits<LANES>>,
    /// Lanes of its warp that have not ended.
    pub alive: Signal<Out, Bits<LANES>>,
    /// Key of the pending path with the highest priority of its warp.
    pub waiting: Signal<Out, Bits<36>>,
    /// packetIdx of lane 0.
    pub packet: Signal<Out, Bits<32>>,
    /// Stage X holds an instruction.
    pub execute_valid: Signal<Out, Bit>,
    /// Destination register, 0 for none.
    pub execute_rd: Signal<Out, Bits<5>>,
    /// Arithmetic operation.
    pub execute_operation: Signal<Out, AluControl>,
    /// `funct3`.
    pub execute_funct3: Signal<Out, Bits<3>>,
    /// Source of the second operand.
    pub execute_b_source: Signal<Out, BSource>,
    /// Immediate, and what is added to it for all lanes.
    pub execute_immediate: Signal<Out, Bits<32>>,
    /// Multiplication.
    pub execute_multiply: Signal<Out, Bit>,
    /// Division.
    pub execute_divide: Signal<Out, Bit>,
    /// AES step.
    pub execute_aes: Signal<Out, Bit>,
    /// Byte of `rs2` that an AES step takes.
    pub execute_byte_select: Signal<Out, Bits<2>>,
    /// The AES step decrypts.
    pub execute_aes_decrypt: Signal<Out, Bit>,
    /// The AES step mixes columns.
    pub execute_aes_middle: Signal<Out, Bit>,
    /// The next path depends on the instruction.
    pub execute_control: Signal<Out, Bit>,
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
    /// Value of that fault: the instruction word if it is illegal, the PC at a breakpoint or fetch
    /// error.
    pub execute_fault_value: Signal<Out, Bits<32>>,
    /// Next PC unless a lane jumps, bits 31:2 of it; `jal` takes its target from `read_immediate`.
    pub execute_next: Signal<Out, Bits<30>>,
    /// PC of the instruction, bits 31:2.
    pub execute_pc: Signal<Out, Bits<30>>,
    slot_r: Register<Bits<5>>,
    depth_r: Register<Bits<6>>,
    active_r: Register<Bits<LANES>>,
    alive_r: Register<Bits<LANES>>,
    waiting_r: Register<Bits<36>>,
    packet_r: Register<Bits<32>>,
    valid_x: Register<Bit>,
    rd_x: Register<Bits<5>>,
    operation_x: Register<AluControl>,
    funct3_x: Register<Bits<3>>,
    b_source_x: Register<BSource>,
    immediate_x: Register<Bits<32>>,
    multiply_x: Register<Bit>,
    divide_x: Register<Bit>,
    aes_x: Register<Bit>,
    byte_select_x: Register<Bits<2>>,
    aes_decrypt_x: Register<Bit>,
    aes_middle_x: Register<Bit>,
    control_x: Register<Bit>,
    branch_x: Register<Bit>,
    jump_x: Register<Bit>,
    jump_register_x: Register<Bit>,
    load_x: Register<Bit>,
    store_x: Register<Bit>,
    call_x: Register<Bit>,
    ret_x: Register<Bit>,
    exit_x: Register<Bit>,
    boot_x: Register<Bit>,
    fault_x: Register<Bit>,
    cause_x: Register<Bits<5>>,
    fault_value_x: Register<Bits<32>>,
    next_x: Register<Bits<30>>,
    pc_x: Register<Bits<30>>,
}

impl<const LANES: usize> Logic for ReadStage<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        self.slot.next = self.slot_r.q.val();
        self.depth.next = self.depth_r.q.val();
        self.active.next = self.active_r.q.val();
        self.alive.next = self.alive_r.q.val();
        self.waiting.next = self.waiting_r.q.val();
        self.packet.next = self.packet_r.q.val();
        self.execute_valid.next = self.valid_x.q.val();
        self.execute_rd.next = self.rd_x.q.val();
        self.execute_operation.next = self.operation_x.q.val();
        self.execute_funct3.next = self.funct3_x.q.val();
        self.execute_b_source.next = self.b_source_x.q.val();
        self.execute_immediate.next = self.immediate_x.q.val();
        self.execute_multiply.next = self.multiply_x.q.val();
        self.execute_divide.next = self.divide_x.q.val();
        self.execute_aes.next = self.aes_x.q.val();
        self.execute_byte_select.next = self.byte_select_x.q.val();
        self.execute_aes_decrypt.next = self.aes_decrypt_x.q.val();
        self.execute_aes_middle.next = self.aes_middle_x.q.val();
        self.execute_control.next = self.control_x.q.val();
        self.execute_branch.next = self.branch_x.q.val();
        self.execute_jump.next = self.jump_x.q.val();
        self.execute_jump_register.next = self.jump_register_x.q.val();
        self.execute_load.next = self.load_x.q.val();
        self.execute_store.next = self.store_x.q.val();
        self.execute_call.next = self.call_x.q.val();
        self.execute_ret.next = self.ret_x.q.val();
        self.execute_exit.next = self.exit_x.q.val();
        self.execute_boot.next = self.boot_x.q.val();
        self.execute_fault.next = self.fault_x.q.val();
        self.execute_cause.next = self.cause_x.q.val();
        self.execute_fault_value.next = self.fault_value_x.q.val();
        self.execute_next.next = self.next_x.q.val();
        self.execute_pc.next = self.pc_x.q.val();
        if self.advance.val() {
            self.slot_r.d.next = self.decode_slot.val();
            self.depth_r.d.next = self.decode_depth.val();
            self.active_r.d.next = self.decode_active.val();
            self.alive_r.d.next = self.decode_alive.val();
            self.waiting_r.d.next = self.decode_waiting.val();
            self.packet_r.d.next = self.decode_packet.val();
            self.valid_x.d.next = self.read_valid.val()
                & !(self.flush_valid.val() & (self.flush_slot.val() == self.slot_r.q.val()));
            self.rd_x.d.next = self.read_rd.val();
            self.operation_x.d.next = self.read_operation.val();
            self.funct3_x.d.next = self.read_funct3.val();
            self.b_source_x.d.next = self.read_b_source.val();
            self.immediate_x.d.next = self.read_immediate.val() + self.read_base.val();
            self.multiply_x.d.next = self.read_multiply.val();
            self.divide_x.d.next = self.read_divide.val();
            self.aes_x.d.next = self.read_aes.val();
            self.byte_select_x.d.next = self.read_byte_select.val();
            self.aes_decrypt_x.d.next = self.read_aes_decrypt.val();
            self.aes_middle_x.d.next = self.read_aes_middle.val();
            self.control_x.d.next = self.read_control.val();
            self.branch_x.d.next = self.read_branch.val();
            self.jump_x.d.next = self.read_jump.val();
            self.jump_register_x.d.next = self.read_jump_register.val();
            self.load_x.d.next = self.read_load.val();
            self.store_x.d.next = self.read_store.val();
            self.call_x.d.next = self.read_call.val();
            self.ret_x.d.next = self.read_ret.val();
            self.exit_x.d.next = self.read_exit.val();
            self.boot_x.d.next = self.read_boot.val();
            self.fault_x.d.next = self.read_fault.val();
            self.cause_x.d.next = self.read_cause.val();
            self.fault_value_x.d.next = self.read_fault_value.val();
            self.next_x.d.next = self.read_next.val();
            self.pc_x.d.next = self.read_pc.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{reset, settle, tick};
    use rand::Rng;

    /// Instructions with a number each, in every field that has room for it: they keep to their
    /// order, stand while the stages do, and those of a flushed warp are gone.
    #[test]
    fn instructions_pass_in_order_unless_they_are_flushed() {
        let mut random = hermes_hdl::testing::random();
        let mut uut = ReadStage::<4>::default();
        reset!(uut);
        let number = |i: u64| (i % 32, i % 64, i % 16, i);
        let (mut read, mut execute) = (None, None);
        let (mut in_decode, mut slot) = (1u64, 0);
        let (mut passed, mut flushed) = (0, 0);
        for _ in 0..2_000 {
            let advance = random.gen_bool(0.7);
            let flush = (advance && random.gen_bool(0.2)).then(|| (slot + random.gen_range(0..2u64)) % 32);
            uut.advance.next = advance;
            uut.flush_valid.next = flush.is_some();
            uut.flush_slot.next = bits(flush.unwrap_or(0));
            let (decode_slot, depth, active, packet) = number(in_decode);
            uut.decode_slot.next = bits(decode_slot);
            uut.decode_depth.next = bits(depth);
            uut.decode_active.next = bits(active);
            uut.decode_alive.next = bits(15 - active);
            uut.decode_waiting.next = bits(packet << 2);
            uut.decode_packet.next = bits(packet);
            uut.read_valid.next = read.is_some();
            uut.read_pc.next = bits(read.unwrap_or(0));
            uut.read_immediate.next = bits(read.unwrap_or(0) + 1);
            uut.read_base.next = bits(3 * read.unwrap_or(0));
            uut.read_rd.next = bits(read.unwrap_or(0) % 32);
            uut.read_load.next = read.unwrap_or(0) % 2 == 1;
            settle(&mut uut);
            if read.is_some() {
                assert_eq!(u64::from(uut.slot.val()), slot);
            }
            assert_eq!(uut.execute_valid.val(), execute.is_some());
            if let Some(i) = execute {
                assert_eq!(
                    (u64::from(uut.execute_pc.val()), u64::from(uut.execute_immediate.val())),
                    (i, 4 * i + 1)
                );
                assert_eq!((u64::from(uut.execute_rd.val()), uut.execute_load.val()), (i % 32, i % 2 == 1));
                passed += u32::from(advance);
            }
            tick!(uut);
            if advance {
                flushed += u32::from(read.is_some() && flush == Some(slot));
                execute = read.filter(|_| flush != Some(slot));
                (read, slot) = (random.gen_bool(0.8).then_some(in_decode), decode_slot);
                settle(&mut uut);
                assert_eq!((u64::from(uut.depth.val()), u64::from(uut.active.val())), (depth, active));
                assert_eq!((u64::from(uut.alive.val()), u64::from(uut.packet.val())), (15 - active, packet));
                assert_eq!(u64::from(uut.waiting.val()), packet << 2);
                in_decode += 1;
            }
        }
        assert!(passed > 500 && flushed > 50, "{passed} {flushed}");
    }
}
