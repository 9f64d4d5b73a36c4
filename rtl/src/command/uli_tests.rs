//! User-level interrupts in the command processor: priority of machine interrupts, nesting,
//! contexts, CSRs. Memory answers after three cycles, and the events of the channels come from the
//! test.

use super::testing::{csr, load, Contents, DATA, EBREAK, ENTRY, MRET, WFI};
use super::CommandProcessor;
use crate::config::CommandOptions;
use crate::core::testing::{Program, A0, A1, A2, A3, A4, SP, T0, ZERO};
use crate::testing::settle;
use crate::types::riscv::{csr as numbers, instruction};
use hermes_hdl::testing::one_in;
use std::collections::{BTreeSet, VecDeque};

const ERETURN: u32 = instruction::ERETURN as u32;
const ULIEPC: u32 = numbers::ULIEPC as u32;
const ULICTL: u32 = numbers::ULICTL as u32;
const ULIPEND: u32 = numbers::ULIPEND as u32;
const ULIARM: u32 = numbers::ULIARM as u32;
const ULICAUSE: u32 = numbers::ULICAUSE as u32;
const MTVEC: u32 = numbers::MTVEC as u32;

/// Handlers of channels 0 and 1, and the trap handler. Calls are counted in words there.
const HANDLERS: [u32; 2] = [0x4_0000, 0x4_0400];
const TRAPS: u32 = 0x4_0800;
const COUNTS: u32 = DATA + 0x4000;

/// `emonitor rd, rs1, rs2` with scenario 1.
fn emonitor(channel: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    1 << 28 | channel << 25 | rs2 << 20 | rs1 << 15 | rd << 7 | 0x0b
}

/// The same with scenario 0, which disarms.
fn disarm(channel: u32, rd: u32) -> u32 {
    channel << 25 | rd << 7 | 0x0b
}

struct Bench {
    cp: CommandProcessor,
    contents: Contents,
    cycle: u64,
    reads: VecDeque<(u64, u64, u32)>,
    writes: VecDeque<(u64, u64)>,
    /// PC, word, rd, value, trap, first of a trap handler.
    retired: Vec<(u32, u32, u32, u32, bool, bool)>,
}

impl Bench {
    fn new(programs: &[(u32, &Program)]) -> Self {
        let mut cp = CommandProcessor::new(CommandOptions { uli_channels: 2, ..CommandOptions::default() });
        cp.registers.entry.next = u64::from(ENTRY >> 2).into();
        cp.registers.breakpoint_stops.next = true;
        cp.read.ready.next = true;
        cp.write.ready.next = true;
        cp.reset.next = true;
        let mut bench = Self {
            cp,
            contents: Contents::default(),
            cycle: 0,
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            retired: vec![],
        };
        for (address, program) in programs {
            load(&mut bench.contents, *address, program);
        }
        bench.cycle();
        bench.cp.reset.next = false;
        for _ in 0..20 {
            bench.cycle();
        }
        bench.cp.registers.run.next = 1.into();
        bench
    }

    fn cycle(&mut self) {
        let cp = &mut self.cp;
        let due = |at: u64| at + 3 <= self.cycle;
        cp.read.response.valid.next = false;
        if self.reads.front().is_some_and(|read| due(read.0)) {
            let (_, tag, line) = self.reads.pop_front().unwrap();
            cp.read.response.valid.next = true;
            cp.read.response.tag.next = tag.into();
            cp.read.response.data.next = self.contents.line(line);
        }
        cp.write.written.valid.next = false;
        if self.writes.front().is_some_and(|write| due(write.0)) {
            cp.write.written.valid.next = true;
            cp.write.written.tag.next = self.writes.pop_front().unwrap().1.into();
        }
        settle(cp);
        if cp.read.valid.val() {
            self.reads.push_back((self.cycle, cp.read.tag.val().to_u64(), cp.read.line.val().to_u32()));
        }
        if cp.write.valid.val() {
            let strobe = cp.write.strobe.val().to_u64();
            self.contents.write(cp.write.line.val().to_u32(), cp.write.data.val(), strobe);
            self.writes.push_back((self.cycle, cp.write.tag.val().to_u64()));
        }
        let trace = &cp.trace;
        if trace.valid.val() && !cp.reset.next {
            self.retired.push((
                trace.pc_rdata.val().to_u32(),
                trace.insn.val().to_u32(),
                trace.rd.val().to_u32(),
                trace.rd_wdata.val().to_u32(),
                trace.trap.val(),
                trace.intr.val(),
            ));
        }
        for level in [true, false] {
            cp.clock.next = level.into();
            settle(cp);
        }
        self.cycle += 1;
    }

