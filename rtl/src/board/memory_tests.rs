//! The packet memory against a model: random lines and bytes, answers that wait, addresses beyond
//! it; and the run timer.

use super::memory_player::{Load, Played, Player};
use super::{LineMemory, RunTimer};
use crate::memory::testing::random;
use crate::testing::{reset, settle, tick};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

const BYTES_LOG2: usize = 10;

/// A line inside, but one in eight anywhere.
fn address(rng: &mut ChaCha8Rng, size: u32) -> u32 {
    if rng.gen_ratio(1, 8) {
        rng.gen::<u32>() & !63
    } else {
        rng.gen_range(0..size) & !63
    }
}

#[test]
fn lines_and_bytes_are_those_that_were_written() {
    let load = Load { reads: 8, writes: 10, bytes: 6, taken: 0.75 };
    // The RAM begins with anything; here with zeros.
    let mut player = Player::new(random("line_memory"), load, 1 << BYTES_LOG2, address, |_| [0; 64]);
    let mut uut = LineMemory::new(BYTES_LOG2);
    reset!(uut);
    for _ in 0..30_000 {
        player.offer(&mut uut.s_axi, &mut uut.byte);
        settle(&mut uut);
        player.check(&uut.s_axi, &uut.byte);
        tick!(uut);
    }
    let Played { reads, writes, bytes, errors, .. } = player.played;
    assert!(reads > 1_000 && writes > 500 && bytes > 1_000 && errors[0] > 50, "{errors:?}");
}

#[test]
fn a_line_takes_as_long_as_is_said() {
    let mut uut = LineMemory::new(BYTES_LOG2);
    reset!(uut);
    uut.s_axi.rready.next = true;
    uut.s_axi.bready.next = true;
    // Cycles from the offer to the answer, and to the next one, of lines that come back to back.
    let (mut read, mut written) = (Vec::new(), Vec::new());
    for cycle in 0..40 {
        uut.s_axi.arvalid.next = true;
        settle(&mut uut);
        if uut.s_axi.rvalid.val() {
            read.push(cycle);
        }
        tick!(uut);
    }
    assert_eq!(read[..3], [6, 13, 20]);
    uut.s_axi.arvalid.next = false;
    (0..10).for_each(|_| tick!(uut));
    for cycle in 0..40 {
        uut.s_axi.awvalid.next = true;
        uut.s_axi.wvalid.next = true;
        settle(&mut uut);
        if uut.s_axi.bvalid.val() {
            written.push(cycle);
        }
        tick!(uut);
    }
    assert_eq!(written[..3], [5, 11, 17]);
}

#[test]
fn cycles_with_packets_are_counted() {
    count_cycles(RunTimer::new(4), "run_timer");
}

/// Warps of spawned threads begin among those of packets, and are never committed.
#[test]
fn cycles_with_spawned_threads_alone_are_not_counted() {
    count_cycles(RunTimer::with_spawner(4), "run_timer, with spawner");
}

/// Warps at random; those of spawned threads if `uut` tells them apart.
fn count_cycles(mut uut: RunTimer, name: &str) {
    let mut rng = random(name);
    reset!(uut);
    let (mut inside, mut expected, mut seen) = (0u32, 0u64, 0);
    let mut spawns = 0;
    for cycle in 0..2_000u64 {
        let spawned = uut.spawned.is_there() && rng.gen_ratio(1, 3);
        let begins = inside < 6 && rng.gen_ratio(1, 9);
        uut.issued.next = begins || spawned;
        if let Some(input) = uut.spawned.get_mut() {
            // Of no meaning while nothing is issued
            input.next = if uut.issued.next { spawned } else { rng.gen() };
        }
        uut.committed.next = inside > 0 && rng.gen_ratio(1, 7);
        settle(&mut uut);
        assert_eq!(uut.busy_cycles.val().to_u64(), expected, "cycle {cycle}");
        assert_eq!(uut.heartbeat.val(), cycle >> 4 & 1 == 1, "cycle {cycle}");
        assert_eq!(uut.busy.val(), seen > 0, "cycle {cycle}");
        expected += u64::from(inside > 0);
        seen = if inside > 0 { 1 } else { seen };
        inside = inside + u32::from(begins && !spawned) - u32::from(uut.committed.val());
        spawns += usize::from(spawned);
        tick!(uut);
    }
    assert!(expected > 100 && expected < 1_900, "{expected}");
    assert_eq!(spawns > 100, uut.spawned.is_there(), "{spawns}");
}
