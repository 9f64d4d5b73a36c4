//! The sum of one word of all nodes.

use super::{idle_packets, source, words, Case, LANES};
use hermes_testbench::cluster::QueueMode;
use hermes_testbench::kernel::RegisterClass;

/// Calls of a run.
const CALLS: u32 = 9;
/// Word of the heap with the last sum.
const SUM: usize = 65;
/// What the kernel adds from call to call.
const STEP: u32 = 0x2100_0193;

/// Every sum of every node, which the kernel compares, in both modes and with loss; nodes are a
/// power of two, or not.
#[test]
fn sums_of_one_word() {
    for (nodes, mode, registers, loss) in [
        (2, QueueMode::Queues, RegisterClass::Rv32i, 0.0),
        (3, QueueMode::Paper, RegisterClass::Rv32i, 0.0),
        (5, QueueMode::Queues, RegisterClass::Rv32e, 2.0),
        (8, QueueMode::Queues, RegisterClass::Rv32i, 0.0),
    ] {
        let case = Case { mode, registers, nodes, loss };
        let kernel = source("compnet/sum-word.c");
        let result = case.run(&kernel, &idle_packets(nodes, LANES), vec![CALLS], 4096, |_, _| Vec::new());
        let all = (0..nodes as u32).fold(0u32, |sum, node| sum.wrapping_add(node));
        let expected = all.wrapping_add((nodes as u32 * (CALLS - 1)).wrapping_mul(STEP));
        for (number, node) in result.nodes.iter().enumerate() {
            assert!(node.verdicts.iter().all(|verdict| *verdict == 0), "{case:?}: {:?}", node.verdicts);
            assert_eq!(words(node.heap())[SUM], expected, "{case:?}: node {number}");
        }
    }
}
