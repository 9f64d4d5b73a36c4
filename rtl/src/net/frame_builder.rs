//! Frames of RoCEv2 as beats of an AXI4-Stream.

use super::{header_words, FrameHead, HeaderBytes, Icrc, NetIdentity};
use hermes_hdl::prelude::*;

/// Builds a frame from what its headers say and its payload, and sends it with its ICRC.
///
/// 1. `head` is taken with `head_valid` and `head_ready`. The payload follows in lines of 64 bytes,
///    from its first byte on; the bytes behind its last one are zero. A line is taken when the beat
///    that begins in it is built.
/// 2. A beat is built every four cycles, since the ICRC takes 16 bytes a cycle. The first beat of a
///    frame is offered seven cycles after its head was taken, if it is not the last; the last one
///    three cycles after its bytes were built, and a cycle for each 16 bytes.
/// 3. A payload of which a line comes with `line_error` leaves with a wrong ICRC: no receiver takes
///    it.
/// 4. The outputs come from registers and keep their values until they are taken.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct FrameBuilder {
    /// Addresses of the sender; constant while frames are sent.
    pub identity: Signal<In, NetIdentity>,

    /// A frame is to be sent.
    pub head_valid: Signal<In, Bit>,
    /// The headers are taken at this edge.
    pub head_ready: Signal<Out, Bit>,
    /// Headers of the frame.
    pub head: Signal<In, FrameHead>,
    /// The next line of its payload is here.
    pub line_valid: Signal<In, Bit>,
    /// The line is taken at this edge.
    pub line_ready: Signal<Out, Bit>,
    /// The line, its first byte in bits 7:0.
    pub line_data: Signal<In, Bits<512>>,
    /// The line could not be read.
    pub line_error: Signal<In, Bit>,

    /// A beat is offered.
    pub tx_tvalid: Signal<Out, Bit>,
    /// The beat is taken at this edge.
    pub tx_tready: Signal<In, Bit>,
    /// Bytes of the beat, the first in bits 7:0.
    pub tx_tdata: Signal<Out, Bits<512>>,
    /// Bytes of the beat that count, the first in bit 0.
    pub tx_tkeep: Signal<Out, Bits<64>>,
    /// The beat is the last one of its frame.
    pub tx_tlast: Signal<Out, Bit>,
    /// The last beat of a frame is offered from the next cycle on.
    pub sent: Signal<Out, Bit>,

    header: HeaderBytes,
    crc: Icrc,
    /// A frame is in progress.
    busy: Register<Bit>,
    frame_head: Register<FrameHead>,
    /// The header of the frame in progress stood for a cycle.
    summed: Register<Bit>,
    /// Number of the next beat to be built.
    beat: Register<Bits<7>>,
    /// Lines of the payload that were not taken.
    lines_left: Register<Bits<7>>,
    /// Bytes of the last line that belong to the next beat.
    carry: Register<Bits<512>>,
    /// A line could not be read.
    damaged: Register<Bit>,
    /// A beat goes through the CRC.
    building: Register<Bit>,
    built: Register<Bits<512>>,
    /// Number of that beat.
    built_beat: Register<Bits<7>>,
    quarter: Register<Bits<2>>,
    /// All of the frame went through the CRC: it goes into this beat.
    sealing: Register<Bit>,
    /// Half of the CRC is left for a beat of its own.
    half_left: Register<Bit>,
    half: Register<Bits<16>>,
    out_valid: Register<Bit>,
    out_data: Register<Bits<512>>,
    out_keep: Register<Bits<64>>,
    out_last: Register<Bit>,
    #[init(Pack::new(32))]
    check: Pack<Bits<16>, 16, 512>,
    #[init(Constant::new(u64::MAX.into()))]
    all: Constant<Bits<64>>,
}