    fn stopped(&self) -> bool {
        self.cp.registers.stopped.val().any()
    }

    fn waiting(&self) -> bool {
        self.cp.registers.waiting.val().any()
    }

    /// Runs until the hart stops; `events` sees each cycle before.
    fn run(&mut self, mut events: impl FnMut(&mut Self)) {
        let limit = self.cycle + 3_000;
        while !self.stopped() {
            events(self);
            self.cycle();
            assert!(self.cycle < limit, "the hart does not stop: {:x?}", self.retired.last());
        }
        for _ in 0..30 {
            self.cycle();
        }
    }

    fn word(&self, i: u32) -> u32 {
        self.contents.word(COUNTS + 4 * i)
    }

    fn value_of(&self, rd: u32) -> u32 {
        self.retired.iter().rev().find(|r| r.2 == rd && !r.4).unwrap().3
    }
}

/// mtvec, the handlers in a0 and a1, COUNTS in a2, and channel `n` armed for each bit of
/// `channels`.
fn start(p: &mut Program, channels: u32) {
    p.lui(T0, HANDLERS[0] >> 12).addi(A0, T0, 0).addi(A1, T0, 0x400);
    p.addi(T0, T0, 0x7f0)
        .addi(T0, T0, 16)
        .word(csr(1, ZERO, MTVEC, T0))
        .lui(A2, COUNTS >> 12)
        .lui(A3, DATA >> 12);
    for channel in (0..2).filter(|channel| channels >> channel & 1 == 1) {
        p.word(emonitor(channel, A4, A0 + channel, A3));
    }
}

/// Counts in word `place`; uses registers from `register` on.
fn count(p: &mut Program, place: i32, register: u32) {
    p.load(2, register, A2, 4 * place).addi(register, register, 1).store(2, register, A2, 4 * place);
}

/// An event and an external interrupt at all distances: each is taken once, the interrupt first if
/// both are there, a trap handler is not interrupted by the event, and the program goes on where it
/// was.
#[test]
fn machine_interrupts_go_first() {
    let mut p = Program::default();
    start(&mut p, 1);
    p.addi(T0, ZERO, 0x80).op_imm(1, T0, T0, 4).word(csr(1, ZERO, 0x304, T0)).word(csr(6, ZERO, 0x300, 8));
    p.addi(A4, ZERO, 20)
        .addi(T0, ZERO, 0)
        .label("loop")
        .addi(T0, T0, 3)
        .store(2, T0, A3, 0)
        .load(2, 31, A3, 0);
    p.addi(A4, A4, -1).branch(1, A4, ZERO, "loop").word(EBREAK);
    let mut handler = Program::default();
    count(&mut handler, 0, 20);
    handler.csrr(22, ULICTL).word(ERETURN);
    let mut traps = Program::default();
    count(&mut traps, 1, 24);
    traps.csrr(25, ULICTL).csrr(26, 0x342).word(MRET);
    let (mut orders, mut inside) = (BTreeSet::new(), 0);
    for distance in one_in(4, (-16..56i64).step_by(2)) {
        let mut bench = Bench::new(&[(ENTRY, &p), (HANDLERS[0], &handler), (TRAPS, &traps)]);
        let event = bench.cycle + 250;
        let interrupt = event.wrapping_add_signed(distance);
        bench.run(|bench| {
            bench.cp.hit[0].next = bench.cycle == event;
            if bench.cycle == interrupt {
                bench.cp.external.next = 1.into();
            }
            if bench.retired.last().is_some_and(|r| r.5) {
                bench.cp.external.next = 0.into();
            }
        });
        assert_eq!((bench.word(0), bench.word(1)), (1, 1), "distance {distance}");
        assert_eq!((bench.value_of(26), bench.value_of(31)), (0x8000_000b, 60), "distance {distance}");
        let path: Vec<u32> = bench.retired.iter().map(|r| r.0).collect();
        let (user, trap) = (
            path.iter().position(|pc| *pc == HANDLERS[0]).unwrap(),
            path.iter().position(|pc| *pc == TRAPS).unwrap(),
        );
        // The trap handler runs through.
        assert!(path[trap..trap + 6].iter().enumerate().all(|(i, pc)| *pc == TRAPS + 4 * i as u32));
        // Bit 1: it was blocked before the trap, which came into the handler, perhaps before its
        // first instruction.
        let into = path[trap + 6] & !0xff == HANDLERS[0];
        let blocked = bench.value_of(25) == 3;
        assert!(bench.value_of(25) & 1 == 1 && (into || !blocked), "distance {distance}");
        assert!(trap < user || into == blocked, "distance {distance}");
        inside += usize::from(blocked);
        assert_eq!(bench.value_of(22) & 1, 1);
        orders.insert(user < trap);
        if distance == 0 {
            assert!(trap < user, "both at once");
        }
    }
    assert!(orders.len() == 2 && inside > 2, "{orders:?} {inside}");
}

