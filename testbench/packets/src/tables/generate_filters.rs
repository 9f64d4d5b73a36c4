//! Filter sets from a seed, with the statistics of the ClassBench sets acl1, fw1 and ipc1.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::str::FromStr;

use ipnet::Ipv4Net;
use rand::distributions::{Distribution, WeightedIndex};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::filters::{Filter, FilterSet, FiveTuple};

/// What a filter set is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterKind {
    /// Access control list.
    Acl,
    /// Firewall.
    Firewall,
    /// IP chain.
    IpChain,
}

impl FilterKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Acl, Self::Firewall, Self::IpChain];

    const fn statistics(self) -> &'static Statistics {
        match self {
            Self::Acl => &ACL,
            Self::Firewall => &FIREWALL,
            Self::IpChain => &IP_CHAIN,
        }
    }
}

impl FromStr for FilterKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "acl" => Ok(Self::Acl),
            "fw" => Ok(Self::Firewall),
            "ipc" => Ok(Self::IpChain),
            _ => Err(format!("`{text}`: expected acl, fw or ipc")),
        }
    }
}

/// Shares, in percent or per mille: only their proportions count. Taken from the sets acl1_1K,
/// fw1_1K and ipc1_1K.
struct Statistics {
    /// Lengths of the source prefixes.
    source_lengths: &'static [(u8, u32)],
    /// Lengths of the destination prefixes.
    destination_lengths: &'static [(u8, u32)],
    /// /16 networks in which 1,000 filters have their sources and destinations.
    networks: [usize; 2],
    /// Source ports: every port, one port, a range.
    source_ports: [u32; 3],
    /// Destination ports, alike.
    destination_ports: [u32; 3],
    /// Single ports, by their frequency.
    services: &'static [(u16, u32)],
    /// Protocols; 0 stands for every protocol.
    protocols: &'static [(u8, u32)],
}

const ACL: Statistics = Statistics {
    source_lengths: &[(23, 9), (30, 2), (31, 3), (32, 86)],
    destination_lengths: &[(16, 2), (22, 6), (24, 3), (31, 2), (32, 83)],
    networks: [4, 130],
    source_ports: [100, 0, 0],
    destination_ports: [27, 60, 13],
    services: &[
        (1521, 86),
        (1526, 50),
        (1221, 24),
        (20, 20),
        (1708, 18),
        (1704, 15),
        (1433, 15),
        (135, 15),
        (6000, 13),
    ],
    protocols: &[(6, 891), (17, 9), (1, 24), (0, 76)],
};

const FIREWALL: Statistics = Statistics {
    source_lengths: &[(0, 62), (21, 1), (27, 1), (28, 3), (30, 4), (32, 26)],
    destination_lengths: &[(0, 25), (21, 3), (28, 3), (30, 2), (32, 68)],
    networks: [22, 33],
    source_ports: [75, 14, 11],
    destination_ports: [28, 62, 10],
    services: &[
        (22, 73),
        (25, 46),
        (53, 42),
        (80, 40),
        (123, 32),
        (750, 21),
        (544, 17),
        (21, 15),
        (119, 15),
        (161, 13),
    ],
    protocols: &[(17, 347), (6, 545), (1, 34), (47, 66), (0, 8)],
};

const IP_CHAIN: Statistics = Statistics {
    source_lengths: &[(0, 6), (16, 5), (22, 3), (23, 10), (24, 29), (26, 4), (28, 2), (32, 35)],
    destination_lengths: &[(0, 6), (16, 9), (22, 1), (23, 2), (24, 27), (25, 2), (26, 7), (28, 2), (32, 43)],
    networks: [52, 80],
    source_ports: [82, 15, 3],
    destination_ports: [56, 36, 8],
    services: &[(69, 74), (514, 56), (80, 38), (53, 30), (9003, 27), (25, 20), (137, 9), (1433, 9), (22, 8)],
    protocols: &[(17, 384), (6, 262), (0, 335), (47, 6), (1, 12), (50, 1)],
};

/// Port ranges, by their frequency.
const RANGES: [(RangeInclusive<u16>, u32); 6] =
    [(1024..=65535, 70), (0..=1299, 8), (20..=23, 8), (109..=110, 6), (33_434..=33_600, 3), (20..=21, 5)];

