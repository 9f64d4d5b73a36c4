//! Frames of RoCEv2 with reliable connections, from the specification: what the network interface
//! sends, and how it judges what comes.
//!
//! InfiniBand Architecture Specification 1.4, volume 1, chapter 9 (transport headers) and annex A17
//! (RoCEv2: Ethernet, IPv4, UDP port 4791, then the transport headers, payload and ICRC).

use etherparse::checksum::Sum16BitWords;
use etherparse::{EtherType, Ethernet2Header, IpNumber, Ipv4Header, Ipv4HeaderSlice, UdpHeader};

/// The UDP port of RoCEv2.
pub const UDP_PORT: u16 = 4791;
/// The default partition.
pub const PARTITION: u16 = 0xffff;
/// Its limited members have this bit low.
const LIMITED: u16 = 0x8000;
/// Bytes of Ethernet, IPv4, UDP and base transport header.
const HEADERS: usize = ETHERNET + IPV4 + UDP + BASE;
const ETHERNET: usize = 14;
const IPV4: usize = 20;
const UDP: usize = 8;
const BASE: usize = 12;
const ICRC: usize = 4;
/// The shortest Ethernet frame without FCS; shorter ones are filled up with zeros.
const SHORTEST: usize = 60;

/// Opcodes of the reliable connection that there are (table 38).
pub mod opcode {
    /// RDMA WRITE, first of several packets.
    pub const WRITE_FIRST: u8 = 0x06;
    /// RDMA WRITE, between first and last.
    pub const WRITE_MIDDLE: u8 = 0x07;
    /// RDMA WRITE, last.
    pub const WRITE_LAST: u8 = 0x08;
    /// RDMA WRITE, the only packet.
    pub const WRITE_ONLY: u8 = 0x0a;
    /// RDMA READ request.
    pub const READ_REQUEST: u8 = 0x0c;
    /// RDMA READ response, first of several packets.
    pub const RESPONSE_FIRST: u8 = 0x0d;
    /// RDMA READ response, between first and last.
    pub const RESPONSE_MIDDLE: u8 = 0x0e;
    /// RDMA READ response, last.
    pub const RESPONSE_LAST: u8 = 0x0f;
    /// RDMA READ response, the only packet.
    pub const RESPONSE_ONLY: u8 = 0x10;
    /// Acknowledge.
    pub const ACKNOWLEDGE: u8 = 0x11;
    /// Acknowledge of an atomic operation.
    pub const ATOMIC_ACKNOWLEDGE: u8 = 0x12;
    /// Compare and swap.
    pub const COMPARE_SWAP: u8 = 0x13;
    /// Fetch and add.
    pub const FETCH_ADD: u8 = 0x14;
}

/// What stands between base transport header and payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extended {
    /// Nothing.
    None,
    /// RDMA extended transport header.
    Rdma {
        /// Virtual address at the target.
        address: u64,
        /// Key of the region.
        key: u32,
        /// Bytes of the whole message.
        length: u32,
    },
    /// Acknowledge extended transport header.
    Acknowledge {
        /// Acknowledge or its refusal.
        syndrome: u8,
        /// Message sequence number, 24 bits.
        message: u32,
    },
    /// Acknowledge of an atomic operation: both headers.
    AtomicAcknowledge {
        /// Acknowledge or its refusal.
        syndrome: u8,
        /// Message sequence number, 24 bits.
        message: u32,
        /// The value before the operation.
        original: u64,
    },
    /// Atomic extended transport header.
    Atomic {
        /// Virtual address at the target.
        address: u64,
        /// Key of the region.
        key: u32,
        /// What is added, or what is swapped in.
        operand: u64,
        /// What is compared.
        compare: u64,
    },
}

