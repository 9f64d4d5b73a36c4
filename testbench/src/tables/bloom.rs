//! A Bloom filter and a hash table of patterns (Bloom: Space/time trade-offs in hash coding with allowable errors, CACM 13(7), 1970).
//!
//! The key of a pattern is [`WINDOW`] of its bytes in a row, in lower case, as a little-endian word: those that the fewest other patterns
//! have, so that what many begin with (`User-Agent: `) does not lead to all of them. [`hash`] makes 32 bits of it. In shared memory:
//!
//! | offset | what |
//! | --- | --- |
//! | 0 | the filter, 2,048 words; [`filter_bits`] has the two bits of a hash that are 1 |
//! | [`BUCKETS`] + 4 x lower half of the hash | address of the first candidate, or 0 |
//! | [`CANDIDATES`] | candidates, in each bucket by ascending pattern number |
//!
//! A candidate: address of the next one or 0; number of the pattern; its length in bits 15:0, the key's place in it in bits 30:16, bit 31
//! for `nocase`; its bytes (in lower case if `nocase`), filled up to whole words.

use std::collections::{HashMap, HashSet};

use super::snort::Pattern;

/// Bytes of a window: patterns must not be shorter.
pub const WINDOW: usize = 4;
/// Offset of the buckets: the bytes of the filter.
pub const BUCKETS: usize = (1 << 16) / 8;
/// Offset of the candidates.
pub const CANDIDATES: usize = BUCKETS + (4 << 16);
/// Bit of the length of a pattern in which case does not count.
const NOCASE: u32 = 1 << 31;

/// The hash of a key, from shifts and additions only.
pub fn hash(key: u32) -> u32 {
    let sum = key.wrapping_add(key << 9);
    let mixed = sum ^ sum >> 13;
    mixed.wrapping_add(mixed << 5)
}

/// The two bits of a hash in the filter: word, and bit of the word. A shift by the hash brings the bit to the word's sign.
fn filter_bits(hash: u32) -> [(usize, usize); 2] {
    let bit = |shift: u32| 31 - (shift & 31) as usize;
    [((hash >> 21) as usize, bit(hash)), ((hash >> 5 & 0x7ff) as usize, bit(hash >> 16))]
}

/// The windows of a pattern as keys, from its beginning on.
fn keys(pattern: &Pattern) -> impl Iterator<Item = u32> + '_ {
    let key =
        |window: &[u8]| u32::from_le_bytes(std::array::from_fn(|place| window[place].to_ascii_lowercase()));
    pattern.bytes.windows(WINDOW).map(key)
}

/// The place of each pattern's key: the window that the fewest patterns have, and the first one of these.
fn key_places(patterns: &[Pattern]) -> Vec<usize> {
    let mut having: HashMap<u32, usize> = HashMap::new();
    for pattern in patterns {
        for key in keys(pattern).collect::<HashSet<_>>() {
            *having.entry(key).or_insert(0) += 1;
        }
    }
    let place = |pattern: &Pattern| {
        let ranked = keys(pattern).enumerate().map(|(place, key)| (having[&key], place));
        ranked.min().map_or(0, |(_, place)| place)
    };
    patterns.iter().map(place).collect()
}

/// Bytes that [`bloom_table`] gives.
pub fn bloom_table_bytes(patterns: &[Pattern]) -> usize {
    CANDIDATES + patterns.iter().map(candidate_bytes).sum::<usize>()
}

fn candidate_bytes(pattern: &Pattern) -> usize {
    12 + pattern.bytes.len().next_multiple_of(4)
}