/// A set of `count` different filters, of which `deny_percent` percent drop their packets; the same
/// for the same seed. The filters nearest to the end are the widest, as in a set that is used.
pub fn generate_filters(kind: FilterKind, count: usize, deny_percent: u32, seed: u64) -> FilterSet {
    let statistics = kind.statistics();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let networks = statistics.networks.map(|per_thousand| {
        let networks = (per_thousand * count).div_ceil(1000).max(2);
        (0..networks)
            .map(|_| random.gen_range(1..224) << 24 | random.gen_range(0..256) << 16)
            .collect::<Vec<u32>>()
    });
    let mut seen = HashSet::new();
    let mut filters = Vec::with_capacity(count);
    while filters.len() < count {
        let protocol = *weighted(&mut random, statistics.protocols);
        let filter = Filter {
            source: prefix(&mut random, &networks[0], statistics.source_lengths),
            destination: prefix(&mut random, &networks[1], statistics.destination_lengths),
            source_ports: ports(&mut random, statistics.source_ports, statistics.services),
            destination_ports: ports(&mut random, statistics.destination_ports, statistics.services),
            protocol,
            protocol_mask: if protocol == 0 { 0 } else { 0xff },
            deny: random.gen_range(0..100) < deny_percent,
        };
        if seen.insert(FilterSet { filters: vec![filter.clone()], with_flags: 0 }.to_text()) {
            filters.push(filter);
        }
    }
    filters.sort_by_key(|f| {
        std::cmp::Reverse(u32::from(f.source.prefix_len()) + u32::from(f.destination.prefix_len()))
    });
    FilterSet { filters, with_flags: 0 }
}

fn weighted<'a, T>(random: &mut impl Rng, choices: &'a [(T, u32)]) -> &'a T {
    let weights =
        WeightedIndex::new(choices.iter().map(|(_, weight)| weight)).expect("some weight is not zero");
    &choices[weights.sample(random)].0
}

fn prefix(random: &mut impl Rng, networks: &[u32], lengths: &[(u8, u32)]) -> Ipv4Net {
    let length = *weighted(random, lengths);
    // Few hosts of a network have most of the filters.
    let host = random.gen_range(0..0x100_u32) << random.gen_range(0..8);
    let address = networks[random.gen_range(0..networks.len())] | host;
    Ipv4Net::new(address.into(), length).expect("0 to 32 bits").trunc()
}

fn ports(random: &mut impl Rng, shares: [u32; 3], services: &[(u16, u32)]) -> RangeInclusive<u16> {
    match *weighted(random, &[(0, shares[0]), (1, shares[1]), (2, shares[2])]) {
        0 => 0..=u16::MAX,
        1 if random.gen_ratio(1, 4) => {
            let port = random.gen();
            port..=port
        }
        1 => {
            let port = *weighted(random, services);
            port..=port
        }
        _ => weighted(random, &RANGES).clone(),
    }
}

impl Filter {
    /// A packet that the filter matches.
    pub fn sample(&self, random: &mut impl Rng) -> FiveTuple {
        let mut address = |net: Ipv4Net| {
            let host: u32 = random.gen();
            (u32::from(net.network()) | host & u32::from(net.hostmask())).into()
        };
        let (source, destination) = (address(self.source), address(self.destination));
        let any = if self.protocol_mask == 0 { *weighted(random, &[(6, 8), (17, 3), (1, 1)]) } else { 0 };
        FiveTuple {
            source,
            destination,
            source_port: random.gen_range(self.source_ports.clone()),
            destination_port: random.gen_range(self.destination_ports.clone()),
            protocol: self.protocol & self.protocol_mask | any & !self.protocol_mask,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_the_real_sets() {
        let seed = crate::test_seed();
        for kind in FilterKind::ALL {
            let set = generate_filters(kind, 1000, 10, seed);
            let share = |what: &dyn Fn(&Filter) -> bool| set.filters.iter().filter(|f| what(f)).count();
            let any = 0..=u16::MAX;
            let (low, high) = match kind {
                FilterKind::Acl => (990, 1000),
                FilterKind::Firewall => (650, 830),
                FilterKind::IpChain => (750, 890),
            };
            assert!((low..=high).contains(&share(&|f| f.source_ports == any)), "{kind:?}");
            assert!((50..170).contains(&share(&|f| f.deny)));
            assert_eq!(FilterSet::parse(&set.to_text()).unwrap(), set);
        }
        let set = generate_filters(FilterKind::Firewall, 1000, 0, seed);
        assert!((450..700).contains(&set.filters.iter().filter(|f| f.source.prefix_len() == 0).count()));
    }

    #[test]
    fn the_seed_decides() {
        let text = |seed| generate_filters(FilterKind::IpChain, 100, 5, seed).to_text();
        assert_eq!(text(3), text(3));
        assert_ne!(text(3), text(4));
    }

    #[test]
    fn samples_match() {
        let mut random = ChaCha8Rng::seed_from_u64(crate::test_seed());
        for filter in generate_filters(FilterKind::Firewall, 200, 0, 1).filters {
            let tuple = filter.sample(&mut random);
            assert!(filter.matches(&tuple), "{filter:?} {tuple:?}");
        }
    }
}
