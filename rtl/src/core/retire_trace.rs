//! What the core did in a cycle, for verification.

use crate::prelude::*;

/// The retire trace of a core, in the spirit of the RISC-V Formal Interface; there only when the array is emitted with it.
///
/// Every output is combinational and describes the current cycle: a warp-instruction that retires (`retire_*`), and values of loads and
/// divisions that are written to registers now (`late_*`). The values of the lanes stand side by side, lane 0 in the lowest 32 bits;
/// those of lanes that the core does not have are 0.
#[derive(LogicBlock, Default)]
pub struct RetireTrace<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Stages D to W move on at this edge.
    pub advance: Signal<In, Bit>,
    /// Stage D: instruction word.
    pub decode_instruction: Signal<In, Bits<32>>,
    /// An instruction retires.
    pub fire: Signal<In, Bit>,
    /// Its warp slot.
    pub slot: Signal<In, Bits<5>>,
    /// Its PC.
    pub pc: Signal<In, Bits<32>>,
    /// Lanes that execute it.
    pub active: Signal<In, Bits<LANES>>,
    /// Those of them that fault.
    pub faulting: Signal<In, Bits<LANES>>,
    /// Cause of the fault.
    pub cause: Signal<In, Bits<5>>,
    /// Destination register.
    pub rd: Signal<In, Bits<5>>,
    /// The destination is written later.
    pub late: Signal<In, Bit>,
    /// Values written, addresses of loads and stores, targets of `jalr`.
    pub values: Signal<In, Bits<1024>>,
    /// Values of `rs2`.
    pub store_data: Signal<In, Bits<1024>>,
    /// Values that come late are written.
    pub late_write: Signal<In, Bit>,
    /// Their warp slot.
    pub late_slot_in: Signal<In, Bits<5>>,
    /// Their register.
    pub late_rd_in: Signal<In, Bits<5>>,
    /// Their lanes.
    pub late_lanes_in: Signal<In, Bits<LANES>>,
    /// The values.
    pub late_values: Signal<In, Bits<1024>>,
    /// An instruction retires.
    pub retire_valid: Signal<Out, Bit>,
    /// Its warp slot.
    pub retire_slot: Signal<Out, Bits<5>>,
    /// Its PC.
    pub retire_pc: Signal<Out, Bits<32>>,
    /// Its word.
    pub retire_instruction: Signal<Out, Bits<32>>,
    /// Lanes that execute it.
    pub retire_active: Signal<Out, Bits<32>>,
    /// Those of them that fault.
    pub retire_faulting: Signal<Out, Bits<32>>,
    /// Cause of the fault.
    pub retire_cause: Signal<Out, Bits<5>>,
    /// Destination register, 0 for none.
    pub retire_rd: Signal<Out, Bits<5>>,
    /// The destination is written later.
    pub retire_late: Signal<Out, Bit>,
    /// Values written, addresses of loads and stores, targets of `jalr`.
    pub retire_value: Signal<Out, Bits<1024>>,
    /// Values of `rs2`.
    pub retire_store_data: Signal<Out, Bits<1024>>,
    /// Values that come late are written.
    pub late_valid: Signal<Out, Bit>,
    /// Their warp slot.
    pub late_slot: Signal<Out, Bits<5>>,
    /// Their register.
    pub late_rd: Signal<Out, Bits<5>>,
    /// Their lanes.
    pub late_lanes: Signal<Out, Bits<32>>,
    /// The values.
    pub late_value: Signal<Out, Bits<1024>>,
    instruction_r: Register<Bits<32>>,
    instruction_x: Register<Bits<32>>,
    instruction_w: Register<Bits<32>>,
}

impl<const LANES: usize> Logic for RetireTrace<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        if self.advance.val() {
            self.instruction_r.d.next = self.decode_instruction.val();
            self.instruction_x.d.next = self.instruction_r.q.val();
            self.instruction_w.d.next = self.instruction_x.q.val();
        }
        self.retire_valid.next = self.fire.val();
        self.retire_slot.next = self.slot.val();
        self.retire_pc.next = self.pc.val();
        self.retire_instruction.next = self.instruction_w.q.val();
        self.retire_active.next = bit_cast::<32, LANES>(self.active.val());
        self.retire_faulting.next = bit_cast::<32, LANES>(self.faulting.val());
        self.retire_cause.next = self.cause.val();
        self.retire_rd.next = self.rd.val();
        self.retire_late.next = self.late.val();
        self.retire_value.next = self.values.val();
        self.retire_store_data.next = self.store_data.val();
        self.late_valid.next = self.late_write.val();
        self.late_slot.next = self.late_slot_in.val();
        self.late_rd.next = self.late_rd_in.val();
        self.late_lanes.next = bit_cast::<32, LANES>(self.late_lanes_in.val());
        self.late_value.next = self.late_values.val();
    }
}
