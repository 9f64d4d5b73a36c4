//! Committed packets from the packet ring to an AXI4-Stream.

use super::{FrameSender, SlotReader, VerdictReader};
use crate::host::{EgressCounters, PacketRing};
use crate::ports::{LineRead, StreamOut};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Sends the frames of committed packets in the order of packetIdx, each to the port of its
/// verdict, and frees their slots.
///
/// 1. Packets whose verdict is not a port (drop, fault) are skipped.
/// 2. Reads carry the tags 0 to 31 for lines behind line 0 of a slot, 32 to 47 for line 0, 48 to 51
///    for verdicts. Each is in use once at a time; answers may come in any order and are always
///    accepted.
/// 3. `freed` is the packetIdx of the oldest packet whose slot is in use.
/// 4. While `enable` is low, packets that commit are skipped without a look at them, as soon as
///    those before have left. `enable` may change at any time; places and sizes in memory only
///    while it is low and the unit is `idle`.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct Egress {
    // From the registers and the control path
    /// Frames are sent.
    pub enable: Signal<In, Bit>,
    /// From the registers.
    pub ring: PacketRing,
    /// Packets committed, modulo 2^32.
    pub committed: Signal<In, Bits<32>>,

    // To and from memory
    /// Lines of verdicts and slots.
    pub read: LineRead,

    // Frames
    /// Beats of frames; a frame is damaged if a line of it could not be read.
    pub tx: StreamOut,

    /// packetIdx of the oldest packet whose slot is in use.
    pub freed: Signal<Out, Bits<32>>,
    /// No packet is inside.
    pub idle: Signal<Out, Bit>,

    // Counters since reset, modulo 2^32
    /// To the registers.
    pub counters: EgressCounters,

    verdicts: VerdictReader,
    slots: SlotReader,
    sender: FrameSender,
    out_valid: Register<Bit>,
    out_line: Register<LineAddress>,
    out_tag: Register<Bits<7>>,
    oldest: Register<Bits<32>>,
    frame_count: Register<Bits<32>>,
    byte_count: Register<Bits<32>>,
    skipped_count: Register<Bits<32>>,
    length_error_count: Register<Bits<32>>,
    read_error_count: Register<Bits<32>>,
}

impl Logic for Egress {
    #[hdl_gen]
    fn update(&mut self) {
        // Verdicts to slots to frames.
        self.verdicts.enable.next = self.enable.val();
        self.verdicts.committed.next = self.committed.val();
        connect!(self.ring, self.verdicts.ring);
        connect!(self.verdicts.verdict, self.slots.verdict);
        connect!(self.ring, self.slots.ring);
        connect!(self.slots.line, self.sender.line);
        connect!(self.tx, self.sender.tx);

        // Reads: verdicts are few and much waits for them; then what is nearest to being sent.
        let free = !self.out_valid.q.val() || self.read.ready.val();
        let body = self.slots.body.valid.val() && !self.verdicts.read.valid.val();
        let head = !self.slots.body.valid.val() && !self.verdicts.read.valid.val();
        self.verdicts.read.ready.next = free;
        self.slots.body.ready.next = free && !self.verdicts.read.valid.val();
        self.slots.head.ready.next = free && head;
        if free {
            self.out_valid.d.next =
                self.verdicts.read.valid.val() || self.slots.body.valid.val() || self.slots.head.valid.val();
            if self.verdicts.read.valid.val() {
                self.out_line.d.next = self.verdicts.read.line.val();
                self.out_tag.d.next = self.verdicts.read.tag.val();
            } else if body {
                self.out_line.d.next = self.slots.body.line.val();
                self.out_tag.d.next = self.slots.body.tag.val();
            } else {
                self.out_line.d.next = self.slots.head.line.val();
                self.out_tag.d.next = self.slots.head.tag.val();
            }
        }
        self.read.valid.next = self.out_valid.q.val();
        self.read.line.next = self.out_line.q.val();
        self.read.tag.next = self.out_tag.q.val();

        let of_heads = self.read.response.tag.val().get_bit(5) && !self.read.response.tag.val().get_bit(4);
        let of_verdicts = self.read.response.tag.val().get_bit(5) && self.read.response.tag.val().get_bit(4);
        connect!(self.read.response, self.verdicts.read.response);
        connect!(self.read.response, self.slots.head.response);
        connect!(self.read.response, self.slots.body.response);
        self.verdicts.read.response.valid.next = self.read.response.valid.val() && of_verdicts;
        self.slots.head.response.valid.next = self.read.response.valid.val() && of_heads;
        self.slots.body.response.valid.next =
            self.read.response.valid.val() && !self.read.response.tag.val().get_bit(5);

        // Slots in use begin at packet `oldest`; all follow the commits while nothing is to be
        // sent.
        let empty = self.verdicts.idle.val() && self.slots.idle.val();
        let follow = !self.enable.val() && empty;
        self.verdicts.follow.next = follow;
        self.slots.follow.next = follow;
        self.slots.index.next = self.committed.val();
        if self.slots.freed.val() {
            self.oldest.d.next = self.oldest.q.val() + 1;
        } else if follow {
            self.oldest.d.next = self.committed.val();
        }
        self.freed.next = self.oldest.q.val();
        self.idle.next = empty && self.sender.idle.val();

        if self.sender.sent.val() {
            self.frame_count.d.next = self.frame_count.q.val() + 1;
            self.byte_count.d.next =
                self.byte_count.q.val() + bit_cast::<32, 17>(self.sender.sent_bytes.val());
        }
        if self.slots.skipped.val() {
            self.skipped_count.d.next = self.skipped_count.q.val() + 1;
        }
        if self.slots.length_error.val() {
            self.length_error_count.d.next = self.length_error_count.q.val() + 1;
        }
        if self.read.response.valid.val() && self.read.response.error.val() {
            self.read_error_count.d.next = self.read_error_count.q.val() + 1;
        }
        self.counters.frames_out.next = self.frame_count.q.val();
        self.counters.bytes_out.next = self.byte_count.q.val();
        self.counters.not_sent.next = self.skipped_count.q.val();
        self.counters.length_errors.next = self.length_error_count.q.val();
        self.counters.read_errors.next = self.read_error_count.q.val();
    }
}
