//! Nodes of a small array, whose kernels use the network by their command queues.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hermes_rtl::config::Config;
use hermes_testbench::cluster::{ClusterOptions, LinkOptions, QueueMode, QueueProgram};
use hermes_testbench::cosim::{ArraySetup, KernelImage, Latency, MemoryOptions, Packet};
use hermes_testbench::firmware::build_firmware;
use hermes_testbench::kernel::{self, Kernel, RegisterClass};
use hermes_testbench::{model, test_seed};
use verilator_sys::ModelLibrary;

/// Threads of a warp, and warp slots.
pub const LANES: usize = 4;
pub const WARPS: usize = 4;

/// The model of the node, which most tests have.
pub fn library() -> &'static ModelLibrary {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| model::checked(&hermes_rtl::top::emit_top(&config()).unwrap()).unwrap())
}

/// The model of another node, for a few short tests; not all programs have such.
#[allow(dead_code)]
pub fn build(config: &Config) -> ModelLibrary {
    model::brief(&hermes_rtl::top::emit_top(config).unwrap()).unwrap()
}

/// The preset `node`, with fewer lanes and smaller caches.
pub fn config() -> Config {
    let node = Config::preset("node").unwrap();
    let caches = Config { l2_bank_lines: 32, l1_lines: 16, command_cache_lines: 16, ..node };
    Config { lanes: LANES, warps: WARPS, ..caches }
}

/// A file of `kernels-asm`.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-asm").join(name)
}

/// Packets that say nothing.
pub fn idle_packets(count: usize) -> Vec<Packet> {
    (0..count).map(|_| Packet { frame: vec![0; 60], port: 0, flags: 0, arrival: 0 }).collect()
}

/// ELF files that were built, by what they are made of: many tests of a program have the same.
static BUILT: Mutex<BTreeMap<String, Arc<OnceLock<Vec<u8>>>>> = Mutex::new(BTreeMap::new());

/// Writes the ELF file of `source`, which `what` tells from others of the same text; it is built
/// once.
fn build_once(what: &str, source: &Path, path: &Path, build: impl FnOnce(&Path)) {
    let key = format!("{what}\n{}", fs::read_to_string(source).unwrap());
    let built = {
        // A test that failed leaves nothing half-done here.
        let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(built.entry(key).or_default())
    };
    let elf = built.get_or_init(|| {
        build(path);
        fs::read(path).unwrap()
    });
    fs::write(path, elf).unwrap();
}

/// A kernel with the firmware of `mode`, for nodes with these packets; what is built is in
/// `folder`.
pub fn program(
    folder: &Path,
    mode: QueueMode,
    source: &Path,
    registers: RegisterClass,
    packets: Vec<Vec<Packet>>,
) -> QueueProgram {
    let path = folder.join("kernel.elf");
    build_once(&format!("{registers:?}"), source, &path, |path| {
        kernel::build(source, registers, path).unwrap();
    });
    let kernel = KernelImage::from(&Kernel::read(&path).unwrap());
    let firmware = folder.join("firmware.elf");
    let service = self::source("firmware").join(mode.firmware());
    build_once("firmware", &service, &firmware, |path| {
        build_firmware(std::slice::from_ref(&service), path).unwrap();
    });
    // Full warps only: a warp is four packets in a row.
    let setup = ArraySetup {
        ring_slots_log2: 6,
        slot_bytes_log2: 8,
        timeout: 100_000,
        watchdog: 5_000_000,
        ..ArraySetup::default()
    };
    QueueProgram { kernel, mode, firmware, packets, setup, own: vec![], heap_bytes: 16 << 10, rounds: 4 }
}

/// Links that lose so many percent of all frames.
pub fn lossy(loss: f64) -> LinkOptions {
    LinkOptions { loss, ..LinkOptions::default() }
}

/// So many nodes with such links.
pub fn options(nodes: usize, link: LinkOptions) -> ClusterOptions {
    let seed = test_seed();
    let memory = MemoryOptions { latency: Latency::Random(1, 60), seed, ..MemoryOptions::default() };
    ClusterOptions { nodes, memory, link, seed, threads: 2, ..ClusterOptions::default() }
}
