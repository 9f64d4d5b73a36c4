//! The array with atomic instructions: litmus tests, and random programs in lock-step with the reference.
//! `HERMES_SEED` repeats a run.

use std::sync::OnceLock;

use hermes_rtl::config::Config;
use hermes_testbench::cosim::{Latency, MemoryOptions};
use hermes_testbench::fuzz::{generate, Bench, Features};
use hermes_testbench::litmus::{ContentionTrial, Trial, ATOMIC_FLAG, CONTENTIONS};
use verilator_sys::{Model, ModelLibrary, ModelOptions};

fn seed() -> u64 {
    let seed = std::env::var("HERMES_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    println!("HERMES_SEED={seed}");
    seed
}

/// Two cores with the smallest caches that there are, in two banks.
fn array() -> &'static (Config, ModelLibrary) {
    static ARRAY: OnceLock<(Config, ModelLibrary)> = OnceLock::new();
    ARRAY.get_or_init(|| {
        let default = Config::preset("default").unwrap();
        let sizes = Config { l2_banks: 2, l2_bank_lines: 16, l2_ways: 1, l1_lines: 16, ..default };
        let config = Config { cores: 2, lanes: 2, warps: 4, trace: true, atomics: true, ..sizes };
        config.validate().unwrap();
        let design = hermes_rtl::top::emit_top(&config).unwrap();
        let library = Model::build(&design.verilog(), &ModelOptions::new(&design.top)).unwrap();
        (config, library)
    })
}

/// Quick memory and slow memory, with warps at once on a core.
fn memories() -> [(MemoryOptions, u32); 2] {
    let seed = seed();
    let memory = |latency, stall_percent| MemoryOptions { latency, stall_percent, seed, failing: Vec::new() };
    [(memory(Latency::Random(1, 120), 30), 1), (memory(Latency::Fixed(1), 0), 4)]
}

/// However all threads of the array add to one word, no addition is lost; of a lock without `aq` and `rl`, some are.
#[test]
fn no_addition_is_lost() {
    let (_, library) = array();
    for contention in CONTENTIONS {
        let mut lost = 0;
        // With several warps on a core that spin, those that had their turn must wait for the one with the lock.
        for (memory, mcw) in memories() {
            let trial = ContentionTrial { order: true, threads: 300, mcw, failing: false, memory };
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
#[test]
fn a_flag_brings_its_data() {
    let (_, library) = array();
    let mut broken = 0;
    for (memory, mcw) in memories() {
        let trial = Trial { fences: true, instances: 200, delays: 63, mcw, memory };
        let outcomes = ATOMIC_FLAG.run(library, &trial).unwrap();
        println!("{trial:?}: {outcomes:?}");
        assert_eq!(ATOMIC_FLAG.forbidden_in(&outcomes), 0);
        assert!(outcomes.len() > 1);
        let outcomes = ATOMIC_FLAG.run(library, &Trial { fences: false, ..trial }).unwrap();
        println!("without aq and rl: {outcomes:?}");
        broken += ATOMIC_FLAG.forbidden_in(&outcomes);
    }
    assert!(broken > 0, "the flag never comes without its data");
}

/// A line that cannot be read is a fault of the lanes that wanted it, as with a load.
#[test]
fn bus_errors_are_faults() {
    let (_, library) = array();
    for contention in CONTENTIONS {
        let (memory, mcw) = memories()[0].clone();
        let trial = ContentionTrial { order: true, threads: 30, mcw, failing: true, memory };
        let outcome = contention.run(library, &trial).unwrap();
        // Load access fault.
        assert!(outcome.found.iter().all(|verdict| *verdict == 0xc000_0005), "{outcome:x?}");
        let faulted: u32 = outcome.faults.iter().map(|fault| u32::from(fault.threads)).sum();
        assert!(faulted == 30 && outcome.faults.iter().all(|fault| fault.cause == 5), "{outcome:x?}");
    }
}

#[test]
fn random_programs_agree_with_the_reference() {
    let (config, library) = array();
    let features = Features { atomics: true, aes: false, ..Features::ALL };
    let first = seed();
    for (memory, _) in memories() {
        let bench = Bench::new(library.clone(), config.clone(), memory);
        for seed in first..first + 3 {
            let program = generate(seed, features, config.lanes.ilog2(), 40, Bench::frame_bytes(), 300);
            let outcome = bench.run(&program, seed).unwrap_or_else(|e| panic!("program {seed}: {e}"));
            assert!(outcome.compared > 300, "program {seed}");
        }
    }
}
