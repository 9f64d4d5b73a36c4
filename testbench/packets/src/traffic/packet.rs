//! Packets with real checksums, and ways to break them.

use etherparse::{
    checksum::Sum16BitWords, EtherType, Ethernet2Header, IpNumber, Ipv4Header, TcpHeader, UdpHeader,
};
use rand::Rng;

use crate::tables::FiveTuple;

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// Smallest Ethernet frame without FCS.
pub const MIN_FRAME: usize = 60;
/// The router alert option (RFC 2113).
const ROUTER_ALERT: [u8; 4] = [0x94, 0x04, 0, 0];

/// One end of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// IPv4 address that a host may have.
    pub address: [u8; 4],
    /// Port.
    pub port: u16,
}

impl Endpoint {
    /// A host with an address of `network`.0.0.0/8 and this port.
    pub fn random(random: &mut impl Rng, network: u8, port: u16) -> Self {
        Self { address: [network, random.gen(), random.gen(), random.gen_range(1..255)], port }
    }
}

/// What is not the same in every header.
#[derive(Clone, Copy)]
struct Flags {
    /// Whether there is an IP option.
    options: bool,
    /// Whether the packet must not be fragmented.
    dont_fragment: bool,
}

impl Flags {
    /// What TCP sends.
    const TCP: Self = Self { options: false, dont_fragment: true };
}

/// Ethernet and IPv4 header in front of `transport` and `payload`, padded to the smallest frame.
fn frame(
    ends: (Endpoint, Endpoint),
    protocol: IpNumber,
    flags: Flags,
    ttl: u8,
    transport: &[u8],
    payload: &[u8],
) -> Vec<u8> {
    let mac = |end: Endpoint| [0x02, 0, end.address[0], end.address[1], end.address[2], end.address[3]];
    let ethernet =
        Ethernet2Header { destination: mac(ends.1), source: mac(ends.0), ether_type: EtherType::IPV4 };
    let (source, destination) = (ends.0.address, ends.1.address);
    let mut ip = Ipv4Header { time_to_live: ttl, protocol, source, destination, ..Default::default() };
    if flags.options {
        ip.options = ROUTER_ALERT.into();
    }
    ip.dont_fragment = flags.dont_fragment;
    ip.total_len = (ip.header_len() + transport.len() + payload.len()) as u16;
    ip.header_checksum = ip.calc_header_checksum();
    let mut bytes = ethernet.to_bytes().to_vec();
    bytes.extend_from_slice(&ip.to_bytes());
    bytes.extend_from_slice(transport);
    bytes.extend_from_slice(payload);
    if bytes.len() < MIN_FRAME {
        bytes.resize(MIN_FRAME, 0);
    }
    bytes
}

/// A UDP packet in a frame of `bytes` bytes (at least [`MIN_FRAME`]), some of them with an IP
/// option; half of them may be fragmented.
pub fn udp(random: &mut impl Rng, bytes: usize) -> Vec<u8> {
    let (port_a, port_b) = (random.gen_range(1024..u16::MAX), random.gen_range(1..1024));
    let ends = (Endpoint::random(random, 10, port_a), Endpoint::random(random, 198, port_b));
    let options = random.gen_ratio(1, 16);
    let ip_bytes = if options { 24 } else { 20 };
    let mut payload = vec![0; bytes - ETHERNET - ip_bytes - UdpHeader::LEN];
    random.fill(&mut payload[..]);
    let mut header = UdpHeader {
        source_port: ends.0.port,
        destination_port: ends.1.port,
        length: (UdpHeader::LEN + payload.len()) as u16,
        checksum: 0,
    };
    let (source, destination) = (ends.0.address, ends.1.address);
    header.checksum = header.calc_checksum_ipv4_raw(source, destination, &payload).unwrap_or(0);
    let flags = Flags { options, dont_fragment: random.gen() };
    frame(ends, IpNumber::UDP, flags, random.gen_range(2..=255), &header.to_bytes(), &payload)
}

/// A packet of this 5-tuple in a frame of `bytes` bytes (at least [`MIN_FRAME`]); `fill` may change
/// the payload, which is random. Protocols other than TCP and UDP have no transport header.
pub fn of_tuple<R: Rng>(
    random: &mut R,
    tuple: &FiveTuple,
    bytes: usize,
    fill: impl FnOnce(&mut R, &mut [u8]),
) -> Vec<u8> {
    let (source, destination) = (tuple.source.octets(), tuple.destination.octets());
    let ends = (
        Endpoint { address: source, port: tuple.source_port },
        Endpoint { address: destination, port: tuple.destination_port },
    );
    let protocol = IpNumber(tuple.protocol);
    let header_bytes = match protocol {
        IpNumber::TCP => TcpHeader::MIN_LEN,
        IpNumber::UDP => UdpHeader::LEN,
        _ => 0,
    };
    let mut payload = vec![0; bytes - ETHERNET - Ipv4Header::MIN_LEN - header_bytes];
    random.fill(&mut payload[..]);
    fill(random, &mut payload);
    let transport = match protocol {
        IpNumber::TCP => {
            let mut header = TcpHeader::new(ends.0.port, ends.1.port, random.gen(), 64_240);
            (header.psh, header.ack, header.acknowledgment_number) = (true, true, random.gen());
            header.checksum = header.calc_checksum_ipv4_raw(source, destination, &payload).unwrap_or(0);
            header.to_bytes().to_vec()
        }
        IpNumber::UDP => {
            let length = (UdpHeader::LEN + payload.len()) as u16;
            let mut header =
                UdpHeader { source_port: ends.0.port, destination_port: ends.1.port, length, checksum: 0 };
            header.checksum = header.calc_checksum_ipv4_raw(source, destination, &payload).unwrap_or(0);
            header.to_bytes().to_vec()
        }
        _ => Vec::new(),
    };
    let flags = Flags { options: false, dont_fragment: protocol == IpNumber::TCP || random.gen() };
    frame(ends, protocol, flags, random.gen_range(2..=255), &transport, &payload)
}

