//! The emitted Verilog in an event-driven, four-state simulator (Icarus Verilog), from the emitted
//! files alone: dec-ttl through the AXI memory and through the packet ports, with pauses on every
//! channel. All memories and registers are X until reset or written; the ends of the buses in
//! `verilog/` end the simulation at the first X that the array hands them. `HERMES_SEED` repeats a
//! run. All presets, and pauses of up to 85 percent:
//! `cargo test -p hermes-testbench --test event_driven -- --ignored`.

mod bench;
mod recorder;

use bench::{Outcome, Through};
use hermes_rtl::config::Config;
use hermes_testbench::test_seed;

fn preset(name: &str) -> Config {
    Config::preset(name).unwrap()
}

/// Runs packets through the array; all must come out right.
fn check_app(app: &str, config: Config, through: Through, packets: usize, pause: u32) {
    let Outcome { forwarded, cycles } = bench::run(&config, app, through, packets, pause, test_seed());
    println!("{app}, {}: {packets} packets, {forwarded} forwarded, {cycles} cycles", config.preset);
    assert!(forwarded > packets / 2 && forwarded < packets, "{forwarded} of {packets} packets forwarded");
}

fn check(config: Config, through: Through, packets: usize, pause: u32) {
    check_app("dec-ttl", config, through, packets, pause);
}

#[test]
fn default_through_the_memory() {
    check(preset("default"), Through::Memory, 64, 0);
}

#[test]
fn default_through_the_memory_with_pauses() {
    check(preset("default"), Through::Memory, 24, 50);
}

#[test]
fn default_through_the_ports() {
    check(Config { packet_ports: true, ..preset("default") }, Through::Ports, 32, 30);
}

/// All options, several channels, and caches so small that lines leave them.
#[test]
fn all_options_with_small_caches() {
    let default = preset("default");
    let small =
        Config { l2_banks: 4, l2_bank_lines: 16, l1_lines: 16, instruction_cache_lines: 16, ..default };
    let all = Config { channels: 4, aes: true, atomics: true, oldest_first: true, trace: true, ..small };
    check_app("check-ip-header", all, Through::Memory, 64, 20);
}

#[test]
#[ignore = "minutes: all presets, with pauses of up to 85 percent"]
fn every_preset() {
    for name in ["default", "fpga", "paper"] {
        for pause in [0, 50, 85] {
            for app in ["dec-ttl", "check-ip-header"] {
                check_app(app, preset(name), Through::Memory, 64, pause);
                check_app(app, Config { packet_ports: true, ..preset(name) }, Through::Ports, 64, pause);
            }
        }
    }
}
