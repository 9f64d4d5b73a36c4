//! One lane: registers, arithmetic and the waiting PCs of its threads.

use super::{AluOperation, BSource, LaneAlu};
use crate::prelude::*;

/// The part of a core that exists once for each lane.
///
/// 1. `rs1_address`/`rs2_address` in stage D give the operands in stage X.
/// 2. The operands of stage X give `result`, `store_data` and `taken` in stage W.
/// 3. A register write in stage W (`write`, `fault` or `load`; at most one of `write` and `load` a lane and cycle) is
///    seen by reads from the next cycle on.
/// 4. `path_write` in stage W stores the thread's next PC and call depth; `path_key` gives them one cycle after
///    `path_read_slot`.
///
/// Nothing but the registers between X and W moves while `advance` is low; writes are gated by the core.
#[derive(LogicBlock, Default)]
pub struct Lane {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Number of the lane in its core; constant.
    pub number: Signal<In, Bits<32>>,
    /// Stages D, X and W move on at this edge.
    pub advance: Signal<In, Bit>,
    /// Stage D: register file address of `rs1`.
    pub rs1_address: Signal<In, Bits<9>>,
    /// Stage D: register file address of `rs2`.
    pub rs2_address: Signal<In, Bits<9>>,
    /// Stage X: `rs1` is x0.
    pub rs1_zero: Signal<In, Bit>,
    /// Stage X: `rs2` is x0.
    pub rs2_zero: Signal<In, Bit>,
    /// Stage X: arithmetic operation.
    pub operation: Signal<In, AluOperation>,
    /// Stage X: branch condition.
    pub condition: Signal<In, Bits<3>>,
    /// Stage X: the first operand is `rs1`, else `a_value`.
    pub a_is_register: Signal<In, Bit>,
    /// Stage X: first operand that all lanes share.
    pub a_value: Signal<In, Bits<32>>,
    /// Stage X: source of the second operand.
    pub b_source: Signal<In, BSource>,
    /// Stage X: immediate.
    pub immediate: Signal<In, Bits<32>>,
    /// Stage X: lane offset of lane 0 (see `ThreadIndex`).
    pub offset_base: Signal<In, Bits<32>>,
    /// Stage X: distance of two lanes, as a power of two.
    pub offset_shift: Signal<In, Bits<5>>,
    /// Stage X: bits of the lane offset that count.
    pub offset_mask: Signal<In, Bits<32>>,
    /// Stage W: arithmetic result, or the address of a load, store or `jalr`.
    pub result: Signal<Out, Bits<32>>,
    /// Stage W: value of `rs2`.
    pub store_data: Signal<Out, Bits<32>>,
    /// Stage W: the branch condition holds.
    pub taken: Signal<Out, Bit>,
    /// Stage W: the lane writes the instruction's destination register.
    pub write: Signal<In, Bit>,
    /// Stage W: register file address of the destination.
    pub write_address: Signal<In, Bits<9>>,
    /// Stage W: the value written is `link_value`, not `result`.
    pub link: Signal<In, Bit>,
    /// Stage W: return address.
    pub link_value: Signal<In, Bits<32>>,
    /// Stage W: the lane faults; it writes `verdict` to `a0` and goes to EXIT.
    pub fault: Signal<In, Bit>,
    /// Stage W: register file address of `a0`.
    pub fault_address: Signal<In, Bits<9>>,
    /// Stage W: verdict of a faulting lane.
    pub verdict: Signal<In, Bits<32>>,
    /// The lane takes loaded data.
    pub load: Signal<In, Bit>,
    /// Register file address of the loaded register.
    pub load_address: Signal<In, Bits<9>>,
    /// Loaded data, sized and extended.
    pub load_data: Signal<In, Bits<32>>,
    /// Stage W: the lane stores its next PC.
    pub path_write: Signal<In, Bit>,
    /// Stage W: warp slot of the stored PC.
    pub path_write_slot: Signal<In, Bits<5>>,
    /// Stage W: call depth after the instruction.
    pub path_depth: Signal<In, Bits<6>>,
    /// Stage W: the next PC is `result` (`jalr`).
    pub jump_register: Signal<In, Bit>,
    /// Stage W: the next PC is `target` in lanes whose condition holds.
    pub branch: Signal<In, Bit>,
    /// Stage W: branch target, bits 31:2.
    pub target: Signal<In, Bits<30>>,
    /// Stage W: next PC of all other instructions, bits 31:2.
    pub next_pc: Signal<In, Bits<30>>,
    /// Warp slot whose PC is read.
    pub path_read_slot: Signal<In, Bits<5>>,
    /// The PC read, one cycle later: bits 35:30 the inverted call depth, bits 29:0 PC bits 31:2, so that the
    /// smallest key is the preferred one.
    pub path_key: Signal<Out, Bits<36>>,
    registers_1: RamSync<Bits<32>, 9>,
    registers_2: RamSync<Bits<32>, 9>,
    paths: RamSync<Bits<36>, 5>,
    alu: LaneAlu,
    result_w: Register<Bits<32>>,
    store_data_w: Register<Bits<32>>,
    taken_w: Register<Bit>,
    rs1: Signal<Local, Bits<32>>,
    rs2: Signal<Local, Bits<32>>,
    offset: Signal<Local, Bits<32>>,
    b: Signal<Local, Bits<32>>,
    register_write: Signal<Local, Bit>,
    register_address: Signal<Local, Bits<9>>,
    register_data: Signal<Local, Bits<32>>,
    thread_pc: Signal<Local, Bits<30>>,
    thread_depth: Signal<Local, Bits<6>>,
}

