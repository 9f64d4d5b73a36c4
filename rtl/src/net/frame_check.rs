//! Which frames are for us, and right.

use super::{header, header_words, opcode, Icrc, NetIdentity, StoredFrame, RESIDUE};
use hermes_hdl::prelude::*;

/// Why a frame is dropped, in the order in which it is judged.
pub mod cause {
    /// It is good.
    pub const NONE: u64 = 0;
    /// Damaged, or too short for its headers.
    pub const SHORT: u64 = 1;
    /// Not IPv4 without options and fragments, or with a wrong checksum or length.
    pub const IP: u64 = 2;
    /// Not UDP to port 4791, or with another length than IPv4's.
    pub const UDP: u64 = 3;
    /// The MAC or the IPv4 address is not ours.
    pub const NOT_OURS: u64 = 4;
    /// Another header version or partition.
    pub const VERSION: u64 = 5;
    /// The ICRC is wrong.
    pub const ICRC: u64 = 6;
    /// An opcode of another transport service than RC, or a frame too short for its headers.
    pub const OPCODE: u64 = 7;
}

/// A frame that was judged. Numbers as in [`FrameHead`](super::FrameHead).
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct CheckedFrame {
    /// Place of the first beat.
    pub first: Bits<9>,
    /// Number of beats of the frame.
    pub beats: Bits<9>,
    /// Reason to drop the frame, as in [`cause`]; 0: it is good, and only then the rest counts.
    pub cause: Bits<3>,
    /// Opcode of the base transport header.
    pub opcode: Bits<8>,
    /// We are asked to acknowledge.
    pub acknowledge: Bit,
    /// Our queue pair.
    pub queue_pair: Bits<24>,
    /// Packet sequence number.
    pub sequence: Bits<24>,
    /// IPv4 address of the sender.
    pub ip: Bits<32>,
    /// The header behind the base transport header, from bit 223 down; what follows its bytes is
    /// anything.
    pub extension: Bits<224>,
    /// Bytes before the payload.
    pub header: Bits<7>,
    /// Bytes of the payload; 8,191 if there are more.
    pub bytes: Bits<13>,
}

/// Reads the frames of the buffer, one after the other, and judges them: IPv4 and UDP headers,
/// addresses, version and partition of the base transport header, ICRC, transport service.
///
/// 1. A frame is taken (`stored_take`) when none is in progress, or in the cycle in which the last
///    bytes of the one before go through the ICRC.
/// 2. Its first beat is read in that cycle, the others one in four cycles, as the ICRC takes 16
///    bytes a cycle: `read_enable` with `read_beat`; the beat comes in the next cycle. A read waits
///    while `read_ready` is low.
/// 3. `checked_valid` with `checked` from the second cycle after the one in which the last bytes go
///    through the ICRC, until `checked_take`; meanwhile the next frame is judged. A frame that ends
///    too soon, or that is no IPv4, is told as soon as that is known.
/// 4. So a frame of n bytes takes n / 16 cycles, rounded up, and one more: less than 100 Gbit/s
///    bring it in, whatever n is.
/// 5. Both kinds of members of the default partition are taken: the key is 0xffff or 0x7fff.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct FrameCheck {
    /// Our addresses; constant while frames come.
    pub identity: Signal<In, NetIdentity>,
    /// A frame is in the buffer.
    pub stored_valid: Signal<In, Bit>,
    /// The oldest frame in the buffer.
    pub stored: Signal<In, StoredFrame>,
    /// The frame is taken at this edge.
    pub stored_take: Signal<Out, Bit>,
    /// A beat is to be read.
    pub read_enable: Signal<Out, Bit>,
    /// The beat is read at this edge.
    pub read_ready: Signal<In, Bit>,
    /// Place of the beat.
    pub read_beat: Signal<Out, Bits<9>>,
    /// The beat that was read in the cycle before.
    pub read_data: Signal<In, Bits<512>>,
    /// A frame is judged.
    pub checked_valid: Signal<Out, Bit>,
    /// The frame that was judged.
    pub checked: Signal<Out, CheckedFrame>,
    /// The judged frame is taken at this edge.
    pub checked_take: Signal<In, Bit>,
    crc: Icrc,
    /// A frame was taken, and its last bytes did not go through the CRC.
    busy: Register<Bit>,
    frame: Register<StoredFrame>,
    /// Number of the beat that is to be read next.
    next: Register<Bits<9>>,
    /// A beat was read in the cycle before.
    beat_read: Register<Bit>,
    /// A beat is here.
    beat_valid: Register<Bit>,
    beat: Register<Bits<512>>,
    /// Number of the beat in `beat`, from 0 on.
    number: Register<Bits<9>>,
    quarter: Register<Bits<2>>,
    /// Bytes of the frame up to its ICRC, that one too, by its IPv4 header.
    total: Register<Bits<16>>,
    /// The sum of the IPv4 header.
    sum: Register<Bits<20>>,
    frame_fields: Register<CheckedFrame>,
    bad_ip: Register<Bit>,
    bad_udp: Register<Bit>,
    foreign: Register<Bit>,
    bad_version: Register<Bit>,
    /// A frame is through: its verdict follows.
    ended: Register<Bit>,
    /// The frame that is through is damaged or too short.
    broken: Register<Bit>,
    done: Register<Bit>,
    verdict: Register<CheckedFrame>,
    #[init(Pack::new(28))]
    extension: Pack<Bits<8>, 8, 224>,
    #[init(Constant::new(u64::from(RESIDUE).into()))]
    residue: Constant<Bits<32>>,
}

