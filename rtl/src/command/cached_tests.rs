//! The data cache and atomic operations in the pipeline: what loads see, rules C3 to C6, hold in
//! any cycle, exceptions.

use super::testing::{all_parts, atomic, csr, load, telling_handler, AnyOrder, Bench, DATA, EBREAK, ENTRY};
use crate::config::CommandOptions;
use crate::core::testing::{Program, A0, A1, A2, A3, A4, T0, ZERO};
use crate::types::riscv::csr as numbers;
use hermes_hdl::testing::one_in;
use rand::seq::SliceRandom;
use rand::Rng;

const UNCACHED: u32 = numbers::MUNCACHED as u32;
/// `addi x0, x0, 77`
const MARK: u32 = 0x04d0_0013;

fn bench(latency: (u64, u64)) -> Bench<AnyOrder> {
    Bench::with(all_parts(), AnyOrder::new(latency, 0.7))
}

#[test]
fn a_line_is_read_once() {
    let mut program = Program::default();
    program.lui(A1, DATA >> 12).load(2, A0, A1, 0).load(0, A2, A1, 5).load(5, A3, A1, 6).load(4, A4, A1, 7);
    // Stores to the line are found, right behind them too, and go to memory.
    program.store(0, A1, A1, 9).load(2, T0, A1, 8).store(1, A0, A1, 62).load(1, A0, A1, 62).word(EBREAK);
    for latency in [(1, 1), (1, 40)] {
        let mut bench = bench(latency);
        load(&mut bench.memory.contents, ENTRY, &program);
        for (i, word) in [0x1111_8222, 0x3344_95f6, 0x7788_99aa].into_iter().enumerate() {
            bench.memory.contents.set_word(DATA + 4 * i as u32, word);
        }
        bench.run_to_stop();
        let values = [A2, A3, A4, T0, A0].map(|rd| bench.value_of(rd));
        assert_eq!(values, [0xffff_ff95, 0x3344, 0x33, 0x7788_00aa, 0xffff_8222]);
        assert_eq!(bench.memory.loads, 1);
        while !bench.quiet() {
            bench.cycle();
        }
        assert_eq!(bench.memory.contents.word(DATA + 60), 0x8222_0000);
        assert_eq!(bench.memory.contents.word(DATA + 8), 0x7788_00aa);
    }
}

/// What a load of DATA gives, after `setup`, a first load, and, when others have written 2 over the
/// 1 there, `body`.
fn second_load(setup: &[u32], body: &[u32], invalidate: bool) -> u32 {
    let mut program = Program::default();
    program.lui(A1, DATA >> 12).lui(A3, (DATA >> 12) + 1);
    for &word in setup {
        program.word(word);
    }
    // A division gives the others time.
    program.load(2, A0, A1, 0).load(2, A0, A1, 0).word(MARK).word(0x02b5_c2b3);
    for &word in body {
        program.word(word);
    }
    program.load(2, A2, A1, 0).word(EBREAK);
    let mut bench = bench((1, 20));
    load(&mut bench.memory.contents, ENTRY, &program);
    bench.memory.contents.set_word(DATA, 1);
    bench.set_run(true);
    while bench.retired.last().map_or(0, |r| r.word) != MARK {
        bench.cycle();
    }
    bench.memory.contents.set_word(DATA, 2);
    bench.cp.invalidate_data.next = invalidate;
    bench.cycle();
    bench.cp.invalidate_data.next = false;
    bench.run_to_stop();
    assert_eq!(bench.value_of(A0), 1);
    bench.value_of(A2)
}

