//! Configurations of the whole array.

use hermes_rtl::config::Config;

/// Two cores with two warps of two threads each.
pub fn two_cores() -> Config {
    Config { cores: 2, lanes: 2, warps: 2, ..Config::preset("fpga").unwrap() }
}

/// The same with network functions.
pub fn with_functions() -> Config {
    Config { local_window: true, packet_ports: true, network_functions: 4, ..two_cores() }
}

/// The same with network functions whose packets branch.
pub fn with_branches() -> Config {
    Config { function_branches: true, ..with_functions() }
}

/// The same with load counters, and all that they count.
pub fn with_load_counters() -> Config {
    Config { load_counters: true, packet_ports: true, spawn_slots: 8, ..two_cores() }
}
