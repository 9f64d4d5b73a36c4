//! The command processor with a memory that answers in any order: what programs do, exceptions,
//! hold, and going on elsewhere.

use super::testing::{all_parts, load, telling_handler, AnyOrder, Bench, Retired, DATA, EBREAK, ENTRY};
use crate::config::CommandOptions;
use crate::core::testing::{Program, A0, A1, A2, A3, A4, RA, SP, T0, ZERO};
use hermes_hdl::testing::one_in;
use rand::Rng;

/// A bench with a memory that takes its time.
fn bench(latency: (u64, u64)) -> Bench<AnyOrder> {
    Bench::new(AnyOrder::new(latency, 0.7))
}

fn run(program: &Program, latency: (u64, u64)) -> Bench<AnyOrder> {
    let mut bench = bench(latency);
    load(&mut bench.memory.contents, ENTRY, program);
    bench.run_to_stop();
    bench
}

/// Sums of an array by a function, with its elements stored by a loop: 190.
fn sum_program() -> Program {
    let mut p = Program::default();
    p.lui(SP, 0x3_0000 >> 12).lui(A0, DATA >> 12).addi(A1, ZERO, 20).addi(A2, ZERO, 0).label("fill");
    p.op_imm(1, A3, A2, 2).add(A3, A3, A0).store(2, A2, A3, 0);
    p.addi(A2, A2, 1).branch(4, A2, A1, "fill").jal(RA, "sum");
    p.lui(A1, (DATA >> 12) + 1).store(2, A0, A1, 8).word(EBREAK);
    p.label("sum").addi(SP, SP, -16).store(2, RA, SP, 12).addi(A2, ZERO, 0).label("next");
    p.load(2, A3, A0, 0).add(A2, A2, A3).addi(A0, A0, 4).addi(A1, A1, -1).branch(1, A1, ZERO, "next");
    p.add(A0, A2, ZERO).load(2, RA, SP, 12).addi(SP, SP, 16).ret();
    p
}

const SUM: u32 = DATA + 0x1008;

#[test]
fn a_program_ends_at_its_breakpoint() {
    for latency in [(1, 1), (1, 30), (50, 60)] {
        let mut bench = run(&sum_program(), latency);
        let last = *bench.retired.last().unwrap();
        assert!(last.trap && last.word == EBREAK);
        assert!(bench.retired.windows(2).all(|pair| pair[0].next_pc == pair[1].pc));
        // Stopped: nothing retires any more, and the stores become visible.
        let count = bench.retired.len();
        for _ in 0..200 {
            bench.cycle();
        }
        assert!(bench.stopped() && bench.quiet() && bench.retired.len() == count);
        assert_eq!(bench.memory.contents.word(SUM), 190);
        assert_eq!(bench.cp.registers.harts.val().to_u64(), 1);
    }
}

#[test]
fn an_exception_enters_a_trap_at_its_instruction() {
    type Body = fn(&mut Program) -> &mut Program;
    let at = ENTRY + 16;
    let cases: [(Body, u32, u32, &str); 15] = [
        (|p| p.word(0), 2, 0, "an illegal word"),
        (|p| p.word(0x1005_252f), 2, 0x1005_252f, "lr.w"),
        (|p| p.csrr(A0, 0x3a0), 2, 0x3a00_2573, "a CSR"),
        (|p| p.word(0xf140_1573), 2, 0xf140_1573, "a write of mhartid"),
        (|p| p.word(0x0000_0073), 11, 0, "ecall"),
        (|p| p.load(2, A0, A1, 2), 4, DATA + 2, "a misaligned load"),
        (|p| p.load(1, A0, A1, 1), 4, DATA + 1, "a misaligned load of a half word"),
        (|p| p.store(2, A0, A1, 1), 6, DATA + 1, "a misaligned store"),
        (|p| p.store(1, A0, A1, 3), 6, DATA + 3, "a misaligned store of a half word"),
        (|p| p.load(2, A0, A2, 0), 5, 0xfff8_0000, "a load where there is no memory"),
        (|p| p.store(0, A0, A2, 0), 7, 0xfff8_0000, "a store where there is no memory"),
        (|p| p.load(2, A0, A3, 8), 5, DATA + 0x1008, "a bus error"),
        (|p| p.jalr(A0, A1, 2), 0, DATA + 2, "jalr to half a word"),
        (|p| p.jalr(A0, A1, 3), 0, DATA + 2, "jalr to half a word, with bit 0"),
        (|p| p.word(0x0020_006f), 0, at + 2, "j to half a word"),
    ];
    for (body, cause, value, what) in cases {
        let mut program = Program::default();
        program.lui(A1, DATA >> 12).lui(A2, 0xfff80).lui(A3, (DATA >> 12) + 1).addi(A0, ZERO, 77);
        body(&mut program);
        program.addi(A4, ZERO, 1).store(2, A4, A1, 0);
        let mut bench = bench((1, 20));
        load(&mut bench.memory.contents, ENTRY, &program);
        // mtvec is 0 after the hart's reset.
        load(&mut bench.memory.contents, 0, &telling_handler());
        bench.memory.failing.insert((DATA + 0x1000) >> 6);
        bench.run_to_stop();
        for _ in 0..60 {
            bench.cycle();
        }
        let trap = bench.retired[4];
        assert!(trap.trap && trap.pc == at && trap.next_pc == 0, "{what}: {trap:x?}");
        assert!(bench.retired[5].intr && bench.retired.iter().filter(|r| r.intr).count() == 1, "{what}");
        assert_eq!(bench.retired.len(), 9, "{what}");
        assert!(bench.memory.written.is_empty() && bench.stopped() && !bench.locked(), "{what}");
        let found = [A0, A1, A2].map(|rd| bench.value_of(rd));
        assert_eq!(found, [at, cause, value], "{what}");
    }
}

