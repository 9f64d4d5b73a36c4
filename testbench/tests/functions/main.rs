//! Network functions that share the cores of an array: packets that go from one to the next, cores
//! that change hands, and what must not be lost meanwhile. `HERMES_SEED` repeats a run.

mod array;
mod branches;
// Of the grid only the arrays of these tests.
#[allow(dead_code)]
#[path = "../grid/mod.rs"]
mod grid;
mod hostile;
mod hostile_ways;
mod one_function;
mod verdicts;

use array::{random, Array, Marks, FUNCTIONS};
use hermes_testbench::cosim::{Device as _, Event, Guards};
use hermes_testbench::iss::Window;
use rand::Rng as _;

/// Functions that drop a quarter, and an eighth, of the packets, and lose some cycles.
fn marks() -> [Marks; FUNCTIONS] {
    let plain = |number| Marks { number, ..Marks::default() };
    [
        Marks { drops: 3, spins: 7, ..plain(5) },
        Marks { spins: 31, ..plain(11) },
        Marks { drops: 7, spins: 15, ..plain(23) },
        Marks { drops: 1, ..plain(4) },
    ]
}

/// Of the lanes with which a warp went on.
fn hops(array: &Array) -> Vec<(u64, u32, u8)> {
    let hop = |&(cycle, event): &(u64, Event)| match event {
        Event::Hop { lanes, function, .. } => Some((cycle, lanes, function)),
        _ => None,
    };
    array.events.iter().filter_map(hop).collect()
}

#[test]
fn two_functions_chained() {
    let mut array = Array::new(marks());
    array.link(0, Some(1));
    array.give([0, 1, 0]);
    array.host.wait_for_cores().unwrap();
    array.host.start(false).unwrap();
    array.push(1_500);
    array.drain();
    array.check();
    let hops = hops(&array);
    assert!(hops.iter().all(|hop| hop.2 == 1));
    // Partial masks that are no lowest lanes: drops leave holes.
    let holes = hops.iter().filter(|hop| hop.1 & (hop.1 + 1) != 0).count();
    assert!(holes > 100, "{holes} of {}", hops.len());
}

/// A chain of four on three cores, which change hands under load: no packet is lost, and each
/// visits its functions once and in their order. Words of the contexts are written meanwhile.
#[test]
fn cores_change_hands_under_load() {
    let mut random = random();
    let mut array = Array::new(marks());
    array.link_all();
    array.host.start(true).unwrap();
    let mut moves = 0;
    for _ in 0..6 {
        array.push(200);
        while array.pending() > 20 {
            array.give([(); 3].map(|()| random.gen_range(0..FUNCTIONS + 1)));
            moves += 1;
            // Once more in any step of a change, and a word in any cycle of it.
            let most = if random.gen() { 30 } else { 600 };
            let cycles = random.gen_range(1..most);
            array.run(cycles);
            let function = random.gen_range(0..FUNCTIONS);
            let mut context = array.contexts[function];
            context.argument = array.arguments[function][random.gen_range(0..2)];
            context.mcw = random.gen_range(1..=4);
            array.host.load_function(function as u32, &context).unwrap();
        }
        for cores in [[0, 1, 2], [1, 2, 3], [2, 3, 3]] {
            array.give(cores);
            array.run(3_000);
        }
        assert_eq!(array.pending(), 0);
    }
    array.check();
    assert!(moves > 100, "{moves}");
}

/// The start follows the finish by four cycles: three behind the event that reports it.
#[test]
fn a_hop_takes_four_cycles() {
    let mut array = Array::new([Marks { number: 1, ..Marks::default() }; FUNCTIONS]);
    array.link_all();
    array.give([0, 1, 2]);
    array.host.wait_for_cores().unwrap();
    array.host.start(false).unwrap();
    array.link(2, None);
    let distances = array.hops_of_lone_packets();
    assert!(distances.iter().all(|&distance| distance == 3), "{distances:?}");
    array.check();
}

/// A chain of guarded functions takes the cycles of the same chain without guards: every event.
#[test]
fn guards_take_no_cycle() {
    let run = |guards: Guards| {
        let mut array = Array::new(marks());
        array.link_all();
        let first = array.contexts[0].entry & !63;
        let end = array.arguments.iter().flatten().max().unwrap() + 64;
        for function in 0..FUNCTIONS {
            let context = &mut array.contexts[function];
            context.guards = guards;
            context.read = Window { base: first, size: end - first };
            array.host.load_function(function as u32, &array.contexts[function]).unwrap();
        }
        array.give([0, 1, 2]);
        array.host.wait_for_cores().unwrap();
        array.link(2, None);
        array.host.start(true).unwrap();
        array.push(600);
        array.drain();
        array.check();
        array.events
    };
    let (open, tight) = (run(Guards::default()), run(Guards::tight(true, true)));
    assert!(open.len() > 1_000);
    assert_eq!(open, tight);
}

