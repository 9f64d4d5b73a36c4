//! Commands that are wrong get their codes, and nothing else happens.

use hermes_testbench::cluster::{QueueMode, QueueReport};
use hermes_testbench::kernel::RegisterClass;

use super::{kernel, lossy, program, run, LANES};

/// What the library gives for the commands of `kernels/errors.c`.
const LIBRARY: [u32; 14] = [0x8b, 0x8b, 0x81, 0x81, 0x83, 0x83, 0x84, 0x84, 0x82, 0x82, 0x81, 0, 0, 0];
/// Code of each command that was written by hand, and of those before it.
const BY_HAND: [u32; 8] = [0x80, 0x80, 0x8a, 0x8a, 0x01, 0x81, 0x84, 0x01];
const CODES_LIBRARY: [u32; 11] = [0x81, 0x81, 0x83, 0x83, 0x84, 0x84, 0x82, 0x82, 0x81, 0x01, 0x01];
/// Their contexts: calls that wait have number 3.
const CONTEXTS_LIBRARY: [usize; 11] = [0, 0, 0, 0, 0, 3, 3, 3, 3, 0, 3];
/// The phase in a status of the first lap.
const PHASE: u32 = 1 << 8;

/// A control line behind commands with these codes and contexts, when its queue is off again.
fn control(mode: QueueMode, codes: &[u32], contexts: &[usize]) -> Vec<u32> {
    let mut words = vec![0; 16];
    words[0] = codes.len() as u32;
    words[2] = u32::from(mode == QueueMode::Paper);
    for (index, (code, context)) in codes.iter().zip(contexts).enumerate() {
        words[4 + context] += u32::from(mode == QueueMode::Queues);
        if *code != 1 {
            let failed = (words[12 + context] >> 8 & 0xff) + 1;
            words[12 + context] = (index as u32) << 16 | failed << 8 | code;
        }
    }
    words
}

/// The statuses of the first entries of a ring behind commands with these codes.
fn statuses(mode: QueueMode, codes: &[u32]) -> Vec<u32> {
    let status = |code| if mode == QueueMode::Paper { code | PHASE } else { 0 };
    let mut statuses: Vec<_> = codes.iter().map(status).collect();
    statuses.resize(16, 0);
    statuses
}

/// Of each ring the statuses, and its control line; sorted, since it is not said which warp has
/// which slot.
fn queues(node: &QueueReport) -> Vec<[Vec<u32>; 2]> {
    let words = |first: u32, step: u32| -> Vec<u32> {
        (0..16).map(|index| node.word(first + step * index)).collect()
    };
    let queue = |slot| [words(node.area.entry(slot, 0) + 60, 64), words(node.area.control(slot), 4)];
    let mut queues: Vec<_> = (0..node.area.slots).map(queue).collect();
    queues.sort_unstable();
    queues
}

in_both_modes! {
    fn bad_commands_get_their_codes(mode) {
        let folder = tempfile::tempdir().unwrap();
        let mut program = program(folder.path(), mode, &kernel("errors.c"), RegisterClass::Rv32e, 2);
        program.own = vec![LANES as u32];
        let source: Vec<u8> = (1..=20).collect();
        let result = run(&program, lossy(0.0), |_, _| [vec![0; 4096], source.clone()].concat());
        for (number, node) in result.nodes.iter().enumerate() {
            assert_eq!((node.faults, &node.verdicts), (0, &vec![0; 2 * LANES]), "node {number}");
            let words = |at: u32, count: usize| -> Vec<u32> {
                (0..count as u32).map(|word| node.word(node.area.heap + 4 * (at + word))).collect()
            };
            assert_eq!(words(64, LIBRARY.len()), LIBRARY, "node {number}");
            assert_eq!(words(128, BY_HAND.len()), BY_HAND, "node {number}");
            // The same in rings and control lines, for the host to see.
            let unused = [vec![0; 16], control(mode, &[], &[])];
            let mut expected = vec![unused; node.area.slots as usize - 2];
            expected.push([statuses(mode, &BY_HAND), control(mode, &BY_HAND, &[0; 8])]);
            let line = control(mode, &CODES_LIBRARY, &CONTEXTS_LIBRARY);
            expected.push([statuses(mode, &CODES_LIBRARY), line]);
            expected.sort_unstable();
            assert_eq!(queues(node), expected, "node {number}");
            // The good ones were performed, and nothing else was.
            let good = [vec![7, 0, 0, 0, 0, 0, 0, 0], source.clone(), vec![0; 100]].concat();
            assert_eq!(node.heap()[..good.len()], good, "node {number}");
            let taken = (BY_HAND.len() + CODES_LIBRARY.len()) as u32;
            let failed = |codes: &[u32]| codes.iter().filter(|code| **code != 1).count() as u32;
            assert_eq!(node.service.taken, taken);
            assert_eq!(node.service.failed, failed(&BY_HAND) + failed(&CODES_LIBRARY));
            let written = node.status.counters.iter().find(|(name, _)| name == "frames written").unwrap().1;
            assert_eq!(written, 3, "a frame for each good put");
            assert!(node.status.pairs.iter().all(|pair| pair.state == "UP"));
        }
    }
}