#[test]
fn fetches_that_fail_are_exceptions() {
    // A line that cannot be read, and an address without memory: nothing is fetched from there.
    for (target, fetched) in [(0x5_0000 >> 12, true), (0xfff80, false)] {
        let mut program = Program::default();
        program.lui(A0, target).jalr(ZERO, A0, 0);
        let mut bench = bench((1, 20));
        load(&mut bench.memory.contents, ENTRY, &program);
        load(&mut bench.memory.contents, 0, &telling_handler());
        bench.memory.failing.insert(target << 6);
        bench.run_to_stop();
        assert!(bench.retired[2].trap && bench.retired[2].pc == target << 12);
        assert_eq!([A0, A1, A2].map(|rd| bench.value_of(rd)), [target << 12, 1, target << 12]);
        assert_eq!(bench.memory.fetched.contains(&(target << 6)), fetched);
    }
}

#[test]
fn stores_leave_in_order_and_eight_are_outstanding() {
    let mut program = Program::default();
    program.lui(A1, DATA >> 12);
    for i in 0..24 {
        program.addi(A0, ZERO, 100 + i).store(2, A0, A1, 64 * (i % 5) + 4 * i);
    }
    program.word(EBREAK);
    let bench = run(&program, (60, 200));
    let expected: Vec<_> = (0..24).map(|i| (DATA + 64 * (i % 5) + 4 * i, 100 + i)).collect();
    assert_eq!(bench.memory.written, expected);
    assert_eq!(bench.memory.most, 8);
}

#[test]
fn bytes_and_half_words_go_to_their_places() {
    let mut program = Program::default();
    program.lui(A1, DATA >> 12).lui(A0, 0x12345).addi(A0, A0, 0x678);
    program.store(2, A0, A1, 60).store(0, A0, A1, 61).store(1, A0, A1, 58).store(0, A0, A1, 56);
    program.load(4, A2, A1, 61).load(5, A3, A1, 58).load(0, A4, A1, 63).load(2, T0, A1, 60).word(EBREAK);
    let bench = run(&program, (1, 30));
    assert_eq!(bench.memory.contents.word(DATA + 60), 0x1234_7878);
    assert_eq!(bench.memory.contents.word(DATA + 56), 0x5678_0078);
    let values = [A2, A3, A4, T0].map(|rd| bench.value_of(rd));
    assert_eq!(values, [0x78, 0x5678, 0x12, 0x1234_7878]);
}

#[test]
fn fences_wait_for_the_stores_before_them() {
    for (fence, waits) in
        [(0x0ff0_000f, true), (0x0110_000f, true), (0x0220_000f, false), (0x0000_100f, true)]
    {
        let mut program = Program::default();
        program.lui(A1, DATA >> 12).store(2, A1, A1, 0).word(fence).word(EBREAK);
        let mut bench = bench((1, 1));
        load(&mut bench.memory.contents, ENTRY, &program);
        bench.memory.silent_until = 600;
        bench.run_to_stop();
        let fence = bench.retired.iter().find(|r| r.word == fence).unwrap();
        assert_eq!(fence.cycle > 600, waits, "{fence:x?}");
    }
}

