//! Harts that do not let each other rest make progress, and code that changes under who executes it
//! is executed whole: the old or the new.

use hermes_testbench::cosim::{Latency, MemoryOptions};

use super::array::{Array, HARTS};

const PROGRAM: &str = include_str!("programs/progress.S");

/// With hart h at its entry of `entries`.
fn start(entries: &[&str], memory: MemoryOptions) -> Array {
    let mut array = Array::new(PROGRAM, memory);
    let mut running = 0;
    for (hart, entry) in entries.iter().enumerate() {
        let entry = array.label(entry);
        array.host.write("CP_ENTRY", entry).unwrap();
        running |= 1 << hart;
        array.set_harts(running);
        // It has taken its entry.
        array.run(20);
    }
    array
}

/// A hart reads a line to which the three others store without pause.
#[test]
fn a_line_to_which_others_store_without_pause() {
    const CYCLES: u64 = 30_000;
    for entry in ["loads", "loads_uncached"] {
        for latency in [Latency::Fixed(1), Latency::Fixed(100)] {
            let memory = MemoryOptions { latency, ..MemoryOptions::default() };
            let mut array = start(&[entry, "stores", "stores", "stores"], memory);
            array.run(CYCLES);
            let before = array.host.device_mut().cycle();
            array.hold_all();
            array.host.clean_caches().unwrap();
            let count = array.word("count", 0);
            println!("{entry}, {latency:?}: {count} loads of the line in {before} cycles");
            assert!(u64::from(count) > CYCLES / 400, "{entry}, {latency:?}: {count}");
            assert!(array.word("line", 0) > 10, "the others store");
        }
    }
}

/// The word that a hart executes is changed by another one while it waits for its answer, a load,
/// an atomic operation, a division: it gets a value of the old word or of the new one, never one of
/// the other's.
#[test]
fn code_that_changes_under_a_waiting_load() {
    for (latency, seed) in [(Latency::Fixed(1), 1), (Latency::Random(1, 80), 2), (Latency::Fixed(60), 3)] {
        let memory = MemoryOptions { latency, seed, ..MemoryOptions::default() };
        let mut array = start(&["executes", "patches", "stores", "loads"][..HARTS as usize - 1], memory);
        array.run(150_000);
        assert_eq!(array.stopped(), 0, "{latency:?}");
        array.hold_all();
        array.host.clean_caches().unwrap();
        let seen = [0, 1, 2].map(|value| array.word("seen", value));
        println!("{latency:?}: {seen:?}");
        assert_eq!(array.word("wrong", 0), 0);
        assert!(seen.iter().all(|&count| count > 20), "{latency:?}: {seen:?}");
    }
}

/// Harts that share devices, atomic operations and the divider go on while one of them is stopped
/// by the host, or held, in whatever it waits for.
#[test]
fn harts_go_on_without_one_that_waited() {
    let memory = MemoryOptions { latency: Latency::Fixed(10), ..MemoryOptions::default() };
    let mut array = start(&["shares"; HARTS as usize], memory);
    array.run(3_000);
    let all = (1 << HARTS) - 1;
    let mut counts = [0; HARTS as usize];
    for moment in 0..48u32 {
        let victim = moment % HARTS;
        array.run(u64::from(17 * moment % 101));
        let stops = moment % 3 > 0;
        if stops {
            array.host.write("CP_STEP", 1 << (16 + victim)).unwrap();
        } else {
            array.set_harts(all & !(1 << victim));
        }
        array.run(1_500);
        array.host.clean_caches().unwrap();
        let now: [u32; HARTS as usize] = std::array::from_fn(|hart| array.word("seen", hart as u32));
        for hart in (0..HARTS as usize).filter(|hart| *hart != victim as usize) {
            let done = now[hart] - counts[hart];
            assert!(done > 2, "{moment}: hart {victim} waits, hart {hart} did {done} rounds");
        }
        counts = now;
        if stops {
            array.host.write("CP_STEP", 1 << (8 + victim)).unwrap();
        } else {
            let entry = array.label("shares");
            array.host.write("CP_ENTRY", entry).unwrap();
            array.set_harts(all);
        }
    }
    println!("{counts:?}");
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(2 * least > *most, "{counts:?}");
}
