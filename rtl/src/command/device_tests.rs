//! Accesses to devices, products and divisions, the local memory: the pipeline with a memory that
//! answers in any order.

use super::testing::{
    all_parts, atomic, load, m, telling_handler, AnyOrder, Bench, DATA, EBREAK, ENTRY, WFI, WINDOW,
};
use crate::config::CommandOptions;
use crate::core::testing::{Program, A0, A1, A2, A3, A4, T0, ZERO};
use hermes_hdl::testing::one_in;
use rand::Rng;

fn bench(latency: (u64, u64)) -> Bench<AnyOrder> {
    Bench::new(AnyOrder::new(latency, 0.7))
}

#[test]
fn registers_are_read_and_written_in_order() {
    // Stores to memory before an access are acknowledged first; a read and a write with an effect
    // happen once.
    let mut p = Program::default();
    p.lui(A1, DATA >> 12).lui(A3, 0xffffe).store(2, A1, A1, 0).load(2, A0, A3, 0x7c).addi(A0, A0, 1);
    p.store(2, A0, A3, 0x80).store(2, A0, A1, 4).load(2, A2, A3, 0x7c).store(2, A2, A3, 0x7fc);
    p.load(2, A4, A3, 0x80).word(EBREAK);
    for delay in [0, 1, 9] {
        let mut bench = bench((1, 30));
        load(&mut bench.memory.contents, ENTRY, &p);
        bench.registers.delay = delay;
        bench.registers.words.extend([(0x7c, 0x1111), (0x80, 0), (0x7fc, 0)]);
        bench.run_to_stop();
        let log: Vec<_> = bench.registers.log.iter().map(|a| (a.1, a.2, a.3)).collect();
        let expected = [
            (false, 0x7c, 0x1111),
            (true, 0x80, 0x1112),
            (false, 0x7c, 0x1111),
            (true, 0x7fc, 0x1111),
            (false, 0x80, 0x1112),
        ];
        assert_eq!(log, expected);
        assert_eq!(bench.value_of(A4), 0x1112);
    }
}

/// An instruction of a program.
type Body = fn(&mut Program) -> &mut Program;

/// Runs a program whose last instruction traps, with this cause and value.
fn traps(mut bench: Bench<AnyOrder>, mut program: Program, cause: u32, value: u32) {
    program.word(EBREAK);
    load(&mut bench.memory.contents, ENTRY, &program);
    load(&mut bench.memory.contents, 0, &telling_handler());
    bench.run_to_stop();
    let trap = bench.retired.iter().find(|r| r.trap).unwrap();
    assert_eq!([A0, A1, A2].map(|rd| bench.value_of(rd)), [trap.pc, cause, value], "{trap:x?}");
}

#[test]
fn what_is_no_device_is_an_access_fault() {
    // A1 0xfff0_0000, A2 0xffff_e000, A3 0xfffe_0000
    let cases: [(Body, u32, u32); 18] = [
        (|p| p.load(2, A0, A2, 4), 5, 0xffff_e004),
        (|p| p.store(2, A0, A2, 8), 7, 0xffff_e008),
        (|p| p.load(1, A0, A2, 0), 5, 0xffff_e000),
        (|p| p.load(4, A0, A2, 3), 5, 0xffff_e003),
        (|p| p.store(0, A0, A2, 0), 7, 0xffff_e000),
        (|p| p.store(1, A0, A1, 0), 7, 0xfff0_0000),
        (|p| p.load(2, A0, A2, 2), 4, 0xffff_e002),
        (|p| p.store(2, A0, A2, 1), 6, 0xffff_e001),
        (|p| p.load(2, A0, A1, 4), 5, 0xfff0_0004),
        (|p| p.store(2, A0, A1, 8), 7, 0xfff0_0008),
        (|p| p.lui(A4, 0xfff0c).store(2, A0, A4, -8), 7, 0xfff0_bff8),
        (|p| p.lui(A4, 0xfff10).load(2, A0, A4, 0), 5, 0xfff1_0000),
        (|p| p.lui(A4, 0xfffe4).load(2, A0, A4, 0), 5, 0xfffe_4000),
        (|p| p.lui(A4, 0xffffc).load(2, A0, A4, 0), 5, 0xffff_c000),
        (|p| p.lui(A4, 0xfffff).load(2, A0, A4, 0), 5, 0xffff_f000),
        (|p| p.load(2, A0, A3, -4), 5, 0xfffd_fffc),
        (|p| p.load(1, A0, A3, 1), 4, 0xfffe_0001),
        (|p| p.store(0, A0, ZERO, -1), 7, 0xffff_ffff),
    ];
    for (body, cause, value) in cases {
        let mut p = Program::default();
        p.lui(A1, 0xfff00).lui(A2, 0xffffe).lui(A3, 0xfffe0).addi(A0, ZERO, 77);
        body(&mut p);
        let mut bench = bench((1, 5));
        bench.registers.words.insert(0, 5);
        traps(bench, p, cause, value);
    }
}

