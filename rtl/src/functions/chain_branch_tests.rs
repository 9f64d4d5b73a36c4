//! Tests of the chain where packets branch, against what each lane of each entry waits for.

use super::*;
use crate::testing::{random, reset, settle, tick};
use rand::seq::IteratorRandom;
use rand::Rng;
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone)]
struct Warp {
    packet: u64,
    count: u64,
    function: usize,
    lanes: u64,
    waits: Vec<Option<usize>>,
}

/// Edges of a function: NF_NEXT, ports with edges of their own (`Some(None)`: the end), drop and
/// fault.
#[derive(Clone, Default)]
struct Edges {
    next: Option<usize>,
    ports: [Option<Option<usize>>; 8],
    ends: [Option<usize>; 2],
}

impl Edges {
    fn of(&self, code: usize) -> Option<usize> {
        match code {
            0..8 => self.ports[code].unwrap_or(self.next),
            8 => self.next,
            _ => self.ends[code - 9],
        }
    }
}

fn word(edge: Option<usize>) -> u64 {
    edge.map_or(0, |to| 8 | to as u64)
}

fn wide<const N: usize>(words: &[u64], width: usize) -> Bits<N> {
    let mut all = Bits::<N>::from(0);
    for (i, word) in words.iter().enumerate() {
        for bit in 0..width {
            all = all.replace_bit(width * i + bit, word >> bit & 1 == 1);
        }
    }
    all
}

