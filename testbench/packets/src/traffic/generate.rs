//! Makes traffic: valid packets with real checksums, and a share of bad headers on request.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

use etherparse::{TcpHeader, TcpOptionElement};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::aim::Aim;
use super::packet::{self, Defect, Endpoint, MIN_FRAME};
use super::{wire_bits, Frame, WIRE_OVERHEAD_BYTES};
use crate::slot;

/// Time of the first packet: 2023-11-14, in nanoseconds since 1970.
const START: u64 = 1_700_000_000_000_000_000;
/// Frame sizes of the simple IMIX, in their ratio 7:4:1.
const IMIX: [usize; 12] = [64, 64, 64, 64, 64, 64, 64, 594, 594, 594, 594, 1518];
/// Frames of the two sizes of bimodal traffic: as short and as long as Ethernet's.
const BIMODAL: (usize, usize) = (60, 1514);
/// TCP connections that are open at the same time.
const CONNECTIONS: usize = 16;
/// Payload bytes of a full TCP segment.
const SEGMENT_BYTES: usize = 1460;

/// What kind of packets. Sizes are bytes of the captured frame, without FCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UDP packets of 64, 594 and 1518 bytes in the ratio 7:4:1 (simple IMIX).
    Imix,
    /// UDP packets of one size.
    Fixed(usize),
    /// TCP connections: handshakes, requests, full data segments, acknowledgements, ends.
    TcpMix,
    /// UDP packets of 60 bytes, and so many percent of 1514 bytes among them, at random places.
    Bimodal(u32),
}

impl Kind {
    /// Captured bytes of a frame in the mean, without FCS; of connections about.
    #[must_use]
    pub fn mean_bytes(self) -> f64 {
        match self {
            Self::Fixed(bytes) => bytes as f64,
            Self::Imix => IMIX.iter().sum::<usize>() as f64 / IMIX.len() as f64,
            Self::TcpMix => 710.0,
            Self::Bimodal(percent) => {
                let long = f64::from(percent) / 100.0;
                BIMODAL.0 as f64 * (1.0 - long) + BIMODAL.1 as f64 * long
            }
        }
    }

    /// Bits of a frame on the wire in the mean, with preamble, FCS and gap.
    #[must_use]
    pub fn mean_wire_bits(self) -> f64 {
        8.0 * (self.mean_bytes() + WIRE_OVERHEAD_BYTES as f64)
    }
}

impl fmt::Display for Kind {
    /// As [`FromStr`] takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Imix => f.write_str("imix"),
            Self::Fixed(bytes) => write!(f, "fixed:{bytes}"),
            Self::TcpMix => f.write_str("tcp-mix"),
            Self::Bimodal(percent) => write!(f, "bimodal:{percent}"),
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let largest = slot::capacity(slot::MAX_BYTES_LOG2);
        match text.split_once(':') {
            None if text == "imix" => Ok(Self::Imix),
            None if text == "tcp-mix" => Ok(Self::TcpMix),
            Some(("fixed", bytes)) => match bytes.parse() {
                Ok(bytes) if (MIN_FRAME..=largest).contains(&bytes) => Ok(Self::Fixed(bytes)),
                _ => Err(format!("`{text}`: expected {MIN_FRAME} to {largest} bytes")),
            },
            Some(("bimodal", percent)) => match percent.parse() {
                Ok(percent) if percent <= 100 => Ok(Self::Bimodal(percent)),
                _ => Err(format!("`{text}`: expected 0 to 100 percent of long frames")),
            },
            _ => Err(format!("`{text}`: expected imix, fixed:BYTES, bimodal:PERCENT or tcp-mix")),
        }
    }
}

/// What to generate.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Kind of packets.
    pub kind: Kind,
    /// Seed: the same seed gives the same packets.
    pub seed: u64,
    /// Share of packets with a [`Defect`], in percent; the kinds of defects take turns.
    pub bad_share: f64,
    /// Line rate that the timestamps follow, in Gbit/s: packets stand back to back.
    pub rate: f64,
}

/// An endless stream of packets.
#[derive(Debug)]
pub struct Generator {
    traffic: Traffic,
    aim: Aim,
    random: ChaCha8Rng,
    /// Packets so far.
    count: usize,
    /// Bits that went over the wire.
    bits: u64,
    /// Bad packets so far.
    bad: usize,
    /// Sizes that are still to come from a group of 12 IMIX packets.
    sizes: Vec<usize>,
    connections: Vec<Connection>,
}

impl Generator {
    /// Starts the stream.
    pub fn new(traffic: Traffic) -> Self {
        Self::aimed(traffic, Aim::default())
    }