/// With a network interface its window is a device: words only, strongly ordered, and each hart is
/// told from the others.
#[test]
fn the_window_of_the_network_interface() {
    let mut p = Program::default();
    p.lui(A1, DATA >> 12).lui(A3, 0xffffc).csrr(A0, 0xf14).addi(A0, A0, 5).store(2, A0, A1, 0);
    p.store(2, A0, A3, 0x40).load(2, A2, A3, 0x40).store(2, A2, A1, 4).lui(A4, 0xffffe).load(2, A4, A4, 0x40);
    p.store(2, A4, A3, 0x7c).word(EBREAK);
    let mut memory = AnyOrder::new((1, 20), 0.7);
    memory.harts = 2;
    let mut bench = Bench::with(CommandOptions { command_threads: 2, ..all_parts() }, memory);
    load(&mut bench.memory.contents, ENTRY, &p);
    let places = [WINDOW, WINDOW + 0x1000].map(|base| [base + 0x40, base + 0x7c]);
    bench.registers.words.extend(places.as_flattened().iter().map(|place| (*place, 0)));
    bench.registers.words.insert(0x40, 99);
    bench.cp.registers.run.next = 3.into();
    while bench.cp.registers.stopped.val().to_u64() != 3 {
        bench.cycle();
        assert!(bench.cycle < 3_000);
    }
    for (hart, [first, last]) in places.into_iter().enumerate() {
        let own = bench.registers.log.iter().filter(|entry| entry.2 & !0xfff == first & !0xfff);
        let own: Vec<_> = own.map(|entry| (entry.1, entry.2, entry.3)).collect();
        let value = hart as u32 + 5;
        assert_eq!(own, [(true, first, value), (false, first, value), (true, last, 99)]);
    }
}

/// What the window does not have, and what is no word, is an access fault there too.
#[test]
fn the_window_takes_words_alone() {
    // A1 0xffff_c000
    let cases: [(Body, u32, u32); 8] = [
        (|p| p.load(2, A0, A1, 0), 5, 0xffff_c000),
        (|p| p.store(2, A0, A1, 0x80), 7, 0xffff_c080),
        (|p| p.load(1, A0, A1, 0x40), 5, 0xffff_c040),
        (|p| p.store(0, A0, A1, 0x40), 7, 0xffff_c040),
        (|p| p.load(2, A0, A1, 0x41), 4, 0xffff_c041),
        (|p| p.store(2, A0, A1, 0x42), 6, 0xffff_c042),
        (|p| p.lui(A4, 0xffffd).load(2, A0, A4, 0x40), 5, 0xffff_d040),
        (|p| p.addi(A4, A1, 0x40).word(atomic(0, false, A0, A4, A0)), 7, 0xffff_c040),
    ];
    for (body, cause, value) in cases {
        let mut p = Program::default();
        p.lui(A1, 0xffffc).addi(A0, ZERO, 77);
        body(&mut p);
        let mut bench = Bench::with(all_parts(), AnyOrder::new((1, 5), 0.7));
        bench.registers.words.insert(WINDOW + 0x40, 5);
        traps(bench, p, cause, value);
    }
}

#[test]
fn products_and_quotients() {
    let mut random = hermes_hdl::testing::random();
    for _ in 0..12 {
        let some = |random: &mut rand_chacha::ChaCha8Rng| {
            [0u32, 1, 0xffff_ffff, 0x8000_0000, random.gen(), random.gen(), random.gen()]
                [random.gen_range(0..7)]
        };
        let (a, b) = (some(&mut random), some(&mut random));
        let mut p = Program::default();
        p.lui(A1, DATA >> 12).load(2, A2, A1, 0).load(2, A3, A1, 4);
        // Each result is used at once.
        for funct3 in 0..8u32 {
            p.word(m(funct3, A0, A2, A3)).store(2, A0, A1, 8 + 4 * funct3 as i32);
        }
        p.word(EBREAK);
        let mut bench = bench((1, 3));
        load(&mut bench.memory.contents, ENTRY, &p);
        bench.memory.contents.set_word(DATA, a);
        bench.memory.contents.set_word(DATA + 4, b);
        bench.run_to_stop();
        while !bench.quiet() {
            bench.cycle();
        }
        let (signed_a, signed_b) = (i64::from(a as i32), i64::from(b as i32));
        let (wide_a, wide_b) = (u64::from(a), u64::from(b));
        let divided = |quotient: u32, by_zero: u32| if b == 0 { by_zero } else { quotient };
        let divisor = if b == 0 { 1 } else { b };
        let expected = [
            a.wrapping_mul(b),
            ((signed_a * signed_b) >> 32) as u32,
            ((signed_a * wide_b as i64) >> 32) as u32,
            ((wide_a * wide_b) >> 32) as u32,
            divided((a as i32).wrapping_div(divisor as i32) as u32, u32::MAX),
            divided(a / divisor, u32::MAX),
            divided((a as i32).wrapping_rem(divisor as i32) as u32, a),
            divided(a % divisor, a),
        ];
        let found: Vec<u32> = (0..8).map(|i| bench.memory.contents.word(DATA + 8 + 4 * i)).collect();
        assert_eq!(found, expected, "{a:#x} {b:#x}");
    }
}

