//! A Bloom filter and a hash table of patterns (Bloom: Space/time trade-offs in hash coding with allowable errors, CACM 13(7), 1970).
//!
//! The key of a pattern is its first [`WINDOW`] bytes in lower case, as a little-endian word; [`hash`] makes 32 bits of it. In shared
//! memory:
//!
//! | offset | what |
//! | --- | --- |
//! | 0 | the filter, 65,536 bits: bit n is bit n % 32 of word n / 32. The bits at both halves of the hash are 1 |
//! | [`BUCKETS`] + 4 x lower half of the hash | address of the first candidate, or 0 |
//! | [`CANDIDATES`] | candidates, in each bucket by ascending pattern number |
//!
//! A candidate: address of the next one or 0; number of the pattern; its length, with bit 31 for `nocase`; its bytes (in lower case if
//! `nocase`), filled up to whole words.

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

/// The key of a pattern.
fn key(pattern: &Pattern) -> u32 {
    let first: [u8; WINDOW] = std::array::from_fn(|i| pattern.bytes[i].to_ascii_lowercase());
    u32::from_le_bytes(first)
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
    for (number, pattern) in patterns.iter().enumerate().rev() {
        let hash = hash(key(pattern));
        let (lower, upper) = ((hash & 0xffff) as usize, (hash >> 16) as usize);
        for bit in [lower, upper] {
            bytes[bit / 8] |= 1 << (bit % 8);
        }
        let candidate = address + bytes.len() as u32;
        let bucket = BUCKETS + 4 * lower;
        let next: Vec<u8> = bytes.splice(bucket..bucket + 4, candidate.to_le_bytes()).collect();
        bytes.extend(next);
        bytes.extend((number as u32).to_le_bytes());
        let length = pattern.bytes.len() as u32 | if pattern.nocase { NOCASE } else { 0 };
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
        let patterns = [pattern("GET /a", false), pattern("get ", true), pattern("other", false)];
        let bytes = bloom_table(&patterns, 0x1000);
        assert_eq!(bytes.len(), bloom_table_bytes(&patterns));
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let bucket = BUCKETS + 4 * (hash(u32::from_le_bytes(*b"get ")) & 0xffff) as usize;
        let first = (word(bucket) - 0x1000) as usize;
        assert_eq!((word(first + 4), word(first + 8)), (0, 6));
        assert_eq!(&bytes[first + 12..first + 20], b"GET /a\0\0");
        let second = (word(first) - 0x1000) as usize;
        assert_eq!((word(second), word(second + 4), word(second + 8)), (0, 1, 4 | NOCASE));
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
        let bit = |n: u32| bytes[n as usize / 8] >> (n % 8) & 1 == 1;
        for alphabet in [&text[..], &binary] {
            let passes = (0..20_000).filter(|_| {
                let hash = hash(u32::from_le_bytes(word(alphabet)));
                bit(hash & 0xffff) && bit(hash >> 16)
            });
            let passed = passes.count();
            assert!(passed < 200, "{passed} of 20000");
        }
    }
}