/// U13: a handler that lets another in. uliepc and ulicause are those of the outer one again.
#[test]
fn a_handler_is_interrupted_if_it_allows_it() {
    let mut p = Program::default();
    start(&mut p, 3);
    p.addi(A4, ZERO, 60).label("loop").addi(A4, A4, -1).branch(1, A4, ZERO, "loop").word(EBREAK);
    let mut outer = Program::default();
    outer.csrr(20, ULIEPC).csrr(21, ULICAUSE).word(csr(7, ZERO, ULICTL, 1)).addi(22, ZERO, 10).label("wait");
    outer.addi(22, 22, -1).branch(1, 22, ZERO, "wait").word(csr(6, ZERO, ULICTL, 1));
    outer.word(csr(1, ZERO, ULIEPC, 20)).word(csr(1, ZERO, ULICAUSE, 21)).csrr(23, ULICAUSE);
    count(&mut outer, 0, 24);
    outer.word(ERETURN);
    let mut inner = Program::default();
    inner.csrr(26, ULICAUSE).csrr(27, ULIEPC);
    count(&mut inner, 1, 25);
    inner.word(ERETURN);
    let mut bench = Bench::new(&[(ENTRY, &p), (HANDLERS[0], &outer), (HANDLERS[1], &inner)]);
    let event = bench.cycle + 250;
    bench.run(|bench| {
        // Both at once: the lower channel first, the other inside it.
        bench.cp.hit[0].next = bench.cycle == event;
        bench.cp.hit[1].next = bench.cycle == event;
    });
    assert_eq!((bench.word(0), bench.word(1)), (1, 1));
    assert_eq!((bench.value_of(21), bench.value_of(26), bench.value_of(23)), (0x100, 0x101, 0x100));
    assert_eq!(bench.value_of(27) & !0xff, HANDLERS[0]);
    let back = bench.retired.iter().rposition(|r| r.1 == ERETURN).unwrap();
    assert_eq!(bench.retired[back + 1].0, bench.value_of(20));
}

/// A channel of another context: EMONITOR is refused, an event stays pending and wakes, and comes
/// when the context is back.
#[test]
fn another_context_neither_arms_nor_is_interrupted() {
    let mut p = Program::default();
    start(&mut p, 1);
    p.addi(T0, ZERO, 0x100).word(csr(1, ZERO, ULICTL, T0)).word(emonitor(0, 20, A1, A3));
    p.word(WFI).csrr(21, ULIPEND).word(emonitor(0, 22, A1, A3)).word(csr(1, ZERO, ULICTL, ZERO));
    p.word(0x0000_0013).word(EBREAK);
    let mut handler = Program::default();
    count(&mut handler, 0, 24);
    handler.word(ERETURN);
    let mut bench = Bench::new(&[(ENTRY, &p), (HANDLERS[0], &handler)]);
    let mut slept = 0;
    bench.run(|bench| {
        slept += usize::from(bench.waiting());
        bench.cp.hit[0].next = slept == 20;
    });
    assert_eq!(bench.value_of(20), 0xc000_0100, "refused, armed, context 0");
    assert_eq!((bench.value_of(21), bench.value_of(22)), (1, 0xe000_0100));
    assert_eq!(bench.word(0), 1);
    assert!((20..25).contains(&slept), "{slept}");
}