impl Extended {
    /// The header that an opcode has; its values are 0. `None` for an opcode of another service.
    /// What follows a request of the reliable connection that is not served counts as payload.
    #[must_use]
    pub const fn of(opcode: u8) -> Option<Self> {
        use opcode::{
            ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, COMPARE_SWAP, FETCH_ADD, READ_REQUEST, RESPONSE_FIRST,
            RESPONSE_LAST, RESPONSE_MIDDLE, RESPONSE_ONLY, WRITE_FIRST, WRITE_LAST, WRITE_MIDDLE, WRITE_ONLY,
        };
        Some(match opcode {
            WRITE_FIRST | WRITE_ONLY | READ_REQUEST => Self::Rdma { address: 0, key: 0, length: 0 },
            WRITE_MIDDLE | WRITE_LAST | RESPONSE_MIDDLE => Self::None,
            RESPONSE_FIRST | RESPONSE_LAST | RESPONSE_ONLY | ACKNOWLEDGE => {
                Self::Acknowledge { syndrome: 0, message: 0 }
            }
            ATOMIC_ACKNOWLEDGE => Self::AtomicAcknowledge { syndrome: 0, message: 0, original: 0 },
            COMPARE_SWAP | FETCH_ADD => Self::Atomic { address: 0, key: 0, operand: 0, compare: 0 },
            0..=0x1f => Self::None,
            _ => return None,
        })
    }

    /// Its bytes, most significant first.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |value: u64, count: usize| bytes.extend_from_slice(&value.to_be_bytes()[8 - count..]);
        match *self {
            Self::None => {}
            Self::Rdma { address, key, length } => {
                put(address, 8);
                put(key.into(), 4);
                put(length.into(), 4);
            }
            Self::Acknowledge { syndrome, message } => {
                put(syndrome.into(), 1);
                put(message.into(), 3);
            }
            Self::AtomicAcknowledge { syndrome, message, original } => {
                put(syndrome.into(), 1);
                put(message.into(), 3);
                put(original, 8);
            }
            Self::Atomic { address, key, operand, compare } => {
                put(address, 8);
                put(key.into(), 4);
                put(operand, 8);
                put(compare, 8);
            }
        }
        bytes
    }

    /// The header of `opcode` from the bytes behind the base transport header; `None` if they are
    /// too few.
    fn read(opcode: u8, bytes: &[u8]) -> Option<Self> {
        let get = |from: usize, count: usize| -> Option<u64> {
            let part = bytes.get(from..from + count)?;
            Some(part.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
        };
        Some(match Self::of(opcode)? {
            Self::None => Self::None,
            Self::Rdma { .. } => {
                Self::Rdma { address: get(0, 8)?, key: get(8, 4)? as u32, length: get(12, 4)? as u32 }
            }
            Self::Acknowledge { .. } => {
                Self::Acknowledge { syndrome: get(0, 1)? as u8, message: get(1, 3)? as u32 }
            }
            Self::AtomicAcknowledge { .. } => Self::AtomicAcknowledge {
                syndrome: get(0, 1)? as u8,
                message: get(1, 3)? as u32,
                original: get(4, 8)?,
            },
            Self::Atomic { .. } => Self::Atomic {
                address: get(0, 8)?,
                key: get(8, 4)? as u32,
                operand: get(12, 8)?,
                compare: get(20, 8)?,
            },
        })
    }
}

/// A frame of RoCEv2. What is not here has the value that this implementation sends: no options,
/// fragments or VLAN; UDP checksum 0; partition [`PARTITION`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoceFrame {
    /// Destination, as on the wire.
    pub to_mac: [u8; 6],
    /// Source, as on the wire.
    pub from_mac: [u8; 6],
    /// Type of service.
    pub type_of_service: u8,
    /// Destination address.
    pub to_ip: [u8; 4],
    /// Source address.
    pub from_ip: [u8; 4],
    /// UDP source port.
    pub source_port: u16,
    /// Opcode of the base transport header.
    pub opcode: u8,
    /// The receiver is asked to acknowledge.
    pub acknowledge: bool,
    /// Destination queue pair, 24 bits.
    pub queue_pair: u32,
    /// Packet sequence number, 24 bits.
    pub sequence: u32,
    /// The header of the opcode.
    pub extended: Extended,
    /// The payload, without padding.
    pub payload: Vec<u8>,
}

