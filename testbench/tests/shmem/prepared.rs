//! Puts that are prepared: those that are fired are performed once, with the word they were fired
//! with, the others are not.

use hermes_testbench::cluster::QueueMode;
use hermes_testbench::kernel::RegisterClass;

use super::{kernel, lossy, program, run, LANES, WARPS};

/// More than two laps of a ring, with the words that are put.
const ROUNDS: usize = 104;
/// As in `kernels/prepared.c`.
const SOURCE: usize = 256;
const CODES: [u32; 6] = [0x84, 0x84, 0, 0x81, 0, 0];

/// The bytes of a round in the source.
fn source(round: usize) -> [u8; 32] {
    std::array::from_fn(|at| (round * 89 + at * 7 + 1) as u8)
}

/// What a round leaves.
fn performed(round: usize) -> [u8; 16] {
    let (from, bytes) = (round % 7, 4 + round % 13);
    let mut cell = [0; 16];
    cell[..bytes].copy_from_slice(&source(round)[from..from + bytes]);
    match round % 4 {
        0 => cell[..4].copy_from_slice(&(round as u32).wrapping_mul(0x0103_0507).to_le_bytes()),
        1 => {
            cell = [0; 16];
            cell[..4].copy_from_slice(&(round as u32).to_le_bytes());
        }
        _ => {}
    }
    cell
}

fn prepare(mode: QueueMode, loss: f64, registers: RegisterClass) {
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(folder.path(), mode, &kernel("prepared.c"), registers, WARPS);
    program.own = vec![LANES as u32, ROUNDS as u32];
    // A quiet that waits for ever is told of soon.
    program.setup.watchdog = 1_000_000;
    let sources: Vec<u8> = (0..ROUNDS).flat_map(source).collect();
    let result = run(&program, lossy(loss), |_, _| [vec![0; SOURCE], sources.clone()].concat());
    // Each round has a command, those that are fired with a word behind them two; warp 0 has one
    // more, of a node that is not there, and a lap.
    let commands = WARPS * (ROUNDS + ROUNDS / 4) + 1 + 64;
    for (number, node) in result.nodes.iter().enumerate() {
        assert_eq!((node.faults, &node.verdicts), (0, &vec![0; WARPS * LANES]), "node {number}");
        for warp in 0..WARPS {
            let last = (0..ROUNDS as u32).rfind(|round| round % 4 == 2);
            assert_eq!(Some(node.word(node.area.heap + 4 * warp as u32)), last, "node {number}");
            for round in 0..ROUNDS {
                let at = SOURCE + 32 * ROUNDS + 16 * (warp * ROUNDS + round);
                assert_eq!(node.heap()[at..at + 16], performed(round), "warp {warp}, round {round}");
            }
        }
        let codes = node.area.heap + node.area.heap_bytes - 64;
        let codes: Vec<_> = (0..CODES.len() as u32).map(|index| node.word(codes + 4 * index)).collect();
        assert_eq!(codes, CODES, "node {number}");
        assert_eq!((node.service.taken, node.service.failed), (commands as u32, 1), "node {number}");
    }
}

in_both_modes! {
    fn what_is_fired_is_performed(mode) {
        prepare(mode, 0.0, RegisterClass::Rv32e);
    }

    fn what_is_fired_is_performed_with_loss(mode) {
        prepare(mode, 2.0, RegisterClass::Rv32i);
    }
}
