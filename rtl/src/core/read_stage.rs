//! Stage R: the registers are read.

use super::{AluControl, BSource};
use crate::ports::{Arithmetic, Controls, WarpContext};
use hermes_hdl::prelude::*;

/// Holds the instruction of stage R, while the lanes read their registers, and the controls of
/// stage X.
///
/// The context of the instruction in stage D (`decode`) becomes that of stage R (`context`), and its
/// controls, which are those of stage R (`read`, registers of
/// [`DecodeStage`](super::DecodeStage)), become those of stage X (`execute`), at each edge with
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
    /// The warp of the instruction in stage D.
    pub decode: WarpContext<LANES>,
    /// The instruction in stage R.
    pub read: Controls,
    /// Stage R: added to the immediate for all lanes.
    pub read_base: Signal<In, Bits<32>>,
    /// Stage R: what the lanes compute in stage X.
    pub read_arithmetic: Arithmetic,
    /// The warp of the instruction in stage R.
    pub context: Flipped<WarpContext<LANES>>,
    /// The instruction in stage X.
    pub execute: Flipped<Controls>,
    /// What the lanes compute for it.
    pub execute_arithmetic: Flipped<Arithmetic>,
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
        self.context.slot.next = self.slot_r.q.val();
        self.context.depth.next = self.depth_r.q.val();
        self.context.active.next = self.active_r.q.val();
        self.context.alive.next = self.alive_r.q.val();
        self.context.waiting.next = self.waiting_r.q.val();
        self.context.packet.next = self.packet_r.q.val();
        self.execute.valid.next = self.valid_x.q.val();
        self.execute.rd.next = self.rd_x.q.val();
        self.execute_arithmetic.operation.next = self.operation_x.q.val();
        self.execute.funct3.next = self.funct3_x.q.val();
        self.execute_arithmetic.b_source.next = self.b_source_x.q.val();
        self.execute.immediate.next = self.immediate_x.q.val();
        self.execute.multiply.next = self.multiply_x.q.val();
        self.execute.divide.next = self.divide_x.q.val();
        self.execute_arithmetic.aes.next = self.aes_x.q.val();
        self.execute_arithmetic.byte_select.next = self.byte_select_x.q.val();
        self.execute_arithmetic.aes_decrypt.next = self.aes_decrypt_x.q.val();
        self.execute_arithmetic.aes_middle.next = self.aes_middle_x.q.val();
        self.execute.control.next = self.control_x.q.val();
        self.execute.branch.next = self.branch_x.q.val();
        self.execute.jump.next = self.jump_x.q.val();
        self.execute.jump_register.next = self.jump_register_x.q.val();
        self.execute.load.next = self.load_x.q.val();
        self.execute.store.next = self.store_x.q.val();
        self.execute.call.next = self.call_x.q.val();
        self.execute.ret.next = self.ret_x.q.val();
        self.execute.exit.next = self.exit_x.q.val();
        self.execute.boot.next = self.boot_x.q.val();
        self.execute.fault.next = self.fault_x.q.val();
        self.execute.cause.next = self.cause_x.q.val();
        self.execute.fault_value.next = self.fault_value_x.q.val();
        self.execute.next_pc.next = self.next_x.q.val();
        self.execute.pc.next = self.pc_x.q.val();
        if self.advance.val() {
            self.slot_r.d.next = self.decode.slot.val();
            self.depth_r.d.next = self.decode.depth.val();
            self.active_r.d.next = self.decode.active.val();
            self.alive_r.d.next = self.decode.alive.val();
            self.waiting_r.d.next = self.decode.waiting.val();
            self.packet_r.d.next = self.decode.packet.val();
            self.valid_x.d.next = self.read.valid.val()
                & !(self.flush_valid.val() & (self.flush_slot.val() == self.slot_r.q.val()));
            self.rd_x.d.next = self.read.rd.val();
            self.operation_x.d.next = self.read_arithmetic.operation.val();
            self.funct3_x.d.next = self.read.funct3.val();
            self.b_source_x.d.next = self.read_arithmetic.b_source.val();
            self.immediate_x.d.next = self.read.immediate.val() + self.read_base.val();
            self.multiply_x.d.next = self.read.multiply.val();
            self.divide_x.d.next = self.read.divide.val();
            self.aes_x.d.next = self.read_arithmetic.aes.val();
            self.byte_select_x.d.next = self.read_arithmetic.byte_select.val();
            self.aes_decrypt_x.d.next = self.read_arithmetic.aes_decrypt.val();
            self.aes_middle_x.d.next = self.read_arithmetic.aes_middle.val();
            self.control_x.d.next = self.read.control.val();
            self.branch_x.d.next = self.read.branch.val();
            self.jump_x.d.next = self.read.jump.val();
            self.jump_register_x.d.next = self.read.jump_register.val();
            self.load_x.d.next = self.read.load.val();
            self.store_x.d.next = self.read.store.val();
            self.call_x.d.next = self.read.call.val();
            self.ret_x.d.next = self.read.ret.val();
            self.exit_x.d.next = self.read.exit.val();
            self.boot_x.d.next = self.read.boot.val();
            self.fault_x.d.next = self.read.fault.val();
            self.cause_x.d.next = self.read.cause.val();
            self.fault_value_x.d.next = self.read.fault_value.val();
            self.next_x.d.next = self.read.next_pc.val();
            self.pc_x.d.next = self.read.pc.val();
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
            uut.decode.slot.next = bits(decode_slot);
            uut.decode.depth.next = bits(depth);
            uut.decode.active.next = bits(active);
            uut.decode.alive.next = bits(15 - active);
            uut.decode.waiting.next = bits(packet << 2);
            uut.decode.packet.next = bits(packet);
            uut.read.valid.next = read.is_some();
            uut.read.pc.next = bits(read.unwrap_or(0));
            uut.read.immediate.next = bits(read.unwrap_or(0) + 1);
            uut.read_base.next = bits(3 * read.unwrap_or(0));
            uut.read.rd.next = bits(read.unwrap_or(0) % 32);
            uut.read.load.next = read.unwrap_or(0) % 2 == 1;
            settle(&mut uut);
            if read.is_some() {
                assert_eq!(u64::from(uut.context.slot.val()), slot);
            }
            assert_eq!(uut.execute.valid.val(), execute.is_some());
            if let Some(i) = execute {
                assert_eq!(
                    (u64::from(uut.execute.pc.val()), u64::from(uut.execute.immediate.val())),
                    (i, 4 * i + 1)
                );
                assert_eq!((u64::from(uut.execute.rd.val()), uut.execute.load.val()), (i % 32, i % 2 == 1));
                passed += u32::from(advance);
            }
            tick!(uut);
            if advance {
                flushed += u32::from(read.is_some() && flush == Some(slot));
                execute = read.filter(|_| flush != Some(slot));
                (read, slot) = (random.gen_bool(0.8).then_some(in_decode), decode_slot);
                settle(&mut uut);
                assert_eq!(
                    (u64::from(uut.context.depth.val()), u64::from(uut.context.active.val())),
                    (depth, active)
                );
                assert_eq!(
                    (u64::from(uut.context.alive.val()), u64::from(uut.context.packet.val())),
                    (15 - active, packet)
                );
                assert_eq!(u64::from(uut.context.waiting.val()), packet << 2);
                in_decode += 1;
            }
        }
        assert!(passed > 500 && flushed > 50, "{passed} {flushed}");
    }
}
