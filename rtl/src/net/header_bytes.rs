//! The bytes of the headers.

use super::{header, FrameHead, NetIdentity};
use hermes_hdl::prelude::*;

/// Puts the headers of a frame into their bytes: Ethernet, IPv4, UDP (port 4791), base transport
/// header, and the one behind it.
///
/// 1. `head` and `identity` stand for two cycles and longer; `bytes` are right from the second on,
///    since the sum of the IPv4 header is taken in a register.
/// 2. `bytes` are the 54 bytes up to the base transport header, then those of the extension, then
///    zeros.
///
/// IPv4: no options, identification 0, "don't fragment", time to live 64. UDP checksum 0 (none).
/// Base transport header: M is 1, the partition 0xffff.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct HeaderBytes {
    /// Values of the headers.
    pub head: Signal<In, FrameHead>,
    /// Addresses of the sender.
    pub identity: Signal<In, NetIdentity>,
    /// The bytes, the first in bits 7:0.
    pub bytes: Signal<Out, Bits<656>>,
    /// Bytes of the frame before its ICRC: headers and payload, filled up to a multiple of 4.
    pub covered: Signal<Out, Bits<13>>,
    sum: Register<Bits<19>>,
    #[init(Pack::new(82))]
    packed: Pack<Bits<8>, 8, 656>,
}

impl Logic for HeaderBytes {
    #[hdl_gen]
    fn update(&mut self) {
        let fields = self.head.val();
        let sender = self.identity.val();
        let header = bits::<7>(header::BYTES) + (bit_cast::<7, 3>(fields.extension_words) << 2);
        let words = (fields.bytes + bits::<13>(3)) >> 2;
        let whole = bit_cast::<13, 7>(header) + (words << 2);
        // Of the IPv4 packet, which ends with the ICRC, and of the UDP datagram
        let total = bit_cast::<16, 13>(whole) - bits::<16>(header::ETHERNET_BYTES - header::ICRC_BYTES);
        let datagram = bit_cast::<16, 13>(whole)
            - bits::<16>(header::ETHERNET_BYTES + header::IPV4_BYTES - header::ICRC_BYTES);
        self.covered.next = whole;

        // The checksum: 0x4500, 0x4000 and 0x4011 are constant.
        self.sum.d.next = bits::<19>(0xc511)
            + bit_cast::<19, 8>(sender.type_of_service)
            + bit_cast::<19, 16>(total)
            + bit_cast::<19, 16>(sender.ip.get_bits::<16>(0))
            + bit_cast::<19, 16>(sender.ip.get_bits::<16>(16))
            + bit_cast::<19, 16>(fields.ip.get_bits::<16>(0))
            + bit_cast::<19, 16>(fields.ip.get_bits::<16>(16));
        let once = bit_cast::<17, 16>(self.sum.q.val().get_bits::<16>(0))
            + bit_cast::<17, 3>(self.sum.q.val().get_bits::<3>(16));
        let twice = once.get_bits::<16>(0) + bit_cast::<16, 1>(once.get_bits::<1>(16));
        let checksum = !twice;

        for i in 0..6 {
            self.packed.x[i].next = fields.mac.get_bits::<8>(40 - 8 * i);
            self.packed.x[6 + i].next = sender.mac.get_bits::<8>(40 - 8 * i);
        }
        self.packed.x[12].next = bits::<8>(0x08);
        self.packed.x[13].next = bits::<8>(0);
        self.packed.x[14].next = bits::<8>(header::IPV4_VERSION_LENGTH);
        self.packed.x[15].next = sender.type_of_service;
        self.packed.x[16].next = total.get_bits::<8>(8);
        self.packed.x[17].next = total.get_bits::<8>(0);
        self.packed.x[18].next = bits::<8>(0);
        self.packed.x[19].next = bits::<8>(0);
        self.packed.x[20].next = bits::<8>(0x40);
        self.packed.x[21].next = bits::<8>(0);
        self.packed.x[22].next = bits::<8>(64);
        self.packed.x[23].next = bits::<8>(header::IPV4_PROTOCOL_UDP);
        self.packed.x[24].next = checksum.get_bits::<8>(8);
        self.packed.x[25].next = checksum.get_bits::<8>(0);
        for i in 0..4 {
            self.packed.x[26 + i].next = sender.ip.get_bits::<8>(24 - 8 * i);
            self.packed.x[30 + i].next = fields.ip.get_bits::<8>(24 - 8 * i);
        }
        self.packed.x[34].next = bits::<8>(0xc0);
        self.packed.x[35].next = bit_cast::<8, 5>(fields.queue_pair);
        self.packed.x[36].next = bits::<8>(0x12);
        self.packed.x[37].next = bits::<8>(0xb7);
        self.packed.x[38].next = datagram.get_bits::<8>(8);
        self.packed.x[39].next = datagram.get_bits::<8>(0);
        self.packed.x[40].next = bits::<8>(0);
        self.packed.x[41].next = bits::<8>(0);
        self.packed.x[42].next = fields.opcode;
        // Bytes that fill the payload up to a multiple of 4
        let padding = bits::<2>(0) - fields.bytes.get_bits::<2>(0);
        self.packed.x[43].next = bits::<8>(0x40) | (bit_cast::<8, 2>(padding) << 4);
        self.packed.x[44].next = bits::<8>(0xff);
        self.packed.x[45].next = bits::<8>(0xff);
        self.packed.x[46].next = bits::<8>(0);
        for i in 0..3 {
            self.packed.x[47 + i].next = fields.remote.get_bits::<8>(16 - 8 * i);
            self.packed.x[51 + i].next = fields.sequence.get_bits::<8>(16 - 8 * i);
        }
        let mut request = bits::<8>(0);
        if fields.acknowledge {
            request = bits::<8>(0x80);
        }
        self.packed.x[50].next = request;
        for i in 0..28 {
            self.packed.x[54 + i].next = fields.extension.get_bits::<8>(216 - 8 * i);
        }
        self.bytes.next = self.packed.y.val();
    }
}
