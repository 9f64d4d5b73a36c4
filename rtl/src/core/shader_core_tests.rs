//! Tests of the whole core with small programs in rust-hdl's simulator.

use super::testing::*;
use crate::config::WATCHDOG_CAUSE;

fn full_warps<const LANES: usize>(program: &Program, warps: u32, latency: u64) -> Bench<LANES> {
    let mut bench = Bench::<LANES>::new(program, latency);
    for warp in 0..warps {
        bench.start(u64::from(warp), warp * LANES as u32, LANES as u64);
    }
    bench.run(warps as usize);
    bench
}

#[test]
fn calling_convention() {
    let mut program = Program::default();
    // The verdict mixes all registers that a thread starts with; the slot's second word gets the
    // stack pointer.
    program.store(2, SP, A1, 4).add(A0, A0, A1).add(A0, A0, A2).add(A0, A0, RA).ret();
    let bench = full_warps::<4>(&program, 3, 7);
    for packet in 0..12u32 {
        let slot = RING + packet * 128;
        let stack = STACKS + (((2 * 32 + packet / 4) * 4) + packet % 4 + 1) * 256;
        assert_eq!(bench.verdict(packet), packet.wrapping_add(slot + ARGUMENT).wrapping_sub(4));
        assert_eq!(bench.read_word(slot + 4), stack, "packet {packet}");
    }
    assert!(bench.faults.is_empty());
    let mut finished = bench.finished.clone();
    finished.sort_unstable();
    assert_eq!(finished, [0, 1, 2]);
}

/// Steps of the Collatz sequence from `n` to 1.
fn collatz(mut n: u32) -> u32 {
    let mut steps = 0;
    while n != 1 {
        n = if n % 2 == 1 { 3 * n + 1 } else { n / 2 };
        steps += 1;
    }
    steps
}

fn collatz_program() -> Program {
    let mut program = Program::default();
    program
        .addi(A3, A0, 1)
        .addi(A0, ZERO, 0)
        .addi(A4, ZERO, 1)
        .label("loop")
        .branch(0, A3, A4, "end")
        .addi(A0, A0, 1)
        .op_imm(7, T0, A3, 1)
        .branch(0, T0, ZERO, "even")
        .op_imm(1, T0, A3, 1)
        .add(A3, A3, T0)
        .addi(A3, A3, 1)
        .jal(ZERO, "loop")
        .label("even")
        .op_imm(5, A3, A3, 1)
        .jal(ZERO, "loop")
        .label("end")
        .ret();
    program
}

#[test]
fn loops_and_branches_diverge_and_converge() {
    let program = collatz_program();
    for latency in [1, 20] {
        let bench = full_warps::<4>(&program, 5, latency);
        for packet in 0..20 {
            assert_eq!(bench.verdict(packet), collatz(packet + 1), "packet {packet}");
        }
    }
    let bench = full_warps::<1>(&program, 4, 3);
    for packet in 0..4 {
        assert_eq!(bench.verdict(packet), collatz(packet + 1));
    }
}

#[test]
fn partial_warps_run_only_their_threads() {
    let mut bench = Bench::<8>::new(&collatz_program(), 5);
    for packet in 0..64 {
        bench.write_word(VERDICTS + 4 * packet, 0xdead_beef);
    }
    bench.start(9, 20, 3);
    bench.run(1);
    for packet in 20..23 {
        assert_eq!(bench.verdict(packet), collatz(packet + 1));
    }
    assert_eq!(bench.verdict(23), 0xdead_beef);
    assert_eq!(bench.finished, [9]);
}

