use ipnet::Ipv4Net;
use prefix_trie::PrefixMap;

use super::{ipv4_header, Golden};
use crate::slot::SlotPacket;
use crate::tables::RouteTable;
use crate::verdict::{Reason, Verdict};

/// A routing table as a prefix trie.
#[derive(Clone, Debug)]
pub struct RouteModel {
    trie: PrefixMap<Ipv4Net, u16>,
}

impl RouteModel {
    /// The model of `table`.
    pub fn new(table: &RouteTable) -> Self {
        Self { trie: table.routes.iter().map(|route| (route.prefix, route.port)).collect() }
    }

    /// The port of the longest prefix that holds `destination`.
    pub fn port(&self, destination: [u8; 4]) -> Result<u32, Reason> {
        let host = Ipv4Net::from(std::net::Ipv4Addr::from(destination));
        self.trie.get_lpm(&host).map(|(_, port)| u32::from(*port)).ok_or(Reason::NoRoute)
    }

    /// Forward every IPv4 packet to the port of its destination's longest prefix. The packet is not
    /// changed, and of its header nothing but EtherType and version is checked.
    pub fn route_lookup(&self, packet: &SlotPacket) -> Golden {
        let port = ipv4_header(packet).and_then(|header| self.port([16, 17, 18, 19].map(|i| header[i])));
        let verdict = port.map_or_else(Verdict::drop, Verdict::forward);
        Golden { verdict, frame: packet.frame.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{Frame, Generator, Traffic};

    #[test]
    fn destinations() {
        let table = RouteTable::parse("198.0.0.0/8 4\n198.51.100.0/24 5\n198.51.100.7/32 6\n").unwrap();
        let model = RouteModel::new(&table);
        let kind = "fixed:60".parse().unwrap();
        let good = Generator::new(Traffic { kind, seed: 1, bad_share: 0.0, rate: 100.0 }).next().unwrap();
        let verdict = |destination: [u8; 4]| {
            let mut data = good.data.clone();
            data[30..34].copy_from_slice(&destination);
            model.route_lookup(&SlotPacket::new(&Frame { data, ..good.clone() }, 11)).verdict
        };
        assert_eq!(verdict([198, 51, 100, 7]), Verdict::forward(6));
        assert_eq!(verdict([198, 51, 100, 8]), Verdict::forward(5));
        assert_eq!(verdict([198, 51, 101, 7]), Verdict::forward(4));
        assert_eq!(verdict([199, 51, 101, 7]), Verdict::drop(Reason::NoRoute));
    }
}
