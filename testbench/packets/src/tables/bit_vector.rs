//! A filter set for search by bit vectors (Lakshman, Stiliadis: High-speed policy-based packet
//! forwarding, SIGCOMM 1998).
//!
//! Every value of a field has a vector with a 1 for each filter that the value matches; the AND of
//! the fields' vectors shows the filters that match the packet, and the lowest 1 is the first of
//! them. An address is two fields of 16 bits: a prefix matches an address if it matches both
//! halves. Values of the same vector share it. In shared memory:
//!
//! | offset | what |
//! | --- | --- |
//! | [`INDEX_BYTES`] x field, fields in the order of [`Field`] | for each value of the field, as a halfword load of the packet's field gives it (network byte order), a halfword: number of its vector |
//! | [`PROTOCOLS`] | the same for each of the 256 protocols |
//! | [`VERDICTS`] | the verdict of each of 256 filters, a word |
//! | [`VECTORS`] | the vectors, of 8 words: filter n is bit n % 32 of word n / 32 |

use std::collections::HashMap;

use super::filters::{Filter, FilterSet};
use super::rule_list::rule_verdict;

/// Filters that a vector holds.
pub const MAX_FILTERS: usize = 256;
/// Bytes of the index of one field of 16 bits.
pub const INDEX_BYTES: usize = 2 << 16;
/// Offset of the index of the protocols.
pub const PROTOCOLS: usize = 6 * INDEX_BYTES;
/// Offset of the verdicts.
pub const VERDICTS: usize = PROTOCOLS + 2 * 256;
/// Offset of the vectors.
pub const VECTORS: usize = VERDICTS + 4 * MAX_FILTERS;

/// A bit for each filter.
type Vector = [u32; MAX_FILTERS / 32];

/// The fields of 16 bits, in the order of their indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Upper half of the source address.
    SourceUpper,
    /// Lower half of the source address.
    SourceLower,
    /// Upper half of the destination address.
    DestinationUpper,
    /// Lower half of the destination address.
    DestinationLower,
    /// Source port.
    SourcePort,
    /// Destination port.
    DestinationPort,
}

impl Field {
    const ALL: [Self; 6] = [
        Self::SourceUpper,
        Self::SourceLower,
        Self::DestinationUpper,
        Self::DestinationLower,
        Self::SourcePort,
        Self::DestinationPort,
    ];

    /// The values of the field that `filter` matches: always a range.
    fn range(self, filter: &Filter) -> (u16, u16) {
        let upper = |net: ipnet::Ipv4Net| {
            ((u32::from(net.network()) >> 16) as u16, (u32::from(net.broadcast()) >> 16) as u16)
        };
        // Below a prefix of up to 16 bits, the lower half does not count.
        let lower = |net: ipnet::Ipv4Net| {
            if net.prefix_len() <= 16 {
                (0, u16::MAX)
            } else {
                (u32::from(net.network()) as u16, u32::from(net.broadcast()) as u16)
            }
        };
        match self {
            Self::SourceUpper => upper(filter.source),
            Self::SourceLower => lower(filter.source),
            Self::DestinationUpper => upper(filter.destination),
            Self::DestinationLower => lower(filter.destination),
            Self::SourcePort => filter.source_ports.clone().into_inner(),
            Self::DestinationPort => filter.destination_ports.clone().into_inner(),
        }
    }
}

/// More filters than a vector holds.
#[derive(Debug, thiserror::Error)]
#[error("{0} filters; bit vectors hold {MAX_FILTERS}")]
pub struct TooManyFilters(usize);

/// The vectors, each once.
#[derive(Debug, Default)]
struct Vectors {
    numbers: HashMap<Vector, u16>,
    words: Vec<u32>,
}

impl Vectors {
    fn number(&mut self, vector: Vector) -> u16 {
        let next = self.numbers.len() as u16;
        *self.numbers.entry(vector).or_insert_with(|| {
            self.words.extend(vector);
            next
        })
    }
}