fn random_run<const A: usize, const L: usize>(functions: usize, lanes: usize, cycles: usize) {
    let mut random = random();
    let mut unit = Chain::<A, L>::with_branches(functions, lanes);
    reset!(unit);
    let mut edges = vec![Edges::default(); 8];
    let mut running: BTreeMap<u64, Warp> = BTreeMap::new();
    // Entries of each function with the cycle from which they show.
    let mut waiting: [VecDeque<(u64, Warp, usize)>; 8] = Default::default();
    let mut steps: VecDeque<(usize, u64, Option<Warp>)> = VecDeque::new();
    let mut done: VecDeque<u64> = VecDeque::new();
    let mut started: Option<Warp> = None;
    let mut visited: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let (mut visits, mut met, mut ended) = ([0; 8], 0, 0);
    for cycle in 0..cycles {
        if cycle % 256 == 0 {
            for (from, edges) in edges.iter_mut().enumerate().take(functions) {
                let mut edge =
                    |share| (from + 1..functions).choose(&mut random).filter(|_| random.gen_bool(share));
                edges.next = edge(0.7);
                let targets: [_; 8] = std::array::from_fn(|_| edge(0.7));
                edges.ends = [edge(0.3), edge(0.3)];
                edges.ports = targets.map(|target| random.gen_bool(0.4).then_some(target));
            }
            let bit = |from: usize| u64::from(edges[from].next.is_some()) << from;
            unit.control.goes_on.next = (0..8).map(bit).sum::<u64>().into();
            let place = |from: usize| (edges[from].next.unwrap_or(0) as u64) << (3 * from);
            unit.control.targets.next = (0..8).map(place).sum::<u64>().into();
            let port = |edge: &Option<Option<usize>>| edge.map_or(0, |own| word(own).max(1));
            let ports: Vec<u64> = edges.iter().flat_map(|edges| edges.ports.iter().map(port)).collect();
            unit.edges.ports.next = wide(&ports, 4);
            let ends: Vec<u64> = edges.iter().flat_map(|edges| edges.ends.map(word)).collect();
            unit.edges.ends.next = wide(&ends, 4);
            unit.control.limit.next = [0, 0, 3, 1 << A][random.gen_range(0..4)].into();
            unit.control.entry.next = random.gen_range(0..functions.min(2) as u64).into();
        }
        settle(&mut unit);
        if let Some(warp) = started.take() {
            assert_eq!(unit.waits.packet.val().to_u64(), warp.packet, "cycle {cycle}");
            assert_eq!(unit.waits.count.val().to_u64(), warp.count, "cycle {cycle}");
            assert_eq!(unit.waits.lanes.val().to_u64(), warp.lanes, "cycle {cycle}");
        }
        // What finished two cycles ago
        let step = steps.front().is_some_and(|(at, ..)| *at == cycle).then(|| steps.pop_front()).flatten();
        let ends = step.as_ref().is_some_and(|(_, _, next)| next.is_none());
        assert_eq!(unit.ended.val(), ends, "cycle {cycle}");
        assert!(!unit.done.val());
        let shown = |waiting: &[VecDeque<(u64, Warp, usize)>; 8], f: usize| {
            waiting[f].front().is_some_and(|front| front.2 <= cycle)
        };
        let bits = (1..functions).filter(|&f| shown(&waiting, f)).map(|f| 1 << f).sum::<u64>();
        assert_eq!(unit.waits.waiting.val().to_u64(), bits, "cycle {cycle}");

        // A new entry, or one that waits
        let is_used = |i: &u64| {
            running.contains_key(i)
                || done.contains(i)
                || waiting.iter().flatten().any(|w| w.0 == *i)
                || steps.iter().any(|(_, index, _)| index == i)
                || step.as_ref().is_some_and(|(_, index, _)| index == i)
        };
        let free = (0..1u64 << A).filter(|i| !is_used(i)).choose(&mut random);
        let entering = free.filter(|_| unit.waits.room.val() && random.gen_bool(0.3));
        let (packet, count) = (u64::from(random.gen::<u32>()), random.gen_range(1..=lanes as u64));
        unit.enter.next = entering.is_some();
        unit.enter_index.next = entering.unwrap_or(0).into();
        unit.enter_packet.next = packet.into();
        unit.enter_count.next = count.into();
        let function = (1..functions).filter(|&f| shown(&waiting, f)).choose(&mut random);
        let take = function.filter(|_| entering.is_none() && random.gen_bool(0.8));
        unit.waits.take.next = take.is_some();
        unit.waits.function.next = (take.unwrap_or(random.gen_range(0..8)) as u64).into();
        let leaves = !done.is_empty() && random.gen_bool(0.6);
        unit.leave.next = leaves;
        // A warp that finishes
        let finishing = running.keys().copied().choose(&mut random).filter(|_| random.gen_bool(0.7));
        let warp = finishing.and_then(|index| running.remove(&index));
        let codes: Vec<u64> = (0..lanes).map(|_| random.gen_range(0..11)).collect();
        let forwards = codes.iter().enumerate().map(|(i, c)| u64::from(*c < 9) << i).sum::<u64>();
        let visit = warp.as_ref().map_or(0, |warp| warp.lanes);
        unit.finish.next = finishing.is_some();
        unit.finish_index.next = finishing.unwrap_or(0).into();
        unit.finish_function.next = warp.as_ref().map_or(0, |warp| warp.function as u64).into();
        unit.finished.survivors.next = (visit & forwards).into();
        unit.finished.ended.next = (visit & !forwards).into();
        unit.finish_codes.next = wide(&codes, 4);
        settle(&mut unit);

        if leaves {
            done.pop_front();
        }
        if let Some((_, index, next)) = step {
            if next.is_none() {
                assert_eq!(unit.ended_index.val().to_u64(), index, "cycle {cycle}");
                ended += 1;
                done.push_back(index);
                visited.remove(&index);
            }
            if let Some(warp) = next {
                waiting[warp.function].push_back((index, warp, cycle + 2));
            }
        }
        if let Some(function) = take {
            let (index, warp, _) = waiting[function].pop_front().unwrap();
            assert_eq!(unit.taken_index.val().to_u64(), index, "cycle {cycle}");
            visits[function] += 1;
            for (lane, last) in visited.get_mut(&index).unwrap().iter_mut().enumerate() {
                if warp.lanes >> lane & 1 == 1 {
                    assert!(*last < 1 << function, "lane {lane} visits {function} again");
                    *last = 1 << function;
                }
            }
            running.insert(index, warp.clone());
            started = Some(warp);
        }
        if let (Some(index), Some(mut warp)) = (finishing, warp) {
            for lane in (0..lanes).filter(|lane| warp.lanes >> lane & 1 == 1) {
                warp.waits[lane] = edges[warp.function].of(codes[lane] as usize);
            }
            let next = warp.waits.iter().flatten().min().copied().map(|function| {
                let at = |lane: &usize| warp.waits[*lane] == Some(function);
                let visit = (0..lanes).filter(at).map(|lane| 1 << lane).sum::<u64>();
                met += usize::from(visit & !warp.lanes != 0 && visit & warp.lanes != 0);
                Warp { lanes: visit, function, ..warp.clone() }
            });
            steps.push_back((cycle + 2, index, next));
        }
        if let Some(index) = entering {
            let first = all_lanes(count);
            let function = unit.waits.entry.val().index();
            visited.insert(index, vec![1 << function; lanes]);
            let waits = vec![None; lanes];
            running.insert(index, Warp { packet, count, function, lanes: first, waits });
        }
        tick!(unit);
    }
    // Lanes meet where there are three functions or more.
    assert!(ended > 1_000 && (functions == 2 || met > 100), "{ended} {met}");
    assert!(visits[1..functions].iter().all(|&visits| visits > 40), "{visits:?}");
}

fn all_lanes(count: u64) -> u64 {
    (1 << count) - 1
}

#[test]
fn lanes_branch_and_meet_again() {
    random_run::<2, 3>(2, 4, 20_000);
    random_run::<3, 4>(4, 8, 30_000);
    random_run::<4, 5>(8, 32, 30_000);
}
