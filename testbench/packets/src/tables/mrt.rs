//! MRT dumps of a BGP router's table: TABLE_DUMP_V2 and TABLE_DUMP (RFC 6396), with several paths
//! (RFC 8050). Of a route only its prefix and its next hop are read.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::Ipv4Net;

use super::routes::{Builder, LeftOut, RouteTable};

/// Types of records (RFC 6396, section 4).
const OSPF_V2: u16 = 11;
const TABLE_DUMP: u16 = 12;
const TABLE_DUMP_V2: u16 = 13;
const BGP4MP: u16 = 16;
const BGP4MP_ET: u16 = 17;
/// IS-IS and OSPF version 3, each with and without microseconds.
const OTHERS: [u16; 4] = [32, 33, 48, 49];

/// Bytes of a record's header.
const HEADER_BYTES: usize = 12;
/// Address family and subsequent address families (IANA).
const IPV4: u16 = 1;
const UNICAST: u8 = 1;
const MULTICAST: u8 = 2;
/// Path attributes, and the flag of a length in two bytes (RFC 4271, section 4.3).
const NEXT_HOP: u8 = 3;
const MP_REACH: u8 = 14;
const EXTENDED: u8 = 0x10;

/// Whether `bytes` begin as an MRT file does: with a known type in the common header.
pub(super) fn is_mrt(bytes: &[u8]) -> bool {
    let kind = bytes.get(4..6).map(|kind| u16::from_be_bytes([kind[0], kind[1]]));
    let known = [OSPF_V2, TABLE_DUMP, TABLE_DUMP_V2, BGP4MP, BGP4MP_ET];
    // Not text in UTF-16.
    bytes.len() >= HEADER_BYTES
        && !bytes.starts_with(&[0xfe, 0xff])
        && kind.is_some_and(|kind| known.contains(&kind) || OTHERS.contains(&kind))
}

/// The table in a dump: the route of a prefix is the first in the file that has a next hop, whether
/// the routes of several peers stand in one record (version 2) or in several (version 1).
pub(super) fn parse(bytes: &[u8]) -> Result<RouteTable, String> {
    let (mut table, mut rest) = (Dump::default(), Bytes(bytes));
    for number in 1_usize.. {
        if rest.0.is_empty() {
            break;
        }
        record(&mut rest, &mut table).map_err(|problem| format!("MRT record {number} {problem}"))?;
    }
    Ok(table.builder.finish())
}

/// Bytes that are still to be read.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// The next `count` bytes, if there are so many.
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next number in network order.
    fn number(&mut self, bytes: usize) -> Option<usize> {
        let value = self.take(bytes)?;
        Some(value.iter().fold(0, |value, byte| value << 8 | usize::from(*byte)))
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }
}

/// What was found so far.
#[derive(Default)]
struct Dump {
    builder: Builder,
    seen: HashSet<Ipv4Net>,
}

impl Dump {
    fn left_out(&mut self) -> &mut LeftOut {
        &mut self.builder.table.left_out
    }

    /// The routes of a prefix of IPv4, each by its path attributes.
    fn add<'a>(&mut self, prefix: Ipv4Net, routes: impl IntoIterator<Item = &'a [u8]>) {
        for attributes in routes {
            match next_hop(attributes) {
                None => self.left_out().broken += 1,
                Some(None) => self.left_out().without_next_hop += 1,
                Some(Some(_)) if self.seen.contains(&prefix) => self.left_out().further += 1,
                Some(Some(hop)) => {
                    self.seen.insert(prefix);
                    self.builder.add(prefix, &hop.to_string());
                }
            }
        }
    }
}

