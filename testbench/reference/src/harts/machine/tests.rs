//! Programs of a few instructions on the reference of a hart.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::iss::{Cause, Fault, MemoryImage};
use crate::kernel::build_words;

const CODE: u32 = 0x1_0000;

/// A hart with this program, in GNU assembly.
struct Bench {
    hart: MachineHart,
    shared: Shared<Array>,
    symbols: BTreeMap<String, u32>,
}

impl Bench {
    fn new(source: &str) -> Self {
        Self::with(source, Abilities::ALL)
    }

    fn with(source: &str, abilities: Abilities) -> Self {
        let (words, symbols) = build_words(source, CODE);
        let mut memory = MemoryImage::new(1 << 24);
        for (index, word) in words.iter().enumerate() {
            memory.write(CODE + 4 * index as u32, &word.to_le_bytes()).unwrap();
        }
        let mut shared = Shared::new(memory, 2, Array::default());
        // No timer rings.
        shared.timer.compare = [u64::MAX; 8];
        Self { hart: MachineHart::new(0, CODE, abilities), shared, symbols }
    }

    fn step(&mut self) -> Retired {
        self.hart.step(&mut self.shared, None).unwrap()
    }

    fn steps(&mut self, count: usize) -> Retired {
        (0..count).map(|_| self.step()).last().unwrap()
    }

    fn take(&mut self, taken: Taken) -> Result<Retired, Difference> {
        self.hart.step(&mut self.shared, Some(taken))
    }

    fn at(&self, name: &str) -> u32 {
        self.symbols[name]
    }

    fn x(&self, register: usize) -> u32 {
        self.hart.hart.x[register]
    }

    /// The cause and value of what the next instruction raises.
    fn raises(&mut self, cause: Cause, value: u32) {
        let pc = self.hart.hart.pc;
        assert_eq!(self.step().trap, Some(Fault { cause, value }), "{pc:#x}");
        let csrs = &self.hart.csrs;
        assert_eq!((csrs.pc, csrs.cause, csrs.value), (pc, cause as u32, value));
    }
}

#[test]
fn traps_and_mret() {
    let mut bench = Bench::new(
        "   la   t0, handler
            csrw mtvec, t0
            csrsi mstatus, 8
            ecall
            .word 0
            ebreak
            li   t1, 0xfff80000
            lw   a0, 2(t1)
            lw   a0, 0(t1)
            sh   a0, 1(t1)
            sh   a0, 2(t1)
            jalr a0, 2(t1)
            csrr a0, 0x5c0
            csrw mhartid, a0
    handler: csrr a1, mstatus
            csrr a2, mepc
            addi a2, a2, 4
            csrw mepc, a2
            mret",
    );
    bench.steps(4);
    assert!(bench.hart.csrs.enabled);
    for (cause, value) in [
        (Cause::EnvironmentCall, 0),
        (Cause::Illegal, 0),
        (Cause::Breakpoint, CODE + 24),
        (Cause::LoadMisaligned, 0xfff8_0002),
        (Cause::LoadAccess, 0xfff8_0000),
        (Cause::StoreMisaligned, 0xfff8_0001),
        (Cause::StoreAccess, 0xfff8_0002),
        (Cause::InstructionMisaligned, 0xfff8_0002),
        (Cause::Illegal, 0x5c00_2573),
        (Cause::Illegal, 0xf145_1073),
    ] {
        if cause == Cause::LoadMisaligned {
            bench.step();
        }
        bench.raises(cause, value);
        assert_eq!(bench.hart.hart.pc, bench.at("handler"));
        assert!(!bench.hart.csrs.enabled);
        bench.steps(5);
        assert_eq!(bench.x(11), 0x1880, "MPP 3, MPIE 1, MIE 0");
        assert!(bench.hart.csrs.enabled && bench.hart.csrs.enabled_before);
    }
    assert_eq!(bench.x(10), 0, "nothing that raised an exception wrote a register");
    // li is one instruction, la two.
    assert_eq!(bench.hart.csrs.retired, 4 + 1 + 10 * 5);
}

