//! Interrupts of the command processor.

use super::offset;
use crate::ports::{RegisterAnswer, RegisterRequest};
use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// The registers of [`CommandInterrupts`].
#[register_block(CommandInterruptDecoder, part = CommandProcessor)]
pub struct CommandInterruptAccess {
    /// Bits 7:0: software interrupt (msip) of hart n. Bits 31:16: sets these bits of
    /// CP_IRQ_PENDING.
    #[register("CP_DOORBELL", 0x30c)]
    #[fields(harts[7:0], user[31:16])]
    pub ring: WriteOnly<32>,
    /// Events for the command processor. Bit 0: a fault record; 2: a slot of the thread spawner is
    /// free; 3: an error that SPAWN_ERRORS counts; 4: MAILBOX_IN is full; 5: COMMITTED_PACKETS
    /// reached COMMIT_WATERMARK; 7: a byte for CONSOLE_IN; 31:16: CP_DOORBELL. Writing 1 clears a
    /// bit (of bit 4: MAILBOX_IN is read), unless its event comes in the same cycle.
    #[register("CP_IRQ_PENDING", 0x310)]
    #[state(pending[31:0])]
    pub clear: Strobe<32>,
    /// Bits of CP_IRQ_PENDING that raise the external interrupt of hart 0. Zero for harts that are
    /// not there, as the next.
    #[register("CP_IRQ_ENABLE_0", 0x320, access = ReadWrite)]
    pub enable_0: Strobe<32>,
    /// Bits of CP_IRQ_PENDING that raise the external interrupt of hart 1.
    #[register("CP_IRQ_ENABLE_1", 0x324, access = ReadWrite)]
    pub enable_1: Strobe<32>,
    /// Bits of CP_IRQ_PENDING that raise the external interrupt of hart 2.
    #[register("CP_IRQ_ENABLE_2", 0x328, access = ReadWrite)]
    pub enable_2: Strobe<32>,
    /// Bits of CP_IRQ_PENDING that raise the external interrupt of hart 3.
    #[register("CP_IRQ_ENABLE_3", 0x32c, access = ReadWrite)]
    pub enable_3: Strobe<32>,
    /// Bits of CP_IRQ_PENDING that raise the external interrupt of hart 4.
    #[register("CP_IRQ_ENABLE_4", 0x330, access = ReadWrite)]
    pub enable_4: Strobe<32>,
    /// Bits of CP_IRQ_PENDING that raise the external interrupt of hart 5.
    #[register("CP_IRQ_ENABLE_5", 0x334, access = ReadWrite)]
    pub enable_5: Strobe<32>,
    /// Bits of CP_IRQ_PENDING that raise the external interrupt of hart 6.
    #[register("CP_IRQ_ENABLE_6", 0x338, access = ReadWrite)]
    pub enable_6: Strobe<32>,
    /// Bits of CP_IRQ_PENDING that raise the external interrupt of hart 7.
    #[register("CP_IRQ_ENABLE_7", 0x33c, access = ReadWrite)]
    pub enable_7: Strobe<32>,
}

/// The bits of CP_IRQ_PENDING that have an event.
const IMPLEMENTED: u64 = 0xffff_00bd;

/// The events of the command processor, and who of its harts is interrupted by them.
///
/// 1. A bit of `set` sets that bit of CP_IRQ_PENDING at the edge; a write clears bits; an event
///    goes before a write. `clear` has the bits that are cleared at this edge.
/// 2. `external` has a bit for each hart: one of the pending bits is enabled for it. It follows
///    from registers alone.
/// 3. `events` has the bits that were set at the last edge, also those that were set already.
///    `doorbell` is high for one cycle, the one after a write of CP_DOORBELL; the upper bits of
///    that write are pending a cycle later.
#[clocked("nothing is pending or enabled")]
#[derive(Clone, LogicBlock)]
#[new(harts: usize)]
pub struct CommandInterrupts {
    /// From the bus.
    pub request: RegisterRequest,
    /// To the bus, in the same cycle.
    pub answer: RegisterAnswer,
    /// Events; bits that CP_IRQ_PENDING does not have do not count.
    pub set: Signal<In, Bits<16>>,
    /// Bits of CP_IRQ_PENDING that are cleared at this edge.
    pub clear: Signal<Out, Bits<32>>,
    /// A bit for each hart: external interrupt.
    pub external: Signal<Out, Bits<8>>,
    /// A bit for each hart: its software interrupt is set.
    pub doorbell: Signal<Out, Bits<8>>,
    /// Bits of CP_IRQ_PENDING that were set at the last edge.
    pub events: Signal<Out, Bits<32>>,
    decoder: CommandInterruptDecoder,
    pending: Register<Bits<32>>,
    set_q: Register<Bits<32>>,
    #[count(harts)]
    enable: Vec<Register<Bits<32>>>,
    #[init((0..harts as u64).map(|hart| Constant::new((u64::from(offset("CP_IRQ_ENABLE_0")) + 4 * hart).into())).collect())]
    at: Vec<Constant<Bits<12>>>,
    #[init(Constant::new(IMPLEMENTED.into()))]
    implemented: Constant<Bits<32>>,
    #[init(harts)]
    _harts: usize,
}

impl CommandInterrupts {
    /// For `harts` harts.
    ///
    /// # Panics
    /// If `harts` is not 1 to 8.
    pub fn new(harts: usize) -> Self {
        assert!((1..=8).contains(&harts), "CommandInterrupts: {harts} harts, expected 1 to 8");
        Self::wired(harts)
    }
}

impl Logic for CommandInterrupts {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.request, self.decoder.request);
        let written = self.request.data.val() & self.request.mask.val();

        let mut cleared = bits::<32>(0);
        if self.decoder.hardware.clear.val() {
            cleared = written;
        }
        let come = (bit_cast::<32, 16>(self.set.val())
            | (bit_cast::<32, 16>(self.decoder.hardware.user.val()) << bits::<6>(16)))
            & self.implemented.val();
        self.pending.d.next = (self.pending.q.val() & !cleared) | come;
        self.set_q.d.next = come;
        self.decoder.hardware.pending.next = self.pending.q.val();
        self.clear.next = cleared;
        self.events.next = self.set_q.q.val();
        self.doorbell.next = self.decoder.hardware.harts.val();

        let mut value = self.decoder.answer.value.val();
        let mut raised = bits::<8>(0);
        for h in 0..self._harts {
            raised = raised.replace_bit(h, (self.pending.q.val() & self.enable[h].q.val()).any());
            if self.request.address.val() == self.at[h].val() {
                value = self.enable[h].q.val();
                if self.request.write.val() {
                    self.enable[h].d.next = ((self.enable[h].q.val() & !self.request.mask.val()) | written)
                        & self.implemented.val();
                }
            }
        }
        self.external.next = raised;
        self.answer.known.next = self.decoder.answer.known.val();
        self.answer.value.next = value;
        self.answer.delay.next = false;
    }
}
