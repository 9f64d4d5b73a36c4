//! `ring.c`: the sums of all nodes, bit by bit those of plain Rust.

use hermes_testbench::cluster::QueueMode;
use hermes_testbench::kernel::RegisterClass;
use hermes_testbench::test_seed;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{idle_packets, source, words, Case, LANES, WARPS};

fn allreduce(case: Case, rings: usize, count: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(test_seed() ^ (case.nodes * 1000 + count) as u64);
    let all = rings * count;
    let terms: Vec<Vec<u32>> = (0..case.nodes).map(|_| (0..all).map(|_| random.gen()).collect()).collect();
    let sums: Vec<u32> =
        (0..all).map(|at| terms.iter().fold(0, |sum: u32, node| sum.wrapping_add(node[at]))).collect();
    let landing = rings * (case.nodes - 1) * count.div_ceil(case.nodes);
    let heap_bytes = (64 * rings + 4 * (all + landing)).next_multiple_of(64) as u32;
    let own = vec![LANES as u32, rings as u32, count as u32];
    let packets = idle_packets(case.nodes, rings * LANES);
    let fill = |node: usize, _: &_| {
        let bytes = terms[node].iter().flat_map(|word| word.to_le_bytes());
        vec![0; 64 * rings].into_iter().chain(bytes).collect()
    };
    let result = case.run(&source("c/ring.c"), &packets, own, heap_bytes, fill);
    for (number, node) in result.nodes.iter().enumerate() {
        assert_eq!((node.faults, &node.verdicts), (0, &vec![0; rings * LANES]), "node {number}, {case:?}");
        assert!(words(&node.heap()[64 * rings..])[..all] == sums, "node {number}, {case:?}");
    }
    let lost = result.ports.iter().map(|port| port.faults.lost).sum::<u64>();
    assert_eq!(lost > 0, case.loss > 0.0);
    let cycles = result.nodes[0].cycles;
    println!("{case:?}: {rings} rings of {count} words in {} cycles", cycles.1 - cycles.0);
}

#[test]
fn sums_of_all_nodes() {
    let [small, large] = [RegisterClass::Rv32e, RegisterClass::Rv32i];
    let queues = QueueMode::Queues;
    allreduce(Case { mode: queues, registers: small, nodes: 2, loss: 0.0 }, WARPS, 250);
    allreduce(Case { mode: queues, registers: large, nodes: 3, loss: 0.0 }, 2, 3);
    allreduce(Case { mode: queues, registers: large, nodes: 8, loss: 0.0 }, 2, 27);
}

#[test]
fn sums_with_loss() {
    allreduce(
        Case { mode: QueueMode::Queues, registers: RegisterClass::Rv32e, nodes: 5, loss: 2.0 },
        WARPS,
        73,
    );
}

#[test]
fn sums_in_mode_paper() {
    allreduce(
        Case { mode: QueueMode::Paper, registers: RegisterClass::Rv32i, nodes: 4, loss: 0.0 },
        WARPS,
        90,
    );
}
