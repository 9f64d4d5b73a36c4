//! Progress of the packets, for the command processor.

use super::offset;
use crate::ports::{RegisterAnswer, RegisterRequest};
use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// The registers of [`PacketWatch`].
#[register_block(PacketWatchDecoder, part = CommandProcessor)]
pub struct PacketWatchAccess {
    /// Sets bit 5 of CP_IRQ_PENDING and bit 4 of HOST_IRQ_PENDING when COMMITTED_PACKETS reaches
    /// it, or has when it is written: when it is at most 2^31 - 1 behind, modulo 2^32.
    #[register("COMMIT_WATERMARK", 0x314)]
    pub watermark: ReadWrite<32>,
    /// Packets pushed and not issued: those in the task FIFO and PENDING.
    #[register("BACKLOG", 0x31c)]
    pub backlog: ReadOnly<32>,
}

/// Counts the packets that wait for a core, and compares those committed with a watermark.
///
/// 1. `reached` is high for one cycle: the one after that in which `committed` is the first value
///    that has reached the watermark, and the one after a write of a watermark that is reached.
/// 2. BACKLOG shows what was pushed and issued up to two cycles ago.
#[clocked("no packets; the watermark 0 was reached")]
#[derive(Clone, LogicBlock)]
pub struct PacketWatch {
    /// From the bus.
    pub request: RegisterRequest,
    /// To the bus, in the same cycle.
    pub answer: RegisterAnswer,
    /// Packets are pushed.
    pub push: Signal<In, Bit>,
    /// So many.
    pub push_count: Signal<In, Bits<32>>,
    /// Packets are issued.
    pub issue: Signal<In, Bit>,
    /// So many.
    pub issue_count: Signal<In, Bits<6>>,
    /// Packets committed, modulo 2^32.
    pub committed: Signal<In, Bits<32>>,
    /// The watermark is reached.
    pub reached: Signal<Out, Bit>,
    decoder: PacketWatchDecoder,
    backlog: Register<Bits<32>>,
    pushed: Register<Bits<32>>,
    issued: Register<Bits<6>>,
    #[init(Register::new(true))]
    is_there: Register<Bit>,
    fires: Register<Bit>,
    written: Register<Bit>,
    #[init(Constant::new(u64::from(offset("COMMIT_WATERMARK")).into()))]
    at: Constant<Bits<12>>,
}

impl Logic for PacketWatch {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.request, self.decoder.request);
        connect!(self.answer, self.decoder.answer);

        self.pushed.d.next = bits::<32>(0);
        if self.push.val() {
            self.pushed.d.next = self.push_count.val();
        }
        self.issued.d.next = bits::<6>(0);
        if self.issue.val() {
            self.issued.d.next = self.issue_count.val();
        }
        self.backlog.d.next =
            self.backlog.q.val() + self.pushed.q.val() - bit_cast::<32, 6>(self.issued.q.val());
        self.decoder.hardware.backlog.next = self.backlog.q.val();

        self.written.d.next = self.request.write.val() & (self.request.address.val() == self.at.val());
        let there = !(self.committed.val() - self.decoder.hardware.watermark.val()).get_bit(31);
        self.is_there.d.next = there;
        self.fires.d.next = there & (!self.is_there.q.val() | self.written.q.val());
        self.reached.next = self.fires.q.val();
    }
}
