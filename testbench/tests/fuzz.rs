//! Random programs on the real array: they agree with the reference, and a fault of the array's
//! surroundings is found and shrunk. `HERMES_SEED` repeats a run.

use std::sync::OnceLock;

use hermes_rtl::config::Config;
use hermes_testbench::cosim::{Latency, MemoryOptions};
use hermes_testbench::fuzz::{generate, shrink, Bench, Case, Coverage, Failure, Features};
use hermes_testbench::model;
use hermes_testbench::test_seed;
use verilator_sys::ModelLibrary;

/// The L2 is that of a board: one way, and a cycle for the look-up; so are the words at once.
fn config() -> Config {
    let default = Config::preset("default").unwrap();
    Config { cores: 2, lanes: 4, warps: 4, l2_ways: 1, l2_look_up_cycle: true, line_words: 1, ..default }
}

fn library() -> ModelLibrary {
    library_of(&config())
}

fn library_of(config: &Config) -> ModelLibrary {
    let design = hermes_rtl::top::emit_top(config).unwrap();
    model::checked(&design).unwrap()
}

/// The same with network interface, thread spawner, and all instructions, in a local window.
fn whole() -> Config {
    let units =
        Config { atomics: true, compare_and_swap: true, network: true, local_window: true, ..config() };
    Config { aes: true, command_threads: 1, spawn_slots: 8, trace: true, ..units }
}

/// What programs on [`whole`] may use.
const OF_WHOLE: Features =
    Features { atomics: true, compare_and_swap: true, network: true, local_window: true, ..Features::ALL };

/// The model of [`whole`].
fn library_of_whole() -> &'static ModelLibrary {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| library_of(&whole()))
}

fn case(seed: u64, features: Features) -> Case {
    generate(seed, features, 2, 40, Bench::frame_bytes(), 300)
}

#[test]
fn programs_agree_with_the_reference() {
    let first = test_seed();
    let memory =
        MemoryOptions { latency: Latency::Random(1, 40), stall_percent: 20, ..MemoryOptions::default() };
    let bench = Bench::new(library(), config(), memory);
    for seed in first..first + 6 {
        let features = Features { embedded: seed % 2 == 0, faults: false, ..Features::RV32I };
        let outcome = bench.run(&case(seed, features), seed).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(outcome.warp_instructions > 300 && outcome.cycles > outcome.warp_instructions / 2);
    }
}

/// With a network interface warps look at words and wait for writes into their lines: every
/// instruction that retires is that of the reference.
#[test]
fn waits_for_writes_agree_with_the_reference() {
    let features = OF_WHOLE;
    let first = test_seed();
    let memory = MemoryOptions { latency: Latency::Random(1, 40), ..MemoryOptions::default() };
    let bench = Bench::new(library_of_whole().clone(), whole(), memory);
    let mut coverage = Coverage::default();
    for seed in first..first + 6 {
        let outcome = bench.run(&case(seed, features), seed).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(outcome.compared > 0);
        coverage.merge(&outcome.coverage);
    }
    let counts = coverage.to_json(&features);
    let counts = counts["instructions"].as_array().unwrap();
    for name in ["wrs.sto", "wrs.nto"] {
        let count = counts.iter().find(|count| count["name"] == name).unwrap();
        assert!(count["converged"].as_u64().unwrap() > 0, "{name}: {count}");
    }
}

/// With a thread spawner lanes that fault go to a handler, which skips the instruction, ends its
/// threads, or faults itself: every instruction that retires is that of the reference, in both
/// register classes, with stacks in memory and in the local window, with a watchdog too.
#[test]
fn traps_agree_with_the_reference() {
    let without = Config { network: false, compare_and_swap: false, local_window: false, ..whole() };
    let of_without = Features { atomics: true, ..Features::ALL };
    let design = hermes_rtl::top::emit_top(&without).unwrap();
    let arrays = [
        (model::brief(&design).unwrap(), without, of_without),
        (library_of_whole().clone(), whole(), OF_WHOLE),
    ];
    let memory = || MemoryOptions { latency: Latency::Random(1, 40), ..MemoryOptions::default() };
    let first = test_seed();
    let mut trapped = 0;
    for (library, config, features) in arrays {
        let mut bench = Bench::new(library, config, memory());
        for seed in first..first + 6 {
            let embedded = seed % 2 == 0;
            let features = Features { embedded, traps: true, ..features };
            bench.set_watchdog(if seed % 4 == 3 { 4_000 } else { 0 });
            let outcome =
                bench.run(&case(seed, features), seed).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert!(outcome.compared > 0);
            trapped += outcome.trapped;
        }
    }
    println!("{trapped} threads trapped");
    assert!(trapped > 100, "{trapped}");
}

/// The bus answers fetches of one line of code with errors: its threads fault, which the reference
/// does not expect.
#[test]
fn a_difference_is_found_and_shrunk() {
    let failing = vec![(0xc0, 0xff)];
    let memory = MemoryOptions { latency: Latency::Fixed(3), failing, ..MemoryOptions::default() };
    let bench = Bench::new(library(), config(), memory);
    let features = Features { faults: false, ..Features::RV32I };
    let case = case(1, features);
    let failure = bench.run(&case, 1).unwrap_err();
    assert!(matches!(failure, Failure::Result(_)), "{failure}");
    let small = shrink(&case, 200, |candidate| bench.run(candidate, 1).is_err_and(|e| e.is_like(&failure)));
    assert!(small.program.size() * 4 < case.program.size(), "{:?}", small.program);
    assert_eq!(small.frames.len(), 1);
    assert!(bench.run(&small, 1).is_err());
}
