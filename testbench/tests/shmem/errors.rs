//! Commands that are wrong get their codes, and nothing else happens.

use std::path::Path;

use hermes_testbench::kernel::RegisterClass;

use super::{program, run, LANES};

/// What the library gives for the commands of `kernels/errors.c`.
const LIBRARY: [u32; 12] = [0x81, 0x81, 0x83, 0x83, 0x84, 0x84, 0x82, 0x82, 0x81, 0, 0, 0];
/// Status of the entries that were written by hand, and of those before it.
const BY_HAND: [u32; 8] = [0x80, 0x80, 0x8a, 0x8a, 0x01, 0x81, 0x84, 0x01];
const STATUS_LIBRARY: [u32; 11] = [0x81, 0x81, 0x83, 0x83, 0x84, 0x84, 0x82, 0x82, 0x81, 0x01, 0x01];
/// The phase in a status of the first lap.
const PHASE: u32 = 1 << 8;

#[test]
fn bad_commands_get_their_codes() {
    let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shmem/kernels/errors.c");
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(folder.path(), &kernel, RegisterClass::Rv32e, 2);
    program.own = vec![LANES as u32];
    let source: Vec<u8> = (1..=20).collect();
    let result = run(&program, 0.0, |_, _| [vec![0; 4096], source.clone()].concat());
    for (number, node) in result.nodes.iter().enumerate() {
        assert_eq!((node.faults, &node.verdicts), (0, &vec![0; 2 * LANES]), "node {number}");
        let words = |at: u32, count: usize| -> Vec<u32> {
            (0..count as u32).map(|word| node.word(node.area.heap + 4 * (at + word))).collect()
        };
        assert_eq!(words(64, LIBRARY.len()), LIBRARY, "node {number}");
        let expected = BY_HAND.map(|code| code | PHASE);
        assert_eq!(words(128, BY_HAND.len()), expected, "node {number}");
        // The same in the rings, for the host to see.
        let ring = |slot: u32| -> Vec<u32> {
            (0..16).map(|index| node.word(node.area.entry(slot, index) + 60)).collect()
        };
        let mut rings: Vec<_> = (0..node.area.slots).map(ring).collect();
        rings.sort_unstable();
        let whole = |codes: &[u32]| -> Vec<u32> {
            let mut statuses: Vec<_> = codes.iter().map(|code| code | PHASE).collect();
            statuses.resize(16, 0);
            statuses
        };
        let mut expected = vec![vec![0; 16]; rings.len() - 2];
        expected.extend([whole(&BY_HAND), whole(&STATUS_LIBRARY)]);
        expected.sort_unstable();
        assert_eq!(rings, expected, "node {number}");
        // The good ones were performed, and nothing else was.
        let good = [vec![7, 0, 0, 0, 0, 0, 0, 0], source.clone(), vec![0; 100]].concat();
        assert_eq!(node.heap()[..good.len()], good, "node {number}");
        let taken = (BY_HAND.len() + STATUS_LIBRARY.len()) as u32;
        let failed = |codes: &[u32]| codes.iter().filter(|code| **code != 1).count() as u32;
        assert_eq!(node.service.taken, taken);
        assert_eq!(node.service.failed, failed(&BY_HAND) + failed(&STATUS_LIBRARY));
        let written = node.status.counters.iter().find(|(name, _)| name == "frames written").unwrap().1;
        assert_eq!(written, 3, "a frame for each good put");
        assert!(node.status.pairs.iter().all(|pair| pair.state == "UP"));
    }
}
