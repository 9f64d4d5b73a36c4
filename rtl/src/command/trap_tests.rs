//! Traps, machine interrupts at every boundary, `wfi`, CSRs: the pipeline with a memory that
//! answers in any order.

use super::testing::{csr, load, m, telling_handler, AnyOrder, Bench, DATA, EBREAK, ENTRY, MRET, WFI};
use crate::core::testing::{Program, A0, A1, A2, A3, A4, RA, SP, T0, ZERO};
use hermes_hdl::testing::one_in;
use std::collections::BTreeSet;

/// An instruction of a program.
type Body = fn(&mut Program) -> &mut Program;

const HANDLER: u32 = 0x4_0000;
/// What handlers keep: calls, `mcause`, `mepc`, a register.
const SAVED: u32 = DATA + 0x4000;

const MSTATUS: u32 = 0x300;
const MIE: u32 = 0x304;
const MTVEC: u32 = 0x305;
const MSCRATCH: u32 = 0x340;
const MEPC: u32 = 0x341;
const MCAUSE: u32 = 0x342;

fn bench(latency: (u64, u64)) -> Bench<AnyOrder> {
    Bench::new(AnyOrder::new(latency, 0.7))
}

/// `mtvec` is the handler, `mscratch` where it saves, `mie` as given.
fn start(p: &mut Program, enables: i32) {
    p.lui(T0, HANDLER >> 12).word(csr(1, ZERO, MTVEC, T0)).lui(T0, SAVED >> 12);
    p.word(csr(1, ZERO, MSCRATCH, T0)).addi(T0, ZERO, enables >> 4).op_imm(1, T0, T0, 4);
    p.word(csr(1, ZERO, MIE, T0));
}

/// A handler that counts its calls and keeps `mcause` and `mepc`. It changes no register.
fn counting_handler() -> Program {
    let mut p = Program::default();
    p.word(csr(1, SP, MSCRATCH, SP)).store(2, T0, SP, 12).load(2, T0, SP, 0).addi(T0, T0, 1);
    p.store(2, T0, SP, 0).csrr(T0, MCAUSE).store(2, T0, SP, 4).csrr(T0, MEPC).store(2, T0, SP, 8);
    p.load(2, T0, SP, 12).word(csr(1, SP, MSCRATCH, SP)).word(MRET);
    p
}

/// Arithmetic, a product and a quotient used at once, loads and stores, local memory, branches, a
/// call, accesses to both devices, writes of CSRs, a sleep that ends at once, a fence.
fn mixed() -> Program {
    let mut p = Program::default();
    start(&mut p, 0x800);
    p.word(csr(6, ZERO, MSTATUS, 8)).lui(A1, DATA >> 12).lui(A3, 0xffffe).lui(8, 0xfffe0).lui(9, 0xfff00);
    p.addi(A0, ZERO, 7).word(m(0, A2, A0, A0)).add(T0, A2, A0).store(2, A2, A1, 0).load(2, 6, A1, 0);
    p.word(m(4, 7, 6, A0)).word(m(6, 28, T0, 6)).add(28, 28, 7).store(2, 28, A1, 4);
    p.store(1, T0, 8, 6).load(4, 29, 8, 6).add(30, 29, 29).store(2, 30, A1, 8);
    p.addi(31, ZERO, 2).label("loop").addi(31, 31, -1).branch(1, 31, ZERO, "loop").jal(RA, "function");
    p.store(2, A2, A3, 16).load(2, T0, A3, 16).add(A4, T0, T0).store(2, A4, A1, 12);
    // Interrupts are off, and `wfi` ends by the software interrupt.
    p.word(csr(7, ZERO, MSTATUS, 8)).addi(T0, ZERO, 1).store(2, T0, 9, 0).addi(T0, ZERO, 8);
    p.word(csr(2, ZERO, MIE, T0)).word(WFI).store(2, ZERO, 9, 0).word(csr(3, ZERO, MIE, T0));
    p.word(csr(6, ZERO, MSTATUS, 8)).addi(T0, T0, 1).store(2, T0, A1, 16).word(0x0ff0_000f).word(EBREAK);
    p.label("function").word(csr(1, T0, 0x320, A0)).add(A0, A0, T0).ret();
    p
}

fn load_mixed(bench: &mut Bench<AnyOrder>) {
    load(&mut bench.memory.contents, ENTRY, &mixed());
    load(&mut bench.memory.contents, HANDLER, &counting_handler());
    bench.registers.words.insert(16, 0);
}

