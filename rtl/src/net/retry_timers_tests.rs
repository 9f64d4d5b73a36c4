//! When timers are told, against a plain model: after a reset, and as the time wraps.

use super::*;
use crate::testing::{poke, random, reset, settle, tick};
use rand::Rng;

/// Times of the codes of RNR NAKs in units of 10 microseconds (InfiniBand Architecture
/// Specification, volume 1, table 45).
const RESTS: [u64; 32] = [
    65_536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1_024, 1_536, 2_048,
    3_072, 4_096, 6_144, 8_192, 12_288, 16_384, 24_576, 32_768, 49_152,
];

/// Cycles of an RNR NAK's code: 2.4 % more than the table says, but for the shortest.
fn rest_cycles(code: u64) -> u64 {
    match code {
        1 => 15_360,
        code => RESTS[code as usize] * 10_240,
    }
}

/// Timers are started, started anew and stopped at random; the counter of cycles begins with
/// `now`. None is told before its time, and each is told within 16 cycles of silence after it.
fn timers_expire_when_they_are_due(now: u32) {
    let mut random = random();
    let mut unit = RetryTimers { cycle: Register::new(u64::from(now).into()), ..RetryTimers::default() };
    reset!(unit);
    let mut ends: [Option<u64>; 16] = [None; 16];
    let mut late = [0; 16];
    let (mut told, mut rested, mut doubled) = (0, 0, 0);
    for cycle in 0..60_000u64 {
        let timeout =
            if random.gen_bool(0.1) { random.gen_range(0..1 << 24) } else { random.gen_range(0..700) };
        let patience = random.gen_range(0..400);
        let doublings = if random.gen_bool(0.3) { random.gen_range(0..8) } else { 0 };
        let rest = random.gen_bool(0.2);
        let code = random.gen_range(0..32);
        unit.timeout.next = timeout.into();
        unit.patience.next = patience.into();
        unit.doublings.next = doublings.into();
        unit.rest.next = rest;
        unit.rest_code.next = code.into();
        unit.start.next = false;
        unit.stop.next = false;
        settle(&mut unit);
        assert_eq!(unit.time.val().to_u64(), (u64::from(now) + cycle) & 0xff_ffff, "cycle {cycle}");
        let runs = (0..16).filter(|&pair| ends[pair].is_some()).map(|pair| 1 << pair).sum::<u64>();
        assert_eq!(unit.runs.val().to_u64(), runs, "cycle {cycle}");
        let mut pair = random.gen_range(0..16);
        let mut acts = random.gen_bool(0.02);
        if unit.expired.val() {
            let expired = unit.expired_pair.val().index();
            assert!(ends[expired].is_some_and(|end| end <= cycle), "cycle {cycle}: {expired} is not due");
            if random.gen_bool(0.4) {
                (pair, acts) = (expired, true);
                told += 1;
            }
        } else {
            for pair in 0..16 {
                late[pair] = if ends[pair].is_some_and(|end| end <= cycle) { late[pair] + 1 } else { 0 };
                assert!(late[pair] <= 16, "cycle {cycle}: {pair} is not told");
            }
        }
        if acts {
            let stops = random.gen_bool(0.3);
            unit.pair.next = (pair as u64).into();
            unit.start.next = !stops;
            unit.stop.next = stops;
            let once: u64 = timeout.max(patience);
            let cycles = if rest { rest_cycles(code) } else { once << doublings };
            ends[pair] = (!stops).then_some(cycle + cycles);
            late[pair] = 0;
            rested += u32::from(rest && !stops && cycles < 30_000);
            doubled += u32::from(!rest && !stops && doublings > 0 && cycles < 5_000);
        }
        tick!(unit);
    }
    assert!(
        told > 100 && rested > 4 && doubled > 20,
        "{told} told, {rested} of them rests, {doubled} doubled"
    );
}

#[test]
fn timers_expire_when_they_are_due_after_a_reset() {
    timers_expire_when_they_are_due(0);
}

#[test]
fn timers_expire_when_they_are_due_as_the_time_wraps() {
    for now in [0xff_8000, 0x7fff_8000, 0xffff_8000] {
        timers_expire_when_they_are_due(now);
    }
}

