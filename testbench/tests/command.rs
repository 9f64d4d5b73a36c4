//! Programs on the command processor of a Verilated array: self-checking ones in assembly, one in
//! C, and random ones, all in lock-step with the reference simulator. `HERMES_SEED` repeats a run.

// Of the grid only the arrays of these tests.
#[allow(dead_code)]
mod grid;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use grid::{build, build_brief, one_hart};
use hermes_rtl::config::Config;
use hermes_testbench::command::{CommandBench, CommandError, Seen};
use hermes_testbench::cosim::{DramTiming, Host, Latency, MemoryOptions, Simulation};
use hermes_testbench::firmware::build_program;
use hermes_testbench::harts::machine::{machine_program, Abilities, Style};
use hermes_testbench::harts::random_program;
use hermes_testbench::iss::Cause;
use hermes_testbench::kernel::Executable;
use hermes_testbench::test_seed;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use verilator_sys::ModelLibrary;

/// Cycles that a program may take.
const LIMIT: u64 = 3_000_000;

/// What the harts of this array can do.
fn present() -> Abilities {
    Abilities::of(&one_hart())
}

fn array() -> &'static ModelLibrary {
    static ARRAY: OnceLock<ModelLibrary> = OnceLock::new();
    ARRAY.get_or_init(|| build(&one_hart()))
}

fn four_harts() -> &'static ModelLibrary {
    static ARRAY: OnceLock<ModelLibrary> = OnceLock::new();
    ARRAY.get_or_init(|| build(&grid::four_harts()))
}

fn memory(latency: Latency, stall_percent: u8, seed: u64) -> MemoryOptions {
    MemoryOptions { latency, stall_percent, seed, failing: Vec::new() }
}

/// A host of a new array.
fn host(library: &ModelLibrary, memory: MemoryOptions) -> Host<Simulation> {
    Host::new(Simulation::new(library.instantiate().unwrap(), 1 << 24, memory).unwrap()).unwrap()
}

/// Random programs of about `blocks` blocks, one for each of these harts, hart 0 first.
fn programs(seed: u64, style: Style, harts: u32, blocks: usize) -> Vec<Executable> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..harts).map(|hart| machine_program(&mut random, blocks, style.of_hart(hart)).executable).collect()
}

fn tests_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-asm/firmware/tests")
}

