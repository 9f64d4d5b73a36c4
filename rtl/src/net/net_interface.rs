//! The network interface.

use super::{
    FrameBuffer, FrameBuilder, FrameCheck, InlinePut, NetCounters, PayloadWriter, QueuePairs, Receiver,
};
use crate::host::registers::network::NetControl;
use crate::ports::{LineWrite, StreamIn, StreamOut};
use crate::prelude::*;

/// A network interface for RoCEv2: puts of the host leave as frames, and frames of peers are written to memory.
///
/// 1. It has an AXI4-Stream pair of its own, and takes every beat that is offered: what finds no room is dropped.
/// 2. A put is posted as [`InlinePut`] says, and its frame built as [`FrameBuilder`] says.
/// 3. A frame that comes is stored whole ([`FrameBuffer`]), judged ([`FrameCheck`], [`Receiver`]), and its payload written ([`PayloadWriter`]).
/// 4. To memory it is one requester, which writes.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct NetInterface {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// From and to the registers.
    pub control: NetControl,
    /// Frames of peers.
    pub rx: StreamIn,
    /// Frames for peers.
    pub tx: StreamOut,
    /// To memory.
    pub write: LineWrite,
    /// What happened in this cycle, for traces: bit n counts in counter n ([`counter`](super::counter)).
    pub events: Signal<Out, Bits<18>>,
    pairs: QueuePairs,
    put: InlinePut,
    builder: FrameBuilder,
    buffer: FrameBuffer,
    check: FrameCheck,
    receiver: Receiver,
    writer: PayloadWriter,
    counters: NetCounters,
    /// A frame comes that began while `enable` was low: the rest of it is not taken either.
    skips: Register<Bit>,
    /// A frame comes whose first beat was taken.
    inside: Register<Bit>,
}

impl Logic for NetInterface {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.control.identity, self.builder.identity);
        connect!(self.control.identity, self.check.identity);

        // Queue pairs
        connect!(self.control.table, self.pairs.table);
        connect!(self.control.set_state, self.pairs.set_state);
        connect!(self.control.state_pair, self.pairs.state_pair);
        connect!(self.control.up, self.pairs.up);

        // Sending
        connect!(self.control.post, self.put.post);
        connect!(self.control.post_pair, self.put.pair);
        connect!(self.control.stage, self.put.stage);
        self.control.post_refused.next = self.put.busy.val();
        connect!(self.control.failed, self.put.failed);
        connect!(self.control.code, self.put.code);
        connect!(self.put.sends, self.pairs.sends);
        connect!(self.put.send_pair, self.pairs.send_pair);
        connect!(self.pairs.send, self.put.send);
        connect!(self.put.sent, self.pairs.sent);
        connect!(self.put.head_valid, self.builder.head_valid);
        connect!(self.put.head, self.builder.head);
        connect!(self.put.line_valid, self.builder.line_valid);
        connect!(self.put.line_data, self.builder.line_data);
        self.put.head_ready.next = self.builder.head_ready.val();
        self.put.line_ready.next = self.builder.line_ready.val();
        self.builder.line_error.next = false;
        connect!(self.tx.tvalid, self.builder.tx_tvalid);
        connect!(self.tx.tready, self.builder.tx_tready);
        connect!(self.tx.tdata, self.builder.tx_tdata);
        connect!(self.tx.tkeep, self.builder.tx_tkeep);
        connect!(self.tx.tlast, self.builder.tx_tlast);
        self.tx.tuser.next = bits::<32>(0);

        // Receiving: whole frames from `enable` on
        let takes =
            self.rx.tvalid.val() && !self.skips.q.val() && (self.inside.q.val() || self.control.enable.val());
        if self.rx.tvalid.val() {
            self.inside.d.next = takes && !self.rx.tlast.val();
            self.skips.d.next = !takes && !self.rx.tlast.val();
        }
        self.buffer.rx_tvalid.next = takes;
        connect!(self.rx.tdata, self.buffer.rx_tdata);
        connect!(self.rx.tkeep, self.buffer.rx_tkeep);
        connect!(self.rx.tlast, self.buffer.rx_tlast);
        connect!(self.rx.tuser, self.buffer.rx_tuser);
        self.rx.tready.next = true;
        connect!(self.buffer.stored_valid, self.check.stored_valid);
        connect!(self.buffer.stored, self.check.stored);
        connect!(self.check.stored_take, self.buffer.stored_take);

        // One read port for both: the check goes first, which reads in one of four cycles.
        self.buffer.read_enable.next = self.check.read_enable.val() || self.writer.read_enable.val();
        self.buffer.read_beat.next = self.writer.read_beat.val();
        if self.check.read_enable.val() {
            self.buffer.read_beat.next = self.check.read_beat.val();
        }
        self.check.read_ready.next = true;
        self.writer.read_ready.next = !self.check.read_enable.val();
        connect!(self.buffer.read_data, self.check.read_data);
        connect!(self.buffer.read_data, self.writer.read_data);

        connect!(self.check.checked_valid, self.receiver.checked_valid);
        connect!(self.check.checked, self.receiver.checked);
        connect!(self.receiver.checked_take, self.check.checked_take);
        connect!(self.receiver.receives, self.pairs.receives);
        connect!(self.receiver.receive_pair, self.pairs.receive_pair);
        connect!(self.pairs.receive_up, self.receiver.receive_up);
        connect!(self.pairs.receive_ip, self.receiver.receive_ip);
        connect!(self.pairs.expected, self.receiver.expected);
        connect!(self.receiver.received, self.pairs.received);
        connect!(self.receiver.place_valid, self.writer.place_valid);
        connect!(self.receiver.place, self.writer.place);
        connect!(self.writer.place_ready, self.receiver.place_ready);
        connect!(self.receiver.free_valid, self.buffer.free_valid);
        connect!(self.receiver.free_beats, self.buffer.free_beats);
        connect!(self.write, self.writer.write);

        // Counters
        let mut happened = bits::<18>(0)
            .replace_bit(0, self.builder.sent.val())
            .replace_bit(1, self.writer.performed.val())
            .replace_bit(2, self.put.failed.val())
            .replace_bit(8, self.buffer.dropped.val())
            .replace_bit(16, self.receiver.unknown.val())
            .replace_bit(17, self.receiver.refused.val());
        for i in 0..7 {
            happened = happened.replace_bit(9 + i, self.receiver.cause.val() == bits::<3>(1 + i as u64));
        }
        self.counters.events.next = happened;
        self.events.next = happened;
        connect!(self.control.counter_select, self.counters.select);
        connect!(self.control.counter, self.counters.value);
    }
}

#[cfg(test)]
#[path = "net_interface_tests.rs"]
mod tests;
