//! Results of short gets and atomic operations: VALUE of the control line, which only hardware
//! writes.

use hermes_testbench::cluster::QueueMode;
use hermes_testbench::kernel::RegisterClass;

use super::{kernel, lossy, program, run, LANES};

/// What is there at the beginning; 5 is added, and the sum is replaced by 77. 100 is added in a
/// context that gets no result.
const FIRST: u64 = 0xffff_ffff;
const SUM: u64 = FIRST + 5;

#[test]
fn results_come_with_their_completion() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), QueueMode::Queues, &kernel("values.c"), RegisterClass::Rv32i, 1);
    let result = run(&program, lossy(0.0), |_, _| FIRST.to_le_bytes().to_vec());
    for (number, node) in result.nodes.iter().enumerate() {
        assert_eq!((node.faults, &node.verdicts), (0, &vec![0; LANES]), "node {number}");
        let double = |at: u32| -> u64 {
            let word = |at| u64::from(node.word(node.area.heap + at));
            word(at) | word(at + 4) << 32
        };
        let values = [0, 8, 16, 24].map(|at| double(256 + at));
        assert_eq!(values, [FIRST, SUM, 77, 77], "node {number}");
        assert_eq!(double(0), 177, "node {number}");
        assert_eq!((node.service.taken, node.service.failed), (4, 0));
    }
}