/// ulipend is written bit by bit, and an event after its read in stage X is not lost.
#[test]
fn pending_bits_are_taken_by_software() {
    let mut p = Program::default();
    start(&mut p, 3);
    p.word(csr(6, ZERO, ULICTL, 1)).word(csr(6, ZERO, ULIPEND, 3)).word(csr(1, 20, ULIPEND, ZERO));
    p.csrr(21, ULIPEND)
        .word(csr(6, ZERO, ULIPEND, 2))
        .word(csr(7, 22, ULIPEND, 1))
        .word(csr(7, 23, ULIPEND, 2));
    p.addi(A4, ZERO, 0).addi(28, ZERO, 25).label("take").word(csr(1, T0, ULIPEND, ZERO)).add(A4, A4, T0);
    p.addi(28, 28, -1)
        .branch(1, 28, ZERO, "take")
        .word(csr(7, ZERO, ULICTL, 1))
        .word(0x0000_0013)
        .word(EBREAK);
    let mut handler = Program::default();
    count(&mut handler, 0, 24);
    handler.word(ERETURN);
    let mut takes = BTreeSet::new();
    for at in one_in(6, 0..40) {
        let mut bench = Bench::new(&[(ENTRY, &p), (HANDLERS[0], &handler), (HANDLERS[1], &handler)]);
        let event = bench.cycle + 230 + at;
        bench.run(|bench| bench.cp.hit[0].next = bench.cycle == event);
        assert_eq!([20, 21, 22, 23].map(|rd| bench.value_of(rd)), [3, 0, 2, 2], "event {at}");
        // Taken by one of the reads, and never twice.
        assert_eq!((bench.value_of(A4), bench.word(0)), (1, 0), "event {at}");
        let taken = bench.retired.iter().position(|r| r.2 == T0 && r.3 == 1).unwrap();
        takes.insert(taken);
    }
    assert!(takes.len() > 2, "{takes:?}");
    // Too late for the reads: delivered.
    let mut bench = Bench::new(&[(ENTRY, &p), (HANDLERS[0], &handler), (HANDLERS[1], &handler)]);
    let mut rung = false;
    bench.run(|bench| {
        let ends = !rung && bench.retired.iter().filter(|r| r.1 == csr(1, T0, ULIPEND, ZERO)).count() == 25;
        bench.cp.hit[0].next = ends;
        rung |= ends;
    });
    assert_eq!((bench.value_of(A4), bench.word(0)), (0, 1));
}

#[test]
fn emonitor_and_ereturn_that_are_illegal() {
    // Handler, parameter
    for (handler, parameter) in [
        (HANDLERS[0] | 2, DATA),
        (HANDLERS[0] | 1, DATA),
        (HANDLERS[0], DATA | 1),
        (HANDLERS[0], DATA | 2),
        (HANDLERS[0], 0xfff0_0000),
        (HANDLERS[0], 0xfffe_0003),
    ] {
        let mut p = Program::default();
        start(&mut p, 0);
        p.lui(A1, DATA >> 12)
            .load(2, A0, A1, 0)
            .load(2, A2, A1, 4)
            .word(emonitor(0, A4, A0, A2))
            .word(EBREAK);
        let mut traps = Program::default();
        traps.csrr(20, 0x341).csrr(21, 0x342).csrr(22, 0x343).csrr(23, 0x803).word(EBREAK);
        let mut bench = Bench::new(&[(ENTRY, &p), (TRAPS, &traps)]);
        bench.contents.set_word(DATA, handler);
        bench.contents.set_word(DATA + 4, parameter);
        bench.run(|_| ());
        let trap = bench.retired.iter().find(|r| r.4).unwrap();
        let found = [20, 21, 22, 23].map(|rd| bench.value_of(rd));
        assert_eq!(found, [trap.0, 2, emonitor(0, A4, A0, A2), 0], "{handler:#x} {parameter:#x}");
    }
    // ERETURN with nothing blocked; in a trap handler it would be legal.
    let mut p = Program::default();
    start(&mut p, 0);
    p.word(ERETURN);
    let mut traps = Program::default();
    traps.csrr(20, 0x341).csrr(21, 0x342).csrr(22, 0x343).csrr(SP, ULICTL).word(EBREAK);
    let mut bench = Bench::new(&[(ENTRY, &p), (TRAPS, &traps)]);
    bench.run(|_| ());
    assert_eq!([21, 22, SP].map(|rd| bench.value_of(rd)), [2, ERETURN, 1]);
}

