//! The lines of the frames that are to be sent, in their order.

use super::RingPosition;
use crate::blocks::QueuePointers;
use crate::host::RingPlaces;
use crate::ports::{FrameLine, LineRead, Verdict};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Reads the slots of packets with a forward verdict and hands out their lines, frame by frame.
///
/// 1. Packets come with their verdicts in order. Line 0 of up to 16 packets and 32 further lines
///    are outstanding; answers may come in any order.
/// 2. The length of a frame is that of its descriptor. If it is larger than what the slot holds it
///    counts as that much, and `length_error` is high for one cycle; so it is for a length of 0,
///    and nothing is handed out for the packet.
/// 3. Packets with another verdict are skipped, which `skipped` reports; so are those whose line 0
///    cannot be read.
/// 4. `freed` is high for one cycle when the slot of the next packet is no longer needed: its lines
///    are handed out, or it is skipped.
/// 5. While `follow` is high, the next packet is packet `index`; only while the unit is `idle`.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct SlotReader {
    /// From the registers.
    pub ring: RingPlaces,
    /// The next packet is packet `index`.
    pub follow: Signal<In, Bit>,
    /// packetIdx.
    pub index: Signal<In, Bits<32>>,

    /// From the verdict reader: the verdict of the next packet.
    pub verdict: Flipped<Verdict>,

    /// To memory: line 0 of slots, with tags 32 to 47.
    pub head: LineRead,
    /// To memory: the other lines of slots, with tags 0 to 31.
    pub body: LineRead,

    /// To the frame sender: the next line.
    pub line: FrameLine,

    /// A slot is free again.
    pub freed: Signal<Out, Bit>,
    /// A verdict is not a port.
    pub skipped: Signal<Out, Bit>,
    /// A length is impossible.
    pub length_error: Signal<Out, Bit>,
    /// No packet is inside.
    pub idle: Signal<Out, Bit>,

    position: RingPosition,

    // Packets: allocated with the verdict, measured when line 0 is here, gone when line 0 is handed
    // out.
    packets: QueuePointers<4>,
    to_measure: QueuePointers<4>,
    measured: QueuePointers<4>,
    packet_slot: RamAsync<LineAddress, 4>,
    packet_passes: RamAsync<Bit, 4>,
    packet_port: RamAsync<Bits<31>, 4>,
    packet_length: RamAsync<Bits<32>, 4>,
    packet_failed: RamAsync<Bit, 4>,
    packet_head: RamAsync<Bits<512>, 4>,
    packet_bytes: RamAsync<Bits<17>, 4>,
    head_arrived: Register<Bits<16>>,

    // Further lines
    bodies: QueuePointers<5>,
    body_data: RamAsync<Bits<512>, 5>,
    body_failed: RamAsync<Bit, 5>,
    body_arrived: Register<Bits<32>>,
    /// Lines still to be requested, and the next of them.
    asking: Register<Bits<10>>,
    asking_line: Register<LineAddress>,
    /// Lines still to be handed out behind line 0.
    following: Register<Bits<10>>,
}

