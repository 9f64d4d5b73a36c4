//! Atomic operations: flags, locks, counters.

use super::array::{needs, play, Role, Who::Hart, Who::Lane, ROUNDS};

/// A flag that is set with `rl` and read with `aq`.
#[test]
fn a_flag_of_atomic_operations() {
    const WRITES: &str = "li t0, 1\nsw t0, 0(a0)\namoswap.w.rl zero, t0, (a1)";
    const READS: &str = "amoor.w.aq s6, zero, (a1)\nlw s7, 0(a0)";
    const READS_WEAK: &str = "amoor.w s6, zero, (a1)\nlw s7, 0(a0)";
    for (writer, reader) in [(Hart, Hart), (Lane, Hart), (Hart, Lane)] {
        let roles = |reads| [(writer, "", WRITES), (reader, "lw t0, 0(a0)", reads)];
        let name = format!("atomic flag from {writer:?} to {reader:?}");
        needs(&name, &roles(READS), &roles(READS_WEAK), |r| r[1] == [1, 0]);
    }
    // The same with `lr.w`.
    const RESERVES: &str = "lr.w.aq s6, (a1)\nlw s7, 0(a0)";
    const RESERVES_WEAK: &str = "lr.w s6, (a1)\nlw s7, 0(a0)";
    let roles = |reads| [(Hart, "", WRITES), (Hart, "lw t0, 0(a0)", reads)];
    needs("flag read by lr.w", &roles(RESERVES), &roles(RESERVES_WEAK), |r| r[1] == [1, 0]);
}

/// A lane waits for a flag by `amoor.w` with operand 0, which drops nothing, and then acquires by
/// one with `aq`, as calls of the network library do.
#[test]
fn a_flag_that_is_polled() {
    const WRITES: &str = "li t0, 1\nsw t0, 0(a0)\nfence rw, w\nsw t0, 0(a1)";
    const POLLS: &str = "1: amoor.w t0, zero, (a1)\nbeqz t0, 1b\namoor.w.aq s6, zero, (a1)\nlw s7, 0(a0)";
    const POLLS_WEAK: &str = "1: amoor.w s6, zero, (a1)\nbeqz s6, 1b\nlw s7, 0(a0)";
    for (writer, reader) in [(Hart, Lane), (Lane, Hart)] {
        let roles = |polls| [(writer, "", WRITES), (reader, "lw t0, 0(a0)", polls)];
        for outcome in play(&roles(POLLS)) {
            assert_eq!(outcome.count(|r| r[1] != [1, 1]), 0, "{:?}", outcome.counts);
        }
        let weak: u32 =
            play(&roles(POLLS_WEAK)).iter().map(|outcome| outcome.count(|r| r[1] == [1, 0])).sum();
        println!("polled by {reader:?}: without acquire {weak} of {} rounds", 2 * ROUNDS);
        assert!(weak > 0, "the poll acquires without `aq`");
    }
}

/// Adds 1 to x. r0: what the operation found; r1: what is there afterwards.
pub const ADDS: &str = "li t0, 1\namoadd.w s6, t0, (a0)\nlw s7, 0(a0)";
/// The same with a reservation.
pub const RESERVES: &str = "
1:  lr.w s6, (a0)
    addi t0, s6, 1
    sc.w t1, t0, (a0)
    bnez t1, 1b
    lw s7, 0(a0)";

/// After an atomic operation its hart sees at least what that left, although its data cache had the
/// line (C4).
#[test]
fn an_atomic_operation_and_then_a_load() {
    const CACHED: &str = "lw t0, 0(a0)";
    for (first, second) in [(ADDS, ADDS), (RESERVES, ADDS), (RESERVES, RESERVES)] {
        for others in [Hart, Lane] {
            for outcome in play(&[(Hart, CACHED, first), (Hart, CACHED, second), (others, CACHED, first)]) {
                let wrong = outcome.count(|roles| {
                    let mut found: Vec<u32> = roles.iter().map(|r| r[0]).collect();
                    found.sort_unstable();
                    found != [0, 1, 2] || roles.iter().any(|r| r[1] <= r[0] || r[1] > 3)
                });
                assert_eq!(wrong, 0, "{:?}", outcome.counts);
                assert!(outcome.counts.len() > 1, "{:?}", outcome.counts);
            }
        }
    }
}

/// A spin lock around a counter that is loaded and stored.
#[test]
fn a_spin_lock() {
    let body = |aq: &str, rl: &str| {
        format!("li t0, 1\n1: amoswap.w{aq} t1, t0, (a3)\nbnez t1, 1b\nlw t2, 64(a3)\naddi t2, t2, 1\nsw t2, 64(a3)\namoswap.w{rl} zero, zero, (a3)")
    };
    // The counter, where the results can be read.
    let total = |body: &str, who: &[super::array::Who]| {
        let body = format!("{body}\nlw s6, 64(a3)");
        let roles: Vec<Role> = who.iter().map(|who| (*who, "lw t0, 64(a3)", body.as_str())).collect();
        play(&roles).map(|outcome| outcome.counts.keys().flatten().map(|r| r[0]).max().unwrap())
    };
    let who = [Hart, Hart, Lane];
    assert_eq!(total(&body(".aq", ".rl"), &who), [3 * ROUNDS; 2]);
    let weak = total(&body("", ".rl"), &[Hart, Hart]);
    println!("without acquire {weak:?} of {}", 2 * ROUNDS);
    assert!(weak.iter().any(|&total| total < 2 * ROUNDS), "the lock needs no acquire: {weak:?}");
}

/// A counter of atomic operations; without them counts are lost.
#[test]
fn a_counter() {
    let who = [Hart, Hart, Lane, Hart, Hart];
    let total = |body: &str| {
        let roles: Vec<Role> = who.iter().map(|who| (*who, "", body)).collect();
        play(&roles).map(|outcome| outcome.shared[0])
    };
    let all = 5 * 4 * ROUNDS;
    let adds = "li t0, 1\n.rept 4\namoadd.w zero, t0, (a3)\n.endr";
    assert_eq!(total(adds), [all; 2]);
    let reserves = ".irp label, 1, 2, 3, 4\n\\label: lr.w t0, (a3)\naddi t0, t0, 1\nsc.w t1, t0, (a3)\nbnez t1, \\label\\()b\n.endr";
    assert_eq!(total(reserves), [all; 2]);
    let plain = ".rept 4\nfence rw, rw\nlw t0, 0(a3)\naddi t0, t0, 1\nsw t0, 0(a3)\n.endr";
    assert!(total(plain).iter().all(|&total| total < all), "nothing is lost without atomic operations");
}