#[test]
fn csrs() {
    let mut bench = Bench::new(
        "   li   t0, -1
            csrrw a0, misa, t0
            csrr a1, misa
            csrrw a0, mie, t0
            csrr a2, mie
            csrw mtvec, t0
            csrr a3, mtvec
            csrw mcause, t0
            csrr a4, mcause
            csrw mepc, t0
            csrr a5, mepc
            csrw mstatus, zero
            csrr a6, mstatus
            csrwi minstret, 7
            csrr a7, minstret
            csrw mcycle, zero
            csrr s2, mcycle
            csrrs s3, mhartid, zero
            csrrci s4, mtvec, 1
            csrr s5, mtvec
            csrrw s6, mcountinhibit, t0
            csrr s7, mcountinhibit
            csrw minstreth, t0
            csrr s8, instreth",
    );
    bench.shared.registers.now = 1000;
    bench.steps(24);
    let expected = [
        (11, 0x4080_1101),
        (12, 0x888),
        (13, 0xffff_ffc1),
        (14, 0x8000_001f),
        (15, 0xffff_fffc),
        (16, 0x1800),
        (17, 7),
        (18, 0),
        (19, 0),
        (20, 0xffff_ffc1),
        (21, 0xffff_ffc0),
        (22, 0),
        (23, 0),
        (24, 0xffff_ffff),
    ];
    for (register, value) in expected {
        assert_eq!(bench.x(register), value, "x{register}");
    }
}

#[test]
fn interrupts_are_taken_in_order_and_only_when_enabled() {
    let mut bench = Bench::new(
        "   la   t0, table + 1
            csrw mtvec, t0
            li   t0, 0x888
            csrw mie, t0
            li   t1, 0xfff00000
            li   t2, 1
            sw   t2, 0(t1)
            csrsi mstatus, 8
            nop
            nop
            .balign 64
    table:  .rept 12
            mret
            .endr",
    );
    let taken = |bench: &mut Bench, number| bench.take(Taken::Interrupt(number));
    bench.steps(9);
    assert!(matches!(taken(&mut bench, 3), Err(Difference::Interrupt { taken: 3, enabled: false, .. })));
    bench.step();
    assert!(matches!(taken(&mut bench, 7), Err(Difference::Interrupt { taken: 7, pending: 8, .. })));
    // The timer is less urgent, the external interrupt more.
    bench.shared.timer.compare[0] = 0;
    assert!(taken(&mut bench, 7).is_err());
    assert_eq!(bench.shared.pending(0), 0x88);
    let before = bench.hart.hart.pc;
    let retired = taken(&mut bench, 3).unwrap();
    assert_eq!(
        (retired.pc, retired.next_pc),
        (bench.at("table") + 12, before),
        "mret at its place in the table"
    );
    assert_eq!(bench.hart.csrs.cause, 0x8000_0003);
    bench.shared.timer.software[0] = false;
    assert_eq!(taken(&mut bench, 7).unwrap().pc, bench.at("table") + 28);
    bench.shared.registers.set(0x320, 1 << 4);
    assert!(bench.shared.registers.send([1, 2, 3, 4]));
    assert!(taken(&mut bench, 7).is_err());
    assert_eq!(taken(&mut bench, 11).unwrap().pc, bench.at("table") + 44);
    assert!(!bench.shared.registers.send([1, 2, 3, 4]), "the mailbox is full");
}

#[test]
fn wait_for_interrupt() {
    let mut bench = Bench::new(
        "   li   t0, 0x80
            csrw mie, t0
            wfi
            addi a0, a0, 1",
    );
    bench.steps(3);
    assert_eq!(bench.hart.state, State::Waiting);
    assert_eq!(bench.hart.step(&mut bench.shared, None), Err(Difference::Asleep));
    bench.shared.timer.software[0] = true;
    assert_eq!(bench.hart.step(&mut bench.shared, None), Err(Difference::Asleep), "not enabled in mie");
    bench.shared.timer.compare[0] = 0;
    bench.step();
    assert_eq!(bench.x(10), 1, "interrupts are off in mstatus: it goes on behind wfi");
}

