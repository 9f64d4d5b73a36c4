//! A routing table and its text form.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::path::Path;

use ipnet::Ipv4Net;

use super::input::{self, InputError};
use super::mrt;
use crate::input::decimal;

/// Output ports that a table can have: a table entry holds 15 bits, and one value says that there
/// is no route.
pub const MAX_PORTS: usize = 0x7fff;

/// A prefix and where its packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The prefix, without host bits.
    pub prefix: Ipv4Net,
    /// Output port, below [`MAX_PORTS`].
    pub port: u16,
}

/// A routing table: at most one route a prefix.
#[derive(Clone, Debug, Default)]
pub struct RouteTable {
    /// The routes, in the order of their prefixes.
    pub routes: Vec<Route>,
    /// Distinct next hops; more than [`MAX_PORTS`] share ports.
    pub next_hops: usize,
    /// What of the file is not in the table.
    pub left_out: LeftOut,
}

/// What of a file is not in the table, counted by the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Lines that name a prefix again; the last one counts.
    pub repeated: usize,
    /// Further routes of a prefix in a dump, of the same or of another peer; the first one counts.
    pub further: usize,
    /// Routes without a next hop in a dump.
    pub without_next_hop: usize,
    /// Routes whose path attributes are broken.
    pub broken: usize,
    /// Prefixes of multicast tables.
    pub multicast: usize,
    /// Prefixes of other address families than IPv4.
    pub not_ipv4: usize,
    /// Prefixes of IPv4 that are neither unicast nor multicast, such as those of VPNs.
    pub other_family: usize,
    /// Records of kinds that the format does not have.
    pub unknown: usize,
}

impl LeftOut {
    /// Each reason for which something was left out, with the count.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        let all = [
            (self.repeated, "repeated prefix", "es", " (the last line counts)"),
            (self.further, "further route", "s", " of a prefix (its first counts)"),
            (self.without_next_hop, "route", "s", " without a next hop"),
            (self.broken, "route", "s", " with broken path attributes"),
            (self.multicast, "multicast prefix", "es", ""),
            (self.not_ipv4, "prefix", "es", " of other families than IPv4"),
            (self.other_family, "prefix", "es", " of IPv4 that are not unicast"),
            (self.unknown, "record", "s", " of unknown subtypes"),
        ];
        let found = all.into_iter().filter(|(count, ..)| *count > 0);
        let plural = |count: usize, end: &'static str| if count == 1 { "" } else { end };
        found.map(|(count, what, end, why)| format!("{count} {what}{}{why}", plural(count, end))).collect()
    }
}

/// Collects routes: numbers the next hops, and lets the last route of a prefix count.
#[derive(Default)]
pub(super) struct Builder {
    hops: HashMap<String, usize>,
    /// Every route with the number of its next hop.
    routes: Vec<(Ipv4Net, usize)>,
    pub(super) table: RouteTable,
}

impl Builder {
    pub(super) fn add(&mut self, prefix: Ipv4Net, next_hop: &str) {
        let number = self.hops.len();
        let hop = match self.hops.get(next_hop) {
            Some(hop) => *hop,
            None => *self.hops.entry(next_hop.to_string()).or_insert(number),
        };
        self.routes.push((prefix, hop));
    }

    /// Next hops that are all decimal numbers below [`MAX_PORTS`] are the port numbers; others are
    /// numbered in the order in which they first appear, modulo [`MAX_PORTS`].
    pub(super) fn finish(self) -> RouteTable {
        let Self { hops, mut routes, mut table } = self;
        let count = routes.len();
        // The sort keeps the order of routes of one prefix; the last of them stays.
        routes.sort_by_key(|(prefix, _)| *prefix);
        routes.reverse();
        routes.dedup_by_key(|(prefix, _)| *prefix);
        routes.reverse();
        table.left_out.repeated = count - routes.len();

        let mut ports: Vec<usize> = (0..hops.len()).map(|hop| hop % MAX_PORTS).collect();
        let number = |name: &String| decimal(name).filter(|port| *port < MAX_PORTS);
        let numbers: Option<Vec<(usize, usize)>> =
            hops.iter().map(|(name, hop)| Some((*hop, number(name)?))).collect();
        for (hop, port) in numbers.into_iter().flatten() {
            ports[hop] = port;
        }
        table.next_hops = hops.len();
        table.routes =
            routes.into_iter().map(|(prefix, hop)| Route { prefix, port: ports[hop] as u16 }).collect();
        table
    }
}

impl RouteTable {
    /// Reads a text prefix list or an MRT dump; either may be compressed with gzip.
    ///
    /// A line of the text is `PREFIX NEXT-HOP`, such as `10.0.0.0/8 3`; empty lines and lines that
    /// begin with `#` or `;` are skipped. The next hop is any word: see [`RouteTable::parse`].
    ///
    /// # Errors
    /// The file cannot be read, has a bad line, or has no IPv4 route.
    pub fn read(path: &Path) -> Result<Self, InputError> {
        let bytes = input::read(path)?;
        let table = if mrt::is_mrt(&bytes) {
            mrt::parse(&bytes).map_err(|problem| InputError::file(path, problem))?
        } else {
            let text = input::text(path, bytes)?;
            Self::parse(&text).map_err(|(line, problem)| InputError::line(path, line, problem))?
        };
        if table.routes.is_empty() {
            let reasons = table.left_out.reasons();
            let left_out = if reasons.is_empty() {
                String::new()
            } else {
                format!("; left out: {}", reasons.join(", "))
            };
            return Err(InputError::file(
                path,
                format!("no IPv4 route; expected lines such as `10.0.0.0/8 3`{left_out}"),
            ));
        }
        Ok(table)
    }

