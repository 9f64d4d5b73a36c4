//! Puts with a signal: who sees the signal sees the bytes, and what is refused has none.

use hermes_testbench::cluster::QueueMode;
use hermes_testbench::kernel::RegisterClass;

use super::{kernel, lossy, program, run, LANES, WARPS};

const ROUNDS: u32 = 7;
const BYTES: u32 = 700;
/// What the last calls of `kernels/signals.c` give: their codes, each comparison of 5 with 4 to 6,
/// and a sum.
const CODES: [u32; 13] =
    [0x83, 0x83, 0x82, 0x84, 0x83, 0x85, 0x81, 0, 0, 0x81, 0b010_101_100_110_001_011, 8, 8 * 5];

fn signals(mode: QueueMode, loss: f64, registers: RegisterClass) {
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(folder.path(), mode, &kernel("signals.c"), registers, WARPS);
    program.own = vec![LANES as u32, ROUNDS, BYTES];
    let still = [5_u32, 0, 5, 1].map(u32::to_le_bytes).concat();
    let result = run(&program, lossy(loss), |_, _| [vec![0; 704], still.clone()].concat());
    for (number, node) in result.nodes.iter().enumerate() {
        assert_eq!((node.faults, &node.verdicts), (0, &vec![0; WARPS * LANES]), "node {number}");
        let word = |at: u32| node.word(node.area.heap + at);
        let end = node.area.heap_bytes - 128;
        let codes: Vec<_> = (0..CODES.len() as u32).map(|index| word(end + 4 * index)).collect();
        assert_eq!(codes, CODES, "node {number}");
        // The signals of the warps, and none of a call that was refused.
        let last = u64::from(ROUNDS) * 0xc000_0000;
        for warp in 0..WARPS as u32 {
            let at = 64 * warp + 8 * (1 - number as u32);
            assert_eq!(u64::from(word(at)) | u64::from(word(at + 4)) << 32, last, "node {number}");
        }
        assert!(node.heap()[512..704].iter().all(|byte| *byte == 0), "node {number}");
        assert!(node.status.pairs.iter().all(|pair| pair.state == "UP"));
    }
}

in_both_modes! {
    fn signals_come_behind_their_bytes(mode) {
        signals(mode, 0.0, RegisterClass::Rv32e);
    }

    fn signals_come_behind_their_bytes_with_loss(mode) {
        signals(mode, 2.0, RegisterClass::Rv32i);
    }
}
