//! Reservations of harts end with a reset.

use super::testing::{all_parts, atomic, load, AnyOrder, Bench, DATA, EBREAK, ENTRY};
use crate::core::testing::{Program, A0, A1, A2, A3, A4, ZERO};

/// A hart that is held between `lr.w` and `sc.w`, in any cycle and for one cycle only, starts anew
/// without a reservation: its `sc.w` fails.
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
        let mut bench = Bench::with(all_parts(), memory);
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
