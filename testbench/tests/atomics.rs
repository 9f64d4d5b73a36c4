//! The array with atomic instructions: litmus tests, and random programs in lock-step with the
//! reference. `HERMES_SEED` repeats a run. All arrays and memories take long:
//! `cargo test -p hermes-testbench --test atomics -- --ignored`.

mod grid;

use std::sync::OnceLock;

use grid::{build, build_brief, memories};
use hermes_rtl::config::Config;
use hermes_testbench::cosim::MemoryOptions;
use hermes_testbench::fuzz::{generate, Bench, Features};
use hermes_testbench::litmus::{ContentionTrial, Trial, ATOMIC_FLAG, CONTENTIONS, RESERVATION_TIMES};
use hermes_testbench::test_seed;
use verilator_sys::ModelLibrary;

/// Two cores with the smallest caches that there are, in two banks, as an array with a network
/// interface has them.
fn array() -> &'static (Config, ModelLibrary) {
    static ARRAY: OnceLock<(Config, ModelLibrary)> = OnceLock::new();
    ARRAY.get_or_init(|| {
        let config = Config { lanes: 2, atomics: true, network: true, ..grid::config((1, 2, 16, 1, 16)) };
        let library = build(&config);
        (config, library)
    })
}

/// Quick memory and slow memory, with warps at once on a core.
fn quick_trials() -> [(MemoryOptions, u32); 2] {
    let [slow, quick, ..] = memories(test_seed());
    [(slow, 1), (quick, 4)]
}

/// However all threads of the array add to one word, no addition is lost; of a lock without `aq`
/// and `rl`, some are.
fn additions(library: &ModelLibrary, threads: usize, trials: &[(MemoryOptions, u32)]) {
    for contention in CONTENTIONS {
        let mut lost = 0;
        // With several warps on a core that spin, those that had their turn must wait for the one
        // with the lock.
        for (memory, mcw) in trials {
            let trial =
                ContentionTrial { order: true, threads, mcw: *mcw, failing: false, memory: memory.clone() };
            let outcome = contention.run(library, &trial).unwrap();
            println!("{}: {trial:?}: {} cycles", contention.name, outcome.cycles);
            assert!(outcome.complete(), "{}: {outcome:?}", contention.name);
            if contention.needs_order {
                let outcome = contention.run(library, &ContentionTrial { order: false, ..trial }).unwrap();
                println!("without order: {} of {}", outcome.last, outcome.found.len());
                lost += outcome.found.len() as u32 - outcome.last;
            }
        }
        assert!(!contention.needs_order || lost > 0, "{} never fails without order", contention.name);
    }
}

/// A flag that an atomic operation writes and reads needs `aq` and `rl` to bring the data with it.
fn flag(library: &ModelLibrary, instances: usize, trials: &[(MemoryOptions, u32)]) {
    let (mut broken, mut met) = (0, false);
    for (memory, mcw) in trials {
        let trial = Trial { fences: true, instances, delays: 63, mcw: *mcw, memory: memory.clone() };
        let outcomes = ATOMIC_FLAG.run(library, &trial).unwrap();
        println!("{trial:?}: {outcomes:?}");
        assert_eq!(ATOMIC_FLAG.forbidden_in(&outcomes), 0);
        met |= outcomes.len() > 1;
        let outcomes = ATOMIC_FLAG.run(library, &Trial { fences: false, ..trial }).unwrap();
        println!("without aq and rl: {outcomes:?}");
        broken += ATOMIC_FLAG.forbidden_in(&outcomes);
    }
    assert!(met, "the threads never meet, so that this shows nothing");
    assert!(broken > 0, "the flag never comes without its data");
}

fn programs(config: &Config, library: &ModelLibrary, programs: u64, memories: &[MemoryOptions]) {
    let features = Features { atomics: true, network: config.network, aes: false, ..Features::ALL };
    for memory in memories {
        let bench = Bench::new(library.clone(), config.clone(), memory.clone());
        for seed in memory.seed..memory.seed + programs {
            let program = generate(seed, features, config.lanes.ilog2(), 40, Bench::frame_bytes(), 300);
            let outcome =
                bench.run(&program, seed).unwrap_or_else(|e| panic!("{memory:?}: program {seed}: {e}"));
            assert!(outcome.compared > 300, "{memory:?}: program {seed}");
        }
    }
}

#[test]
fn no_addition_is_lost() {
    additions(&array().1, 300, &quick_trials());
}

#[test]
fn a_flag_brings_its_data() {
    flag(&array().1, 200, &quick_trials());
}

#[test]
fn random_programs_agree_with_the_reference() {
    let (config, library) = array();
    programs(config, library, 3, &memories(test_seed())[..2]);
}

/// A line that cannot be read is a fault of the lanes that wanted it, as with a load.
#[test]
fn bus_errors_are_faults() {
    let (_, library) = array();
    for contention in CONTENTIONS {
        let (memory, mcw) = quick_trials()[0].clone();
        let trial = ContentionTrial { order: true, threads: 30, mcw, failing: true, memory };
        let outcome = contention.run(library, &trial).unwrap();
        // Load access fault.
        assert!(outcome.found.iter().all(|verdict| *verdict == 0xc000_0005), "{outcome:x?}");
        let faulted: u32 = outcome.faults.iter().map(|fault| u32::from(fault.threads)).sum();
        assert!(faulted == 30 && outcome.faults.iter().all(|fault| fault.cause == 5), "{outcome:x?}");
    }
}

/// All of so many threads of an array change one word by `lr.w` and `sc.w`: in any 50,000 cycles
/// one is through.
fn one_is_through_in_50_000_cycles(config: &Config, library: &ModelLibrary, threads: usize) {
    let memory = MemoryOptions::default();
    let mcw = config.warps as u32;
    let trial = ContentionTrial { order: false, threads, mcw, failing: false, memory };
    let outcome = RESERVATION_TIMES.run(library, &trial).unwrap();
    println!("{threads} threads: {} cycles, {} at most between two", outcome.cycles, outcome.longest_gap());
    assert_eq!((outcome.found.len(), outcome.last as usize), (threads, threads));
    assert!(outcome.longest_gap() < 50_000, "{}", outcome.longest_gap());
}

#[test]
fn all_threads_with_a_reservation_of_one_line() {
    let config = Config { atomics: true, ..Config::preset("default").unwrap() };
    let threads = config.cores * config.lanes * config.warps;
    one_is_through_in_50_000_cycles(&config, &build_brief(&config), threads);
}

#[test]
#[ignore = "builds the array of the paper and takes minutes"]
fn a_thousand_threads_with_a_reservation_of_one_line() {
    let config = Config { atomics: true, ..Config::preset("paper").unwrap() };
    one_is_through_in_50_000_cycles(&config, &build(&config), 1024);
}

/// Every array of the grid with every memory.
#[test]
#[ignore = "builds 9 arrays and takes most of an hour"]
fn the_whole_grid_keeps_operations_whole_and_in_order() {
    let seed = test_seed();
    for sizes in grid::SIZES {
        println!("{sizes:?}");
        let config = Config { atomics: true, ..grid::config(sizes) };
        let library = build(&config);
        additions(&library, 1000, &grid::trials(seed));
        flag(&library, 1000, &grid::trials(seed));
        programs(&config, &library, 10, &memories(seed));
    }
}
