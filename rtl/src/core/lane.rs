//! One lane: registers, arithmetic and the waiting PCs of its threads.

use super::{AesUnit, BSource, LaneAlu, Multiplier, OperandSource};
use crate::config::CoreOptions;
use crate::ports::{Arithmetic, LaneOutcome, LaneValues, Operands, SlotEvent};
use hermes_hdl::prelude::*;

/// The part of a core that exists once for each lane.
///
/// 1. `rs1_address`/`rs2_address` in stage D give the operands in stage X.
/// 2. The operands of stage X give `result`, `store_data` and `taken` in stage W.
/// 3. A register write in stage W (`write`, `fault` or `late`; at most one of `write` and `late` a
///    lane and cycle) is seen by reads from the next cycle on; results that are younger are
///    forwarded, as `rs1_source` and `rs2_source` say.
/// 4. `path_write` in stage W stores the thread's next PC and call depth; `path_key` gives them one
///    cycle after `path_read.slot`.
///
/// The registers between X and W hold their values while `advance` is low; writes are gated by the
/// core.
#[clocked]
#[derive(LogicBlock)]
#[new(options: CoreOptions)]
pub struct Lane {
    /// Lane index in the core; constant.
    pub number: Signal<In, Bits<32>>,
    /// Stages D, X and W advance at this edge.
    pub advance: Signal<In, Bit>,
    /// Stage D: register file address of `rs1`.
    pub rs1_address: Signal<In, Bits<9>>,
    /// Stage D: register file address of `rs2`.
    pub rs2_address: Signal<In, Bits<9>>,
    /// For the lane.
    pub operands: Operands,
    /// Stage R: the lane runs the instruction.
    pub runs: Signal<In, Bit>,
    /// Stage X.
    pub arithmetic: Arithmetic,
    /// Stage X: branch condition, kind of product.
    pub condition: Signal<In, Bits<3>>,
    /// Stage X: immediate.
    pub immediate: Signal<In, Bits<32>>,
    /// Results and address.
    pub values: LaneValues,
    /// Stage W: value of `rs2`.
    pub store_data: Signal<Out, Bits<32>>,
    /// Stage W: the lane writes the instruction's destination register, or the verdict if it
    /// faults.
    pub write: Signal<In, Bit>,
    /// Stage W: register file address of the destination.
    pub write_address: Signal<In, Bits<9>>,
    /// Stage X: the instruction is a multiplication.
    pub multiplies: Signal<In, Bit>,
    /// For the lane.
    pub outcome: Flipped<LaneOutcome>,
    /// Stage W: the lane faults; with `write` it writes `verdict` to `fault_address`, and with
    /// `path_write` goes to EXIT, or to the trap entry.
    pub fault: Signal<In, Bit>,
    /// Stage W: register file address of what a lane that faults writes.
    pub fault_address: Signal<In, Bits<9>>,
    /// Stage W: bits 31:12 of the PC to which a lane that faults goes instead of EXIT, if `trap` is
    /// high, at its depth (only with a thread spawner, as the next).
    #[there(options.spawns())]
    pub trap_page: Part<Signal<In, Bits<20>>>,
    /// Stage W: a lane that faults goes to `trap_page`.
    #[there(options.spawns())]
    pub trap: Part<Signal<In, Bit>>,
    /// The lane writes the long-latency result that was taken a cycle ago.
    pub late: Signal<In, Bit>,
    /// Register file address for it.
    pub late_address: Signal<In, Bits<9>>,
    /// Result of a division, 0 if there is none; written a cycle later with `late`.
    pub quotient: Signal<In, Bits<32>>,
    /// Loaded data, sized and extended; 0 if the result is a quotient. Written in this cycle with
    /// `late`.
    pub load_data: Signal<In, Bits<32>>,
    /// Value that a register write takes in this cycle.
    pub written: Signal<Out, Bits<32>>,
    /// Stage W: the lane stores its next PC.
    pub path_write: Signal<In, Bit>,
    /// Stage W: warp slot of the stored PC.
    pub path_write_slot: Signal<In, Bits<5>>,
    /// Stage W: the lane stays at this instruction, whose PC is `target`, to replay it.
    pub stay: Signal<In, Bit>,
    /// From path selection: the path stored for this warp slot is read at this edge.
    pub path_read: SlotEvent,
    /// The PC read, one cycle later: bits 35:30 the inverted call depth, bits 29:0 PC bits 31:2, so
    /// that the smallest key is the preferred one.
    pub path_key: Signal<Out, Bits<36>>,
    /// Register that was read at `rs2_address` at the last edge with `advance`, without what is
    /// forwarded (only with compare-and-swap).
    #[there(options.compare_and_swap)]
    pub register: Part<Signal<Out, Bits<32>>>,
    registers_1: RamNoCollision<32, 9>,
    registers_2: RamNoCollision<32, 9>,
    paths: RamNoCollision<36, 5>,
    alu: LaneAlu,
    multiplier: Multiplier,
    #[there(options.aes)]
    aes_unit: Part<AesUnit>,
    /// Stage X: `rs1` is the result of the instruction before, in stage W. For this and the next
    /// three see [`OperandSource`]. Each lane has its own copies, since they select all bits of its
    /// operands; for a lane that does not run their value does not matter.
    rs1_result: Register<Bit>,
    /// Stage X: `rs1` is the result of the instruction two before.
    rs1_written: Register<Bit>,
    /// Stage X: `rs2` is the result of the instruction before, in stage W.
    rs2_result: Register<Bit>,
    /// Stage X: `rs2` is the result of the instruction two before.
    rs2_written: Register<Bit>,
    operand_1: Register<Bits<32>>,
    operand_2: Register<Bits<32>>,
    result_w: Register<Bits<32>>,
    store_data_w: Register<Bits<32>>,
    taken_w: Register<Bit>,
    written_q: Register<Bits<32>>,
    late_q: Register<Bits<32>>,
}

