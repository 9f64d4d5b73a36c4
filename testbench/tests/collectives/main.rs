//! Collective calls of kernels on 2 to 8 nodes (docs/collectives.md), and kernels that use them and a get of each lane.

mod calls;
mod firewall;
mod ring;

use std::path::{Path, PathBuf};
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

/// The preset `node`, with fewer lanes and smaller caches: the array of the tests of `shmem`.
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
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-asm").join(name)
}

/// A kernel of these tests.
fn kernel(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/collectives/kernels").join(name)
}

/// How a kernel runs.
#[derive(Clone, Copy, Debug)]
struct Case {
    mode: QueueMode,
    registers: RegisterClass,
    nodes: usize,
    /// Percent of all frames that links lose.
    loss: f64,
}

impl Case {
    /// Runs `source` with these packets on each node, and these own words of its argument block. `fill` gives what heaps hold before.
    fn run(
        self,
        source: &Path,
        packets: &[Vec<Packet>],
        own: Vec<u32>,
        heap_bytes: u32,
        fill: impl Fn(usize, &QueueArea) -> Vec<u8> + Sync,
    ) -> ClusterResult<QueueReport> {
        let folder = tempfile::tempdir().unwrap();
        let elf = folder.path().join("kernel.elf");
        kernel::build(source, self.registers, &elf).unwrap();
        let kernel = KernelImage::from(&Kernel::read(&elf).unwrap());
        let firmware = folder.path().join("firmware.elf");
        build_firmware(&[self::source("firmware").join(self.mode.firmware())], &firmware).unwrap();
        let setup = ArraySetup {
            ring_slots_log2: 6,
            slot_bytes_log2: 8,
            timeout: 2_000,
            watchdog: 5_000_000,
            ..ArraySetup::default()
        };
        let packets = packets.to_vec();
        let program =
            QueueProgram { kernel, mode: self.mode, firmware, packets, setup, own, heap_bytes, rounds: 4 };
        let seed = test_seed();
        let memory = MemoryOptions { latency: Latency::Random(1, 60), seed, ..MemoryOptions::default() };
        let link = LinkOptions { loss: self.loss, ..LinkOptions::default() };
        let options =
            ClusterOptions { nodes: self.nodes, memory, link, seed, threads: 2, ..ClusterOptions::default() };
        cluster::run(library(), &options, |node| program.run(node, &fill)).unwrap()
    }
}

/// Packets that say nothing, as many on each of so many nodes.
fn idle_packets(nodes: usize, count: usize) -> Vec<Vec<Packet>> {
    let packet = |_| Packet { frame: vec![0; 60], port: 0, flags: 0, arrival: 0 };
    vec![(0..count).map(packet).collect(); nodes]
}

/// The words of bytes.
fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}
