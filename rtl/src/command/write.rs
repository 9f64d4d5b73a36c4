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
        let live = self.valid.val() & self.run.val().get_bit(hart.index());
        let none = self.stores_none.val().get_bit(hart.index());
        let full = self.stores_full.val().get_bit(hart.index());
        let answered = self.result.val().answered & self.answered.val().get_bit(hart.index());
        let failed = answered & self.result.val().failed;
        let fault = self.result.val().fault | failed;
        let asks = self.result.val().load & !answered;
        let acts = live & !fault;
        let wait_stores = acts & (asks | self.result.val().release) & !none;
        let wait_place = acts & self.result.val().store & full;
        let load = acts & asks & none;
        let retire = acts & !wait_stores & !wait_place & !load;
        let refetch = retire & self.result.val().refetch;
        let stop = live & fault;
        self.live.next = live;
        self.retire.next = retire;
        self.write.next = retire & self.result.val().rd.any();
        self.store.next = retire & self.result.val().store;
        self.refetch.next = refetch;
        self.wait_stores.next = wait_stores;
        self.wait_place.next = wait_place;
        self.load.next = load;
        self.stop.next = stop;
        self.cause.next = self.result.val().cause;
        if failed {
            self.cause.next = bits::<5>(5);
        }
        self.drop.next = bits::<8>(0);
        if wait_stores | wait_place | load | refetch | stop {
            self.drop.next = bits::<8>(1) << hart;
        }
    }
}