/// Times at which a counter of 23, 24, 31 or 32 bits begins anew, and none.
const EDGES: [u32; 5] = [1 << 23, 1 << 24, 1 << 31, 0, 0x1234_5678];

/// How a timer of `pair` is started.
#[derive(Debug)]
struct Start {
    pair: u64,
    timeout: u64,
    patience: u64,
    doublings: u64,
    /// The code of an RNR NAK.
    rest: Option<u64>,
}

impl Start {
    /// Cycles until it expires.
    fn cycles(&self) -> u64 {
        self.rest.map_or(self.timeout.max(self.patience) << self.doublings, rest_cycles)
    }
}

/// A unit after its reset, without a timer.
fn unit() -> RetryTimers {
    let mut unit = RetryTimers::default();
    reset!(unit);
    unit
}

/// The time goes to `now` at once.
fn jump(unit: &mut RetryTimers, now: u32) {
    poke(&mut unit.cycle.q, u64::from(now).into());
    settle(unit);
}

fn start(unit: &mut RetryTimers, start: &Start) {
    unit.timeout.next = start.timeout.into();
    unit.patience.next = start.patience.into();
    unit.doublings.next = start.doublings.into();
    unit.rest.next = start.rest.is_some();
    unit.rest_code.next = start.rest.unwrap_or(0).into();
    unit.pair.next = start.pair.into();
    unit.start.next = true;
    tick!(*unit);
    unit.start.next = false;
    settle(unit);
}

fn stop(unit: &mut RetryTimers, pair: u64) {
    unit.pair.next = pair.into();
    unit.stop.next = true;
    tick!(*unit);
    unit.stop.next = false;
    settle(unit);
}

/// Starts a timer so that it expires at `end`, modulo 2^32: it is told in none of the first cycles,
/// nor at half of its time, nor just before, and at most 16 cycles after it; then until it is
/// stopped.
fn is_told_at(unit: &mut RetryTimers, how: &Start, end: u32) {
    let cycles = how.cycles() as u32;
    let begin = end.wrapping_sub(cycles);
    jump(unit, begin);
    start(unit, how);
    let wait = |unit: &mut RetryTimers, from: u32, count: u32| {
        jump(unit, begin.wrapping_add(from));
        for cycle in 0..count.min(cycles - from) {
            assert!(!unit.expired.val(), "{how:?} is told {} cycles after it began", from + cycle);
            tick!(*unit);
        }
    };
    wait(unit, 1, if cycles > 200 { 40 } else { cycles });
    if cycles > 200 {
        wait(unit, cycles / 2, 20);
        wait(unit, cycles - 20, 20);
    }
    let late = (0..17).find(|_| {
        let told = unit.expired.val();
        if !told {
            tick!(*unit);
        }
        told
    });
    assert!(late.is_some(), "{how:?} is not told when it expires at {end:#x}");
    for _ in 0..20 {
        assert_eq!((unit.expired.val(), unit.expired_pair.val().to_u64()), (true, how.pair), "{how:?}");
        tick!(*unit);
    }
    stop(unit, how.pair);
    assert!(!unit.expired.val() && !unit.runs.val().any(), "{how:?}");
}

/// All codes of RNR NAKs, and all doublings of times from none to the longest, near each place at
/// which a counter might wrap.
#[test]
fn each_time_is_as_long_as_it_says() {
    let mut random = random();
    let mut unit = unit();
    for edge in EDGES {
        let mut end = || edge.wrapping_add(random.gen_range(0..60)).wrapping_sub(30);
        let ends: Vec<u32> = (0..64).map(|_| end()).collect();
        for code in 0..32 {
            let [timeout, patience] = [0, 1].map(|_| random.gen_range(0..1 << 24));
            let pair = random.gen_range(0..16);
            let how = Start { pair, timeout, patience, doublings: code % 8, rest: Some(code) };
            is_told_at(&mut unit, &how, ends[code as usize]);
        }
        for number in 0..32 {
            let longest = [700, 1 << 16, (1 << 24) - 1][random.gen_range(0..3)];
            let mut times = [random.gen_range(2..=longest), random.gen_range(0..=longest)];
            if random.gen_bool(0.5) {
                times.reverse();
            }
            let doublings = number % 8;
            let how = Start {
                pair: random.gen_range(0..16),
                timeout: times[0],
                patience: times[1],
                doublings,
                rest: None,
            };
            is_told_at(&mut unit, &how, ends[32 + number as usize]);
        }
    }
}

