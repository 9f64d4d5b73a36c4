//! Many puts of all kinds: rings go round, contexts are waited for, bytes come from anywhere.

use hermes_testbench::cluster::{QueueMode, QueueProgram, QueueReport};
use hermes_testbench::kernel::RegisterClass;
use hermes_testbench::test_seed;

use super::{kernel, lossy, program, random_bytes, run, LANES, WARPS};

const SOURCE: usize = 4_096;
const PART: usize = 1_536;

/// What a node has at the beginning.
fn source(seed: u64, node: usize) -> Vec<u8> {
    random_bytes(seed, node, SOURCE)
}

/// What a warp of `kernels/puts.c` leaves in its part, counted over both nodes, and its puts to
/// each node.
fn part(warp: usize, seed: u32, source: &[u8]) -> (Vec<u8>, u32) {
    let (mut bytes, mut puts) = (Vec::new(), 0);
    let mut random = seed.wrapping_add(warp as u32);
    loop {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let length = if puts % 5 == 4 { 17 + (random >> 8) % 100 } else { 1 + (random >> 8) % 16 } as usize;
        let from = ((random >> 16) % (SOURCE as u32 - 128)) as usize;
        if bytes.len() + length > PART {
            bytes.resize(PART, 0);
            return (bytes, puts);
        }
        bytes.extend(&source[from..from + length]);
        puts += 1;
    }
}

/// All warps of two nodes put into both at once, each into its own part, with `program`, which
/// `run` runs with these heaps. Cycles a put of each node.
pub fn fill_parts(
    mut program: QueueProgram,
    run: impl FnOnce(&QueueProgram, [Vec<u8>; 2]) -> Vec<QueueReport>,
) -> Vec<u64> {
    let seed = test_seed();
    let warps = program.packets[0].len() / LANES;
    program.own = vec![LANES as u32, warps as u32, PART as u32, seed as u32];
    program.heap_bytes = (SOURCE + 2 * warps * PART) as u32;
    let heaps = [0, 1].map(|node| [source(seed, node), vec![0; 2 * warps * PART]].concat());
    let nodes = run(&program, heaps);
    let (mut parts, mut puts) = (Vec::new(), [0; 2]);
    for (node, warp) in (0..2).flat_map(|node| (0..warps).map(move |warp| (node, warp))) {
        let (bytes, count) = part(node * warps + warp, seed as u32, &source(seed, node));
        parts.extend(bytes);
        puts[node] += 2 * count;
        assert!(2 * count > 64 + 32, "the rings go round");
    }
    for (number, node) in nodes.iter().enumerate() {
        assert_eq!((node.faults, &node.verdicts), (0, &vec![0; warps * LANES]), "node {number}");
        let expected = [source(seed, number), parts.clone()].concat();
        assert!(node.heap() == expected, "the heap of node {number}");
        assert_eq!((node.service.taken, node.service.failed), (puts[number], 0));
    }
    let cycles = |(node, puts): (&QueueReport, u32)| (node.cycles.1 - node.cycles.0) / u64::from(puts);
    nodes.iter().zip(puts).map(cycles).collect()
}

fn fill_parts_in(mode: QueueMode, loss: f64, registers: RegisterClass) {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), mode, &kernel("puts.c"), registers, WARPS);
    let run = |program: &QueueProgram, heaps: [Vec<u8>; 2]| {
        run(program, lossy(loss), |node, _| heaps[node].clone()).nodes
    };
    println!("{mode:?}: {:?} cycles a put", fill_parts(program, run));
}

in_both_modes! {
    fn parts_are_filled(mode) {
        fill_parts_in(mode, 0.0, RegisterClass::Rv32e);
    }

    fn parts_are_filled_with_loss(mode) {
        fill_parts_in(mode, 2.0, RegisterClass::Rv32i);
    }
}