/// What others write is seen behind what rules C4 and C6 name, and, so that the test can fail, not
/// behind the rest.
#[test]
fn what_others_wrote_is_seen_behind_an_acquire() {
    // Writes a constant to `muncached`.
    let range = |value: u32| {
        let mut p = Program::default();
        let upper = value.wrapping_add(0x800) >> 12;
        p.lui(T0, upper)
            .addi(T0, T0, value.wrapping_sub(upper << 12) as i32)
            .word(csr(1, ZERO, UNCACHED, T0));
        p.assemble()
    };
    assert_eq!(second_load(&[], &[], false), 1);
    assert_eq!(second_load(&[], &[], true), 2, "INVALIDATE");
    for (fence, value) in [
        (0x0ff0_000f, 2), // fence
        (0x0230_000f, 2), // fence r, rw
        (0x0120_000f, 2), // fence w, r
        (0x8330_000f, 2), // fence.tso
        (0x0000_100f, 2), // fence.i
        (0x0110_000f, 1), // fence w, w
        (0x0210_000f, 1), // fence r, w
        (0x0880_000f, 1), // fence i, i
        (MARK, 1),
        (csr(1, ZERO, 0x340, A1), 1),        // another CSR
        (csr(2, A0, UNCACHED, ZERO), 1),     // a read of muncached
        (csr(5, ZERO, UNCACHED, 0), 2),      // a write of it
        (atomic(0, false, T0, A1, ZERO), 2), // amoadd.w on the line
        (atomic(2, false, T0, A1, ZERO), 2), // lr.w
        (atomic(3, false, T0, A1, ZERO), 2), // sc.w, which fails
        (atomic(0, false, T0, A3, ZERO), 1), // on another line
        (atomic(0, true, T0, A3, ZERO), 2),  // with aq
        (atomic(2, true, T0, A3, ZERO), 2),
    ] {
        let body = if fence == csr(2, A0, UNCACHED, ZERO) { vec![fence, 0x0010_0513] } else { vec![fence] };
        assert_eq!(second_load(&[], &body, false), value, "{fence:#010x}");
    }
    // Uncached ranges: those that have the word, and those beside it.
    for (value, uncached) in [
        (DATA, true),
        (DATA + 4, false),
        (DATA | 3, true),
        ((DATA + 8) | 3, false),
        (DATA | 0x1f, true),
        ((DATA + 0x40) | 0x1f, false),
        (DATA | 0x7ff, true),
        ((DATA + 0x1000) | 0x7ff, false),
        (0xffff_ffff, true),
    ] {
        let expected = if uncached { 2 } else { 1 };
        assert_eq!(second_load(&range(value), &[], false), expected, "{value:#010x}");
    }
    // Off again.
    let mut off = range(DATA);
    off.push(csr(1, ZERO, UNCACHED, ZERO));
    assert_eq!(second_load(&off, &[], false), 1);
    // On behind the loads: an older copy is not found, nor when it is off again.
    assert_eq!(second_load(&[], &range(DATA), false), 2);
}

/// Only the word goes to the L2 each time; its line is there for the words beside it.
#[test]
fn an_uncached_word_beside_cached_ones() {
    let mut program = Program::default();
    program.lui(A1, DATA >> 12).addi(T0, A1, 4).word(csr(1, ZERO, UNCACHED, T0));
    program
        .load(2, A0, A1, 0)
        .word(MARK)
        .load(2, A2, A1, 8)
        .load(2, A3, A1, 4)
        .load(1, A4, A1, 6)
        .word(EBREAK);
    let mut bench = bench((1, 20));
    load(&mut bench.memory.contents, ENTRY, &program);
    for word in 0..3 {
        bench.memory.contents.set_word(DATA + 4 * word, 1);
    }
    bench.set_run(true);
    while bench.retired.last().map_or(0, |r| r.word) != MARK {
        bench.cycle();
    }
    bench.memory.contents.set_word(DATA + 4, 0x2_0002);
    bench.memory.contents.set_word(DATA + 8, 2);
    bench.run_to_stop();
    assert_eq!([A0, A2, A3, A4].map(|rd| bench.value_of(rd)), [1, 1, 0x2_0002, 2]);
    assert_eq!(bench.memory.loads, 3);
}

