//! 5-tuple filter sets in the format of ClassBench (Taylor, Turner: ClassBench, INFOCOM 2005).

use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::path::Path;

use ipnet::Ipv4Net;

use super::input::{self, InputError};
use crate::input::{decimal, hexadecimal};

/// What a filter looks at in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FiveTuple {
    /// IPv4 source address.
    pub source: Ipv4Addr,
    /// IPv4 destination address.
    pub destination: Ipv4Addr,
    /// Source port of TCP and UDP; 0 if the packet has none.
    pub source_port: u16,
    /// Destination port of TCP and UDP; 0 if the packet has none.
    pub destination_port: u16,
    /// IPv4 protocol.
    pub protocol: u8,
}

/// A filter: it matches a packet if all of its five fields do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Source prefix.
    pub source: Ipv4Net,
    /// Destination prefix.
    pub destination: Ipv4Net,
    /// Source ports.
    pub source_ports: RangeInclusive<u16>,
    /// Destination ports.
    pub destination_ports: RangeInclusive<u16>,
    /// Protocol, where `protocol_mask` has ones.
    pub protocol: u8,
    /// Bits of the protocol that count: 0xff for one protocol, 0 for every protocol.
    pub protocol_mask: u8,
    /// Whether its packets are dropped.
    pub deny: bool,
}

impl Filter {
    /// Whether the filter matches.
    pub fn matches(&self, tuple: &FiveTuple) -> bool {
        self.source.contains(&tuple.source)
            && self.destination.contains(&tuple.destination)
            && self.source_ports.contains(&tuple.source_port)
            && self.destination_ports.contains(&tuple.destination_port)
            && (self.protocol ^ tuple.protocol) & self.protocol_mask == 0
    }

    /// The filter as a line of a file.
    fn to_line(&self) -> String {
        let ports = |range: &RangeInclusive<u16>| format!("{} : {}", range.start(), range.end());
        let mut line = format!(
            "@{}\t{}\t{}\t{}\t0x{:02x}/0x{:02X}",
            self.source,
            self.destination,
            ports(&self.source_ports),
            ports(&self.destination_ports),
            self.protocol,
            self.protocol_mask
        );
        if self.deny {
            line += "\tdeny";
        }
        line
    }
}

/// Filters in the order of their priority: the first that matches counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterSet {
    /// The filters.
    pub filters: Vec<Filter>,
    /// Filters that also ask for TCP flags, which are not looked at.
    pub with_flags: usize,
}

impl FilterSet {
    /// Reads a filter file, which may be compressed with gzip.
    ///
    /// # Errors
    /// The file cannot be read, has a bad line, or has no filter.
    pub fn read(path: &Path) -> Result<Self, InputError> {
        let text = input::read_text(path)?;
        let set = Self::parse(&text).map_err(|(line, problem)| InputError::line(path, line, problem))?;
        if set.filters.is_empty() {
            return Err(InputError::file(path, format!("no filter; expected lines such as `{EXAMPLE}`")));
        }
        Ok(set)
    }

    /// The filters in a text. A line is `@SOURCE/LENGTH DESTINATION/LENGTH LOW : HIGH LOW : HIGH
    /// PROTOCOL/MASK [FLAGS/MASK] [permit|deny]`, with the source ports before the destination
    /// ports; empty lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// The number of the first bad line, and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut set = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (filter, flags) = parse_line(line).map_err(|problem| (number, problem))?;
            set.filters.push(filter);
            set.with_flags += usize::from(flags);
        }
        Ok(set)
    }

    /// The set as text that [`FilterSet::parse`] reads.
    pub fn to_text(&self) -> String {
        self.filters.iter().map(|filter| filter.to_line() + "\n").collect()
    }

    /// The number of the first filter that matches.
    pub fn first_match(&self, tuple: &FiveTuple) -> Option<usize> {
        self.filters.iter().position(|filter| filter.matches(tuple))
    }
}

/// A line as it should be.
const EXAMPLE: &str = "@10.0.0.0/8 192.0.2.0/24 0 : 65535 80 : 80 0x06/0xff";

/// The filter of a line, and whether it also asks for TCP flags.
fn parse_line(line: &str) -> Result<(Filter, bool), String> {
    let words: Vec<_> = line.split_whitespace().collect();
    let [source, destination, s_low, s_colon, s_high, d_low, d_colon, d_high, protocol, rest @ ..] =
        &words[..]
    else {
        return Err(format!("{} fields; expected a filter such as `{EXAMPLE}`", words.len()));
    };
    if [*s_colon, *d_colon] != [":"; 2] {
        return Err(format!("expected port ranges such as `0 : 65535` in a filter such as `{EXAMPLE}`"));
    }
    let source =
        source.strip_prefix('@').ok_or_else(|| format!("`{source}`: expected @ before the source"))?;
    let (protocol, protocol_mask) = masked(protocol, 0xff)?;
    let (flags, rest) = match rest {
        [flags, rest @ ..] if flags.contains('/') => (masked(flags, 0xffff)?.1 != 0, rest),
        rest => (false, rest),
    };
    let deny = match rest {
        [] | ["permit"] => false,
        ["deny"] => true,
        [word, ..] => return Err(format!("`{word}`: expected the end of the line, permit or deny")),
    };
    let filter = Filter {
        source: prefix(source)?,
        destination: prefix(destination)?,
        source_ports: ports(s_low, s_high)?,
        destination_ports: ports(d_low, d_high)?,
        protocol: protocol as u8,
        protocol_mask: protocol_mask as u8,
        deny,
    };
    Ok((filter, flags))
}