/// An interrupt in each cycle of the program, of which each run tries an eighth: it is taken once,
/// between two instructions, and changes nothing of what the program does.
#[test]
fn an_interrupt_in_every_cycle() {
    let main = |bench: &Bench<AnyOrder>| -> Vec<(u32, u32, u32)> {
        let own = bench.retired.iter().filter(|r| r.pc < HANDLER);
        own.map(|r| (r.pc, r.rd, if r.rd == 0 { 0 } else { r.value })).collect()
    };
    let mut plain = bench((1, 3));
    load_mixed(&mut plain);
    plain.run_to_stop();
    let accesses =
        |bench: &Bench<AnyOrder>| -> Vec<_> { bench.registers.log.iter().map(|a| (a.1, a.2, a.3)).collect() };
    let results = |bench: &Bench<AnyOrder>| -> Vec<u32> {
        (0..5).map(|i| bench.memory.contents.word(DATA + 4 * i)).collect()
    };
    assert_eq!(results(&plain), [49, 7 + 7, 112, 98, 9]);
    assert_eq!(accesses(&plain), [(true, 16, 49), (false, 16, 49)]);
    let (path, length) = (main(&plain), plain.cycle);
    let mut positions = BTreeSet::new();
    let begin = bench((1, 3)).cycle;
    for when in one_in(8, begin..length + 4) {
        let mut bench = bench((1, 3));
        load_mixed(&mut bench);
        bench.set_run(true);
        while !bench.stopped() {
            if bench.cycle == when {
                bench.cp.external.next = 1.into();
            }
            bench.cycle();
            if bench.retired.last().is_some_and(|r| r.intr) {
                bench.cp.external.next = 0.into();
            }
            assert!(bench.cycle < length + 1_000, "cycle {when}");
        }
        while !bench.quiet() {
            bench.cycle();
        }
        assert_eq!(main(&bench), path, "cycle {when}");
        assert_eq!(results(&bench), results(&plain), "cycle {when}");
        assert_eq!(accesses(&bench), accesses(&plain), "cycle {when}");
        let entries: Vec<usize> = (0..bench.retired.len()).filter(|&i| bench.retired[i].intr).collect();
        let [entry] = entries[..] else {
            assert!(entries.is_empty() && when + 20 > length, "cycle {when}: {entries:?}");
            continue;
        };
        assert_eq!(bench.retired[entry].pc, HANDLER);
        let word = |i: u32| bench.memory.contents.word(SAVED + 4 * i);
        assert_eq!((word(0), word(1)), (1, 0x8000_000b), "cycle {when}");
        assert_eq!(word(2), bench.retired[entry - 1].next_pc, "cycle {when}");
        let back = bench.retired[entry..].iter().find(|r| r.pc < HANDLER).unwrap();
        assert_eq!(word(2), back.pc, "cycle {when}");
        positions.insert(word(2));
    }
    // All but those where interrupts are off.
    assert!(positions.len() > 10, "{positions:x?}");
}

/// Longest time from an interrupt of hart 0 to the first instruction of its handler, which the
/// cache has, while `harts` harts do this in a loop.
fn longest_response(harts: usize, body: impl Fn(&mut Program)) -> u64 {
    let mut program = Program::default();
    start(&mut program, 0x800);
    // Other lines of the cache than the program has.
    program.lui(T0, HANDLER >> 12).addi(T0, T0, 0x200).word(csr(1, ZERO, MTVEC, T0));
    program.lui(A1, DATA >> 12).lui(A3, 0xffffe).lui(A4, 0xfff04).word(csr(6, ZERO, MSTATUS, 8));
    program.label("again");
    body(&mut program);
    program.jal(ZERO, "again");
    let mut handler = Program::default();
    handler.word(MRET);
    let mut memory = AnyOrder::new((1, 3), 1.0);
    memory.harts = harts as u64;
    let mut bench = Bench::with_harts(harts, 64, memory);
    load(&mut bench.memory.contents, ENTRY, &program);
    load(&mut bench.memory.contents, HANDLER + 0x200, &handler);
    bench.registers.words.insert(16, 0);
    bench.registers.delay = 1;
    bench.set_harts((1 << harts) - 1);
    let mut longest = 0;
    for i in 0..25u64 {
        for _ in 0..50 + i % 23 {
            bench.cycle();
        }
        let (raised, seen) = (bench.cycle, bench.retired.len());
        bench.cp.external.next = 1.into();
        let entry = loop {
            bench.cycle();
            if let Some(entry) = bench.retired[seen..].iter().find(|r| r.hart == 0 && r.intr) {
                break entry.cycle;
            }
            assert!(bench.cycle < raised + 1_000, "no interrupt");
        };
        bench.cp.external.next = 0.into();
        // The first brings the handler into the cache.
        if i > 0 {
            longest = longest.max(entry - raised);
        }
    }
    longest
}