#[test]
fn lock_up_and_stop() {
    let mut bench = Bench::new("li t0, 0xfff80000\ncsrw mtvec, t0\necall");
    bench.steps(3);
    assert_eq!(bench.hart.state, State::Running);
    let trap = bench.step().trap;
    assert_eq!(trap, Some(Fault { cause: Cause::InstructionAccess, value: 0xfff8_0000 }));
    assert_eq!((bench.hart.state, bench.hart.csrs.cause), (State::LockedUp, 11));
    assert_eq!(bench.hart.step(&mut bench.shared, None), Err(Difference::Ended(State::LockedUp)));

    let mut bench = Bench::new("nop\nebreak");
    bench.hart.stops_on_break = true;
    bench.steps(2);
    assert_eq!((bench.hart.state, bench.hart.hart.pc), (State::Stopped, CODE + 4));
}

#[test]
fn local_memory_timer_registers() {
    let mut bench = Bench::new(
        "   li   t0, 0xfffe3ffc
            li   t1, 0x12345678
            sw   t1, 0(t0)
            lb   a0, 3(t0)
            sh   t1, 2(t0)
            lw   a1, 0(t0)
            la   t2, handler
            csrw mtvec, t2
            lw   a2, 4(t0)
            amoadd.w a2, t1, (t0)
            jr   t0
            li   t0, 0xfff00000
            sw   t1, 4(t0)
            lb   a2, 0(t0)
            sw   t1, 8(t0)
            li   t0, 0xfffff000 - 0x1000
            sw   t1, 0x360(t0)
            lw   a3, 0x360(t0)
            sw   t1, 0x3fc(t0)
            sh   t1, 0x360(t0)
    handler: csrr a5, mepc
            addi a5, a5, 4
            csrw mepc, a5
            mret",
    );
    bench.steps(11);
    assert_eq!((bench.x(10), bench.x(11)), (0x12, 0x5678_5678));
    let raise = |bench: &mut Bench, cause, value| {
        bench.raises(cause, value);
        bench.steps(4);
    };
    raise(&mut bench, Cause::LoadAccess, 0xfffe_4000);
    raise(&mut bench, Cause::StoreAccess, 0xfffe_3ffc);
    // jr goes there; the fetch fails, and the handler goes on behind it, which fails too.
    bench.step();
    bench.raises(Cause::InstructionAccess, 0xfffe_3ffc);
    bench.hart.csrs.pc = CODE + 13 * 4;
    bench.steps(4 + 2);
    assert!(!bench.shared.timer.software[1], "bit 0 only");
    raise(&mut bench, Cause::LoadAccess, 0xfff0_0000);
    raise(&mut bench, Cause::StoreAccess, 0xfff0_0008);
    bench.steps(3);
    assert_eq!((bench.shared.registers.output.as_slice(), bench.x(13)), (&[0x78][..], 64));
    raise(&mut bench, Cause::StoreAccess, 0xffff_e3fc);
    raise(&mut bench, Cause::StoreAccess, 0xffff_e360);
}

/// The window of the network interface, where there is one: which accesses are faults.
#[test]
fn window_of_the_network_interface() {
    let source = "
             la   t2, handler
             csrw mtvec, t2
             lui  a0, 0xffffc
             lw   a1, 0x1c(a0)
             lw   a1, 0x2c(a0)
             sw   a1, 0x40(a0)
             lw   a1, 0x7c(a0)
             sw   a1, 4(a0)
             lw   a1, 4(a0)
             sw   a1, 0x1c(a0)
             sw   a1, 0x80(a0)
             lw   a1, 0(a0)
    handler: csrr a5, mepc
             addi a5, a5, 4
             csrw mepc, a5
             mret";
    let mut bench = Bench::with(source, Abilities { window: true, ..Abilities::ALL });
    bench.steps(9);
    for (cause, offset) in [
        (Cause::LoadAccess, 4),
        (Cause::StoreAccess, 0x1c),
        (Cause::StoreAccess, 0x80),
        (Cause::LoadAccess, 0),
    ] {
        bench.raises(cause, 0xffff_c000 + offset);
        bench.steps(4);
    }
    let mut bench = Bench::new(source);
    bench.steps(4);
    bench.raises(Cause::LoadAccess, 0xffff_c01c);
}