impl Lane {
    /// A lane of a core with these options; it has a trap entry beside a thread spawner.
    pub fn new(options: CoreOptions) -> Self {
        Self::wired(options)
    }
}

impl Logic for Lane {
    #[hdl_gen]
    fn update(&mut self) {
        // D: register read
        self.registers_1.read_enable.next = self.advance.val();
        self.registers_1.read_address.next = self.rs1_address.val();
        self.registers_2.read_enable.next = self.advance.val();
        self.registers_2.read_address.next = self.rs2_address.val();

        if self.register.is_there() {
            self.register.next = self.registers_2.read_data.val();
        }

        // R: operands, except the results of the two instructions before
        let mut beyond = bits::<32>(0);
        if (self.number.val().get_bits::<5>(0) & self.operands.offset_lanes.val())
            > self.operands.offset_last.val()
        {
            beyond = !self.operands.offset_mask.val();
        }
        let mut steps = bits::<32>(0);
        if self.number.val().get_bit(0) {
            steps = self.operands.offset_step.val();
        }
        if self.number.val().get_bit(1) {
            steps = steps | (self.operands.offset_step.val() << 1);
        }
        if self.number.val().get_bit(2) {
            steps = steps | (self.operands.offset_step.val() << 2);
        }
        if self.number.val().get_bit(3) {
            steps = steps | (self.operands.offset_step.val() << 3);
        }
        if self.number.val().get_bit(4) {
            steps = steps | (self.operands.offset_step.val() << 4);
        }
        let offset = (steps & self.operands.offset_mask.val()) | beyond;
        if self.advance.val() {
            self.rs1_result.d.next =
                self.runs.val() & (self.operands.rs1_source.val() == OperandSource::Result);
            self.rs1_written.d.next =
                self.runs.val() & (self.operands.rs1_source.val() == OperandSource::Written);
            self.rs2_result.d.next =
                self.runs.val() & (self.operands.rs2_source.val() == OperandSource::Result);
            self.rs2_written.d.next =
                self.runs.val() & (self.operands.rs2_source.val() == OperandSource::Written);
            match self.operands.rs1_source.val() {
                OperandSource::JustWritten => self.operand_1.d.next = self.written_q.q.val(),
                OperandSource::Zero => self.operand_1.d.next = offset,
                _ => self.operand_1.d.next = self.registers_1.read_data.val(),
            }
            match self.operands.rs2_source.val() {
                OperandSource::JustWritten => self.operand_2.d.next = self.written_q.q.val(),
                OperandSource::Zero => self.operand_2.d.next = bits::<32>(0),
                _ => self.operand_2.d.next = self.registers_2.read_data.val(),
            }
        }

        // X: forwarding of these results, and arithmetic
        let mut a = self.operand_1.q.val();
        if self.rs1_written.q.val() {
            a = self.written_q.q.val();
        }
        if self.rs1_result.q.val() {
            a = self.result_w.q.val();
        }
        let mut rs2 = self.operand_2.q.val();
        if self.rs2_written.q.val() {
            rs2 = self.written_q.q.val();
        }
        if self.rs2_result.q.val() {
            rs2 = self.result_w.q.val();
        }
        let mut b = rs2;
        if self.arithmetic.b_source.val() == BSource::Immediate {
            b = self.immediate.val();
        }
        self.alu.a.next = a;
        self.alu.b.next = b;
        self.values.address.next = self.alu.address.val();
        self.values.operand.next = a;
        self.values.carry.next = self.alu.carry.val();
        self.alu.control.next = self.arithmetic.operation.val();
        self.alu.condition.next = self.condition.val();

        // W: each source of the value to write is 0 unless it is selected, and they are or-ed
        // together.
        let own_verdict = self.fault.val() & !self.late.val();
        let own_link = self.outcome.link.val() & !self.fault.val() & !self.late.val();
        let own_product = self.outcome.multiply.val() & !self.fault.val() & !self.late.val();
        let own_result = self.outcome.plain.val() & !self.fault.val() & !self.late.val();
        self.multiplier.advance.next = self.advance.val() & self.multiplies.val();
        self.multiplier.wanted.next = own_product;
        self.multiplier.a.next = a;
        self.multiplier.b.next = rs2;
        self.multiplier.funct3.next = self.condition.val();
        if self.advance.val() {
            self.result_w.d.next = self.alu.y.val();
            self.store_data_w.d.next = rs2;
            self.taken_w.d.next = self.alu.taken.val();
        }
        if self.aes_unit.is_there() {
            self.aes_unit.enable.next = self.arithmetic.aes.val();
            self.aes_unit.rs1.next = a;
            self.aes_unit.rs2.next = rs2;
            self.aes_unit.byte_select.next = self.arithmetic.byte_select.val();
            self.aes_unit.decrypt.next = self.arithmetic.aes_decrypt.val();
            self.aes_unit.middle.next = self.arithmetic.aes_middle.val();
            if self.advance.val() & self.arithmetic.aes.val() {
                self.result_w.d.next = self.aes_unit.result.val();
            }
        }

        // W: write back
        self.values.result.next = self.result_w.q.val();
        self.store_data.next = self.store_data_w.q.val();
        self.values.taken.next = self.taken_w.q.val();
        let register_write = self.write.val() | self.late.val();
        let mut register_address = self.write_address.val();
        if self.fault.val() {
            register_address = self.fault_address.val();
        }
        if self.late.val() {
            register_address = self.late_address.val();
        }
        let mut register_data = self.multiplier.product.val();
        if own_result {
            register_data = register_data | self.result_w.q.val();
        }
        if own_link {
            register_data = register_data | self.outcome.link_value.val();
        }
        if own_verdict {
            register_data = register_data | self.outcome.verdict.val();
        }
        self.late_q.d.next = self.quotient.val();
        let mut late_data = bits::<32>(0);
        if self.late.val() {
            late_data = self.late_q.q.val() | self.load_data.val();
        }
        register_data = register_data | late_data;
        self.written.next = register_data;
        if self.advance.val() {
            self.written_q.d.next = register_data;
        }
        self.registers_1.write_enable.next = register_write;
        self.registers_1.write_address.next = register_address;
        self.registers_1.write_data.next = register_data;
        self.registers_2.write_enable.next = register_write;
        self.registers_2.write_address.next = register_address;
        self.registers_2.write_data.next = register_data;

        // W: next PC of this thread
        let mut goes_to_target = self.stay.val() | (self.outcome.branch.val() & self.taken_w.q.val());
        let goes_to_result = self.outcome.jump_register.val() & !goes_to_target & !self.fault.val();
        let goes_on = !self.outcome.jump_register.val() & !goes_to_target & !self.fault.val();
        if self.fault.val() {
            goes_to_target = false;
        }
        // A lane that faults goes to EXIT, outside all calls.
        let mut thread_depth = bits::<6>(0);
        let mut thread_pc = bits::<30>(0);
        if self.fault.val() {
            thread_pc = bits::<30>(0x3fff_ffff);
        } else {
            thread_depth = self.outcome.path_depth.val();
        }
        if self.trap_page.is_there() {
            if self.fault.val() & self.trap.val() {
                thread_depth = self.outcome.path_depth.val();
                thread_pc = bit_cast::<30, 20>(self.trap_page.val()) << bits::<5>(10);
            }
        }
        if goes_on {
            thread_pc = thread_pc | self.outcome.next_pc.val();
        }
        if goes_to_target {
            thread_pc = thread_pc | self.outcome.target.val();
        }
        if goes_to_result {
            thread_pc = thread_pc | self.result_w.q.val().get_bits::<30>(2);
        }
        self.paths.write_enable.next = self.path_write.val();
        self.paths.write_address.next = self.path_write_slot.val();
        self.paths.write_data.next =
            (bit_cast::<36, 6>(!thread_depth) << bits::<6>(30)) | bit_cast::<36, 30>(thread_pc);
        self.paths.read_enable.next = self.path_read.valid.val();
        self.paths.read_address.next = self.path_read.slot.val();
        self.path_key.next = self.paths.read_data.val();
    }
}