#[test]
fn a_line_asked_for_before_an_invalidate_is_not_installed() {
    let mut program = Program::default();
    program.lui(A1, DATA >> 12).load(2, A0, A1, 0).load(2, A2, A1, 0).word(EBREAK);
    let mut bench = bench((60, 60));
    load(&mut bench.memory.contents, ENTRY, &program);
    bench.set_run(true);
    while bench.memory.loads == 0 {
        bench.cycle();
    }
    bench.cp.invalidate_data.next = true;
    bench.cycle();
    bench.cp.invalidate_data.next = false;
    bench.run_to_stop();
    assert_eq!(bench.memory.loads, 2);
}

#[test]
fn atomic_operations_return_the_word_before() {
    let mut program = Program::default();
    program.lui(A1, DATA >> 12).addi(A0, ZERO, 5).store(2, A0, A1, 0);
    program.word(atomic(0, true, A2, A1, A0)); // amoadd.w.aq: 5, then 10
    program.word(atomic(2, false, A3, A1, ZERO)).addi(A3, A3, 1); // lr.w: 10
    program.word(atomic(3, false, A4, A1, A3)); // sc.w: 0, then 11
    program.word(atomic(3, false, T0, A1, A0)); // sc.w without reservation: 1
    program.load(2, A0, A1, 0).word(EBREAK);
    for latency in [(1, 1), (1, 60)] {
        let mut bench = bench(latency);
        load(&mut bench.memory.contents, ENTRY, &program);
        bench.run_to_stop();
        assert_eq!([A2, A3, A4, T0, A0].map(|rd| bench.value_of(rd)), [5, 11, 0, 1, 11]);
        assert_eq!(bench.memory.atomics, 4);
    }
}

/// `amocas.w`: what is compared was written by the instruction right before, or is x0, and other
/// harts go on meanwhile.
#[test]
fn compare_and_swap_with_the_destination_register() {
    let mut program = Program::default();
    program.lui(A1, DATA >> 12).addi(A0, ZERO, 5).store(2, A0, A1, 0).addi(A3, ZERO, 9);
    program.addi(A2, ZERO, 5).word(atomic(5, false, A2, A1, A3)); // 5 is there: 9
    program.addi(A4, A2, 0).word(atomic(5, true, A4, A1, A0)); // 9 is there, 5 was expected
    program.word(atomic(5, false, ZERO, A1, A0)).load(2, T0, A1, 0);
    program.store(2, ZERO, A1, 0).word(atomic(5, false, ZERO, A1, A3)); // 0: 9
    program.load(2, A0, A1, 0).word(EBREAK);
    for latency in [(1, 1), (1, 60)] {
        let mut bench = bench(latency);
        load(&mut bench.memory.contents, ENTRY, &program);
        bench.run_to_stop();
        assert_eq!([A2, A4, T0, A0].map(|rd| bench.value_of(rd)), [5, 9, 9, 9]);
        assert_eq!(bench.memory.atomics, 4);
    }
}

#[test]
fn atomic_operations_that_raise_exceptions() {
    let (reserve, conditional, add) = (
        |rs1| atomic(2, false, A0, rs1, ZERO),
        |rs1| atomic(3, false, A0, rs1, A0),
        |rs1| atomic(0, false, A0, rs1, A0),
    );
    for (word, cause, value) in [
        (reserve(A2), 4, DATA + 2),
        (conditional(A2), 6, DATA + 2),
        (add(A2), 6, DATA + 2),
        (reserve(A3), 5, 0xfffe_0000), // local memory
        (conditional(A3), 7, 0xfffe_0000),
        (add(A3), 7, 0xfffe_0000),
        (reserve(A4), 5, 0xfff0_4000), // a device
        (add(A4), 7, 0xfff0_4000),
        (reserve(T0), 5, DATA + 0x1000), // a bus error
        (conditional(T0), 7, DATA + 0x1000),
        (add(T0), 7, DATA + 0x1000),
    ] {
        let mut program = Program::default();
        program
            .lui(A1, DATA >> 12)
            .addi(A2, A1, 2)
            .lui(A3, 0xfffe0)
            .lui(A4, 0xfff04)
            .lui(T0, (DATA >> 12) + 1);
        program.addi(A0, ZERO, 77).word(word).store(2, A1, A1, 0);
        let mut bench = bench((1, 20));
        load(&mut bench.memory.contents, ENTRY, &program);
        load(&mut bench.memory.contents, 0, &telling_handler());
        bench.memory.failing.insert((DATA + 0x1000) >> 6);
        bench.run_to_stop();
        let found = [A0, A1, A2].map(|rd| bench.value_of(rd));
        assert_eq!(found, [ENTRY + 24, cause, value], "{word:#010x}");
        assert!(bench.memory.written.is_empty(), "{word:#010x}");
    }
}

