//! What the wiring of the pipeline decides, an input alone after the other: the kernel by itself,
//! with outputs of its parts that the test sets.

use super::super::testing::all_parts;
use super::*;
use crate::testing::{bit, each, is_raised_by, needs, poke, word, Input};

type U = CommandPipeline;
/// A signal that the kernel sets: its name and value.
type Sink = (&'static str, fn(&U) -> u64);
const HARTS: usize = 8;
const ALL: u64 = 0xff;

/// With all that there can be.
fn unit() -> Box<U> {
    Box::new(CommandPipeline::new(CommandOptions {
        command_threads: HARTS,
        uli_channels: 2,
        instruction_cache_lines: 64,
        instruction_cache_ways: 4,
        ..all_parts()
    }))
}

/// A bit for each hart.
fn of_harts(unit: &U, of: impl Fn(&CommandHart) -> bool) -> u64 {
    unit.hart.iter().enumerate().map(|(hart, state)| u64::from(of(state)) << hart).sum()
}

/// Harts whose run bit is low.
const HOLD: Input<U> =
    Input { name: "!registers.run", set: |unit, value| poke(&mut unit.registers.run, (ALL & !value).into()) };

/// Harts that have a store which memory has not acknowledged.
const STORES: Input<U> =
    Input { name: "!stores.none", set: |unit, value| poke(&mut unit.stores.none, (ALL & !value).into()) };

/// A hart is quiet when nothing of it is outstanding: an operation, the fill of its line, a fetch,
/// a store.
#[test]
fn a_hart_is_quiet_without_any_of_what_it_may_wait_for() {
    let mut unit = unit();
    let busy = || [word!(U, long.under_way), word!(U, cached.filling)];
    let [first, second] = busy();
    let outstanding = [first, second, word!(U, fetch.outstanding), STORES];
    let sinks: [Sink; 2] = [
        ("CP_QUIET", |unit| ALL & !unit.registers.quiet.next.to_u64()),
        ("quiet of a hart", |unit| of_harts(unit, |hart| !hart.quiet.next)),
    ];
    for (name, sink) in sinks {
        is_raised_by(&mut *unit, name, HARTS, sink, &outstanding);
    }
    let loading = |unit: &U| of_harts(unit, |hart| hart.loading.next);
    is_raised_by(&mut *unit, "loading", HARTS, loading, &busy());
}

/// What a hart had begun is forgotten where it is held, stopped, or sent elsewhere: by everybody.
#[test]
fn a_hart_that_goes_is_told_to_all() {
    let mut unit = unit();
    let gone = [HOLD, each!(U, hart.goes), each!(U, hart.stopped)];
    let sinks: [Sink; 4] = [
        ("gone, fetch", |unit| unit.fetch.gone.next.to_u64()),
        ("gone, devices", |unit| unit.device_turns.gone.next.to_u64()),
        ("gone, divisions", |unit| unit.divide_turns.gone.next.to_u64()),
        ("gone, NEXT", |unit| unit.held.gone.next.to_u64()),
    ];
    for (name, sink) in sinks {
        is_raised_by(&mut *unit, name, HARTS, sink, &gone);
    }
    let drops = || [HOLD, each!(U, hart.goes), word!(U, write.drop)];
    let sinks: [Sink; 4] = [
        ("drop in X", |unit| unit.execute.drop_executed.next.to_u64()),
        ("drop in R", |unit| unit.execute.drop_read.next.to_u64()),
        ("drop in D", |unit| unit.fetch.drop_decoded.next.to_u64()),
        ("drop in I", |unit| unit.fetch.drop_fetched.next.to_u64()),
    ];
    for (name, sink) in sinks {
        is_raised_by(&mut *unit, name, HARTS, sink, &drops());
    }
    // What X redirects drops what is behind it, and not itself.
    poke(&mut unit.execute.redirect_valid, true);
    for hart in 0..HARTS as u64 {
        poke(&mut unit.execute.execute_hart, hart.into());
        unit.update();
        let dropped = sinks.map(|(_, sink)| sink(&unit));
        assert_eq!(dropped, [0, 1 << hart, 1 << hart, 1 << hart], "hart {hart}");
    }
    poke(&mut unit.execute.redirect_valid, false);
    let holds = [HOLD];
    is_raised_by(&mut *unit, "hold", HARTS, |unit| unit.long.hold.next.to_u64(), &holds);
    is_raised_by(&mut *unit, "hold", HARTS, |unit| unit.scheduler.hold.next.to_u64(), &holds);
}

/// A hart is awake while it runs and neither is stopped nor waits; it may fetch while it is ready
/// and not held in NEXT.
#[test]
fn a_hart_is_awake_without_any_of_what_it_may_wait_in() {
    let mut unit = unit();
    let asleep = [HOLD, each!(U, hart.stopped), each!(U, hart.waiting), word!(U, held.held)];
    is_raised_by(&mut *unit, "asleep", HARTS, |unit| ALL & !unit.awake.next.to_u64(), &asleep);
    let late = [bit!(U, fetch.decode_holds), bit!(U, execute.late_use)];
    let sink = |unit: &U| unit.scheduler.ready.next.to_u64() == 1;
    let needed = [each!(U, hart.ready)];
    needs(&mut *unit, "ready", sink, &needed, &[word!(U, held.held)]);
    // An instruction in D that waits holds all.
    late.iter().for_each(|input| (input.set)(&mut unit, 1));
    (needed[0].set)(&mut unit, ALL);
    unit.update();
    assert_eq!(unit.scheduler.ready.next.to_u64(), 0);
    for input in &late {
        (input.set)(&mut unit, 0);
        unit.update();
        assert_eq!(unit.scheduler.ready.next.to_u64(), ALL, "{} = 0", input.name);
        (input.set)(&mut unit, 1);
    }
    late.iter().for_each(|input| (input.set)(&mut unit, 0));
    (needed[0].set)(&mut unit, 0);
    let open = [word!(U, execute.open), word!(U, write.may_drop)];
    is_raised_by(&mut *unit, "open", HARTS, |unit| unit.scheduler.open.next.to_u64(), &open);
}

/// An operation of W starts in its part; the instruction cache is emptied by the host and by
/// instructions, the data cache by the host.
#[test]
fn what_starts_and_what_empties() {
    let mut unit = unit();
    let refetch = Input::<U> {
        name: "outcome.refetch",
        set: |unit, value| {
            let mut outcome = unit.write.outcome.val();
            outcome.refetch = value != 0;
            poke(&mut unit.write.outcome, outcome);
        },
    };
    let flush = [bit!(U, invalidate), refetch];
    is_raised_by(&mut *unit, "flush", 1, |unit| unit.fetch.flush.next.into(), &flush);
    let data = [bit!(U, invalidate_data)];
    is_raised_by(&mut *unit, "flush of data", 1, |unit| unit.cached.invalidate.next.into(), &data);
    // Device and atomic operations share their turns; a device is free when nobody is owed it.
    let device = Input::<U> {
        name: "outcome.device",
        set: |unit, value| {
            let mut outcome = unit.write.outcome.val();
            outcome.device = value != 0;
            poke(&mut unit.write.outcome, outcome);
        },
    };
    let atomic = Input::<U> {
        name: "outcome.atomic",
        set: |unit, value| {
            let mut outcome = unit.write.outcome.val();
            outcome.atomic = value != 0;
            poke(&mut unit.write.outcome, outcome);
        },
    };
    is_raised_by(
        &mut *unit,
        "starts of devices",
        1,
        |unit| unit.device_turns.starts.next.into(),
        &[device, atomic],
    );
    for (name, sink, needed, barred) in [
        (
            "device_free",
            (|unit| unit.write.device_free.next) as fn(&U) -> bool,
            bit!(U, long.device_free),
            bit!(U, device_turns.refused),
        ),
        (
            "divide_free",
            |unit| unit.write.divide_free.next,
            bit!(U, long.divide_free),
            bit!(U, divide_turns.refused),
        ),
        (
            "device_free of a hart",
            |unit| unit.hart[0].device_free.next,
            bit!(U, long.device_free),
            word!(U, device_turns.held_back),
        ),
        (
            "divide_free of a hart",
            |unit| unit.hart[0].divide_free.next,
            bit!(U, long.divide_free),
            word!(U, divide_turns.held_back),
        ),
    ] {
        needs(&mut *unit, name, sink, &[needed], &[barred]);
    }
}