#[test]
fn recursive_calls_use_the_stack() {
    // fib(packetIdx % 4 + 2), recursively: every thread has its own call tree.
    let mut program = Program::default();
    program
        .addi(SP, SP, -16)
        .store(2, RA, SP, 0)
        .op_imm(7, A0, A0, 3)
        .addi(A0, A0, 2)
        .jal(RA, "fib")
        .load(2, RA, SP, 0)
        .addi(SP, SP, 16)
        .ret()
        .label("fib")
        .addi(T0, ZERO, 2)
        .branch(6, A0, T0, "leaf")
        .addi(SP, SP, -16)
        .store(2, RA, SP, 0)
        .store(2, A0, SP, 4)
        .addi(A0, A0, -1)
        .jal(RA, "fib")
        .load(2, T0, SP, 4)
        .store(2, A0, SP, 8)
        .addi(A0, T0, -2)
        .jal(RA, "fib")
        .load(2, T0, SP, 8)
        .add(A0, A0, T0)
        .load(2, RA, SP, 0)
        .addi(SP, SP, 16)
        .label("leaf")
        .ret();
    let bench = full_warps::<4>(&program, 2, 4);
    for packet in 0..8 {
        assert_eq!(bench.verdict(packet), [1, 2, 3, 5][packet as usize % 4], "packet {packet}");
    }
    assert!(bench.faults.is_empty());
}

#[test]
fn loads_and_stores_of_all_sizes() {
    let mut program = Program::default();
    program
        .load(0, T0, A1, 1) // lb
        .store(2, T0, A1, 64)
        .load(1, T0, A1, 2) // lh
        .store(2, T0, A1, 68)
        .load(4, T0, A1, 3) // lbu
        .store(2, T0, A1, 72)
        .load(5, T0, A1, 0) // lhu
        .store(2, T0, A1, 76)
        .load(2, T0, A1, 0) // lw
        .store(0, T0, A1, 81) // sb
        .store(1, T0, A1, 82) // sh
        .addi(A0, ZERO, 0)
        .ret();
    let mut bench = Bench::<4>::new(&program, 6);
    let value = |packet: u32| 0x8192_f3a4u32.rotate_left(packet * 3);
    for packet in 0..4 {
        bench.write_word(RING + packet * 128, value(packet));
        bench.write_word(RING + packet * 128 + 80, 0x1111_1111);
    }
    bench.start(0, 0, 4);
    bench.run(1);
    for packet in 0..4 {
        let v = value(packet);
        let at = |offset| bench.read_word(RING + packet * 128 + offset);
        assert_eq!(at(64), (v >> 8) as i8 as u32);
        assert_eq!(at(68), (v >> 16) as i16 as u32);
        assert_eq!(at(72), v >> 24);
        assert_eq!(at(76), v & 0xffff);
        assert_eq!(at(80), (v & 0xffff) << 16 | (v & 0xff) << 8 | 0x11);
    }
}

#[test]
fn a_fault_ends_only_its_lane() {
    // Lane l loads from slot + l * 2 as a word: odd lanes are misaligned.
    let mut program = Program::default();
    program.csrr(T0, 0xcc1).add(T0, T0, T0).add(T0, T0, A1).load(2, A0, T0, 0).addi(A0, ZERO, 5).ret();
    let bench = full_warps::<4>(&program, 2, 4);
    for packet in 0..8 {
        let expected = if packet % 2 == 1 { 0xc000_0004 } else { 5 };
        assert_eq!(bench.verdict(packet), expected, "packet {packet}");
    }
    let mut faults = bench.faults.clone();
    faults.sort_by_key(|f| f.4);
    let record = |packet| (4, 2, KERNEL + 12, RING + 128 * packet + 2, packet);
    assert_eq!(faults, [record(1), record(5)]);
}

#[test]
fn a_bus_error_of_a_load_faults_its_lanes() {
    // Odd packets use the first value, even ones none.
    let mut program = Program::default();
    program
        .op_imm(7, T0, A0, 1)
        .load(2, A3, A1, 0)
        .load(2, A4, A1, 64)
        .branch(0, T0, ZERO, "even")
        .addi(A0, A3, 1)
        .ret()
        .label("even")
        .addi(A0, ZERO, 7)
        .ret();
    let mut bench = Bench::<4>::new(&program, 30);
    bench.failing = [(RING + 128 + 64) >> 6, (RING + 2 * 128) >> 6].into();
    bench.start(0, 0, 4);
    bench.run(1);
    let verdicts = |bench: &Bench<4>, first: u32| [0, 1, 2, 3].map(|i| bench.verdict(first + i));
    assert_eq!(verdicts(&bench, 0), [7, 0xc000_0005, 0xc000_0005, 1]);
    assert!(bench.faults.iter().all(|f| f.0 == 5));
    assert_eq!(bench.faults.iter().map(|f| f.1).sum::<u32>(), 2);
    assert!(bench.faults.iter().all(|f| bench.failing.contains(&(f.3 >> 6)) && [1, 2].contains(&f.4)));
    // Nothing of it stays: neither in the slot nor in the cache.
    bench.failing.clear();
    bench.faults.clear();
    bench.start(0, 64, 4);
    bench.run(2);
    assert_eq!(verdicts(&bench, 64), [7, 1, 7, 1]);
    assert!(bench.faults.is_empty());
}