/// U19: an event in any cycle of a stop, of steps, of the time between: a stopped hart keeps it, a
/// step does not deliver it, and it is delivered once when the hart goes on.
#[test]
fn a_stopped_hart_keeps_its_events() {
    let mut p = Program::default();
    start(&mut p, 1);
    p.addi(A4, ZERO, 30).label("loop").store(2, A4, A3, 0).load(2, 31, A3, 0).addi(A4, A4, -1);
    p.branch(1, A4, ZERO, "loop").word(EBREAK);
    let mut handler = Program::default();
    count(&mut handler, 0, 20);
    handler.word(ERETURN);
    for when in one_in(6, (0..120).step_by(3)) {
        let mut bench = Bench::new(&[(ENTRY, &p), (HANDLERS[0], &handler)]);
        for _ in 0..250 {
            bench.cycle();
        }
        let event = bench.cycle + when;
        let cycle = |bench: &mut Bench| {
            bench.cp.hit[0].next = bench.cycle == event;
            bench.cycle();
        };
        let until_stopped = |bench: &mut Bench| {
            let limit = bench.cycle + 200;
            while !bench.stopped() {
                cycle(bench);
                assert!(bench.cycle < limit, "event {when}: the hart does not stop");
            }
        };
        bench.cp.debugging.stop.next = 1.into();
        cycle(&mut bench);
        bench.cp.debugging.stop.next = 0.into();
        until_stopped(&mut bench);
        let stopped = bench.cycle;
        // Only an event before the stop was delivered before it.
        let pcs = |bench: &Bench| -> Vec<u32> { bench.retired.iter().map(|r| r.0).collect() };
        let early = pcs(&bench).contains(&HANDLERS[0])
            || bench.cp.debugging.pc.val().to_u64() << 2 == u64::from(HANDLERS[0]);
        assert!(!early || event + 3 < stopped, "event {when}");
        for _ in 0..4 {
            let (count, pc) = (bench.retired.len(), (bench.cp.debugging.pc.val().to_u64() << 2) as u32);
            for _ in 0..10 {
                cycle(&mut bench);
            }
            assert_eq!(bench.retired.len(), count);
            bench.cp.debugging.step.next = 1.into();
            cycle(&mut bench);
            bench.cp.debugging.step.next = 0.into();
            cycle(&mut bench);
            until_stopped(&mut bench);
            assert_eq!(pcs(&bench)[count..], [pc], "event {when}: a step is the next instruction");
        }
        assert!(early || !pcs(&bench).contains(&HANDLERS[0]), "event {when}: delivered by a step");
        bench.cp.debugging.resume.next = 1.into();
        cycle(&mut bench);
        bench.cp.debugging.resume.next = 0.into();
        cycle(&mut bench);
        bench.run(|bench| bench.cp.hit[0].next = bench.cycle == event);
        assert_eq!((bench.word(0), bench.value_of(31)), (1, 1), "event {when}: delivered once");
    }
}

/// U18: a hart that was held has no channel armed and nothing pending when it runs again, wherever
/// the event comes: before it is held, while it is, or when it runs.
#[test]
fn a_hold_disarms() {
    let mut armed = Program::default();
    start(&mut armed, 3);
    armed.label("loop").addi(A4, A4, 1).jal(ZERO, "loop");
    let mut handler = Program::default();
    count(&mut handler, 0, 20);
    handler.word(ERETURN);
    let mut again = Program::default();
    again.csrr(20, ULIARM).csrr(21, ULIPEND).csrr(22, ULICTL).addi(A4, ZERO, 20).label("loop");
    again.addi(A4, A4, -1).branch(1, A4, ZERO, "loop").csrr(23, ULIPEND).word(EBREAK);
    let second = ENTRY + 0x400;
    let mut before = 0;
    for when in one_in(4, 0..130) {
        let mut bench = Bench::new(&[(ENTRY, &armed), (second, &again), (HANDLERS[0], &handler)]);
        for _ in 0..250 {
            bench.cycle();
        }
        let event = bench.cycle + when;
        let run = |bench: &mut Bench, cycles| {
            for _ in 0..cycles {
                bench.cp.hit[0].next = bench.cycle == event;
                bench.cycle();
            }
        };
        run(&mut bench, 80);
        bench.cp.registers.run.next = 0.into();
        run(&mut bench, 30);
        assert!(bench.cp.registers.quiet.val().any(), "event {when}");
        let handled = bench.word(0);
        before += handled;
        bench.cp.registers.entry.next = u64::from(second >> 2).into();
        bench.cp.registers.run.next = 1.into();
        bench.run(|bench| bench.cp.hit[0].next = bench.cycle == event);
        assert_eq!([20, 21, 22, 23].map(|rd| bench.value_of(rd)), [0; 4], "event {when}");
        assert_eq!(bench.word(0), handled, "event {when}: delivered behind the hold");
    }
    assert!(before > 2, "{before}");
}

