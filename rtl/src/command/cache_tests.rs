//! The data cache against a model: what each part holds, word by word.

use super::*;
use crate::testing::{random, reset, settle, tick};
use rand::Rng;

const LINES: usize = 16;

/// A line of the model.
#[derive(Clone)]
struct Line {
    address: u64,
    words: [u32; 16],
}

/// The fill that is under way.
struct Fill {
    hart: usize,
    line: Line,
    written: usize,
}

fn against_the_model(harts: usize) {
    let mut random = random();
    let mut unit = CommandCache::new(harts, LINES);
    reset!(unit);
    let mut parts: Vec<Vec<Option<Line>>> = vec![vec![None; LINES]; harts];
    let mut fill: Option<Fill> = None;
    // Stage W: hart and address; harts that wait for a line, until a cycle.
    let mut looked: Option<(usize, u64)> = None;
    let mut waits: Vec<Option<u64>> = vec![None; harts];
    let (mut hits, mut misses, mut behind, mut installed) = (0, 0, 0, 0);
    let (mut ended, mut refused, mut late, mut removed) = (0, 0, 0, 0);
    let mut last_store: Option<(usize, u64)> = None;
    for cycle in 0..60_000u64 {
        let address = |random: &mut dyn rand::RngCore| {
            // Few lines that share places, and few words of them.
            let line = random.next_u32() as u64 % 4 + u64::from(random.next_u32() % 3) * LINES as u64 * 8;
            line << 6 | u64::from(random.next_u32() % 4) << 2 | u64::from(random.next_u32() % 4 == 0)
        };
        // Stage X: a hart that waits for nothing.
        let hart = random.gen_range(0..harts);
        let look = waits[hart].is_none() && random.gen_bool(0.9);
        let mut at = address(&mut random);
        // Often the word of the instruction before, which may be a store.
        if let Some((_, before)) = looked.filter(|s| s.0 == hart && random.gen_bool(0.5)) {
            at = before;
        }
        unit.look_enable.next = look;
        unit.look_hart.next = (hart as u64).into();
        unit.look_address.next = at.into();
        // Stage W
        let store = random.gen_bool(if cycle / 1_000 % 2 == 0 { 0.3 } else { 0.8 });
        let (data, strobe) = (random.gen::<u32>(), random.gen_range(0..16u32));
        let remove = !store && random.gen_bool(0.1);
        unit.store.next = store;
        unit.store_data.next = u64::from(data).into();
        unit.store_strobe.next = u64::from(strobe).into();
        unit.remove.next = remove;
        // Drops of one part, seldom of all.
        let drop = match random.gen_range(0..1_000) {
            0 => 0xff,
            1 | 2 => 1u64 << random.gen_range(0..harts),
            _ => 0,
        };
        unit.drop.next = drop.into();
        // The line of a hart that waits comes, or it could not be read, or was not asked for this
        // cache.
        let comes = (0..harts).find(|&h| waits[h].is_some_and(|until| until <= cycle));
        let error = random.gen_bool(0.05);
        let line = Line { address: address(&mut random) >> 6, words: random.gen() };
        unit.fill_valid.next = comes.is_some();
        unit.fill_hart.next = (comes.unwrap_or(0) as u64).into();
        unit.fill_line.next = line.address.into();
        unit.fill_error.next = error;
        let mut wide = Bits::<512>::default();
        for (i, word) in line.words.iter().enumerate() {
            wide.set_bits::<32>(32 * i, u64::from(*word).into());
        }
        unit.fill_data.next = wide;
        settle(&mut unit);

        let mut store_hits = false;
        if let Some((hart, at)) = looked {
            let place = (at >> 6) as usize % LINES;
            let entry = &mut parts[hart][place];
            let hit = entry.as_ref().is_some_and(|line| line.address == at >> 6);
            assert_eq!(unit.hit.val(), hit, "cycle {cycle}: hart {hart}, {at:#x}");
            if hit {
                let word = &mut entry.as_mut().unwrap().words[(at >> 2) as usize % 16];
                assert_eq!(unit.word.val().to_u64(), u64::from(*word), "cycle {cycle}: {at:#x}");
                hits += 1;
                behind += usize::from(last_store.is_some_and(|s| s == (hart, at & !3)));
                store_hits = store;
                if store {
                    let mask = (0..4).filter(|b| strobe >> b & 1 == 1).fold(0, |m, b| m | 0xffu32 << (8 * b));
                    *word = *word & !mask | data & mask;
                }
                if remove {
                    *entry = None;
                    removed += 1;
                }
            } else {
                misses += 1;
            }
            last_store = store_hits.then_some((hart, at & !3));
        } else {
            assert!(!unit.hit.val(), "cycle {cycle}");
            last_store = None;
        }
        let filling = fill.as_ref().map_or(0, |fill| 1u64 << fill.hart);
        assert_eq!(unit.filling.val().to_u64(), filling, "cycle {cycle}");
        let was_idle = fill.is_none();
        if let Some(under_way) = &mut fill {
            under_way.written += usize::from(!store_hits);
            late += usize::from(store_hits);
            let (hart, place) = (under_way.hart, under_way.line.address as usize % LINES);
            let dropped = drop >> hart & 1 == 1;
            if under_way.written == 16 || dropped {
                ended += usize::from(dropped);
                installed += usize::from(!dropped);
                parts[hart][place] = Some(under_way.line.clone()).filter(|_| !dropped);
                waits[hart] = None;
                fill = None;
            }
        }
        for (h, part) in parts.iter_mut().enumerate().filter(|(h, _)| drop >> h & 1 == 1) {
            part.fill(None);
            // A hart that is held waits no more, and its line is not for it.
            if comes != Some(h) {
                waits[h] = waits[h].filter(|&until| until > cycle);
            }
        }
        if let Some(hart) = comes {
            if was_idle && !error && drop >> hart & 1 == 0 {
                // The old line of the place is gone from now on.
                parts[hart][line.address as usize % LINES] = None;
                fill = Some(Fill { hart, line, written: 0 });
                waits[hart] = Some(u64::MAX);
            } else {
                refused += usize::from(!was_idle);
                waits[hart] = None;
            }
        }
        looked = look.then_some((hart, at));
        // A hart whose load missed looks nothing up until its line is here.
        let idle = random.gen_range(0..harts);
        if waits[idle].is_none() && random.gen_bool(0.06) {
            waits[idle] = Some(cycle + random.gen_range(2..20));
        }
        tick!(unit);
    }
    assert!(hits > 1_000 && misses > 1_000 && behind > 50, "{hits} {misses} {behind}");
    assert!(installed > 200 && ended > 3 && (harts == 1 || late > 100), "{installed} {ended} {late}");
    assert!(removed > 20 && (harts == 1 || refused > 20), "{removed} {refused}");
}