/// The lanes whose line could not be read keep their register, the others get their word; the
/// line's bytes go nowhere. The next warp in the slot, which writes none of these registers, shows
/// them.
#[test]
fn a_load_with_a_bus_error_writes_no_register() {
    // Packets below 64 load into t0 and a4, the others store what stands there.
    let mut program = Program::default();
    program
        .addi(A3, ZERO, 64)
        .branch(7, A0, A3, "second")
        .lui(T0, 0x12345)
        .addi(A4, ZERO, 77)
        .load(2, T0, A1, 0)
        .load(4, A4, A1, 64)
        .addi(A0, A4, 0)
        .ret()
        .label("second")
        .store(2, T0, A1, 68)
        .store(2, A4, A1, 72)
        .ret();
    for latency in [2, 30] {
        let mut bench = Bench::<4>::new(&program, latency);
        for packet in 0..4 {
            bench.write_word(RING + packet * 128, 0xdead_0000 + packet);
            bench.write_word(RING + packet * 128 + 64, 0xbad_ca40 + packet);
        }
        bench.failing = [(RING + 128) >> 6, (RING + 2 * 128 + 64) >> 6, (RING + 3 * 128) >> 6].into();
        bench.start(5, 0, 4);
        bench.run(1);
        assert_eq!([0, 1, 2, 3].map(|i| bench.verdict(i)), [0x40, 0xc000_0005, 0xc000_0005, 0xc000_0005]);
        bench.failing.clear();
        bench.start(5, 64, 4);
        bench.run(2);
        let registers = |i: u32| [68, 72].map(|at| bench.read_word(RING + i * 128 + at));
        let kept = 0x1234_5000;
        assert_eq!(registers(0), [0xdead_0000, 0x40], "latency {latency}");
        assert_eq!(registers(1), [kept, 0x41], "latency {latency}");
        assert_eq!(registers(2), [0xdead_0002, 77], "latency {latency}");
        assert_eq!(registers(3), [kept, 0x43], "latency {latency}");
    }
}

#[test]
fn every_cause_of_a_fault() {
    let causes: [(u32, u32, Option<u32>); 6] = [
        (0x0000_0073, 11, Some(0)),          // ecall
        (0x0010_0073, 3, Some(KERNEL)),      // ebreak
        (0xffff_ffff, 2, Some(0xffff_ffff)), // illegal
        (0x0020_006f, 0, Some(KERNEL + 2)),  // jal to a misaligned target
        (0x00b5_a0a3, 6, None),              // sw a1, 1(a1)
        (0x0030_8067, 0, Some(0xffff_fffe)), // jalr x0, 3(ra): the target is even
    ];
    for (word, cause, value) in causes {
        let mut program = Program::default();
        program.word(word).ret();
        let bench = full_warps::<2>(&program, 1, 3);
        assert_eq!(bench.verdict(0), 0xc000_0000 | cause);
        assert_eq!(bench.verdict(1), 0xc000_0000 | cause);
        let value = value.unwrap_or(RING + 1);
        assert_eq!(bench.faults, [(cause, 2, KERNEL, value, 0)], "{word:#010x}");
    }
}

#[test]
fn divergent_indirect_jumps() {
    // Every lane jumps to its own stub.
    let mut program = Program::default();
    program
        .csrr(T0, 0xcc1)
        .op_imm(1, T0, T0, 3)
        .lui(A3, KERNEL >> 12)
        .add(T0, T0, A3)
        .jalr(ZERO, T0, 20)
        .addi(A0, ZERO, 100)
        .ret()
        .addi(A0, ZERO, 101)
        .ret()
        .addi(A0, ZERO, 102)
        .ret()
        .addi(A0, ZERO, 103)
        .ret();
    let bench = full_warps::<4>(&program, 1, 3);
    for packet in 0..4 {
        assert_eq!(bench.verdict(packet), 100 + packet);
    }
}

