//! Routing tables from a seed, with the prefix lengths of a BGP table.

use std::collections::HashSet;
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use rand::distributions::{Distribution, WeightedIndex};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::routes::{Route, RouteTable};

/// Prefixes of each length from /8 to /32 in a table of 512,490 of the RouteViews collectors
/// (2014-05-13).
const LENGTHS: [u32; 25] = [
    16, 12, 30, 90, 259, 487, 971, 1725, 13_015, 7048, 11_910, 24_925, 35_804, 37_608, 57_767, 47_375,
    269_983, 918, 1060, 537, 138, 292, 331, 20, 169,
];
/// Share of the prefixes that lie inside a shorter one of the table, in percent; 267,215 of the
/// 512,490 do.
const INSIDE_PERCENT: u32 = 52;

/// A table of `count` different prefixes with output ports below `ports` (1 to
/// [`super::MAX_PORTS`]), the same for the same seed. Prefix lengths are distributed as in a BGP
/// table, and half of the prefixes are more specific than another one. Without a default route:
/// some addresses have none.
pub fn generate_routes(count: usize, ports: u16, seed: u64) -> RouteTable {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let lengths = WeightedIndex::new(LENGTHS).expect("the weights are not all zero");
    let mut seen = HashSet::new();
    let mut routes: Vec<Route> = Vec::with_capacity(count);
    while routes.len() < count {
        let length = 8 + lengths.sample(&mut random) as u8;
        let inside = !routes.is_empty() && random.gen_ratio(INSIDE_PERCENT, 100);
        let mut outer = (0..8 * u32::from(inside)).map(|_| routes[random.gen_range(0..routes.len())].prefix);
        let outer = outer.find(|outer| outer.prefix_len() < length);
        let address = if let Some(outer) = outer {
            let host: u32 = random.gen();
            u32::from(outer.addr()) | host & u32::from(outer.hostmask())
        } else {
            // Unicast addresses, without networks 0, 10 and 127.
            let network = loop {
                let network = random.gen_range(1..224_u32);
                if network != 10 && network != 127 {
                    break network;
                }
            };
            network << 24 | random.gen_range(0..1 << 24)
        };
        let prefix = Ipv4Net::new(Ipv4Addr::from(address), length).expect("8 to 32 bits").trunc();
        if seen.insert(prefix) {
            routes.push(Route { prefix, port: random.gen_range(0..ports.max(1)) });
        }
    }
    RouteTable { routes, next_hops: usize::from(ports.max(1)), ..RouteTable::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_a_bgp_table() {
        let table = generate_routes(20_000, 16, crate::test_seed());
        let share = |what: &dyn Fn(u8) -> bool| {
            table.routes.iter().filter(|r| what(r.prefix.prefix_len())).count() as f64 / 20_000.0
        };
        assert!((0.49..0.56).contains(&share(&|length| length == 24)));
        assert!((0.08..0.14).contains(&share(&|length| length == 22)));
        assert!(share(&|length| length > 24) > 0.001 && share(&|length| length < 16) > 0.001);
        assert_eq!(table.routes.iter().map(|r| r.prefix).collect::<HashSet<_>>().len(), 20_000);
        assert!((0..16).all(|port| table.routes.iter().any(|r| r.port == port)));
    }

    #[test]
    fn the_seed_decides() {
        let text = |seed| generate_routes(500, 8, seed).to_text();
        assert_eq!(text(3), text(3));
        assert_ne!(text(3), text(4));
    }
}
