//! A Bloom filter of aligned words (Bloom: Space/time trade-offs in hash coding with allowable
//! errors, CACM 13(7), 1970), and what is compared where it says that a pattern may stand.
//!
//! The search looks at the words of the payload as they are aligned, not at every byte: a pattern
//! of 5 bytes or more covers, wherever it stands, the last or the first three bytes of an aligned
//! word, or all four. So each pattern has four *keys*, one for each place of its first byte in a
//! word. A pattern of 4 bytes that begins in the middle of a word covers no more than two bytes of
//! one; for these the search looks also at the words that begin in the middle of two others
//! ([`PatternTable::has_halves`]).
//!
//! The filters forget bit 5 of every byte, which is the case of letters. One filter has the keys of
//! four bytes; which of its words depends on all of them. The other has the keys of three bytes;
//! which of its words depends on the two bytes in the middle, which both kinds have, so that one
//! look-up does for them. [`Hashes`] has the bits. In shared memory, for a first filter of 2^n
//! words:
//!
//! | offset | what |
//! | --- | --- |
//! | 0 | filter of the keys of three bytes, 256 words |
//! | 1,024 + 4 x word | address of the first candidate of that word, or 0 |
//! | 2,048 | filter of the keys of four bytes, 2^n words |
//! | 2,048 + 4 x 2^n + 4 x word | address of the first candidate of that word, or 0 |
//! | 2,048 + 8 x 2^n | candidates; of each word of a filter by ascending pattern number |
//!
//! A candidate: address of the next one or 0; number of the pattern; key, mask of the key; place of
//! the key in the pattern in bits 15:0 (-1 if it begins before), length of the pattern in bits
//! 31:16; then for each word that the pattern touches its bytes and their mask.

use std::collections::{HashMap, HashSet};

use super::snort::Pattern;

/// Patterns must not be shorter.
pub const SHORTEST: usize = 4;
/// The bits of a word that the filter sees.
const SEEN: u32 = 0xdfdf_dfdf;
/// Fibonacci hashing: 2^32 over the golden ratio.
const MULTIPLIER: u32 = 0x9e37_79b1;
/// Words of the smallest and the largest filter of keys of four bytes, as powers of two.
const WORDS_LOG2: std::ops::RangeInclusive<u32> = 8..=11;
/// Words of such a filter between these for each pattern, which has two bits for each of its four
/// keys.
const WORDS_PER_PATTERN: usize = 4;
/// Words of the filter of keys of three bytes, as a power of two.
const PART_WORDS_LOG2: u32 = 8;
/// Bytes of a candidate without its words.
const CANDIDATE_BYTES: usize = 20;

/// Which bytes of a word a key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    All,
    Lower,
    Upper,
}

impl Kind {
    fn mask(self) -> u32 {
        match self {
            Self::All => u32::MAX,
            Self::Lower => 0x00ff_ffff,
            Self::Upper => 0xffff_ff00,
        }
    }
}

/// The two products of which the hashes are bits.
struct Hashes {
    /// Bits 31:24 depend on all bytes of the word, 23:14 on the lower three.
    word: u32,
    /// Bits 31:16 depend on the upper three bytes, 15:0 on the two in the middle.
    upper: u32,
}

impl Hashes {
    fn new(word: u32) -> Self {
        let seen = word & SEEN;
        Self { word: seen.wrapping_mul(MULTIPLIER), upper: (seen >> 8).wrapping_mul(MULTIPLIER) }
    }

    /// The word of its filter that a key has; that of four bytes has 2^`words_log2` words.
    fn place(&self, kind: Kind, words_log2: u32) -> usize {
        let place = match kind {
            Kind::All => self.word >> (32 - words_log2),
            Kind::Lower | Kind::Upper => (self.upper & 0xffff) >> (16 - PART_WORDS_LOG2),
        };
        place as usize
    }

    /// The bits of that word.
    fn bits(&self, kind: Kind) -> u32 {
        let numbers = match kind {
            Kind::All => [self.word >> 14, self.upper >> 27],
            Kind::Lower => [self.word >> 14, self.word >> 19],
            Kind::Upper => [self.upper >> 27, self.upper >> 22],
        };
        numbers.iter().fold(0, |bits, number| bits | 1 << (number & 31))
    }
}