/// Timers of all queue pairs expire in the same cycle, again and again. Each is told before any
/// other is told twice, and at most 16 silent cycles after it expired.
#[test]
fn timers_that_expire_at_once_are_told_in_turn() {
    let mut random = random();
    let (mut most, mut turns) = (0, 0);
    for edge in EDGES {
        let mut unit = unit();
        let now = edge.wrapping_sub(200);
        jump(&mut unit, now);
        for pair in 0..16 {
            let how = Start { pair, timeout: 100 - pair, patience: 0, doublings: 0, rest: None };
            start(&mut unit, &how);
        }
        // Cycles since the first start; when each is due, for how long it waits in silence, and how
        // often each other one was told since.
        let mut ends = [100u64; 16];
        let (mut late, mut passed) = ([0; 16], [[0; 16]; 16]);
        let mut handled_in = 0;
        for cycle in 16..6_000u64 {
            unit.start.next = false;
            unit.stop.next = false;
            settle(&mut unit);
            let due = |pair: usize| ends[pair] <= cycle;
            most = most.max((0..16).filter(|&pair| due(pair)).count());
            if unit.expired.val() {
                let told = unit.expired_pair.val().index();
                assert!(due(told), "cycle {cycle}: {told} is not due");
                if handled_in == 0 {
                    for pair in (0..16).filter(|&pair| pair != told && due(pair)) {
                        passed[pair][told] += 1;
                        assert!(passed[pair][told] <= 1, "cycle {cycle}: {pair} waits while {told} is told");
                    }
                    (late[told], passed[told]) = (0, [0; 16]);
                    let longest = [3, 20, 150][random.gen_range(0..3)];
                    let timeout = random.gen_range(2..=longest);
                    unit.timeout.next = timeout.into();
                    unit.patience.next = 0.into();
                    unit.doublings.next = 0.into();
                    unit.rest.next = false;
                    unit.pair.next = (told as u64).into();
                    unit.start.next = true;
                    ends[told] = cycle + timeout;
                    handled_in = random.gen_range(0..6);
                    turns += 1;
                } else {
                    handled_in -= 1;
                }
            } else {
                for pair in (0..16).filter(|&pair| ends[pair] <= cycle) {
                    late[pair] += 1;
                    assert!(late[pair] <= 16, "cycle {cycle}: {pair} is not told");
                }
            }
            tick!(unit);
        }
    }
    assert!(most == 16 && turns > 2_000, "{most} at once, {turns} turns");
}

/// A timer that is started anew counts from then on; one that is stopped is told no more, also when
/// it has expired; others go on.
#[test]
fn a_start_counts_from_the_last_one() {
    let mut random = random();
    for edge in EDGES {
        let mut unit = unit();
        let now = edge.wrapping_sub(90);
        jump(&mut unit, now);
        let [first, other] = [random.gen_range(0..8), random.gen_range(8..16)];
        let how = |pair, timeout| Start { pair, timeout, patience: 0, doublings: 0, rest: None };
        start(&mut unit, &how(first, 60));
        start(&mut unit, &how(other, 300));
        for _ in 0..50 {
            tick!(unit);
        }
        // Anew, 52 cycles after the first start
        start(&mut unit, &how(first, 80));
        for cycle in 53..132 {
            assert!(!unit.expired.val(), "{edge:#x}: told {cycle} cycles after the first start");
            tick!(unit);
        }
        for _ in 132..148 {
            tick!(unit);
        }
        assert_eq!((unit.expired.val(), unit.expired_pair.val().to_u64()), (true, first), "{edge:#x}");
        stop(&mut unit, first);
        for cycle in 149..301 {
            assert!(!unit.expired.val(), "{edge:#x}: told {cycle} cycles after the first start");
            tick!(unit);
        }
        for _ in 301..317 {
            tick!(unit);
        }
        assert_eq!((unit.expired.val(), unit.expired_pair.val().to_u64()), (true, other), "{edge:#x}");
    }
}
