//! Tests of the chain against a queue of entries for each function.

use super::*;
use crate::testing::{random, reset, settle, tick};
use rand::seq::IteratorRandom;
use rand::Rng;
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy)]
struct Warp {
    packet: u64,
    count: u64,
    lanes: u64,
    function: usize,
}

fn random_run<const A: usize, const L: usize>(functions: usize, lanes: usize, cycles: usize) {
    let mut random = random();
    let mut unit = Chain::<A, L>::new(functions, lanes);
    reset!(unit);
    let all = (1u64 << lanes) - 1;
    let mut next = [None; 8];
    let mut running: BTreeMap<u64, Warp> = BTreeMap::new();
    // Entries of each function with the cycle from which they show.
    let mut waiting: [VecDeque<(u64, Warp, usize)>; 8] = Default::default();
    let mut done: VecDeque<u64> = VecDeque::new();
    let mut peaks = [0; 8];
    let mut started: Option<Warp> = None;
    let (mut visits, mut held, mut ended) = ([0; 8], 0, 0);
    let mut limit = 0;
    for cycle in 0..cycles {
        if cycle % 256 == 0 {
            // Links to higher functions, as the registers keep them.
            next = std::array::from_fn(|from| {
                (from + 1..functions).choose(&mut random).filter(|_| random.gen_bool(0.8))
            });
            let bit = |from: usize| u64::from(next[from].is_some()) << from;
            unit.control.goes_on.next = (0..8).map(bit).sum::<u64>().into();
            let place = |from: usize| (next[from].unwrap_or(0) as u64) << (3 * from);
            unit.control.targets.next = (0..8).map(place).sum::<u64>().into();
            limit = [0, 0, 1, 3, 1 << A][random.gen_range(0..5)];
            unit.control.limit.next = limit.into();
            unit.control.entry.next = random.gen_range(0..functions as u64).into();
        }
        let total = running.len() + waiting.iter().map(VecDeque::len).sum::<usize>() + done.len();
        settle(&mut unit);
        assert_eq!(unit.waits.room.val(), limit == 0 || (total as u64) < limit, "cycle {cycle}");
        held += usize::from(!unit.waits.room.val());
        if let Some(warp) = started.take() {
            assert_eq!(unit.waits.packet.val().to_u64(), warp.packet, "cycle {cycle}");
            assert_eq!(unit.waits.count.val().to_u64(), warp.count, "cycle {cycle}");
            assert_eq!(unit.waits.lanes.val().to_u64(), warp.lanes, "cycle {cycle}");
        }
        let select = random.gen_range(0..functions);
        unit.select.next = (select as u64).into();
        // A new entry, whichever index is free.
        let is_used = |i: &u64| {
            running.contains_key(i) || done.contains(i) || waiting.iter().flatten().any(|w| w.0 == *i)
        };
        let free = (0..1u64 << A).filter(|i| !is_used(i)).choose(&mut random);
        let entering = free.filter(|_| unit.waits.room.val() && random.gen_bool(0.5));
        let (packet, count) = (u64::from(random.gen::<u32>()), random.gen_range(1..=lanes as u64));
        unit.enter.next = entering.is_some();
        unit.enter_index.next = entering.unwrap_or(0).into();
        unit.enter_packet.next = packet.into();
        unit.enter_count.next = count.into();
        let leaves = !done.is_empty() && random.gen_bool(0.6);
        unit.leave.next = leaves;
        // A warp that finishes.
        let finishing = running.keys().copied().choose(&mut random).filter(|_| random.gen_bool(0.6));
        let warp = finishing.map(|index| running[&index]);
        let forwards = if random.gen_bool(0.2) { 0 } else { random.gen::<u64>() };
        let survivors = warp.map_or(random.gen::<u64>() & all, |warp| warp.lanes & forwards);
        unit.finish.next = finishing.is_some();
        unit.finish_index.next = finishing.unwrap_or(0).into();
        unit.finish_function.next = (warp.map_or(0, |warp| warp.function) as u64).into();
        unit.finished.survivors.next = survivors.into();
        unit.finished.ended.next = u64::from(random.gen::<u32>()).into();
        // A warp that starts.
        let shown = |f: &usize| waiting[*f].front().is_some_and(|front| front.2 <= cycle);
        let function = (1..functions).filter(shown).choose(&mut random);
        let take = function.filter(|_| random.gen_bool(0.5));
        unit.waits.take.next = take.is_some();
        unit.waits.function.next = (take.unwrap_or(random.gen_range(0..8)) as u64).into();
        settle(&mut unit);

        let bits = (1..functions).filter(shown).map(|f| 1 << f).sum::<u64>();
        assert_eq!(unit.waits.waiting.val().to_u64(), bits, "cycle {cycle}");
        assert_eq!(unit.queued.val().index(), waiting[select].len(), "cycle {cycle}");
        assert_eq!(unit.peak.val().index(), peaks[select], "cycle {cycle}");
        for function in 0..8 {
            peaks[function] = waiting[function].len().max(peaks[function]);
        }
        let onward = warp.and_then(|warp| next[warp.function]).filter(|_| survivors != 0);
        if finishing.is_some() {
            assert_eq!(unit.done.val(), onward.is_none(), "cycle {cycle}");
        }
        if leaves {
            done.pop_front();
        }
        if let Some(function) = take {
            let (index, warp, _) = waiting[function].pop_front().unwrap();
            assert_eq!(unit.taken_index.val().to_u64(), index, "cycle {cycle}");
            visits[function] += 1;
            running.insert(index, warp);
            started = Some(warp);
        }
        if let (Some(index), Some(warp)) = (finishing, warp) {
            running.remove(&index);
            match onward {
                Some(function) => {
                    let warp = Warp { lanes: survivors, function, ..warp };
                    // Behind one that shows, it shows in the cycle after that was taken.
                    waiting[function].push_back((index, warp, cycle + 2));
                }
                None => {
                    ended += 1;
                    done.push_back(index);
                }
            }
        }
        if let Some(index) = entering {
            let lanes = all >> (lanes as u64 - count);
            let function = unit.waits.entry.val().index();
            running.insert(index, Warp { packet, count, lanes, function });
        }
        tick!(unit);
    }
    assert!(visits[1..functions].iter().all(|&visits| visits > 40), "{visits:?}");
    assert!(held > 100 && ended > 1_000, "{held} {ended}");
}

#[test]
fn every_entry_is_in_one_place() {
    random_run::<2, 3>(2, 4, 30_000);
    random_run::<3, 4>(4, 8, 30_000);
    random_run::<4, 5>(8, 32, 30_000);
}