#[test]
fn fence_i_shows_code_that_was_stored() {
    // The word behind the fence is in the cache before, as addi a0, zero, 1.
    let mut program = Program::default();
    program.lui(A1, ENTRY >> 12).load(2, A2, A1, 0x100).store(2, A2, A1, 0x18).word(0x0000_100f);
    program.addi(A0, ZERO, 5).add(A0, A0, A0).addi(A0, ZERO, 1).word(EBREAK);
    let mut bench = bench((1, 20));
    load(&mut bench.memory.contents, ENTRY, &program);
    bench.memory.contents.set_word(ENTRY + 0x100, 0x0070_0513); // addi a0, zero, 7
    bench.run_to_stop();
    assert_eq!(bench.value_of(A0), 7);
}

#[test]
fn another_instruction_does_not_take_the_answer() {
    // While a load waits, its word is replaced: by one that loads from elsewhere, by one that does
    // not load, by itself.
    let plain = CommandOptions::default();
    for (parts, new, value, loads) in [
        (plain, 0x0045_a503, 0x2222, 2),
        (plain, 0x0070_0513, 7, 1),
        (plain, 0x0005_a503, 0x1111, 1),
        // The line of the first is installed, and so found.
        (all_parts(), 0x0045_a503, 0x2222, 1),
        (all_parts(), 0x0405_a503, 0x3333, 2),
        (all_parts(), 0x0070_0513, 7, 1),
        (all_parts(), 0x0005_a503, 0x1111, 1),
    ] {
        let mut program = Program::default();
        program.lui(A1, DATA >> 12).load(2, A0, A1, 0).add(A2, A0, A0).word(EBREAK);
        let mut bench = Bench::with(parts, AnyOrder::new((200, 200), 0.7));
        load(&mut bench.memory.contents, ENTRY, &program);
        bench.memory.contents.set_word(DATA, 0x1111);
        bench.memory.contents.set_word(DATA + 4, 0x2222);
        bench.memory.contents.set_word(DATA + 64, 0x3333);
        bench.set_run(true);
        while bench.memory.loads == 0 {
            bench.cycle();
        }
        bench.memory.contents.set_word(ENTRY + 4, new);
        bench.cp.invalidate.next = true;
        bench.cycle();
        bench.cp.invalidate.next = false;
        bench.run_to_stop();
        assert_eq!(bench.value_of(A0), value);
        assert_eq!(bench.value_of(A2), 2 * value);
        assert_eq!(bench.memory.loads, loads);
    }
}

#[test]
fn the_same_load_twice_reads_twice() {
    let mut program = Program::default();
    program.lui(A0, DATA >> 12).load(2, A0, A0, 0).load(2, A0, A0, 0).add(A2, A0, A0).word(EBREAK);
    let mut bench = bench((1, 20));
    load(&mut bench.memory.contents, ENTRY, &program);
    bench.memory.contents.set_word(DATA, DATA + 0x80);
    bench.memory.contents.set_word(DATA + 0x80, 0x333);
    bench.run_to_stop();
    assert_eq!((bench.value_of(A2), bench.memory.loads), (0x666, 2));
}

/// Held in any cycle, for one cycle or until it is quiet: what retired before is stored, nothing
/// else is, and the program then runs from its beginning as if nothing had been.
#[test]
fn a_hart_can_be_held_in_any_cycle() {
    let mut random = hermes_hdl::testing::random();
    let mut while_loading = 0;
    for when in one_in(6, 1..180) {
        // The first instruction loads: an answer that was meant for the run before must not be
        // taken.
        let mut program = Program::default();
        program
            .lui(A1, DATA >> 12)
            .load(2, A0, A1, 0)
            .addi(A0, A0, 1)
            .store(2, A0, A1, 0)
            .store(2, A0, A1, 0x40);
        program.load(2, A2, A1, 0x40).add(A2, A2, A0).store(2, A2, A1, 0x80).word(EBREAK);
        let mut bench = bench((1, 40));
        load(&mut bench.memory.contents, ENTRY, &program);
        bench.set_run(true);
        for _ in 0..when {
            bench.cycle();
        }
        let loads = bench.memory.loads;
        let single = random.gen::<bool>();
        bench.set_run(false);
        bench.cycle();
        let stores = |bench: &Bench<AnyOrder>| bench.retired.iter().filter(|r| r.word & 0x7f == 0x23).count();
        let (count, stored) = (bench.retired.len(), stores(&bench));
        while_loading += usize::from(loads > 0 && !bench.quiet());
        if single {
            // Written by another while the hart is held.
            bench.memory.contents.set_word(DATA, 500);
        } else {
            bench.hold();
            assert_eq!(bench.retired.len(), count, "held in cycle {when}");
            assert_eq!(bench.memory.written.len(), stored, "held in cycle {when}");
            assert!(bench.memory.idle(), "held in cycle {when}");
            bench.memory.contents.set_word(DATA, 500);
        }
        bench.run_to_stop();
        while !bench.quiet() {
            bench.cycle();
        }
        assert_eq!(bench.retired[count].pc, ENTRY, "held in cycle {when}");
        if !single || stored == 0 {
            assert_eq!(bench.memory.contents.word(DATA), 501, "held in cycle {when}");
            assert_eq!(bench.memory.contents.word(DATA + 0x80), 1002, "held in cycle {when}");
        }
        assert_eq!(bench.memory.written.len(), stores(&bench), "held in cycle {when}");
    }
    assert!(while_loading > 5, "{while_loading}");
}

