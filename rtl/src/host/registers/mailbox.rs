//! The two mailboxes between the host and the command processor.

use super::offset;
use crate::ports::{RegisterAnswer, RegisterRequest};
use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// The registers of [`Mailbox`].
#[register_block(MailboxDecoder, part = CommandProcessor)]
pub struct MailboxAccess {
    /// Word 0 of the mailbox to the command processor. The host's write of it makes the mailbox
    /// full (bit 28 of CP_STATUS, bit 4 of CP_IRQ_PENDING): write it last. While the mailbox is
    /// full, and by the processor, its words are not written. Clearing bit 4 of CP_IRQ_PENDING
    /// makes it empty.
    #[register("MAILBOX_IN_0", 0x340, access = ReadWrite)]
    pub in_0: Strobe<32>,
    /// Word 1 of the mailbox to the command processor.
    #[register("MAILBOX_IN_1", 0x344, access = ReadWrite)]
    pub in_1: Strobe<32>,
    /// Word 2 of the mailbox to the command processor.
    #[register("MAILBOX_IN_2", 0x348, access = ReadWrite)]
    pub in_2: Strobe<32>,
    /// Word 3 of the mailbox to the command processor.
    #[register("MAILBOX_IN_3", 0x34c, access = ReadWrite)]
    pub in_3: Strobe<32>,
    /// Word 0 of the mailbox to the host. The processor's write of it makes the mailbox full (bit
    /// 29 of CP_STATUS, bit 3 of HOST_IRQ_PENDING): write it last. While the mailbox is full, and
    /// by the host, its words are not written. Clearing bit 3 of HOST_IRQ_PENDING makes it empty.
    #[register("MAILBOX_OUT_0", 0x350, access = ReadWrite)]
    pub out_0: Strobe<32>,
    /// Word 1 of the mailbox to the host.
    #[register("MAILBOX_OUT_1", 0x354, access = ReadWrite)]
    pub out_1: Strobe<32>,
    /// Word 2 of the mailbox to the host.
    #[register("MAILBOX_OUT_2", 0x358, access = ReadWrite)]
    pub out_2: Strobe<32>,
    /// Word 3 of the mailbox to the host.
    #[register("MAILBOX_OUT_3", 0x35c, access = ReadWrite)]
    pub out_3: Strobe<32>,
}

/// Two mailboxes of four words: MAILBOX_IN from the host to the command processor, MAILBOX_OUT
/// back.
///
/// 1. The sender of a mailbox writes its words while it is empty; the write of word 0 makes it
///    full: `in_filled`, `out_filled` in the cycle of that access. Other writes have no effect.
///    Both sides read.
/// 2. `free_in`, `free_out` make a mailbox empty at the edge. The words stay.
/// 3. `in_is_full` and `out_is_full` are registers' values.
#[clocked("both are empty, their words are zero")]
#[derive(Clone, LogicBlock)]
pub struct Mailbox {
    /// From the bus.
    pub request: RegisterRequest,
    /// To the bus, in the same cycle.
    pub answer: RegisterAnswer,
    /// The access is one of the command processor.
    pub by_command: Signal<In, Bit>,
    /// MAILBOX_IN is read.
    pub free_in: Signal<In, Bit>,
    /// MAILBOX_OUT is read.
    pub free_out: Signal<In, Bit>,
    /// MAILBOX_IN becomes full at this edge.
    pub in_filled: Signal<Out, Bit>,
    /// MAILBOX_OUT becomes full at this edge.
    pub out_filled: Signal<Out, Bit>,
    /// MAILBOX_IN is full.
    pub in_is_full: Signal<Out, Bit>,
    /// MAILBOX_OUT is full.
    pub out_is_full: Signal<Out, Bit>,
    in_full: Register<Bit>,
    out_full: Register<Bit>,
    #[count(8)]
    word: Vec<Register<Bits<32>>>,
    #[init((0..8u64).map(|word| Constant::new((u64::from(offset("MAILBOX_IN_0")) + 4 * word).into())).collect())]
    at: Vec<Constant<Bits<12>>>,
}

impl Logic for Mailbox {
    #[hdl_gen]
    fn update(&mut self) {
        let open_in = !self.by_command.val() & !self.in_full.q.val();
        let open_out = self.by_command.val() & !self.out_full.q.val();
        let mut known = false;
        let mut value = bits::<32>(0);
        for i in 0..8 {
            if self.request.address.val() == self.at[i].val() {
                known = true;
                value = self.word[i].q.val();
            }
        }
        let written =
            (value & !self.request.mask.val()) | (self.request.data.val() & self.request.mask.val());
        for i in 0..4 {
            if self.request.write.val() & open_in & (self.request.address.val() == self.at[i].val()) {
                self.word[i].d.next = written;
            }
            if self.request.write.val() & open_out & (self.request.address.val() == self.at[i + 4].val()) {
                self.word[i + 4].d.next = written;
            }
        }

        let fills_in = self.request.write.val() & open_in & (self.request.address.val() == self.at[0].val());
        let fills_out =
            self.request.write.val() & open_out & (self.request.address.val() == self.at[4].val());
        self.in_full.d.next = (self.in_full.q.val() & !self.free_in.val()) | fills_in;
        self.out_full.d.next = (self.out_full.q.val() & !self.free_out.val()) | fills_out;
        self.in_filled.next = fills_in;
        self.out_filled.next = fills_out;

        self.in_is_full.next = self.in_full.q.val();
        self.out_is_full.next = self.out_full.q.val();
        self.answer.known.next = known;
        self.answer.value.next = value;
        self.answer.delay.next = false;
    }
}
