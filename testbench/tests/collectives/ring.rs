//! `ring.c`: the sums of all nodes, bit by bit those of plain Rust.

use std::fs;
use std::path::Path;

use hermes_testbench::cluster::{self, ClusterResult, LinkOptions, QueueMode, QueueReport, Ring};
use hermes_testbench::kernel::RegisterClass;
use hermes_testbench::test_seed;

use super::small_node::{library, lossy, options, program};
use super::{idle_packets, source, Case, LANES, WARPS};

/// Runs the kernel `source` over such links; the first word that is wrong, if one is.
fn run(
    case: Case,
    link: LinkOptions,
    ring: Ring,
    source: &Path,
) -> Result<ClusterResult<QueueReport>, String> {
    let heap_bytes = ring.heap_bytes(case.nodes);
    ring.check(case.nodes, WARPS, heap_bytes).unwrap();
    let packets = idle_packets(case.nodes, ring.rings as usize * LANES);
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(folder.path(), case.mode, source, case.registers, packets);
    (program.own, program.heap_bytes) = (ring.own(LANES), heap_bytes as u32);
    let options = options(case.nodes, link);
    let run = |node: &mut cluster::Node| program.run(node, |number, _| ring.start(number));
    let result = cluster::run(library(), &options, run).unwrap();
    for (number, node) in result.nodes.iter().enumerate() {
        if node.faults > 0 || node.verdicts.iter().any(|verdict| *verdict != 0) {
            return Err(format!("node {number}: {} faults, {:x?}", node.faults, node.verdicts));
        }
        let (begin, end) = ring.compare(case.nodes, number, node.heap())?;
        assert!(u64::from(begin) >= node.cycles.0 && u64::from(end) <= node.cycles.1, "node {number}");
    }
    Ok(result)
}

fn allreduce(case: Case, rings: usize, words: u32, piece: u32) {
    let rounds = 1 + words % 2;
    let ring = Ring { rings: rings as u32, words, piece, rounds, seed: test_seed() as u32 };
    let result = run(case, lossy(case.loss), ring, &source("c/ring.c"))
        .unwrap_or_else(|error| panic!("{case:?}: {error}"));
    let lost = result.ports.iter().map(|port| port.faults.lost).sum::<u64>();
    assert_eq!(lost > 0, case.loss > 0.0);
    let cycles = result.nodes[0].cycles;
    println!("{case:?}: {rings} rings of {words} words in {} cycles", cycles.1 - cycles.0);
}

const QUEUES: Case = Case { mode: QueueMode::Queues, registers: RegisterClass::Rv32i, nodes: 2, loss: 0.0 };
const SMALL: RegisterClass = RegisterClass::Rv32e;

/// Pieces that fill a chunk or do not, that are a word or all of it; chunks that differ by a word,
/// so that one has a piece more than another, or no word of it; one round and two.
#[test]
fn sums_of_all_nodes() {
    allreduce(Case { registers: SMALL, ..QUEUES }, WARPS, 130, 33);
    allreduce(Case { nodes: 3, ..QUEUES }, 2, 49, 16);
    allreduce(Case { nodes: 8, ..QUEUES }, 1, 10, 1);
}

/// The adds of eight lanes, whose stride is a constant, with the stride of these arrays: whole
/// blocks and a rest.
#[test]
fn sums_with_a_constant_stride() {
    let mut text = fs::read_to_string(source("c/ring.c")).unwrap();
    for (from, to) in [
        ("(lanes == 8)", format!("(lanes == {LANES})")),
        ("count, 8, TOGETHER", format!("count, {LANES}, TOGETHER")),
    ] {
        assert_eq!(text.matches(from).count(), 1, "{from}: the kernel has another text");
        text = text.replace(from, &to);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ring.c");
    fs::write(&path, text).unwrap();
    let ring = Ring { rings: 2, words: 140, piece: 70, rounds: 1, seed: test_seed() as u32 };
    for registers in [RegisterClass::Rv32i, SMALL] {
        let case = Case { registers, ..QUEUES };
        run(case, LinkOptions::default(), ring, &path).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    }
}

#[test]
fn sums_with_loss() {
    allreduce(Case { registers: SMALL, nodes: 4, loss: 2.0, ..QUEUES }, WARPS, 38, 6);
}

#[test]
fn sums_in_mode_paper() {
    allreduce(Case { mode: QueueMode::Paper, nodes: 3, ..QUEUES }, WARPS, 40, 100);
}

/// Faults in the kernel that the comparison must find.
#[test]
fn wrong_rings_are_found() {
    let text = fs::read_to_string(source("c/ring.c")).unwrap();
    let ring = Ring { rings: 1, words: 24, piece: 5, rounds: 1, seed: 1 };
    // A frame takes longer than to post it.
    let slow = LinkOptions { rate: 1.0, ..LinkOptions::default() };
    let wait = "hermes_wait_until32((const uint32_t *)signal, HERMES_GE, number - behind);";
    for (what, from, to) in [
        ("a piece is added before it came", wait, ";"),
        (
            "the signal of a piece is that of the next",
            "hermes_p64(ctx, signal, number, next)",
            "hermes_p64(ctx, signal, number + 1, next)",
        ),
        ("a piece is not added", "if (adds && count)", "if (adds && count && number % 2)"),
    ] {
        assert_eq!(text.matches(from).count(), 1, "{what}: the kernel has another text");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ring.c");
        fs::write(&path, text.replace(from, to)).unwrap();
        assert!(run(QUEUES, slow.clone(), ring, &path).is_err(), "{what}: not found");
    }
}
