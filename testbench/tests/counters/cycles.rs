//! Counters of cycles: how long warps are on a core comes from the array's events, how many
//! instructions it took from the retire trace, and where the cycles in between went from kernels
//! that lose them for one known reason.

use std::collections::HashSet;

use hermes_rtl::host::registers::core_counters::CoreCounterValues;
use hermes_testbench::cosim::{ArraySetup, CoreCounters, Latency, LostCycles, MemoryOptions};
use hermes_testbench::kernel::Kernel;

use super::array::*;
use super::observed::{Observed, BOOT};

const PACKETS: usize = 32;
/// Cycles that an instruction loses which is sent back because a value is missing that comes late.
const SENT_BACK: u64 = 5;
/// Cycles for each reason and warp in which gaps and counters may differ: a warp loses some at its
/// start and at its end besides those that its kernel loses, and a cycle may count for the
/// instruction before or behind it. The reason that a case is for takes 20 times as many.
const EDGES: u64 = 64;

/// A kernel, and for what it loses its cycles besides branches and lines of instructions that are
/// not in the cache.
struct Case {
    name: &'static str,
    text: &'static str,
    latency: u32,
    /// What of a gap of so many cycles between two instructions goes to which reason.
    lost: fn(u64) -> LostCycles,
    /// The reason that this case is for: most cycles are lost for it.
    most: fn(&LostCycles) -> u32,
}

fn lost(memory: u64, scoreboard: u64, conflict: u64) -> LostCycles {
    let [memory, scoreboard, conflict] = [memory, scoreboard, conflict].map(|cycles| cycles as u32);
    LostCycles { memory, scoreboard, conflict, ..LostCycles::default() }
}

const CASES: [Case; 6] = [
    Case {
        name: "loads from memory, each used at once",
        text: "slli t1, a0, 10; add t1, t1, a2; li t2, 16
               1: lw t0, 0(t1); add t1, t1, t0; addi t1, t1, 64; addi t2, t2, -1; bnez t2, 1b; ret",
        latency: 200,
        lost: |gap| lost(gap.saturating_sub(SENT_BACK), gap.min(SENT_BACK), 0),
        most: |lost| lost.memory,
    },
    Case {
        name: "divisions, each used at once",
        text: "li t2, 60; 1: div t0, t2, t2; add t1, t0, t0; addi t2, t2, -1; bnez t2, 1b; ret",
        latency: 50,
        lost: |gap| lost(gap.saturating_sub(SENT_BACK), gap.min(SENT_BACK), 0),
        most: |lost| lost.memory,
    },
    Case {
        name: "instructions that are not in the cache",
        text: ".rept 239; addi t0, t0, 1; .endr; ret",
        latency: 200,
        lost: |_| LostCycles::default(),
        most: |lost| lost.fetch,
    },
    Case {
        name: "branches",
        text: "li t2, 300; 1: addi t2, t2, -1; bnez t2, 1b; ret",
        latency: 50,
        lost: |_| LostCycles::default(),
        most: |lost| lost.divergence,
    },
    Case {
        name: "products, each used at once",
        text: "li t2, 60; 1: .rept 12; mul t1, t1, t1; .endr; addi t2, t2, -1; bnez t2, 1b; ret",
        latency: 50,
        lost: |gap| lost(0, gap, 0),
        most: |lost| lost.scoreboard,
    },
    Case {
        name: "stores of all lanes to one bank of the scratchpad",
        text: "li t1, SCRATCHPAD; slli t0, a0, 4; andi t0, t0, 1023; add t1, t1, t0; li t2, 60
               1: .rept 8; sw t2, 0(t1); .endr; addi t2, t2, -1; bnez t2, 1b; ret",
        latency: 50,
        lost: |gap| lost(0, 0, gap),
        most: |lost| lost.conflict,
    },
];

fn kernel(text: &str) -> Kernel {
    let head =
        ".include \"packet.inc\"\n.text\n.balign 64\n.globl kernel\n.type kernel, @function\nkernel:\n";
    assemble(&format!("{head}{text}\n"))
}

fn run(kernel: &Kernel, latency: u32, mcw: u32) -> Outcome {
    let memory = MemoryOptions { latency: Latency::Fixed(latency), ..MemoryOptions::default() };
    let setup = ArraySetup {
        ring_slots_log2: (4 * PACKETS).ilog2(),
        slot_bytes_log2: 7,
        mcw,
        argument: vec![0; PACKETS << 10],
        ..ArraySetup::default()
    };
    Array::new(kernel, memory, |_| setup).run(vec![vec![0; 60]; PACKETS])
}

