//! Dumps of routing tables: of RIPE's and RouteViews' collectors, Quagga, BIRD and OpenBGPD.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bgpkit_parser::models::{Attributes, MrtMessage, TableDumpV2Message};
use bgpkit_parser::parser::mrt::mrt_record::parse_mrt_record;
use hermes_testbench::tables::{LeftOut, RouteTable};
use ipnet::{IpNet, Ipv4Net};
use rand::Rng;

use super::{each, one, output};

/// What the dump holds, as it was made.
#[derive(Default)]
struct Expected {
    /// Prefixes and the next hop of their first route, in the order of the file.
    routes: Vec<(Ipv4Net, IpAddr)>,
    left_out: LeftOut,
    /// Whether `bgpdump` reads all of it, and tells apart what it reads.
    plain: bool,
}

impl Expected {
    fn add(&mut self, prefix: Ipv4Net, hop: Option<IpAddr>) {
        match hop {
            None => self.left_out.without_next_hop += 1,
            Some(_) if self.routes.iter().any(|(known, _)| *known == prefix) => self.left_out.further += 1,
            Some(hop) => self.routes.push((prefix, hop)),
        }
    }
}

fn record(kind: u16, subtype: u16, body: &[u8]) -> Vec<u8> {
    let header = [&[0x65, 0, 0, 0][..], &kind.to_be_bytes(), &subtype.to_be_bytes()].concat();
    [&header[..], &(body.len() as u32).to_be_bytes(), body].concat()
}

/// Path attributes with a next hop, or none; of a record with the numbers of paths (`path`).
fn attributes(random: &mut impl Rng, as_bytes: usize, plain: bool, path: bool) -> (Vec<u8>, Option<IpAddr>) {
    let host = random.gen_range(1..6);
    let mut bytes = vec![0x40, 1, 1, 0, 0x40, 2, 2 + as_bytes as u8, 2, 1];
    bytes.extend(&65_001_u32.to_be_bytes()[4 - as_bytes..]);
    let mut hop = None;
    match random.gen_range(0..if plain { 8 } else { 14 }) {
        0 => {}
        1..=7 => {
            let address = Ipv4Addr::new(192, 0, 2, host);
            hop = Some(address.into());
            bytes.extend([0x40, 3, 4]);
            bytes.extend(address.octets());
        }
        form => {
            let address = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, host.into());
            hop = Some(address.into());
            let link = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1).octets();
            let value = match form {
                8 | 9 => [&[16][..], &address.octets()].concat(),
                10 | 11 => [&[32][..], &address.octets(), &link].concat(),
                _ if path => [&[0, 1, 1, 16][..], &address.octets(), &[0, 0, 0, 0, 7, 8, 10]].concat(),
                _ => [&[0, 1, 1, 16][..], &address.octets(), &[0, 8, 10]].concat(),
            };
            let length = value.len() as u8;
            bytes.extend(if random.gen() { vec![0x80, 14, length] } else { vec![0x90, 14, 0, length] });
            bytes.extend(value);
        }
    }
    // What stands around: MULTI_EXIT_DISC, COMMUNITIES, LARGE_COMMUNITY.
    if random.gen() {
        bytes.extend([0x80, 4, 4, 0, 0, 0, 9, 0xc0, 8, 4, 0xfd, 0xe9, 0, 1]);
    }
    if random.gen() {
        bytes.extend([0xd0, 32, 0, 12, 0, 0, 0xfd, 0xe9, 0, 0, 0, 1, 0, 0, 0, 2]);
    }
    (bytes, hop)
}

fn prefix(random: &mut impl Rng) -> Ipv4Net {
    // Few, so that some come again.
    let bits = random.gen_range(8..=24);
    Ipv4Net::new(
        Ipv4Addr::from(u32::from(random.gen_range(1_u8..12)) << 24 | random.gen_range(0..4) << 16),
        bits,
    )
    .unwrap()
    .trunc()
}

fn short(prefix: Ipv4Net) -> Vec<u8> {
    let bytes = usize::from(prefix.prefix_len()).div_ceil(8);
    [&[prefix.prefix_len()][..], &prefix.network().octets()[..bytes]].concat()
}

