//! Stage W: what becomes of an instruction.

use super::CommandResult;
use crate::prelude::*;

/// Decides about the instruction in stage W: it retires, is replayed, or stops its hart.
///
/// Combinational. Rule C3: what leaves the hart and is not a plain store, and a `fence` with stores
/// before it, waits by replay until the stores of the hart are acknowledged. A load is replayed
/// once its request is made, and retires with its answer.
#[derive(LogicBlock, Default)]
pub struct CommandWrite {
    /// Stage W holds an instruction.
    pub valid: Signal<In, Bit>,
    /// The instruction.
    pub result: Signal<In, CommandResult>,
    /// Harts that run; instructions of the others leave without effect.
    pub run: Signal<In, Bits<8>>,
    /// Harts that have no store outstanding.
    pub stores_none: Signal<In, Bits<8>>,
    /// Harts that have as many stores outstanding as they may.
    pub stores_full: Signal<In, Bits<8>>,
    /// Harts for which the answer of a load waits.
    pub answered: Signal<In, Bits<8>>,
    /// There is an instruction, and its hart runs.
    pub live: Signal<Out, Bit>,
    /// It retires.
    pub retire: Signal<Out, Bit>,
    /// Its value is written to its register.
    pub write: Signal<Out, Bit>,
    /// Its store goes to the store buffer.
    pub store: Signal<Out, Bit>,
    /// It retires, empties the instruction cache, and what comes after it is fetched again.
    pub refetch: Signal<Out, Bit>,
    /// It retires, and what comes after it is fetched again: a write of a CSR, EMONITOR.
    pub restart: Signal<Out, Bit>,
    /// It is replayed when no store of its hart is outstanding.
    pub wait_stores: Signal<Out, Bit>,
    /// It is replayed when there is a place for its store.
    pub wait_place: Signal<Out, Bit>,
    /// Its load starts; it is replayed when the answer is here.
    pub load: Signal<Out, Bit>,
    /// It raises an exception, which stops its hart.
    pub stop: Signal<Out, Bit>,
    /// Cause of the exception.
    pub cause: Signal<Out, Bits<5>>,
    /// Harts whose younger instructions leave the pipeline.
    pub drop: Signal<Out, Bits<8>>,
}

impl Logic for CommandWrite {
    #[hdl_gen]
    fn update(&mut self) {
        let hart = self.result.val().hart;
        let none = self.stores_none.val().get_bit(hart.index());
        let full = self.stores_full.val().get_bit(hart.index());
        let has_answer = self.result.val().answered & self.answered.val().get_bit(hart.index());
        let failed = has_answer & self.result.val().failed;
        let fault = self.result.val().fault | failed;
        let asks = self.result.val().load & !has_answer;
        self.live.next = self.valid.val() & self.run.val().get_bit(hart.index());
        let acts = self.live.val() & !fault;
        self.wait_stores.next = acts & (asks | self.result.val().release) & !none;
        self.wait_place.next = acts & self.result.val().store & full;
        self.load.next = acts & asks & none;
        self.retire.next = acts & !self.wait_stores.val() & !self.wait_place.val() & !self.load.val();
        self.write.next = self.retire.val() & self.result.val().rd.any();
        self.store.next = self.retire.val() & self.result.val().store;
        self.refetch.next = self.retire.val() & self.result.val().refetch;
        self.restart.next = self.retire.val() & (self.result.val().csr_write | self.result.val().monitor);
        self.stop.next = self.live.val() & fault;
        self.cause.next = self.result.val().cause;
        if failed {
            self.cause.next = bits::<5>(5);
        }
        let replay = self.wait_stores.val() | self.wait_place.val() | self.load.val();
        self.drop.next = bits::<8>(0);
        if replay | self.refetch.val() | self.restart.val() | self.stop.val() {
            self.drop.next = bits::<8>(1) << hart;
        }
    }
}
