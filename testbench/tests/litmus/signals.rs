//! SIGNAL, jobs, and user-level interrupts.

use hermes_testbench::cosim::Latency;

use super::array::{library, play_on, Results, Role, Who::Hart, Who::Lane, ROUNDS};
use super::network::{complete, put_flag};

/// SIGNAL is a release: who sees its word sees what was stored before.
#[test]
fn signal_is_a_release() {
    const WRITES: &str = "li t0, 1\nsw t0, 0(a0)\n.insn s 0x0b, 2, t0, 0(a1)";
    const READS: &str = "lw s6, 0(a1)\nfence r, r\nlw s7, 0(a0)";
    const READS_WEAK: &str = "lw s6, 0(a1)\nlw s7, 0(a0)";
    for reader in [Hart, Lane] {
        let roles = |reads| [(Hart, "", WRITES), (reader, "lw t0, 0(a0)", reads)];
        super::array::needs("SIGNAL", &roles(READS), &roles(READS_WEAK), |r| r[1] == [1, 0]);
    }
}

/// A job whose descriptor says ACQUIRE sees what the hart stored before it started it, although the
/// core had the line.
#[test]
fn acquire_of_a_descriptor() {
    // The job copies x to z. It is started once before x is stored, so that the L1 has the line,
    // and once afterwards.
    let body = |acquire: u32| {
        format!(
            r#"
    la      t0, page
    la      t1, copy
    bnez    s1, 1f
    .insn   r 0x0b, 3, 0, t2, t0, x0        # SIGNAL.RANGE
    add     s7, s7, t2
1:  sw      a0, 4(t0)
    sw      a2, 8(t0)
    li      t2, 1 | {acquire} << 26
    sw      t2, 12(t0)
    sw      zero, 16(t0)
    sw      zero, 20(t0)
    sw      zero, 24(t0)
    sw      zero, 28(t0)
    .insn   s 0x0b, 2, t1, 0(t0)            # SIGNAL
2:  csrr    t2, 0x805
    bnez    t2, 2b
    addi    t2, s1, 7
    sw      t2, 0(a0)
    .insn   s 0x0b, 2, t1, 0(t0)
3:  csrr    t2, 0x805
    bnez    t2, 3b
    fence   r, r
    lw      s6, 0(a2)
    sub     s6, s6, s1
"#
        )
    };
    const COMMON: &str = "    .balign 64\ncopy:\n    lw t0, 0(a1)\n    sw t0, 0(a2)\n    ret\n    .data\n    .balign 512\npage:\n    .zero 512\n";
    for latency in [Latency::Fixed(1), Latency::Fixed(60)] {
        let outcome = play_on(library(), &[(Hart, "", &body(1))], COMMON, latency);
        assert_eq!(outcome.count(|r| r[0] == [7, 0]), ROUNDS, "{:?}", outcome.counts);
    }
    let outcome = play_on(library(), &[(Hart, "", &body(0))], COMMON, Latency::Fixed(1));
    assert!(outcome.count(|r| r[0] != [7, 0]) > 0, "the L1 is dropped without ACQUIRE: {:?}", outcome.counts);
}

// r0: what the load saw; r1: the handler ran, if the load saw nothing.
const ARMS: &str = "la t1, handler\n.insn r 0x0b, 0, 8, zero, t1, a1";
const LOOKS: &str = "lw s6, 0(a1)";
const WAITS: &str = "li t2, 400\n1: addi t2, t2, -1\nbnez s6, 2f\nbnez s7, 2f\nbnez t2, 1b\n2: .insn r 0x0b, 0, 0, zero, x0, x0";
const COMMON: &str = "    .balign 64\nhandler:\n    li s7, 1\n    .word 0x100b\n";

/// U15: arm, then look once: a write is either seen by the load, or it interrupts. Who looks and
/// then arms misses some.
#[test]
fn arm_then_look() {
    let strong = format!("{ARMS}\n{LOOKS}\n{WAITS}");
    let weak = format!("{LOOKS}\n{ARMS}\n{WAITS}");
    let missed = |r: &Results| r[0] == [0, 0];
    for writer in [Hart, Lane] {
        let play = |body: &str, latency| {
            let roles: [Role; 2] = [(Hart, "", body), (writer, "", "li t0, 1\nsw t0, 0(a1)")];
            play_on(library(), &roles, COMMON, latency)
        };
        let mut seen = 0;
        for latency in [Latency::Fixed(1), Latency::Fixed(60)] {
            let outcome = play(&strong, latency);
            assert_eq!(outcome.count(missed), 0, "{:?}", outcome.counts);
            assert!(outcome.counts.len() > 1, "{:?}", outcome.counts);
            seen += play(&weak, latency).count(missed);
        }
        println!("looking before arming misses {seen} of {} writes by {writer:?}", 2 * ROUNDS);
        assert!(seen > 0, "looking before arming is enough");
    }
}

/// U4: the write may be an atomic operation of a lane or a hart, or bytes from the network: it is
/// seen or interrupts. What writes nothing does neither: an `sc.w` without reservation, a read of
/// the L2 by `amoor.w`.
#[test]
fn whoever_writes_interrupts() {
    let strong = format!("{ARMS}\n{LOOKS}\n{WAITS}");
    let puts = put_flag("a1", 0) + &complete();
    let conditional = "lr.w t1, (a1)\nli t0, 1\nsc.w t1, t0, (a1)";
    let writers = [
        (Lane, "li t0, 1\namoadd.w t1, t0, (a1)", true),
        (Lane, conditional, true),
        (Hart, "li t0, 1\namoswap.w t1, t0, (a1)", true),
        (Hart, conditional, true),
        (Hart, &puts, true),
        (Lane, "li t0, 1\nsc.w t1, t0, (a1)", false),
        (Lane, "amoor.w t1, zero, (a1)", false),
    ];
    for (writer, body, writes) in writers {
        let roles: [Role; 2] = [(Hart, "", &strong), (writer, "", body)];
        let outcome = play_on(library(), &roles, COMMON, Latency::Fixed(20));
        let nothing = outcome.count(|r| r[0] == [0, 0]);
        let interrupts = outcome.count(|r| r[0] == [0, 1]);
        println!("{writer:?}, {body:?}: {:?}", outcome.counts);
        if writes {
            assert!(nothing == 0 && interrupts > 0, "{body:?}: {:?}", outcome.counts);
        } else {
            assert_eq!(nothing, ROUNDS, "{body:?}: {:?}", outcome.counts);
        }
    }
}