/// A handler that counts its calls in a word of memory. It uses registers of its own.
fn handler() -> Program {
    let mut p = Program::default();
    p.lui(28, (DATA + 0x4000) >> 12)
        .load(2, 29, 28, 0)
        .addi(29, 29, 1)
        .store(2, 29, 28, 0)
        .label("wait")
        .jal(ZERO, "wait");
    p
}

const HANDLER: u32 = 0x4_0000;

/// The program is interrupted at random boundaries, and its instructions are executed once each, in
/// order.
#[test]
fn going_on_elsewhere_is_exact() {
    let mut random = hermes_hdl::testing::random();
    let plain = run(&sum_program(), (1, 10));
    let mut positions = std::collections::BTreeSet::new();
    for latency in [(1, 1), (1, 40)] {
        let mut bench = bench(latency);
        load(&mut bench.memory.contents, ENTRY, &sum_program());
        load(&mut bench.memory.contents, HANDLER, &handler());
        bench.set_run(true);
        let (mut calls, mut resume) = (0, None);
        let mut wait = 10;
        let mut returns = vec![];
        while !bench.stopped() {
            // Boundary and its PC are known when memory's answers of the cycle are there; they do
            // not depend on these.
            crate::testing::settle(&mut bench.cp);
            let at_boundary = bench.cp.boundary.val().get_bit(0);
            let pc = bench.cp.boundary_pc.val().to_u32() << 2;
            let in_wait = resume.is_some() && pc == HANDLER + 16;
            let take = at_boundary && wait == 0 && (resume.is_none() || in_wait);
            bench.cp.take_valid.next = take;
            if take {
                let target = match resume.take() {
                    Some(back) => {
                        returns.push((bench.retired.len(), back));
                        back
                    }
                    None => {
                        calls += 1;
                        positions.insert(pc);
                        resume = Some(pc);
                        HANDLER
                    }
                };
                bench.cp.take_pc.next = u64::from(target >> 2).into();
            }
            bench.cycle();
            bench.cp.take_valid.next = false;
            wait = if take { random.gen_range(0..60) } else { wait.max(1) - 1 };
            assert!(bench.cycle < 200_000);
        }
        while !bench.quiet() {
            bench.cycle();
        }
        assert!(calls > 20, "{calls}");
        assert_eq!(bench.memory.contents.word(SUM), 190);
        assert_eq!(bench.memory.contents.word(DATA + 0x4000), calls);
        let own = |r: &&Retired| r.pc < HANDLER;
        let path =
            |list: &[Retired]| -> Vec<_> { list.iter().filter(own).map(|r| (r.pc, r.value)).collect() };
        assert_eq!(path(&bench.retired), path(&plain.retired));
        // The first of the handler, and the first after it, are marked.
        assert_eq!(bench.retired.iter().filter(|r| r.pc == HANDLER && r.uli).count(), calls as usize);
        assert!(bench.retired.iter().all(|r| r.uli == (r.pc == HANDLER) || r.pc < HANDLER));
        for pair in bench.retired.windows(2) {
            assert_eq!(pair[1].uli, pair[1].pc != pair[0].next_pc || pair[1].uli, "{pair:x?}");
        }
    }
    assert!(positions.len() > 10, "{positions:x?}");
}

/// Nobody asks for what comes behind the last instruction of a program that loops for ever.
#[test]
fn only_what_is_executed_has_an_effect() {
    let mut program = Program::default();
    program.lui(A1, DATA >> 12).addi(A0, ZERO, 10).label("again").addi(A0, A0, -1);
    program.branch(1, A0, ZERO, "again").jal(ZERO, "end").store(2, A1, A1, 0).load(2, A2, A1, 0);
    program
        .label("end")
        .branch(0, ZERO, ZERO, "stop")
        .store(2, A1, A1, 4)
        .load(2, A2, A1, 4)
        .label("stop")
        .word(EBREAK);
    let bench = run(&program, (1, 3));
    assert!(bench.memory.written.is_empty() && bench.memory.loads == 0);
}