impl Logic for SlotReader {
    #[hdl_gen]
    fn update(&mut self) {
        // A verdict: a packet that is to be sent requests line 0 in the same cycle.
        let passes = self.verdict.value.val().get_bit(31);
        let allocate =
            self.verdict.valid.val() && !self.packets.full.val() && (passes || self.head.ready.val());
        self.verdict.ready.next = !self.packets.full.val() && (passes || self.head.ready.val());
        self.head.valid.next = self.verdict.valid.val() && !self.packets.full.val() && !passes;
        self.head.line.next = self.position.line.val();
        self.head.tag.next = bit_cast::<7, 4>(self.packets.write_address.val()) | 32;
        self.skipped.next = allocate && passes;
        self.packets.push.next = allocate;
        self.to_measure.push.next = allocate;
        self.packet_slot.write_enable.next = allocate;
        self.packet_slot.write_address.next = self.packets.write_address.val();
        self.packet_slot.write_data.next = self.position.line.val();
        self.packet_port.write_enable.next = allocate;
        self.packet_port.write_address.next = self.packets.write_address.val();
        self.packet_port.write_data.next = self.verdict.value.val().get_bits::<31>(0);
        self.packet_passes.write_enable.next = allocate;
        self.packet_passes.write_address.next = self.packets.write_address.val();
        self.packet_passes.write_data.next = passes;
        connect!(self.ring, self.position.ring);
        self.position.load.next = self.follow.val();
        self.position.index.next = self.index.val();
        self.position.advance.next = allocate;

        // Answers. A packet that is skipped waits for none.
        let head_tag_of_answer = self.head.response.tag.val().get_bits::<4>(0);
        let body_tag_of_answer = self.body.response.tag.val().get_bits::<5>(0);
        self.packet_head.write_enable.next = self.head.response.valid.val();
        self.packet_head.write_address.next = head_tag_of_answer;
        self.packet_head.write_data.next = self.head.response.data.val();
        self.packet_length.write_enable.next = self.head.response.valid.val();
        self.packet_length.write_address.next = head_tag_of_answer;
        self.packet_length.write_data.next = self.head.response.data.val().get_bits::<32>(0);
        self.packet_failed.write_enable.next = self.head.response.valid.val();
        self.packet_failed.write_address.next = head_tag_of_answer;
        self.packet_failed.write_data.next = self.head.response.error.val();
        let mut head_marks = self.head_arrived.q.val();
        if allocate {
            head_marks = head_marks.replace_bit(self.packets.write_address.val().index(), passes);
        }
        if self.head.response.valid.val() {
            head_marks = head_marks.replace_bit(head_tag_of_answer.index(), true);
        }
        self.head_arrived.d.next = head_marks;
        self.body_data.write_enable.next = self.body.response.valid.val();
        self.body_data.write_address.next = body_tag_of_answer;
        self.body_data.write_data.next = self.body.response.data.val();
        self.body_failed.write_enable.next = self.body.response.valid.val();
        self.body_failed.write_address.next = body_tag_of_answer;
        self.body_failed.write_data.next = self.body.response.error.val();

        // Further lines of the packet that was measured last.
        let ask = self.asking.q.val().any() && !self.bodies.full.val();
        self.body.valid.next = ask;
        self.body.line.next = self.asking_line.q.val();
        self.body.tag.next = bit_cast::<7, 5>(self.bodies.write_address.val());
        self.bodies.push.next = ask && self.body.ready.val();
        let mut body_marks = self.body_arrived.q.val();
        if ask && self.body.ready.val() {
            self.asking.d.next = self.asking.q.val() - 1;
            self.asking_line.d.next = self.asking_line.q.val() + 1;
            body_marks = body_marks.replace_bit(self.bodies.write_address.val().index(), false);
        }
        if self.body.response.valid.val() {
            body_marks = body_marks.replace_bit(body_tag_of_answer.index(), true);
        }
        self.body_arrived.d.next = body_marks;

        // Measure the next packet once the lines of the one before are requested.
        self.packet_length.read_address.next = self.to_measure.read_address.val();
        self.packet_failed.read_address.next = self.to_measure.read_address.val();
        self.packet_slot.read_address.next = self.to_measure.read_address.val();
        let measure = !self.to_measure.empty.val()
            && self.head_arrived.q.val().get_bit(self.to_measure.read_address.val().index())
            && (!self.asking.q.val().any() || ((self.asking.q.val() == 1) && ask && self.body.ready.val()));
        self.packet_passes.read_address.next = self.to_measure.read_address.val();
        let capacity = (bits::<32>(1) << self.ring.slot_bytes_log2.val()) - 18;
        let mut length = self.packet_length.read_data.val();
        self.length_error.next = false;
        if self.packet_passes.read_data.val() || self.packet_failed.read_data.val() {
            length = bits::<32>(0);
        } else if length > capacity {
            length = capacity;
            self.length_error.next = measure;
        } else if !length.any() {
            self.length_error.next = measure;
        }
        let bytes = bit_cast::<17, 32>(length);
        let behind = (bytes + 17) >> 6;
        self.to_measure.pop.next = measure;
        self.measured.push.next = measure;
        self.packet_bytes.write_enable.next = measure;
        self.packet_bytes.write_address.next = self.measured.write_address.val();
        self.packet_bytes.write_data.next = bytes;
        if measure {
            self.asking.d.next = bit_cast::<10, 17>(behind);
            self.asking_line.d.next = self.packet_slot.read_data.val() + 1;
        }

        // Hand out, or skip: line 0 from the packet, the lines behind it in the order in which they
        // were requested.
        self.packet_bytes.read_address.next = self.measured.read_address.val();
        self.packet_port.read_address.next = self.measured.read_address.val();
        self.packet_head.read_address.next = self.measured.read_address.val();
        self.body_data.read_address.next = self.bodies.read_address.val();
        self.body_failed.read_address.next = self.bodies.read_address.val();
        let out_bytes = self.packet_bytes.read_data.val();
        let out_behind = (out_bytes + 17) >> 6;
        let out_head = !self.following.q.val().any() && !self.measured.empty.val() && out_bytes.any();
        let pass = !self.following.q.val().any() && !self.measured.empty.val() && !out_bytes.any();
        let out_body = self.following.q.val().any()
            && !self.bodies.empty.val()
            && self.body_arrived.q.val().get_bit(self.bodies.read_address.val().index());
        self.line.valid.next = out_head || out_body;
        self.line.start.next = out_head;
        self.line.frame_bytes.next = out_bytes;
        self.line.frame_port.next = self.packet_port.read_data.val();
        let ends = if out_head { !out_behind.any() } else { self.following.q.val() == 1 };
        if out_head {
            self.line.data.next = self.packet_head.read_data.val();
            self.line.error.next = false;
        } else {
            self.line.data.next = self.body_data.read_data.val();
            self.line.error.next = self.body_failed.read_data.val();
        }
        self.line.last.next = ends;
        let take = (out_head || out_body) && self.line.ready.val();
        if take && out_head {
            self.following.d.next = bit_cast::<10, 17>(out_behind);
        }
        if take && out_body {
            self.following.d.next = self.following.q.val() - 1;
        }
        self.bodies.pop.next = take && out_body;
        self.measured.pop.next = (take && out_head) || pass;
        self.packets.pop.next = (take && out_head) || pass;
        self.freed.next = pass || (take && ends);
        self.idle.next = self.packets.empty.val() && !self.following.q.val().any();
    }
}
