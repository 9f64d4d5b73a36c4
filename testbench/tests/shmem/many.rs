//! Waits for one of many words, and for all.

use hermes_testbench::cluster::QueueMode;
use hermes_testbench::kernel::RegisterClass;

use super::{kernel, lossy, program, run, LANES};

const NONE: u32 = u32::MAX;
/// What the calls of `kernels/many.c` give.
const RESULTS: [u32; 21] =
    [1, 0, 1, 0, 1, 3, 4, NONE, NONE, 1, 0, 1, 0, 4, 4, 1, 1, NONE, NONE, 0x1111_1111, 123];
const FIRST: u32 = 128;

fn wait(mode: QueueMode, registers: RegisterClass) {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), mode, &kernel("many.c"), registers, 1);
    let words = (0..8).map(|word| 5 * word).chain([0; 8]).chain((0..8).flat_map(|word| [5 * word, 1]));
    let words: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    let result = run(&program, lossy(0.0), |_, _| words.clone());
    for (number, node) in result.nodes.iter().enumerate() {
        assert_eq!((node.faults, &node.verdicts), (0, &vec![0; LANES]), "node {number}");
        let word = |index: u32| node.word(node.area.heap + 4 * (FIRST + index));
        let results: Vec<_> = (0..RESULTS.len() as u32).map(word).collect();
        assert_eq!(results, RESULTS, "node {number}");
        assert_eq!((node.service.taken, node.service.failed), (12, 0), "node {number}");
    }
}

in_both_modes! {
    fn one_of_many_and_all(mode) {
        wait(mode, RegisterClass::Rv32e);
        wait(mode, RegisterClass::Rv32i);
    }
}
