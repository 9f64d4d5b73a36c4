//! Collective calls of kernels on 2 to 8 nodes (docs/collectives.md), and kernels that use them and
//! a get of each lane.

mod calls;
mod firewall;
mod jacobi;
mod ring;
#[path = "../small_node/mod.rs"]
mod small_node;
mod sum_word;

use std::path::{Path, PathBuf};

use hermes_testbench::cluster::{self, ClusterResult, QueueArea, QueueMode, QueueReport};
use hermes_testbench::cosim::Packet;
use hermes_testbench::kernel::RegisterClass;
use small_node::{library, lossy, options, program, source, LANES, WARPS};

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
    /// Runs `source` with these packets on each node, and these own words of its argument block.
    /// `fill` gives what heaps hold before.
    fn run(
        self,
        source: &Path,
        packets: &[Vec<Packet>],
        own: Vec<u32>,
        heap_bytes: u32,
        fill: impl Fn(usize, &QueueArea) -> Vec<u8> + Sync,
    ) -> ClusterResult<QueueReport> {
        let folder = tempfile::tempdir().unwrap();
        let mut program = program(folder.path(), self.mode, source, self.registers, packets.to_vec());
        // Warps begin with the packets that there are.
        program.setup.timeout = 2_000;
        (program.own, program.heap_bytes) = (own, heap_bytes);
        let options = options(self.nodes, lossy(self.loss));
        cluster::run(library(), &options, |node| program.run(node, &fill)).unwrap()
    }
}

/// Packets that say nothing, as many on each of so many nodes.
fn idle_packets(nodes: usize, count: usize) -> Vec<Vec<Packet>> {
    vec![small_node::idle_packets(count); nodes]
}

/// The words of bytes.
fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}
