//! Arrays of which fewer commands of a queue may be under way (`net_queue_entries`): all are
//! performed, and on the wire there are never more without an answer, but as many at some time.

use std::path::Path;
use std::sync::OnceLock;

use hermes_rtl::config::Config;
use hermes_testbench::cluster::{self, address, capture_path, ClusterOptions, LinkOptions, QueueMode};
use hermes_testbench::golden::roce::{opcode, RoceFrame};
use hermes_testbench::kernel::RegisterClass;
use hermes_testbench::test_seed;
use verilator_sys::ModelLibrary;

use super::{kernel, options, program, random_bytes, small_node, LANES};

/// Words that are put, and words that are got: together more than a ring has entries.
const WORDS: usize = 33;
const BYTES: usize = 4 * WORDS;

/// The small node with so many entries.
fn library(entries: usize) -> &'static ModelLibrary {
    static ONE: OnceLock<ModelLibrary> = OnceLock::new();
    static FOUR: OnceLock<ModelLibrary> = OnceLock::new();
    let library = if entries == 1 { &ONE } else { &FOUR };
    library.get_or_init(|| small_node::build(&Config { net_queue_entries: entries, ..small_node::config() }))
}

/// What a node has at the beginning.
fn source(node: usize) -> Vec<u8> {
    random_bytes(test_seed(), node, BYTES)
}

/// Requests that a node sent, each once, and the most of them that had no answer at the same time,
/// by what passed its port.
fn requests(folder: &Path, node: usize) -> (usize, usize) {
    let capture = hermes_testbench::traffic::read(&capture_path(folder, node), None).unwrap();
    let (mut first, mut sent, mut answered, mut most) = (None, 0, 0, 0);
    for frame in &capture.frames {
        let frame = RoceFrame::parse(&frame.data).unwrap();
        let is_request = [opcode::WRITE_ONLY, opcode::READ_REQUEST].contains(&frame.opcode);
        let is_ours = frame.from_mac == address(node).mac;
        if is_request && is_ours {
            let first = *first.get_or_insert(frame.sequence);
            assert_eq!(frame.sequence.wrapping_sub(first) & 0xff_ffff, sent as u32, "a request comes again");
            sent += 1;
            most = most.max(sent - answered);
        } else if !is_request && !is_ours {
            // An answer is one of all before it too.
            let first = first.expect("an answer of a request");
            answered = answered.max((frame.sequence.wrapping_sub(first) & 0xff_ffff) as usize + 1);
        }
    }
    assert_eq!(answered, sent, "requests without an answer");
    (sent, most)
}

fn as_many_as_may_be(mode: QueueMode, entries: usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(folder.path(), mode, &kernel("entries.c"), RegisterClass::Rv32e, 1);
    program.own = vec![WORDS as u32];
    // Answers take longer than the warp needs for so many commands.
    let latency = if entries == 1 { 300 } else { 800 };
    let link = LinkOptions { latency, ..LinkOptions::default() };
    let options = ClusterOptions { captures: Some(folder.path().to_path_buf()), ..options(link) };
    let fill = |node, _: &_| [source(node), vec![0; 2 * BYTES]].concat();
    let result = cluster::run(library(entries), &options, |node| program.run(node, fill)).unwrap();
    for (number, node) in result.nodes.iter().enumerate() {
        assert_eq!((node.faults, &node.verdicts), (0, &vec![0; LANES]), "node {number}");
        let other = source(1 - number);
        let expected = [source(number), other.clone(), other].concat();
        assert!(node.heap()[..3 * BYTES] == expected, "the heap of node {number}");
        assert_eq!((node.service.taken, node.service.failed), (2 * WORDS as u32, 0));
        assert_eq!(requests(folder.path(), number), (2 * WORDS, entries), "node {number}");
    }
}

in_both_modes! {
    fn one_command_is_under_way(mode) {
        as_many_as_may_be(mode, 1);
    }

    fn four_commands_are_under_way(mode) {
        as_many_as_may_be(mode, 4);
    }
}