#[test]
fn every_part_follows_the_model() {
    against_the_model(1);
    against_the_model(2);
    against_the_model(4);
    against_the_model(8);
}

/// A line of one hart is never found by another, and a load right behind a store sees its bytes.
#[test]
fn parts_are_apart() {
    let mut unit = CommandCache::new(4, 64);
    reset!(unit);
    unit.fill_valid.next = true;
    unit.fill_hart.next = 2.into();
    unit.fill_line.next = 0x123.into();
    tick!(unit);
    unit.fill_valid.next = false;
    let mut cycles = 0;
    while unit.filling.val().any() {
        tick!(unit);
        cycles += 1;
    }
    assert_eq!(cycles, 16);
    for hart in 0..4u64 {
        unit.look_enable.next = true;
        unit.look_hart.next = hart.into();
        unit.look_address.next = (0x123 << 6 | 8).into();
        tick!(unit);
        assert_eq!(unit.hit.val(), hart == 2, "hart {hart}");
        unit.store.next = true;
        unit.store_data.next = 0x1122_3344.into();
        unit.store_strobe.next = 0b0110.into();
        tick!(unit);
        unit.store.next = false;
        settle(&mut unit);
        assert_eq!(unit.hit.val(), hart == 2, "hart {hart}");
        assert!(hart != 2 || unit.word.val().to_u64() == 0x0022_3300);
    }
}
