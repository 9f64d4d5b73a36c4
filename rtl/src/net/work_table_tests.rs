//! The commands that are under way, against a map of them.

use super::*;
use crate::memory::testing::random;
use crate::testing::{reset, settle, tick};
use rand::seq::IteratorRandom as _;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

const OWNERS_LOG2: usize = 2;
const OWNERS: u64 = 1 << OWNERS_LOG2;

/// What stands in a place.
#[derive(Clone, Copy)]
struct Command {
    entry: WorkEntry,
    first: Option<u64>,
    next: Option<u64>,
}

fn entry(owner: u64, rng: &mut ChaCha8Rng) -> WorkEntry {
    let mut number = |bits: u32| rng.gen::<u64>() >> (64 - bits);
    WorkEntry {
        operation: number(2).into(),
        offset: number(32).into(),
        bytes: number(32).into(),
        memory: number(1) == 1,
        data: bits::<128>(number(64)) << 64 | bits::<128>(number(64)),
        region: number(4).into(),
        domain: number(4).into(),
        packets: number(23).into(),
        owner: owner.into(),
        context: number(2).into(),
        index: number(16).into(),
    }
}

/// Owners write and release commands in any order, results are kept, numbers and links are written:
/// an owner with fewer than `entries` commands gets a place of its own, below owners x `entries`,
/// and all that stands in one stays until it is released.
fn places_hold_commands(entries: usize, cycles: u32) {
    let mut rng = random(&format!("work_table_{entries}"));
    let mut uut = WorkTable::new(OWNERS_LOG2, entries);
    reset!(uut);
    settle(&mut uut);
    while !uut.ready.val() {
        tick!(uut);
        settle(&mut uut);
    }
    let mut commands: BTreeMap<u64, Command> = BTreeMap::new();
    let mut counts = [0usize; OWNERS as usize];
    let mut expected: Option<WorkEntry> = None;
    let (mut written, mut released, mut full, mut all) = (0, 0, 0, 0);
    for cycle in 0..cycles {
        // Some time more are written, some time more are released.
        let fills = cycle / 200 % 2 == 0;
        uut.write.next = false;
        uut.begin.next = false;
        uut.link.next = false;
        uut.read.next = false;
        uut.keep.next = false;
        uut.release.next = false;
        let owner = rng.gen_range(0..OWNERS);
        let new = entry(owner, &mut rng);
        uut.entry.next = new;
        let at = commands.keys().copied().choose(&mut rng);
        uut.at.next = at.unwrap_or(0).into();
        settle(&mut uut);
        if let Some(found) = expected {
            assert_eq!(uut.found.val(), found, "{entries} entries, cycle {cycle}");
        }
        if let Some(at) = at {
            let command = commands[&at];
            let shown = |known: Option<u64>, value: u64| known.is_none_or(|known| known == value);
            assert!(shown(command.first, uut.first_found.val().to_u64()));
            assert!(shown(command.next, uut.next_place.val().to_u64()));
        }
        let count = counts[owner as usize];
        full += usize::from(count == entries);
        all += usize::from(commands.len() == entries * OWNERS as usize);
        let free = uut.free.val().to_u64();
        if count < entries {
            assert!(!commands.contains_key(&free), "place {free} is taken");
            assert_eq!(free / entries as u64, owner, "place {free} is another owner's");
        }
        let reads = commands.keys().copied().choose(&mut rng).filter(|_| rng.gen_bool(0.3));
        uut.read.next = reads.is_some();
        uut.read_place.next = reads.unwrap_or(0).into();
        if let Some(read) = reads {
            expected = Some(commands[&read].entry);
        }
        if count < entries && rng.gen_bool(if fills { 0.8 } else { 0.2 }) {
            uut.write.next = true;
            commands.insert(free, Command { entry: new, first: None, next: None });
            counts[owner as usize] += 1;
            written += 1;
        } else if let Some(at) = at.filter(|_| rng.gen_bool(if fills { 0.1 } else { 0.5 })) {
            uut.release.next = true;
            let command = commands.remove(&at).expect("it is there");
            counts[command.entry.owner.index()] -= 1;
            released += 1;
        } else if let Some(at) = at.filter(|at| reads != Some(*at) && rng.gen_bool(0.3)) {
            let kept = rng.gen::<u64>();
            uut.keep.next = true;
            uut.kept.next = kept.into();
            commands.get_mut(&at).expect("it is there").entry.data = kept.into();
        }
        if let Some((place, command)) = commands.iter_mut().choose(&mut rng).filter(|_| rng.gen_bool(0.4)) {
            let value = rng.gen_range(0..1 << 24);
            uut.begin.next = true;
            uut.begin_place.next = (*place).into();
            uut.first.next = value.into();
            command.first = Some(value);
        }
        if let Some((place, command)) = commands.iter_mut().choose(&mut rng).filter(|_| rng.gen_bool(0.4)) {
            let value = rng.gen_range(0..1 << 12);
            uut.link.next = true;
            uut.link_from.next = (*place).into();
            uut.link_to.next = value.into();
            command.next = Some(value);
        }
        tick!(uut);
    }
    assert!(written > 300 && released > 300 && full > 300 && all > 30, "{written} {released} {full} {all}");
}

#[test]
fn each_owner_has_places_of_its_own() {
    for entries in [1, 2, 4, 8] {
        places_hold_commands(entries, 4_000);
    }
}

/// One owner with one place: a table of two words.
#[test]
fn a_table_of_one_place() {
    let mut uut = WorkTable::new(0, 1);
    reset!(uut);
    for round in 0..20u64 {
        uut.release.next = false;
        uut.write.next = false;
        settle(&mut uut);
        while !uut.ready.val() {
            tick!(uut);
            settle(&mut uut);
        }
        assert_eq!(uut.free.val().to_u64(), 0);
        uut.write.next = true;
        uut.entry.next.index = round.into();
        tick!(uut);
        uut.write.next = false;
        uut.read.next = true;
        tick!(uut);
        uut.read.next = false;
        settle(&mut uut);
        assert_eq!(uut.found.val().index.to_u64(), round);
        uut.release.next = true;
        tick!(uut);
    }
}
