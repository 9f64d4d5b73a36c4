//! Warps that put faster than the wire answers: their rings are full, and they wait for room.

use hermes_testbench::cluster::{LinkOptions, QUEUE_ENTRIES};
use hermes_testbench::kernel::RegisterClass;
use hermes_testbench::test_seed;
use rand::{RngCore as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{kernel, program, run, LANES, WARPS};

/// Puts of each warp, of a word each, between two `quiet`.
const PUTS: usize = 256;
const BYTES: usize = 4 * PUTS * WARPS;

/// What a node puts.
fn source(node: usize) -> Vec<u8> {
    let mut bytes = vec![0; BYTES];
    let mut random = ChaCha8Rng::seed_from_u64(test_seed());
    random.set_stream(node as u64);
    random.fill_bytes(&mut bytes);
    bytes
}

in_both_modes! {
    fn rings_are_full(mode) {
        let folder = tempfile::tempdir().unwrap();
        let mut program = program(folder.path(), mode, &kernel("backlog.c"), RegisterClass::Rv32e, WARPS);
        program.own = vec![LANES as u32, PUTS as u32, WARPS as u32];
        // The last answer comes before the time-out.
        let link = LinkOptions { latency: 800, ..LinkOptions::default() };
        let result = run(&program, link, |node, _| [source(node), vec![0; BYTES]].concat());
        for (number, node) in result.nodes.iter().enumerate() {
            assert_eq!((node.faults, &node.verdicts), (0, &vec![0; WARPS * LANES]), "node {number}");
            let expected = [source(number), source(1 - number)].concat();
            assert!(node.heap()[..2 * BYTES] == expected, "the heap of node {number}");
            assert_eq!((node.service.taken, node.service.failed), ((WARPS * PUTS) as u32, 0));
            // What the warps found before they waited: most of their entries were in use.
            let left = |warp: usize| node.word(node.area.heap + (2 * BYTES + 4 * warp) as u32);
            let outstanding: Vec<_> = (0..WARPS).map(left).collect();
            let full = QUEUE_ENTRIES / 2..=QUEUE_ENTRIES;
            assert!(outstanding.iter().all(|count| full.contains(count)), "{outstanding:?} outstanding");
        }
    }
}
