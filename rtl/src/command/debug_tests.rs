//! Harts that the host stops, steps, resumes and has execute words: the pipeline with a memory that
//! answers in any order.

use super::testing::{
    all_parts, atomic, csr, load, m, telling_handler, AnyOrder, Bench, Retired, DATA, EBREAK, ENTRY, MRET,
    WFI,
};
use crate::config::CommandOptions;
use crate::core::testing::{Program, A0, A1, A2, A3, A4, RA, SP, T0, ZERO};
use crate::types::riscv::{csr as numbers, instruction};
use std::collections::BTreeSet;

const HANDLER: u32 = 0x4_0000;
/// `csrw 0x7b2, xN` and `csrr xN, 0x7b2`.
pub(super) const DATA_CSR: u32 = numbers::CP_DATA as u32;
pub(super) const FENCE_I: u32 = instruction::FENCE_I as u32;

pub(super) fn bench(harts: u64) -> Bench<AnyOrder> {
    let mut memory = AnyOrder::new((1, 4), 0.7);
    memory.harts = harts;
    Bench::with(CommandOptions { command_threads: harts as usize, ..all_parts() }, memory)
}

/// What the host does with the registers for debugging.
impl Bench<AnyOrder> {
    /// A write of CP_STEP.
    pub(super) fn control(&mut self, step: u64, resume: u64, stop: u64) {
        let ports = &mut self.cp.debugging;
        ports.step.next = step.into();
        ports.resume.next = resume.into();
        ports.stop.next = stop.into();
        self.cycle();
        let ports = &mut self.cp.debugging;
        (ports.step.next, ports.resume.next, ports.stop.next) = (0.into(), 0.into(), 0.into());
    }

    /// Stops hart 0.
    pub(super) fn stop(&mut self) {
        self.control(0, 0, 1);
        self.until_stopped(1);
    }

    pub(super) fn until_stopped(&mut self, harts: u64) {
        let limit = self.cycle + 2_000;
        while self.stopped_harts() & harts != harts {
            self.cycle();
            assert!(self.cycle < limit, "a hart does not stop");
        }
    }

    /// Lets hart 0 execute one instruction.
    fn step(&mut self) {
        self.control(1, 0, 0);
        self.until_stopped(1);
    }

    /// The selected hart executes a word; whether that failed.
    pub(super) fn execute(&mut self, word: u32) -> bool {
        self.cp.debugging.value.next = u64::from(word).into();
        self.cp.debugging.execute.next = true;
        self.cycle();
        self.cp.debugging.execute.next = false;
        let limit = self.cycle + 2_000;
        while self.cp.registers.debug_busy.val() {
            self.cycle();
            assert!(self.cycle < limit, "{word:#010x} is not executed");
        }
        self.cp.registers.debug_error.val()
    }

    pub(super) fn run_word(&mut self, word: u32) {
        assert!(!self.execute(word), "{word:#010x} fails");
    }

    pub(super) fn set_data(&mut self, value: u32) {
        self.cp.debugging.value.next = u64::from(value).into();
        self.cp.debugging.data_write.next = true;
        self.cycle();
        self.cp.debugging.data_write.next = false;
    }

    pub(super) fn data(&self) -> u32 {
        self.cp.debugging.data.val().to_u32()
    }

    pub(super) fn register(&mut self, number: u32) -> u32 {
        self.run_word(csr(1, ZERO, DATA_CSR, number));
        self.data()
    }

    pub(super) fn set_register(&mut self, number: u32, value: u32) {
        self.set_data(value);
        self.run_word(csr(2, number, DATA_CSR, ZERO));
    }

    pub(super) fn csr(&mut self, number: u32) -> u32 {
        let saved = self.register(A0);
        self.run_word(csr(2, A0, number, ZERO));
        let value = self.register(A0);
        self.set_register(A0, saved);
        value
    }

    pub(super) fn pc(&self) -> u32 {
        (self.cp.debugging.pc.val().to_u64() << 2) as u32
    }

