//! Atomic operations of both nodes on the same words: each is performed once.

use hermes_testbench::cluster::{QueueMode, QueueReport};
use hermes_testbench::kernel::RegisterClass;

use super::{kernel, lossy, program, run, LANES, WARPS};

const ROUNDS: u32 = 6;
/// Warps of both nodes.
const ALL: usize = 2 * WARPS;
/// Operations of a kind on a word.
const TIMES: u64 = ALL as u64 * ROUNDS as u64;

fn double(node: &QueueReport, at: usize) -> u64 {
    let word = |at: usize| u64::from(node.word(node.area.heap + at as u32));
    word(8 * at) | word(8 * at + 4) << 32
}

fn count(mode: QueueMode, loss: f64, registers: RegisterClass) {
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(folder.path(), mode, &kernel("atomics.c"), registers, WARPS);
    let values = mode == QueueMode::Queues;
    program.own = vec![LANES as u32, WARPS as u32, ROUNDS, u32::from(values)];
    let result = run(&program, lossy(loss), |_, area| vec![0; area.heap_bytes as usize]);
    let warps: u64 = (0..ALL as u64).sum();
    for (number, node) in result.nodes.iter().enumerate() {
        assert_eq!((node.faults, &node.verdicts), (0, &vec![0; WARPS * LANES]), "node {number}");
        assert_eq!(node.service.failed, 0);
        let added = TIMES * 0x4000_0000 + warps * u64::from(ROUNDS);
        assert_eq!(double(node, 0), added, "node {number}");
        if values {
            assert_eq!(double(node, 1), TIMES * 0x8000_0001, "node {number}");
            assert_eq!(double(node, 2), 3 * TIMES, "node {number}");
            let bits: u64 = (0..ALL).map(|warp| 1 << (8 * warp)).sum();
            assert_eq!(
                double(node, 3),
                bits,
                "node {number}: the last round flips what the one before cleared"
            );
            let half = 0x1000_0001_u32.wrapping_mul(TIMES as u32 / 2);
            assert_eq!(double(node, 5), u64::from(half) << 32 | u64::from(half), "node {number}");
        }
    }
    if !values {
        return;
    }
    // What was seen: each sum once, and each value that was swapped in once, but for the last of
    // each node.
    let seen = |kind: usize| -> u64 {
        let of_warp = |warp: usize| double(&result.nodes[warp / WARPS], 8 + 2 * warp + kind);
        (0..ALL).map(of_warp).fold(0, u64::wrapping_add)
    };
    assert_eq!(seen(0), 2 * 0x8000_0001 * (TIMES * (TIMES - 1) / 2));
    let swapped_in: u64 =
        2 * ((warps << 32) * u64::from(ROUNDS) + ALL as u64 * u64::from(ROUNDS * (ROUNDS + 1) / 2));
    let left: u64 = result.nodes.iter().map(|node| double(node, 4)).sum();
    assert_eq!(seen(1), swapped_in - left);
}

in_both_modes! {
    fn counts_are_exact(mode) {
        count(mode, 0.0, RegisterClass::Rv32e);
    }

    fn counts_are_exact_with_loss(mode) {
        count(mode, 2.0, RegisterClass::Rv32i);
    }
}