/// Why a frame is none of RoCEv2 that a receiver may look at, in the order in which it is judged
/// (design of the network interface, section 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum RoceError {
    /// Too short for its headers.
    #[error("too short for its headers")]
    Short,
    /// Not IPv4 without options and fragments, or a wrong header checksum or length.
    #[error("not IPv4 without options and fragments, or with a wrong checksum or length")]
    Ip,
    /// Not UDP to port 4791, or a length that differs from that of IPv4.
    #[error("not UDP to port {UDP_PORT}, or with a wrong length")]
    Udp,
    /// Header version or partition of the base transport header.
    #[error("another version or partition")]
    Version,
    /// The ICRC is wrong.
    #[error("wrong ICRC")]
    Icrc,
    /// The opcode is none of [`opcode`], or the frame is too short for its header.
    #[error("an opcode that is not there, or too short for its header")]
    Opcode,
}

impl RoceFrame {
    /// Bytes that fill the payload up to a multiple of 4.
    fn padding(&self) -> usize {
        self.payload.len().wrapping_neg() & 3
    }

    /// The frame as it is on the wire, without FCS.
    ///
    /// # Panics
    /// If the payload is larger than a frame holds.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let extended = self.extended.bytes();
        let padding = self.padding();
        let transport = BASE + extended.len() + self.payload.len() + padding + ICRC;
        let mut ip = Ipv4Header::new((UDP + transport) as u16, 64, IpNumber::UDP, self.from_ip, self.to_ip)
            .expect("a payload of a frame");
        ip.dscp = (self.type_of_service >> 2).try_into().expect("six bits");
        ip.ecn = (self.type_of_service & 3).try_into().expect("two bits");
        ip.dont_fragment = true;
        ip.header_checksum = ip.calc_header_checksum();
        let udp = UdpHeader {
            source_port: self.source_port,
            destination_port: UDP_PORT,
            length: (UDP + transport) as u16,
            checksum: 0,
        };
        let ethernet =
            Ethernet2Header { destination: self.to_mac, source: self.from_mac, ether_type: EtherType::IPV4 };
        let mut frame = ethernet.to_bytes().to_vec();
        frame.extend_from_slice(&ip.to_bytes());
        frame.extend_from_slice(&udp.to_bytes());
        // M (migration) is 1, as the channel adapters of Linux send it; a receiver ignores it.
        frame.extend_from_slice(&[self.opcode, 0x40 | (padding as u8) << 4]);
        frame.extend_from_slice(&PARTITION.to_be_bytes());
        frame.extend_from_slice(&self.queue_pair.to_be_bytes());
        frame.extend_from_slice(&(u32::from(self.acknowledge) << 31 | self.sequence).to_be_bytes());
        frame.extend_from_slice(&extended);
        frame.extend_from_slice(&self.payload);
        frame.resize(frame.len() + padding, 0);
        frame.extend_from_slice(&icrc(&frame).to_le_bytes());
        frame.resize(frame.len().max(SHORTEST), 0);
        frame
    }

    /// Reads a frame; what follows its IPv4 packet is ignored.
    ///
    /// # Errors
    /// [`RoceError`], the first that is found.
    pub fn parse(frame: &[u8]) -> Result<Self, RoceError> {
        let (ethernet, rest) = Ethernet2Header::from_slice(frame).map_err(|_| RoceError::Short)?;
        if rest.len() < HEADERS - ETHERNET + ICRC {
            return Err(RoceError::Short);
        }
        let slice = Ipv4HeaderSlice::from_slice(rest).map_err(|_| RoceError::Ip)?;
        // The sum of the header as it came, its reserved bit too, with its checksum.
        let sum = Sum16BitWords::new().add_slice(slice.slice()).ones_complement();
        let ip = slice.to_header();
        let length = usize::from(ip.total_len);
        let good = ethernet.ether_type == EtherType::IPV4
            && ip.header_len() == IPV4
            && !ip.more_fragments
            && ip.fragment_offset.value() == 0
            && sum == 0
            && (IPV4 + UDP + BASE + ICRC..=rest.len()).contains(&length)
            && length % 4 == 0;
        if !good {
            return Err(RoceError::Ip);
        }
        let packet = &rest[..length];
        let (udp, transport) = UdpHeader::from_slice(&packet[IPV4..]).map_err(|_| RoceError::Udp)?;
        if ip.protocol != IpNumber::UDP
            || udp.destination_port != UDP_PORT
            || usize::from(udp.length) != length - IPV4
        {
            return Err(RoceError::Udp);
        }
        let word = |at: usize| u32::from_be_bytes(transport[at..at + 4].try_into().expect("four bytes"));
        if transport[1] & 0x0f != 0 || word(0) as u16 | LIMITED != PARTITION {
            return Err(RoceError::Version);
        }
        let (covered, check) = transport.split_at(transport.len() - ICRC);
        if check != icrc(&frame[..ETHERNET + length - ICRC]).to_le_bytes() {
            return Err(RoceError::Icrc);
        }
        Extended::of(transport[0]).ok_or(RoceError::Opcode)?;
        let extended = Extended::read(transport[0], &covered[BASE..]).ok_or(RoceError::Opcode)?;
        let padding = usize::from(transport[1] >> 4 & 3);
        let payload = &covered[BASE + extended.bytes().len()..];
        let payload =
            payload.len().checked_sub(padding).map(|end| &payload[..end]).ok_or(RoceError::Opcode)?;
        Ok(Self {
            to_mac: ethernet.destination,
            from_mac: ethernet.source,
            type_of_service: ip.dscp.value() << 2 | ip.ecn.value(),
            to_ip: ip.destination,
            from_ip: ip.source,
            source_port: udp.source_port,
            opcode: transport[0],
            acknowledge: word(8) >> 31 == 1,
            queue_pair: word(4) & 0xff_ffff,
            sequence: word(8) & 0xff_ffff,
            extended,
            payload: payload.to_vec(),
        })
    }
}

