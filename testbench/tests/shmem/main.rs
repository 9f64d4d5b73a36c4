//! Kernels that put into the memories of other nodes by their command queues (docs/shmem.md):
//! kernel, hart, wire, kernel. In both modes.

/// A test for each mode, in a module of its name; that of mode `paper` is ignored for a reason that
/// stands before it.
macro_rules! in_both_modes {
    ($($(#[paper_ignored = $reason:tt])? fn $name:ident($mode:ident) $body:block)*) => {
        $(fn $name($mode: hermes_testbench::cluster::QueueMode) $body)*

        mod queues {
            $(#[test] fn $name() { super::$name(hermes_testbench::cluster::QueueMode::Queues); })*
        }

        mod paper {
            $(#[test] $(#[ignore = $reason])? fn $name() {
                super::$name(hermes_testbench::cluster::QueueMode::Paper);
            })*
        }
    };
}

mod again;
mod asleep;
mod assembly;
mod atomics;
mod backlog;
mod counted;
mod domains;
mod entries;
mod errors;
mod events;
mod faults;
mod gets;
mod inline;
mod kills;
mod many;
mod names;
mod off;
mod ping;
mod prepared;
mod puts;
mod reset;
mod signals;
mod values;

#[path = "../small_node/mod.rs"]
mod small_node;

use std::path::Path;
use std::sync::OnceLock;

use hermes_rtl::config::Config;
use hermes_testbench::cluster::{
    self, ClusterOptions, ClusterResult, LinkOptions, QueueArea, QueueMode, QueueProgram, QueueReport,
};
use hermes_testbench::kernel::RegisterClass;
use rand::{RngCore as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use small_node::{idle_packets, library, lossy, source, LANES, WARPS};
use verilator_sys::ModelLibrary;

/// The model of another node: with one hart, which has user-level interrupts, two queue areas, and
/// an L2 with a cycle for the look-up.
fn one_hart() -> &'static ModelLibrary {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let node = small_node::config();
        let command = Config { command_threads: 1, uli_channels: 1, ..node };
        small_node::build(&Config { net_domains: 2, l2_look_up_cycle: true, ..command })
    })
}

/// Bytes of a node's own.
fn random_bytes(seed: u64, node: usize, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(node as u64);
    random.fill_bytes(&mut bytes);
    bytes
}

/// A kernel of these tests.
fn kernel(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shmem/kernels").join(name)
}

/// A kernel on so many warps of each of two nodes; what is built is in `folder`.
fn program(
    folder: &Path,
    mode: QueueMode,
    source: &Path,
    registers: RegisterClass,
    warps: usize,
) -> QueueProgram {
    small_node::program(folder, mode, source, registers, vec![idle_packets(warps * LANES); 2])
}

/// Two nodes with such links.
fn options(link: LinkOptions) -> ClusterOptions {
    small_node::options(2, link)
}

/// Runs it on two nodes.
fn run(
    program: &QueueProgram,
    link: LinkOptions,
    fill: impl Fn(usize, &QueueArea) -> Vec<u8> + Sync,
) -> ClusterResult<QueueReport> {
    cluster::run(library(), &options(link), |node| program.run(node, &fill)).unwrap()
}