    pub(super) fn run_on(&mut self) {
        self.control(0, 1, 0);
        self.until_stopped(1);
    }

    /// PC, register and value of what retired, but for the last.
    fn path(&self) -> Vec<(u32, u32, u32)> {
        let shown = |r: &Retired| (r.pc, r.rd, if r.rd == 0 { 0 } else { r.value });
        self.retired.iter().map(shown).collect()
    }
}

/// The word of one instruction.
pub(super) fn one(p: impl Fn(&mut Program) -> &mut Program) -> u32 {
    let mut program = Program::default();
    p(&mut program);
    program.assemble()[0]
}

/// A loop of loads, stores, divisions, products, accesses to a device, atomic operations, branches,
/// calls, CSRs and `wfi`, that interrupts end.
fn mixed() -> Program {
    let mut p = Program::default();
    p.lui(A1, DATA >> 12).lui(A3, 0xffffe).lui(8, 0xfffe0).lui(9, 0xfff00).addi(T0, ZERO, 8);
    p.word(csr(1, ZERO, 0x304, T0)).addi(T0, ZERO, 1).store(2, T0, 9, 0).addi(30, ZERO, 1).label("loop");
    p.addi(A0, A0, 7).word(m(0, A2, A0, A0)).add(T0, A2, A0).store(2, A2, A1, 0).load(2, 6, A1, 0);
    p.word(m(4, 7, 6, A0)).add(28, 7, T0).store(2, 28, A1, 64).store(1, T0, 8, 6).load(4, 29, 8, 6);
    p.store(2, A2, A3, 16).load(2, T0, A3, 16).add(A4, T0, 29).word(atomic(0, true, 11, A1, A4));
    p.add(A4, 11, A4).lui(A1, DATA >> 12).load(2, 12, A1, 0).add(A4, A4, 12).word(WFI);
    p.jal(RA, "function").addi(30, 30, -1).branch(1, 30, ZERO, "loop").store(2, A4, A1, 8);
    p.word(0x0ff0_000f).word(EBREAK);
    p.label("function").word(csr(1, T0, 0x340, A4)).add(A4, A4, T0).ret();
    p
}

fn load_mixed(bench: &mut Bench<AnyOrder>) {
    load(&mut bench.memory.contents, ENTRY, &mixed());
    bench.registers.words.insert(16, 0);
}

/// Registers that `mixed` starts with, which are not its own.
fn clear_registers(bench: &mut Bench<AnyOrder>) {
    bench.control(0, 0, 1);
    bench.set_run(true);
    bench.until_stopped(1);
    for number in [A0, A4] {
        bench.set_register(number, 5);
    }
    bench.run_word(csr(1, ZERO, 0x340, ZERO));
}

fn results(bench: &mut Bench<AnyOrder>) -> (Vec<u32>, Vec<(bool, u32, u32)>) {
    while !bench.quiet() {
        bench.cycle();
    }
    let words = [0, 8, 64].map(|at| bench.memory.contents.word(DATA + at)).to_vec();
    (words, bench.registers.log.iter().map(|access| (access.1, access.2, access.3)).collect())
}

#[test]
fn a_stop_changes_nothing() {
    stops_change_nothing(7);
}

#[test]
#[ignore = "minutes: a run for each cycle"]
fn a_stop_in_every_cycle_changes_nothing() {
    stops_change_nothing(1);
}

