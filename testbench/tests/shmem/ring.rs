//! Sums of all nodes by rings, `kernels-asm/c/ring.c`.

use hermes_testbench::cluster::{self, ClusterOptions, QueueMode};
use hermes_testbench::kernel::RegisterClass;
use hermes_testbench::test_seed;
use rand::{Rng as _, SeedableRng as _};

use super::{library, lossy, options, program, source, LANES, WARPS};

/// Every node has the sum of all vectors, of each ring.
fn sum(mode: QueueMode, nodes: usize, words: usize, registers: RegisterClass, loss: f64) {
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(folder.path(), mode, &source("c/ring.c"), registers, WARPS);
    program.packets = vec![program.packets[0].clone(); nodes];
    program.own = vec![LANES as u32, words as u32];
    let stride = (64 + (2 * nodes - 1) * 4 * words).next_multiple_of(64);
    let vector = nodes * words;
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(test_seed());
    let vectors: Vec<Vec<u32>> =
        (0..nodes).map(|_| (0..WARPS * vector).map(|_| random.gen()).collect()).collect();
    let fill = |node: usize, area: &cluster::QueueArea| {
        let mut heap = vec![0; area.heap_bytes as usize];
        for (i, word) in vectors[node].iter().enumerate() {
            let at = i / vector * stride + 64 + i % vector * 4;
            heap[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        heap
    };
    let options = ClusterOptions { nodes, ..options(lossy(loss)) };
    let result = cluster::run(library(), &options, |node| program.run(node, fill)).unwrap();
    for (number, node) in result.nodes.iter().enumerate() {
        assert_eq!((node.faults, &node.verdicts), (0, &vec![0; WARPS * LANES]), "node {number}");
        for i in 0..WARPS * vector {
            let at = i / vector * stride + 64 + i % vector * 4;
            let found = u32::from_le_bytes(node.heap()[at..at + 4].try_into().unwrap());
            let expected = vectors.iter().fold(0u32, |sum, vector| sum.wrapping_add(vector[i]));
            assert_eq!(found, expected, "node {number}, ring {}, word {}", i / vector, i % vector);
        }
        let commands = (WARPS * 2 * 2 * (nodes - 1)) as u32;
        assert_eq!((node.service.taken, node.service.failed), (commands, 0), "node {number}");
    }
    let cycles = result.nodes[0].cycles;
    println!("{mode:?}, {nodes} nodes, {words} words: {} cycles", cycles.1 - cycles.0);
}

in_both_modes! {
    fn two_nodes_and_three(mode) {
        sum(mode, 2, 64, RegisterClass::Rv32e, 0.0);
        sum(mode, 3, 37, RegisterClass::Rv32i, 0.0);
    }

    fn four_nodes_with_loss(mode) {
        sum(mode, 4, 50, RegisterClass::Rv32i, 2.0);
    }
}