impl Logic for FrameCheck {
    #[hdl_gen]
    fn update(&mut self) {
        let current_frame = self.frame.q.val();
        let bytes = self.beat.q.val();

        // The verdict on the frame before leaves: from then on this one may have its place.
        let moves = self.ended.q.val() && (!self.done.q.val() || self.checked_take.val());
        let may_follow = !self.ended.q.val() || moves;

        // The bytes that go through the CRC. The length is known behind the first quarter, which
        // is never the last one.
        let feeds = self.beat_valid.q.val() && may_follow;
        let is_first = !self.number.q.val().any();
        let begins = feeds && is_first && !self.quarter.q.val().any();
        let last_chunk = self.total.q.val().get_bits::<12>(4);
        let chunk_number =
            (bit_cast::<12, 9>(self.number.q.val()) << 2) | bit_cast::<12, 2>(self.quarter.q.val());
        let at_end = (chunk_number == last_chunk) && chunk_number.any();
        let passes = feeds && self.quarter.q.val().all();

        // The sum of a right header with its carries is all ones. The carries of ten words are at
        // most 9: if this addition has one, too, what is left is 8 at most.
        let folded =
            self.sum.q.val().get_bits::<16>(0) + bit_cast::<16, 4>(self.sum.q.val().get_bits::<4>(16));
        let ip_is_bad = self.bad_ip.q.val() || !folded.all();

        // The end: all bytes are through, or it is known that they never are.
        let ip_fails = is_first && (self.quarter.q.val() == bits::<2>(1)) && ip_is_bad;
        let hopeless = current_frame.damaged || (current_frame.bytes < bits::<15>(header::LEAST_FRAME));
        let gives_up = self.busy.q.val() && hopeless && may_follow;
        let ends = (feeds && (at_end || ip_fails)) || gives_up;

        always!(
            a_beat_that_comes_has_room,
            !self.beat_read.q.val() || !self.beat_valid.q.val() || passes || ends
        );

        // The next frame
        let takes = self.stored_valid.val() && (!self.busy.q.val() || ends);
        self.stored_take.next = takes;
        let skips = self.stored.val().damaged || (self.stored.val().bytes < bits::<15>(header::LEAST_FRAME));

        // The next beat is read while the last two quarters go, so that it is here when they are
        // through.
        let frees = feeds && self.quarter.q.val().get_bit(1);
        let free = !self.beat_read.q.val() && (!self.beat_valid.q.val() || frees);
        let more = !self.next.q.val().any() || (self.next.q.val() <= last_chunk.get_bits::<9>(2));
        let reads_more = self.busy.q.val() && !hopeless && free && more;
        let reads_first = takes && !skips;
        let reads = reads_first || (reads_more && !takes);
        self.read_enable.next = reads;
        self.read_beat.next = current_frame.first + self.next.q.val();
        if takes {
            self.read_beat.next = self.stored.val().first;
        }
        let read = reads && self.read_ready.val();
        self.beat_read.d.next = read;
        if takes {
            self.next.d.next = bits::<9>(0);
            if read {
                self.next.d.next = bits::<9>(1);
            }
        } else if read {
            self.next.d.next = self.next.q.val() + bits::<9>(1);
        }
        if passes || ends {
            self.beat_valid.d.next = false;
        }
        if self.beat_read.q.val() {
            self.beat_valid.d.next = true;
            self.beat.d.next = self.read_data.val();
            self.number.d.next = self.next.q.val() - bits::<9>(1);
            self.quarter.d.next = bits::<2>(0);
        } else if feeds {
            self.quarter.d.next = self.quarter.q.val() + bits::<2>(1);
        }

        // What the first beat says. Numbers are most significant byte first.
        let ip_length =
            (bit_cast::<16, 8>(bytes.get_bits::<8>(128)) << 8) | bit_cast::<16, 8>(bytes.get_bits::<8>(136));
        let udp_length =
            (bit_cast::<16, 8>(bytes.get_bits::<8>(304)) << 8) | bit_cast::<16, 8>(bytes.get_bits::<8>(312));
        let mut header_sum = bits::<20>(0);
        for i in 0..10 {
            header_sum = header_sum
                + (bit_cast::<20, 8>(bytes.get_bits::<8>(112 + 16 * i)) << 8)
                + bit_cast::<20, 8>(bytes.get_bits::<8>(120 + 16 * i));
        }
        let mut to_mac = bits::<48>(0);
        for i in 0..6 {
            to_mac = (to_mac << 8) | bit_cast::<48, 8>(bytes.get_bits::<8>(8 * i));
        }
        let mut to_ip = bits::<32>(0);
        let mut from_ip = bits::<32>(0);
        let mut sequence = bits::<24>(0);
        let mut queue_pair = bits::<24>(0);
        for i in 0..4 {
            from_ip = (from_ip << 8) | bit_cast::<32, 8>(bytes.get_bits::<8>(208 + 8 * i));
            to_ip = (to_ip << 8) | bit_cast::<32, 8>(bytes.get_bits::<8>(240 + 8 * i));
        }
        for i in 0..3 {
            queue_pair = (queue_pair << 8) | bit_cast::<24, 8>(bytes.get_bits::<8>(376 + 8 * i));
            sequence = (sequence << 8) | bit_cast::<24, 8>(bytes.get_bits::<8>(408 + 8 * i));
        }
        let opcode = bytes.get_bits::<8>(336);
        // Words of the header behind the base transport header; what follows the header of a
        // request that is not served does not count.
        let mut words = bits::<3>(header_words::NONE);
        if (opcode == bits::<8>(opcode::RC_RDMA_WRITE_FIRST))
            || (opcode == bits::<8>(opcode::RC_RDMA_WRITE_ONLY))
            || (opcode == bits::<8>(opcode::RC_RDMA_READ_REQUEST))
        {
            words = bits::<3>(header_words::RETH);
        }
        if (opcode == bits::<8>(opcode::RC_RDMA_READ_RESPONSE_FIRST))
            || (opcode == bits::<8>(opcode::RC_RDMA_READ_RESPONSE_LAST))
            || (opcode == bits::<8>(opcode::RC_RDMA_READ_RESPONSE_ONLY))
            || (opcode == bits::<8>(opcode::RC_ACKNOWLEDGE))
        {
            words = bits::<3>(header_words::AETH);
        }
        if opcode == bits::<8>(opcode::RC_ATOMIC_ACKNOWLEDGE) {
            words = bits::<3>(header_words::ATOMIC_ACKNOWLEDGE);
        }
        if (opcode == bits::<8>(opcode::RC_COMPARE_SWAP)) || (opcode == bits::<8>(opcode::RC_FETCH_ADD)) {
            words = bits::<3>(header_words::ATOMIC);
        }
        let is_other = opcode.get_bits::<3>(5).any();
        let header = bits::<7>(header::BYTES) + (bit_cast::<7, 3>(words) << 2);
        let padding = bytes.get_bits::<2>(348);
        // Of the payload; negative if it has not even its headers
        let payload = bit_cast::<17, 16>(ip_length) - bit_cast::<17, 7>(header) - bit_cast::<17, 2>(padding)
            + bits::<17>(header::ETHERNET_BYTES - header::ICRC_BYTES);
        let mut size = payload.get_bits::<13>(0);
        if payload.get_bits::<3>(13).any() {
            size = !bits::<13>(0);
        }
        let room = bit_cast::<17, 15>(current_frame.bytes)
            - bits::<17>(header::ETHERNET_BYTES)
            - bit_cast::<17, 16>(ip_length);
        if begins {
            self.sum.d.next = header_sum;
            self.total.d.next = ip_length + bits::<16>(header::ETHERNET_BYTES);
            self.frame_fields.d.next.opcode = opcode;
            self.frame_fields.d.next.acknowledge = bytes.get_bit(407);
            self.frame_fields.d.next.queue_pair = queue_pair;
            self.frame_fields.d.next.sequence = sequence;
            self.frame_fields.d.next.ip = from_ip;
            self.frame_fields.d.next.header = header;
            self.frame_fields.d.next.bytes = size;
            self.frame_fields.d.next.cause = bits::<3>(cause::NONE);
            if is_other || payload.get_bit(16) {
                // By the order of the causes: what is wrong besides goes first.
                self.frame_fields.d.next.cause = bits::<3>(cause::OPCODE);
            }
            self.bad_ip.d.next = (bytes.get_bits::<16>(96) != bits::<16>(header::ETHERTYPE_IPV4))
                || (bytes.get_bits::<8>(112) != bits::<8>(header::IPV4_VERSION_LENGTH))
                || bytes.get_bits::<6>(160).any()
                || bytes.get_bits::<8>(168).any()
                || room.get_bit(16)
                || ip_length.get_bits::<2>(0).any()
                || (ip_length < bits::<16>(header::LEAST_IPV4_LENGTH));
            self.bad_udp.d.next = (bytes.get_bits::<8>(184) != bits::<8>(header::IPV4_PROTOCOL_UDP))
                || (bytes.get_bits::<16>(288) != bits::<16>(header::UDP_PORT_ROCE))
                || (udp_length + bits::<16>(header::IPV4_BYTES) != ip_length);
            self.foreign.d.next = (to_mac != self.identity.val().mac) || (to_ip != self.identity.val().ip);
            self.bad_version.d.next = bytes.get_bits::<4>(344).any()
                || !bytes.get_bits::<7>(352).all()
                || !bytes.get_bits::<8>(360).all();
        }

        // The header behind the base transport header: ten bytes of it in the first beat
        for i in 0..10 {
            self.extension.x[27 - i].next = bytes.get_bits::<8>(432 + 8 * i);
        }
        for i in 0..18 {
            self.extension.x[17 - i].next = bytes.get_bits::<8>(8 * i);
        }
        let in_bytes = self.extension.y.val();
        if begins {
            self.frame_fields.d.next.extension = (in_bytes >> 144) << 144;
        }
        if feeds && (self.number.q.val() == bits::<9>(1)) {
            self.frame_fields.d.next.extension = ((self.frame_fields.q.val().extension >> 144) << 144)
                | bit_cast::<224, 144>(in_bytes.get_bits::<144>(0));
        }

        // The ICRC: with the frame's own behind it, which leaves the residue
        self.crc.take.next = feeds;
        self.crc.beat.next = bytes;
        self.crc.first_beat.next = is_first;
        self.crc.quarter.next = self.quarter.q.val();
        self.crc.bytes.next = bits::<5>(16);
        if at_end {
            self.crc.bytes.next = bit_cast::<5, 4>(self.total.q.val().get_bits::<4>(0));
        }

        // The verdict
        if moves {
            self.ended.d.next = false;
            self.done.d.next = true;
            self.verdict.d.next = self.frame_fields.q.val();
            if self.crc.value.val() != self.residue.val() {
                self.verdict.d.next.cause = bits::<3>(cause::ICRC);
            }
            if self.bad_version.q.val() {
                self.verdict.d.next.cause = bits::<3>(cause::VERSION);
            }
            if self.foreign.q.val() {
                self.verdict.d.next.cause = bits::<3>(cause::NOT_OURS);
            }
            if self.bad_udp.q.val() {
                self.verdict.d.next.cause = bits::<3>(cause::UDP);
            }
            if ip_is_bad {
                self.verdict.d.next.cause = bits::<3>(cause::IP);
            }
            if self.broken.q.val() {
                self.verdict.d.next.cause = bits::<3>(cause::SHORT);
            }
        } else if self.checked_take.val() {
            self.done.d.next = false;
        }
        if ends {
            self.ended.d.next = true;
            self.broken.d.next = hopeless;
            self.frame_fields.d.next.first = current_frame.first;
            self.frame_fields.d.next.beats = current_frame.beats;
            self.busy.d.next = false;
        }
        if takes {
            self.busy.d.next = true;
            self.frame.d.next = self.stored.val();
        }
        self.checked_valid.next = self.done.q.val();
        self.checked.next = self.verdict.q.val();
    }
}

#[cfg(test)]
#[path = "frame_check_tests.rs"]
mod tests;