/// A core with nothing to do is cleared and copied in the cycles of the page, and all of them are
/// cleared at a time.
#[test]
fn a_core_that_is_drained_moves_in_its_rows_and_twelve_cycles() {
    let mut array = Array::new(marks());
    let rows = (32 * array::config().warps).max(4096 / array::config().lanes) as u64;
    for cores in [[1, 0, 0], [2, 2, 2]] {
        let before = array.host.device_mut().cycle();
        array.give(cores);
        array.host.wait_for_cores().unwrap();
        let passed = array.host.device_mut().cycle() - before;
        // One after the other is copied, and accesses of registers take some cycles.
        let most = rows + 12 + 11 * 2 + 160;
        println!("{passed} cycles for {cores:?}, {rows} rows");
        assert!((rows..=most).contains(&passed), "{passed} cycles, {rows} rows");
    }
}

/// At most as many warps as CHAIN_LIMIT says are between their first start and their commit.
#[test]
fn chain_limit_bounds_what_is_in_flight() {
    for limit in [1, 2, 7] {
        let mut array = Array::new(marks());
        array.link_all();
        array.host.set_chain(limit, 0).unwrap();
        array.give([0, 1, 2]);
        array.host.start(true).unwrap();
        array.push(80);
        // Function 3 has no core: what is in flight waits for it, and the former stops.
        array.run(20_000);
        assert!(array.pending() > 0);
        array.give([0, 3, 2]);
        array.run(5_000);
        array.give([0, 1, 2]);
        array.run(5_000);
        let mut turns = [[1, 3, 2], [0, 1, 3]].into_iter().cycle();
        while array.pending() > 0 {
            array.give(turns.next().unwrap());
            array.run(1_500);
        }
        array.check();
        let (mut in_flight, mut most) = (0, 0);
        for (_, event) in &array.events {
            match event {
                Event::Issue(..) => in_flight += 1,
                Event::Commit(..) => in_flight -= 1,
                _ => {}
            }
            most = most.max(in_flight);
        }
        assert_eq!(most, limit as i32);
    }
}

/// A function without a core: its packets wait, those of others that do not need it do not start
/// new ones beyond the limit, and nothing is lost when a core comes.
#[test]
fn a_function_without_a_core_stops_the_former() {
    let mut array = Array::new(marks());
    array.link(0, Some(1));
    array.host.set_chain(16, 0).unwrap();
    array.give([0, 0, 9]);
    array.host.start(false).unwrap();
    array.push(400);
    array.run(20_000);
    let waiting = array.host.function_counts(1).unwrap().queued;
    let before = array.pending();
    assert!(waiting > 8, "{waiting}");
    array.run(20_000);
    assert_eq!(array.pending(), before, "nothing goes on");
    array.give([0, 0, 1]);
    array.drain();
    array.check();
    assert!(array.host.function_counts(1).unwrap().peak >= waiting);
}

/// Lanes that fault do not go on; the record names the function, and its counter has the threads.
#[test]
fn faulting_lanes_end() {
    let mut marks = marks();
    marks[1].faults = 5;
    let mut array = Array::new(marks);
    array.link_all();
    array.link(1, Some(3));
    array.give([0, 1, 3]);
    array.host.start(false).unwrap();
    array.push(300);
    array.drain();
    array.check();
    let level = array.host.read("FAULT_LEVEL").unwrap() & 0xffff;
    assert!(level > 5, "{level}");
    for _ in 0..level {
        assert_eq!(array.host.read("FAULT_INFO").unwrap() >> 13 & 7, 1);
        array.host.write("FAULT_POP", 1).unwrap();
    }
    assert_eq!(array.host.read("FAULT_INFO").unwrap(), 0);
}

/// After a reset in any cycle all cores have function 0 and are ready, no packet goes on, and a
/// chain runs as on a new array.
#[test]
fn reset_under_traffic() {
    let mut random = random();
    let mut array = Array::new(marks());
    for round in 0..6 {
        array.link_all();
        array.give([0, 1, random.gen_range(0..FUNCTIONS)]);
        array.host.start(true).unwrap();
        array.push(300);
        array.run(random.gen_range(1..4_000));
        array.give([2, 3, random.gen_range(0..FUNCTIONS)]);
        array.run(random.gen_range(1..40));
        let mut simulation = array.host.into_device();
        simulation.reset().unwrap();
        array = Array::on(simulation, marks());
        assert_eq!(array.host.read("CORE_READY").unwrap(), 7, "round {round}");
        assert_eq!(array.host.function_counts(1).unwrap(), Default::default(), "round {round}");
    }
    array.link_all();
    array.give([0, 1, 2]);
    array.link(2, None);
    array.host.start(true).unwrap();
    array.push(300);
    array.drain();
    array.check();
}
