//! The locks of a bank against a model, and through their Verilog.

use super::{L2Lock, NetworkSizes};
use crate::memory::testing::random;
use crate::testing::{reset, settle, tick};
use hermes_hdl::prelude::*;
use rand::Rng;

const SIZES: NetworkSizes =
    NetworkSizes { requester: 5, cores: 3, rings_log2: 0, areas_log2: 0, queues: false };
const MISSES: u32 = 63;

/// The lock of a set: its way, and the misses since it was taken.
type Lock = Option<(usize, u32)>;

/// The rules, one by one, on random sets, places and requests.
fn follows_the_rules(ways: usize) {
    let mut rng = random("lock");
    let mut uut = L2Lock::new(ways, 1, SIZES);
    reset!(uut);
    uut.clear.next = true;
    for set in 0..2 {
        uut.set.next = bits(set);
        tick!(uut);
    }
    uut.clear.next = false;
    uut.rings.base.next = bits(0x100);
    uut.rings.mask.next = bits(0x3ff_fff0);
    let mut locks: [Lock; 2] = [None; 2];
    let (mut refused, mut expired) = (false, false);
    let [mut locked, mut unlocked, mut refusals, mut expirations, mut held] = [0; 5];
    for cycle in 0..4_000 {
        let set = rng.gen_range(0..2);
        uut.set.next = bits(set as u64);
        uut.turn.next = bits(rng.gen_range(0..ways as u64));
        // Sometimes most places are on their way.
        let busy = if cycle % 100 < 20 { 0.7 } else { 0.1 };
        let mut places = Vec::new();
        for way in 0..ways {
            let held = locks[set].is_some_and(|(locked, _)| locked == way);
            let place =
                (held || rng.gen_bool(0.9), !held && rng.gen_bool(busy), rng.gen(), rng.gen_bool(busy));
            (uut.place[way].present.next, uut.place[way].fetching.next) = (place.0, place.1);
            (uut.place[way].changed.next, uut.place[way].leaving.next) = (place.2, place.3);
            places.push(place);
        }
        let enable = rng.gen_bool(0.95);
        uut.rings.enable.next = enable;
        let line =
            if rng.gen_bool(0.6) { 0x100 + rng.gen_range(0..16) } else { rng.gen_range(0..0x3ff_ffff) };
        uut.line.next = bits(line);
        let requester = rng.gen_range(0..8);
        uut.requester.next = bits(requester as u64);
        let phase = rng.gen_bool(0.8);
        uut.phase.next = phase;
        for input in [&mut uut.written, &mut uut.read, &mut uut.missed, &mut uut.drop, &mut uut.clear] {
            input.next = false;
        }
        settle(&mut uut);

        // The choice of a place, as a bank without locks has it, but for the locked one.
        let free = |way: &usize| {
            let (_, fetching, changed, leaving) = places[*way];
            !(fetching || (changed && leaving)) && locks[set].is_none_or(|(locked, _)| locked != *way)
        };
        let empty = |way: &usize| !places[*way].0 && locks[set].is_none_or(|(locked, _)| locked != *way);
        let turn = Some(uut.turn.next.to_u64() as usize);
        let victim = (0..ways).rev().find(empty).or(turn.filter(free)).or((0..ways).rev().find(free));
        let one_hot = |way: Option<usize>| way.map_or(0, |way| 1 << way);
        assert_eq!(uut.victim.val().to_u64(), one_hot(victim), "{places:?} {:?}", locks[set]);
        if let Some(way) = victim {
            assert_eq!(uut.victim_changed.val(), places[way].0 && places[way].2);
        }
        let before = locks[set];
        assert_eq!(uut.locked.val().to_u64(), one_hot(before.map(|(way, _)| way)));
        assert_eq!((uut.refused.val(), uut.expired.val()), (refused, expired));
        (refused, expired) = (false, false);

        // What happens.
        let way = rng.gen_range(0..ways);
        let kind = rng.gen_range(0..if cycle % 1_000 < 500 { 40 } else { 10 });
        let at = match (kind, victim) {
            (0..=6, None) => {
                held += 1;
                tick!(uut);
                continue;
            }
            (0..=4, Some(victim)) => {
                uut.missed.next = true;
                uut.written.next = kind < 2;
                victim
            }
            (5 | 6, _) if kind == 5 || requester < 3 => {
                uut.written.next = true;
                way
            }
            (6 | 7, _) => {
                uut.read.next = true;
                way
            }
            (8, _) if rng.gen_bool(0.2) => {
                uut.drop.next = true;
                way
            }
            (9, _) if rng.gen_bool(0.05) => {
                uut.clear.next = true;
                way
            }
            // Misses alone, so that locks end by them.
            (_, Some(victim)) => {
                uut.missed.next = true;
                victim
            }
            _ => way,
        };
        uut.way.next = bits(1 << at);
        let lock = &mut locks[set];
        let own = before.is_some_and(|(way, _)| way == at);
        if uut.missed.next {
            *lock = before.map(|(way, misses)| (way, misses + 1));
            if before.is_some_and(|(_, misses)| misses + 1 == MISSES) {
                (*lock, expired) = (None, true);
                expirations += 1;
            }
        }
        if own && (uut.drop.next || (uut.read.next && (3..=5).contains(&requester))) {
            *lock = None;
            unlocked += 1;
        }
        if uut.written.next && enable && requester < 3 && phase && line & !15 == 0x100 {
            if before.is_none() || own {
                *lock = Some((at, 0));
                locked += 1;
            } else {
                refused = true;
                refusals += 1;
            }
        }
        if uut.clear.next {
            *lock = None;
        }
        tick!(uut);
    }
    println!("{locked} locked, {unlocked} unlocked, {refusals} refused, {expirations} expired, {held} held");
    assert!(locked > 50 && unlocked > 10 && refusals > 50 && expirations > 3 && held > 10);
}

#[test]
fn locks_of_two_and_of_four_ways() {
    follows_the_rules(2);
    follows_the_rules(4);
}
