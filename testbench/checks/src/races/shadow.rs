//! The last accesses to each word.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::order::Step;

/// Most accesses that are kept of a word: those that come before a later one to the same bytes go
/// first.
const MOST: usize = 8;

/// How a word is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Load,
    Store,
    /// A store directly behind a `fence` that releases.
    Release,
    Atomic,
}

impl Kind {
    pub fn writes(self) -> bool {
        self != Self::Load
    }

    /// Whether two accesses without an order between them are a race.
    pub fn races_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Load, Self::Load) => false,
            (Self::Store, _) | (_, Self::Store) => true,
            _ => false,
        }
    }
}

/// An access of lanes of a warp to one word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub warp: u32,
    pub step: Step,
    pub lanes: u32,
    /// Bytes of the word, a bit each.
    pub bytes: u8,
    pub kind: Kind,
    pub pc: u32,
}

/// A hash of word numbers: they are spread already.
#[derive(Default)]
pub(super) struct WordHasher(u64);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

/// A map by word numbers.
pub(super) type WordMap<T> = HashMap<u64, T, BuildHasherDefault<WordHasher>>;

/// The accesses to one word that later ones are held against.
#[derive(Debug, Default)]
pub(super) struct Cell {
    pub entries: Vec<Entry>,
}

impl Cell {
    /// Keeps `entry`. `is_before` tells of an earlier one whether all of it comes before all of
    /// `entry`: what meets such an entry without an order meets `entry` too.
    pub fn keep(&mut self, entry: Entry, is_before: impl Fn(&Entry) -> bool) {
        self.entries.retain(|old| {
            // All but plain stores are races with plain stores alone.
            let covers = entry.kind == Kind::Store || old.kind != Kind::Store;
            let covered = old.bytes & !entry.bytes == 0 && covers;
            !(covered && is_before(old))
        });
        if self.entries.len() == MOST {
            let load = self.entries.iter().position(|old| old.kind == Kind::Load);
            self.entries.remove(load.unwrap_or(0));
        }
        self.entries.push(entry);
    }
}
