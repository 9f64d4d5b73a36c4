//! A kernel whose queues are those of a domain other than 0.

use hermes_rtl::net::right;
use hermes_rtl::types::code;
use hermes_testbench::cluster::{self, address, Node, QueueArea, QueueMode, QueueProgram, QueueService};
use hermes_testbench::cosim::{self, ArraySetup, CosimError, Device as _, QueuePair, Region, RunOptions};
use hermes_testbench::firmware::Firmware;
use hermes_testbench::kernel::RegisterClass;

use super::{kernel, lossy, one_hart, options, program, LANES};

/// The domain of the kernel.
const DOMAIN: u32 = 1;
const HEAP_BYTES: u32 = 4096;
/// Its queue pairs: this one and the next, for node 0 and node 1.
const FIRST_PAIR: u32 = 8;
/// Its region, and one of domain 0 for the same bytes.
const REGION: u32 = 3;
const OTHER_REGION: u32 = 4;
/// `BYTES` and places of `kernels/domain.c`.
const BYTES: usize = 200;
const WORD: usize = 1024;
const PUT: usize = 1088;
const GOT: usize = 2048;

/// What the commands of the kernel use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    /// Queue pairs and regions of their domain.
    Nothing,
    /// Queue pairs of domain 0.
    Pair,
    /// Regions of domain 0 for local bytes.
    Region,
}

/// A key that the region may have.
const fn key(node: u32) -> u32 {
    (0x00d0_3a10 + node) << 4 | REGION
}

/// First sequence number of the packets from one node to another.
const fn first(from: u32, to: u32) -> u32 {
    0x10_0000 * (from + 1) + 77 * to
}

/// Queue pairs and a region of the domain, for the heap of its area.
fn connect(node: &mut Node, area: &QueueArea) -> Result<(), CosimError> {
    let number = node.number as u32;
    let region = Region {
        address: area.heap,
        bytes: HEAP_BYTES,
        rights: right::ALL,
        key: key(number),
        domain: DOMAIN,
    };
    node.host.set_region(REGION, &region)?;
    let other = Region { domain: 0, key: OTHER_REGION, ..region };
    node.host.set_region(OTHER_REGION, &other)?;
    for peer in 0..node.nodes as u32 {
        let pair = QueuePair {
            peer: address(peer as usize),
            remote: FIRST_PAIR + number,
            key: key(peer),
            window: area.heap,
            window_bytes: HEAP_BYTES,
            remote_base: area.heap.into(),
            send: first(number, peer),
            expect: first(peer, number),
            domain: DOMAIN,
            ..QueuePair::default()
        };
        node.host.connect_queue_pair(FIRST_PAIR + peer, &pair)?;
    }
    node.meet()
}

/// Bytes that a node has in its heap of the domain.
fn source(node: usize) -> Vec<u8> {
    (0..BYTES).map(|at| (at * 7 + 31 * node + 1) as u8).collect()
}

/// Runs the kernel: verdicts, both heaps.
fn run(wrong: Wrong) -> Vec<(Vec<u32>, [Vec<u8>; 2])> {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), QueueMode::Queues, &kernel("domain.c"), RegisterClass::Rv32e, 1);
    let result = cluster::run(one_hart(), &options(lossy(0.0)), |node| {
        let QueueProgram { kernel, firmware, packets, setup, .. } = &program;
        node.host.load_kernel(kernel)?;
        let firmware = Firmware::read(firmware).unwrap();
        node.host.reserve_firmware(&firmware)?;
        let first = QueueArea::allocate(&mut node.host, HEAP_BYTES)?;
        let bytes = DOMAIN << first.bytes_log2;
        let area = QueueArea { base: first.base + bytes, heap: first.heap + bytes, ..first };
        let setup = ArraySetup { argument: area.argument(node, &[]), ..setup.clone() };
        let layout = node.host.configure(&setup)?;
        node.host.device_mut().write_memory(area.heap, &source(node.number))?;
        node.connect_mesh(first.heap, first.heap_bytes)?;
        connect(node, &area)?;
        QueueService::start(node, QueueMode::Queues, &firmware, &first, 4)?;
        for peer in 0..node.nodes as u32 {
            let pair = if wrong == Wrong::Pair { peer } else { FIRST_PAIR + peer };
            let region = if wrong == Wrong::Region { OTHER_REGION } else { REGION };
            QueueService::route(node, DOMAIN, peer, pair, region);
        }
        node.meet()?;
        // The firmware takes the messages before the kernel has commands.
        for _ in 0..8 {
            node.host.attend_firmware()?;
            node.run(500)?;
        }
        let packets = &packets[node.number];
        let run_options = RunOptions { skip_idle: false, ..RunOptions::default() };
        let result = cosim::run(&mut node.host, &setup, &layout, packets, run_options, &mut |_| {})?;
        QueueService::stop(node)?;
        node.meet()?;
        let heaps = [
            node.read_clean(first.heap, HEAP_BYTES as usize)?,
            node.read_clean(area.heap, HEAP_BYTES as usize)?,
        ];
        Ok((result.packets.iter().map(|packet| packet.verdict).collect(), heaps))
    });
    result.unwrap().nodes
}

/// Puts, gets and additions of a kernel of domain 1 reach the heap of that domain, and no other.
#[test]
fn a_kernel_of_another_domain() {
    for (number, (verdicts, [other, heap])) in run(Wrong::Nothing).into_iter().enumerate() {
        assert_eq!(verdicts, [0; LANES], "node {number}");
        let mut expected = vec![0; HEAP_BYTES as usize];
        expected[..BYTES].copy_from_slice(&source(number));
        expected[WORD..WORD + 8].copy_from_slice(&0x0123_4567_89ab_cdf0_u64.to_le_bytes());
        expected[PUT..PUT + BYTES].copy_from_slice(&source(1 - number));
        // What the node put, and got back
        expected[GOT..GOT + BYTES].copy_from_slice(&source(number));
        assert!(heap == expected, "the heap of node {number}");
        assert!(other.iter().all(|byte| *byte == 0), "domain 0 of node {number}");
    }
}

/// Its commands end with an error, and nothing is sent, when firmware sends them to queue pairs or
/// regions of domain 0.
#[test]
fn commands_of_one_domain_use_nothing_of_another() {
    for (wrong, expected) in [(Wrong::Pair, code::DOWN as u32), (Wrong::Region, 0x82)] {
        for (number, (verdicts, [other, heap])) in run(wrong).into_iter().enumerate() {
            assert!(verdicts.iter().all(|verdict| verdict & 0xff == expected), "{wrong:?}: {verdicts:x?}");
            assert!(other.iter().all(|byte| *byte == 0), "domain 0 of node {number}");
            let put = &heap[PUT..PUT + BYTES];
            assert!(put.iter().all(|byte| *byte == 0), "{wrong:?}: the heap of node {number}");
        }
    }
}
