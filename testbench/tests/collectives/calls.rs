//! All calls, one after the other, of nodes that run ahead and fall behind, compared byte by byte
//! with what plain Rust makes of the same sources.

use hermes_testbench::cluster::QueueMode;
use hermes_testbench::kernel::RegisterClass;
use hermes_testbench::test_seed;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{idle_packets, kernel, words, Case, LANES};

/// As in `kernels/calls.c`.
const SOURCE: usize = 2048;
const RESULTS: usize = 4096;
const PART: usize = 512;
const HALF: usize = 256;
/// Rounds, if the nodes are few.
const ROUNDS: usize = 2;
const HEAP: usize = 16 << 10;

/// What a round does.
struct Round {
    words: usize,
    operation: u32,
    bytes: usize,
    root: usize,
    block: usize,
}

fn operate(operation: u32, a: u32, b: u32) -> u32 {
    match operation {
        0 => a.wrapping_add(b),
        1 => (a as i32).min(b as i32) as u32,
        2 => (a as i32).max(b as i32) as u32,
        3 => a & b,
        4 => a | b,
        _ => a ^ b,
    }
}

/// The sum that the kernel makes of words.
fn sum_of(bytes: &[u8]) -> u32 {
    words(bytes).iter().fold(0, |sum: u32, word| sum.wrapping_mul(31).wrapping_add(*word))
}

/// A part whose halves begin with these bytes.
fn halves(first: &[u8], second: &[u8]) -> Vec<u8> {
    let mut bytes = first.to_vec();
    bytes.resize(HALF, 0);
    bytes.extend_from_slice(second);
    bytes
}

/// The six parts of a round on each node.
fn expected(sources: &[Vec<u8>], number: usize, round: &Round) -> Vec<Vec<Vec<u8>>> {
    let nodes = sources.len();
    let column = |at: usize| sources.iter().map(move |source| words(source)[at]);
    let reduced: Vec<u8> = (0..round.words)
        .flat_map(|at| {
            column(at).reduce(|a, b| operate(round.operation, a, b)).unwrap_or_default().to_le_bytes()
        })
        .collect();
    let blocks = |from: usize, number_there: usize| {
        let first = number + number_there * round.block;
        sources[from][first..first + round.block].to_vec()
    };
    let gathered: Vec<u8> = (0..nodes).flat_map(|from| blocks(from, 0)).collect();
    let collected: Vec<u8> = sources.iter().flat_map(|source| source[..round.block].to_vec()).collect();
    let exchanged: Vec<Vec<u8>> =
        (0..nodes).map(|to| (0..nodes).flat_map(|from| blocks(from, to)).collect()).collect();
    let first_words = |part: &Vec<u8>| words(&[part.clone(), vec![0; 12]].concat())[..3].to_vec();
    let sums: Vec<u8> = (0..3)
        .flat_map(|at| {
            let words = exchanged.iter().map(|part| first_words(part)[at]);
            words.fold(0, u32::wrapping_add).to_le_bytes()
        })
        .collect();
    let shared = |number: usize| {
        let first = 64 * number;
        sources.iter().flat_map(|source| source[first..first + 16].to_vec()).collect::<Vec<u8>>()
    };
    let before = if number == 0 { 0 } else { sum_of(&shared(number - 1)) };
    let seen = [before, sum_of(&shared(number))].map(u32::to_le_bytes).concat();
    (0..nodes)
        .map(|node| {
            let mut parts = vec![
                reduced.clone(),
                halves(&sources[round.root][..round.bytes], &sources[round.root][..round.bytes]),
                halves(&gathered, &collected),
                exchanged[node].clone(),
                sums.clone(),
                seen.clone(),
            ];
            parts.iter_mut().for_each(|part| part.resize(PART, 0));
            parts
        })
        .collect()
}