/// U22: what has begun is completed first, and holds an interrupt up for ten cycles at most.
#[test]
fn an_access_holds_an_interrupt_up_for_ten_cycles_at_most() {
    for harts in [1, 4] {
        let idle = longest_response(harts, |p| {
            p.addi(A0, A0, 1).addi(A0, A0, 1).addi(A0, A0, 1);
        });
        let bodies: [(&str, Body); 4] = [
            ("read of a register", |p| p.load(2, A0, A3, 16).add(A0, A0, A0)),
            ("write of a register", |p| p.store(2, A0, A3, 16).add(A0, A0, A0)),
            ("read of the CLINT", |p| p.load(2, A0, A4, 0).add(A0, A0, A0)),
            ("write of the CLINT", |p| p.store(2, A0, A4, 0).add(A0, A0, A0)),
        ];
        // One of each device where several harts run.
        for (name, body) in bodies.into_iter().step_by(if harts > 1 { 3 } else { 1 }) {
            let busy = longest_response(harts, |p| {
                body(p);
            });
            println!("{harts} harts, {name}: {busy} cycles, {idle} without");
            assert!(busy <= idle + 10, "{harts} harts, {name}: {busy} cycles, {idle} without");
            assert!(busy > idle, "{name} took no time: nothing was tested");
        }
    }
}

#[test]
fn interrupts_go_by_their_order() {
    // All three pending; the handler disables each when it comes.
    let mut program = Program::default();
    start(&mut program, 0x880);
    program.addi(T0, ZERO, 8).word(csr(2, ZERO, MIE, T0)).lui(A1, SAVED >> 12);
    program.word(csr(6, ZERO, MSTATUS, 8)).word(EBREAK);
    let mut handler = Program::default();
    handler.csrr(A0, MCAUSE).store(2, A0, A1, 0).addi(A1, A1, 4).addi(A2, ZERO, 1).op(1, A2, A2, A0);
    handler.word(csr(3, ZERO, MIE, A2)).word(MRET);
    let mut bench = bench((1, 5));
    load(&mut bench.memory.contents, ENTRY, &program);
    load(&mut bench.memory.contents, HANDLER, &handler);
    bench.cp.external.next = 1.into();
    // mtimecmp is 0: the timer is due.
    bench.cp.doorbell.next = 1.into();
    bench.cycle();
    bench.cp.doorbell.next = 0.into();
    bench.run_to_stop();
    while !bench.quiet() {
        bench.cycle();
    }
    let causes: Vec<u32> = (0..4).map(|i| bench.memory.contents.word(SAVED + 4 * i)).collect();
    assert_eq!(causes, [0x8000_000b, 0x8000_0003, 0x8000_0007, 0]);
}

/// The timer wakes the hart, with and without a trap; vectored.
#[test]
fn a_timer_ends_the_sleep() {
    for traps in [true, false] {
        let mut program = Program::default();
        start(&mut program, 0x80);
        program.lui(T0, HANDLER >> 12).addi(T0, T0, 1).word(csr(1, ZERO, MTVEC, T0));
        program.lui(9, 0xfff04).lui(A1, 0xfff0c).load(2, A0, A1, -8).addi(A0, A0, 200).store(2, ZERO, 9, 4);
        program.store(2, A0, 9, 0).word(csr(if traps { 6 } else { 7 }, ZERO, MSTATUS, 8));
        program.word(WFI).addi(A2, ZERO, 5).word(EBREAK);
        let mut bench = bench((1, 3));
        load(&mut bench.memory.contents, ENTRY, &program);
        let mut vector = telling_handler();
        let code = vector.assemble();
        for (i, word) in code.into_iter().enumerate() {
            bench.memory.contents.set_word(HANDLER + 28 + 4 * i as u32, word);
        }
        vector.word(0);
        bench.set_run(true);
        let mut slept = 0;
        while !bench.stopped() {
            bench.cycle();
            slept += u64::from(bench.waiting());
            assert!(bench.cycle < 5_000);
        }
        let due = u64::from(bench.retired.iter().find(|r| r.word == 0x0c85_0513).unwrap().value);
        let sleeps = bench.retired.iter().position(|r| r.word == WFI).unwrap();
        let next = bench.retired[sleeps + 1];
        // Compared in this cycle, pending and fetched in the next, in W five cycles later; the
        // handler's line may be missing.
        let wakes = next.cycle - due;
        assert!(slept > 100 && (6..40).contains(&wakes), "{slept} {wakes}");
        if traps {
            assert_eq!((next.pc, next.intr), (HANDLER + 28, true));
            let pc = bench.retired[sleeps].pc;
            assert_eq!([A0, A1].map(|rd| bench.value_of(rd)), [pc + 4, 0x8000_0007]);
        } else {
            assert_eq!((wakes, bench.value_of(A2)), (6, 5));
        }
    }
}

