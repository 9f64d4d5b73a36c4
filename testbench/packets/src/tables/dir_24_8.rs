//! DIR-24-8 (Gupta, Lin, McKeown: Routing lookups in hardware at memory access speeds, INFOCOM
//! 1998): the longest prefix of an address in one load, or two where prefixes longer than /24
//! exist.
//!
//! In shared memory, little-endian halfwords:
//!
//! | offset | what |
//! | --- | --- |
//! | 2 x (address >> 8) | port; [`MISS`]: no route; bit 15 set: bits 14:0 are the number of a segment |
//! | [`SECOND_TABLE`] + 512 x segment + 2 x (address & 255) | port, or [`MISS`] |

use super::routes::{Route, MAX_PORTS};

/// Bytes of the first table, and the offset of the second.
pub const SECOND_TABLE: usize = 2 << 24;
/// Entry without a route.
pub const MISS: u16 = MAX_PORTS as u16;
/// Bit of an entry that leads to a segment of the second table.
const SEGMENT: u16 = 0x8000;
/// Segments that 15 bits can number.
const MAX_SEGMENTS: usize = 0x8000;

/// The table, ready for shared memory.
#[derive(Clone, Debug)]
pub struct Dir248 {
    /// Entry of every /24.
    first: Vec<u16>,
    /// Segments of 256 entries, one an address.
    second: Vec<u16>,
}

/// More /24 prefixes have longer ones inside than the second table can hold.
#[derive(Debug, thiserror::Error)]
#[error("prefixes longer than /24 lie in more than {MAX_SEGMENTS} different /24 networks, which DIR-24-8 cannot hold")]
pub struct TooManySegments;

impl Dir248 {
    /// Compiles `routes`, no prefix of which occurs twice.
    ///
    /// # Errors
    /// [`TooManySegments`].
    pub fn new(routes: &[Route]) -> Result<Self, TooManySegments> {
        let mut order: Vec<_> =
            routes.iter().map(|r| (r.prefix.prefix_len(), r.prefix.addr(), r.port)).collect();
        order.sort_unstable();
        let mut table = Self { first: vec![MISS; 1 << 24], second: Vec::new() };
        // Shorter prefixes come first, so that longer ones overwrite them.
        for (length, address, port) in order {
            let address = u32::from(address);
            let index = (address >> 8) as usize;
            if length <= 24 {
                table.first[index..index + (1 << (24 - length))].fill(port);
            } else {
                let start = table.segment(index)? * 256 + (address & 255) as usize;
                table.second[start..start + (1 << (32 - length))].fill(port);
            }
        }
        Ok(table)
    }

    /// The segment of a /24, made if there is none yet.
    fn segment(&mut self, index: usize) -> Result<usize, TooManySegments> {
        let entry = self.first[index];
        if entry & SEGMENT != 0 {
            return Ok(usize::from(entry & !SEGMENT));
        }
        let segment = self.second.len() / 256;
        if segment == MAX_SEGMENTS {
            return Err(TooManySegments);
        }
        self.second.resize(self.second.len() + 256, entry);
        self.first[index] = SEGMENT | segment as u16;
        Ok(segment)
    }

    /// Bytes of both tables.
    pub fn size(&self) -> usize {
        SECOND_TABLE + 2 * self.second.len()
    }

    /// Both tables as they stand in shared memory.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size()];
        let entries = self.first.iter().chain(&self.second);
        bytes
            .chunks_exact_mut(2)
            .zip(entries)
            .for_each(|(place, entry)| place.copy_from_slice(&entry.to_le_bytes()));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{generate_routes, RouteTable};
    use ipnet::Ipv4Net;
    use prefix_trie::PrefixMap;
    use rand::{Rng, SeedableRng};
    use std::net::Ipv4Addr;

    fn lookup(bytes: &[u8], address: u32) -> Option<u16> {
        let load = |offset: usize| u16::from_le_bytes([bytes[offset], bytes[offset + 1]]);
        let mut entry = load(2 * (address >> 8) as usize);
        if entry & SEGMENT != 0 {
            entry = load(SECOND_TABLE + 512 * usize::from(entry & 0x7fff) + 2 * (address & 255) as usize);
        }
        (entry != MISS).then_some(entry)
    }

    #[test]
    fn longer_prefixes_win_whatever_their_order() {
        let text =
            "10.1.2.128/25 4\n0.0.0.0/0 0\n10.1.2.3/32 5\n10.0.0.0/8 1\n10.1.2.0/24 3\n10.1.0.0/16 2\n";
        let bytes = Dir248::new(&RouteTable::parse(text).unwrap().routes).unwrap().to_bytes();
        assert_eq!(bytes.len(), SECOND_TABLE + 512);
        for (address, port) in [
            ("1.1.1.1", 0),
            ("10.9.9.9", 1),
            ("10.1.9.9", 2),
            ("10.1.2.4", 3),
            ("10.1.2.200", 4),
            ("10.1.2.3", 5),
        ] {
            let address: Ipv4Addr = address.parse().unwrap();
            assert_eq!(lookup(&bytes, address.into()), Some(port), "{address}");
        }
    }

    /// Against a prefix trie, at random addresses and at both ends of every prefix.
    #[test]
    fn agrees_with_a_trie() {
        let seed = crate::test_seed();
        let table = generate_routes(20_000, 64, seed);
        let mut trie: PrefixMap<Ipv4Net, u16> = PrefixMap::new();
        for route in &table.routes {
            trie.insert(route.prefix, route.port);
        }
        let bytes = Dir248::new(&table.routes).unwrap().to_bytes();
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let ends = table.routes.iter().flat_map(|r| [r.prefix.network(), r.prefix.broadcast()]);
        let around = ends.flat_map(|a| [-1, 0, 1].map(|step| u32::from(a).wrapping_add_signed(step)));
        let addresses: Vec<_> = around.chain((0..50_000).map(|_| random.gen())).collect();
        for address in addresses {
            let host = Ipv4Net::from(Ipv4Addr::from(address));
            assert_eq!(lookup(&bytes, address), trie.get_lpm(&host).map(|(_, port)| *port), "{host}");
        }
    }

    /// Seconds for which this thread had a processor, so that what else the machine does is left
    /// out.
    fn processor_seconds() -> f64 {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
    }

    /// Half a million prefixes are compiled in well under the 5 seconds that a user may have to
    /// wait.
    #[test]
    fn a_full_table_is_quick() {
        let text = generate_routes(500_000, 256, 1).to_text();
        let start = processor_seconds();
        let table = RouteTable::parse(&text).unwrap();
        assert_eq!(table.routes.len(), 500_000);
        assert!(Dir248::new(&table.routes).unwrap().to_bytes().len() >= SECOND_TABLE);
        let seconds = processor_seconds() - start;
        assert!(seconds < 5.0, "{seconds} s");
        println!("{seconds:.2} s");
    }

    #[test]
    fn too_many_long_prefixes() {
        let route = |n: u32| Route { prefix: Ipv4Net::new((n << 8).into(), 25).unwrap(), port: 0 };
        let routes: Vec<_> = (0..=MAX_SEGMENTS as u32).map(route).collect();
        assert!(Dir248::new(&routes[..MAX_SEGMENTS]).is_ok());
        assert!(Dir248::new(&routes).unwrap_err().to_string().contains("more than 32768"));
    }
}
