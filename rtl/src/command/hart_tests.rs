//! Several harts: what one does changes nothing of another.

use super::testing::{csr, load, m, AnyOrder, Bench, Retired, DATA, EBREAK, ENTRY};
use crate::core::testing::{Program, A0, A1, A2, A3, A4, SP, T0, ZERO};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Where the program of hart 0 lies; those of the others follow.
const PROGRAMS: u32 = ENTRY + 0x1000;
const CODE: u32 = 0x400;
/// Bytes of data of a hart.
const SPACE: u32 = 0x1000;

fn bench(harts: u64, latency: (u64, u64)) -> Bench<AnyOrder> {
    let mut memory = AnyOrder::new(latency, 0.7);
    memory.harts = harts;
    Bench::with_harts(harts as usize, 16 * harts as usize, memory)
}

/// Each hart goes to its own program.
fn dispatch() -> Program {
    let mut p = Program::default();
    p.csrr(T0, 0xf14).op_imm(1, T0, T0, 10).lui(A0, PROGRAMS >> 12).add(T0, T0, A0).jalr(ZERO, T0, 0);
    p
}

/// A program with a loop over all kinds of instructions, in any order: arithmetic, products,
/// divisions, branches, calls, loads and stores of a part of memory of its own, local memory,
/// `mtimecmp` of its own, a CSR, traps. It can be started anew at any time.
fn some_program(random: &mut ChaCha8Rng, hart: u32, rounds: i32) -> Program {
    let mut p = Program::default();
    p.lui(A1, (DATA + hart * SPACE) >> 12).lui(A4, 0xfffe0).addi(A4, A4, 256 * hart as i32);
    p.lui(SP, 0xfff04)
        .addi(SP, SP, 8 * hart as i32)
        .addi(A2, ZERO, rounds)
        .addi(A0, ZERO, 5)
        .addi(A3, ZERO, 3);
    p.word(csr(1, ZERO, 0x340, ZERO));
    for i in 0..4 {
        p.store(2, ZERO, A1, 64 * i).store(2, ZERO, A4, 4 * i).store(2, ZERO, SP, 0);
    }
    p.label("again");
    let names = ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10", "n11", "n12", "n13"];
    for name in names {
        let place = 64 * random.gen_range(0..4);
        match random.gen_range(0..13) {
            0 => p.add(A0, A0, A3),
            1 => p.word(m(random.gen_range(0..4), A3, A0, A3)).add(A0, A0, A3),
            2 => p.addi(T0, ZERO, 77).word(m(random.gen_range(4..8), A3, A0, T0)),
            3 => p.branch(random.gen_range(0..2), A0, A3, name).addi(A0, A0, 1).label(name),
            4 => p.jal(T0, name).addi(A0, A0, 1).label(name),
            5 => p.load(2, A3, A1, place).add(A0, A0, A3),
            6 => p.store(2, A0, A1, place),
            7 => p.store(2, A0, A1, place).load(4, A3, A1, place),
            8 => p.store(2, A0, A4, 4).load(2, A3, A4, 4),
            9 => p.store(2, A0, SP, 0).load(2, A3, SP, 0),
            10 => p.word(csr(1, A3, 0x340, A0)).add(A0, A0, A3),
            11 => p.word(0x0ff0_000f),
            // auipc t0, 0; jalr behind itself.
            _ => p.word(0x0000_0297).jalr(ZERO, T0, 8),
        };
    }
    p.addi(A2, A2, -1).branch(1, A2, ZERO, "again").store(2, A0, A1, 0x100).word(EBREAK);
    p
}

fn load_all(bench: &mut Bench<AnyOrder>, programs: &[Program]) {
    load(&mut bench.memory.contents, ENTRY, &dispatch());
    for (hart, program) in (0..).zip(programs) {
        load(&mut bench.memory.contents, PROGRAMS + hart * CODE, program);
    }
}

/// What a program does, whoever else runs.
fn path(retired: &[Retired]) -> Vec<(u32, u32, u32, bool)> {
    retired.iter().map(|r| (r.pc, r.rd, if r.rd == 0 { 0 } else { r.value }, r.trap)).collect()
}

fn run_all(bench: &mut Bench<AnyOrder>, harts: u64) {
    bench.set_harts(harts);
    let limit = bench.cycle + 400_000;
    while bench.stopped_harts() != harts {
        bench.cycle();
        assert!(bench.cycle < limit, "harts {:#x} do not stop", harts & !bench.stopped_harts());
    }
}