impl Logic for Lane {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, result_w, store_data_w, taken_w);
        self.registers_1.clock.next = self.clock.val();
        self.registers_2.clock.next = self.clock.val();
        self.paths.clock.next = self.clock.val();

        // D: register read
        self.registers_1.read_enable.next = self.advance.val();
        self.registers_1.read_address.next = self.rs1_address.val();
        self.registers_2.read_enable.next = self.advance.val();
        self.registers_2.read_address.next = self.rs2_address.val();

        // X: operands
        self.rs1.next = self.registers_1.read_data.val();
        if self.rs1_zero.val() {
            self.rs1.next = bits::<32>(0);
        }
        self.rs2.next = self.registers_2.read_data.val();
        if self.rs2_zero.val() {
            self.rs2.next = bits::<32>(0);
        }
        self.offset.next = (self.offset_base.val() + (self.number.val() << self.offset_shift.val()))
            & self.offset_mask.val();
        self.alu.a.next = self.a_value.val();
        if self.a_is_register.val() {
            self.alu.a.next = self.rs1.val();
        }
        match self.b_source.val() {
            BSource::Register => self.b.next = self.rs2.val(),
            BSource::Immediate => self.b.next = self.immediate.val(),
            _ => self.b.next = self.offset.val(),
        }
        self.alu.b.next = self.b.val();
        self.alu.operation.next = self.operation.val();
        self.alu.condition.next = self.condition.val();
        if self.advance.val() {
            self.result_w.d.next = self.alu.y.val();
            self.store_data_w.d.next = self.rs2.val();
            self.taken_w.d.next = self.alu.taken.val();
        }

        // W: write back
        self.result.next = self.result_w.q.val();
        self.store_data.next = self.store_data_w.q.val();
        self.taken.next = self.taken_w.q.val();
        self.register_write.next = self.write.val() | self.fault.val() | self.load.val();
        self.register_address.next = self.write_address.val();
        self.register_data.next = self.result_w.q.val();
        if self.link.val() {
            self.register_data.next = self.link_value.val();
        }
        if self.fault.val() {
            self.register_address.next = self.fault_address.val();
            self.register_data.next = self.verdict.val();
        }
        if self.load.val() {
            self.register_address.next = self.load_address.val();
            self.register_data.next = self.load_data.val();
        }
        self.registers_1.write_enable.next = self.register_write.val();
        self.registers_1.write_address.next = self.register_address.val();
        self.registers_1.write_data.next = self.register_data.val();
        self.registers_2.write_enable.next = self.register_write.val();
        self.registers_2.write_address.next = self.register_address.val();
        self.registers_2.write_data.next = self.register_data.val();

        // W: next PC of this thread
        self.thread_depth.next = self.path_depth.val();
        self.thread_pc.next = self.next_pc.val();
        if self.branch.val() & self.taken_w.q.val() {
            self.thread_pc.next = self.target.val();
        }
        if self.jump_register.val() {
            self.thread_pc.next = self.result_w.q.val().get_bits::<30>(2);
        }
        if self.fault.val() {
            // EXIT, outside all calls
            self.thread_depth.next = bits::<6>(0);
            self.thread_pc.next = bits::<30>(0x3fff_ffff);
        }
        self.paths.write_enable.next = self.path_write.val();
        self.paths.write_address.next = self.path_write_slot.val();
        self.paths.write_data.next = (bit_cast::<36, 6>(!self.thread_depth.val()) << bits::<6>(30))
            | bit_cast::<36, 30>(self.thread_pc.val());
        self.paths.read_enable.next = true;
        self.paths.read_address.next = self.path_read_slot.val();
        self.path_key.next = self.paths.read_data.val();
    }
}