/// The tables as they stand in shared memory.
///
/// # Errors
/// [`TooManyFilters`].
pub fn bit_vectors(set: &FilterSet) -> Result<Vec<u8>, TooManyFilters> {
    let filters = &set.filters;
    if filters.len() > MAX_FILTERS {
        return Err(TooManyFilters(filters.len()));
    }
    let mut vectors = Vectors::default();
    let mut bytes = vec![0; VECTORS];
    for (place, field) in Field::ALL.into_iter().enumerate() {
        // A filter's bit turns at both ends of its range.
        let mut turns = vec![Vec::new(); (1 << 16) + 1];
        for (rule, filter) in filters.iter().enumerate() {
            let (low, high) = field.range(filter);
            turns[usize::from(low)].push(rule);
            turns[usize::from(high) + 1].push(rule);
        }
        let mut vector = Vector::default();
        let mut number = vectors.number(vector);
        for (value, turns) in turns[..1 << 16].iter().enumerate() {
            if !turns.is_empty() {
                turns.iter().for_each(|rule| vector[rule / 32] ^= 1 << (rule % 32));
                number = vectors.number(vector);
            }
            let at = place * INDEX_BYTES + 2 * usize::from((value as u16).swap_bytes());
            bytes[at..at + 2].copy_from_slice(&number.to_le_bytes());
        }
    }
    for protocol in 0..=u8::MAX {
        let mut vector = Vector::default();
        for (rule, filter) in filters.iter().enumerate() {
            let matches = (filter.protocol ^ protocol) & filter.protocol_mask == 0;
            vector[rule / 32] |= u32::from(matches) << (rule % 32);
        }
        let at = PROTOCOLS + 2 * usize::from(protocol);
        bytes[at..at + 2].copy_from_slice(&vectors.number(vector).to_le_bytes());
    }
    for (rule, filter) in filters.iter().enumerate() {
        bytes[VERDICTS + 4 * rule..][..4].copy_from_slice(&rule_verdict(rule, filter).0.to_le_bytes());
    }
    bytes.extend(vectors.words.iter().flat_map(|word| word.to_le_bytes()));
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{generate_filters, FilterKind, FiveTuple};
    use rand::{Rng, SeedableRng};

    /// The filter that the tables name.
    fn search(bytes: &[u8], tuple: &FiveTuple) -> Option<usize> {
        let half = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        let (source, destination) = (u32::from(tuple.source), u32::from(tuple.destination));
        let values = [
            (source >> 16) as u16,
            source as u16,
            (destination >> 16) as u16,
            destination as u16,
            tuple.source_port,
            tuple.destination_port,
        ];
        let fields = values.iter().enumerate();
        let numbers =
            fields.map(|(field, value)| half(field * INDEX_BYTES + 2 * usize::from(value.swap_bytes())));
        let protocol = half(PROTOCOLS + 2 * usize::from(tuple.protocol));
        let numbers: Vec<_> = numbers.chain([protocol]).collect();
        (0..MAX_FILTERS).find(|rule| {
            numbers.iter().all(|number| bytes[VECTORS + 32 * number + rule / 8] >> (rule % 8) & 1 == 1)
        })
    }

    #[test]
    fn agrees_with_a_scan() {
        let seed = crate::test_seed();
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        for kind in FilterKind::ALL {
            let set = generate_filters(kind, 256, 20, seed);
            let bytes = bit_vectors(&set).unwrap();
            for _ in 0..2000 {
                let mut tuple = set.filters[random.gen_range(0..256)].sample(&mut random);
                if random.gen() {
                    tuple.destination = random.gen::<u32>().into();
                }
                assert_eq!(search(&bytes, &tuple), set.first_match(&tuple), "{tuple:?}");
            }
        }
    }

    #[test]
    fn too_many_filters() {
        let set = generate_filters(FilterKind::Acl, 257, 0, 1);
        assert!(bit_vectors(&set).unwrap_err().to_string().contains("257 filters; bit vectors hold 256"));
    }
}