/// The paths of harts that run alone.
fn alone(harts: u64, programs: &[Program]) -> Vec<Vec<(u32, u32, u32, bool)>> {
    let one = |hart: u32| {
        let mut bench = bench(harts, (1, 5));
        load_all(&mut bench, programs);
        run_all(&mut bench, 1 << hart);
        assert!(bench.retired.iter().all(|r| r.hart == hart));
        path(&bench.retired)
    };
    (0..harts as u32).map(one).collect()
}

/// Harts that run together do what each does alone, and the stores of each are in memory.
#[test]
fn harts_do_what_each_does_alone() {
    let mut random = hermes_hdl::testing::random();
    for (harts, rounds) in [(2, 3), (4, 2), (8, 1)] {
        let programs: Vec<_> =
            (0..harts as u32).map(|hart| some_program(&mut random, hart, rounds)).collect();
        let expected = alone(harts, &programs);
        for latency in [(1, 1), (1, 40)] {
            let mut bench = bench(harts, latency);
            load_all(&mut bench, &programs);
            run_all(&mut bench, (1 << harts) - 1);
            for _ in 0..200 {
                bench.cycle();
            }
            assert_eq!(bench.cp.registers.quiet.val().to_u64(), (1 << harts) - 1);
            for (hart, expected) in (0..).zip(&expected) {
                assert_eq!(&path(&bench.of_hart(hart)), expected, "hart {hart} of {harts}");
                let last = bench.of_hart(hart).iter().rev().find(|r| r.rd == A0).unwrap().value;
                assert_eq!(
                    bench.memory.contents.word(DATA + hart * SPACE + 0x100),
                    last,
                    "hart {hart} of {harts}"
                );
            }
            assert_eq!(bench.cp.registers.harts.val().to_u64(), harts);
        }
    }
}

/// Seven harts read one register without pause, one adds: those that wait for their turn at the
/// register do not fetch meanwhile, and leave the cycles to the one that has something to do.
#[test]
fn harts_that_wait_for_a_device_leave_the_cycles_to_others() {
    let mut programs = vec![];
    for hart in 0..8 {
        let mut p = Program::default();
        p.lui(A3, 0xffffe).label("again");
        if hart == 0 {
            for _ in 0..14 {
                p.addi(A0, A0, 1);
            }
        } else {
            p.load(2, A0, A3, 0x7c);
        }
        p.jal(ZERO, "again");
        programs.push(p);
    }
    let mut bench = bench(8, (1, 1));
    load_all(&mut bench, &programs);
    bench.registers.delay = 9;
    bench.registers.words.insert(0x7c, 1);
    bench.set_harts(0xff);
    for _ in 0..3_000 {
        bench.cycle();
    }
    let counts: Vec<_> =
        (0..8).map(|hart| bench.of_hart(hart).iter().filter(|r| r.cycle >= 1_000).count()).collect();
    // 614 if they fetched again and again.
    assert!(counts[0] > 800, "{counts:?}");
    assert!(counts[1..].iter().all(|count| (34..=42).contains(count)), "{counts:?}");
}

/// A hart that is held and started anew in any cycle, while others run: they do not notice, and it
/// begins anew.
#[test]
fn a_hart_is_held_and_started_while_others_run() {
    let mut random = hermes_hdl::testing::random();
    let programs: Vec<_> = (0..4).map(|hart| some_program(&mut random, hart, 5)).collect();
    let expected = alone(4, &programs);
    let mut cut = 0;
    for latency in [(1, 2), (1, 40)] {
        let held: u32 = random.gen_range(0..4);
        let mut bench = bench(4, latency);
        load_all(&mut bench, &programs);
        bench.set_harts(15);
        let mut starts = vec![];
        // For one cycle, or for some.
        for _ in 0..4 {
            for _ in 0..random.gen_range(1..250) {
                bench.cycle();
            }
            bench.set_harts(15 & !(1 << held));
            let cycles = if random.gen() { 1 } else { random.gen_range(2..100) };
            bench.cycle();
            starts.push(bench.of_hart(held).len());
            for _ in 1..cycles {
                bench.cycle();
            }
            assert_eq!(
                bench.of_hart(held).len(),
                *starts.last().unwrap(),
                "a hart that is held retires nothing"
            );
            bench.set_harts(15);
        }
        run_all(&mut bench, 15);
        for _ in 0..200 {
            bench.cycle();
        }
        for (hart, expected) in (0..).zip(&expected) {
            let mut found = path(&bench.of_hart(hart));
            if hart == held {
                let mut from = 0;
                for &start in &starts {
                    let part = &found[from..start];
                    assert_eq!(part, &expected[..part.len()], "before a hold");
                    cut += usize::from(part.len() > 10 && part.len() < expected.len());
                    from = start;
                }
                found.drain(..from);
            }
            assert_eq!(&found, expected, "hart {hart}; {held} was held");
            let last = bench.of_hart(hart).iter().rev().find(|r| r.rd == A0).unwrap().value;
            assert_eq!(bench.memory.contents.word(DATA + hart * SPACE + 0x100), last);
        }
    }
    assert!(cut > 1, "{cut}");
}

