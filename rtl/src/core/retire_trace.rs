//! What the core did in a cycle, for verification.

use crate::ports::{LateResult, Lookup, Trace};
use hermes_hdl::prelude::*;

/// The retire trace of a core ([`Trace`]); there only when the array is emitted with it.
///
/// Every output is combinational and describes the current cycle.
#[clocked]
#[derive(LogicBlock)]
pub struct RetireTrace<const LANES: usize> {
    /// Stages S to W move on at this edge.
    pub advance: Signal<In, Bit>,
    /// The instruction that is looked up in stage C.
    pub lookup: Flipped<Lookup>,
    /// Stage D: instruction word.
    pub decode_instruction: Signal<In, Bits<32>>,
    /// An instruction retires.
    pub fire: Signal<In, Bit>,
    /// Warp slot of the instruction.
    pub slot: Signal<In, Bits<5>>,
    /// PC of the instruction.
    pub pc: Signal<In, Bits<32>>,
    /// Lanes that execute the instruction.
    pub active: Signal<In, Bits<LANES>>,
    /// Lanes that execute the instruction and fault.
    pub faulting: Signal<In, Bits<LANES>>,
    /// Cause of the fault.
    pub cause: Signal<In, Bits<5>>,
    /// Destination register.
    pub rd: Signal<In, Bits<5>>,
    /// The destination is written later.
    pub late: Signal<In, Bit>,
    /// The value is an address or a target (`result`), not what is written.
    pub of_address: Signal<In, Bit>,
    /// From each lane: value that a register write takes.
    #[count(LANES)]
    pub written: Vec<Signal<In, Bits<32>>>,
    /// From each lane: result, or address of a load or store, or target of `jalr`.
    #[count(LANES)]
    pub result: Vec<Signal<In, Bits<32>>>,
    /// From each lane: value of `rs2`.
    #[count(LANES)]
    pub store_data: Vec<Signal<In, Bits<32>>>,
    /// Long-latency results are written; their values are those that the lanes write.
    pub late_write: Flipped<LateResult<LANES>>,
    /// To the top.
    pub trace: Trace,
    instruction_r: Register<Bits<32>>,
    instruction_x: Register<Bits<32>>,
    instruction_w: Register<Bits<32>>,
    #[init(Pack::new(32))]
    values: Pack<Bits<32>, 32, 1024>,
    #[init(Pack::new(32))]
    stored: Pack<Bits<32>, 32, 1024>,
    #[init(Pack::new(32))]
    late_values: Pack<Bits<32>, 32, 1024>,
}

impl<const LANES: usize> Logic for RetireTrace<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        if self.advance.val() {
            self.instruction_r.d.next = self.decode_instruction.val();
            self.instruction_x.d.next = self.instruction_r.q.val();
            self.instruction_w.d.next = self.instruction_x.q.val();
        }
        for i in 0..32 {
            self.values.x[i].next = bits::<32>(0);
            self.stored.x[i].next = bits::<32>(0);
            self.late_values.x[i].next = bits::<32>(0);
        }
        for i in 0..LANES {
            self.values.x[i].next = self.written[i].val();
            if self.of_address.val() {
                self.values.x[i].next = self.result[i].val();
            }
            self.stored.x[i].next = self.store_data[i].val();
            self.late_values.x[i].next = self.written[i].val();
        }
        self.trace.fetch.valid.next = self.lookup.enable.val() & self.advance.val();
        self.trace.fetch.slot.next = self.lookup.slot.val();
        self.trace.fetch.pc.next = bit_cast::<32, 30>(self.lookup.word.val()) << bits::<6>(2);
        self.trace.retire.valid.next = self.fire.val();
        self.trace.retire.slot.next = self.slot.val();
        self.trace.retire.pc.next = self.pc.val();
        self.trace.retire.instruction.next = self.instruction_w.q.val();
        self.trace.retire.active.next = bit_cast::<32, LANES>(self.active.val());
        self.trace.retire.faulting.next = bit_cast::<32, LANES>(self.faulting.val());
        self.trace.retire.cause.next = self.cause.val();
        self.trace.retire.rd.next = self.rd.val();
        self.trace.retire.late.next = self.late.val();
        self.trace.retire.value.next = self.values.y.val();
        self.trace.retire.store_data.next = self.stored.y.val();
        self.trace.late.valid.next = self.late_write.valid.val();
        self.trace.late.slot.next = self.late_write.slot.val();
        self.trace.late.rd.next = self.late_write.rd.val();
        self.trace.late.lanes.next = bit_cast::<32, LANES>(self.late_write.lanes.val());
        self.trace.late.value.next = self.late_values.y.val();
    }
}
