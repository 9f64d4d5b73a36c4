//! Tests of the step against what each lane of each entry waits for.

use super::*;
use crate::testing::{random, reset, settle, tick};
use rand::seq::IteratorRandom;
use rand::Rng;
use std::collections::{BTreeMap, VecDeque};

/// An entry at a function, with the lanes that visit it, and what the others wait for.
#[derive(Clone)]
struct Entry {
    function: u64,
    lanes: u64,
    waits: Vec<Option<u64>>,
}

fn random_run<const A: usize>(lanes: usize, cycles: usize) {
    let mut random = random();
    let mut unit = BranchStep::<A>::new(lanes);
    reset!(unit);
    let mut running: BTreeMap<u64, Entry> = BTreeMap::new();
    let mut waiting: VecDeque<(u64, Entry)> = VecDeque::new();
    // What comes out in which cycle: the entry with its next visit, or none.
    let mut expected: VecDeque<(usize, u64, Option<Entry>)> = VecDeque::new();
    let (mut ended, mut met, mut held_back) = (0, 0, 0);
    for cycle in 0..cycles {
        let now = expected.front().is_some_and(|(at, ..)| *at == cycle);
        settle(&mut unit);
        match now.then(|| expected.pop_front()).flatten() {
            Some((_, index, next)) => {
                assert_eq!(unit.index.val().to_u64(), index, "cycle {cycle}");
                assert_eq!(unit.done.val(), next.is_none(), "cycle {cycle}");
                assert_eq!(unit.onward.val(), next.is_some(), "cycle {cycle}");
                ended += usize::from(next.is_none());
                if let Some(entry) = next {
                    assert_eq!(unit.target.val().to_u64(), entry.function, "cycle {cycle}");
                    assert_eq!(unit.lanes.val().to_u64(), entry.lanes, "cycle {cycle}");
                    waiting.push_back((index, entry));
                }
            }
            None => assert!(!unit.onward.val() && !unit.done.val(), "cycle {cycle}"),
        }
        // A start: one that waits, or new packets in whichever entry is free.
        let is_used = |i: &u64| {
            running.contains_key(i)
                || waiting.iter().any(|(index, _)| index == i)
                || expected.iter().any(|(_, index, _)| index == i)
        };
        let free = (0..1u64 << A).filter(|i| !is_used(i)).choose(&mut random);
        let free = free.filter(|_| random.gen_bool(0.4));
        let started = match (free, waiting.len()) {
            (Some(index), _) => {
                let count = random.gen_range(1..=lanes);
                let waits = vec![None; lanes];
                let function = random.gen_range(0..3);
                Some((index, true, Entry { function, lanes: (1 << count) - 1, waits }))
            }
            (None, 0) => None,
            (None, _) => random.gen_bool(0.7).then(|| {
                let (index, entry) = waiting.pop_front().unwrap();
                (index, false, entry)
            }),
        };
        unit.start.next = started.is_some();
        unit.start_index.next = started.as_ref().map_or(random.gen_range(0..1 << A), |s| s.0).into();
        unit.start_new.next = started.as_ref().map_or(random.gen(), |s| s.1);
        // A finish.
        let finishing = running.keys().copied().choose(&mut random).filter(|_| random.gen_bool(0.8));
        let entry = finishing.and_then(|index| running.remove(&index));
        let codes: Vec<usize> = (0..lanes).map(|_| random.gen_range(0..VERDICT_CODES)).collect();
        let above = entry.as_ref().map_or(0, |entry| entry.function) + 1;
        let edges: Vec<Option<u64>> = (0..VERDICT_CODES)
            .map(|_| (above..8).choose(&mut random).filter(|_| random.gen_bool(0.6)))
            .collect();
        let bits = |edge: &Option<u64>| edge.map_or(0, |to| 8 | to);
        let row = edges.iter().rev().fold(0, |row, edge| row << 4 | bits(edge));
        let all_codes = codes.iter().rev().fold(0u128, |row, code| row << 4 | *code as u128);
        unit.finish.next = finishing.is_some();
        unit.finish_index.next = finishing.unwrap_or(random.gen_range(0..1 << A)).into();
        unit.finish_lanes.next =
            entry.as_ref().map_or(u64::from(random.gen::<u32>()), |entry| entry.lanes).into();
        unit.finish_codes.next = (Bits::<128>::from((all_codes >> 64) as u64) << Bits::<7>::from(64))
            | Bits::from(all_codes as u64);
        unit.finish_edges.next = row.into();
        settle(&mut unit);
        if let (Some(index), Some(mut entry)) = (finishing, entry) {
            for lane in (0..lanes).filter(|lane| entry.lanes >> lane & 1 == 1) {
                entry.waits[lane] = edges[codes[lane]];
            }
            let next = entry.waits.iter().flatten().min().copied().map(|function| {
                assert!(function > entry.function, "visits rise");
                let at = |lane: &usize| entry.waits[*lane] == Some(function);
                let visit: u64 = (0..lanes).filter(at).map(|lane| 1 << lane).sum();
                held_back += usize::from(entry.waits.iter().flatten().any(|wait| *wait != function));
                met += usize::from(visit & !entry.lanes != 0 && visit & entry.lanes != 0);
                Entry { function, lanes: visit, waits: entry.waits.clone() }
            });
            expected.push_back((cycle + 2, index, next));
        }
        if let Some((index, _, entry)) = started {
            running.insert(index, entry);
        }
        tick!(unit);
    }
    assert!(ended > 1_000, "{ended}");
    assert!(lanes == 1 || (met > 100 && held_back > 1_000), "{met} {held_back}");
}

#[test]
fn each_lane_visits_what_its_edges_lead_to_in_ascending_order() {
    random_run::<2>(1, 20_000);
    random_run::<3>(8, 30_000);
    random_run::<4>(32, 30_000);
}
