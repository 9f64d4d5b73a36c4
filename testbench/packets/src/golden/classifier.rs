use etherparse::{IpNumber, Ipv4HeaderSlice};

use super::{ipv4_header, Golden, ETHERNET, IPV4_HEADER};
use crate::slot::SlotPacket;
use crate::tables::{rule_verdict, FilterSet, FiveTuple};
use crate::verdict::{Reason, Verdict};

/// Forward every IPv4 packet to the port with the number of the first filter that matches it, or
/// drop it if that filter denies. The packet is not changed; of its header EtherType, version and
/// header length are checked.
pub fn classify(set: &FilterSet, packet: &SlotPacket) -> Golden {
    let verdict = five_tuple(packet).map(|tuple| first_match(set, &tuple)).unwrap_or_else(Verdict::drop);
    Golden { verdict, frame: packet.frame.clone() }
}

/// The verdict of the first filter that matches.
fn first_match(set: &FilterSet, tuple: &FiveTuple) -> Verdict {
    let rule = set.filters.iter().position(|filter| filter.matches(tuple));
    rule.map_or(Verdict::drop(Reason::NoRule), |rule| rule_verdict(rule, &set.filters[rule]))
}

/// What a filter looks at. Ports are those of TCP and UDP in packets that are no later fragments,
/// if they lie within the total length and the bytes that are there; otherwise they are 0.
pub(super) fn five_tuple(packet: &SlotPacket) -> Result<FiveTuple, Reason> {
    ipv4_header(packet)?;
    let header = Ipv4HeaderSlice::from_slice(&packet.frame[ETHERNET..]).map_err(|_| Reason::HeaderLength)?;
    let length = header.slice().len();
    let has_ports = matches!(header.protocol(), IpNumber::TCP | IpNumber::UDP)
        && header.fragments_offset().value() == 0
        && usize::from(header.total_len()) >= length + 4;
    let ports = packet.frame.get(ETHERNET + length..ETHERNET + length + 4).filter(|_| has_ports);
    let port = |at: usize| ports.map_or(0, |ports| u16::from_be_bytes([ports[at], ports[at + 1]]));
    assert!(length >= IPV4_HEADER);
    Ok(FiveTuple {
        source: header.source_addr(),
        destination: header.destination_addr(),
        source_port: port(0),
        destination_port: port(2),
        protocol: header.protocol().0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{Frame, Generator, Traffic};

    #[test]
    fn ports_of_whole_packets_first_fragments_and_later_ones() {
        let kind = "fixed:60".parse().unwrap();
        let mut traffic = Generator::new(Traffic { kind, seed: 3, bad_share: 0.0, rate: 100.0 });
        let good = traffic.find(|frame| frame.data[14] == 0x45).unwrap();
        let ports = |data: &[u8]| {
            let frame = Frame { data: data.to_vec(), wire_length: 60, ..good.clone() };
            let tuple = five_tuple(&SlotPacket::new(&frame, 11)).unwrap();
            (tuple.source_port, tuple.destination_port)
        };
        let whole = ports(&good.data);
        assert_eq!(whole.0, u16::from_be_bytes([good.data[34], good.data[35]]));
        let with = |position: usize, value| {
            let mut data = good.data.clone();
            data[position] = value;
            data
        };
        assert_eq!(ports(&with(20, 0x20)), whole, "first fragment");
        assert_eq!(ports(&with(21, 1)), (0, 0), "later fragment");
        assert_eq!(ports(&with(23, 1)), (0, 0), "ICMP");
        assert_eq!(ports(&with(17, 23)), (0, 0), "total length");
        assert_eq!(ports(&good.data[..38]), whole);
        assert_eq!(ports(&good.data[..37]), (0, 0), "cut");
    }

    #[test]
    fn the_first_filter_counts() {
        let kind = "fixed:60".parse().unwrap();
        let good = Generator::new(Traffic { kind, seed: 3, bad_share: 0.0, rate: 100.0 }).next().unwrap();
        let packet = SlotPacket::new(&good, 11);
        let verdict = |text: &str| classify(&FilterSet::parse(text).unwrap(), &packet).verdict;
        let no = "@9.0.0.0/8 0.0.0.0/0 0 : 65535 0 : 65535 0x11/0xff\n";
        let yes = "@10.0.0.0/8 0.0.0.0/0 0 : 65535 0 : 65535 0x11/0xff";
        assert_eq!(verdict(no), Verdict::drop(Reason::NoRule));
        assert_eq!(verdict(&format!("{no}{yes}\n{yes}")), Verdict::forward(1));
        assert_eq!(verdict(&format!("{no}{yes} deny\n{yes}")), Verdict::drop_by_rule(1));
    }
}
