//! Warps of packets and of the thread spawner reach the cores in turn, within their limits.

use super::*;
use crate::testing::{random, reset, settle, tick};
use rand::seq::IteratorRandom;
use rand::Rng;
use std::collections::BTreeSet;

/// Cores with so many warp slots, of which the least occupied one is chosen.
fn least_occupied(cores: usize, warps: usize) -> ControlOptions {
    ControlOptions { least_occupied_issue: true, ..ControlOptions::of(cores, 8, warps) }
}

fn random_run(mut unit: WarpIssue, cores: usize, warps: usize, cycles: usize) {
    let mut random = random();
    let least = unit.least.is_there();
    reset!(unit);
    // The busy (core, slot) pairs, and the warp that must start next.
    let mut busy: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut starting: Option<(usize, usize, u64, u64)> = None;
    let mut last = cores - 1;
    let mut issued = vec![0; cores];
    let mut limit = 0;
    let (mut packet, mut passed_over) = (0u64, 0);
    for cycle in 0..cycles {
        if cycle % 64 == 0 {
            unit.control.mcw.next = random.gen_range(0..64).into();
            unit.control.kernel_class.next = random.gen();
        }
        settle(&mut unit);
        let class = if unit.control.kernel_class.val() { 32 } else { 16 };
        limit = if cycle % 64 == 0 { class.min(warps).min(unit.control.mcw.val().index()) } else { limit };
        let on = |core: usize| busy.iter().filter(|w| w.0 == core).count();
        // With least-occupied issue only those with the fewest warps come into question.
        let fewest = (0..cores).map(on).filter(|&on| on < limit).min();
        let next = (1..=cores)
            .map(|d| (last + d) % cores)
            .find(|&c| on(c) < limit && (!least || Some(on(c)) == fewest));
        passed_over += usize::from(next != (1..=cores).map(|d| (last + d) % cores).find(|&c| on(c) < limit));
        unit.control.run.next = random.gen_bool(0.95);
        unit.warp.valid.next = random.gen_bool(0.8);
        unit.warp.packet.next = packet.into();
        unit.warp.count.next = (packet % 33).into();
        unit.allocate.ready.next = random.gen_bool(0.8);
        let freed = busy.iter().copied().choose(&mut random).filter(|_| random.gen_bool(0.7));
        unit.free.valid.next = freed.is_some();
        let shown = freed.unwrap_or((random.gen_range(0..cores), random.gen_range(0..32)));
        unit.free.core.next = (shown.0 as u64).into();
        unit.free.slot.next = (shown.1 as u64).into();
        settle(&mut unit);

        assert_eq!(unit.idle_slot.val(), next.is_some(), "cycle {cycle}");
        let can = unit.control.run.val() && next.is_some();
        assert_eq!(unit.warp.ready.val(), can && unit.allocate.ready.val(), "cycle {cycle}");
        assert_eq!(unit.allocate.valid.val(), can && unit.warp.valid.val(), "cycle {cycle}");
        assert_eq!(unit.start_any.val(), starting.is_some(), "cycle {cycle}");
        for core in 0..cores {
            assert_eq!(unit.start_valid[core].val(), starting.is_some_and(|s| s.0 == core), "cycle {cycle}");
        }
        if let Some(expected) = starting.take() {
            let got = (
                unit.start_core.val().index(),
                unit.start.slot.val().index(),
                unit.start.packet.val().to_u64(),
                unit.start.count.val().to_u64(),
            );
            assert_eq!(got, expected, "cycle {cycle}");
        }
        let mut taken = None;
        if unit.warp.ready.val() && unit.warp.valid.val() {
            let core = next.unwrap();
            let slot = (0..32).find(|&s| !busy.contains(&(core, s))).unwrap();
            assert!(slot < class.min(warps), "cycle {cycle}");
            assert_eq!(unit.allocate.core.val().index(), core, "cycle {cycle}");
            assert_eq!(unit.allocate.slot.val().index(), slot, "cycle {cycle}");
            starting = Some((core, slot, packet, packet % 33));
            taken = Some((core, slot));
            last = core;
            issued[core] += 1;
            packet += 1;
        }
        tick!(unit);
        if let Some(warp) = freed {
            busy.remove(&warp);
        }
        busy.extend(taken);
    }
    assert!(issued.iter().all(|&n| n > cycles / 16 / cores), "{issued:?}");
    assert_eq!(least && cores > 2, passed_over > 5, "{passed_over}");
}