/// A key of a pattern: an aligned word of it.
#[derive(Clone, Copy, Debug)]
struct Key {
    kind: Kind,
    /// Place of the word in the pattern; -1 if it begins before.
    place: i32,
}

/// The word of `bytes` that begins at `place`; zeros before the first byte and behind the last.
fn word_at(bytes: &[u8], place: i32) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| {
        usize::try_from(place + byte as i32).ok().and_then(|at| bytes.get(at)).copied().unwrap_or(0)
    }))
}

/// Which bits of the pattern's bytes count: in letters whose case does not, not bit 5.
fn significance(pattern: &Pattern) -> Vec<u8> {
    let byte = |byte: &u8| if pattern.nocase && byte.is_ascii_alphabetic() { 0xdf } else { 0xff };
    pattern.bytes.iter().map(byte).collect()
}

/// The keys that a pattern may have if its first byte is byte `first` of a word.
fn keys(pattern: &Pattern, first: i32) -> impl Iterator<Item = Key> {
    let length = pattern.bytes.len() as i32;
    (-first..length).step_by(4).filter_map(move |place| {
        let kind = match (place, length - place) {
            (0.., 4..) => Kind::All,
            (0.., 3) => Kind::Lower,
            (-1, 4..) => Kind::Upper,
            _ => return None,
        };
        Some(Key { kind, place })
    })
}

/// Whether a key is the same byte throughout.
fn is_run(pattern: &Pattern, key: &Key) -> bool {
    let covered = (key.place.max(0) as usize)..((key.place + 4) as usize).min(pattern.bytes.len());
    pattern.bytes[covered].windows(2).all(|pair| pair[0] == pair[1])
}

/// A pattern as it is compared at one place in words.
#[derive(Debug)]
struct Candidate {
    number: u32,
    key: u32,
    mask: u32,
    extent: u32,
    /// Bytes and mask of each word.
    words: Vec<[u32; 2]>,
}

impl Candidate {
    fn new(number: usize, pattern: &Pattern, key: Key) -> Self {
        let significance = significance(pattern);
        let masked = |place| {
            let mask = word_at(&significance, place);
            [word_at(&pattern.bytes, place) & mask, mask]
        };
        let [bytes, significant] = masked(key.place);
        let mask = significant & key.kind.mask();
        let first = -((4 - key.place.rem_euclid(4)) % 4);
        Self {
            number: number as u32,
            key: bytes & mask,
            mask,
            extent: (key.place as u32 & 0xffff) | (pattern.bytes.len() as u32) << 16,
            words: (first..pattern.bytes.len() as i32).step_by(4).map(masked).collect(),
        }
    }

    fn bytes(&self) -> usize {
        CANDIDATE_BYTES + 8 * self.words.len()
    }
}

/// A filter, and the candidates of each of its words.
#[derive(Debug)]
struct Filter {
    words: Vec<u32>,
    candidates: Vec<Vec<Candidate>>,
}

impl Filter {
    fn new(words_log2: u32) -> Self {
        let candidates = std::iter::repeat_with(Vec::new).take(1 << words_log2).collect();
        Self { words: vec![0; 1 << words_log2], candidates }
    }

    /// Bytes of the filter and of the addresses of first candidates.
    fn bytes(&self) -> usize {
        8 * self.words.len()
    }

    fn candidate_bytes(&self) -> usize {
        self.candidates.iter().flatten().map(Candidate::bytes).sum()
    }

    /// The filter with the addresses of first candidates, and the candidates, which lie from `next`
    /// on.
    fn to_words(&self, mut next: u32) -> [Vec<u32>; 2] {
        let (mut head, mut rest) = (self.words.clone(), Vec::new());
        for chain in &self.candidates {
            head.push(if chain.is_empty() { 0 } else { next });
            for (number, candidate) in chain.iter().enumerate() {
                next += candidate.bytes() as u32;
                let link = if number + 1 == chain.len() { 0 } else { next };
                rest.extend([link, candidate.number, candidate.key, candidate.mask, candidate.extent]);
                rest.extend(candidate.words.iter().flatten());
            }
        }
        [head, rest]
    }
}

