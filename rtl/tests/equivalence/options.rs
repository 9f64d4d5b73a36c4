//! Options of cores and control paths that several units are compared with.

use hermes_rtl::config::{ControlOptions, CoreOptions};

/// A data cache that random addresses hit.
pub fn small_cache() -> CoreOptions {
    CoreOptions { l1_lines: 4, ..CoreOptions::default() }
}

/// One word of a line at a time.
pub fn by_word() -> CoreOptions {
    CoreOptions { line_words: 1, ..CoreOptions::default() }
}

/// With a network interface and everything that needs atomic instructions.
pub fn network() -> CoreOptions {
    CoreOptions { atomics: true, compare_and_swap: true, network: true, ..CoreOptions::default() }
}

/// With network functions.
pub fn functions() -> CoreOptions {
    CoreOptions { local_window: true, network_functions: 2, ..CoreOptions::default() }
}

/// A control path with a thread spawner.
pub fn spawned(cores: usize, lanes: usize, warps: usize) -> ControlOptions {
    ControlOptions { spawn_slots: 8, ..ControlOptions::of(cores, lanes, warps) }
}