#[test]
fn local_memory_holds_bytes_and_words() {
    let mut p = Program::default();
    p.lui(A1, 0xfffe4).lui(A0, 0x12345).addi(A0, A0, 0x678).addi(A2, ZERO, -1);
    // The last words of the memory; loads right behind the stores.
    p.store(2, A0, A1, -4).load(2, A3, A1, -4).store(0, A2, A1, -3).load(2, A4, A1, -4);
    p.store(1, A2, A1, -2).load(5, T0, A1, -2).load(1, 6, A1, -2).load(0, 7, A1, -4).load(4, 28, A1, -1);
    p.store(2, ZERO, A1, -8).store(0, A0, A1, -5).load(2, 29, A1, -8).add(30, 29, 29).load(2, 31, A1, -4);
    p.word(EBREAK);
    let mut bench = bench((1, 5));
    load(&mut bench.memory.contents, ENTRY, &p);
    bench.run_to_stop();
    let found = [A3, A4, T0, 6, 7, 28, 29, 30, 31].map(|rd| bench.value_of(rd));
    let expected =
        [0x1234_5678, 0x1234_ff78, 0xffff, 0xffff_ffff, 0x78, 0xff, 0x7800_0000, 0xf000_0000, 0xffff_ff78];
    assert_eq!(found, expected);
    assert!(bench.memory.written.is_empty() && bench.memory.loads == 0);
}

/// Held in every cycle around accesses, a division and a sleep, for one cycle or until it is quiet:
/// nothing is performed from then on, and the program runs from its beginning as if nothing had
/// been.
#[test]
fn a_hart_is_held_in_any_of_these() {
    let mut random = hermes_hdl::testing::random();
    let (mut in_access, mut in_division, mut asleep) = (0, 0, 0);
    let mut p = Program::default();
    p.lui(A3, 0xffffe).load(2, A0, A3, 0).lui(A2, 0xfff04).store(2, A3, A2, 4).store(2, A0, A3, 4);
    p.word(m(4, A1, A3, A0)).store(2, A1, A3, 8).addi(T0, ZERO, 0x88).word(0x3042_9073); // csrw mie, t0
    p.word(WFI).load(2, A4, A3, 0).word(EBREAK);
    let whole = [(false, 0, 7), (true, 4, 7), (true, 8, (0xffff_e000_u32 as i32 / 7) as u32), (false, 0, 7)];
    for when in one_in(6, 1..230) {
        let mut bench = bench((1, 20));
        load(&mut bench.memory.contents, ENTRY, &p);
        bench.registers.delay = 6;
        bench.registers.words.extend([(0, 7), (4, 0), (8, 0)]);
        bench.set_run(true);
        for _ in 0..when {
            bench.cycle();
        }
        let count = bench.registers.log.len();
        let single = random.gen::<bool>();
        in_access += usize::from(bench.cp.access.valid.val());
        asleep += usize::from(bench.waiting());
        bench.set_run(false);
        bench.cycle();
        assert!(!bench.cp.access.valid.val() && !bench.waiting(), "held in cycle {when}");
        let dividing = bench.retired.last().is_some_and(|r| r.address == 0xffff_e004);
        in_division += usize::from(dividing && !bench.quiet());
        if !single {
            bench.hold();
        }
        let retired = bench.retired.len();
        bench.set_run(true);
        while !bench.stopped() {
            // What wakes it.
            if bench.waiting() && random.gen_bool(0.1) {
                bench.cp.doorbell.next = 1.into();
            }
            bench.cycle();
            bench.cp.doorbell.next = 0.into();
            assert!(bench.cycle < 3_000, "held in cycle {when}");
        }
        assert_eq!(bench.retired[retired].pc, ENTRY, "held in cycle {when}");
        let log: Vec<_> = bench.registers.log.iter().map(|a| (a.1, a.2, a.3)).collect();
        assert_eq!(log[..count], whole[..count], "held in cycle {when}");
        assert_eq!(log[count..], whole, "held in cycle {when}");
        assert_eq!(bench.value_of(A4), 7);
    }
    assert!(in_access > 1 && in_division > 2 && asleep > 4, "{in_access} {in_division} {asleep}");
}