/// The number of routes and the routes of a record; `expected` learns of them if there is a prefix.
fn routes(random: &mut impl Rng, path: bool, to: Option<Ipv4Net>, expected: &mut Expected) -> Vec<u8> {
    let count = random.gen_range(1..5_u16);
    let mut bytes = count.to_be_bytes().to_vec();
    for number in 0..count {
        let (attributes, hop) = attributes(random, 4, expected.plain, path);
        bytes.extend(number.to_be_bytes());
        bytes.extend([0x65, 0, 0, 0]);
        bytes.extend(path.then(|| u32::from(number).to_be_bytes()).into_iter().flatten());
        bytes.extend((attributes.len() as u16).to_be_bytes());
        bytes.extend(attributes);
        if let Some(prefix) = to {
            expected.add(prefix, hop);
        }
    }
    bytes
}

/// A dump of version 1, where each route has a record.
fn version_1(random: &mut impl Rng, expected: &mut Expected) -> Vec<u8> {
    let mut dump = Vec::new();
    for sequence in 0..random.gen_range(1..12_u16) {
        let mut body = [0_u16.to_be_bytes(), sequence.to_be_bytes()].concat();
        if random.gen_ratio(1, 6) {
            body.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 1, 0x65, 0, 0, 0]);
            body.extend([0; 16]);
            body.extend([0xfd, 0xe9, 0, 0]);
            dump.extend(record(12, 2, &body));
            expected.left_out.not_ipv4 += 1;
            continue;
        }
        let prefix = prefix(random);
        let (attributes, hop) = attributes(random, 2, true, false);
        body.extend(prefix.network().octets());
        body.extend([prefix.prefix_len(), 1, 0x65, 0, 0, 0, 192, 0, 2, 9, 0xfd, 0xe9]);
        body.extend((attributes.len() as u16).to_be_bytes());
        body.extend(attributes);
        dump.extend(record(12, 1, &body));
        expected.add(prefix, hop);
    }
    dump
}

/// A dump of version 2.
fn version_2(random: &mut impl Rng, expected: &mut Expected) -> Vec<u8> {
    let mut peers = vec![192, 0, 2, 1, 0, 4, b'v', b'i', b'e', b'w', 0, 5];
    for peer in 0..5 {
        peers.extend([2, 192, 0, 2, peer, 192, 0, 2, peer, 0, 0, 0xfd, 0xe9]);
    }
    let mut dump = record(13, 1, &peers);
    for sequence in 0..random.gen_range(1..12_u32) {
        let begin = sequence.to_be_bytes();
        let to = prefix(random);
        let (subtype, body) = match random.gen_range(0..if expected.plain { 5 } else { 12 }) {
            0 => {
                expected.left_out.not_ipv4 += 1;
                let mut body = vec![32, 0x20, 1, 0xd, 0xb8, 0, 1, 0, 1, 0x65, 0, 0, 0, 0, 19];
                body.extend([0x80, 14, 16, 0, 2, 1, 4, 192, 0, 2, 9, 0, 32, 0x20, 1, 0xd, 0xb8, 0x40, 1]);
                (4, body)
            }
            1..=4 => (2, [short(to), routes(random, false, Some(to), expected)].concat()),
            5 => {
                expected.left_out.multicast += 1;
                (3, [short(to), routes(random, false, None, expected)].concat())
            }
            6 => {
                expected.left_out.multicast += 1;
                (9, [short(to), routes(random, true, None, expected)].concat())
            }
            7 | 8 => (8, [short(to), routes(random, true, Some(to), expected)].concat()),
            9 => (6, [vec![0, 1, 1], short(to), routes(random, false, Some(to), expected)].concat()),
            10 => (12, [vec![0, 1, 1], short(to), routes(random, true, Some(to), expected)].concat()),
            _ => {
                let family = one(random, &[[0, 1, 2], [0, 1, 128], [0, 2, 1], [0, 25, 65]]);
                match family {
                    [0, 1, 2] => expected.left_out.multicast += 1,
                    [0, 1, _] => expected.left_out.other_family += 1,
                    _ => expected.left_out.not_ipv4 += 1,
                }
                (6, [&family[..], &[0, 0, 0]].concat())
            }
        };
        dump.extend(record(13, subtype, &[&begin[..], &body].concat()));
    }
    dump
}

