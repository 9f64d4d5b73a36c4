//! Several nodes and a switch: what they put into each other's memories is there once, over good
//! and bad links, for any number of threads.

mod held;
mod programs;
mod soak;
mod stops;

use std::sync::OnceLock;

use hermes_rtl::config::Config;
use hermes_testbench::model;
use verilator_sys::ModelLibrary;

/// Nodes of one core with four lanes, packet ring and network interface.
fn library() -> &'static ModelLibrary {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let default = Config::preset("default").unwrap();
        let caches = Config { l2_banks: 2, l2_bank_lines: 16, l1_lines: 16, ..default };
        let config = Config { cores: 1, lanes: 4, warps: 4, atomics: true, network: true, ..caches };
        let design = hermes_rtl::top::emit_top(&config).unwrap();
        model::checked(&design).unwrap()
    })
}
