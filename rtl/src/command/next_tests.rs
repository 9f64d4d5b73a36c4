//! A hart that waits for a command of the network interface in a read that is withdrawn and
//! repeated (U22, U27): interrupts, stops and holds in any cycle of the wait come in front of the
//! read, which is executed again, and take no command with them.

use super::testing::{all_parts, csr, load, AnyOrder, Bench, DATA, EBREAK, ENTRY, MRET, WINDOW};
use crate::core::testing::{Program, A0, A1, A2, A3, A4, T0, ZERO};
use hermes_hdl::testing::one_in;

const NEXT: u32 = 0x40;
const HANDLER: u32 = 0x4_0000;
const COMMANDS: [u32; 2] = [0x111, 0x222];
/// Cycles behind the start at which they come.
const TIMES: [u64; 2] = [260, 330];

/// Takes two commands, with `mstatus.MIE` as given, and stores them. Handlers count in a4, with
/// `mepc` in a1.
fn program(interrupts: bool) -> Program {
    let mut p = Program::default();
    p.lui(T0, HANDLER >> 12).word(csr(1, ZERO, 0x305, T0)).addi(T0, ZERO, 0x80).op_imm(1, T0, T0, 4);
    p.word(csr(1, ZERO, 0x304, T0)).word(csr(if interrupts { 6 } else { 7 }, ZERO, 0x300, 8));
    p.lui(A2, DATA >> 12).lui(A3, 0xffffc).addi(A4, ZERO, 0);
    for place in 0..2 {
        let again = ["first", "second"][place];
        p.label(again).load(2, A0, A3, NEXT as i32).branch(0, A0, ZERO, again);
        p.store(2, A0, A2, 4 * place as i32);
    }
    p.store(2, A4, A2, 8).word(0x0ff0_000f).word(EBREAK);
    p
}

/// The read, as a word.
fn next() -> u32 {
    let mut p = Program::default();
    p.load(2, A0, A3, NEXT as i32);
    p.assemble()[0]
}

fn bench(interrupts: bool, delay: u64) -> Bench<AnyOrder> {
    let mut bench = Bench::with(all_parts(), AnyOrder::new((1, 3), 1.0));
    let mut handler = Program::default();
    handler.csrr(A1, 0x341).addi(A4, A4, 1).word(MRET);
    load(&mut bench.memory.contents, ENTRY, &program(interrupts));
    load(&mut bench.memory.contents, HANDLER, &handler);
    bench.registers.next = Some(WINDOW + NEXT);
    bench.registers.delay = delay;
    bench.set_run(true);
    bench
}

/// Runs until the hart stops at its `ebreak`; `events` sees each cycle, counted from the start,
/// before.
fn run(bench: &mut Bench<AnyOrder>, mut events: impl FnMut(&mut Bench<AnyOrder>, u64)) {
    let start = bench.cycle;
    while bench.retired.last().is_none_or(|r| r.word != EBREAK) {
        let time = bench.cycle - start;
        assert!(time < 2_000, "the hart does not end");
        for (at, command) in TIMES.into_iter().zip(COMMANDS) {
            if time == at {
                bench.registers.commands.push_back(command);
            }
        }
        events(bench, time);
        bench.cycle();
    }
    while !bench.quiet() {
        bench.cycle();
    }
}

/// What was stored, and the commands that were taken; reads of nothing are none.
fn results(bench: &Bench<AnyOrder>) -> ([u32; 2], Vec<u32>) {
    let stored = [0, 1].map(|i| bench.memory.contents.word(DATA + 4 * i));
    let taken = bench.registers.log.iter().filter(|a| a.3 != 0).map(|a| a.3).collect();
    (stored, taken)
}

