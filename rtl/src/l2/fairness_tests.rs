//! Who gets through at a bank when threads come at the worst time for others.

use super::atomics_tests::{load_reserved, store_conditional, Bench, PATIENCE};
use super::testing::Atomic;
use crate::memory::testing::random;
use crate::testing::reset;
use rand::seq::SliceRandom as _;
use rand::Rng;

/// Lines that memory can read and write.
const LINES: [u32; 9] = [1, 2, 4, 5, 6, 8, 9, 11, 12];

/// A thread that executes `lr.w` again and again, and never `sc.w`, keeps no other from getting
/// through: when its reservation lapses, the warp that was denied has the next one.
#[test]
fn who_was_denied_comes_before_who_polls() {
    let mut bench = Bench::with_reservations(0.9, None, 1);
    let lr = |line, slot| load_reserved(line, slot, 0);
    let sc = |line, slot| store_conditional(line, slot, 0);
    for round in 0..4 {
        // Slot 4 of requester 1 polls, slot 7 of requester 0 is denied, and tries again.
        bench.perform(1, lr(1, 4));
        bench.perform(0, lr(2, 7));
        assert_eq!(bench.perform(0, sc(2, 7)), 1);
        bench.ends(0, 7, false);
        bench.ends(1, 4, true);
        // Unless it left, or for too long did not come back.
        if round == 1 {
            bench.ends(0, 7, true);
        }
        if round == 2 {
            for _ in 0..PATIENCE {
                bench.perform(1, Atomic { operation: 0, ..lr(8, 1) });
            }
        }
        bench.perform(1, lr(1, 4));
        bench.perform(0, lr(2, 7));
        let polls = round == 1 || round == 2;
        assert_eq!(bench.perform(0, sc(2, 7)), u64::from(polls), "round {round}");
        assert_eq!(bench.perform(1, sc(1, 4)), u64::from(!polls), "round {round}");
    }
}

/// Threads that succeed again and again keep nobody on another line from getting through, whose
/// `lr.w` always comes when they have every reservation.
#[test]
fn threads_on_other_lines_take_turns() {
    for reservations in [1, 2, 4] {
        let mut bench = Bench::with_reservations(1.0, None, reservations);
        let (others, line) = (&LINES[..reservations], LINES[8]);
        let (mut by_others, mut by_both, rounds) = (0, [0, 0], 300);
        for _ in 0..rounds {
            let slot = |at: usize| at as u64;
            for (at, line) in others.iter().enumerate() {
                bench.perform(1, load_reserved(*line, slot(at), 0));
            }
            for requester in [0, 1] {
                bench.perform(requester, load_reserved(line, 20, 0));
            }
            for (at, line) in others.iter().enumerate() {
                by_others += 1 - bench.perform(1, store_conditional(*line, slot(at), 0));
            }
            for requester in [0, 1] {
                by_both[requester as usize] += 1 - bench.perform(requester, store_conditional(line, 20, 0));
            }
        }
        println!("{reservations}: {by_others} of others, {by_both:?} of {rounds}");
        // A turn behind 64, and the warps that wait take turns.
        assert!(by_both.iter().all(|times| *times >= reservations as u64 * rounds / 64 / 2 - 1));
        assert!(by_others >= reservations as u64 * rounds * 9 / 10);
    }
}

/// A message that a warp left its loop is one of this warp, whenever it comes: also when another
/// warp is owed a reservation at the same edge.
#[test]
fn a_message_of_another_warp_settles_nothing() {
    for (stale, cycle) in (0..2).flat_map(|stale| (0..14).map(move |cycle| (stale == 1, cycle))) {
        let mut bench = Bench::with_reservations(1.0, None, 1);
        if stale {
            // The warp was owed one before.
            bench.perform(0, load_reserved(1, 3, 0));
            bench.perform(1, load_reserved(2, 9, 0));
            bench.ends(1, 9, true);
            bench.ends(0, 3, true);
        }
        // Slot 4 of requester 1 polls, slot 7 of requester 0 is denied one.
        bench.perform(1, load_reserved(1, 4, 0));
        bench.perform_with(0, load_reserved(2, 7, 0), |bench, at| {
            if at == cycle {
                bench.tell(1, 9, true);
            } else {
                bench.uut.ends[1].valid.next = false;
            }
        });
        bench.uut.ends[1].valid.next = false;
        bench.ends(1, 4, true);
        bench.perform(1, load_reserved(1, 4, 0));
        bench.perform(0, load_reserved(2, 7, 0));
        let failed = bench.perform(0, store_conditional(2, 7, 0));
        assert_eq!(failed, 0, "a message in cycle {cycle}, stale: {stale}");
    }
}