/// An access to a device, a division: one at a time for all harts, and none waits for ever.
#[test]
fn harts_share_devices_and_the_divider() {
    type Body = fn(&mut Program);
    let bodies: [Body; 2] = [
        |p| {
            p.store(2, A2, SP, 0).load(2, A3, SP, 0);
        },
        |p| {
            p.word(m(5, A3, A2, A0));
        },
    ];
    for body in bodies {
        for harts in [4, 8u64] {
            let mut bench = bench(harts, (1, 1));
            load(&mut bench.memory.contents, ENTRY, &dispatch());
            for hart in 0..harts as u32 {
                let mut p = Program::default();
                p.lui(SP, 0xfff04)
                    .addi(SP, SP, 8 * hart as i32)
                    .addi(A2, ZERO, 1000)
                    .addi(A0, ZERO, 3)
                    .label("again");
                body(&mut p);
                p.addi(A2, A2, -1).branch(1, A2, ZERO, "again");
                load(&mut bench.memory.contents, PROGRAMS + hart * CODE, &p);
            }
            bench.set_harts((1 << harts) - 1);
            for _ in 0..3_000 {
                bench.cycle();
            }
            let counts: Vec<usize> = (0..harts as u32)
                .map(|hart| bench.of_hart(hart).iter().filter(|r| r.rd == A3).count())
                .collect();
            println!("{counts:?}");
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(*least > 5 && 2 * least >= *most, "{counts:?}");
        }
    }
}

/// Stores of each hart leave in order, and as many are outstanding as there are numbers: the last
/// hart has one fewer.
#[test]
fn each_hart_has_its_stores() {
    for (harts, most) in [(1, 8), (2, 16), (4, 31), (8, 31)] {
        let mut bench = bench(harts, (1, 1));
        // All instructions are fetched by then.
        bench.memory.silent_until = 4_000;
        load(&mut bench.memory.contents, ENTRY, &dispatch());
        for hart in 0..harts as u32 {
            let mut p = Program::default();
            p.lui(A1, (DATA + hart * SPACE) >> 12);
            for i in 0..12 {
                p.addi(A0, ZERO, 100 + i).store(2, A0, A1, 64 * (i % 3) + 4 * i);
            }
            p.word(EBREAK);
            load(&mut bench.memory.contents, PROGRAMS + hart * CODE, &p);
        }
        run_all(&mut bench, (1 << harts) - 1);
        for _ in 0..200 {
            bench.cycle();
        }
        for hart in 0..harts as u32 {
            let base = DATA + hart * SPACE;
            let own: Vec<_> =
                bench.memory.written.iter().filter(|w| w.0 & !(SPACE - 1) == base).copied().collect();
            let expected: Vec<_> = (0..12).map(|i| (base + 64 * (i % 3) + 4 * i, 100 + i)).collect();
            assert_eq!(own, expected, "hart {hart} of {harts}");
        }
        assert_eq!(bench.memory.most, most, "{harts} harts");
    }
}

/// Half of the instructions are jumps and branches that are not foreseen: of four harts mostly one
/// has a next PC that is certain.
#[test]
fn four_harts_fill_the_pipeline() {
    for (harts, limit) in [(1u64, 0.0), (4, 0.9)] {
        let mut bench = bench(harts, (1, 1));
        load(&mut bench.memory.contents, ENTRY, &dispatch());
        for hart in 0..harts as u32 {
            let mut p = Program::default();
            p.addi(A2, ZERO, 0)
                .label("again")
                .addi(A2, A2, 1)
                .op_imm(7, A0, A2, 1)
                .branch(0, A0, ZERO, "even");
            p.addi(A3, A3, 1).label("even").word(0x0000_0297).jalr(ZERO, T0, 8).branch(1, A2, ZERO, "again");
            load(&mut bench.memory.contents, PROGRAMS + hart * CODE, &p);
        }
        bench.set_harts((1 << harts) - 1);
        for _ in 0..1_000 {
            bench.cycle();
        }
        let before = bench.retired.len();
        for _ in 0..2_000 {
            bench.cycle();
        }
        let share = (bench.retired.len() - before) as f64 / 2_000.0;
        println!("{harts} harts: {share:.3} instructions a cycle");
        assert!(share >= limit, "{share}");
    }
}