/// A line that could not be read is not installed: the load fails again.
#[test]
fn a_line_with_a_bus_error_is_not_installed() {
    let mut program = Program::default();
    program.lui(A1, DATA >> 12).load(2, A0, A1, 0).word(EBREAK);
    let mut handler = Program::default();
    // Once more: the counter in A3 says how often.
    handler.addi(A3, A3, 1).addi(A4, ZERO, 3).branch(0, A3, A4, "end").word(super::testing::MRET);
    handler.label("end").word(EBREAK);
    let mut bench = bench((1, 20));
    let mut first = Program::default();
    first
        .addi(A3, ZERO, 0)
        .lui(T0, 0x4_0000 >> 12)
        .word(csr(1, ZERO, 0x305, T0))
        .lui(T0, ENTRY >> 12)
        .jalr(ZERO, T0, 0x100);
    load(&mut bench.memory.contents, ENTRY, &first);
    load(&mut bench.memory.contents, ENTRY + 0x100, &program);
    load(&mut bench.memory.contents, 0x4_0000, &handler);
    bench.memory.failing.insert(DATA >> 6);
    bench.run_to_stop();
    assert_eq!((bench.value_of(A3), bench.memory.loads), (3, 3));
}

/// Held in any cycle, so under a fill and an atomic operation too, for one cycle or until it is
/// quiet; others write meanwhile, and the program from its beginning sees that.
#[test]
fn a_hart_can_be_held_in_any_cycle() {
    let mut random = hermes_hdl::testing::random();
    let (mut under_a_fill, mut under_an_atomic) = (0, 0);
    for when in one_in(4, (1..240).step_by(2)) {
        let mut program = Program::default();
        program.lui(A1, DATA >> 12).load(2, A0, A1, 0).load(2, A2, A1, 4).add(A0, A0, A2);
        program.addi(A1, A1, 0x80).word(atomic(1, false, A3, A1, A0)).load(2, A4, A1, 0).word(EBREAK);
        let mut bench = bench((1, 40));
        load(&mut bench.memory.contents, ENTRY, &program);
        bench.memory.contents.set_word(DATA, 1);
        bench.memory.contents.set_word(DATA + 4, 2);
        bench.set_run(true);
        for _ in 0..when {
            bench.cycle();
        }
        let busy = !bench.quiet();
        under_a_fill += usize::from(busy && bench.memory.loads > 0 && bench.memory.idle());
        under_an_atomic += usize::from(busy && bench.memory.atomics > 0 && !bench.memory.idle());
        bench.set_run(false);
        bench.cycle();
        let count = bench.retired.len();
        if random.gen() {
            bench.hold();
            assert_eq!(bench.retired.len(), count, "held in cycle {when}");
            assert!(bench.memory.idle(), "held in cycle {when}");
        }
        bench.memory.contents.set_word(DATA, 100);
        bench.memory.contents.set_word(DATA + 4, 200);
        bench.run_to_stop();
        assert_eq!(bench.retired[count].pc, ENTRY, "held in cycle {when}");
        assert_eq!([A0, A2, A4].map(|rd| bench.value_of(rd)), [300, 200, 300], "held in cycle {when}");
        assert_eq!(bench.memory.contents.word(DATA + 0x80), 300);
    }
    assert!(under_a_fill > 2 && under_an_atomic > 0, "{under_a_fill} {under_an_atomic}");
}