/// The filter, the buckets and the candidates of `patterns`, none shorter than [`WINDOW`], to lie at `address`.
pub fn bloom_table(patterns: &[Pattern], address: u32) -> Vec<u8> {
    let mut bytes = vec![0; CANDIDATES];
    // From the last pattern on, each becomes the first of its bucket.
    for (number, (pattern, place)) in patterns.iter().zip(key_places(patterns)).enumerate().rev() {
        let Some(key) = keys(pattern).nth(place) else { continue };
        let hash = hash(key);
        for (word, bit) in filter_bits(hash) {
            bytes[4 * word + bit / 8] |= 1 << (bit % 8);
        }
        let candidate = address + bytes.len() as u32;
        let bucket = BUCKETS + 4 * (hash & 0xffff) as usize;
        let next: Vec<u8> = bytes.splice(bucket..bucket + 4, candidate.to_le_bytes()).collect();
        bytes.extend(next);
        bytes.extend((number as u32).to_le_bytes());
        let length = (pattern.bytes.len() | place << 16) as u32 | if pattern.nocase { NOCASE } else { 0 };
        bytes.extend(length.to_le_bytes());
        let text = if pattern.nocase { pattern.bytes.to_ascii_lowercase() } else { pattern.bytes.clone() };
        bytes.extend(text);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    fn pattern(text: &str, nocase: bool) -> Pattern {
        Pattern { bytes: text.as_bytes().to_vec(), nocase, sid: None }
    }

    #[test]
    fn candidates_of_one_key_are_in_order() {
        let patterns = [pattern("xGET ", false), pattern("get ", true), pattern("get xget ", false)];
        assert_eq!(key_places(&patterns), [0, 0, 1], "`xget` is rarer than `get `, `et x` the rarest");
        let patterns = [pattern("GET ", false), pattern("get ", true), pattern("other", false)];
        let bytes = bloom_table(&patterns, 0x1000);
        assert_eq!(bytes.len(), bloom_table_bytes(&patterns));
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let bucket = BUCKETS + 4 * (hash(u32::from_le_bytes(*b"get ")) & 0xffff) as usize;
        let first = (word(bucket) - 0x1000) as usize;
        assert_eq!((word(first + 4), word(first + 8)), (0, 4));
        assert_eq!(&bytes[first + 12..first + 16], b"GET ");
        let second = (word(first) - 0x1000) as usize;
        assert_eq!((word(second), word(second + 4), word(second + 8)), (0, 1, 4 | NOCASE));
    }

    #[test]
    fn what_many_patterns_begin_with_is_no_key() {
        let patterns: Vec<_> = ["alpha", "beta", "gamma"]
            .iter()
            .map(|name| pattern(&format!("User-Agent: {name}"), true))
            .collect();
        let bytes = bloom_table(&patterns, 0);
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let lengths: Vec<_> = (0..3).map(|number| patterns[number].bytes.len()).collect();
        let places = key_places(&patterns);
        assert!(places.iter().all(|place| *place > 8), "{places:?}");
        assert_eq!(word(CANDIDATES + 8) as usize, lengths[2] | places[2] << 16 | NOCASE as usize);
    }

    /// With 500 patterns, few windows of text or of random bytes pass the filter.
    #[test]
    fn false_positives_are_rare() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(crate::test_seed());
        let mut word = |alphabet: &[u8]| {
            std::array::from_fn::<u8, 4, _>(|_| alphabet[random.gen_range(0..alphabet.len())])
        };
        let text = b"etaoinshrdlucmfwypvbgkjqxz0123456789/.- :=&";
        let binary: Vec<u8> = (0..=255).collect();
        let patterns: Vec<_> =
            (0..500).map(|_| Pattern { bytes: word(text).to_vec(), nocase: true, sid: None }).collect();
        let bytes = bloom_table(&patterns, 0);
        let is_set = |(word, bit): (usize, usize)| bytes[4 * word + bit / 8] >> (bit % 8) & 1 == 1;
        for alphabet in [&text[..], &binary] {
            let passes = (0..20_000).filter(|_| {
                let hash = hash(u32::from_le_bytes(word(alphabet)));
                filter_bits(hash).into_iter().all(is_set)
            });
            let passed = passes.count();
            assert!(passed < 200, "{passed} of 20000");
        }
    }
}