/// A stop in every so many cycles of the program.
fn stops_change_nothing(stride: usize) {
    let mut plain = bench(1);
    load_mixed(&mut plain);
    clear_registers(&mut plain);
    let begin = plain.cycle;
    plain.run_on();
    let length = plain.cycle - begin;
    let path = plain.path();
    let expected = results(&mut plain);
    assert!(expected.1.len() == 2 && path.len() > 35, "{expected:?}");
    let mut places = BTreeSet::new();
    for when in (0..length + 4).step_by(stride) {
        let mut bench = bench(1);
        load_mixed(&mut bench);
        clear_registers(&mut bench);
        bench.control(0, 1, 0);
        for _ in 1..when {
            bench.cycle();
        }
        bench.stop();
        let count = bench.retired.len();
        for _ in 0..when % 3 * 20 {
            bench.cycle();
        }
        assert_eq!(bench.retired.len(), count, "cycle {when}: it is stopped");
        let ended = bench.retired.last().is_some_and(|last| last.trap);
        let next = bench.retired.last().map_or(ENTRY, |last| if ended { last.pc } else { last.next_pc });
        assert_eq!(bench.pc(), next, "cycle {when}");
        assert!(!bench.waiting(), "cycle {when}: a stop ends the sleep");
        // Registers are what was written last.
        for number in [A2, 7, 29] {
            let last = bench.retired.iter().rev().find(|r| r.rd == number);
            if let Some(value) = last.map(|r| r.value) {
                assert_eq!(bench.register(number), value, "cycle {when}: x{number}");
            }
        }
        places.insert(bench.pc());
        if !ended {
            bench.run_on();
        }
        assert_eq!(bench.path(), path, "cycle {when}");
        assert_eq!(results(&mut bench), expected, "cycle {when}");
    }
    assert!(places.len() * stride.min(3) >= 36, "{} places", places.len());
}

#[test]
fn steps_are_the_instructions_of_a_run() {
    let mut plain = bench(1);
    load_mixed(&mut plain);
    clear_registers(&mut plain);
    plain.run_on();
    let mut stepped = bench(1);
    load_mixed(&mut stepped);
    clear_registers(&mut stepped);
    for count in 1..=plain.retired.len() {
        stepped.step();
        assert_eq!(stepped.retired.len(), count, "one instruction a step");
        let last = stepped.retired[count - 1];
        let counted = count - usize::from(last.trap);
        assert_eq!(stepped.csr(0xb02) as usize, counted, "the host's words are not counted");
        assert_eq!(stepped.pc(), if last.trap { last.pc } else { last.next_pc });
    }
    assert_eq!(stepped.path(), plain.path());
    assert_eq!(results(&mut stepped), results(&mut plain));
    // At an `ebreak` that stops it a hart stays.
    stepped.step();
    assert_eq!(stepped.pc(), stepped.retired.last().unwrap().pc);
}

/// `mtvec` is the handler, all interrupts are enabled, and an external one is pending.
fn interrupted_program() -> Program {
    let mut p = Program::default();
    p.lui(T0, HANDLER >> 12).word(csr(1, ZERO, 0x305, T0)).lui(T0, 1).addi(T0, T0, -0x800);
    p.word(csr(1, ZERO, 0x304, T0)).word(csr(6, ZERO, 0x300, 8));
    for i in 0..6 {
        p.addi(A0, ZERO, i);
    }
    p.word(EBREAK);
    p
}

#[test]
fn a_step_takes_no_interrupt() {
    let mut bench = bench(1);
    load(&mut bench.memory.contents, ENTRY, &interrupted_program());
    load(&mut bench.memory.contents, HANDLER, &telling_handler());
    bench.cp.external.next = 1.into();
    bench.control(0, 0, 1);
    bench.set_run(true);
    bench.until_stopped(1);
    for i in 1..10 {
        bench.step();
        assert_eq!((bench.pc(), bench.retired.len()), (ENTRY + 4 * i, i as usize));
    }
    // It is still pending, and comes when the hart goes on.
    assert_eq!(bench.csr(0x344) & 0x800, 0x800);
    bench.run_on();
    assert_eq!(bench.retired[9].pc, HANDLER);
    assert!(bench.retired[9].intr);
    assert_eq!([bench.value_of(A0), bench.value_of(A1)], [ENTRY + 36, 0x8000_000b]);
}

