//! Kernels that put into the memories of other nodes by their command queues (docs/shmem.md): kernel, hart, wire, kernel. In both modes.

/// A test for each mode, in a module of its name.
macro_rules! in_both_modes {
    ($(fn $name:ident($mode:ident) $body:block)*) => {
        $(fn $name($mode: hermes_testbench::cluster::QueueMode) $body)*

        mod queues {
            $(#[test] fn $name() { super::$name(hermes_testbench::cluster::QueueMode::Queues); })*
        }

        mod paper {
            $(#[test] fn $name() { super::$name(hermes_testbench::cluster::QueueMode::Paper); })*
        }
    };
}

mod again;
mod assembly;
mod atomics;
mod backlog;
mod errors;
mod faults;
mod gets;
mod inline;
mod kills;
mod many;
mod names;
mod ping;
mod prepared;
mod puts;
mod reset;
mod signals;
mod values;

use std::path::Path;
use std::sync::OnceLock;

use hermes_rtl::config::Config;
use hermes_testbench::cluster::{
    self, ClusterOptions, ClusterResult, LinkOptions, QueueArea, QueueMode, QueueProgram, QueueReport,
};
use hermes_testbench::cosim::{ArraySetup, KernelImage, Latency, MemoryOptions, Packet};
use hermes_testbench::firmware::build_firmware;
use hermes_testbench::kernel::{self, Kernel, RegisterClass};
use hermes_testbench::{model, test_seed};
use verilator_sys::{Model, ModelLibrary};

/// Threads of a warp, and warp slots.
const LANES: usize = 4;
const WARPS: usize = 4;

/// The preset `node`, with fewer lanes and smaller caches.
fn library() -> &'static ModelLibrary {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let node = Config::preset("node").unwrap();
        let caches = Config { l2_bank_lines: 32, l1_lines: 16, command_cache_lines: 16, ..node };
        let config = Config { lanes: LANES, warps: WARPS, ..caches };
        let design = hermes_rtl::top::emit_top(&config).unwrap();
        Model::build(&design.verilog(), &model::options(&design)).unwrap()
    })
}

/// A file of `kernels-asm`.
fn source(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-asm").join(name)
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
    let path = folder.join("kernel.elf");
    kernel::build(source, registers, &path).unwrap();
    let image = KernelImage::from(&Kernel::read(&path).unwrap());
    let path = folder.join("firmware.elf");
    build_firmware(&[self::source("firmware").join(mode.firmware())], &path).unwrap();
    let packet = |_| Packet { frame: vec![0; 60], port: 0, flags: 0, arrival: 0 };
    QueueProgram {
        kernel: image,
        mode,
        firmware: path,
        packets: vec![(0..warps * LANES).map(packet).collect(); 2],
        // Full warps only: a warp is four packets in a row.
        setup: ArraySetup {
            ring_slots_log2: 6,
            slot_bytes_log2: 8,
            timeout: 100_000,
            watchdog: 5_000_000,
            ..ArraySetup::default()
        },
        own: vec![],
        heap_bytes: 16 << 10,
        rounds: 4,
    }
}

/// Links that lose so many percent of all frames.
fn lossy(loss: f64) -> LinkOptions {
    LinkOptions { loss, ..LinkOptions::default() }
}

/// Two nodes with such links.
fn options(link: LinkOptions) -> ClusterOptions {
    let seed = test_seed();
    let memory = MemoryOptions { latency: Latency::Random(1, 60), seed, ..MemoryOptions::default() };
    ClusterOptions { memory, link, seed, threads: 2, ..ClusterOptions::default() }
}

/// Runs it on two nodes.
fn run(
    program: &QueueProgram,
    link: LinkOptions,
    fill: impl Fn(usize, &QueueArea) -> Vec<u8> + Sync,
) -> ClusterResult<QueueReport> {
    cluster::run(library(), &options(link), |node| program.run(node, &fill)).unwrap()
}
