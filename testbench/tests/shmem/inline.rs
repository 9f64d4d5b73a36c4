//! Values that stand in commands and in control lines: gets and puts of a few bytes, and what is
//! wrong with them.

use hermes_testbench::cluster::QueueMode;
use hermes_testbench::kernel::RegisterClass;

use super::{kernel, lossy, program, run, LANES};

/// What a node has at the beginning.
fn source(node: usize) -> Vec<u8> {
    (0..64).map(|at| (at * 37 + node * 101 + 5) as u8).collect()
}

/// So many bytes as a number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// What the calls of `kernels/inline.c` give; `node` is what the other one has.
fn results(mode: QueueMode, node: &[u8]) -> Vec<u64> {
    // Those that give a value, with their codes.
    let value = |bytes: &[u8]| if mode == QueueMode::Queues { number(bytes) } else { 0x80 };
    let code = |code: u64| if mode == QueueMode::Queues { code } else { 0x80 };
    let mut results = Vec::new();
    for bytes in 1..=8 {
        let from = 5 * bytes - 3;
        results.extend([value(&node[from..from + bytes]), code(0)]);
    }
    results.extend([value(&node[7..8]), value(&node[9..13]), value(&node[17..25])]);
    results.extend([0x84, 0x83, 0x81, 0x81, 0x85, 0x83].into_iter().flat_map(|error| [code(error); 2]));
    results.extend([0x85, 0x83, 0x82, 0x84, 0x81, 0x81, value(&node[..4]), code(0)]);
    let put = [&[0xa5], &0x1234_5678_u32.to_le_bytes()[..], &[0], &[0xef, 0xcd]].concat();
    results.extend([value(&put), value(&0x0123_4567_89ab_cdef_u64.to_le_bytes())]);
    let sum = if mode == QueueMode::Queues { 3 * u128::from(number(&node[8..16])) } else { 6 * 0x80 };
    results.push(sum as u64);
    results
}

fn values(mode: QueueMode, registers: RegisterClass) {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), mode, &kernel("inline.c"), registers, 1);
    let result = run(&program, lossy(0.0), |node, _| source(node));
    for (number, node) in result.nodes.iter().enumerate() {
        assert_eq!((node.faults, &node.verdicts), (0, &vec![0; LANES]), "node {number}");
        let word = |at: u32| u64::from(node.word(node.area.heap + 256 + at));
        let expected = results(mode, &source(1 - number));
        let double = |at: usize| word(8 * at as u32) | word(8 * at as u32 + 4) << 32;
        let found: Vec<_> = (0..expected.len()).map(double).collect();
        assert_eq!(found, expected, "node {number}");
        let times = double(expected.len());
        println!("{mode:?}: a get of 8 bytes {} cycles, a fetch-add {}", times as u32, times >> 32);
        assert!(node.status.pairs.iter().all(|pair| pair.state == "UP"));
    }
}

in_both_modes! {
    fn values_and_codes(mode) {
        values(mode, RegisterClass::Rv32e);
        values(mode, RegisterClass::Rv32i);
    }
}
