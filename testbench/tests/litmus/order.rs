//! Loads, stores and fences.

use super::array::{forbids, happens, needs, Results, Role, Who, Who::Hart, Who::Lane};

/// x and y have been read, and are in the cache of who reads them.
const BOTH_CACHED: &str = "lw t0, 0(a0)\nlw t0, 0(a1)";
const X_CACHED: &str = "lw t0, 0(a0)";
const Y_CACHED: &str = "lw t0, 0(a1)";
/// x := 1, then y := 1.
const WRITES: &str = "li t0, 1\nsw t0, 0(a0)\nfence w, w\nsw t0, 0(a1)";
/// r0 := y, then r1 := x.
const READS: &str = "lw s6, 0(a1)\nfence r, r\nlw s7, 0(a0)";
const READS_WEAK: &str = "lw s6, 0(a1)\nlw s7, 0(a0)";

/// Message passing: who sees the flag sees the data.
#[test]
fn message_passing() {
    for (writer, reader) in [(Hart, Hart), (Lane, Hart), (Hart, Lane)] {
        let roles = |reads| [(writer, "", WRITES), (reader, X_CACHED, reads)];
        let name = format!("message passing from {writer:?} to {reader:?}");
        needs(&name, &roles(READS), &roles(READS_WEAK), |r| r[1] == [1, 0]);
    }
}

/// What is weaker than RVWMO: an address dependency orders nothing where the second load finds an
/// older copy in the data cache (MP+fence.w.w+addr, allowed here and forbidden there). A fence
/// does.
#[test]
fn an_address_dependency_orders_no_cached_load() {
    const DEPENDS: &str = "lw s6, 0(a1)\nxor t1, s6, s6\nadd t1, t1, a0\nlw s7, 0(t1)";
    for reader in [Hart, Lane] {
        let roles = |reads| [(Hart, "", WRITES), (reader, X_CACHED, reads)];
        let name = format!("address dependency of {reader:?}");
        needs(&name, &roles(READS), &roles(DEPENDS), |r| r[1] == [1, 0]);
    }
}

/// And a loop of loads without a fence may never see what others wrote.
#[test]
fn a_poll_needs_a_fence() {
    let poll = |fence: &str| {
        format!(
            "li t1, 120\n1: lw s6, 0(a1)\n{fence}\naddi t1, t1, -1\nbeqz t1, 2f\nbeqz s6, 1b\n2:\nmv s7, t1"
        )
    };
    for reader in [Hart, Lane] {
        let missed = |fence: &str| -> u32 {
            let body = poll(fence);
            let roles = [(Hart, "", WRITES), (reader, Y_CACHED, body.as_str())];
            super::array::play(&roles).iter().map(|outcome| outcome.count(|r| r[1][0] == 0)).sum()
        };
        assert_eq!(missed("fence r, rw"), 0, "{reader:?}");
        assert!(missed("") > 0, "{reader:?}: a plain poll sees the write");
    }
}

/// A fence without later reads is no acquire, and need not be one: what is cached may stay. With R
/// in its successor set it is, whatever else is there.
#[test]
fn a_release_is_no_acquire() {
    const RELEASE: &str = "lw s6, 0(a1)\nfence rw, w\nlw s7, 0(a0)";
    fn roles(reader: Who, reads: &str) -> [Role<'_>; 2] {
        [(Hart, "", WRITES), (reader, X_CACHED, reads)]
    }
    let forbidden = |r: &Results| r[1] == [1, 0];
    for reader in [Lane, Hart] {
        for fence in ["fence r, r", "fence rw, rw", "fence.tso", "fence r, ir"] {
            let acquire = format!("lw s6, 0(a1)\n{fence}\nlw s7, 0(a0)");
            forbids(&format!("{fence} of {reader:?}"), &roles(reader, &acquire), forbidden);
        }
        happens(&format!("a release of {reader:?}"), &roles(reader, RELEASE), forbidden);
    }
}

/// The flag is read in a loop whose acquire is in it: the loop ends, and the data is there.
#[test]
fn a_loop_that_waits_for_a_flag() {
    const WAITS: &str = "1: lw s6, 0(a1)\nfence r, rw\nbeqz s6, 1b\nlw s7, 0(a0)";
    // The flag is seen, the acquire comes before it was.
    const TOO_EARLY: &str = "1: fence r, rw\nlw t0, 0(a0)\nlw s6, 0(a1)\nbeqz s6, 1b\nlw s7, 0(a0)";
    for (writer, reader) in [(Hart, Hart), (Lane, Hart)] {
        let roles = |reads| [(writer, "", WRITES), (reader, BOTH_CACHED, reads)];
        for outcome in super::array::play(&roles(WAITS)) {
            assert_eq!(outcome.count(|r| r[1] != [1, 1]), 0, "{:?}", outcome.counts);
        }
        let weak = super::array::play(&roles(TOO_EARLY));
        assert!(weak.iter().any(|outcome| outcome.count(|r| r[1] == [1, 0]) > 0));
    }
}