#[test]
fn a_step_of_an_exception_ends_at_the_handler() {
    let mut program = Program::default();
    program.lui(T0, HANDLER >> 12).word(csr(1, ZERO, 0x305, T0)).word(0x0000_0073).word(EBREAK);
    let mut handler = Program::default();
    handler.csrr(A0, 0x341).addi(A0, A0, 4).word(csr(1, ZERO, 0x341, A0)).word(MRET);
    let mut bench = bench(1);
    load(&mut bench.memory.contents, ENTRY, &program);
    load(&mut bench.memory.contents, HANDLER, &handler);
    bench.control(0, 0, 1);
    bench.set_run(true);
    bench.until_stopped(1);
    let mut places = vec![];
    for _ in 0..8 {
        bench.step();
        places.push(bench.pc());
    }
    let [e, h] = [ENTRY, HANDLER];
    assert_eq!(places, [e + 4, e + 8, h, h + 4, h + 8, h + 12, e + 12, e + 12]);
    assert_eq!(bench.retired.iter().filter(|r| r.intr).count(), 1);
    assert!(bench.retired[3].intr && bench.retired[2].trap);
}

#[test]
fn a_breakpoint_in_code_that_the_cache_holds() {
    let mut program = Program::default();
    program.addi(A0, ZERO, 0).label("loop").addi(A0, A0, 1).addi(A1, A0, 0).jal(ZERO, "loop");
    let mut bench = bench(1);
    load(&mut bench.memory.contents, ENTRY, &program);
    bench.set_run(true);
    for _ in 0..200 {
        bench.cycle();
    }
    bench.stop();
    let place = ENTRY + 8;
    let word = bench.memory.contents.word(place);
    let patch = |bench: &mut Bench<AnyOrder>, word: u32| {
        let saved = [SP, T0].map(|number| bench.register(number));
        bench.set_register(SP, place);
        bench.set_register(T0, word);
        bench.run_word(one(|p| p.store(2, T0, SP, 0)));
        bench.run_word(FENCE_I);
        bench.set_register(SP, saved[0]);
        bench.set_register(T0, saved[1]);
    };
    patch(&mut bench, EBREAK);
    for _ in 0..3 {
        bench.run_on();
        assert_eq!(bench.pc(), place);
        let (count, next) = (bench.register(A0), bench.retired.len());
        patch(&mut bench, word);
        bench.step();
        assert_eq!((bench.pc(), bench.register(A1)), (place + 4, count));
        assert_eq!(bench.retired.len(), next + 1);
        patch(&mut bench, EBREAK);
    }
}

#[test]
fn a_hold_ends_everything() {
    // While stopped, in each cycle of a step over a division, in each cycle of a word: the hart
    // starts anew and runs.
    let mut program = Program::default();
    program.addi(A0, ZERO, 100).addi(A1, ZERO, 7).word(m(4, A2, A0, A1)).add(A3, A2, A2).word(EBREAK);
    for kind in 0..4 {
        for when in (0..if kind == 0 { 4 } else { 60 }).step_by(3) {
            let mut bench = bench(1);
            load(&mut bench.memory.contents, ENTRY, &program);
            bench.control(0, 0, 1);
            bench.set_run(true);
            bench.until_stopped(1);
            match kind {
                0 => {}
                1 => {
                    bench.step();
                    bench.step();
                    bench.control(1, 0, 0);
                }
                2 => {
                    bench.set_register(A0, 9);
                    bench.cp.debugging.value.next = u64::from(m(4, A2, A0, A0)).into();
                    bench.cp.debugging.execute.next = true;
                    bench.cycle();
                    bench.cp.debugging.execute.next = false;
                }
                // A stop that was asked for.
                _ => {
                    bench.control(0, 1, 0);
                    for _ in 0..when {
                        bench.cycle();
                    }
                    bench.control(0, 0, 1);
                }
            }
            for _ in 0..when {
                bench.cycle();
            }
            bench.set_run(false);
            bench.cycle();
            // Also of one cycle.
            if when % 2 == 0 {
                bench.hold();
            }
            assert!(!bench.stopped() && !bench.cp.registers.debug_busy.val(), "kind {kind}, cycle {when}");
            let first = bench.retired.len();
            bench.run_to_stop();
            let path: Vec<u32> = bench.retired[first..].iter().map(|r| r.pc).collect();
            let expected: Vec<u32> = (0..5).map(|i| ENTRY + 4 * i).collect();
            assert_eq!(path, expected, "kind {kind}, cycle {when}");
            assert_eq!(bench.register(A3), 28);
        }
    }
}

