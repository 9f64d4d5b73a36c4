//! Aho-Corasick automata (Aho, Corasick: Efficient string matching, CACM 18(6), 1975) for the
//! kernels: one step a byte, whatever the number of patterns.
//!
//! Patterns with `nocase` have an automaton of their own, in which upper and lower case lead to the
//! same state. Both run over the same text, so that few pairs of their states ever occur together:
//! their product, an automaton of these pairs, reads the text once. In shared memory an automaton
//! is a list of rows of [`ROW_BYTES`] bytes, one a state, the start state first:
//!
//! | offset in the row | what |
//! | --- | --- |
//! | 4 x byte | address of the next state's row, plus 1 if a pattern ends there |
//! | 1024 | the lowest number of the patterns that end in this state |

use std::collections::{HashMap, VecDeque};

use super::snort::Pattern;

/// Bytes of a row.
pub const ROW_BYTES: usize = 4 * 256 + 4;
/// A state without patterns.
const NO_PATTERN: u32 = u32::MAX;

/// One automaton.
#[derive(Clone, Debug)]
pub struct Automaton {
    states: Vec<State>,
}

#[derive(Clone, Debug)]
struct State {
    next: Box<[u32; 256]>,
    pattern: u32,
}

impl State {
    fn new() -> Self {
        Self { next: Box::new([0; 256]), pattern: NO_PATTERN }
    }
}

impl Automaton {
    /// The automaton of the patterns with or without `nocase`; `None` if there are none of that
    /// kind.
    pub fn new(patterns: &[Pattern], nocase: bool) -> Option<Self> {
        // State 0 is the start; as a transition it also means that the trie has none.
        let mut states = vec![State::new()];
        for (number, pattern) in patterns.iter().enumerate().filter(|(_, pattern)| pattern.nocase == nocase) {
            let mut state = 0;
            for byte in &pattern.bytes {
                let byte = usize::from(if nocase { byte.to_ascii_lowercase() } else { *byte });
                if states[state].next[byte] == 0 {
                    states[state].next[byte] = states.len() as u32;
                    states.push(State::new());
                }
                state = states[state].next[byte] as usize;
            }
            states[state].pattern = states[state].pattern.min(number as u32);
        }
        if states.len() == 1 {
            return None;
        }
        let mut automaton = Self { states };
        automaton.complete();
        if nocase {
            for state in &mut automaton.states {
                let lower: [u32; 26] = std::array::from_fn(|letter| state.next[usize::from(b'a') + letter]);
                state.next[usize::from(b'A')..][..26].copy_from_slice(&lower);
            }
        }
        Some(automaton)
    }

    /// Fills in the transitions that the trie lacks: those of the longest suffix that is a state.
    /// States are visited in the order of their depth, so that the suffix is complete.
    fn complete(&mut self) {
        let mut suffixes = vec![0_usize; self.states.len()];
        let mut queue: VecDeque<usize> = VecDeque::from([0]);
        while let Some(state) = queue.pop_front() {
            let suffix = suffixes[state];
            for byte in 0..256 {
                let beyond = if state == 0 { 0 } else { self.states[suffix].next[byte] };
                match self.states[state].next[byte] as usize {
                    0 => self.states[state].next[byte] = beyond,
                    next => {
                        suffixes[next] = beyond as usize;
                        let pattern = self.states[beyond as usize].pattern;
                        self.states[next].pattern = self.states[next].pattern.min(pattern);
                        queue.push_back(next);
                    }
                }
            }
        }
    }

    /// The automata for `patterns`, of which every text must be searched with each: one for all of
    /// them, or one for the patterns whose case counts and one for the others if their product has
    /// more than twice as many states as they.
    pub fn for_all(patterns: &[Pattern]) -> Vec<Self> {
        let automata: Vec<_> =
            [false, true].into_iter().filter_map(|nocase| Self::new(patterns, nocase)).collect();
        match &automata[..] {
            [first, second] => match first.product(second, 2 * (first.states() + second.states())) {
                Some(product) => vec![product],
                None => automata,
            },
            _ => automata,
        }
    }

    /// The automaton of the pairs of states in which this one and `other` are after the same text;
    /// `None` if there are more than `most`.
    fn product(&self, other: &Self, most: usize) -> Option<Self> {
        let mut numbers = HashMap::from([((0, 0), 0)]);
        let mut pairs = vec![(0, 0)];
        let mut states = Vec::new();
        while let Some(&(first, second)) = pairs.get(states.len()) {
            let (here, there) = (&self.states[first as usize], &other.states[second as usize]);
            let mut state = State { pattern: here.pattern.min(there.pattern), ..State::new() };
            for (byte, next) in state.next.iter_mut().enumerate() {
                let pair = (here.next[byte], there.next[byte]);
                *next = *numbers.entry(pair).or_insert_with(|| {
                    pairs.push(pair);
                    pairs.len() as u32 - 1
                });
            }
            if pairs.len() > most {
                return None;
            }
            states.push(state);
        }
        Some(Self { states })
    }

