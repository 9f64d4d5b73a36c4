//! Reservations of `lr.w`: what ends them, and how many there are.

use hermes_hdl::prelude::*;
use rand::Rng;

use super::super::testing::{word_of, Atomic};
use super::{load_reserved, store_conditional, Bench, PATIENCE};

/// A message that a warp left its loop ends the reservation, if the warp has it.
#[test]
fn a_warp_that_leaves_ends_its_reservation() {
    let mut bench = Bench::new(0.9, None);
    let lr = |line, lane| load_reserved(line, 7, lane);
    let sc = |line, lane| store_conditional(line, 7, lane);
    for (requester, slot, ends) in [(1, 7, true), (0, 7, false), (1, 6, false)] {
        bench.perform(1, lr(1, 2));
        let left = bench.rng.gen();
        bench.ends(requester, slot, left);
        // Another thread has it at once, or not at all.
        bench.perform(0, lr(2, 0));
        assert_eq!(bench.perform(0, sc(2, 0)), u64::from(!ends), "{requester} {slot}");
        assert_eq!(bench.perform(1, sc(1, 2)), u64::from(ends), "{requester} {slot}");
    }
}

/// With several, threads on lines of their own do not meet; each has one, and a line has one.
#[test]
fn several_reservations() {
    let mut bench = Bench::with_reservations(0.9, None, 2);
    let lr = |line, lane| load_reserved(line, 7, lane);
    let sc = |line, lane| store_conditional(line, 7, lane);
    let outcome = |bench: &mut Bench, asked: &[Atomic], expected: &[u64]| {
        let found: Vec<u64> = asked.iter().map(|atomic| bench.perform(0, *atomic)).collect();
        assert_eq!(found, expected, "{asked:?}");
    };
    // Two lines; a third finds no room.
    for (line, lane) in [(1, 0), (2, 1), (8, 2)] {
        bench.perform(0, lr(line, lane));
    }
    outcome(&mut bench, &[sc(8, 2), sc(2, 1), sc(1, 0), sc(1, 0)], &[1, 0, 0, 1]);
    // One line.
    for lane in [0, 1] {
        bench.perform(0, lr(1, lane));
    }
    outcome(&mut bench, &[sc(1, 1), sc(1, 0)], &[1, 0]);
    // A thread has one: the last.
    for line in [1, 2] {
        bench.perform(0, lr(line, 0));
    }
    let held = word_of_line(&bench, 1);
    outcome(&mut bench, &[lr(1, 1), sc(1, 0), sc(1, 1)], &[held, 1, 0]);
    // One that takes none has none: another thread has the line.
    bench.perform(0, lr(1, 0));
    bench.perform(0, lr(2, 1));
    bench.perform(0, lr(2, 0));
    outcome(&mut bench, &[sc(1, 0), sc(2, 1)], &[1, 0]);
    // A write to a line ends that of this line alone.
    bench.perform(0, lr(1, 0));
    bench.perform(0, lr(2, 1));
    bench.write(1);
    outcome(&mut bench, &[sc(1, 0), sc(2, 1)], &[1, 0]);
}

/// Word 5 of a line.
fn word_of_line(bench: &Bench, line: u32) -> u64 {
    word_of(&bench.memory.read(line), 5).into()
}

#[test]
fn reservations() {
    let mut bench = Bench::new(0.9, None);
    let lr = |line, lane| load_reserved(line, 7, lane);
    let sc = |line, lane| store_conditional(line, 7, lane);
    let add = |line, lane| Atomic { operation: 0, operand: 1, ..lr(line, lane) };
    let word = |bench: &Bench, line| u64::from(word_of(&bench.memory.read(line), 5));

    // Once, and only after lr.w.
    assert_eq!(bench.perform(0, sc(1, 0)), 1);
    let value = word(&bench, 1);
    assert_eq!(bench.perform(0, lr(1, 0)), value);
    assert_eq!(bench.perform(0, sc(1, 0)), 0);
    assert_eq!(word(&bench, 1), 77);
    assert_eq!(bench.perform(0, sc(1, 0)), 1);

    // Only the thread and the line: another lane, slot, requester, line has none of it.
    let others = [(0, sc(1, 1)), (0, Atomic { slot: 8, ..sc(1, 0) }), (1, sc(1, 0))];
    for (requester, other) in others {
        bench.perform(0, lr(1, 0));
        assert_eq!(bench.perform(requester, other), 1);
        assert_eq!(bench.perform(0, sc(1, 0)), 0);
    }
    bench.perform(0, lr(1, 0));
    assert_eq!(bench.perform(0, sc(2, 0)), 1);
    assert_eq!(bench.perform(0, sc(1, 0)), 1);

    // Whatever writes to the line breaks it.
    bench.perform(0, lr(1, 0));
    bench.perform(1, add(1, 0));
    assert_eq!(bench.perform(0, sc(1, 0)), 1);
    bench.perform(0, lr(1, 0));
    bench.write(1);
    assert_eq!(bench.perform(0, sc(1, 0)), 1);
    bench.perform(0, lr(1, 0));
    bench.write(2);
    bench.perform(1, add(2, 0));
    assert_eq!(bench.perform(0, sc(1, 0)), 0);

    // The first of two threads gets through, until it has waited for too long.
    bench.perform(0, lr(1, 0));
    bench.perform(0, lr(1, 1));
    assert_eq!(bench.perform(0, sc(1, 0)), 0);
    assert_eq!(bench.perform(0, sc(1, 1)), 1);
    bench.perform(0, lr(1, 0));
    for _ in 0..PATIENCE {
        bench.perform(1, add(2, 3));
    }
    bench.perform(1, lr(2, 1));
    assert_eq!(bench.perform(0, sc(1, 0)), 1);
    assert_eq!(bench.perform(1, sc(2, 1)), 0);

    // A thread that goes to another bank has none here any more; bank 0 is this one.
    for (bank, requester, thread, expected) in
        [(1, 0, 7 << 5, 1), (0, 0, 7 << 5, 0), (1, 1, 7 << 5, 0), (1, 0, 7 << 5 | 1, 0)]
    {
        bench.perform(0, lr(1, 0));
        bench.uut.events[bank].valid.next = true;
        bench.uut.events[bank].requester.next = bits(requester);
        bench.uut.events[bank].thread.next = bits(thread);
        bench.step();
        bench.uut.events[bank].valid.next = false;
        assert_eq!(bench.perform(0, sc(1, 0)), expected, "bank {bank}, requester {requester}, {thread:#x}");
    }
}
