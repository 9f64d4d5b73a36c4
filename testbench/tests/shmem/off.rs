//! Calls on a queue that is off.

use hermes_testbench::cluster::QueueMode;
use hermes_testbench::kernel::RegisterClass;

use super::{kernel, lossy, program, run, LANES};

/// Each gives the code, in 64 bits where it gives a value, and sends nothing.
#[test]
fn calls_give_its_code() {
    const CALLS: usize = 10;
    for registers in [RegisterClass::Rv32e, RegisterClass::Rv32i] {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path(), QueueMode::Queues, &kernel("off.c"), registers, 1);
        let result = run(&program, lossy(0.0), |_, _| vec![]);
        for (number, node) in result.nodes.iter().enumerate() {
            assert_eq!((node.faults, &node.verdicts), (0, &vec![0; LANES]), "node {number}");
            let word = |at: usize| u64::from_le_bytes(node.heap()[8 * at..8 * at + 8].try_into().unwrap());
            let given: Vec<u64> = (32..32 + CALLS).map(word).collect();
            assert_eq!(given, [0x88; CALLS], "node {number}");
            assert_eq!((word(0), node.service.taken), (0x1234_5678_9abc_def0, 1), "node {number}");
        }
    }
}
