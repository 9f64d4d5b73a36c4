//! The arrays and the memories on which tests of the memory system run, and arrays that tests of
//! several programs share, so that each is built once.

use hermes_hdl::emit::Design;
use hermes_rtl::config::Config;
use hermes_testbench::cosim::{DramTiming, Latency, MemoryOptions};
use hermes_testbench::model;
use verilator_sys::ModelLibrary;

/// Channels, L2 banks, lines and ways of a bank, and lines of an L1: the smallest, and what is
/// worth a build besides.
pub const SIZES: [(usize, usize, usize, usize, usize); 9] = [
    (1, 1, 16, 1, 16),
    (1, 1, 64, 2, 32),
    (1, 2, 256, 2, 64),
    (1, 8, 16, 4, 128),
    (2, 2, 16, 2, 1024),
    (2, 4, 64, 1, 16),
    (4, 4, 16, 1, 64),
    (4, 8, 1024, 4, 512),
    (4, 8, 16, 1, 16),
];

/// An array of 2 cores with caches of these sizes and the retire trace for lock-step. Banks of 64
/// lines look up in a cycle of their own, and their cores use one word of a line at a time.
pub fn config(
    (channels, l2_banks, l2_bank_lines, l2_ways, l1_lines): (usize, usize, usize, usize, usize),
) -> Config {
    let default = Config::preset("default").unwrap();
    let sizes = Config { channels, l2_banks, l2_bank_lines, l2_ways, l1_lines, ..default };
    let of_board = l2_bank_lines == 64;
    let line_words = if of_board { 1 } else { sizes.line_words };
    let sizes = Config { l2_look_up_cycle: of_board, line_words, ..sizes };
    Config { cores: 2, lanes: 4, warps: 4, trace: true, ..sizes }
}

/// The array of `packet_ports` and of one test of `reset_values`, which is built once for both:
/// with caches so small that frames leave them before they are sent.
#[allow(dead_code)]
pub fn with_packet_ports() -> Config {
    let default = Config::preset("default").unwrap();
    let sizes = Config { l2_banks: 2, l2_bank_lines: 16, l1_lines: 16, ..default };
    Config { cores: 2, lanes: 4, warps: 4, packet_ports: true, load_counters: true, ..sizes }
}

/// The array of `harts` and of some tests of `command`, which is built once for both: four harts
/// with data caches, two cores with two lanes each, a small L2.
#[allow(dead_code)]
pub fn four_harts() -> Config {
    Config {
        cores: 2,
        lanes: 2,
        warps: 4,
        atomics: true,
        compare_and_swap: true,
        command_threads: 4,
        command_cache_lines: 16,
        uli_channels: 2,
        spawn_slots: 16,
        l1_lines: 16,
        l2_banks: 2,
        l2_bank_lines: 32,
        trace: true,
        ..Config::preset("fpga").unwrap()
    }
}

/// The array of `command` and of one test of `judges`: a hart with all options and the smallest L2,
/// so that lines leave it.
#[allow(dead_code)]
pub fn one_hart() -> Config {
    Config {
        cores: 1,
        lanes: 1,
        warps: 2,
        atomics: true,
        compare_and_swap: true,
        command_threads: 1,
        command_cache_lines: 16,
        uli_channels: 2,
        instruction_cache_lines: 32,
        l2_banks: 2,
        l2_bank_lines: 32,
        trace: true,
        ..Config::preset("fpga").unwrap()
    }
}

/// The array of `host_link` and `integration_page`: what a host sees of a command processor.
#[allow(dead_code)]
pub fn seen_by_host() -> Config {
    Config { cores: 1, lanes: 1, warps: 8, command_threads: 1, ..Config::preset("fpga").unwrap() }
}

/// The array of `array_stress` and of one test of `functions`.
#[allow(dead_code)]
pub fn two_cores() -> Config {
    Config { cores: 2, lanes: 4, warps: 4, ..Config::preset("default").unwrap() }
}

/// The array of `abuse` and of some tests of `memory_system`: the smallest caches that there are,
/// behind two channels, and all instructions.
#[allow(dead_code)]
pub fn smallest_caches() -> Config {
    Config { aes: true, atomics: true, ..config((2, 2, 16, 1, 16)) }
}

fn design(config: &Config) -> Design {
    config.validate().unwrap();
    hermes_rtl::top::emit_top(config).unwrap()
}

pub fn build(config: &Config) -> ModelLibrary {
    model::checked(&design(config)).unwrap()
}

/// The same for short runs, which not all tests have.
#[allow(dead_code)]
pub fn build_brief(config: &Config) -> ModelLibrary {
    model::brief(&design(config)).unwrap()
}

/// Memories from quick to slow, in order and not.
pub fn memories(seed: u64) -> [MemoryOptions; 4] {
    let memory = |latency, stall_percent| MemoryOptions { latency, stall_percent, seed, failing: Vec::new() };
    [
        memory(Latency::Random(1, 120), 30),
        memory(Latency::Fixed(1), 0),
        memory(Latency::Fixed(200), 60),
        memory(Latency::Dram(DramTiming { queue: 4, ..DramTiming::default() }), 10),
    ]
}

/// Every memory with one warp at once on a core, and with four.
pub fn trials(seed: u64) -> Vec<(MemoryOptions, u32)> {
    memories(seed).into_iter().flat_map(|memory| [(memory.clone(), 1), (memory, 4)]).collect()
}