#[test]
fn a_lock_up_ends_when_the_hart_goes_on() {
    let mut bench = bench(1);
    // Illegal at the entry, and at mtvec, 0.
    bench.run_to_stop();
    assert!(bench.locked() && bench.pc() == 0);
    bench.memory.contents.set_word(0, EBREAK);
    bench.run_word(FENCE_I);
    bench.run_on();
    assert!(bench.stopped() && !bench.locked() && bench.pc() == 0);
}

#[test]
fn a_sleeping_hart_stops_behind_its_wfi() {
    let mut program = Program::default();
    program.addi(A0, ZERO, 1).word(WFI).addi(A0, ZERO, 2).word(WFI).addi(A0, ZERO, 3).word(EBREAK);
    let mut bench = bench(1);
    load(&mut bench.memory.contents, ENTRY, &program);
    bench.set_run(true);
    for _ in 0..200 {
        bench.cycle();
    }
    assert!(bench.waiting());
    bench.stop();
    assert!(!bench.waiting() && bench.pc() == ENTRY + 8);
    // A step over `wfi` does not sleep.
    bench.step();
    bench.step();
    assert!(!bench.waiting() && bench.pc() == ENTRY + 16);
    bench.run_on();
    assert_eq!(bench.value_of(A0), 3);
}

#[test]
fn a_stopped_hart_holds_up_no_other() {
    // Hart 1 takes the same cycles beside a stopped hart as beside one that is held.
    let mut program = Program::default();
    program.csrr(T0, 0xf14).op_imm(1, T0, T0, 12).lui(A1, DATA >> 12).add(A1, A1, T0).addi(A0, ZERO, 9);
    program.label("loop").store(2, A0, A1, 0).load(2, A2, A1, 0).word(m(4, A3, A2, A0));
    program.addi(A0, A0, -1).branch(1, A0, ZERO, "loop").word(EBREAK);
    let run = |stopped: bool| {
        let mut memory = AnyOrder::new((3, 3), 1.0);
        memory.harts = 2;
        let mut bench = Bench::with(CommandOptions { command_threads: 2, ..all_parts() }, memory);
        load(&mut bench.memory.contents, ENTRY, &program);
        bench.control(0, 0, u64::from(stopped));
        bench.set_harts(if stopped { 1 } else { 0 });
        for _ in 0..50 {
            bench.cycle();
        }
        assert_eq!(bench.stopped_harts(), u64::from(stopped));
        bench.set_harts(if stopped { 3 } else { 2 });
        bench.until_stopped(2);
        assert!(bench.of_hart(0).is_empty());
        bench.of_hart(1)
    };
    assert_eq!(run(true), run(false));
    // And while hart 0 is stopped, stepped and executes words, hart 1 does what it does.
    let mut memory = AnyOrder::new((1, 9), 0.7);
    memory.harts = 2;
    let mut bench = Bench::with(CommandOptions { command_threads: 2, ..all_parts() }, memory);
    load(&mut bench.memory.contents, ENTRY, &program);
    bench.set_harts(3);
    let mut steps = 0;
    while bench.stopped_harts() & 2 == 0 {
        bench.control(0, 0, 1);
        bench.until_stopped(1);
        bench.register(A0);
        bench.step();
        steps += 1;
        bench.control(0, 1, 0);
    }
    let values = |retired: &[Retired]| -> Vec<(u32, u32, u32)> {
        retired.iter().map(|r| (r.pc, r.rd, if r.rd == 0 { 0 } else { r.value })).collect()
    };
    assert_eq!(values(&bench.of_hart(1)), values(&run(false)));
    assert!(steps > 5, "{steps}");
}
