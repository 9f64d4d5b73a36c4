//! Packets that meet given tables: headers that filters match, destinations that have routes,
//! payloads with patterns.

use std::net::Ipv4Addr;
use std::path::Path;

use rand::seq::SliceRandom;
use rand::Rng;

use super::packet;
use crate::input::decimal;
use crate::tables::{Filter, FiveTuple, InputError, Route};

/// Of this many packets one is not aimed at anything, so that misses occur too.
const MISS_RATIO: u32 = 8;

/// What generated packets are aimed at. Nothing by default.
#[derive(Clone, Debug, Default)]
pub struct Aim {
    /// Headers that packets get in turn.
    pub headers: Vec<FiveTuple>,
    /// Filters: most packets match one of them.
    pub filters: Vec<Filter>,
    /// Routes: most packets have a destination inside one of their prefixes.
    pub routes: Vec<Route>,
    /// Patterns: half of the packets have one of them in their payload.
    pub patterns: Vec<Vec<u8>>,
}

impl Aim {
    /// Whether packets are aimed at anything.
    pub fn is_set(&self) -> bool {
        !(self.headers.is_empty()
            && self.filters.is_empty()
            && self.routes.is_empty()
            && self.patterns.is_empty())
    }

    /// The packet number `index`, a frame of `bytes` bytes (at least that of the smallest frame).
    pub(super) fn packet(&self, random: &mut impl Rng, index: usize, bytes: usize) -> Vec<u8> {
        let tuple = self.tuple(random, index);
        packet::of_tuple(random, &tuple, bytes, |random, payload| {
            let Some(pattern) = self.patterns.choose(random).filter(|_| random.gen()) else { return };
            if let Some(last) = payload.len().checked_sub(pattern.len()) {
                let start = random.gen_range(0..=last);
                payload[start..start + pattern.len()].copy_from_slice(pattern);
            }
        })
    }

    fn tuple(&self, random: &mut impl Rng, index: usize) -> FiveTuple {
        if !self.headers.is_empty() {
            return self.headers[index % self.headers.len()];
        }
        let host = |random: &mut dyn rand::RngCore, network: u8| {
            Ipv4Addr::new(network, random.gen(), random.gen(), random.gen_range(1..255))
        };
        let mut tuple = FiveTuple {
            source: host(random, 10),
            destination: host(random, 198),
            source_port: random.gen_range(1024..=u16::MAX),
            destination_port: random.gen_range(1..1024),
            protocol: if random.gen() { 6 } else { 17 },
        };
        let filter = self.filters.choose(random).filter(|_| !random.gen_ratio(1, MISS_RATIO));
        if let Some(filter) = filter {
            tuple = filter.sample(random);
            // A filter of every source is met by sources that a router lets pass.
            if matches!(tuple.source.octets()[0], 0 | 127 | 224..) && filter.source.prefix_len() == 0 {
                tuple.source = host(random, 10);
            }
        }
        let wide = filter.is_none_or(|filter| filter.destination.prefix_len() < 8);
        let route = self.routes.choose(random).filter(|_| wide && !random.gen_ratio(1, MISS_RATIO));
        if let Some(route) = route {
            let host: u32 = random.gen();
            tuple.destination =
                (u32::from(route.prefix.network()) | host & u32::from(route.prefix.hostmask())).into();
        }
        tuple
    }
}

/// Reads a header trace of ClassBench: lines of source, destination, source port, destination port,
/// protocol as decimal numbers; further columns are not looked at. The file may be compressed with
/// gzip.
///
/// # Errors
/// The file cannot be read, or has a bad line.
pub fn read_headers(path: &Path) -> Result<Vec<FiveTuple>, InputError> {
    let text = crate::tables::read_text(path)?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let parse = |(number, line): (usize, &str)| {
        header(line).ok_or_else(|| {
            let problem =
                "expected source, destination, source port, destination port and protocol in decimal";
            InputError::line(path, number, format!("`{}`: {problem}", line.trim()))
        })
    };
    lines.map(parse).collect()
}

fn header(line: &str) -> Option<FiveTuple> {
    let mut words = line.split_whitespace();
    let mut next = || decimal::<u32>(words.next()?);
    Some(FiveTuple {
        source: next()?.into(),
        destination: next()?.into(),
        source_port: next()?.try_into().ok()?,
        destination_port: next()?.try_into().ok()?,
        protocol: next()?.try_into().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::SlotPacket;
    use crate::traffic::{Generator, Traffic};

    fn packets(aim: Aim, kind: &str) -> Vec<SlotPacket> {
        let traffic =
            Traffic { kind: kind.parse().unwrap(), seed: crate::test_seed(), bad_share: 0.0, rate: 1.0 };
        Generator::aimed(traffic, aim).take(400).map(|frame| SlotPacket::new(&frame, 11)).collect()
    }

    #[test]
    fn headers_are_taken_in_turn_and_frames_are_right() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        std::fs::write(&path, "1079733050 4225952233 7 65535 6 82\n\n167772161 167772162 0 53 17\n").unwrap();
        let headers = read_headers(&path).unwrap();
        assert_eq!(headers[0].source, Ipv4Addr::new(64, 91, 107, 58));
        for (index, packet) in packets(Aim { headers, ..Aim::default() }, "fixed:80").iter().enumerate() {
            let sliced = etherparse::SlicedPacket::from_ethernet(&packet.frame).unwrap();
            let port = match sliced.transport.unwrap() {
                etherparse::TransportSlice::Tcp(tcp) => tcp.destination_port(),
                etherparse::TransportSlice::Udp(udp) => udp.destination_port(),
                other => panic!("{other:?}"),
            };
            assert_eq!((packet.frame.len(), port), (80, [65535, 53][index % 2]));
        }
        std::fs::write(&path, "1 2 3 4 6\n1 2 3 65536 6\n").unwrap();
        assert!(read_headers(&path)
            .unwrap_err()
            .to_string()
            .contains("trace:2: `1 2 3 65536 6`: expected source"));
    }

    #[test]
    fn patterns_are_in_half_of_the_payloads() {
        let pattern = b"a pattern".to_vec();
        let aimed = packets(Aim { patterns: vec![pattern.clone()], ..Aim::default() }, "fixed:200");
        let holds =
            |packet: &&SlotPacket| packet.frame.windows(pattern.len()).any(|window| window == pattern);
        assert!((150..250).contains(&aimed.iter().filter(holds).count()));
        assert!(!Aim::default().is_set());
    }
}
