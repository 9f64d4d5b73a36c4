//! The two masters of the registers.

use super::registers::offset;
use crate::ports::{RegisterAccess, RegisterAnswer, RegisterRequest};
use hermes_hdl::prelude::*;

/// Lets the host and the command processor access the registers, one of them in a cycle.
///
/// 1. An access of the processor is performed in the first cycle of `access.valid`, or in the next
///    one if an access of the processor was in the cycle before. So the host has every other cycle
///    at least; in the processor's cycles `hold` keeps the AXI4-Lite slave from an access.
/// 2. `access.done` and the answer are in the cycle of the access. A write that the registers delay
///    is tried again two cycles later. A read is never delayed.
/// 3. A write of the processor to TASK_PUSH does not reach the registers and is not `known`:
///    nothing that waits for a FIFO can hold the processor. A write of the host to TASK_PUSH that
///    is delayed does not hold it either.
/// 4. A write of the processor writes the whole word. An access that is withdrawn before `done` was
///    not performed, but for the tries of a write that the registers delayed, which have no effect.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct RegisterPort {
    /// From the AXI4-Lite slave.
    pub host: RegisterRequest,
    /// To the AXI4-Lite slave: the answer, in a cycle in which it has an access.
    pub host_answer: RegisterAnswer,
    /// To the AXI4-Lite slave: no access of the host in this cycle.
    pub hold: Signal<Out, Bit>,
    /// From the command processor.
    pub access: RegisterAccess,
    /// To the registers.
    pub request: Flipped<RegisterRequest>,
    /// From the registers.
    pub answer: Flipped<RegisterAnswer>,
    /// To the registers: the access of this cycle is one of the processor.
    pub by_command: Signal<Out, Bit>,
    /// To the registers: the access of the cycle before was one of the processor, and made the
    /// events of this cycle.
    pub was_by_command: Signal<Out, Bit>,
    turn_q: Register<Bit>,
    #[init(Constant::new(u64::from(offset("TASK_PUSH")).into()))]
    task_push: Constant<Bits<12>>,
}

impl Logic for RegisterPort {
    #[hdl_gen]
    fn update(&mut self) {
        let turn = self.access.valid.val() & !self.turn_q.q.val();
        self.turn_q.d.next = turn;
        self.hold.next = turn;
        self.by_command.next = turn;
        self.was_by_command.next = self.turn_q.q.val();

        let refused = self.access.write.val() & (self.access.address.val() == self.task_push.val());
        self.request.address.next = self.host.address.val();
        self.request.read.next = self.host.read.val();
        self.request.write.next = self.host.write.val();
        self.request.data.next = self.host.data.val();
        self.request.mask.next = self.host.mask.val();
        if turn {
            self.request.address.next = self.access.address.val();
            self.request.read.next = !self.access.write.val();
            self.request.write.next = self.access.write.val() & !refused;
            self.request.data.next = self.access.data.val();
            self.request.mask.next = !bits::<32>(0);
        }

        self.host_answer.known.next = self.answer.known.val();
        self.host_answer.value.next = self.answer.value.val();
        self.host_answer.delay.next = self.answer.delay.val();
        self.access.done.next = turn & (!self.access.write.val() | refused | !self.answer.delay.val());
        self.access.known.next = self.answer.known.val() & !refused;
        self.access.value.next = self.answer.value.val();
    }
}

#[cfg(test)]
#[path = "register_port_tests.rs"]
mod tests;