#[test]
fn an_interrupt_in_every_cycle_of_the_wait() {
    let mut at_the_read = 0;
    for when in one_in(6, 150..420) {
        let mut bench = bench(true, when % 3);
        run(&mut bench, |bench, time| {
            if time == when {
                bench.cp.external.next = 1.into();
            }
            if bench.retired.last().is_some_and(|r| r.intr) {
                bench.cp.external.next = 0.into();
            }
        });
        assert_eq!(results(&bench), (COMMANDS, COMMANDS.to_vec()), "interrupt {when}");
        let entries: Vec<usize> = (0..bench.retired.len()).filter(|&i| bench.retired[i].intr).collect();
        let [entry] = entries[..] else {
            assert!(entries.is_empty() && when > 330, "interrupt {when}: {entries:?}");
            continue;
        };
        assert_eq!(bench.value_of(A4), 1, "interrupt {when}");
        // It comes where the hart is: at the read, which is the next then, or between others.
        let (back, resumed) = (bench.value_of(A1), bench.retired[entry + 3]);
        assert_eq!((resumed.pc, bench.retired[entry - 1].next_pc), (back, back), "interrupt {when}");
        at_the_read += usize::from(resumed.word == next());
        assert!(bench.registers.withdrawn > 0, "interrupt {when}");
    }
    assert!(at_the_read > 15, "{at_the_read}");
}

/// With interrupts off a pending one that is enabled wakes the hart: the read gives 0, soon.
#[test]
fn a_pending_interrupt_ends_the_wait_with_nothing() {
    for when in one_in(4, 150..250) {
        let mut bench = bench(false, 0);
        let mut first = None;
        run(&mut bench, |bench, time| {
            if time == when {
                bench.cp.external.next = 1.into();
            }
            if first.is_none() && bench.retired.last().is_some_and(|r| r.word == next()) {
                first = Some((time, bench.value_of(A0)));
                bench.cp.external.next = 0.into();
            }
        });
        let (time, value) = first.unwrap();
        // Pending in the next cycle, then as long as an access to a device takes: fetched, started,
        // fetched again.
        assert!(value == 0 && (1..=24).contains(&(time - when)), "{when}: {value:#x} at {time}");
        assert_eq!(results(&bench), (COMMANDS, COMMANDS.to_vec()), "{when}");
        assert!(!bench.retired.iter().any(|r| r.intr));
    }
}

/// A debugger's stop comes in front of the read; a hold takes no command either.
#[test]
fn stops_and_holds_in_every_cycle_of_the_wait() {
    let mut at_the_read = 0;
    for when in one_in(12, 150..340) {
        let mut bench = bench(true, when % 3);
        let start = bench.cycle;
        let mut stopped_at = None;
        run(&mut bench, |bench, time| {
            bench.cp.debugging.stop.next = u64::from(time == when).into();
            bench.cp.debugging.resume.next = u64::from(time == when + 400).into();
            if bench.stopped() && stopped_at.is_none() && time < when + 400 {
                stopped_at = Some((bench.cp.debugging.pc.val().to_u32() << 2, bench.retired.len()));
            }
        });
        assert_eq!(results(&bench), (COMMANDS, COMMANDS.to_vec()), "stop {when}");
        if let Some((pc, place)) = stopped_at {
            assert_eq!(bench.retired[place].pc, pc, "stop {when}");
            assert!(bench.retired[place].cycle > start + when + 400, "stop {when}");
            at_the_read += usize::from(bench.retired[place].word == next());
        }
    }
    assert!(at_the_read > 5, "{at_the_read}");
    for when in one_in(12, 150..255) {
        let mut bench = bench(true, when % 3);
        let mut quiet = None;
        run(&mut bench, |bench, time| {
            if time == when {
                bench.set_run(false);
            }
            if time > when && quiet.is_none() && bench.quiet() {
                quiet = Some(time);
                bench.set_run(true);
            }
        });
        // The program begins again, before the commands come.
        assert!((when..when + 40).contains(&quiet.unwrap()), "hold {when}: {quiet:?}");
        assert_eq!(results(&bench), (COMMANDS, COMMANDS.to_vec()), "hold {when}");
    }
}
