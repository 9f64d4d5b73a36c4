//! The network interface.

use super::{
    FrameBuffer, FrameBuilder, FrameCheck, InlinePut, NetIdentity, PayloadWriter, QueuePairs, Receiver,
};
use crate::ports::LineWrite;
use crate::prelude::*;

/// What the host's registers say to the network interface, and what it answers.
#[derive(Ports)]
pub struct NetControl {
    /// Frames are taken; else they are dropped.
    pub enable: Signal<In, Bit>,
    /// Who we are; constant while `enable` is high.
    pub identity: Signal<In, NetIdentity>,
    /// A word of the table of queue pairs is written.
    pub write: Signal<In, Bit>,
    /// Its row.
    pub write_pair: Signal<In, Bits<4>>,
    /// Its number in the row.
    pub write_word: Signal<In, Bits<4>>,
    /// Its value.
    pub write_value: Signal<In, Bits<32>>,
    /// It is not written in this cycle, and comes again.
    pub write_waits: Signal<Out, Bit>,
    /// It is not written: the queue pair is up.
    pub write_refused: Signal<Out, Bit>,
    /// A queue pair changes its state.
    pub set_state: Signal<In, Bit>,
    /// Which one.
    pub state_pair: Signal<In, Bits<4>>,
    /// It goes up; else it is reset.
    pub up: Signal<In, Bit>,
    /// A command is posted.
    pub post: Signal<In, Bit>,
    /// For this queue pair.
    pub post_pair: Signal<In, Bits<4>>,
    /// Its sixteen words, word 0 in bits 31:0.
    pub stage: Signal<In, Bits<512>>,
    /// A command is under way: another one is not taken.
    pub post_busy: Signal<Out, Bit>,
    /// A command failed, for one cycle.
    pub failed: Signal<Out, Bit>,
    /// Why, as in [`InlinePut`].
    pub code: Signal<Out, Bits<8>>,
    // Events, one cycle each
    /// A frame was sent.
    pub frame_out: Signal<Out, Bit>,
    /// The writes of a frame that came are performed, and of all before.
    pub performed: Signal<Out, Bit>,
    /// A frame that came found no room.
    pub no_room: Signal<Out, Bit>,
    /// A frame was dropped: why, as in [`cause`](super::cause); 0: none was.
    pub cause: Signal<Out, Bits<3>>,
    /// A frame was dropped that is for no queue pair that is up.
    pub unknown: Signal<Out, Bit>,
    /// A frame was dropped that its queue pair does not expect.
    pub refused: Signal<Out, Bit>,
}

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
    /// A beat is offered, and taken.
    pub rx_tvalid: Signal<In, Bit>,
    /// Its bytes, the first in bits 7:0.
    pub rx_tdata: Signal<In, Bits<512>>,
    /// Which of them count, the first in bit 0.
    pub rx_tkeep: Signal<In, Bits<64>>,
    /// It is the last beat of its frame.
    pub rx_tlast: Signal<In, Bit>,
    /// Bit 31 in the last beat: the frame is damaged.
    pub rx_tuser: Signal<In, Bits<32>>,
    /// A beat is offered.
    pub tx_tvalid: Signal<Out, Bit>,
    /// It is taken at this edge.
    pub tx_tready: Signal<In, Bit>,
    /// Its bytes, the first in bits 7:0.
    pub tx_tdata: Signal<Out, Bits<512>>,
    /// Which of them count, the first in bit 0.
    pub tx_tkeep: Signal<Out, Bits<64>>,
    /// It is the last beat of its frame.
    pub tx_tlast: Signal<Out, Bit>,
    /// To memory.
    pub write: LineWrite,
    pairs: QueuePairs,
    put: InlinePut,
    builder: FrameBuilder,
    buffer: FrameBuffer,
    check: FrameCheck,
    receiver: Receiver,
    writer: PayloadWriter,
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
        connect!(self.control.write, self.pairs.write);
        connect!(self.control.write_pair, self.pairs.write_pair);
        connect!(self.control.write_word, self.pairs.write_word);
        connect!(self.control.write_value, self.pairs.write_value);
        connect!(self.control.write_waits, self.pairs.waits);
        connect!(self.control.write_refused, self.pairs.refused);
        connect!(self.control.set_state, self.pairs.set_state);
        connect!(self.control.state_pair, self.pairs.state_pair);
        connect!(self.control.up, self.pairs.up);

        // Sending
        connect!(self.control.post, self.put.post);
        connect!(self.control.post_pair, self.put.pair);
        connect!(self.control.stage, self.put.stage);
        connect!(self.control.post_busy, self.put.busy);
        connect!(self.control.failed, self.put.failed);
        connect!(self.control.code, self.put.code);
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
        connect!(self.tx_tvalid, self.builder.tx_tvalid);
        connect!(self.tx_tready, self.builder.tx_tready);
        connect!(self.tx_tdata, self.builder.tx_tdata);
        connect!(self.tx_tkeep, self.builder.tx_tkeep);
        connect!(self.tx_tlast, self.builder.tx_tlast);
        self.control.frame_out.next = self.builder.sent.val();

        // Receiving: whole frames from `enable` on
        let takes =
            self.rx_tvalid.val() && !self.skips.q.val() && (self.inside.q.val() || self.control.enable.val());
        if self.rx_tvalid.val() {
            self.inside.d.next = takes && !self.rx_tlast.val();
            self.skips.d.next = !takes && !self.rx_tlast.val();
        }
        self.buffer.rx_tvalid.next = takes;
        connect!(self.rx_tdata, self.buffer.rx_tdata);
        connect!(self.rx_tkeep, self.buffer.rx_tkeep);
        connect!(self.rx_tlast, self.buffer.rx_tlast);
        connect!(self.rx_tuser, self.buffer.rx_tuser);
        self.control.no_room.next = self.buffer.dropped.val();
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
        self.control.cause.next = self.receiver.cause.val();
        self.control.unknown.next = self.receiver.unknown.val();
        self.control.refused.next = self.receiver.refused.val();
        self.control.performed.next = self.writer.performed.val();

        connect!(self.write, self.writer.write);
    }
}

#[cfg(test)]
#[path = "net_interface_tests.rs"]
mod tests;
