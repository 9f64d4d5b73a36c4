//! Bytes that are got: from any byte to any byte, behind what was put there.

use hermes_testbench::cluster::QueueMode;
use hermes_testbench::kernel::RegisterClass;
use hermes_testbench::test_seed;

use super::{kernel, lossy, program, run, LANES, WARPS};

const SOURCE: usize = 4_096;
const GETS: usize = 24;
const PART: usize = 3_072;
/// What a warp puts there and gets back.
const BACK: usize = 48;

/// What a node has at the beginning, as in `kernels/gets.c`.
fn source(node: usize) -> Vec<u8> {
    (0..SOURCE).map(|at| (((at * 89) >> 3) ^ (at >> 8) ^ (node << 6)) as u8).collect()
}

/// What a warp of `kernels/gets.c` has got; without what is at the end of its part.
fn part(warp: usize, seed: u32, source: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut random = seed.wrapping_add(warp as u32);
    for _ in 0..GETS {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let from = ((random >> 16) % (SOURCE as u32 - 200)) as usize;
        bytes.extend(&source[from..from + 1 + ((random >> 8) % 200) as usize]);
    }
    bytes
}

/// A seed with which no part is too long.
fn seed() -> u32 {
    let fits = |seed: &u32| (0..WARPS).all(|warp| part(warp, *seed, &source(0)).len() <= PART - 2 * BACK);
    (test_seed() as u32..).find(fits).unwrap()
}

fn get_parts(mode: QueueMode, loss: f64, registers: RegisterClass) {
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(folder.path(), mode, &kernel("gets.c"), registers, WARPS);
    let seed = seed();
    program.own = vec![LANES as u32, GETS as u32, seed, PART as u32];
    program.heap_bytes = (SOURCE + WARPS * PART) as u32;
    let result = run(&program, lossy(loss), |node, _| source(node));
    for (number, node) in result.nodes.iter().enumerate() {
        assert_eq!((node.faults, &node.verdicts), (0, &vec![0; WARPS * LANES]), "node {number}");
        let mut expected = source(number);
        for warp in 0..WARPS {
            let mut bytes = part(warp, seed, &source(1 - number));
            bytes.resize(PART - 2 * BACK, 0);
            // What it put there and got, and what the other node put here.
            bytes.extend(&source(number)[64..64 + BACK]);
            bytes.extend(&source(1 - number)[64..64 + BACK]);
            expected.extend(bytes);
        }
        assert!(node.heap() == expected, "the heap of node {number}");
        assert_eq!((node.service.taken, node.service.failed), ((WARPS * (GETS + 2)) as u32, 0));
    }
}

in_both_modes! {
    fn parts_are_got(mode) {
        get_parts(mode, 0.0, RegisterClass::Rv32i);
    }

    fn parts_are_got_with_loss(mode) {
        get_parts(mode, 2.0, RegisterClass::Rv32e);
    }
}
