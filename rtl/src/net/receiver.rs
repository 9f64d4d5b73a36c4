//! What a frame that came does.

use super::{CheckedFrame, PayloadPlace};
use crate::prelude::*;

/// Takes the frames that were judged, in their order: a WRITE of one packet that its queue pair expects is given to
/// [`PayloadWriter`](super::PayloadWriter), all else is dropped.
///
/// 1. A frame is taken (`checked_take`) in the cycle in which its payload is, or at once if it is dropped; `done` is high for one cycle when its beats are
///    free, in the order of the frames.
/// 2. `receive_pair` names the row of [`QueuePairs`](super::QueuePairs); the answers come in the same cycle.
/// 3. Dropped: what [`FrameCheck`](super::FrameCheck) found (`cause`); a queue pair that is not there, not up or whose peer has another address (`unknown`); another
///    sequence number than the expected one, another opcode, a length that is not the payload's, 0 or more than 4,096, or a payload that does not end
///    below 2^32 (`refused`). Each is high for one cycle.
#[derive(Clone, Debug, LogicBlock, Default)]
pub struct Receiver {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// A frame was judged.
    pub checked_valid: Signal<In, Bit>,
    /// It.
    pub checked: Signal<In, CheckedFrame>,
    /// It is taken at this edge.
    pub checked_take: Signal<Out, Bit>,
    /// The answers are looked at.
    pub receives: Signal<Out, Bit>,
    /// The row of the table.
    pub receive_pair: Signal<Out, Bits<4>>,
    /// The queue pair is up.
    pub receive_up: Signal<In, Bit>,
    /// The peer's IPv4 address.
    pub receive_ip: Signal<In, Bits<32>>,
    /// The sequence number that is expected.
    pub expected: Signal<In, Bits<24>>,
    /// It came.
    pub received: Signal<Out, Bit>,
    /// A payload is to be written.
    pub place_valid: Signal<Out, Bit>,
    /// It is taken at this edge; high again when its beats were read.
    pub place_ready: Signal<In, Bit>,
    /// It.
    pub place: Signal<Out, PayloadPlace>,
    /// Beats of the buffer are free.
    pub free_valid: Signal<Out, Bit>,
    /// How many.
    pub free_beats: Signal<Out, Bits<9>>,
    /// A frame is dropped: why, as [`cause`](super::cause) says; 0: none is.
    pub cause: Signal<Out, Bits<3>>,
    /// A frame is dropped that is for no queue pair that is up.
    pub unknown: Signal<Out, Bit>,
    /// A frame is dropped that its queue pair does not expect.
    pub refused: Signal<Out, Bit>,
    /// A payload is being read: its beats.
    reading: Register<Bit>,
    beats: Register<Bits<9>>,
}

impl Logic for Receiver {
    #[hdl_gen]
    fn update(&mut self) {
        let frame = self.checked.val();
        self.receives.next = self.checked_valid.val() && !self.reading.q.val();
        self.receive_pair.next = frame.queue_pair.get_bits::<4>(0);
        let is_good = !frame.cause.any();
        let is_known = !frame.queue_pair.get_bits::<20>(4).any()
            && self.receive_up.val()
            && (frame.ip == self.receive_ip.val());
        // RETH: address, key, length. Addresses of memory have 32 bits, and a packet at most 4,096 bytes.
        let length = frame.extension.get_bits::<32>(96);
        let address = frame.extension.get_bits::<64>(160);
        let is_whole = (length == bit_cast::<32, 13>(frame.bytes)) && frame.bytes.any();
        let is_longer = frame.bytes > bits::<13>(4096);
        let behind =
            bit_cast::<33, 32>(address.get_bits::<32>(0)) + bit_cast::<33, 13>(frame.bytes) - bits::<33>(1);
        let is_outside = address.get_bits::<32>(32).any() || behind.get_bit(32);
        let is_expected = (frame.opcode == bits::<8>(0x0a))
            && (frame.sequence == self.expected.val())
            && is_whole
            && !is_longer
            && !is_outside;
        let writes = is_good && is_known && is_expected;

        // One frame after the other: its beats are free when its payload was read.
        let free = !self.reading.q.val();
        self.place_valid.next = self.checked_valid.val() && free && writes;
        self.place.next.first = frame.first;
        self.place.next.header = frame.header;
        self.place.next.bytes = frame.bytes;
        self.place.next.address = address.get_bits::<32>(0);
        let given = self.checked_valid.val() && free && writes && self.place_ready.val();
        let dropped = self.checked_valid.val() && free && !writes;
        self.checked_take.next = given || dropped;
        self.received.next = given;
        let ends = self.reading.q.val() && self.place_ready.val();
        self.free_valid.next = ends || dropped;
        self.free_beats.next = frame.beats;
        if self.reading.q.val() {
            self.free_beats.next = self.beats.q.val();
        }
        if given {
            self.reading.d.next = true;
            self.beats.d.next = frame.beats;
        } else if ends {
            self.reading.d.next = false;
        }
        self.cause.next = bits::<3>(0);
        if dropped {
            self.cause.next = frame.cause;
        }
        self.unknown.next = dropped && is_good && !is_known;
        self.refused.next = dropped && is_good && is_known;
    }
}
