//! Tests of warp issue with network functions.

use super::*;
use crate::config::ControlOptions;
use crate::testing::{random, reset, settle, tick};
use rand::seq::IteratorRandom;
use rand::Rng;
use std::collections::BTreeSet;

const WARPS: usize = 20;

/// A warp that starts in the next cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Start {
    core: usize,
    slot: usize,
    hop: bool,
    function: usize,
    packet: u64,
    count: u64,
}

fn random_run(cores: usize, least: bool, cycles: usize) {
    let mut random = random();
    let mut unit = WarpIssue::new(ControlOptions {
        network_functions: 2,
        least_occupied_issue: least,
        ..ControlOptions::of(cores, 8, WARPS)
    });
    reset!(unit);
    let mut busy: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut starting: Option<Start> = None;
    let (mut last, mut packet) = (cores - 1, 0);
    let (mut hops, mut formed, mut passed) = (vec![0; cores], vec![0; cores], 0);
    // Cycles in which a core could have taken a warp and did not, since its last one.
    let mut waited = vec![0; cores];
    for cycle in 0..cycles {
        if cycle % 64 == 0 {
            for core in unit.function_core.iter_mut() {
                core.function.next = random.gen_range(0..4).into();
                core.mcw.next = random.gen_range(0..40).into();
                core.class.next = random.gen();
            }
            unit.waits.entry.next = random.gen_range(0..4).into();
        }
        unit.control.run.next = random.gen_bool(0.95);
        // Without effect: the contexts say.
        unit.control.mcw.next = random.gen_range(0..64).into();
        unit.control.kernel_class.next = random.gen();
        unit.warp.valid.next = random.gen_bool(0.7);
        unit.warp.packet.next = packet.into();
        unit.warp.count.next = (1 + packet % 32).into();
        unit.allocate.ready.next = random.gen_bool(0.8);
        let waiting = random.gen_range(0..16u64) & random.gen_range(0..16);
        unit.waits.waiting.next = waiting.into();
        unit.waits.room.next = random.gen_bool(0.9);
        let (hop_packet, hop_count, hop_lanes) =
            (u64::from(random.gen::<u32>()), random.gen_range(1..=32u64), u64::from(random.gen::<u32>()));
        unit.waits.packet.next = hop_packet.into();
        unit.waits.count.next = hop_count.into();
        unit.waits.lanes.next = hop_lanes.into();
        for core in unit.function_core.iter_mut() {
            core.open.next = random.gen_bool(0.8);
        }
        let freed = busy.iter().copied().choose(&mut random).filter(|_| random.gen_bool(0.6));
        let shown = freed.unwrap_or((random.gen_range(0..cores), random.gen_range(0..32)));
        unit.free.valid.next = freed.is_some();
        unit.free.core.next = (shown.0 as u64).into();
        unit.free.slot.next = (shown.1 as u64).into();
        settle(&mut unit);

        let function = |core: usize| unit.function_core[core].function.val().index();
        let entry = unit.waits.entry.val().index();
        let on = |core: usize| busy.iter().filter(|warp| warp.0 == core).count();
        let class = |core: usize| if unit.function_core[core].class.val() { WARPS } else { 16 };
        let limit = |core: usize| class(core).min(unit.function_core[core].mcw.val().index());
        let free = |core: usize| unit.function_core[core].open.val() && on(core) < limit(core);
        let waits = |core: usize| waiting >> function(core) & 1 == 1;
        let enters = unit.control.run.val()
            && unit.warp.valid.val()
            && unit.allocate.ready.val()
            && unit.waits.room.val();
        let able = |core: usize| free(core) && (waits(core) || (enters && function(core) == entry));
        let could = |core: usize| free(core) && !waits(core) && function(core) == entry;
        let idle_slot = unit.waits.room.val() && (0..cores).any(could);
        assert_eq!(unit.idle_slot.val(), idle_slot, "cycle {cycle}");
        let fewest = (0..cores).filter(|&core| able(core)).map(on).min();
        let next = (1..=cores)
            .map(|distance| (last + distance) % cores)
            .find(|&core| able(core) && (!least || Some(on(core)) == fewest));
        let forms = next.filter(|&core| !waits(core));
        let able: Vec<usize> = (0..cores).filter(|&core| able(core)).collect();
        assert_eq!(unit.warp.ready.val(), forms.is_some(), "cycle {cycle}");
        assert_eq!(unit.allocate.valid.val(), forms.is_some(), "cycle {cycle}");
        assert_eq!(unit.waits.take.val(), next.is_some() && forms.is_none(), "cycle {cycle}");
        for core in 0..cores {
            assert_eq!(unit.function_core[core].idle.val(), on(core) == 0, "cycle {cycle}");
        }

        // What was chosen a cycle ago starts.
        assert_eq!(unit.start_any.val(), starting.is_some(), "cycle {cycle}");
        if let Some(start) = starting.take() {
            assert!(unit.start_valid[start.core].val(), "cycle {cycle}");
            assert_eq!(unit.start_core.val().index(), start.core, "cycle {cycle}");
            assert_eq!(unit.start.slot.val().index(), start.slot, "cycle {cycle}");
            assert_eq!(unit.start_hop.val(), start.hop, "cycle {cycle}");
            assert_eq!(unit.start_function.val().index(), start.function, "cycle {cycle}");
            let (packet, count, lanes) = match start.hop {
                true => (hop_packet, hop_count, hop_lanes),
                false => (start.packet, start.count, (1 << start.count) - 1),
            };
            assert_eq!(unit.start.packet.val().to_u64(), packet, "cycle {cycle}");
            assert_eq!(unit.start.count.val().to_u64(), count, "cycle {cycle}");
            assert_eq!(unit.start_lanes.val().to_u64(), lanes, "cycle {cycle}");
        }
        if let Some(core) = next {
            let slot = (0..32).find(|&slot| !busy.contains(&(core, slot))).unwrap();
            assert!(slot < class(core), "cycle {cycle}");
            let hop = forms.is_none();
            let chosen = match hop {
                true => (unit.waits.core.val().index(), unit.waits.slot.val().index()),
                false => (unit.allocate.core.val().index(), unit.allocate.slot.val().index()),
            };
            assert_eq!(chosen, (core, slot), "cycle {cycle}");
            if hop {
                assert_eq!(unit.waits.function.val().index(), function(core), "cycle {cycle}");
            }
            let function = function(core);
            starting = Some(Start { core, slot, hop, function, packet, count: 1 + packet % 32 });
            for &other in &able {
                waited[other] += 1;
                passed = passed.max(waited[other]);
            }
            waited[core] = 0;
            let counts = if hop { &mut hops } else { &mut formed };
            counts[core] += 1;
            packet += u64::from(!hop);
            last = core;
            busy.insert((core, slot));
        }
        for (core, cycles) in waited.iter_mut().enumerate() {
            if !able.contains(&core) {
                *cycles = 0;
            }
        }
        busy.retain(|warp| Some(*warp) != freed);
        tick!(unit);
    }
    assert!(hops.iter().chain(&formed).all(|&count| count > 100), "{hops:?} {formed:?}");
    assert!(least || passed <= cores, "a core was passed over {passed} times");
}

#[test]
fn cores_take_warps_of_their_functions_in_turn() {
    random_run(1, false, 20_000);
    random_run(3, false, 30_000);
    random_run(8, false, 30_000);
}

#[test]
fn of_cores_with_a_warp_the_least_occupied_takes_it() {
    random_run(3, true, 30_000);
}