/// Store buffering: of two that store and then load what the other stores, one sees the other's
/// store.
#[test]
fn store_buffering() {
    const P0: &str = "li t0, 1\nsw t0, 0(a0)\nfence w, r\nlw s6, 0(a1)";
    const P1: &str = "li t0, 1\nsw t0, 0(a1)\nfence w, r\nlw s7, 0(a0)";
    const P0_WEAK: &str = "li t0, 1\nsw t0, 0(a0)\nlw s6, 0(a1)";
    const P1_WEAK: &str = "li t0, 1\nsw t0, 0(a1)\nlw s7, 0(a0)";
    for (first, second) in [(Hart, Hart), (Hart, Lane)] {
        let roles = |p0, p1| [(first, Y_CACHED, p0), (second, X_CACHED, p1)];
        let name = format!("store buffering of {first:?} and {second:?}");
        needs(&name, &roles(P0, P1), &roles(P0_WEAK, P1_WEAK), |r| r[0][0] == 0 && r[1][1] == 0);
    }
}

/// WRC: what a hart has seen, it can tell another one.
#[test]
fn write_to_read_causality() {
    const P1: &str = "lw s6, 0(a0)\nfence r, w\nsw s6, 0(a1)";
    let roles = |writer: Who, reads| -> [Role; 3] {
        [(writer, "", "li t0, 1\nsw t0, 0(a0)"), (Hart, "", P1), (Hart, X_CACHED, reads)]
    };
    for writer in [Hart, Lane] {
        let name = format!("WRC from {writer:?}");
        let forbidden = |r: &Results| r[1][0] == 1 && r[2] == [1, 0];
        needs(&name, &roles(writer, READS), &roles(writer, READS_WEAK), forbidden);
    }
}

/// IRIW: two that read see two independent writes in the same order.
#[test]
fn independent_reads_of_independent_writes() {
    let roles = |fence: bool| {
        let fence = if fence { "fence r, r" } else { "" };
        [
            "li t0, 1\nsw t0, 0(a0)".to_string(),
            "li t0, 1\nsw t0, 0(a1)".to_string(),
            format!("lw s6, 0(a0)\n{fence}\nlw s7, 0(a1)"),
            format!("lw s6, 0(a1)\n{fence}\nlw s7, 0(a0)"),
        ]
    };
    let with = |roles: &[String; 4], check: &mut dyn FnMut(&[Role])| {
        let [x, y, first, second] = roles.each_ref().map(String::as_str);
        check(&[(Lane, "", x), (Hart, "", y), (Hart, Y_CACHED, first), (Hart, X_CACHED, second)]);
    };
    let (strong, weak) = (roles(true), roles(false));
    with(&strong, &mut |strong| {
        with(&weak, &mut |weak| needs("IRIW", strong, weak, |r| r[2] == [1, 0] && r[3] == [1, 0]));
    });
}

/// Stores 1 to 4, and looks after each, before and after the line of its set has been another
/// one's. r0, r1: what it saw was wrong.
pub const WRITER: &str = "
    li t0, 1
1:  sw t0, 0(a0)
    lw t1, 0(a0)
    beq t1, t0, 2f
    li s6, 1
2:  lw t2, 0(a2)
    lw t1, 0(a0)
    beq t1, t0, 3f
    li s7, 1
3:  addi t0, t0, 1
    li t1, 5
    bne t0, t1, 1b";
/// Looks, drops what it has, looks again: never less than before. Another word of the line is its
/// own. r0: something was wrong; r1: the last value, 16, and 256 for each change that it saw.
pub const READER: &str = "
    li t4, 0
    li t5, 16
    li t0, 16
1:  lw t1, 0(a0)
    bgeu t1, t4, 2f
    li s6, 1
2:  beq t1, t4, 3f
    addi t5, t5, 256
3:  mv t4, t1
    sw t0, 8(a0)
    lw t2, 8(a0)
    beq t2, t0, 4f
    li s6, 2
4:  fence r, r
    addi t0, t0, -1
    bnez t0, 1b
    add s7, t4, t5";

/// Coherence: two loads of one word are in order, own stores are seen at once, and a word that a
/// hart has stored is never older than that, however its line is fetched meanwhile. With the fence
/// both see what was stored last.
#[test]
fn coherence() {
    for (writer, reader) in [(Hart, Hart), (Hart, Lane), (Lane, Hart)] {
        let roles = [(writer, "", WRITER), (reader, X_CACHED, READER)];
        for outcome in super::array::play(&roles) {
            let wrong = outcome
                .count(|r| r[0] != [0, 0] || r[1][0] != 0 || r[1][1] & 0xff > 20 || r[1][1] & 0xff < 16);
            assert_eq!(wrong, 0, "{writer:?} and {reader:?}: {:?}", outcome.counts);
            assert!(outcome.counts.len() > 1, "{:?}", outcome.counts);
        }
    }
}