#[test]
fn small_register_kernels_use_all_32_slots() {
    // Adds 5, one to four times.
    let mut program = Program::default();
    program.op_imm(7, T0, A0, 3).label("loop").addi(A0, A0, 5).addi(T0, T0, -1);
    program.branch(5, T0, ZERO, "loop").ret();
    let mut bench = Bench::<2>::new(&program, 4);
    bench.core.setup.kernel_class.next = true;
    for warp in 0..32 {
        bench.start(warp, 2 * warp as u32, 2);
    }
    bench.run(32);
    for packet in 0..64 {
        assert_eq!(bench.verdict(packet), packet + 5 * (packet % 4 + 1), "packet {packet}");
    }
}

#[test]
fn kernels_larger_than_the_instruction_cache() {
    // 272 instructions are 17 lines; the cache has 16.
    let mut program = Program::default();
    for _ in 0..272 {
        program.addi(A0, A0, 1);
    }
    program.ret();
    let bench = full_warps::<2>(&program, 3, 2);
    for packet in 0..6 {
        assert_eq!(bench.verdict(packet), packet + 272);
    }
}

/// Cycles that `warps` warps take for each further iteration of a loop of `body` and two more
/// instructions.
fn cycles_of_a_turn(body: fn(&mut Program), warps: u32) -> f64 {
    let cycles = |turns| {
        let mut program = Program::default();
        program.addi(A3, ZERO, turns).label("loop");
        body(&mut program);
        program.addi(A3, A3, -1).branch(1, A3, ZERO, "loop").ret();
        full_warps::<1>(&program, warps, 5).cycles as f64
    };
    (cycles(20) - cycles(4)) / 16.0
}

#[test]
fn instruction_timing_is_as_documented() {
    // The bench answers only in some cycles, so that the end of a run may come up to 12 cycles
    // later: under one an iteration.
    let takes = |body, expected: f64| {
        let cycles = cycles_of_a_turn(body, 1);
        assert!((cycles - expected).abs() < 0.8, "{cycles} cycles, expected {expected}");
    };
    // docs/shader-core.md: instructions in sequence issue back to back, also if each needs the
    // result of the one before.
    let alu: fn(&mut Program) = |program| {
        program.addi(A4, A4, 1).addi(A4, A4, 1).addi(A4, A4, 1);
    };
    takes(alu, 4.0 + 7.0);
    // Eight warps: one instruction a cycle.
    let eight = cycles_of_a_turn(alu, 8);
    assert!((39.2..41.0).contains(&eight), "{eight}");
    let call: fn(&mut Program) = |program| {
        program.word(0x0000_0297).jalr(RA + 27, T0, 8); // auipc t0, 0; jalr t3, t0, 8
    };
    takes(call, 2.0 + 12.0 + 7.0);
    // A product is known a cycle later than a sum, and an instruction that needs it at once is
    // replayed.
    let independent: fn(&mut Program) = |program| {
        program.word(0x02e7_07b3).addi(A4, A4, 1).addi(A4, A4, 1); // mul a5, a4, a4
    };
    takes(independent, 4.0 + 7.0);
    let dependent: fn(&mut Program) = |program| {
        program.word(0x02e7_0733).addi(A4, A4, 1).addi(A4, A4, 1); // mul a4, a4, a4
    };
    takes(dependent, 4.0 + 4.0 + 7.0);
}

