//! What a network interface changes in a core: the CSR 0xccb, and which `fence` drops the data
//! cache.

use super::testing::*;
use crate::config::CoreOptions;
use hermes_hdl::prelude::bits;
use hermes_hdl::testing::one_in;

/// A core with a network interface, and small caches.
fn network() -> CoreOptions {
    CoreOptions {
        atomics: true,
        network: true,
        l1_lines: 16,
        instruction_cache_lines: 16,
        ..CoreOptions::default()
    }
}

/// `fence` with these sets: 8 I, 4 O, 2 R, 1 W.
fn fence(predecessor: u32, successor: u32) -> u32 {
    predecessor << 24 | successor << 20 | 0xf
}

/// The CSR 0xccb names the lowest lane of those that run the instruction: of all lanes, of a
/// partial warp, and of each side of a branch.
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
        let mut bench = Bench::<8>::with(&program, 5, network());
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

/// The data of a line that another core changes while a thread is between two loads of it, with a
/// fence between them: what the second load finds.
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
        assert_eq!(second_load(network(), fence), if acquires { 6 } else { 5 }, "{fence:#x}");
    }
    assert_eq!(second_load(CoreOptions::default(), fence(3, 1)), 6);
}

/// `amoor.w a3, zero, (a2)`, `wrs.nto`, `wrs.sto`.
const LOOK: u32 = 0x4006_26af;
const WRS_NTO: u32 = 0x00d0_0073;
const WRS_STO: u32 = 0x01d0_0073;

/// A kernel of these words.
fn program_of(words: &[u32]) -> Program {
    let mut program = Program::default();
    words.iter().for_each(|&word| {
        program.word(word);
    });
    program.ret();
    program
}

/// ARGUMENT, as a line address.
const ARGUMENT_LINE: u32 = ARGUMENT >> 6;

/// Cycles of a kernel of these words, if the line of ARGUMENT is written after `write` cycles, or
/// the watchdog has a limit; and its faults.
fn waits(words: &[u32], write: Option<u64>, watchdog: u64) -> (u64, usize) {
    let mut bench = Bench::<1>::with(&program_of(words), 8, network());
    bench.core.watchdog_limit.next = bits(watchdog);
    bench.start(3, 0, 1);
    while bench.finished.is_empty() {
        assert!(bench.cycles < 10_000);
        bench.core.written_line[0].valid.next = write == Some(bench.cycles);
        // ARGUMENT is line 0xc00.
        bench.core.written_line[0].fold.next = bits(0x0c);
        bench.cycle();
    }
    (bench.cycles, bench.faults.len())
}

/// A `wrs` behind a look lasts until the line is written, or for its time; without a look it is
/// over at once. The watchdog ends a warp that sleeps.
#[test]
fn a_warp_sleeps_until_the_line_is_written() {
    let (alone, _) = waits(&[LOOK], None, 0);
    for wrs in [WRS_NTO, WRS_STO] {
        let (none, faults) = waits(&[wrs], None, 0);
        assert!(none < alone && faults == 0, "{none} {alone}");
    }
    for (wrs, most) in [(WRS_NTO, 4_096), (WRS_STO, 128)] {
        let (cycles, faults) = waits(&[LOOK, wrs], None, 0);
        assert!((most / 2..=most + 200).contains(&(cycles - alone + 20)), "{cycles} beside {alone}");
        assert_eq!(faults, 0);
    }
    for write in [500, 501, 502, 503] {
        let (cycles, faults) = waits(&[LOOK, WRS_NTO], Some(write), 0);
        assert!((write..write + 60).contains(&cycles) && faults == 0, "{cycles} behind {write}");
    }
    // A write that a bank can have accepted behind the look counts, wherever it comes; the look saw
    // those before it.
    let mut bench = Bench::<1>::with(&program_of(&[LOOK, WRS_NTO]), 8, network());
    bench.start(3, 0, 1);
    while !bench.memory.contains_key(&ARGUMENT_LINE) {
        bench.cycle();
    }
    let sent = bench.cycles - 1;
    for write in one_in(2, sent + 2..sent + 60) {
        let (cycles, _) = waits(&[LOOK, WRS_NTO], Some(write), 0);
        assert!(cycles < alone + 100, "{cycles} behind {write}, sent at {sent}");
    }
    let (cycles, faults) = waits(&[LOOK, WRS_NTO], None, 300);
    assert!((300..450).contains(&cycles) && faults == 1, "{cycles} with {faults}");
    // Of several lines it knows the last alone, and looks again soon.
    let next_line = 0x0406_0613; // addi a2, a2, 64
    let (cycles, _) = waits(&[LOOK, next_line, LOOK, WRS_NTO], None, 0);
    assert!(cycles < 2 * alone + 300, "{cycles}");
    // A core without network interface does not know it.
    let mut bench = Bench::<1>::new(&program_of(&[WRS_NTO]), 8);
    bench.start(3, 0, 1);
    bench.run(1);
    assert!(bench.faults.len() == 1 && bench.faults[0].0 == 2, "{:?}", bench.faults);
}

/// A line that came with a bus error is a fault, also if a `wrs` stands there.
#[test]
fn a_wrs_that_cannot_be_fetched_is_a_fault() {
    for words in [&[WRS_NTO][..], &[WRS_STO], &[LOOK, WRS_NTO]] {
        let mut bench = Bench::<1>::with(&program_of(words), 8, network());
        bench.failing.insert(KERNEL >> 6);
        bench.start(3, 0, 1);
        bench.run(1);
        let faults: Vec<_> = bench.faults.iter().map(|fault| (fault.0, fault.2)).collect();
        assert_eq!(faults, [(1, KERNEL)]);
    }
}

/// Each warp falls asleep once for a `wrs`, when its stores are acknowledged, whatever others
/// complete meanwhile; no copy of the instruction is under way then. One case sleeps for long.
#[test]
fn a_warp_that_sleeps_has_nothing_under_way() {
    let store = 0x00d6_2023; // sw a3, 0(a2)
    for (words, counts) in [
        (&[LOOK, WRS_NTO][..], &[6][..]),
        (&[LOOK, store, WRS_STO][..], &[1, 6][..]),
        (&[LOOK, store, store, WRS_STO][..], &[1, 6][..]),
    ] {
        for &warps in counts {
            let mut bench = Bench::<1>::with(&program_of(words), 40, network());
            (0..warps).for_each(|warp| bench.start(warp, warp as u32, 1));
            let mut falls = [0; 6];
            while bench.finished.len() < warps as usize {
                bench.cycle();
                if let Some((slot, stores)) = bench.core.falls_asleep() {
                    falls[slot] += 1;
                    assert!(!stores, "slot {slot} sleeps with a store under way");
                }
            }
            assert_eq!((&falls[..warps as usize], bench.faults.len()), (&[1; 6][..warps as usize], 0));
        }
    }
}