/// Takes the next record.
fn record(rest: &mut Bytes, dump: &mut Dump) -> Result<(), String> {
    let left = rest.0.len();
    let mut header = Bytes(rest.take(HEADER_BYTES).ok_or_else(|| {
        format!("has {left} bytes at the end of the file; expected a header of {HEADER_BYTES}")
    })?);
    let mut field = |bytes| header.number(bytes).unwrap_or_default();
    let (_time, kind, subtype, length) = (field(4), field(2) as u16, field(2), field(4));
    let left = rest.0.len();
    let body = rest.take(length);
    let body =
        Bytes(body.ok_or_else(|| format!("has {length} bytes by its header; {left} follow in the file"))?);
    let broken = || "ends within a field, or does not end behind its last route".to_string();
    match (kind, subtype) {
        (TABLE_DUMP, 1..=4) => table_dump(body, subtype, dump)?.ok_or_else(broken),
        // The peers, and where they are (RFC 6397).
        (TABLE_DUMP_V2, 1 | 7) => Ok(()),
        (TABLE_DUMP_V2, 2 | 8) => unicast(body, subtype == 8, dump)?.ok_or_else(broken),
        (TABLE_DUMP_V2, 6 | 12) => generic(body, subtype == 12, dump)?.ok_or_else(broken),
        (TABLE_DUMP_V2, 3 | 9) => {
            dump.left_out().multicast += 1;
            Ok(())
        }
        (TABLE_DUMP_V2, 4 | 5 | 10 | 11) => {
            dump.left_out().not_ipv4 += 1;
            Ok(())
        }
        (TABLE_DUMP | TABLE_DUMP_V2, _) => {
            dump.left_out().unknown += 1;
            Ok(())
        }
        (BGP4MP, 2 | 3) => Err(format!(
            "is of a table in the obsolete form BGP4MP (subtype {subtype}); expected TABLE_DUMP_V2, \
             which OpenBGPD writes as table-v2"
        )),
        (BGP4MP | BGP4MP_ET, _) => {
            Err("is an update (BGP4MP): this is a file of updates; expected a routing table, TABLE_DUMP or \
             TABLE_DUMP_V2"
                .to_string())
        }
        _ => Err(format!(
            "is of type {kind}, no part of a routing table; expected TABLE_DUMP (12) or TABLE_DUMP_V2 (13)"
        )),
    }
}

/// A prefix of `bits` bits; those behind it do not count.
fn prefix(bits: u8, bytes: &[u8]) -> Result<Ipv4Net, String> {
    let mut address = [0; 4];
    address.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    let net = Ipv4Net::new(Ipv4Addr::from(address), bits);
    net.map(|net| net.trunc()).map_err(|_| format!("has a prefix of {bits} bits; expected 0 to 32"))
}

/// A prefix as its length in bits and the bytes that these need.
fn short_prefix(body: &mut Bytes) -> Result<Option<Ipv4Net>, String> {
    let Some(bits) = body.byte() else { return Ok(None) };
    match body.take(usize::from(bits).div_ceil(8)) {
        Some(bytes) => prefix(bits, bytes).map(Some),
        None if bits <= 32 => Ok(None),
        None => prefix(bits, &[]).map(Some),
    }
}

/// TABLE_DUMP (RFC 6396, section 4.2): one route. Subtypes 3 and 4 are those with AS numbers of 32
/// bits.
fn table_dump(mut body: Bytes, subtype: usize, dump: &mut Dump) -> Result<Option<()>, String> {
    if matches!(subtype, 2 | 4) {
        dump.left_out().not_ipv4 += 1;
        return Ok(Some(()));
    }
    let as_bytes = if subtype == 3 { 4 } else { 2 };
    let mut fields = || {
        body.take(4)?;
        let (address, bits) = (body.take(4)?, body.byte()?);
        // Status, time, peer.
        body.take(1 + 4 + 4 + as_bytes)?;
        let attributes = body.number(2)?;
        let attributes = body.take(attributes)?;
        body.0.is_empty().then_some((address, bits, attributes))
    };
    let Some((address, bits, attributes)) = fields() else { return Ok(None) };
    dump.add(prefix(bits, address)?, [attributes]);
    Ok(Some(()))
}

/// A RIB record of IPv4 unicast (section 4.3.2).
fn unicast(mut body: Bytes, paths: bool, dump: &mut Dump) -> Result<Option<()>, String> {
    if body.take(4).is_none() {
        return Ok(None);
    }
    let Some(prefix) = short_prefix(&mut body)? else { return Ok(None) };
    Ok(routes(body, paths).map(|routes| dump.add(prefix, routes)))
}