#[test]
fn accesses_outside_the_windows_are_faults_of_their_lanes() {
    // Lane l accesses ARGUMENT + l * 2 as a half word, 0x20 bytes in front of the end of the
    // window; odd lanes go beyond it.
    for store in [false, true] {
        let mut program = Program::default();
        program.csrr(T0, 0xcc1).op_imm(7, T0, T0, 1).op_imm(1, T0, T0, 6).add(T0, T0, A2);
        if store {
            program.store(1, T0, T0, 32);
        } else {
            program.load(1, T0, T0, 32);
        }
        program.addi(A0, ZERO, 5).ret();
        let mut bench = Bench::<4>::new(&program, 4);
        let windows = &mut bench.core.windows;
        for [base_0, size_0, base_1, size_1] in [
            [
                &mut windows.read_0_base,
                &mut windows.read_0_size,
                &mut windows.read_1_base,
                &mut windows.read_1_size,
            ],
            [
                &mut windows.write_0_base,
                &mut windows.write_0_size,
                &mut windows.write_1_base,
                &mut windows.write_1_size,
            ],
        ] {
            base_0.next = 0.into();
            size_0.next = 1.into();
            base_1.next = (u64::from(ARGUMENT) >> 6).into();
            size_1.next = 1.into();
        }
        bench.start(0, 0, 4);
        bench.run(1);
        let cause = if store { 7 } else { 5 };
        for packet in 0..4 {
            let expected = if packet % 2 == 1 { 0xc000_0000 | cause } else { 5 };
            assert_eq!(bench.verdict(packet), expected, "packet {packet}");
        }
        assert_eq!(bench.faults, [(cause, 2, KERNEL + 16, ARGUMENT + 64 + 32, 1)]);
        let written = bench.read_word(ARGUMENT + 64 + 32);
        assert_eq!(written, 0, "a store outside the windows took effect");
    }
}

#[test]
fn the_watchdog_ends_the_lanes_that_still_run() {
    // Packet 0 and those from 4 on return 7; 1 computes for ever, 2 loads for ever, 3 stores for
    // ever.
    let mut program = Program::default();
    program.csrr(T0, 0xcc0).addi(A0, ZERO, 7).branch(0, T0, ZERO, "end");
    for label in ["compute", "load", "store"] {
        program.addi(T0, T0, -1).branch(0, T0, ZERO, label);
    }
    program.label("end").ret();
    program.label("compute").addi(A3, A3, 1).jal(ZERO, "compute");
    program.label("load").load(2, A3, A1, 0).jal(ZERO, "load");
    program.label("store").store(2, A3, A1, 4).jal(ZERO, "store");
    let mut bench = Bench::<4>::new(&program, 20);
    bench.core.watchdog_limit.next = 400.into();
    bench.start(1, 0, 4);
    let start = bench.cycles;
    bench.start(0, 4, 3);
    bench.run(1);
    assert_eq!(bench.finished, [0]);
    assert!(bench.faults.is_empty());
    bench.run(2);
    assert!((400..1_400).contains(&(bench.cycles - start)), "{}", bench.cycles - start);
    let timed_out = 0xc000_0000 | u32::from(WATCHDOG_CAUSE);
    let verdicts = |bench: &Bench<4>, packets: std::ops::Range<u32>| -> Vec<u32> {
        packets.map(|packet| bench.verdict(packet)).collect()
    };
    assert_eq!(verdicts(&bench, 0..7), [7, timed_out, timed_out, timed_out, 7, 7, 7]);
    let mut packets: Vec<_> = bench.faults.iter().map(|f| (f.0, f.1, f.3, f.4)).collect();
    packets.sort_unstable();
    assert_eq!(packets, [1, 2, 3].map(|packet| (WATCHDOG_CAUSE.into(), 1, 0, packet)));
    // The next warp of the slot has its own time.
    bench.start(1, 8, 4);
    bench.run(3);
    assert_eq!((verdicts(&bench, 8..12), bench.faults.len()), (vec![7; 4], 3));
}

#[test]
fn several_loads_of_a_warp_are_under_way() {
    // Six loads from six lines: their latencies overlap.
    let cycles = |loads: i32| {
        let mut program = Program::default();
        for i in 0..loads {
            program.load(2, 16 + i as u32, A2, 64 * i);
        }
        for i in 0..loads {
            program.add(A0, A0, 16 + i as u32);
        }
        program.ret();
        full_warps::<1>(&program, 1, 100).cycles
    };
    let (one, six) = (cycles(1), cycles(6));
    assert!(six < one + 60, "{one} cycles with a load, {six} with six");
}