/// The filters, and what is compared where they say that a pattern may stand.
#[derive(Debug)]
pub struct PatternTable {
    words_log2: u32,
    parts: Filter,
    wholes: Filter,
    halves: bool,
}

impl PatternTable {
    /// The table of `patterns`, none shorter than [`SHORTEST`] or longer than 32,767 bytes.
    pub fn new(patterns: &[Pattern]) -> Self {
        let words_log2 = (WORDS_PER_PATTERN * patterns.len()).next_power_of_two().ilog2();
        let words_log2 = words_log2.clamp(*WORDS_LOG2.start(), *WORDS_LOG2.end());
        let (parts, wholes) = (Filter::new(PART_WORDS_LOG2), Filter::new(words_log2));
        let mut table = Self { words_log2, parts, wholes, halves: false };
        let having = patterns_with(patterns);
        for (number, pattern) in patterns.iter().enumerate() {
            for first in 0..4 {
                // No run of one byte, of which payloads are full; all four bytes; what few patterns
                // have, so that what many begin with (`User-Agent: `) does not lead to all of them;
                // a word of the filter that few others have.
                let rank = |key: &Key| {
                    let word = word_at(&pattern.bytes, key.place);
                    let others = having.get(&(word & SEEN)).copied().unwrap_or(0);
                    let place = Hashes::new(word).place(key.kind, words_log2);
                    let sharing = table.filter(key.kind).candidates[place].len();
                    (is_run(pattern, key), key.kind, others + sharing, key.place)
                };
                match keys(pattern, first).min_by_key(rank) {
                    Some(key) => table.add(number, pattern, key),
                    None => table.halves = true,
                }
            }
        }
        table
    }

    /// The filter for keys of a kind.
    fn filter(&self, kind: Kind) -> &Filter {
        match kind {
            Kind::All => &self.wholes,
            Kind::Lower | Kind::Upper => &self.parts,
        }
    }

    fn add(&mut self, number: usize, pattern: &Pattern, key: Key) {
        let hashes = Hashes::new(word_at(&pattern.bytes, key.place));
        let place = hashes.place(key.kind, self.words_log2);
        let filter = if key.kind == Kind::All { &mut self.wholes } else { &mut self.parts };
        filter.words[place] |= hashes.bits(key.kind);
        filter.candidates[place].push(Candidate::new(number, pattern, key));
    }

    /// Whether there are patterns of 4 bytes.
    pub fn has_halves(&self) -> bool {
        self.halves
    }

    /// Words of the filter of keys of four bytes, as a power of two.
    pub fn words_log2(&self) -> u32 {
        self.words_log2
    }

    /// Bytes in shared memory.
    pub fn size(&self) -> usize {
        [&self.parts, &self.wholes].map(|filter| filter.bytes() + filter.candidate_bytes()).iter().sum()
    }