const MONITOR: &str = "
    .macro emonitor rd, rs1, rs2, scenario, channel
    .insn r 0x0b, 0, (\\scenario << 3) | \\channel, \\rd, \\rs1, \\rs2
    .endm
    .macro ereturn
    .word 0x100b
    .endm
";

#[test]
fn user_level_interrupts() {
    let source = MONITOR.to_string()
        + "  la   a0, handler
             li   a1, 0x20003
             emonitor a2, a0, a1, 1, 1
             emonitor a3, a0, a1, 1, 0
             li   a4, 0x100
             csrw 0x801, a4
             emonitor a5, a0, a1, 0, 0
             csrw 0x801, zero
             nop
             nop
    handler: csrr s2, 0x804
             ereturn
             ereturn";
    let mut bench = Bench::new(&source);
    bench.steps(9);
    let channels = &bench.hart.channels;
    assert_eq!((bench.x(12), bench.x(13), bench.x(15)), (0, 0, 0xc000_0100), "refused: another context");
    assert!(channels.channel.iter().all(Channel::armed));
    // Eight bytes at 0x20000. A channel of another context hides none behind it.
    bench.hart.channels.written(0x1_fffc, 4);
    bench.hart.channels.written(0x2_0008, 4);
    assert_eq!(bench.hart.due(0), None);
    bench.hart.channels.written(0x2_0007, 1);
    assert_eq!(bench.hart.due(0), None, "context 1 has armed nothing");
    bench.step();
    assert!(matches!(bench.take(Taken::Channel(1)), Err(Difference::Channel { deliverable: Some(0), .. })));
    let pc = bench.hart.hart.pc;
    let first = bench.take(Taken::Channel(0)).unwrap();
    assert_eq!((first.pc, bench.hart.channels.pc, bench.x(18)), (bench.at("handler"), pc, 0x100));
    assert!(matches!(bench.take(Taken::Channel(1)), Err(Difference::Channel { block: true, .. })));
    bench.step();
    assert_eq!((bench.hart.hart.pc, bench.hart.channels.block), (pc, false));
    bench.take(Taken::Channel(1)).unwrap();
    assert_eq!(bench.x(18), 0x101);
    // A trap in the handler: `mret` blocks again as before.
    bench.hart.csrs.vector = bench.at("handler") + 8;
    bench.hart.csrs.enabled = true;
    bench.hart.csrs.enable = 8;
    bench.shared.timer.software[0] = true;
    bench.hart.channels.channel[0].pending = true;
    assert_eq!(bench.hart.due(8), Some(Taken::Interrupt(3)), "interrupts of machine mode come first");
    assert!(bench.hart.channels.block && !bench.hart.channels.blocked_before);
    bench.take(Taken::Interrupt(3)).unwrap();
    assert!(bench.hart.channels.blocked_before);
    // Its first instruction is ERETURN: allowed, for traps block.
    assert_eq!(bench.hart.hart.pc, pc);
    bench.raises_illegal_return();
}

impl Bench {
    fn raises_illegal_return(&mut self) {
        self.hart.hart.pc = self.at("handler") + 4;
        self.raises(Cause::Illegal, 0x100b);
    }
}