    /// The table in a text. Next hops that are all decimal numbers below [`MAX_PORTS`] are output
    /// ports; other words (names, addresses, AS numbers) get ports in the order in which they first
    /// appear, modulo [`MAX_PORTS`].
    ///
    /// # Errors
    /// The number of the first bad line, and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut builder = Builder::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            let (prefix, next_hop) = parse_line(line).map_err(|problem| (number, problem))?;
            builder.add(prefix, next_hop);
        }
        Ok(builder.finish())
    }

    /// The table as text that [`RouteTable::parse`] reads.
    pub fn to_text(&self) -> String {
        self.routes.iter().map(|route| format!("{} {}\n", route.prefix, route.port)).collect()
    }
}

fn parse_line(line: &str) -> Result<(Ipv4Net, &str), String> {
    let mut words = line.split_whitespace();
    let (Some(prefix), Some(next_hop), None) = (words.next(), words.next(), words.next()) else {
        return Err(format!("`{line}`: expected a prefix and a next hop, such as `10.0.0.0/8 3`"));
    };
    let expected = || format!("`{prefix}`: expected a prefix of IPv4, such as 10.0.0.0/8");
    let (address, length) = prefix.split_once('/').ok_or_else(expected)?;
    let address: Ipv4Addr = address.parse().map_err(|_| expected())?;
    let length: u8 = decimal(length).ok_or_else(expected)?;
    let net = Ipv4Net::new(address, length)
        .map_err(|_| format!("`{prefix}`: prefix length {length}; expected 0 to 32"))?;
    if net.trunc() != net {
        return Err(format!("`{prefix}`: bits are set behind the prefix; expected {}", net.trunc()));
    }
    Ok((net, next_hop))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> RouteTable {
        RouteTable::parse(text).unwrap()
    }

    #[test]
    fn next_hops_are_ports_or_get_numbers() {
        let table = parse("# ports\n10.0.0.0/8 7\n\n;c\n0.0.0.0/0\t32766\n");
        let ports: Vec<_> = table.routes.iter().map(|route| route.port).collect();
        assert_eq!((ports, table.next_hops), (vec![32766, 7], 2));
        let named = parse("10.0.0.0/8 veth9\n11.0.0.0/8 7\n12.0.0.0/8 veth9\n10.0.0.0/8 1.2.3.4");
        let ports: Vec<_> = named.routes.iter().map(|route| route.port).collect();
        assert_eq!((ports, named.next_hops), (vec![2, 1, 0], 3));
        assert_eq!(named.left_out.repeated, 1, "the last route counts");
        // A name, no port: a sign.
        assert_eq!(parse("10.0.0.0/8 +7").routes[0].port, 0);
        // AS numbers are larger than a port can be.
        assert_eq!(parse("10.0.0.0/8 15169\n11.0.0.0/8 40000").routes[0].port, 0);
        let many: String = (0..40_000).map(|n| format!("10.{}.{}.0/24 as{n}\n", n >> 8, n & 255)).collect();
        let prefix: Ipv4Net = "10.127.255.0/24".parse().unwrap();
        let folded = parse(&many).routes.into_iter().find(|route| route.prefix == prefix);
        assert_eq!(folded.map(|route| route.port), Some(0), "more next hops than ports");
        assert_eq!(parse(&table.to_text()).routes, table.routes);
    }

    #[test]
    fn bad_lines() {
        for (line, expected) in [
            ("10.0.0.0 3", "expected a prefix"),
            ("10.0.0.0/+8 3", "expected a prefix"),
            ("10.0.0.0/33 3", "prefix length 33; expected 0 to 32"),
            ("10.0.0/8 3", "expected a prefix"),
            ("10.0.0.1/8 3", "bits are set behind the prefix; expected 10.0.0.0/8"),
            ("10.0.0.0/8", "expected a prefix and a next hop"),
            ("10.0.0.0/8 3 4", "expected a prefix and a next hop"),
            ("2001:db8::/32 3", "expected a prefix of IPv4"),
        ] {
            let (number, problem) = RouteTable::parse(&format!("9.0.0.0/8 1\n{line}\n")).unwrap_err();
            assert!(number == 2 && problem.contains(expected), "{problem}");
        }
    }

    #[test]
    fn files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("routes");
        let error = |text: &str| {
            std::fs::write(&path, text).unwrap();
            RouteTable::read(&path).unwrap_err().to_string()
        };
        assert!(error("10.0.0.0/8 1\nx y\n").contains("routes:2: `x`: expected a prefix of IPv4"));
        assert!(error("# nothing\n").contains("routes: no IPv4 route"));
        std::fs::write(&path, "\u{feff}10.0.0.0/8 1\n\u{feff}11.0.0.0/8 2\n").unwrap();
        assert_eq!(RouteTable::read(&path).unwrap().to_text(), "10.0.0.0/8 1\n11.0.0.0/8 2\n");
    }
}