/// A RIB record that names its address family (section 4.3.3).
fn generic(mut body: Bytes, paths: bool, dump: &mut Dump) -> Result<Option<()>, String> {
    let mut family = || Some((body.take(4)?, body.number(2)?, body.byte()?));
    match family() {
        None => return Ok(None),
        Some((_, family, UNICAST)) if family == usize::from(IPV4) => {}
        Some((_, family, MULTICAST)) if family == usize::from(IPV4) => {
            dump.left_out().multicast += 1;
            return Ok(Some(()));
        }
        Some((_, family, _)) if family == usize::from(IPV4) => {
            dump.left_out().other_family += 1;
            return Ok(Some(()));
        }
        Some(_) => {
            dump.left_out().not_ipv4 += 1;
            return Ok(Some(()));
        }
    }
    // RFC 8050 has the number of the path in front of the prefix, routers write it into the routes.
    let (mut in_routes, mut in_front) = (body, body);
    if let Some(prefix) = short_prefix(&mut in_routes)? {
        if let Some(routes) = routes(in_routes, paths) {
            dump.add(prefix, routes);
            return Ok(Some(()));
        }
    }
    if !paths || in_front.take(4).is_none() {
        return Ok(None);
    }
    let Some(prefix) = short_prefix(&mut in_front)? else { return Ok(None) };
    Ok(routes(in_front, false).map(|routes| dump.add(prefix, routes)))
}

/// The path attributes of each route of a record (section 4.3.4), whose last one ends with it.
/// With `paths` each has the number of its path (RFC 8050, section 4.1).
fn routes(mut body: Bytes<'_>, paths: bool) -> Option<Vec<&[u8]>> {
    let mut routes = Vec::new();
    for _ in 0..body.number(2)? {
        // Peer, time, path.
        body.take(2 + 4 + if paths { 4 } else { 0 })?;
        let length = body.number(2)?;
        routes.push(body.take(length)?);
    }
    body.0.is_empty().then_some(routes)
}

/// The next hop among path attributes, if there is one: NEXT_HOP, otherwise that of MP_REACH_NLRI
/// (RFC 8950). `None` if the attributes are broken.
fn next_hop(attributes: &[u8]) -> Option<Option<IpAddr>> {
    let (mut rest, mut reach) = (Bytes(attributes), None);
    while !rest.0.is_empty() {
        let (flags, kind) = (rest.byte()?, rest.byte()?);
        let length = rest.number(if flags & EXTENDED == 0 { 1 } else { 2 })?;
        let value = rest.take(length)?;
        match kind {
            NEXT_HOP => {
                let address: [u8; 4] = value.try_into().ok()?;
                return Some(Some(address.into()));
            }
            MP_REACH => reach = mp_reach(value)?,
            _ => {}
        }
    }
    Some(reach)
}

/// The next hop of MP_REACH_NLRI. A table has only its length and its bytes (RFC 6396, section
/// 4.3.4), but many routers write the whole attribute, which begins with a byte of 0 (RFC 4760,
/// section 3). `None` if it is broken.
fn mp_reach(value: &[u8]) -> Option<Option<IpAddr>> {
    let mut rest = Bytes(value);
    if value.len() > 1 && value[0] == 0 {
        rest.take(3)?;
    }
    let length = usize::from(rest.byte()?);
    let hop = rest.take(length)?;
    // With a route distinguisher in front, and with an address of the link behind.
    let hop = if matches!(length, 12 | 24 | 48) { &hop[8..] } else { hop };
    Some(match hop.len() {
        0 => None,
        4 => Some(<[u8; 4]>::try_from(hop).ok()?.into()),
        16 | 32 | 40 => Some(Ipv6Addr::from(<[u8; 16]>::try_from(&hop[..16]).ok()?).into()),
        _ => return None,
    })
}

#[cfg(test)]
#[path = "mrt_tests.rs"]
mod tests;
