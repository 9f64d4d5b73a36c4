//! A kernel on every node.

use hermes_testbench::cluster::{
    self, capture_path, ClusterOptions, ClusterResult, LinkOptions, NodeReport, Program,
};
use hermes_testbench::cosim::{ArraySetup, KernelImage, Latency, MemoryOptions, Packet};
use hermes_testbench::golden::roce::{opcode, RoceFrame};
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};
use hermes_testbench::test_seed;
use hermes_testbench::traffic::Frame;

use super::library;

const KERNEL: &str = include_str!("kernels/all_to_all.S");
/// Packets of a node.
const PACKETS: usize = 40;
const HEAP_BYTES: u32 = 4096;

fn program(nodes: usize) -> Program {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.elf");
    build_source("kernel.S", KERNEL, RegisterClass::Rv32e, &path).unwrap();
    let packet = |_| Packet { frame: vec![0; 60], port: 0, flags: 0, arrival: 0 };
    Program {
        kernel: KernelImage::from(&Kernel::read(&path).unwrap()),
        packets: vec![(0..PACKETS).map(packet).collect(); nodes],
        setup: ArraySetup { ring_slots_log2: 6, slot_bytes_log2: 8, eager: true, ..ArraySetup::default() },
        heap_bytes: HEAP_BYTES,
        commands: PACKETS as u32,
        timeout: None,
        linger: None,
    }
}

fn run(options: &ClusterOptions) -> ClusterResult<NodeReport> {
    let program = program(options.nodes);
    cluster::run(library(), options, |node| program.run(node, |_| {})).unwrap()
}

/// The heap of a node as the kernel of every node leaves it.
fn expected(node: usize, nodes: usize) -> Vec<u8> {
    let mut heap = vec![0; HEAP_BYTES as usize];
    for from in 0..nodes {
        for packet in (0..PACKETS).filter(|packet| packet % nodes == node) {
            let at = 512 * from + 8 * packet;
            heap[at..at + 4].copy_from_slice(&(from as u32).to_le_bytes());
            heap[at + 4..at + 8].copy_from_slice(&(packet as u32).to_le_bytes());
        }
    }
    heap
}

fn bad_links() -> LinkOptions {
    LinkOptions { loss: 3.0, duplicate: 3.0, reorder: 3.0, corrupt: 3.0, ..LinkOptions::default() }
}

#[test]
fn kernels_put_into_the_memories_of_all_nodes() {
    for (nodes, link) in [(2, LinkOptions::default()), (3, bad_links()), (8, LinkOptions::default())] {
        let memory = MemoryOptions { latency: Latency::Random(1, 60), ..MemoryOptions::default() };
        let options =
            ClusterOptions { nodes, memory, link, threads: 2, seed: test_seed(), ..Default::default() };
        let result = run(&options);
        for (number, node) in result.nodes.iter().enumerate() {
            assert!(node.heap == expected(number, nodes), "the heap of node {number} of {nodes}");
            let count = PACKETS as u32;
            let served = node.served;
            assert_eq!(
                (served.commands, served.posted, served.completed, served.failed),
                (count, count, count, 0)
            );
            assert!(node.began < node.ended && node.ended < node.complete);
            assert_eq!(node.status.pairs.len(), nodes);
            assert!(node.status.pairs.iter().all(|pair| pair.state == "UP"));
            let written = node.status.counters.iter().find(|(name, _)| name == "frames written").unwrap().1;
            let from_each = (0..PACKETS).filter(|packet| packet % nodes == number).count();
            assert_eq!(written as usize, nodes * from_each, "each once");
        }
    }
}

/// Which threads work when does not matter: memories, cycles, counters and captures are the same.
/// Another seed gives other captures.
#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let run = |threads, seed| {
        let folder = tempfile::tempdir().unwrap();
        let captures = Some(folder.path().to_path_buf());
        let links = vec![(1, LinkOptions { latency: 170, rate: 40.0, ..bad_links() })];
        let options = ClusterOptions {
            nodes: 4,
            link: bad_links(),
            links,
            threads,
            seed,
            captures,
            ..Default::default()
        };
        let result = run(&options);
        let captures: Vec<_> =
            (0..4).map(|port| std::fs::read(capture_path(folder.path(), port)).unwrap()).collect();
        (result.nodes, result.ports, captures)
    };
    let seed = test_seed();
    let first = run(1, seed);
    assert!(first.1.iter().any(|port| port.faults.lost > 0));
    for threads in [2, 3, 8] {
        let other = run(threads, seed);
        assert!(first.0 == other.0, "what the nodes report, with {threads} threads");
        assert!(first.1 == other.1, "what the ports counted, with {threads} threads");
        assert!(first.2 == other.2, "captures, with {threads} threads");
    }
    assert!(run(2, seed + 1).2 != first.2, "another seed");
}

/// The captures have what the ports counted, in the order of time, and on a good link each put once
/// in both.
#[test]
fn captures_have_every_frame_of_their_port() {
    let folder = tempfile::tempdir().unwrap();
    let captures = Some(folder.path().to_path_buf());
    let result = run(&ClusterOptions { nodes: 2, captures, ..ClusterOptions::default() });
    let mut puts = 0;
    for (port, counts) in result.ports.iter().enumerate() {
        let capture = hermes_testbench::traffic::read(&capture_path(folder.path(), port), None).unwrap();
        assert!(capture.frames.windows(2).all(|pair| pair[0].timestamp <= pair[1].timestamp));
        assert_eq!(capture.frames.len() as u64, counts.sent + counts.received);
        for frame in &capture.frames {
            puts += usize::from(RoceFrame::parse(&frame.data).unwrap().opcode == opcode::WRITE_ONLY);
        }
    }
    assert_eq!(puts, 2 * 2 * PACKETS, "each where it left and where it came");
    // The frames from node 0 to node 1 came 209 cycles later, or more where they waited.
    let [sent, came] = [0, 1].map(|port| {
        let capture = hermes_testbench::traffic::read(&capture_path(folder.path(), port), None).unwrap();
        let of_interest = |frame: &Frame| frame.data.len() == 82 && frame.data[5] == 2 && frame.data[11] == 1;
        let frames = capture.frames.into_iter().filter(of_interest);
        frames.map(|frame| (frame.data, frame.timestamp)).collect::<Vec<_>>()
    });
    assert_eq!(sent.len(), PACKETS / 2);
    let delays = sent.iter().zip(&came).map(|((left, then), (right, now))| {
        assert_eq!(left, right);
        now - then
    });
    assert_eq!(delays.min(), Some(209));
}