/// U21: one context's channel is taken off the hart for another's and comes back, with an event in
/// each cycle. It is delivered once, to the handler of the context that had the channel, or the
/// answer of EMONITOR says that it was pending. Only what comes between the two EMONITORs of a
/// change, when the channel is nobody's, is not seen.
#[test]
fn contexts_take_turns_on_a_channel() {
    let mut p = Program::default();
    start(&mut p, 1);
    p.addi(T0, ZERO, 0x100).addi(A4, ZERO, 4).label("own").addi(A4, A4, -1).branch(1, A4, ZERO, "own");
    // The other context.
    p.word(csr(6, ZERO, ULICTL, 1)).word(disarm(0, 20)).word(csr(2, ZERO, ULICTL, T0));
    p.word(emonitor(0, 21, A1, A3)).word(csr(7, ZERO, ULICTL, 1)).addi(A4, ZERO, 4);
    p.label("other").addi(A4, A4, -1).branch(1, A4, ZERO, "other");
    // Back; what was pending is pending again.
    p.word(csr(6, ZERO, ULICTL, 1)).word(disarm(0, 22)).word(csr(3, ZERO, ULICTL, T0));
    p.word(emonitor(0, 23, A0, A3))
        .op_imm(5, 24, 20, 29)
        .op_imm(7, 24, 24, 1)
        .word(csr(2, ZERO, ULIPEND, 24));
    p.word(csr(7, ZERO, ULICTL, 1)).addi(A4, ZERO, 8).label("end").addi(A4, A4, -1);
    p.branch(1, A4, ZERO, "end").word(EBREAK);
    let mut handlers = [Program::default(), Program::default()];
    for (place, handler) in handlers.iter_mut().enumerate() {
        count(handler, place as i32, 26);
        handler.word(ERETURN);
    }
    let [own, other] = &handlers;
    let (mut found, mut times_lost, mut was_lost) = ([0; 3], 0, true);
    for when in one_in(3, 0..150) {
        let mut bench = Bench::new(&[(ENTRY, &p), (HANDLERS[0], own), (HANDLERS[1], other)]);
        // Behind the first arming.
        let limit = bench.cycle + 500;
        while !bench.retired.iter().any(|r| r.1 == emonitor(0, A4, A0, A3)) {
            bench.cycle();
            assert!(bench.cycle < limit);
        }
        let event = bench.cycle + 3 + when;
        bench.run(|bench| bench.cp.hit[0].next = bench.cycle == event);
        if bench.cycle - 30 < event {
            break;
        }
        // Refused nowhere, and nothing pending where a channel was armed.
        assert_eq!((bench.value_of(21) >> 30, bench.value_of(23) >> 30), (0, 0), "event {when}");
        let kept = bench.value_of(22) >> 29 & 1;
        let places = [bench.word(0), bench.word(1), kept];
        let lost = places == [0; 3];
        times_lost += u32::from(lost && !was_lost);
        was_lost = lost;
        assert!(places.iter().sum::<u32>() <= 1, "event {when}: {places:?}");
        places.iter().zip(&mut found).for_each(|(place, sum)| *sum += place);
    }
    assert!(found.iter().all(|count| *count > 0) && found[0] > found[1], "{found:?}");
    assert_eq!(times_lost, 2, "events are lost in the two changes alone: {found:?}");
}