#[test]
fn issues_in_turn_within_the_limits() {
    for (cores, warps) in [(1, 1), (2, 4), (3, 32), (8, 16), (32, 2)] {
        random_run(WarpIssue::new(ControlOptions::of(cores, 8, warps)), cores, warps, 6_000);
    }
}

#[test]
fn issues_to_the_least_occupied_core_and_in_turn_where_several_are() {
    for (cores, warps) in [(1, 1), (3, 32), (8, 16), (32, 8)] {
        random_run(WarpIssue::new(least_occupied(cores, warps)), cores, warps, 6_000);
    }
}

/// Warps of spawned threads are in the slots too: a packet warp goes where fewer of both are.
#[test]
fn spawned_warps_count_as_busy() {
    let mut unit = WarpIssue::new(ControlOptions { spawn_slots: 8, ..least_occupied(3, 8) });
    reset!(unit);
    unit.control.run.next = true;
    unit.control.mcw.next = 8.into();
    unit.control.kernel_class.next = true;
    unit.spawn_mcw.next = 8.into();
    unit.allocate.ready.next = true;
    unit.spawn.valid.next = true;
    // Two on core 0, one on core 1.
    for cores in [1, 1, 2] {
        unit.spawn.cores.next = cores.into();
        settle(&mut unit);
        while !unit.spawn_take.val() {
            tick!(unit);
        }
        tick!(unit);
    }
    unit.spawn.valid.next = false;
    unit.warp.valid.next = true;
    settle(&mut unit);
    for expected in [2, 1, 2, 0, 1, 2] {
        assert_eq!(unit.allocate.core.val().index(), expected);
        tick!(unit);
    }
}