/// Random loads, stores, atomic operations, fences and uncached ranges: the same values with and
/// without a data cache.
#[test]
fn random_programs_are_as_without_a_cache() {
    let mut random = hermes_hdl::testing::random();
    let (mut reads, mut spared) = (0, 0);
    for round in 0..3 {
        let mut program = Program::default();
        program.lui(A1, DATA >> 12).lui(A2, (DATA >> 12) + 1).addi(A0, ZERO, 77).addi(T0, A1, 8);
        for register in 13..18 {
            program.addi(register, ZERO, 100 + register as i32);
        }
        for _ in 0..200 {
            // Lines that share places of a cache of 16 lines, and few words of them.
            let base = *[A1, A2].choose(&mut random).unwrap();
            let (rd, rs2) = (random.gen_range(12..18), random.gen_range(10..18));
            let rd = if matches!(rd, 12) { A0 } else { rd };
            let line = *[0, 64, 1024].choose(&mut random).unwrap();
            let (size, sign) = (random.gen_range(0..3u32), 4 * random.gen_range(0..2));
            let offset = line + (random.gen_range(0..12) >> size << size);
            match random.gen_range(0..20) {
                0..=7 => program.load(if size == 2 { 2 } else { size | sign }, rd, base, offset),
                8..=14 => program.store(size, rs2, base, offset),
                15 => {
                    let operation = *[0, 1, 2, 3, 4, 8, 12, 16, 20, 24, 28].choose(&mut random).unwrap();
                    program.word(atomic(
                        operation,
                        random.gen(),
                        rd,
                        T0,
                        if operation == 2 { 0 } else { rs2 },
                    ))
                }
                16 => program.word(*[0x0ff0_000f, 0x0110_000f, 0x0230_000f].choose(&mut random).unwrap()),
                17 => program.word(csr(1, ZERO, UNCACHED, *[ZERO, A1, T0].choose(&mut random).unwrap())),
                _ => program.add(rd, rd, rs2),
            };
        }
        program.word(EBREAK);
        let run = |parts: CommandOptions, latency| {
            let mut bench = Bench::with(parts, AnyOrder::new(latency, 0.7));
            for (i, word) in program.assemble().into_iter().enumerate() {
                // Without a cache there is no `muncached`.
                let absent = !parts.caches() && word >> 20 == UNCACHED && word & 0x7f == 0x73;
                bench.memory.contents.set_word(ENTRY + 4 * i as u32, if absent { MARK } else { word });
            }
            for (base, i) in (0..2).flat_map(|base| (0..300).map(move |i| (base, i))) {
                bench
                    .memory
                    .contents
                    .set_word(DATA + 4096 * base + 4 * i, 0x0123_4567_u32.wrapping_mul(i + base));
            }
            bench.run_to_stop();
            while !bench.quiet() {
                bench.cycle();
            }
            bench
        };
        let latency = if round % 2 == 0 { (1, 3) } else { (1, 40) };
        let cached = run(all_parts(), latency);
        let plain = run(CommandOptions { command_cache_lines: 0, ..all_parts() }, latency);
        let values = |bench: &Bench<AnyOrder>| -> Vec<_> {
            let written = |r: &&super::testing::Retired| r.rd != 0 && !r.trap;
            bench.retired.iter().filter(written).map(|r| (r.pc, r.rd, r.value)).collect()
        };
        assert_eq!(values(&cached), values(&plain), "round {round}");
        assert_eq!(cached.memory.written, plain.memory.written, "round {round}");
        reads += cached.memory.loads;
        spared += plain.memory.loads - cached.memory.loads;
    }
    assert!(reads > 50 && spared > 25, "{reads} {spared}");
}