    /// The table, to lie at `address`.
    pub fn to_bytes(&self, address: u32) -> Vec<u8> {
        let candidates = address + (self.parts.bytes() + self.wholes.bytes()) as u32;
        let [parts, of_parts] = self.parts.to_words(candidates);
        let [wholes, of_wholes] = self.wholes.to_words(candidates + self.parts.candidate_bytes() as u32);
        [parts, wholes, of_parts, of_wholes].iter().flatten().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// How many patterns have each word, at any place, as the filter sees it.
fn patterns_with(patterns: &[Pattern]) -> HashMap<u32, usize> {
    let mut having = HashMap::new();
    for pattern in patterns {
        let word = |place| word_at(&pattern.bytes, place) & SEEN;
        let words: HashSet<_> = (0..pattern.bytes.len().saturating_sub(3) as i32).map(word).collect();
        for word in words {
            *having.entry(word).or_insert(0) += 1;
        }
    }
    having
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    fn pattern(text: &str, nocase: bool) -> Pattern {
        Pattern { bytes: text.as_bytes().to_vec(), nocase, sid: None }
    }

    fn key_of(text: &str, first: i32) -> Vec<(Kind, i32)> {
        keys(&pattern(text, false), first).map(|key| (key.kind, key.place)).collect()
    }

    #[test]
    fn every_place_in_a_word_has_a_key() {
        assert_eq!(key_of("ABCDE", 0), [(Kind::All, 0)]);
        assert_eq!(key_of("ABCDE", 1), [(Kind::Upper, -1)]);
        assert_eq!(key_of("ABCDE", 2), [(Kind::Lower, 2)]);
        assert_eq!(key_of("ABCDE", 3), [(Kind::All, 1)]);
        assert_eq!(key_of("ABCD", 2), []);
        assert_eq!(key_of("ABCDEFGH", 1), [(Kind::Upper, -1), (Kind::All, 3)]);
        let halves =
            |text| PatternTable::new(&[pattern("other text", true), pattern(text, true)]).has_halves();
        assert!(halves("ABCD") && !halves("ABCDE"));
    }

    #[test]
    fn candidates_as_they_stand_in_memory() {
        let table = PatternTable::new(&[pattern("aB12cD", true)]);
        assert_eq!((table.words_log2(), table.wholes.words.len()), (8, 256));
        let bytes = table.to_bytes(0x1000);
        assert_eq!(bytes.len(), table.size());
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        // First byte in byte 1 of a word: `.aB1`, `2cD.`
        let (first, second) = (u32::from_le_bytes(*b"\0AB1"), u32::from_le_bytes(*b"2CD\0"));
        let hashes = Hashes::new(second);
        let mut at = word(1024 + 4 * hashes.place(Kind::Lower, 8)) as usize - 0x1000;
        while word(at + 16) != 0x0006_0003 {
            at = word(at) as usize - 0x1000;
        }
        let words: Vec<_> = (1..9).map(|number| word(at + 4 * number)).collect();
        assert_eq!(words, [0, second, 0x00df_dfff, 0x0006_0003, first, 0xffdf_df00, second, 0x00df_dfff]);
        assert_eq!(
            word(4 * hashes.place(Kind::Lower, 8)) & hashes.bits(Kind::Lower),
            hashes.bits(Kind::Lower)
        );
    }

    #[test]
    fn what_many_patterns_begin_with_is_no_key() {
        let names = ["alphabet", "beta-test", "gamma-ray"];
        let patterns = names.map(|name| pattern(&format!("User-Agent: {name}"), true));
        let table = PatternTable::new(&patterns);
        let place = |candidate: &Candidate| candidate.extent & 0xffff;
        assert!(table.wholes.candidates.iter().flatten().all(|candidate| place(candidate) > 8), "{table:?}");
    }

    /// Few words of text or of random bytes pass the filters of small and large sets.
    #[test]
    fn false_positives_are_rare() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(crate::test_seed());
        let mut text = |alphabet: &[u8], length: usize| -> Vec<u8> {
            (0..length).map(|_| alphabet[random.gen_range(0..alphabet.len())]).collect()
        };
        let printable = b"etaoinshrdlucmfwypvbgkjqxz0123456789/.- :=&";
        let binary: Vec<u8> = (0..=255).collect();
        for (count, most) in [(100, 600), (1000, 3600)] {
            let lengths = [6, 9, 16, 30].into_iter().cycle().take(count);
            let patterns: Vec<_> = lengths
                .map(|length| Pattern { bytes: text(printable, length), nocase: true, sid: None })
                .collect();
            let table = PatternTable::new(&patterns);
            for alphabet in [&printable[..], &binary] {
                let passes = (0..20_000).filter(|_| {
                    let hashes = Hashes::new(word_at(&text(alphabet, 4), 0));
                    let word = |kind| table.filter(kind).words[hashes.place(kind, table.words_log2)];
                    let has = |kind| word(kind) & hashes.bits(kind) == hashes.bits(kind);
                    has(Kind::All) || has(Kind::Lower) || has(Kind::Upper)
                });
                let passed = passes.count();
                assert!(passed < most, "{count} patterns: {passed} of 20000");
            }
        }
    }
}