/// Both kinds wait all the time: each gets every second cycle while there is room, and what
/// starts is what was taken.
#[test]
fn spawned_warps_alternate_with_packet_warps() {
    let mut random = random();
    for (cores, warps) in [(1, 4), (3, 8), (8, 16)] {
        let mut unit =
            WarpIssue::new(ControlOptions { spawn_slots: 8, ..ControlOptions::of(cores, 8, warps) });
        reset!(unit);
        unit.control.mcw.next = (warps as u64 / 2).into();
        unit.spawn_mcw.next = (warps as u64 / 2).into();
        unit.control.run.next = true;
        unit.allocate.ready.next = true;
        // Of each busy slot: whether its warp is one of spawned threads.
        let mut busy: std::collections::BTreeMap<(usize, usize), bool> = Default::default();
        let mut starting = None;
        let (mut packet, mut thread, mut waited) = (0u64, 0u64, [0; 2]);
        for cycle in 0..4_000u64 {
            let pause = cycle / 500 % 2 == 1;
            unit.warp.valid.next = !pause || random.gen();
            unit.warp.packet.next = packet.into();
            unit.warp.count.next = 4.into();
            unit.spawn.valid.next = !pause || random.gen();
            unit.spawn.thread.next = thread.into();
            unit.spawn.count.next = 3.into();
            unit.spawn.job.next = (thread % 16).into();
            let allowed = if pause { random.gen_range(1..1u64 << cores) } else { u64::MAX >> 32 };
            unit.spawn.cores.next = allowed.into();
            let freed = busy.keys().copied().choose(&mut random).filter(|_| random.gen_bool(0.9));
            unit.free.valid.next = freed.is_some();
            let shown = freed.unwrap_or((0, 0));
            unit.free.core.next = (shown.0 as u64).into();
            unit.free.slot.next = (shown.1 as u64).into();
            settle(&mut unit);

            let on = |core, spawned| busy.iter().filter(|(w, &s)| w.0 == core && s == spawned).count();
            let room = |spawned| (0..cores).filter(|&c| on(c, spawned) < warps / 2).collect::<Vec<_>>();
            let spawn_room = room(true).iter().any(|c| allowed >> c & 1 == 1);
            let takes = unit.spawn_take.val();
            let issues = unit.warp.valid.val() && unit.warp.ready.val();
            assert!(!(takes && issues) && takes == (unit.spawn.valid.val() && unit.spawn.ready.val()));
            assert_eq!(unit.allocate.valid.val(), issues, "cycle {cycle}");
            assert!(!takes || spawn_room);
            // A warp that a core has room for waits for one warp of the other kind at most.
            for (kind, (valid, room, taken)) in [
                (unit.warp.valid.val(), !room(false).is_empty(), issues),
                (unit.spawn.valid.val(), spawn_room, takes),
            ]
            .into_iter()
            .enumerate()
            {
                waited[kind] = if valid && room && !taken { waited[kind] + 1 } else { 0 };
                assert!(waited[kind] <= 1, "cycle {cycle}, kind {kind}");
            }
            let started = unit.start_any.val().then(|| {
                let core = unit.start_core.val().index();
                assert!((0..cores).all(|c| unit.start_valid[c].val() == (c == core)));
                let number = (unit.start.packet.val().to_u64(), unit.start.count.val().to_u64());
                let job = unit.start_spawned.val().then(|| unit.start_job.val().to_u64());
                (core, unit.start.slot.val().index(), number, job)
            });
            assert_eq!(started, starting.take(), "cycle {cycle}");
            if let Some(warp) = freed {
                busy.remove(&warp);
            }
            if takes {
                let (core, slot) = (unit.spawn_core.val().index(), unit.spawn_slot.val().index());
                assert!(allowed >> core & 1 == 1, "cycle {cycle}: core {core}");
                assert!(busy.insert((core, slot), true).is_none() || freed == Some((core, slot)));
                starting = Some((core, slot, (thread, 3), Some(thread % 16)));
                thread += 1;
            } else if issues {
                let (core, slot) = (unit.allocate.core.val().index(), unit.allocate.slot.val().index());
                assert!(busy.insert((core, slot), false).is_none());
                starting = Some((core, slot, (packet, 4), None));
                packet += 1;
            }
            tick!(unit);
        }
        assert!(packet > 900 && thread > 900, "{packet} {thread}");
    }
}

#[test]
fn issues_every_cycle_and_resumes() {
    let mut unit = WarpIssue::new(ControlOptions::of(2, 8, 4));
    reset!(unit);
    unit.control.run.next = true;
    unit.control.mcw.next = 3.into();
    unit.warp.valid.next = true;
    unit.allocate.ready.next = true;
    settle(&mut unit);
    let mut order = vec![];
    for _ in 0..8 {
        order.push(
            unit.warp
                .ready
                .val()
                .then(|| (unit.allocate.core.val().index(), unit.allocate.slot.val().index())),
        );
        tick!(unit);
    }
    let all = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)];
    assert_eq!(order[..6], all.map(Some));
    assert_eq!(order[6..], [None, None], "both cores have MCW warps");
    unit.free.valid.next = true;
    unit.free.core.next = 1.into();
    unit.free.slot.next = 1.into();
    tick!(unit);
    unit.free.valid.next = false;
    settle(&mut unit);
    assert!(unit.warp.ready.val());
    assert_eq!((unit.allocate.core.val().index(), unit.allocate.slot.val().index()), (1, 1));
    // A lower MCW holds at once, a higher one too.
    unit.control.mcw.next = 2.into();
    settle(&mut unit);
    assert!(!unit.warp.ready.val());
    unit.control.mcw.next = 4.into();
    settle(&mut unit);
    assert!(unit.warp.ready.val());
}