#[test]
fn what_emonitor_refuses() {
    let try_it = |handler: u32, parameter: u32, scenario: u32, channel: u32, window: bool| {
        let source = MONITOR.to_string() + "emonitor a2, a0, a1, 0, 0";
        let mut bench = Bench::with(&source, Abilities { window, ..Abilities::ALL });
        bench.hart.hart.x[10] = handler;
        bench.hart.hart.x[11] = parameter;
        let word = 0x00b5_060b | scenario << 28 | channel << 25;
        bench.shared.memory.write(CODE, &word.to_le_bytes()).unwrap();
        bench.step().trap
    };
    for (handler, parameter, scenario, channel, legal) in [
        (0x100, 0x200, 1, 0, true),
        (0x102, 0x200, 1, 0, false),
        (0x102, 0x201, 0, 1, true),
        (0x100, 0x201, 1, 0, false),
        (0x100, 0x202, 1, 0, false),
        (0x100, 0xfff0_0000, 1, 0, false),
        (0x100, 0xffef_ffff, 1, 0, true),
        (0x100, 0xfffe_0000, 3, 0, true),
        (0x100, 0x200, 4, 0, false),
        (0x100, 0x200, 11, 0, false),
        (0x100, 0x200, 1, 2, false),
    ] {
        let trap = try_it(handler, parameter, scenario, channel, false);
        assert_eq!(trap.is_none(), legal, "{handler:#x} {parameter:#x} {scenario} {channel}: {trap:x?}");
        // With a network interface there is scenario 11 too.
        let trap = try_it(handler, parameter, scenario, channel, true);
        assert_eq!(trap.is_none(), legal || scenario == 11, "{scenario}, with a window: {trap:x?}");
    }
}

#[test]
fn without_channels_their_instructions_are_illegal() {
    for (instruction, word) in [
        ("emonitor a2, a0, a1, 0, 0", 0x00b5_060b),
        ("csrr a0, 0x800", 0x8000_2573),
        ("csrr a0, 0x805", 0x8050_2573),
    ] {
        let source = MONITOR.to_string() + instruction;
        let mut bench = Bench::with(&source, Abilities { channels: 0, ..Abilities::ALL });
        bench.raises(Cause::Illegal, word);
        assert!(!bench.hart.channels.block, "there is no channel to block");
    }
}

#[test]
fn atomic_operations_reserve_a_line() {
    let mut bench = Bench::new(
        "   li   t0, 0x20004
            lr.w a0, (t0)
            sc.w a1, t0, (t0)
            sc.w a2, t0, (t0)
            amoor.w a3, t0, (t0)",
    );
    bench.steps(6);
    assert_eq!((bench.x(11), bench.x(12), bench.x(13)), (0, 1, 0x2_0004));

    // What a loop of `lr.w` and `sc.w` may not do ends the reservation.
    for (instruction, fails) in [
        ("sw t0, 4(t0)", 1),
        ("sw t0, 60(t0)", 1),
        ("lw t1, 60(t0)", 1),
        ("fence", 1),
        ("csrw mscratch, t0", 1),
        ("amoadd.w t1, t0, (t0)", 1),
        ("csrr t1, mscratch", 0),
        ("add t1, t0, t0", 0),
    ] {
        let mut bench = Bench::new(&format!(
            "   li   t0, 0x20004
                lr.w a0, (t0)
                {instruction}
                sc.w a1, t0, (t0)"
        ));
        bench.steps(5);
        assert_eq!(bench.x(11), fails, "{instruction}");
    }
}

/// Random programs end as they should, and meet each kind of trap.
#[test]
fn random_programs_end() {
    let seed = crate::test_seed();
    let (mut traps, mut taken, mut instructions) = (BTreeMap::new(), BTreeMap::new(), 0u64);
    for number in 0..12 {
        let mut random = ChaCha8Rng::seed_from_u64(seed << 8 | number);
        let style = Style { atomics: true, uncached: true, ..Style::array(2) };
        let program = machine_program(&mut random, 200, style);
        let mut system = MachineSystem::new(&program.executable, 1, Abilities::ALL).unwrap();
        let end = system.run(2_000_000, |_, retired| {
            instructions += 1;
            if let Some(fault) = retired.trap {
                *traps.entry(fault.cause).or_insert(0) += 1;
            }
            if let Some(event) = retired.taken {
                *taken.entry(format!("{event:?}")).or_insert(0) += 1;
            }
        });
        assert_eq!(end, SystemEnd::LockedUp(0), "program {number}");
        assert_eq!(system.harts[0].csrs.pc, program.last);
    }
    println!("{instructions} instructions, traps {traps:?}, taken {taken:?}");
    for cause in Cause::ALL.into_iter().filter(|cause| *cause != Cause::Watchdog) {
        assert!(traps.contains_key(&cause), "{cause:?}");
    }
    assert_eq!(taken.len(), 5, "interrupts 3, 7 and 11, channels 0 and 1: {taken:?}");
}