    /// As [`Generator::new`], with packets that have the sizes of the kind, and headers and
    /// payloads that `aim` asks for.
    pub fn aimed(traffic: Traffic, aim: Aim) -> Self {
        let random = ChaCha8Rng::seed_from_u64(traffic.seed);
        Self { traffic, aim, random, count: 0, bits: 0, bad: 0, sizes: Vec::new(), connections: Vec::new() }
    }

    /// Packets with a defect so far.
    pub fn bad(&self) -> usize {
        self.bad
    }

    /// A good packet.
    fn packet(&mut self) -> Vec<u8> {
        match self.traffic.kind {
            Kind::Fixed(bytes) => packet::udp(&mut self.random, bytes),
            Kind::Imix => {
                if self.sizes.is_empty() {
                    self.sizes = IMIX.to_vec();
                    self.sizes.shuffle(&mut self.random);
                }
                let bytes = self.sizes.pop().unwrap_or(IMIX[0]);
                packet::udp(&mut self.random, bytes)
            }
            Kind::Bimodal(percent) => {
                let is_long = self.random.gen_range(0..100) < percent;
                packet::udp(&mut self.random, if is_long { BIMODAL.1 } else { BIMODAL.0 })
            }
            Kind::TcpMix => {
                if self.connections.is_empty() {
                    self.connections = (0..CONNECTIONS).map(|_| Connection::new(&mut self.random)).collect();
                }
                let chosen = self.random.gen_range(0..CONNECTIONS);
                if self.connections[chosen].segments.is_empty() {
                    self.connections[chosen] = Connection::new(&mut self.random);
                }
                self.connections[chosen].next(&mut self.random)
            }
        }
    }
}

impl Iterator for Generator {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        let mut data = self.packet();
        if self.aim.is_set() {
            data = self.aim.packet(&mut self.random, self.count, data.len());
        }
        self.count += 1;
        if self.random.gen_bool(self.traffic.bad_share.clamp(0.0, 100.0) / 100.0) {
            Defect::ALL[self.bad % Defect::ALL.len()].apply(&mut data, &mut self.random);
            self.bad += 1;
        }
        let wire_length = data.len() as u32;
        let timestamp = START + (self.bits as f64 / self.traffic.rate) as u64;
        let frame = Frame { data, wire_length, timestamp, port: 0 };
        self.bits += wire_bits(&frame);
        Some(frame)
    }
}

/// One segment of a connection that is still to come.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Sent by the client, not the server.
    from_client: bool,
    syn: bool,
    fin: bool,
    payload: usize,
}

/// A TCP connection between a client and a server.
#[derive(Debug)]
struct Connection {
    client: Endpoint,
    server: Endpoint,
    /// Next sequence number of client and server.
    sequence: [u32; 2],
    segments: VecDeque<Segment>,
}

impl Connection {
    /// A connection with one request and its answer.
    fn new(random: &mut impl Rng) -> Self {
        let plain = |from_client, payload| Segment { from_client, syn: false, fin: false, payload };
        let mut segments = VecDeque::from([
            Segment { syn: true, ..plain(true, 0) },
            Segment { syn: true, ..plain(false, 0) },
            plain(true, 0),
            plain(true, random.gen_range(80..700)),
        ]);
        let mut answer = random.gen_range(100..30_000);
        let mut unacknowledged = 0;
        while answer > 0 {
            let payload = answer.min(SEGMENT_BYTES);
            segments.push_back(plain(false, payload));
            answer -= payload;
            unacknowledged += 1;
            if unacknowledged == 2 || answer == 0 {
                segments.push_back(plain(true, 0));
                unacknowledged = 0;
            }
        }
        segments.push_back(Segment { fin: true, ..plain(false, 0) });
        segments.push_back(Segment { fin: true, ..plain(true, 0) });
        segments.push_back(plain(false, 0));
        let port = random.gen_range(32_768..61_000);
        Self {
            client: Endpoint::random(random, 10, port),
            server: Endpoint::random(random, 198, 443),
            sequence: [random.gen(), random.gen()],
            segments,
        }
    }