impl Logic for FrameBuilder {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.identity, self.header.identity);
        self.header.head.next = self.frame_head.q.val();
        let covered = self.header.covered.val();
        let moves_out = !self.out_valid.q.val() || self.tx_tready.val();

        // The beat that goes through the CRC
        let chunk_number =
            (bit_cast::<9, 7>(self.built_beat.q.val()) << 2) | bit_cast::<9, 2>(self.quarter.q.val());
        let last_chunk = covered.get_bits::<9>(4);
        let ends = chunk_number == last_chunk;
        let feeds = self.building.q.val() && !self.sealing.q.val();
        self.crc.take.next = feeds;
        self.crc.beat.next = self.built.q.val();
        self.crc.first_beat.next = !self.built_beat.q.val().any();
        self.crc.quarter.next = self.quarter.q.val();
        self.crc.bytes.next = bits::<5>(16);
        if ends {
            self.crc.bytes.next = bit_cast::<5, 4>(covered.get_bits::<4>(0));
        }
        if feeds {
            self.quarter.d.next = self.quarter.q.val() + bits::<2>(1);
            if ends {
                self.sealing.d.next = true;
            }
        }

        // The ICRC behind the last byte, which is the second of a word: two bytes of it may be left
        // for another beat.
        let mut sum = !self.crc.value.val();
        if self.damaged.q.val() {
            sum = self.crc.value.val();
        }
        let crc_word = covered.get_bits::<4>(2);
        let at_word = bits::<16>(1) << crc_word;
        let mut low = bits::<16>(0);
        let mut high = bits::<16>(0);
        if self.sealing.q.val() {
            low = sum.get_bits::<16>(0);
            high = sum.get_bits::<16>(16);
        }
        for i in 0..16 {
            self.check.x[2 * i + 1].next = bits::<16>(0);
            if at_word.get_bit(i) {
                self.check.x[2 * i + 1].next = low;
            }
        }
        self.check.x[0].next = bits::<16>(0);
        for i in 0..15 {
            self.check.x[2 * i + 2].next = bits::<16>(0);
            if at_word.get_bit(i) {
                self.check.x[2 * i + 2].next = high;
            }
        }
        let splits = crc_word.all();
        let kept = covered.get_bits::<6>(0) + bits::<6>(4);
        let passes = feeds && !ends && self.quarter.q.val().all();
        // A beat without the ICRC that is complete waits in `building` until it can leave.
        let leaves = moves_out && (passes || self.sealing.q.val());
        self.sent.next = moves_out && (self.half_left.q.val() || (self.sealing.q.val() && !splits));
        if moves_out {
            self.out_valid.d.next = false;
        }
        if leaves {
            self.out_valid.d.next = true;
            self.out_data.d.next = self.built.q.val() | self.check.y.val();
            self.out_keep.d.next = self.all.val();
            self.out_last.d.next = false;
            self.building.d.next = false;
            self.sealing.d.next = false;
            if self.sealing.q.val() {
                if splits {
                    self.half_left.d.next = true;
                    self.half.d.next = sum.get_bits::<16>(16);
                } else {
                    self.out_last.d.next = true;
                    self.out_keep.d.next = !(self.all.val() << kept);
                    self.busy.d.next = false;
                }
            }
        }
        if passes && !moves_out {
            // Once more, until it can leave: the CRC must not take it twice.
            self.quarter.d.next = self.quarter.q.val();
            self.crc.take.next = false;
        }
        if moves_out && self.half_left.q.val() {
            self.half_left.d.next = false;
            self.out_valid.d.next = true;
            self.out_data.d.next = bit_cast::<512, 16>(self.half.q.val());
            self.out_keep.d.next = bits::<64>(3);
            self.out_last.d.next = true;
            self.busy.d.next = false;
        }

        // The next beat: of the header, of the line that begins in it, and of what is left of the
        // line before
        let mut shifted = bits::<512>(0);
        let mut lower = bits::<512>(0);
        let mut in_second = true;
        if self.frame_head.q.val().extension_words == bits::<3>(header_words::NONE) {
            shifted = self.line_data.val() << 432;
            lower = self.line_data.val() >> 80;
            in_second = false;
        }
        if self.frame_head.q.val().extension_words == bits::<3>(header_words::AETH) {
            shifted = self.line_data.val() << 464;
            lower = self.line_data.val() >> 48;
            in_second = false;
        }
        if self.frame_head.q.val().extension_words == bits::<3>(header_words::ATOMIC_ACKNOWLEDGE) {
            shifted = self.line_data.val() << 16;
            lower = self.line_data.val() >> 496;
        }
        if self.frame_head.q.val().extension_words == bits::<3>(header_words::RETH) {
            shifted = self.line_data.val() << 48;
            lower = self.line_data.val() >> 464;
        }
        if self.frame_head.q.val().extension_words == bits::<3>(header_words::ATOMIC) {
            shifted = self.line_data.val() << 144;
            lower = self.line_data.val() >> 368;
        }
        let wants_line = self.lines_left.q.val().any() && (!in_second || self.beat.q.val().any());
        let more = self.beat.q.val() <= covered.get_bits::<7>(6);
        let free = !self.building.q.val() || (leaves && !self.sealing.q.val());
        let builds = self.busy.q.val()
            && self.summed.q.val()
            && more
            && free
            && (!wants_line || self.line_valid.val());
        let takes_line = builds && wants_line;
        self.line_ready.next = takes_line;
        let mut beat_bytes = self.carry.q.val();
        if !self.beat.q.val().any() {
            beat_bytes = self.header.bytes.val().get_bits::<512>(0);
        }
        if self.beat.q.val() == bits::<7>(1) {
            beat_bytes =
                self.carry.q.val() | bit_cast::<512, 144>(self.header.bytes.val().get_bits::<144>(512));
        }
        if takes_line {
            beat_bytes = beat_bytes | shifted;
        }
        if builds {
            if takes_line {
                self.carry.d.next = lower;
                self.lines_left.d.next = self.lines_left.q.val() - bits::<7>(1);
                self.damaged.d.next = self.damaged.q.val() || self.line_error.val();
            } else {
                self.carry.d.next = bits::<512>(0);
            }
            self.built.d.next = beat_bytes;
            self.built_beat.d.next = self.beat.q.val();
            self.beat.d.next = self.beat.q.val() + bits::<7>(1);
            self.building.d.next = true;
            self.quarter.d.next = bits::<2>(0);
        }

        // The next frame
        let rounded = self.head.val().bytes + bits::<13>(63);
        self.head_ready.next = !self.busy.q.val();
        if self.busy.q.val() {
            self.summed.d.next = true;
        } else {
            self.summed.d.next = false;
            self.busy.d.next = self.head_valid.val();
            self.frame_head.d.next = self.head.val();
            self.lines_left.d.next = rounded.get_bits::<7>(6);
            self.beat.d.next = bits::<7>(0);
            self.carry.d.next = bits::<512>(0);
            self.damaged.d.next = false;
        }

        self.tx_tvalid.next = self.out_valid.q.val();
        self.tx_tdata.next = self.out_data.q.val();
        self.tx_tkeep.next = self.out_keep.q.val();
        self.tx_tlast.next = self.out_last.q.val();
    }
}

#[cfg(test)]
#[path = "frame_builder_tests.rs"]
mod tests;
