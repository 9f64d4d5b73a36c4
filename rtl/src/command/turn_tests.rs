//! What harts share, atomic operations, devices and the divider, is for each of them; and reservations end with a reset.

use super::testing::{atomic, load, m, AnyOrder, Bench, ALL_PARTS, DATA, EBREAK, ENTRY};
use crate::core::testing::{Program, A0, A1, A2, A3, A4, SP, T0, ZERO};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Cycles in which operations are counted.
const CYCLES: u64 = 3_000;

/// The program of all harts: hart h goes to label h of `labels`.
fn dispatch(p: &mut Program, labels: &[&'static str]) {
    p.csrr(T0, 0xf14).lui(A1, DATA >> 12).lui(SP, 0xfff04).addi(A3, ZERO, 7).addi(A2, ZERO, 0);
    for label in labels {
        p.branch(0, T0, ZERO, label).addi(T0, T0, -1);
    }
    p.word(EBREAK);
}

/// An endless loop around the instruction `operation` on A0, with other instructions, as many as the hart likes.
fn endless(p: &mut Program, random: &mut ChaCha8Rng, label: &'static str, operation: u32) {
    p.label(label).word(operation);
    for _ in 0..random.gen_range(0..8) {
        match random.gen_range(0..3) {
            0 => p.addi(A2, A2, 1),
            1 => p.word(m(0, A4, A2, A3)),
            _ => p.add(A4, A2, A3),
        };
    }
    p.jal(ZERO, label);
}

/// Harts that do the same operation without pause, each in a loop of its own, beside some that only count: each gets a share.
#[test]
fn everybody_gets_a_share() {
    const LABELS: [&str; 8] = ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"];
    let mut random = crate::testing::random();
    let operations = [atomic(0, false, A0, A1, A3), 0x0001_2503, 0x0011_2023 | A2 << 20, m(4, A0, A2, A3)];
    for (trial, harts) in [4usize, 4, 4, 4, 8].into_iter().enumerate() {
        let operation = operations[trial % 4];
        let mut p = Program::default();
        dispatch(&mut p, &LABELS[..harts]);
        let counting: Vec<bool> = (0..harts).map(|hart| hart > 2 && random.gen_bool(0.3)).collect();
        for (label, counts) in LABELS.into_iter().zip(&counting) {
            endless(&mut p, &mut random, label, if *counts { 0x13 } else { operation });
        }
        let mut memory = AnyOrder::new([(1, 1), (2, 9)][trial % 2], 1.0);
        memory.harts = harts as u64;
        let mut bench = Bench::with_parts(harts, 32, memory, ALL_PARTS);
        load(&mut bench.memory.contents, ENTRY, &p);
        bench.set_harts((1 << harts) - 1);
        for _ in 0..CYCLES {
            bench.cycle();
        }
        let count = |hart: u32| {
            let ours = bench.retired.iter().filter(|r| r.hart == hart && r.word == operation && !r.trap);
            ours.count()
        };
        let counts: Vec<_> = (0..harts).filter(|h| !counting[*h]).map(|h| count(h as u32)).collect();
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        // A hart that comes back at once may have two while another one waits for its.
        assert!(*least > 5 && 4 * least >= *most, "trial {trial}, {operation:#010x}: {counts:?}");
    }
}

/// A hart that is held between `lr.w` and `sc.w`, in any cycle and for one cycle only, starts anew without a reservation: its `sc.w` fails.
#[test]
fn a_reservation_ends_with_a_reset() {
    // The first time `lr.w`, then for ever arithmetic; at a new start, which A2 tells, `sc.w`.
    let program = |reserves: bool| {
        let mut p = Program::default();
        p.lui(A1, DATA >> 12).addi(A0, ZERO, 5);
        if reserves {
            p.word(atomic(2, false, A3, A1, ZERO)).label("on").addi(A2, A2, 1).jal(ZERO, "on");
        } else {
            p.word(atomic(3, false, A4, A1, A0)).word(EBREAK);
        }
        p
    };
    let mut held_early = 0;
    for cycles in 1..70 {
        let mut memory = AnyOrder::new((3, 3), 1.0);
        memory.harts = 1;
        let mut bench = Bench::with_parts(1, 16, memory, ALL_PARTS);
        load(&mut bench.memory.contents, ENTRY, &program(true));
        bench.set_run(true);
        for _ in 0..cycles {
            bench.cycle();
        }
        held_early += usize::from(bench.memory.atomics == 0);
        load(&mut bench.memory.contents, ENTRY, &program(false));
        bench.set_run(false);
        bench.cp.invalidate.next = true;
        bench.cycle();
        bench.cp.invalidate.next = false;
        bench.run_to_stop();
        assert_eq!(bench.value_of(A4), 1, "held after {cycles} cycles");
        assert_eq!(bench.memory.contents.word(DATA), 0, "held after {cycles} cycles");
    }
    assert!((10..60).contains(&held_early), "{held_early}");
}