fn calls(case: Case, lanes: usize) {
    let count = if case.nodes > 3 { 1 } else { ROUNDS };
    // Rounds are of two kinds: five nodes have one of the first, eight one of the second.
    let kind = usize::from(case.nodes > 5);
    let mut random = ChaCha8Rng::seed_from_u64(test_seed() ^ case.nodes as u64);
    let sources: Vec<Vec<u8>> = (0..case.nodes).map(|_| (0..PART).map(|_| random.gen()).collect()).collect();
    // All operations come in the two tests without loss.
    let first = match case.nodes {
        2 => 0,
        3 => 2,
        5 => 4,
        _ => 5,
    };
    let rounds: Vec<Round> = (kind..kind + count)
        .map(|round| Round {
            // More than a piece of 64 words, and less.
            words: if round % 2 == 0 { random.gen_range(65..=80) } else { random.gen_range(1..=64) },
            operation: (first + (round - kind) as u32) % 6,
            bytes: if round % 2 == 0 { random.gen_range(1..=16) } else { random.gen_range(17..=120) },
            root: random.gen_range(0..case.nodes),
            // Up to 16 bytes stand in the command.
            block: if round % 2 == 0 { random.gen_range(17..=24) } else { random.gen_range(1..=16) },
        })
        .collect();
    let mut own = vec![count as u32];
    for round in &rounds {
        let words = [round.words, round.operation as usize, round.bytes, round.root, round.block];
        own.extend(words.map(|word| word as u32));
    }
    let fill =
        |node: usize, _: &_| [vec![0; SOURCE], sources[node].clone(), vec![0; HEAP - SOURCE - PART]].concat();
    let packets = idle_packets(case.nodes, lanes);
    let result = case.run(&kernel("calls.c"), &packets, own, HEAP as u32, fill);
    for (number, node) in result.nodes.iter().enumerate() {
        assert_eq!((node.faults, &node.verdicts), (0, &vec![0; lanes]), "node {number}, {case:?}");
        assert!(node.status.pairs.iter().all(|pair| pair.state == "UP"));
    }
    for (number, round) in rounds.iter().enumerate() {
        let expected = expected(&sources, number, round);
        for (node, parts) in result.nodes.iter().zip(&expected) {
            for (part, bytes) in parts.iter().enumerate() {
                let first = RESULTS + (6 * number + part) * PART;
                assert!(&node.heap()[first..first + PART] == bytes, "{case:?}, round {number}, part {part}");
            }
        }
    }
    let lost = result.ports.iter().map(|port| port.faults.lost).sum::<u64>();
    assert_eq!(lost > 0, case.loss > 0.0);
    let cycles = result.nodes[0].cycles;
    println!("{case:?}: {} cycles a round", (cycles.1 - cycles.0) / count as u64);
}

fn case(mode: QueueMode, registers: RegisterClass, nodes: usize, loss: f64) -> Case {
    Case { mode, registers, nodes, loss }
}

#[test]
fn two_and_three_nodes() {
    for (nodes, registers) in [(2, RegisterClass::Rv32e), (3, RegisterClass::Rv32i)] {
        calls(case(QueueMode::Queues, registers, nodes, 0.0), LANES);
    }
}

/// All rounds of a reduction, and nodes beyond a power of two.
#[test]
fn five_and_eight_nodes() {
    for (nodes, registers) in [(5, RegisterClass::Rv32i), (8, RegisterClass::Rv32e)] {
        calls(case(QueueMode::Queues, registers, nodes, 0.0), LANES);
    }
}

#[test]
fn with_loss() {
    calls(case(QueueMode::Queues, RegisterClass::Rv32e, 3, 2.0), LANES);
    calls(case(QueueMode::Paper, RegisterClass::Rv32i, 2, 2.0), LANES);
    // Puts that are sent again come behind messages of other nodes, unless a call waits for them.
    calls(case(QueueMode::Queues, RegisterClass::Rv32i, 5, 10.0), LANES);
}

#[test]
fn mode_paper() {
    calls(case(QueueMode::Paper, RegisterClass::Rv32e, 2, 0.0), LANES);
}

/// Lanes that do not run have no share of the words.
#[test]
fn a_part_of_a_warp() {
    calls(case(QueueMode::Queues, RegisterClass::Rv32i, 2, 0.0), LANES - 1);
}
