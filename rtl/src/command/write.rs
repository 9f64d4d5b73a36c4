//! Stage W: what becomes of an instruction.

use super::{CommandOutcome, CommandResult};
use crate::types::riscv::{cause, csr_access};
use hermes_hdl::prelude::*;

/// Decides about the instruction in stage W: it retires, is replayed, or raises an exception.
///
/// Combinational. Rule C3: what leaves the hart and is not a plain store, and a `fence` with stores
/// before it, waits by replay until the stores of the hart are acknowledged. A load from the L2, an
/// access to a device, an atomic operation and a division are replayed once they are started, and
/// retire with their answer. A load that the data cache has (`hit`) retires at once.
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
    /// The data cache has the value of a load.
    pub hit: Signal<In, Bit>,
    /// No access to a device and no atomic operation is under way, and it is the turn of the hart.
    pub device_free: Signal<In, Bit>,
    /// No division is under way, and it is the turn of the hart.
    pub divide_free: Signal<In, Bit>,
    /// Harts for which an answer waits.
    pub answered: Signal<In, Bits<8>>,
    /// Outcome of the instruction.
    pub outcome: Signal<Out, CommandOutcome>,
    /// The value of the instruction is that of the data cache, if it retires: early, without the
    /// comparison of tags, for what takes the value in stage X.
    pub takes_cached: Signal<Out, Bit>,
    /// Harts whose younger instructions leave the pipeline.
    pub drop: Signal<Out, Bits<8>>,
    /// The hart of an instruction whose younger ones may leave, by its kind alone: early, for the
    /// choice of stage F.
    pub may_drop: Signal<Out, Bits<8>>,
}

impl Logic for CommandWrite {
    #[hdl_gen]
    fn update(&mut self) {
        let instruction = self.result.val();
        let hart = instruction.hart;
        let none = self.stores_none.val().get_bit(hart.index());
        let full = self.stores_full.val().get_bit(hart.index());
        let has_answer = instruction.answered & self.answered.val().get_bit(hart.index());
        let failed = has_answer & instruction.failed;
        let fault = instruction.fault | failed;
        let live = self.valid.val() & self.run.val().get_bit(hart.index());
        let acts = live & !fault;
        let cached = acts & instruction.load & self.hit.val() & !has_answer;
        let asks =
            acts & (instruction.load | instruction.device | instruction.atomic) & !has_answer & !cached;
        let divides = acts & instruction.divide & !has_answer;
        let wait_stores = (asks | (acts & instruction.release)) & !none;
        let wait_place = acts & instruction.store & full;
        let wait_device = asks & (instruction.device | instruction.atomic) & none & !self.device_free.val();
        let wait_divide = divides & !self.divide_free.val();
        let load = asks & instruction.load & none;
        let device = asks & instruction.device & none & self.device_free.val();
        let atomic = asks & instruction.atomic & none & self.device_free.val();
        let divide = divides & self.divide_free.val();
        let starts = load | device | atomic | divide;
        let replay = wait_stores | wait_place | wait_device | wait_divide | starts;
        let retire = acts & !replay;
        let mut cause = instruction.cause;
        if failed {
            cause = bits::<5>(cause::LOAD_ACCESS_FAULT);
            if instruction.device_write {
                cause = bits::<5>(cause::STORE_ACCESS_FAULT);
            }
        }
        let restart =
            retire & (instruction.refetch | instruction.csr_write | instruction.monitor | instruction.sleep);
        let exception = live & fault;
        // mtval: the word, the PC, nothing, else the address.
        let mut value = instruction.address;
        if cause == bits::<5>(cause::ILLEGAL_INSTRUCTION) {
            value = instruction.word;
        }
        if (cause == bits::<5>(cause::INSTRUCTION_ACCESS_FAULT)) | (cause == bits::<5>(cause::BREAKPOINT)) {
            value = bit_cast::<32, 30>(instruction.pc) << bits::<6>(2);
        }
        if cause == bits::<5>(cause::ECALL) {
            value = bits::<32>(0);
        }

        // What a CSR is written with
        let mut written = instruction.address;
        if instruction.word.get_bits::<2>(12) == bits::<2>(csr_access::SET) {
            written = instruction.value | instruction.address;
        }
        if instruction.word.get_bits::<2>(12) == bits::<2>(csr_access::CLEAR) {
            written = instruction.value & !instruction.address;
        }

        self.takes_cached.next = instruction.load & !has_answer;
        self.outcome.next.live = live;
        self.outcome.next.retire = retire;
        self.outcome.next.write = retire & instruction.rd.any();
        self.outcome.next.store = retire & instruction.store;
        self.outcome.next.refetch = retire & instruction.refetch;
        self.outcome.next.restart = restart;
        self.outcome.next.changes = retire
            & (instruction.csr_write | instruction.monitor | instruction.leave | instruction.trap_return);
        self.outcome.next.wait_stores = wait_stores;
        self.outcome.next.wait_place = wait_place;
        self.outcome.next.wait_device = wait_device;
        self.outcome.next.wait_divide = wait_divide;
        self.outcome.next.starts = starts;
        self.outcome.next.load = load;
        self.outcome.next.device = device;
        self.outcome.next.atomic = atomic;
        self.outcome.next.divide = divide;
        self.outcome.next.cached = cached;
        self.outcome.next.local_store = retire & instruction.local_store;
        self.outcome.next.exception = exception;
        self.outcome.next.breakpoint = exception & (cause == bits::<5>(cause::BREAKPOINT));
        self.outcome.next.cause = cause;
        self.outcome.next.value = value;
        self.outcome.next.csr_value = written;
        let kind = instruction.load
            | instruction.device
            | instruction.atomic
            | instruction.divide
            | instruction.release
            | instruction.refetch
            | instruction.csr_write
            | instruction.monitor
            | instruction.sleep
            | instruction.fault;
        self.may_drop.next = bits::<8>(0);
        if self.valid.val() & kind {
            self.may_drop.next = bits::<8>(1) << hart;
        }
        self.drop.next = bits::<8>(0);
        if replay | restart | exception {
            self.drop.next = bits::<8>(1) << hart;
        }
    }
}