/// A TCP segment from `ends.0` to `ends.1`.
pub fn tcp(
    random: &mut impl Rng,
    ends: (Endpoint, Endpoint),
    header: TcpHeader,
    payload_bytes: usize,
) -> Vec<u8> {
    let mut payload = vec![0; payload_bytes];
    random.fill(&mut payload[..]);
    let mut header = header;
    let (source, destination) = (ends.0.address, ends.1.address);
    header.checksum = header.calc_checksum_ipv4_raw(source, destination, &payload).unwrap_or(0);
    frame(ends, IpNumber::TCP, Flags::TCP, 64 - random.gen_range(0..24), &header.to_bytes(), &payload)
}

/// One thing that is wrong with a packet, all else being right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// The EtherType is that of ARP.
    NotIpv4,
    /// The frame ends inside the IPv4 header.
    Short,
    /// The IP version is not 4.
    Version,
    /// The header length is below 20 bytes.
    HeaderTooSmall,
    /// The header ends beyond the frame.
    HeaderTooLarge,
    /// The total length is below the header length.
    TotalTooSmall,
    /// The total length is beyond the frame.
    TotalTooLarge,
    /// One bit of the header checksum is wrong.
    Checksum,
    /// The source address is of network 0, loopback, multicast, or reserved.
    Source,
    /// The time to live is 0 or 1.
    Ttl,
}

impl Defect {
    /// Every defect.
    pub const ALL: [Self; 10] = [
        Self::NotIpv4,
        Self::Short,
        Self::Version,
        Self::HeaderTooSmall,
        Self::HeaderTooLarge,
        Self::TotalTooSmall,
        Self::TotalTooLarge,
        Self::Checksum,
        Self::Source,
        Self::Ttl,
    ];

    /// Gives `bytes`, a good IPv4 frame, this defect. The header checksum stays right, but for
    /// [`Defect::Checksum`].
    pub fn apply(self, bytes: &mut Vec<u8>, random: &mut impl Rng) {
        let header_bytes = usize::from(bytes[ETHERNET] & 0x0f) * 4;
        match self {
            Self::NotIpv4 => bytes[12..14].copy_from_slice(&[0x08, 0x06]),
            Self::Short => bytes.truncate(random.gen_range(ETHERNET..ETHERNET + 20)),
            Self::Version => {
                let version = (random.gen_range(5..20) % 16_u8) << 4;
                bytes[ETHERNET] = bytes[ETHERNET] & 0x0f | version;
            }
            Self::HeaderTooSmall => bytes[ETHERNET] = 0x40 | random.gen_range(0..5),
            Self::HeaderTooLarge => {
                bytes.truncate(ETHERNET + 40);
                bytes[ETHERNET] = 0x40 | random.gen_range(11..16);
            }
            Self::TotalTooSmall => {
                let total = random.gen_range(0..header_bytes as u16);
                bytes[ETHERNET + 2..ETHERNET + 4].copy_from_slice(&total.to_be_bytes());
            }
            Self::TotalTooLarge => {
                let total = random.gen_range((bytes.len() - ETHERNET + 1) as u16..=u16::MAX);
                bytes[ETHERNET + 2..ETHERNET + 4].copy_from_slice(&total.to_be_bytes());
            }
            Self::Checksum => bytes[ETHERNET + 10 + random.gen_range(0..2)] ^= 1 << random.gen_range(0..8),
            Self::Source => {
                bytes[ETHERNET + 12] =
                    [0, 127, random.gen_range(224..240), random.gen_range(240..=255)][random.gen_range(0..4)];
            }
            Self::Ttl => bytes[ETHERNET + 8] = random.gen_range(0..2),
        }
        if !matches!(self, Self::NotIpv4 | Self::Short | Self::Checksum) {
            correct_checksum(bytes);
        }
    }
}

/// Sets the checksum of the IPv4 header of a frame, over as many bytes as the header length tells
/// and the frame has.
///
/// # Panics
/// The frame has less than the shortest IPv4 header up to its checksum.
pub fn correct_checksum(bytes: &mut [u8]) {
    let end = (ETHERNET + usize::from(bytes[ETHERNET] & 0x0f).max(5) * 4).min(bytes.len());
    bytes[ETHERNET + 10..ETHERNET + 12].fill(0);
    let sum = Sum16BitWords::new().add_slice(&bytes[ETHERNET..end]).ones_complement();
    // The sum has the bytes in the order in which they stand in the packet.
    bytes[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&sum.to_ne_bytes());
}
