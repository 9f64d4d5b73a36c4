//! Interrupts of the host.

use crate::ports::{RegisterAnswer, RegisterRequest};
use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// The registers of [`HostInterrupts`].
#[register_block(HostInterruptDecoder, part = CommandProcessor)]
pub struct HostInterruptAccess {
    /// Events for the host. Bit 0: raised by the command processor; 1: a fault record; 2: a hart is
    /// locked up; 3: MAILBOX_OUT is full; 4: COMMITTED_PACKETS reached COMMIT_WATERMARK; 5: an
    /// error that SPAWN_ERRORS counts; 6: the firmware has ended; 8: a hart stopped; 9: a byte for
    /// CONSOLE. Writing 1 clears a bit (of bit 3: MAILBOX_OUT is read), unless its event comes in
    /// the same cycle.
    #[register("HOST_IRQ_PENDING", 0x364)]
    #[state(pending[9:0])]
    pub clear: Strobe<10>,
    /// Bits of HOST_IRQ_PENDING that raise the output `irq`.
    #[register("HOST_IRQ_ENABLE", 0x368, reserved = 0x80)]
    pub enable: ReadWrite<10>,
    /// The command processor sets bits 0 and 6 of HOST_IRQ_PENDING by writing 1. A write of the
    /// host has no effect.
    #[register("HOST_IRQ_RAISE", 0x36c)]
    pub raise: Strobe<7>,
}

/// The events of the host, and the interrupt that they raise.
///
/// 1. A bit of `set` sets that bit of HOST_IRQ_PENDING at the edge; a write clears bits; an event
///    goes before a write. `clear` has the bits that are cleared at this edge.
/// 2. `irq` is high while a pending bit is enabled. It follows from registers alone.
#[clocked("nothing is pending or enabled")]
#[derive(Clone, LogicBlock, Default)]
pub struct HostInterrupts {
    /// From the bus.
    pub request: RegisterRequest,
    /// To the bus, in the same cycle.
    pub answer: RegisterAnswer,
    /// The access is one of the command processor.
    pub by_command: Signal<In, Bit>,
    /// Events: bits 1 to 5, 8 and 9.
    pub set: Signal<In, Bits<10>>,
    /// Bits of HOST_IRQ_PENDING that are cleared at this edge.
    pub clear: Signal<Out, Bits<10>>,
    /// To the host: interrupt.
    pub irq: Signal<Out, Bit>,
    decoder: HostInterruptDecoder,
    pending: Register<Bits<10>>,
}

impl Logic for HostInterrupts {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.request, self.decoder.request);
        connect!(self.answer, self.decoder.answer);
        let written = (self.request.data.val() & self.request.mask.val()).get_bits::<10>(0);
        let mut cleared = bits::<10>(0);
        if self.decoder.hardware.clear.val() {
            cleared = written;
        }
        let mut raised = bits::<10>(0);
        if self.decoder.hardware.raise.val() & self.by_command.val() {
            raised = written & bits::<10>(0x041);
        }
        let come = raised | (self.set.val() & bits::<10>(0x33e));
        self.pending.d.next = (self.pending.q.val() & !cleared) | come;
        self.decoder.hardware.pending.next = self.pending.q.val();
        self.clear.next = cleared;
        self.irq.next = (self.pending.q.val() & self.decoder.hardware.enable.val()).any();
    }
}