/// The next hop of the first route of each prefix, as bgpkit reads it; `None` if there are kinds of
/// records that it does not read.
fn by_bgpkit(mut dump: &[u8]) -> Option<HashMap<Ipv4Net, IpAddr>> {
    let mut table = HashMap::new();
    while !dump.is_empty() {
        let record = parse_mrt_record(&mut dump).ok()?;
        let kind = record.common_header.entry_subtype;
        let (prefix, routes): (_, Vec<Attributes>) = match record.message {
            MrtMessage::TableDumpMessage(message) => (message.prefix.prefix, vec![message.attributes]),
            MrtMessage::TableDumpV2Message(TableDumpV2Message::RibAfi(rib)) => {
                (rib.prefix.prefix, rib.rib_entries.into_iter().map(|entry| entry.attributes).collect())
            }
            _ => continue,
        };
        let IpNet::V4(prefix) = prefix else { continue };
        if [3, 9].contains(&kind) {
            continue;
        }
        let reach = |attributes: &Attributes| Some(attributes.get_reachable_nlri()?.next_hop?.addr());
        let hop = routes.iter().find_map(|attributes| attributes.next_hop().or_else(|| reach(attributes)));
        if let Some(hop) = hop {
            table.entry(prefix).or_insert(hop);
        }
    }
    Some(table)
}

/// As [`by_bgpkit`], from the lines of `bgpdump -m`.
fn by_bgpdump(lines: &str) -> HashMap<Ipv4Net, IpAddr> {
    let mut table = HashMap::new();
    for line in lines.lines() {
        let fields: Vec<_> = line.split('|').collect();
        let (Ok(prefix), Ok(hop)) = (fields[5].parse::<Ipv4Net>(), fields[8].parse::<Ipv4Addr>()) else {
            continue;
        };
        // What it prints where there is none.
        if !hop.is_broadcast() {
            table.entry(prefix).or_insert(hop.into());
        }
    }
    table
}

pub fn test(count: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.mrt");
    let (mut compared, mut installed) = ([0; 2], true);
    each(count, |number, random| {
        let mut expected = Expected { plain: random.gen(), ..Expected::default() };
        let first = random.gen_ratio(1, 3);
        let dump = if first { version_1(random, &mut expected) } else { version_2(random, &mut expected) };
        std::fs::write(&path, &dump).unwrap();
        let name = format!("dump {number}");
        if expected.routes.is_empty() {
            let error = RouteTable::read(&path).unwrap_err().to_string();
            assert!(error.contains("no IPv4 route"), "{name}: {error}");
            return;
        }
        let table = RouteTable::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(table.left_out, expected.left_out, "{name}");
        // Ports are the numbers of the next hops in the order in which they come.
        let mut hops: Vec<IpAddr> = Vec::new();
        for (_, hop) in &expected.routes {
            if !hops.contains(hop) {
                hops.push(*hop);
            }
        }
        let read: HashMap<_, _> =
            table.routes.iter().map(|route| (route.prefix, hops[usize::from(route.port)])).collect();
        let made: HashMap<_, _> = expected.routes.iter().copied().collect();
        assert_eq!(read, made, "{name}");
        if let Some(other) = by_bgpkit(&dump) {
            assert_eq!(read, other, "{name}: bgpkit");
            compared[0] += 1;
        }
        if (expected.plain || first) && installed {
            let Some(lines) = output("bgpdump", &["-m"], std::slice::from_ref(&path)) else {
                installed = false;
                return;
            };
            assert_eq!(read, by_bgpdump(&lines), "{name}: bgpdump");
            compared[1] += 1;
        }
    });
    println!("{count} dumps; {} compared with bgpkit, {} with bgpdump", compared[0], compared[1]);
    assert!(compared[0] > count / 4);
}