    /// States.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// Bytes in shared memory.
    pub fn size(&self) -> usize {
        self.states.len() * ROW_BYTES
    }

    /// The rows, to lie at `address`.
    pub fn to_bytes(&self, address: u32) -> Vec<u8> {
        let entry = |next: u32| {
            let ends = self.states[next as usize].pattern != NO_PATTERN;
            address + next * ROW_BYTES as u32 + u32::from(ends)
        };
        let mut bytes = Vec::with_capacity(self.size());
        for state in &self.states {
            let words = state.next.iter().map(|next| entry(*next)).chain([state.pattern]);
            bytes.extend(words.flat_map(u32::to_le_bytes));
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    fn patterns(list: &[&[u8]], nocase: bool) -> Vec<Pattern> {
        list.iter().map(|bytes| Pattern { bytes: bytes.to_vec(), nocase, sid: None }).collect()
    }

    /// The lowest pattern that occurs in `text`, found in the rows.
    fn search(bytes: &[u8], text: &[u8]) -> u32 {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (mut row, mut lowest) = (0, NO_PATTERN);
        for byte in text {
            let entry = word(row + 4 * usize::from(*byte)) - 0x1000;
            row = (entry & !1) as usize;
            if entry & 1 == 1 {
                lowest = lowest.min(word(row + 1024));
            }
        }
        lowest
    }

    #[test]
    fn patterns_inside_patterns() {
        let set = patterns(&[b"she", b"he", b"hers", b"e"], false);
        let automaton = Automaton::new(&set, false).unwrap();
        assert_eq!((automaton.states(), automaton.size()), (9, 9 * ROW_BYTES));
        let bytes = automaton.to_bytes(0x1000);
        let cases: [(&[u8], u32); 5] =
            [(b"ushers", 0), (b"hers", 1), (b"e", 3), (b"SHE", NO_PATTERN), (b"", NO_PATTERN)];
        for (text, pattern) in cases {
            assert_eq!(search(&bytes, text), pattern, "{text:?}");
        }
        assert!(Automaton::new(&set, true).is_none());
    }

    #[test]
    fn agrees_with_a_naive_search() {
        let seed = crate::test_seed();
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        for nocase in [false, true] {
            let letters = b"aAbB";
            let mut word = |most: usize| -> Vec<u8> {
                let length = random.gen_range(1..=most);
                (0..length).map(|_| letters[random.gen_range(0..letters.len())]).collect()
            };
            let list: Vec<_> = (0..20).map(|_| word(7)).collect();
            let set = patterns(&list.iter().map(Vec::as_slice).collect::<Vec<_>>(), nocase);
            let bytes = Automaton::new(&set, nocase).unwrap().to_bytes(0x1000);
            for _ in 0..300 {
                let text = word(12);
                let fold = |bytes: &[u8]| if nocase { bytes.to_ascii_lowercase() } else { bytes.to_vec() };
                let occurs =
                    |pattern: &Vec<u8>| fold(&text).windows(pattern.len()).any(|w| w == fold(pattern));
                let expected = list.iter().position(occurs).map_or(NO_PATTERN, |number| number as u32);
                assert_eq!(search(&bytes, &text), expected, "{text:?}");
            }
        }
    }

    #[test]
    fn the_product_does_the_work_of_two() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(crate::test_seed());
        let letters = b"aAbB";
        let mut word = |most: usize| -> Vec<u8> {
            let length = random.gen_range(1..=most);
            (0..length).map(|_| letters[random.gen_range(0..letters.len())]).collect()
        };
        let pattern = |number: usize, bytes| Pattern { bytes, nocase: number % 2 == 1, sid: None };
        let set: Vec<_> = (0..8).map(|number| pattern(number, word(7))).collect();
        let [first, second] = [false, true].map(|nocase| Automaton::new(&set, nocase).unwrap());
        let product = first.product(&second, usize::MAX).unwrap();
        assert!(first.product(&second, product.states() - 1).is_none());
        let automata = Automaton::for_all(&set);
        let rows = |automaton: &Automaton| automaton.to_bytes(0x1000);
        let [first, second, product] = [&first, &second, &product].map(rows);
        let tables: Vec<_> = automata.iter().map(rows).collect();
        for _ in 0..500 {
            let text = word(12);
            let expected = search(&first, &text).min(search(&second, &text));
            assert_eq!(search(&product, &text), expected, "{text:?}");
            let found = tables.iter().map(|table| search(table, &text)).min();
            assert_eq!(found, Some(expected), "{text:?}");
        }
        assert_eq!(Automaton::for_all(&set[..1]).len(), 1);
    }
}
