//! What a network interface changes in a core: the CSR 0xccb, and which `fence` drops the data cache.

use super::testing::*;
use crate::config::CoreOptions;

const NETWORK: CoreOptions = CoreOptions {
    aes: false,
    atomics: false,
    oldest_first: false,
    l1_lines: 16,
    instruction_cache_lines: 16,
    instruction_cache_ways: 1,
    spawns: false,
    network: true,
    trace: false,
};

/// `fence` with these sets: 8 I, 4 O, 2 R, 1 W.
fn fence(predecessor: u32, successor: u32) -> u32 {
    predecessor << 24 | successor << 20 | 0xf
}

/// The CSR 0xccb names the lowest lane of those that run the instruction: of all lanes, of a partial warp, and of each side of
/// a branch.
#[test]
fn the_leader_is_the_lowest_running_lane() {
    let mut program = Program::default();
    program
        .csrr(A3, 0xcc1)
        .csrr(A4, 0xccb)
        .op_imm(1, A4, A4, 4)
        .op_imm(3, T0, A3, 3)
        .branch(0, T0, ZERO, "high")
        .op_imm(7, T0, A3, 1)
        .branch(0, T0, ZERO, "even")
        .csrr(A0, 0xccb)
        .add(A0, A0, A4)
        .ret()
        .label("even")
        .csrr(A0, 0xccb)
        .add(A0, A0, A4)
        .ret()
        .label("high")
        .csrr(A0, 0xccb)
        .add(A0, A0, A4)
        .ret();
    for (count, leaders) in [(8, [0, 1, 0, 3, 3, 3, 3, 3]), (2, [0, 1, 9, 9, 9, 9, 9, 9])] {
        let mut bench = Bench::<8>::with(&program, 5, NETWORK);
        (8..16).for_each(|packet| bench.write_word(VERDICTS + 4 * packet, 9));
        bench.start(1, 8, count);
        bench.run(1);
        let verdicts: Vec<u32> = (8..16).map(|packet| bench.verdict(packet)).collect();
        assert_eq!(verdicts, leaders);
        assert!(bench.faults.is_empty());
    }
    // A core without network interface does not have it.
    let mut bench = Bench::<8>::new(&program, 5);
    bench.start(1, 8, 8);
    bench.run(1);
    assert!(bench.faults.iter().all(|fault| fault.0 == 2), "{:?}", bench.faults);
    assert_eq!(bench.faults.iter().map(|fault| fault.1).sum::<u32>(), 8);
}

/// The data of a line that another core changes while a thread is between two loads of it, with a fence between them: what the
/// second load finds.
fn second_load(options: CoreOptions, fence: u32) -> u32 {
    const X: u32 = ARGUMENT;
    let mut program = Program::default();
    // The store, to the stack, tells that the first load is complete; the fence waits for it.
    program.load(2, A3, A2, 0).store(2, A3, SP, -4).word(fence).load(2, A0, A2, 0).ret();
    let mut bench = Bench::<1>::with(&program, 8, options);
    bench.write_word(X, 5);
    bench.start(3, 0, 1);
    let stored = STACKS + (2 * 32 + 3) * 256 + 256 - 4;
    while bench.read_word(stored) != 5 {
        assert!(bench.cycles < 1_000);
        bench.cycle();
    }
    bench.write_word(X, 6);
    bench.run(1);
    assert!(bench.faults.is_empty());
    bench.verdict(0)
}

/// A fence drops the data cache if it orders later reads; with a network interface only then.
#[test]
fn a_fence_without_reads_behind_it_keeps_the_data_cache() {
    for (predecessor, successor) in [(3, 13), (1, 2)] {
        let fence = fence(predecessor, successor);
        let acquires = successor & 2 != 0;
        assert_eq!(second_load(NETWORK, fence), if acquires { 6 } else { 5 }, "{fence:#x}");
    }
    assert_eq!(second_load(CoreOptions::default(), fence(3, 1)), 6);
}
