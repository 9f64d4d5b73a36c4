//! [`InstructionCache`] with block RAMs that give any word when one is read while it is written.
//!
//! [`RamSized`] gives the inverse of the word before, which never is a tag that hits. A device
//! gives the old word, the new one or anything; here each collision draws one of these.

use super::InstructionCache;
use crate::memory::testing::{line_to_bits, random, LineMemory};
use crate::testing::{reset, settle, tick};
use hermes_hdl::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// What a test knows of a block RAM, to change the word that it gives.
struct Shadow {
    words: Vec<u64>,
}

impl Shadow {
    fn new(depth: usize) -> Self {
        Self { words: vec![0; depth] }
    }

    /// The ports before an edge: the word that the RAM gives if the same word is read and written,
    /// and the write is noted.
    fn edge<const N: usize>(&mut self, ram: &RamSized<N>, rng: &mut ChaCha8Rng) -> Option<u64> {
        let at = |address: Bits<16>| address.index() % self.words.len();
        let (read, write) = (at(ram.read_address.val()), at(ram.write_address.val()));
        let (old, new) = (self.words[write], ram.write_data.val().to_u64());
        if !ram.write_enable.val() {
            return None;
        }
        self.words[write] = new;
        let anything = rng.gen::<u64>() & ((1 << N) - 1);
        let word = [old, new, old, new, anything][rng.gen_range(0..5)];
        (ram.read_enable.val() && read == write).then_some(word)
    }
}

/// Slots that jump between the first and the last word of lines, where lookups meet the writes of
/// tags and words.
fn run(ways: usize, cycles: usize) {
    let mut rng = random("instruction cache collisions");
    let lines = if ways == 4 { 8 } else { 4 };
    let sets = lines / ways;
    let mut uut = InstructionCache::new(lines, ways);
    reset!(uut);
    let mut tags: Vec<Shadow> = (0..ways).map(|_| Shadow::new(sets)).collect();
    let mut words: Vec<Shadow> = (0..ways).map(|_| Shadow::new(16 * sets)).collect();
    // The contents of the memories are not known before the tags are invalidated, for a cycle each.
    uut.stall.next = true;
    for _ in 0..2 * sets {
        tick!(uut);
    }
    let memory = LineMemory::default();
    let word = |pc: u32| {
        let line = memory.read(pc >> 6);
        u32::from_le_bytes(std::array::from_fn(|i| line[pc as usize % 64 + i]))
    };
    let pc = |rng: &mut ChaCha8Rng| rng.gen_range(0..16u32) * 64 + [0, 60, 0, 60, 4][rng.gen_range(0..5)];
    let mut slots: Vec<(u32, bool)> = (0..12).map(|_| (pc(&mut rng), false)).collect();
    let (mut looked_up, mut request): (Option<(usize, u32)>, Option<u32>) = (None, None);
    let (mut hits, mut collisions) = (0, [0; 2]);
    for cycle in 0..cycles {
        let ready: Vec<usize> =
            (0..slots.len()).filter(|s| !slots[*s].1 && looked_up.map(|l| l.0) != Some(*s)).collect();
        let lookup = (!ready.is_empty()).then(|| ready[rng.gen_range(0..ready.len())]);
        uut.stall.next = false;
        uut.wanted.next = true;
        uut.lookup.enable.next = lookup.is_some();
        if let Some(slot) = lookup {
            uut.lookup.slot.next = bits(slot as u64);
            uut.lookup.word.next = bits((slots[slot].0 >> 2).into());
        }
        uut.fetch.ready.next = true;
        uut.fetch.response.valid.next = request.is_some();
        if let Some(line) = request.take() {
            uut.fetch.response.data.next = line_to_bits(&memory.read(line));
        }
        settle(&mut uut);
        if uut.filled.val() {
            slots.iter_mut().for_each(|slot| slot.1 = false);
        }
        if let Some((slot, at)) = looked_up {
            if uut.fetched.hit.val() {
                assert_eq!(uut.fetched.word.val().to_u32(), word(at), "cycle {cycle}, pc {at:#x}");
                assert!(!uut.fetched.error.val(), "cycle {cycle}");
                hits += 1;
                slots[slot].0 = pc(&mut rng);
            } else {
                slots[slot].1 = true;
            }
        }
        looked_up = lookup.map(|slot| (slot, slots[slot].0));
        if uut.fetch.valid.val() {
            request = Some(uut.fetch.line.val().to_u32());
        }
        // The edge, and what the memories give after it.
        let given: Vec<_> = (0..ways)
            .map(|way| (tags[way].edge(&uut.tags[way], &mut rng), words[way].edge(&uut.words[way], &mut rng)))
            .collect();
        tick!(uut);
        for (way, (tag, word)) in given.into_iter().enumerate() {
            if let Some(tag) = tag {
                uut.tags[way].read_data.next = tag.into();
                collisions[0] += 1;
            }
            if let Some(word) = word {
                uut.words[way].read_data.next = word.into();
                collisions[1] += 1;
            }
        }
    }
    println!("{ways} ways: {hits} hits, {collisions:?} collisions");
    assert!(hits > cycles / 20 && collisions.iter().all(|count| *count > 30), "{hits} {collisions:?}");
}

#[test]
fn lookups_that_meet_a_fill_are_right_with_any_ram() {
    for ways in [1, 2, 4] {
        run(ways, 12_000);
    }
}
