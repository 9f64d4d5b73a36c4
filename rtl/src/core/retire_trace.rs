//! What the core did in a cycle, for verification.

use crate::ports::Trace;
use hermes_hdl::prelude::*;

/// The retire trace of a core ([`Trace`]); there only when the array is emitted with it.
///
/// Every output is combinational and describes the current cycle.
#[derive(LogicBlock, Default)]
pub struct RetireTrace<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Stages S to W move on at this edge.
    pub advance: Signal<In, Bit>,
    /// Stage C: an instruction is looked up, if the stages move on.
    pub lookup_enable: Signal<In, Bit>,
    /// Its warp slot.
    pub lookup_slot: Signal<In, Bits<5>>,
    /// Its PC, bits 31:2.
    pub lookup_word: Signal<In, Bits<30>>,
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
    /// Long-latency results are written.
    pub late_write: Signal<In, Bit>,
    /// Their warp slot.
    pub late_slot: Signal<In, Bits<5>>,
    /// Their register.
    pub late_rd: Signal<In, Bits<5>>,
    /// Their lanes.
    pub late_lanes: Signal<In, Bits<LANES>>,
    /// The values.
    pub late_values: Signal<In, Bits<1024>>,
    /// What the core did.
    pub trace: Trace,
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
        self.trace.fetch.valid.next = self.lookup_enable.val() & self.advance.val();
        self.trace.fetch.slot.next = self.lookup_slot.val();
        self.trace.fetch.pc.next = bit_cast::<32, 30>(self.lookup_word.val()) << bits::<6>(2);
        self.trace.retire.valid.next = self.fire.val();
        self.trace.retire.slot.next = self.slot.val();
        self.trace.retire.pc.next = self.pc.val();
        self.trace.retire.instruction.next = self.instruction_w.q.val();
        self.trace.retire.active.next = bit_cast::<32, LANES>(self.active.val());
        self.trace.retire.faulting.next = bit_cast::<32, LANES>(self.faulting.val());
        self.trace.retire.cause.next = self.cause.val();
        self.trace.retire.rd.next = self.rd.val();
        self.trace.retire.late.next = self.late.val();
        self.trace.retire.value.next = self.values.val();
        self.trace.retire.store_data.next = self.store_data.val();
        self.trace.late.valid.next = self.late_write.val();
        self.trace.late.slot.next = self.late_slot.val();
        self.trace.late.rd.next = self.late_rd.val();
        self.trace.late.lanes.next = bit_cast::<32, LANES>(self.late_lanes.val());
        self.trace.late.value.next = self.late_values.val();
    }
}
