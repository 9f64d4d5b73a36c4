//! A hart that is held in every cycle, and started anew.

use hermes_testbench::cosim::{Latency, MemoryOptions};

use super::array::{Array, HARTS};

const PROGRAM: &str = include_str!("programs/holds.S");
/// Words of a hart in `states`.
const STATE: u32 = 16;
/// Cycles from a start to the hold of the last trial.
const MOMENTS: u64 = 700;

/// Hart `victim` is held in each cycle after its start, for one write or for longer, while all
/// harts do all kinds of operations: what it did is whole or not there, its reservation is gone,
/// and the others see nothing of it.
fn hold_in_every_cycle(victim: u32, latency: Latency) {
    let mut array = Array::new(PROGRAM, MemoryOptions { latency, ..MemoryOptions::default() });
    let entry = array.label("hart");
    array.host.write("CP_ENTRY", entry).unwrap();
    let all = (1 << HARTS) - 1;
    array.set_harts(all);
    for moment in 0..MOMENTS {
        array.run(moment);
        array.set_harts(all & !(1 << victim));
        if moment % 3 == 0 {
            array.run(moment % 41);
        }
        array.set_harts(all);
        if moment % 64 == 0 {
            assert_eq!(array.stopped(), 0, "hart {victim} held {moment} cycles after its start");
        }
    }
    array.run(3_000);
    let stopped = array.stopped();
    array.hold_all();
    array.host.clean_caches().unwrap();
    for hart in 0..HARTS {
        let state: Vec<u32> = (0..5).map(|word| array.word("states", STATE * hart + word)).collect();
        println!("hart {hart}: {state:?}");
        assert_eq!(state[2..], [0; 3], "hart {hart}: check, round, found");
        assert!(state[1] > 50, "hart {hart}: {} rounds", state[1]);
        assert!((state[0] > 1) == (hart == victim), "hart {hart}: {} starts", state[0]);
    }
    assert_eq!(stopped, 0);
    println!("{} cycles", array.host.device_mut().cycle());
}

/// The caches of all harts are dropped in every cycle of what they do: nothing changes.
#[test]
fn caches_dropped_in_every_cycle() {
    let memory = MemoryOptions { latency: Latency::Fixed(20), ..MemoryOptions::default() };
    let mut array = Array::new(PROGRAM, memory);
    let entry = array.label("hart");
    array.host.write("CP_ENTRY", entry).unwrap();
    array.set_harts((1 << HARTS) - 1);
    for moment in 0..1_200 {
        array.run(100 + moment % 331);
        // Data caches, and now and then the instruction cache as well
        array.host.write("INVALIDATE", 2 + u32::from(moment % 5 == 0)).unwrap();
    }
    let stopped = array.stopped();
    array.hold_all();
    array.host.clean_caches().unwrap();
    for hart in 0..HARTS {
        let state: Vec<u32> = (0..5).map(|word| array.word("states", STATE * hart + word)).collect();
        assert_eq!(state[2..], [0; 3], "hart {hart}: check, round, found");
        assert!(state[0] == 1 && state[1] > 300, "hart {hart}: {state:?}");
    }
    assert_eq!(stopped, 0);
}

#[test]
fn held_in_every_cycle() {
    hold_in_every_cycle(2, Latency::Fixed(20));
}

#[test]
#[ignore = "minutes: every hart, several memories"]
fn every_hart_held_in_every_cycle() {
    for victim in 0..HARTS {
        for latency in [Latency::Fixed(1), Latency::Random(1, 60), Latency::Fixed(120)] {
            hold_in_every_cycle(victim, latency);
        }
    }
}