/// a0 of a program that ended at its `ebreak`: what `start.S` stored before.
fn exit_value(bench: &CommandBench, path: &Path) -> (u32, hermes_testbench::command::Ended) {
    let program = build_program(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let ended = bench.run(&program, LIMIT).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let fault = ended.fault.expect("the program ended");
    assert_eq!(fault.cause, Cause::Breakpoint, "{}: {fault:x?}", path.display());
    let address = |name: &str| {
        program.symbol(name).unwrap_or_else(|_| panic!("{}: no symbol {name}", path.display())).address
    };
    (ended.memory.read_u32(address("exit_value")).unwrap(), ended)
}

#[test]
fn self_checking_programs() {
    let bench =
        CommandBench::new(array().clone(), memory(Latency::Random(1, 40), 20, test_seed()), present());
    let mut count = 0;
    for entry in std::fs::read_dir(tests_folder()).unwrap() {
        let path = entry.unwrap().path();
        let (value, ended) = exit_value(&bench, &path);
        println!("{}: {} instructions, {} cycles", path.display(), ended.seen.instructions, ended.cycles);
        assert_eq!(value, 0, "{}: the check with this number fails", path.display());
        assert!(ended.seen.instructions > 100, "{}", path.display());
        count += 1;
    }
    assert_eq!(count, 8);
}

/// What it leaves in memory was computed by the same source on another machine.
#[test]
fn a_program_in_c() {
    for latency in [Latency::Fixed(1), Latency::Fixed(100)] {
        let bench = CommandBench::new(array().clone(), memory(latency, 0, test_seed()), present());
        let path = tests_folder().join("sort.c");
        let program = build_program(&path).unwrap();
        let (value, ended) = exit_value(&bench, &path);
        assert_eq!(value, 0);
        let result = program.symbol("result").unwrap().address;
        let words: Vec<u32> = (0..4).map(|i| ended.memory.read_u32(result + 4 * i).unwrap()).collect();
        assert_eq!(words, SORT_RESULT);
        println!("{} instructions, {} cycles", ended.seen.instructions, ended.cycles);
    }
}

const SORT_RESULT: [u32; 4] = [59, 60, 0xe30b_5a5c, 0x60d3_2043];

#[test]
fn random_programs() {
    let seed = test_seed();
    let memories = [
        memory(Latency::Random(1, 60), 20, seed),
        memory(Latency::Fixed(1), 0, seed),
        memory(Latency::Dram(DramTiming { queue: 4, ..DramTiming::default() }), 10, seed),
    ];
    let (mut instructions, mut cycles, mut causes) = (0, 0, std::collections::BTreeSet::new());
    for memory in &memories {
        // One program after the other on the same array: nothing of one is left in the next.
        let bench = CommandBench::new(array().clone(), memory.clone(), present());
        let mut host = host(array(), memory.clone());
        for number in 0..8 {
            let mut random = ChaCha8Rng::seed_from_u64(seed << 8 | number);
            let program = random_program(&mut random, 120);
            let ended = bench.run_on(&mut host, &program, LIMIT);
            let ended = ended.unwrap_or_else(|e| panic!("{memory:?}: program {number}: {e}"));
            instructions += ended.seen.instructions;
            cycles += ended.cycles;
            causes.insert(ended.fault.unwrap().cause);
        }
    }
    println!("{instructions} instructions, {cycles} cycles, ended by {causes:?}");
    assert!(instructions > 100_000, "{instructions}");
    assert!(causes.len() > 3, "{causes:?}");
}

/// A program that stays in a loop on hart 1, and ends on the others.
const STAYS_ON_HART_1: &str = "
    .globl main, here
main:
    .word 0xf14022f3 # csrr t0, mhartid
    addi  t0, t0, -1
    beqz  t0, here
    ebreak
here:
    j     here
";

#[test]
fn a_hart_that_does_not_stop_is_named_with_its_pc() {
    let memory = memory(Latency::Fixed(1), 0, 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program.S");
    std::fs::write(&path, STAYS_ON_HART_1).unwrap();
    let programs = [(); 4].map(|()| build_program(&path).unwrap());
    let abilities = Abilities::of(&grid::four_harts());
    let bench = CommandBench::new(four_harts().clone(), memory.clone(), abilities);
    let mut host = host(four_harts(), memory);
    let error = bench.run_harts_on(&mut host, &programs, 20_000).err().expect("hart 1 does not stop");
    assert!(matches!(error, CommandError::Limit { .. }), "{error}");
    let here = programs[1].symbol("here").unwrap().address;
    assert_eq!(error.to_string(), format!("not stopped within 20000 cycles: hart 1 at {here:#010x}"));
}

/// Random programs in machine mode on four harts at a time, each in lock-step with its reference.
#[test]
fn random_programs_on_four_harts() {
    random_programs_on_harts(&grid::four_harts(), four_harts());
}

/// As on four; each hart has four stores outstanding at most.
#[test]
#[ignore = "minutes: builds another array"]
fn random_programs_on_eight_harts() {
    let config = Config { command_threads: 8, ..one_hart() };
    random_programs_on_harts(&config, &build(&config));
}

fn random_programs_on_harts(config: &Config, library: &ModelLibrary) {
    let seed = test_seed();
    let harts = config.command_threads as u32;
    let (abilities, style) = (Abilities::of(config), Style::of(config));
    let mut total = Seen::default();
    for memory in [memory(Latency::Random(1, 60), 20, seed), memory(Latency::Fixed(1), 0, seed)] {
        let bench = CommandBench::new(library.clone(), memory.clone(), abilities).going_on_at_break();
        let mut host = host(library, memory);
        for number in 0..3 {
            let programs = programs(seed << 8 | number, style, harts, 120);
            let ended = bench.run_harts_on(&mut host, &programs, LIMIT);
            let ended = ended.unwrap_or_else(|e| panic!("programs {number}: {e}"));
            total += ended.seen;
        }
    }
    println!("{total:?}");
    assert!(total.instructions > 50_000 && total.exceptions > 1_000, "{total:?}");
    assert!(total.interrupts > 100 && total.user_interrupts > 100, "{total:?}");
    assert!(total.conditional > 100 && total.refused < 20, "{total:?}");
}

/// Programs of eight harts whose code lies in the same sets of a direct-mapped instruction cache.
/// Once, harts that were refused a device fetched without pause, and kept the hart whose turn it
/// was from its line for ever, with these seeds: lines were fetched in no order.
#[test]
fn harts_that_are_refused_a_device_let_others_fetch() {
    let config = Config {
        lanes: 1,
        warps: 2,
        command_threads: 8,
        command_cache_lines: 16,
        uli_channels: 2,
        atomics: true,
        trace: true,
        ..Config::preset("fpga").unwrap()
    };
    let library = build_brief(&config);
    for seed in [1, 11] {
        let memory = memory(Latency::Random(1, 60), 10, seed);
        let bench = CommandBench::new(library.clone(), memory.clone(), Abilities::of(&config));
        let mut host = host(&library, memory);
        let programs = programs(seed, Style::of(&config), 8, 150);
        let ended = bench.going_on_at_break().run_harts_on(&mut host, &programs, LIMIT);
        ended.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
}

/// A debugger stops harts at random, steps them, looks at their registers and lets them go on: each
/// instruction is that of the reference, and so are the registers after a step.
#[test]
fn a_debugger_changes_nothing() {
    let seed = test_seed();
    let config = grid::four_harts();
    let (abilities, style) = (Abilities::of(&config), Style::of(&config));
    let (mut total, mut steps) = (Seen::default(), 0);
    let memory = memory(Latency::Random(1, 60), 20, seed);
    let mut host = host(four_harts(), memory.clone());
    for number in 0..3 {
        let bench = CommandBench::new(four_harts().clone(), memory.clone(), abilities);
        let bench = bench.going_on_at_break().debugged(seed << 8 | number);
        let programs = programs(seed << 8 | number, style, 4, 60);
        let ended = bench.run_harts_on(&mut host, &programs, LIMIT);
        let ended = ended.unwrap_or_else(|e| panic!("programs {number}: {e}"));
        total += ended.seen;
        steps += ended.steps;
    }
    println!("{steps} steps, {total:?}");
    assert!(steps > 1_000 && total.instructions > 10_000, "{steps} steps, {total:?}");
    assert!(total.interrupts > 30 && total.user_interrupts > 30, "{total:?}");
}

/// Random programs in machine mode, which end by a lock-up: exceptions, CSRs, `mret`, user-level
/// interrupts.
#[test]
fn random_programs_in_machine_mode() {
    let seed = test_seed();
    let config = one_hart();
    let (abilities, style) = (Abilities::of(&config), Style::of(&config));
    let mut total = Seen::default();
    for memory in [memory(Latency::Random(1, 60), 20, seed), memory(Latency::Fixed(1), 0, seed)] {
        let bench = CommandBench::new(array().clone(), memory.clone(), abilities).going_on_at_break();
        let mut host = host(array(), memory);
        for number in 0..8 {
            let mut random = ChaCha8Rng::seed_from_u64(seed << 8 | number);
            let program = machine_program(&mut random, 120, style);
            let ended = bench.run_on(&mut host, &program.executable, LIMIT);
            let ended = ended.unwrap_or_else(|e| panic!("program {number}: {e}"));
            assert_eq!(ended.fault.unwrap().cause, Cause::EnvironmentCall, "program {number}");
            total += ended.seen;
        }
    }
    println!("{total:?}");
    assert!(total.instructions > 33_000 && total.exceptions > 660, "{total:?}");
    assert!(total.interrupts > 66 && total.user_interrupts > 66, "{total:?}");
    assert!(total.external > 6 && total.events > 20, "{total:?}");
}