    /// The next segment as a frame.
    fn next(&mut self, random: &mut impl Rng) -> Vec<u8> {
        let segment = self.segments.pop_front().unwrap_or(Segment {
            from_client: true,
            syn: false,
            fin: false,
            payload: 0,
        });
        let (own, peer) = if segment.from_client { (0, 1) } else { (1, 0) };
        let ends = if segment.from_client { (self.client, self.server) } else { (self.server, self.client) };
        let mut header = TcpHeader::new(ends.0.port, ends.1.port, self.sequence[own], 64_240);
        header.syn = segment.syn;
        header.fin = segment.fin;
        header.psh = segment.payload > 0 && segment.payload < SEGMENT_BYTES;
        if segment.syn {
            // One element always fits in the 40 bytes of options.
            let _ = header.set_options(&[TcpOptionElement::MaximumSegmentSize(SEGMENT_BYTES as u16)]);
        }
        if !(segment.syn && segment.from_client) {
            header.ack = true;
            header.acknowledgment_number = self.sequence[peer];
        }
        let length = segment.payload as u32 + u32::from(segment.syn) + u32::from(segment.fin);
        self.sequence[own] = self.sequence[own].wrapping_add(length);
        packet::tcp(random, ends, header, segment.payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{PacketHeaders, TransportHeader};

    fn generate(kind: &str, packets: usize, bad_share: f64) -> Vec<Frame> {
        let kind = kind.parse().unwrap();
        Generator::new(Traffic { kind, seed: crate::test_seed(), bad_share, rate: 100.0 })
            .take(packets)
            .collect()
    }

    /// Every checksum and length of good traffic is right, as an independent parser sees it.
    #[test]
    fn good_packets_are_good() {
        for kind in ["imix", "fixed:60", "fixed:61", "fixed:1514", "fixed:9000", "tcp-mix"] {
            let mut time = 0;
            for frame in generate(kind, 500, 0.0) {
                let packet = PacketHeaders::from_ethernet_slice(&frame.data).unwrap();
                let (ip, _) = packet.net.as_ref().unwrap().ipv4_ref().unwrap();
                assert_eq!(ip.header_checksum, ip.calc_header_checksum());
                assert!(usize::from(ip.total_len) + 14 <= frame.data.len() && ip.time_to_live > 1);
                let payload = packet.payload.slice();
                match packet.transport.unwrap() {
                    TransportHeader::Udp(udp) => {
                        assert_eq!(udp.checksum, udp.calc_checksum_ipv4(ip, payload).unwrap());
                    }
                    TransportHeader::Tcp(tcp) => {
                        assert_eq!(tcp.checksum, tcp.calc_checksum_ipv4(ip, payload).unwrap());
                    }
                    other => panic!("{other:?}"),
                }
                assert!(frame.timestamp > time);
                time = frame.timestamp;
            }
        }
    }

    #[test]
    fn sizes() {
        let frames = generate("imix", 1200, 0.0);
        let count = |bytes| frames.iter().filter(|frame| frame.data.len() == bytes).count();
        assert_eq!((count(64), count(594), count(1518)), (700, 400, 100));
        assert!(generate("fixed:777", 50, 0.0).iter().all(|frame| frame.data.len() == 777));
        let long = generate("bimodal:10", 2000, 0.0).iter().filter(|frame| frame.data.len() == 1514).count();
        assert!((150..250).contains(&long), "{long} of 2000");
        assert!(generate("bimodal:0", 50, 0.0).iter().all(|frame| frame.data.len() == 60));
        assert!(generate("tcp-mix", 2000, 0.0).iter().any(|frame| frame.data.len() == 1514));
        let last = &frames[frames.len() - 1];
        let bits: u64 = frames[..1199].iter().map(wire_bits).sum();
        assert_eq!(last.timestamp - START, bits / 100, "timestamps follow the line rate");
    }

    #[test]
    fn kinds_are_told_as_they_are_read() {
        for kind in ["imix", "fixed:60", "bimodal:10", "tcp-mix"] {
            assert_eq!(kind.parse::<Kind>().unwrap().to_string(), kind);
        }
    }

    #[test]
    fn sizes_in_the_mean() {
        let mean = |kind: &str| kind.parse::<Kind>().unwrap().mean_bytes();
        assert_eq!((mean("fixed:60"), mean("bimodal:10"), mean("bimodal:100")), (60.0, 205.4, 1514.0));
        for kind in ["imix", "tcp-mix", "bimodal:30"] {
            let frames = generate(kind, 6_000, 0.0);
            let found = frames.iter().map(|frame| frame.data.len()).sum::<usize>() as f64 / 6_000.0;
            assert!((0.9..1.1).contains(&(found / mean(kind))), "{kind}: {found}");
        }
    }

    #[test]
    fn same_seed_same_packets() {
        for kind in ["imix", "tcp-mix", "bimodal:50"] {
            assert_eq!(generate(kind, 300, 20.0), generate(kind, 300, 20.0));
        }
    }

    #[test]
    fn kinds_are_checked() {
        for text in
            ["", "fixed", "fixed:", "fixed:59", "fixed:65519", "imix:3", "mix", "bimodal", "bimodal:101"]
        {
            assert!(text.parse::<Kind>().unwrap_err().contains("expected"), "{text}");
        }
    }
}