/// A reset in any cycle leaves neither a reservation nor a warp that is owed one.
#[test]
fn a_reset_leaves_nothing() {
    for cycle in 0..14 {
        let mut bench = Bench::with_reservations(1.0, None, 2);
        bench.perform(1, load_reserved(1, 4, 0));
        bench.perform(1, load_reserved(2, 5, 0));
        bench.perform(0, load_reserved(4, 7, 0));
        bench.ends(1, 4, true);
        let done = bench.perform_until(0, load_reserved(4, 8, 0), cycle);
        reset!(bench.uut);
        bench.forget();
        for (requester, line, slot) in [(1, 1, 4), (1, 2, 5), (0, 4, 7), (0, 4, 8)] {
            let failed = bench.perform(requester, store_conditional(line, slot, 0));
            assert_eq!(failed, 1, "{requester} {slot}, reset in cycle {cycle}, done: {done}");
        }
        // Nobody is to be waited for.
        bench.perform(1, load_reserved(1, 4, 0));
        assert_eq!(bench.perform(1, store_conditional(1, 4, 0)), 0, "reset in cycle {cycle}");
    }
}

/// What the threads of a warp do.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    /// `lr.w`, `sc.w`, again and again.
    Loops,
    /// `lr.w`, and leaves the loop.
    Polls,
    /// `lr.w`, and for long nothing: the last resort ends its reservation.
    Stays,
}

/// Warps of two requesters that loop, poll and stay away, in an order that changes now and then,
/// with those that loop last: each of these gets through again and again.
#[test]
fn everyone_who_loops_gets_through() {
    let mut rng = random("fairness");
    for reservations in [1, 2, 4, 8] {
        let mut bench = Bench::with_reservations(1.0, None, reservations);
        let mut warps: Vec<_> = (0..12u64)
            .map(|number| {
                let does = [Does::Polls, Does::Loops, Does::Stays, Does::Polls][number as usize % 4];
                (number % 2, number, does, LINES[rng.gen_range(0..LINES.len())])
            })
            .collect();
        warps.sort_by_key(|(_, _, does, _)| *does == Does::Loops);
        let (mut operations, mut waits, mut stored) = (0usize, [0usize; 12], [0usize; 12]);
        let mut away = [0usize; 12];
        for round in 0..120 {
            if round % 40 == 39 {
                let polling = warps.iter().filter(|warp| warp.2 != Does::Loops).count();
                warps[..polling].shuffle(&mut rng);
                warps[polling..].shuffle(&mut rng);
            }
            let before = operations;
            for (requester, slot, does, line) in &warps {
                let at = *slot as usize;
                if *does == Does::Stays && away[at] > operations {
                    continue;
                }
                bench.perform(*requester, load_reserved(*line, *slot, 0));
                operations += 1;
                if *does == Does::Stays {
                    away[at] = operations + 3 * PATIENCE;
                }
            }
            for (requester, slot, does, line) in &warps {
                let at = *slot as usize;
                match does {
                    Does::Polls => bench.ends(*requester as usize, *slot, true),
                    Does::Loops => {
                        let failed = bench.perform(*requester, store_conditional(*line, *slot, 0)) == 1;
                        operations += 1;
                        bench.ends(*requester as usize, *slot, false);
                        stored[at] += usize::from(!failed);
                        waits[at] = if failed { waits[at] + operations - before } else { 0 };
                        assert!(
                            waits[at] < 20 * PATIENCE,
                            "slot {slot} of {warps:?} waits for {}",
                            waits[at]
                        );
                    }
                    Does::Stays => {}
                }
            }
        }
        println!("{reservations}: {stored:?} in {operations} operations");
    }
}