/// A prefix; bits behind it do not count.
fn prefix(word: &str) -> Result<Ipv4Net, String> {
    let net: Result<Ipv4Net, _> = word.parse();
    net.map(|net| net.trunc()).map_err(|_| format!("`{word}`: expected a prefix of IPv4, such as 10.0.0.0/8"))
}

fn ports(low: &str, high: &str) -> Result<RangeInclusive<u16>, String> {
    let port = |word: &str| decimal(word).ok_or_else(|| format!("`{word}`: expected a port, 0 to 65535"));
    let (low, high): (u16, u16) = (port(low)?, port(high)?);
    if low > high {
        return Err(format!("`{low} : {high}`: expected the smaller port first"));
    }
    Ok(low..=high)
}

/// `VALUE/MASK`, both in hexadecimal, at most `most`.
fn masked(word: &str, most: u32) -> Result<(u32, u32), String> {
    let number = |text: &str| {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
        hexadecimal(digits).filter(|number| *number <= most)
    };
    let parts = word.split_once('/').and_then(|(value, mask)| Some((number(value)?, number(mask)?)));
    parts.ok_or_else(|| format!("`{word}`: expected VALUE/MASK in hexadecimal, such as 0x06/0xff"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let text = "@1.2.3.4/32\t5.6.0.0/16\t0 : 65535\t80 : 90\t0x06/0xFF\t\n# c\n\n\
                    @1.2.3.4/31 0.0.0.0/0 5 : 5 0 : 65535 0x00/0x00 0x0000/0x0200 deny\n";
        let set = FilterSet::parse(text).unwrap();
        assert_eq!((set.filters.len(), set.with_flags), (2, 1));
        assert_eq!(FilterSet::parse(&set.to_text()).unwrap().filters, set.filters);
        let tuple = |source_port, destination_port, protocol| FiveTuple {
            source: Ipv4Addr::new(1, 2, 3, 4),
            destination: Ipv4Addr::new(5, 6, 7, 8),
            source_port,
            destination_port,
            protocol,
        };
        assert_eq!(set.first_match(&tuple(9, 90, 6)), Some(0));
        assert_eq!(set.first_match(&tuple(5, 80, 6)), Some(0), "the first one counts");
        assert_eq!(set.first_match(&tuple(5, 91, 6)), Some(1));
        assert_eq!(set.first_match(&tuple(5, 80, 17)), Some(1));
        assert_eq!(set.first_match(&tuple(6, 80, 17)), None);
        assert!(set.filters[1].deny && !set.filters[0].deny);
    }

    #[test]
    fn bad_lines() {
        for (line, expected) in [
            ("@1.2.3.4/32 5.6.0.0/16 0 : 65535 80 : 90", "8 fields; expected a filter such as"),
            ("1.2.3.4/32 5.6.0.0/16 0 : 65535 80 : 90 0x06/0xff", "expected @ before the source"),
            ("@1.2.3.4/32 5.6.0.0/33 0 : 65535 80 : 90 0x06/0xff", "`5.6.0.0/33`: expected a prefix"),
            ("@1.2.3.4/32 5.6.0.0/3 0 - 65535 80 : 90 0x06/0xff", "expected port ranges"),
            ("@1.2.3.4/32 5.6.0.0/3 0 : 65536 80 : 90 0x06/0xff", "`65536`: expected a port"),
            ("@1.2.3.4/+32 5.6.0.0/3 0 : 8 80 : 90 0x06/0xff", "`1.2.3.4/+32`: expected a prefix"),
            ("@1.2.3.4/32 5.6.0.0/3 +0 : 8 80 : 90 0x06/0xff", "`+0`: expected a port"),
            ("@1.2.3.4/32 5.6.0.0/3 0 : 8 80 : 90 0x+6/0xff", "expected VALUE/MASK in hexadecimal"),
            ("@1.2.3.4/32 5.6.0.0/3 9 : 8 80 : 90 0x06/0xff", "expected the smaller port first"),
            ("@1.2.3.4/32 5.6.0.0/3 0 : 8 80 : 90 0x106/0xff", "expected VALUE/MASK in hexadecimal"),
            ("@1.2.3.4/32 5.6.0.0/3 0 : 8 80 : 90 0x06/0xff drop", "permit or deny"),
        ] {
            let (number, problem) = FilterSet::parse(&format!("\n{line}\n")).unwrap_err();
            assert!(number == 2 && problem.contains(expected), "{problem}");
        }
    }
}
