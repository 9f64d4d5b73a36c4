//! A warp that puts faster than the wire answers: its ring is full, and it waits for room.

use hermes_testbench::cluster::{LinkOptions, QUEUE_ENTRIES};
use hermes_testbench::kernel::RegisterClass;
use hermes_testbench::test_seed;

use super::{kernel, program, random_bytes, run, LANES};

/// Puts of the warp, of a word each, before it waits.
const PUTS: usize = 256;
const BYTES: usize = 4 * PUTS;

/// What a node puts.
fn source(node: usize) -> Vec<u8> {
    random_bytes(test_seed(), node, BYTES)
}

in_both_modes! {
    fn rings_are_full(mode) {
        let folder = tempfile::tempdir().unwrap();
        let mut program = program(folder.path(), mode, &kernel("backlog.c"), RegisterClass::Rv32e, 1);
        program.own = vec![PUTS as u32];
        // The last answer comes before the time-out.
        let link = LinkOptions { latency: 800, ..LinkOptions::default() };
        let result = run(&program, link, |node, _| [source(node), vec![0; BYTES]].concat());
        for (number, node) in result.nodes.iter().enumerate() {
            assert_eq!((node.faults, &node.verdicts), (0, &vec![0; LANES]), "node {number}");
            let expected = [source(number), source(1 - number)].concat();
            assert!(node.heap()[..2 * BYTES] == expected, "the heap of node {number}");
            assert_eq!((node.service.taken, node.service.failed), (PUTS as u32, 0));
            // What the warp found before it waited: most of its entries were in use.
            let outstanding = node.word(node.area.heap + 2 * BYTES as u32);
            assert!((QUEUE_ENTRIES / 2..=QUEUE_ENTRIES).contains(&outstanding), "{outstanding} outstanding");
        }
    }
}