#[test]
fn a_handler_that_cannot_run_locks_up() {
    // The handler's first instruction, and its second.
    for (good, locks) in [(0, true), (1, false)] {
        let mut program = Program::default();
        start(&mut program, 0);
        program.word(0x0000_0073).word(EBREAK);
        let mut handler = Program::default();
        for _ in 0..good {
            handler.addi(A0, A0, 1);
        }
        handler.word(0);
        let mut bench = bench((1, 5));
        bench.cp.registers.breakpoint_stops.next = false;
        load(&mut bench.memory.contents, ENTRY, &program);
        load(&mut bench.memory.contents, HANDLER, &handler);
        if !locks {
            bench.set_run(true);
            for _ in 0..500 {
                bench.cycle();
            }
            assert!(!bench.stopped() && !bench.locked());
            assert!(bench.retired.iter().filter(|r| r.trap).count() > 5);
            continue;
        }
        bench.run_to_stop();
        let last = bench.retired.last().unwrap();
        assert!(bench.locked() && last.trap && last.pc == HANDLER, "{last:x?}");
        bench.hold();
        assert!(!bench.locked() && !bench.stopped());
    }
}

#[test]
fn a_breakpoint_is_a_trap_if_it_does_not_stop() {
    let mut program = Program::default();
    start(&mut program, 0);
    program.word(EBREAK).addi(A3, ZERO, 3).word(0);
    let mut bench = bench((1, 5));
    bench.cp.registers.breakpoint_stops.next = false;
    load(&mut bench.memory.contents, ENTRY, &program);
    load(&mut bench.memory.contents, HANDLER, &counting_handler());
    bench.set_run(true);
    for _ in 0..800 {
        bench.cycle();
    }
    let trap = bench.retired.iter().find(|r| r.trap).unwrap();
    assert_eq!(bench.memory.contents.word(SAVED + 8), trap.pc);
    assert_eq!(bench.memory.contents.word(SAVED + 4), 3);
    assert!(bench.memory.contents.word(SAVED) > 3 && !bench.stopped());
}

#[test]
fn counters_and_bits_of_csrs() {
    let mut p = Program::default();
    p.lui(A1, DATA >> 12).word(csr(5, ZERO, 0xb02, 0)).store(2, A1, A1, 0).jal(ZERO, "on").label("on");
    // Retired since the write: store, jal, and the read of cycle.
    p.csrr(A0, 0xc00).csrr(A2, 0xc02).csrr(A3, 0xc00).csrr(A4, 0xb02);
    p.addi(T0, ZERO, 0x2d).word(csr(1, ZERO, MSCRATCH, T0)).word(csr(6, 6, MSCRATCH, 18));
    p.word(csr(7, 7, MSCRATCH, 1)).csrr(28, MSCRATCH).csrr(29, 0x301).csrr(30, MSTATUS);
    p.addi(T0, ZERO, -1).word(csr(1, ZERO, MTVEC, T0)).csrr(31, MTVEC).csrr(8, 0xc01).word(EBREAK);
    let mut bench = bench((1, 5));
    load(&mut bench.memory.contents, ENTRY, &p);
    bench.run_to_stop();
    let value = |rd| bench.value_of(rd);
    assert_eq!((value(A2), value(A4)), (3, 5));
    assert_eq!(value(A3) - value(A0), 2);
    assert_eq!([value(6), value(7), value(28)], [0x2d, 0x3f, 0x3e]);
    assert_eq!((value(29), value(30) & !0x80, value(31)), (0x4080_1100, 0x1800, 0xffff_ffc1));
    let time = bench.retired.iter().find(|r| r.rd == 8).unwrap();
    assert_eq!(u64::from(value(8)), time.cycle - 1);
}