/// The cycles in which nothing retired on a core on which one warp runs at a time, by reason: after
/// a branch, before the first instruction of a line that comes for the first time, and what `case`
/// says of all others.
fn lost_by_gaps(observed: &Observed, core: usize, kernel: &Kernel, case: &Case) -> LostCycles {
    let mut sum = LostCycles::default();
    let mut lines = HashSet::new();
    let retired: Vec<_> = observed.on(core).collect();
    let branches = |pc: u32| {
        let word = kernel.segments.iter().find_map(|segment| {
            let at = pc.checked_sub(segment.address)? as usize;
            Some(u32::from_le_bytes(segment.bytes.get(at..at + 4)?.try_into().ok()?))
        });
        // BRANCH, JALR, JAL
        matches!(word.map(|word| word & 0x7f), Some(0x63 | 0x67 | 0x6f))
    };
    for pair in retired.windows(2) {
        let [before, next] = [pair[0], pair[1]];
        if next.pc >= BOOT {
            continue;
        }
        let gap = next.cycle - before.cycle - 1;
        if lines.insert(next.pc / 64) {
            sum.fetch += gap as u32;
        } else if branches(before.pc) || before.pc >= BOOT {
            sum.divergence += gap as u32;
        } else {
            let more = (case.lost)(gap);
            sum.memory += more.memory;
            sum.scoreboard += more.scoreboard;
            sum.conflict += more.conflict;
        }
    }
    sum
}

/// What the counters of a core have to agree with whatever it does.
fn check_sums(name: &str, core: usize, counters: &CoreCounters, observed: &Observed, mcw: u32) {
    let CoreCounters { core: CoreCounterValues { active_cycles, stall_cycles, .. }, lost, .. } = *counters;
    let (occupied, stretches) = observed.occupied(core);
    // A warp is on the core from the cycle after its issue to that before its finish is reported.
    assert_eq!(
        u64::from(active_cycles),
        occupied - 2 * stretches,
        "{name}: CORE_ACTIVE_CYCLES of core {core}"
    );
    // In each of the others stage X takes an instruction.
    let taken = observed.on(core).count() as u32;
    assert_eq!(active_cycles - stall_cycles, taken, "{name}: CORE_STALL_CYCLES of core {core}");
    let told: u32 = lost.named().iter().map(|(_, cycles)| cycles).sum();
    // Cycles of no reason: the finish of a warp waits until it is taken.
    let waits = stall_cycles - told;
    let stays = observed.stays.iter().filter(|stay| stay.core == core).count() as u32;
    assert!(waits <= 3 * stays && (mcw > 1 || waits == 3 * stays), "{name}: {waits} for {stays} warps");
}

#[test]
fn cycles_are_lost_for_their_reasons() {
    for case in &CASES {
        let kernel = kernel(case.text);
        let Outcome { result, observed, .. } = run(&kernel, case.latency, 1);
        for (core, counters) in result.counters.iter().enumerate() {
            let name = case.name;
            check_sums(name, core, counters, &observed, 1);
            let expected = lost_by_gaps(&observed, core, &kernel, case);
            println!("{name}, core {core}: {:?}, by the gaps {expected:?}", counters.lost);
            let edges = (PACKETS / (CORES * LANES)) as u64 * EDGES;
            for ((reason, cycles), (_, expected)) in counters.lost.named().into_iter().zip(expected.named()) {
                let range = u64::from(expected).saturating_sub(edges)..=u64::from(expected) + edges;
                assert!(
                    range.contains(&u64::from(cycles)),
                    "{name}: CORE_LOST {reason} of core {core}: {cycles} of {range:?}"
                );
            }
            let all: u32 = counters.lost.named().iter().map(|(_, cycles)| cycles).sum();
            let most = (case.most)(&counters.lost);
            assert!(most > all / 2, "{name}: core {core}: {most} of {all} cycles are what the case is for");
        }
    }
}

#[test]
fn warps_that_share_a_core_lose_no_cycle_twice() {
    for case in &CASES {
        let Outcome { result, observed, .. } = run(&kernel(case.text), case.latency, 4);
        for (core, counters) in result.counters.iter().enumerate() {
            check_sums(case.name, core, counters, &observed, 4);
        }
    }
}