/// The ICRC of a frame that ends before it: CRC-32 of eight bytes 0xff and of the frame from its
/// IPv4 header on, with what routers may change as ones: type of service, time to live, both
/// checksums, and the byte of the base transport header that is theirs.
///
/// # Panics
/// If the frame has not its headers up to the base transport header.
#[must_use]
pub fn icrc(frame: &[u8]) -> u32 {
    let mut covered = vec![0xff; 8];
    covered.extend_from_slice(&frame[ETHERNET..]);
    // Behind the eight bytes: IPv4 1, 8, 10, 11; UDP 6, 7; base transport header 4.
    for at in [1, 8, 10, 11, IPV4 + 6, IPV4 + 7, IPV4 + UDP + 4] {
        covered[8 + at] = 0xff;
    }
    crc32fast::hash(&covered)
}

/// Puts the checksum of the IPv4 header and the ICRC of a frame right, whose headers were changed:
/// as far as it has them where its length says.
pub fn seal(frame: &mut [u8]) {
    if frame.len() < HEADERS + ICRC {
        return;
    }
    let sum = ETHERNET + 10..ETHERNET + 12;
    frame[sum.clone()].fill(0);
    // The sum has the order of the bytes that it covers.
    let words = Sum16BitWords::new().add_slice(&frame[ETHERNET..ETHERNET + IPV4]);
    frame[sum].copy_from_slice(&words.ones_complement().to_ne_bytes());
    let length = u16::from_be_bytes([frame[ETHERNET + 2], frame[ETHERNET + 3]]);
    let end = ETHERNET + usize::from(length);
    if (HEADERS + ICRC..=frame.len()).contains(&end) {
        let check = icrc(&frame[..end - ICRC]);
        frame[end - ICRC..end].copy_from_slice(&check.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
    }

    /// A write of eight bytes that Linux 6.1's rdma_rxe accepted, and its acknowledge.
    const WRITE: &str = "0200000000020200000000010800450000440001400040\
        1126a60a0000010a000002c00012b7003000000a00ffff000000118000006400000000100000400000029c000000084865726d657321005b808f2d";
    const ACKNOWLEDGE: &str = "020000000001020000000002080045000030\
        40cd40004011e5ed0a0000020a000001c13212b7001c00001100ffff00000012000000641f000001eeb5c7c1";

    fn write() -> RoceFrame {
        RoceFrame {
            to_mac: [2, 0, 0, 0, 0, 2],
            from_mac: [2, 0, 0, 0, 0, 1],
            type_of_service: 0,
            to_ip: [10, 0, 0, 2],
            from_ip: [10, 0, 0, 1],
            source_port: 0xc000,
            opcode: opcode::WRITE_ONLY,
            acknowledge: true,
            queue_pair: 0x11,
            sequence: 100,
            extended: Extended::Rdma { address: 0x1000_0040, key: 0x29c, length: 8 },
            payload: b"Hermes!\0".to_vec(),
        }
    }

    #[test]
    fn frames_that_linux_took_and_sent() {
        assert_eq!(RoceFrame::parse(&hex(WRITE)).unwrap(), write());
        let frame = RoceFrame::parse(&hex(ACKNOWLEDGE)).unwrap();
        assert_eq!((frame.opcode, frame.queue_pair, frame.sequence), (opcode::ACKNOWLEDGE, 0x12, 100));
        assert_eq!(frame.extended, Extended::Acknowledge { syndrome: 0x1f, message: 1 });
    }

    #[test]
    fn only_the_migration_bit_and_the_identification_are_ours() {
        // The peer of that capture sent M 0 and identification 1; neither is in this model.
        let mut expected = hex(WRITE);
        expected[18..20].copy_from_slice(&[0, 0]);
        expected[43] = 0x40;
        let frame = write().bytes();
        assert_eq!(frame.len(), 82);
        let same = |range: std::ops::Range<usize>| assert_eq!(frame[range.clone()], expected[range]);
        same(0..24);
        same(26..78);
    }

    #[test]
    fn every_opcode_there_and_back() {
        for code in 0..=255u8 {
            let Some(extended) = Extended::of(code) else { continue };
            for length in [0, 1, 2, 3, 4, 63, 1024] {
                let frame = RoceFrame {
                    opcode: code,
                    extended,
                    payload: (0..length).map(|i| i as u8).collect(),
                    ..write()
                };
                let bytes = frame.bytes();
                assert!(bytes.len() >= SHORTEST);
                assert_eq!(RoceFrame::parse(&bytes).as_ref(), Ok(&frame));
                let mut longer = bytes.clone();
                longer.push(7);
                assert_eq!(RoceFrame::parse(&longer), Ok(frame));
            }
        }
    }

    /// RFC 791 wants the first of the flags to be 0; a receiver does not look at it, and its bit
    /// counts in the checksum.
    #[test]
    fn the_reserved_flag_counts_in_the_checksum_alone() {
        let mut frame = write().bytes();
        frame[20] |= 0x80;
        assert_eq!(RoceFrame::parse(&frame), Err(RoceError::Ip));
        seal(&mut frame);
        assert_eq!(RoceFrame::parse(&frame), Ok(write()));
    }

    #[test]
    fn changed_bits_are_found() {
        // Bits that the receiver does not look at: MACs, and what routers may change without a
        // check.
        let frame = write().bytes();
        let free = |byte: usize| byte < 12 || matches!(byte, 40 | 41 | 46);
        for byte in 0..frame.len() {
            for bit in 0..8 {
                let mut changed = frame.clone();
                changed[byte] ^= 1 << bit;
                assert_eq!(RoceFrame::parse(&changed).is_err(), !free(byte), "byte {byte}, bit {bit}");
            }
        }
        for length in 0..frame.len() {
            assert!(RoceFrame::parse(&frame[..length]).is_err(), "{length}");
        }
    }
}
