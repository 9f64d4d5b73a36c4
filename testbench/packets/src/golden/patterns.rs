use aho_corasick::AhoCorasick;
use etherparse::{Ipv4HeaderSlice, TcpHeaderSlice, UdpHeader};

use super::{ipv4_header, Golden, ETHERNET};
use crate::slot::SlotPacket;
use crate::tables::PatternSet;
use crate::verdict::{Reason, Verdict};

/// Patterns in the search structures of a library.
#[derive(Clone, Debug)]
pub struct PatternModel {
    /// Patterns whose case counts, and those whose case does not, with their numbers in the set.
    searches: [(AhoCorasick, Vec<u32>); 2],
}

impl PatternModel {
    /// The model of `set`.
    ///
    /// # Errors
    /// The patterns are too many for the library.
    pub fn new(set: &PatternSet) -> Result<Self, aho_corasick::BuildError> {
        let search = |nocase: bool| {
            let numbered = set.patterns.iter().enumerate().filter(|(_, pattern)| pattern.nocase == nocase);
            let (numbers, bytes): (Vec<_>, Vec<_>) =
                numbered.map(|(number, pattern)| (number as u32, &pattern.bytes)).unzip();
            let search = AhoCorasick::builder().ascii_case_insensitive(nocase).build(bytes)?;
            Ok((search, numbers))
        };
        Ok(Self { searches: [search(false)?, search(true)?] })
    }

    /// The lowest number of the patterns that occur in `payload`.
    fn lowest(&self, payload: &[u8]) -> Option<u32> {
        let numbers = self.searches.iter().flat_map(|(search, numbers)| {
            search.find_overlapping_iter(payload).map(|found| numbers[found.pattern().as_usize()])
        });
        numbers.min()
    }

    /// Drop every packet with a pattern in its payload by the rule with the lowest number; forward
    /// the others to port 0. The packet is not changed; EtherType, version, header length and total
    /// length are checked.
    pub fn inspect(&self, packet: &SlotPacket) -> Golden {
        let verdict = match payload(packet).map(|payload| self.lowest(payload)) {
            Err(reason) => Verdict::drop(reason),
            Ok(Some(rule)) => Verdict::drop_by_rule(rule),
            Ok(None) => Verdict::forward(0),
        };
        Golden { verdict, frame: packet.frame.clone() }
    }
}

/// What is behind the headers: inside the total length and the bytes that are there, behind the TCP
/// or UDP header if there is a whole one (never in later fragments), otherwise behind the IPv4
/// header.
fn payload(packet: &SlotPacket) -> Result<&[u8], Reason> {
    ipv4_header(packet)?;
    let datagram = &packet.frame[ETHERNET..];
    let header = Ipv4HeaderSlice::from_slice(datagram).map_err(|_| Reason::HeaderLength)?;
    let (start, total) = (header.slice().len(), usize::from(header.total_len()));
    if total < start {
        return Err(Reason::TotalLength);
    }
    let segment = &datagram[start..total.min(datagram.len())];
    if header.fragments_offset().value() != 0 {
        return Ok(segment);
    }
    let skipped = match header.protocol() {
        etherparse::IpNumber::TCP => TcpHeaderSlice::from_slice(segment).map_or(0, |tcp| tcp.slice().len()),
        etherparse::IpNumber::UDP if segment.len() >= UdpHeader::LEN => UdpHeader::LEN,
        _ => 0,
    };
    Ok(&segment[skipped..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{Frame, Generator, Traffic};

    #[test]
    fn payloads_and_patterns() {
        let rule = |content: &str| format!("alert tcp any any -> any any ({content})\n");
        let text =
            [rule("content:\"Xyz\";"), rule("content:\"yZ\"; nocase;"), rule("content:\"zz\";")].concat();
        let model = PatternModel::new(&PatternSet::parse(&text, 1).unwrap()).unwrap();
        let kind = "fixed:60".parse().unwrap();
        let mut traffic = Generator::new(Traffic { kind, seed: 1, bad_share: 0.0, rate: 100.0 });
        let good = traffic.find(|frame| frame.data[14] == 0x45).unwrap();
        let verdict = |payload: &[u8], change: &dyn Fn(&mut Vec<u8>)| {
            let mut data = good.data.clone();
            data[34..].fill(0);
            data[42..42 + payload.len()].copy_from_slice(payload);
            change(&mut data);
            model.inspect(&SlotPacket::new(&Frame { data, ..good.clone() }, 11)).verdict
        };
        let plain = |payload: &[u8]| verdict(payload, &|_| ());
        assert_eq!(plain(b"aXyzz"), Verdict::drop_by_rule(0));
        assert_eq!(plain(b"axYzz"), Verdict::drop_by_rule(1));
        assert_eq!(plain(b"aYYzz"), Verdict::drop_by_rule(1));
        assert_eq!(plain(b"azz"), Verdict::drop_by_rule(2));
        assert_eq!(plain(b"aXYz"), Verdict::drop_by_rule(1));
        assert_eq!(plain(b"XYY"), Verdict::forward(0));
        let in_udp_header = |data: &mut Vec<u8>| data[39..42].copy_from_slice(b"Xyz");
        assert_eq!(verdict(b"", &in_udp_header), Verdict::forward(0));
        let later_fragment =
            |data: &mut Vec<u8>| (data[21], data[39], data[40], data[41]) = (1, b'X', b'y', b'z');
        assert_eq!(verdict(b"", &later_fragment), Verdict::drop_by_rule(0));
        assert_eq!(verdict(b"Xyz", &|data| data[17] = 28), Verdict::forward(0), "beyond the total length");
        assert_eq!(verdict(b"Xyz", &|data| data[17] = 19), Verdict::drop(Reason::TotalLength));
    }
}
