//! A trace made by the reference passes; every kind of change to it is found.

use super::*;
use crate::iss::{
    lanes, Class, Instruction, Isa, LateWrite, Machine, MemoryImage, Op, Protection, Retired, TraceCycle,
    Warp, WarpMemory, WarpStart, Window, BOOT_ADDRESS, LINE,
};

const DATA: u32 = 0x2000;

/// What is told in which cycle.
type Cycles = Vec<(u64, TraceCycle)>;

fn machine() -> Machine {
    let data = Window { base: DATA, size: 0x800 };
    Machine {
        isa: Isa::RV32IM_ZBB,
        lanes: 4,
        kernel_entry: 0x1000,
        ring_base: 0x4000,
        ring_slots_log2: 4,
        slot_bytes_log2: 7,
        verdict_base: 0x8000,
        argument: DATA,
        stack_base: 0xa000,
        stack_bytes_log2: 8,
        protection: Protection::Windows { read: [data, Window::default()], write: [data, Window::default()] },
        scratchpad: true,
        local_window: false,
        instret: true,
        network: true,
        watchdog: false,
        traps: None,
    }
}

fn code(op: Op, rd: u8, rs1: u8, rs2: u8, immediate: i32) -> u32 {
    Instruction { op, rd, rs1, rs2, immediate }.encode()
}

/// A kernel that diverges, calls, loads across lines, divides, reads CSRs, faults in one lane, and
/// stores a register that it never wrote.
fn memory() -> MemoryImage {
    let kernel = [
        code(Op::Csrrs, 5, 0, 0, 0xcc1),  // lane
        code(Op::Slli, 6, 5, 0, 5),       // 32 * lane: two lanes a line
        code(Op::Add, 6, 6, 12, 0),       // in the argument block
        code(Op::Sw, 0, 6, 20, 4),        // x20, never written
        code(Op::Lw, 7, 6, 0, 0),         // from two lines
        code(Op::Addi, 8, 5, 0, -2),      //
        code(Op::Div, 9, 7, 8, 0),        // late; by zero in lane 2
        code(Op::Csrrs, 13, 0, 0, 0xc00), // cycle
        code(Op::Csrrs, 14, 0, 0, 0xc02), // instret
        code(Op::Andi, 15, 5, 0, 1),      //
        code(Op::Beq, 0, 15, 0, 16),      // even lanes go on 2 further
        code(Op::Jal, 1, 0, 0, 40),       // odd lanes call: 0x102c to 0x1054
        code(Op::Add, 10, 10, 7, 0),      //
        code(Op::Jal, 0, 0, 0, 8),        //
        code(Op::Mul, 10, 9, 7, 0),       // even lanes
        code(Op::Sb, 0, 6, 5, 1),         // all
        code(Op::Lw, 16, 6, 0, 0),        //
        code(Op::Add, 17, 6, 5, 0),       // misaligned but in lane 0
        code(Op::Lw, 18, 17, 0, 0),       // faults in lanes 1 to 3
        code(Op::Addi, 1, 0, 0, -4),      // EXIT
        code(Op::Jalr, 0, 1, 0, 0),       //
        code(Op::Xor, 10, 10, 7, 0),      // the function
        code(Op::Jalr, 0, 1, 0, 0),       //
    ];
    let mut memory = MemoryImage::new(1 << 16);
    for (address, word) in (0x1000..).step_by(4).zip(kernel) {
        memory.write(address, &word.to_le_bytes()).unwrap();
    }
    for (index, word) in (DATA..DATA + 128).step_by(4).zip(1_u32..) {
        memory.write(index, &word.wrapping_mul(0x9e37_79b9).to_le_bytes()).unwrap();
    }
    memory
}

/// The trace of one warp: an instruction every 10 cycles, late writes 3 and 6 cycles behind it, one
/// a line.
fn synthetic() -> Cycles {
    let (machine, mut memory) = (machine(), memory());
    let start = WarpStart { core: 1, slot: 3, first_packet: 8, count: 4 };
    let mut warp = Warp::new(start);
    // What the warp before left in x20.
    warp.threads.iter_mut().for_each(|thread| thread.hart.x[20] = 0xdead_0000 | u32::from(thread.place.lane));
    let mut pads = Warp::scratchpads(&machine, 2);
    let mut cycles = vec![(100, TraceCycle { starts: vec![start], ..TraceCycle::default() })];
    for cycle in (110..).step_by(10) {
        let reach = WarpMemory {
            shared: &mut memory,
            scratchpad: Some(&mut pads[1]),
            protection: &machine.protection,
        };
        let Some(expected) = warp.step(&machine, reach, cycle) else { break };
        let retired = expected.retired.clone();
        let (late, rd) = (retired.late, retired.rd);
        let addresses = retired.values.clone();
        cycles.push((cycle, TraceCycle { retired: vec![retired], ..TraceCycle::default() }));
        if !late {
            continue;
        }
        let is_load = expected.instruction.unwrap().op.class() == Class::Load;
        let line = |lane: usize| if is_load { addresses[lane] / LINE as u32 } else { 0 };
        let mut left: Vec<usize> = lanes(expected.sound()).collect();
        for delay in [3, 6] {
            let Some(&first) = left.first() else { break };
            let set =
                left.iter().filter(|lane| line(**lane) == line(first)).fold(0, |set, lane| set | 1 << lane);
            left.retain(|lane| set >> lane & 1 == 0);
            let write = LateWrite { core: 1, slot: 3, rd, lanes: set, values: expected.results.clone() };
            cycles.push((cycle + delay, TraceCycle { late_writes: vec![write], ..TraceCycle::default() }));
        }
        assert!(left.is_empty());
    }
    cycles
}

fn check(cycles: &[(u64, TraceCycle)]) -> Result<CheckerStatistics, String> {
    let memory = memory();
    let mut checker = Checker::new(machine(), 2, memory.clone());
    for (cycle, trace) in cycles {
        checker.cycle(*cycle, trace, &memory, |_| {}).map_err(|mismatch| mismatch.to_string())?;
    }
    checker.finish(1_000_000).map_err(|mismatch| mismatch.to_string())?;
    Ok(checker.statistics())
}

#[test]
fn a_trace_of_the_reference_passes() {
    let cycles = synthetic();
    let statistics = check(&cycles).unwrap();
    assert_eq!((statistics.warps, statistics.late_values), (1, 4 + 4 + 4 + 1));
    let retired = || cycles.iter().flat_map(|(_, trace)| &trace.retired);
    assert_eq!(statistics.warp_instructions, retired().count() as u64);
    assert_eq!(retired().filter(|r| r.pc >= BOOT_ADDRESS).count(), 5 + 1);
    assert!(retired().any(|r| r.faulting == 0b1110 && r.cause == 4));
    assert!(retired().any(|r| r.active == 0b1010 && r.pc == 0x1054));
}

/// The trace after `change` of the first retired instruction at `pc`; the change says whether it is
/// one that must be found.
fn changed(pc: u32, change: impl Fn(&mut Retired)) -> String {
    let mut cycles = synthetic();
    let retired = cycles.iter_mut().flat_map(|(_, trace)| &mut trace.retired).find(|r| r.pc == pc).unwrap();
    let before = retired.clone();
    change(retired);
    assert_ne!(*retired, before);
    check(&cycles).unwrap_err()
}

#[test]
fn changes_of_a_retired_instruction_are_found() {
    let find = |pc, change: &dyn Fn(&mut Retired), parts: &[&str]| {
        let error = changed(pc, change);
        for part in parts {
            assert!(error.contains(part), "expected `{part}` in: {error}");
        }
    };
    find(0x1004, &|r| r.pc = 0x1008, &["core 1, slot 3", "pc: expected 0x00001004, got 0x00001008"]);
    find(0x1004, &|r| r.instruction ^= 1 << 20, &["instruction: expected"]);
    find(0x1004, &|r| r.active = 0b0111, &["active lanes: expected 0x0000000f, got 0x00000007"]);
    find(0x1054, &|r| r.active = 0b1000, &["active lanes: expected 0x0000000a"]);
    find(0x1004, &|r| r.rd = 7, &["rd: expected t1, got t2"]);
    find(0x1004, &|r| r.values[2] += 1, &["lane 2", "`slli t1,t0,0x5`", "value of t1: expected 0x00000040"]);
    find(0x1004, &|r| r.late = true, &["late: expected false"]);
    find(0x1010, &|r| r.late = false, &["late: expected true"]);
    find(0x1010, &|r| r.values[3] += 64, &["lane 3", "address: expected"]);
    find(0x103c, &|r| r.values[0] ^= 1, &["lane 0", "address: expected"]);
    find(0x103c, &|r| r.store_data[1] = 7, &["lane 1", "data: expected 0x00000001, got 0x00000007"]);
    find(0x1048, &|r| r.faulting = 0b0110, &["faulting lanes: expected 0x0000000e"]);
    find(0x1048, &|r| r.cause = 5, &["cause: expected 4, got 5"]);
    find(0x1020, &|r| r.values[0] += 1, &["csrrs a4,instret", "value of a4: expected 0x00000008"]);
    // The cycle may be any, but the same for all.
    find(0x101c, &|r| r.values[1] += 1, &["csrrs a3,cycle", "lane 1"]);
    find(0x1058, &|r| r.values[1] ^= 4, &["lane 1", "target: expected"]);
    find(0xffff_fffc, &|r| r.store_data[3] = 0, &["`EXIT`", "verdict: expected 0xc0000004"]);
    find(0xffff_fffc, &|r| r.values[0] -= 4, &["address: expected 0x00008020"]);
    find(0xffff_ff04, &|r| r.values[2] += 1, &["csrrs a1,0xcc4", "lane 2"]);
    find(0x1004, &|r| r.slot = 4, &["slot 4", "the slot: expected no warp"]);
    let error = changed(0x1050, |r| r.pc = 0);
    assert_eq!(error.lines().count(), 2 + 20, "{error}");
    assert!(error.lines().last().unwrap().contains("0x00000000"), "{error}");
}

#[test]
fn changes_of_the_order_are_found() {
    let position = |cycles: &[(u64, TraceCycle)], pc| {
        cycles.iter().position(|(_, trace)| trace.retired.iter().any(|r| r.pc == pc)).unwrap()
    };
    let with = |change: &dyn Fn(&mut Cycles), part: &str| {
        let mut cycles = synthetic();
        change(&mut cycles);
        let error = check(&cycles).unwrap_err();
        assert!(error.contains(part), "expected `{part}` in: {error}");
    };
    let late = |cycles: &mut Cycles, number: usize| {
        cycles.iter().enumerate().filter(|(_, c)| !c.1.late_writes.is_empty()).nth(number).unwrap().0
    };
    with(&|c| drop(c.remove(position(c, 0x1008))), "pc: expected 0x00001008, got 0x0000100c");
    with(&|c| c.insert(position(c, 0x1008), c[position(c, 0x1008)].clone()), "pc: expected 0x0000100c");
    with(&|c| drop(c.pop()), "the warp: expected at its end");
    with(&|c| c.push(c[c.len() - 1].clone()), "the warp: expected at its end, got an instruction");
    with(
        &|c| {
            let at = late(c, 0);
            c.remove(at);
        },
        "late write of t2: expected 0x9e3779b9, got none",
    );
    with(
        &|c| {
            let at = late(c, 0);
            c.insert(at, c[at].clone());
        },
        "late write of t2: expected none",
    );
    with(
        &|c| {
            let at = late(c, 1);
            c[at].1.late_writes[0].values[2] ^= 1;
        },
        "lane 2",
    );
    with(
        &|c| {
            let at = late(c, 0);
            c[at].1.late_writes[0].lanes = 0b0001;
        },
        "lane 1",
    );
    with(
        &|c| {
            let at = late(c, 0);
            c[at].1.late_writes[0].rd = 9;
        },
        "late write of s1: expected none",
    );
    with(
        &|c| {
            let at = late(c, 0);
            c[at].1.late_writes[0].slot = 9;
        },
        "the slot: expected no warp",
    );
    // A late write that comes before its load, and one that a later instruction overtakes.
    with(
        &|c| {
            let at = late(c, 0);
            let load = position(c, 0x1010);
            c.swap(at, load);
        },
        "late write of t2: expected none",
    );
    with(
        &|c| {
            let at = position(c, 0x1014);
            c[at].1.retired[0].rd = 7;
        },
        "rd: expected s0, got t2",
    );
}

/// An instruction writes a register whose load is still on its way.
#[test]
fn a_late_write_must_not_be_overtaken() {
    let mut memory = MemoryImage::new(1 << 16);
    for (address, word) in [(0x1000, code(Op::Lw, 7, 12, 0, 0)), (0x1004, code(Op::Addi, 7, 0, 0, 1))] {
        memory.write(address, &word.to_le_bytes()).unwrap();
    }
    let machine = machine();
    let start = WarpStart { core: 0, slot: 0, first_packet: 0, count: 1 };
    let mut checker = Checker::new(machine.clone(), 1, memory.clone());
    let mut warp = Warp::new(start);
    let begin = TraceCycle { starts: vec![start], ..TraceCycle::default() };
    checker.cycle(0, &begin, &memory, |_| {}).unwrap();
    let mut reference = memory.clone();
    let results: Vec<_> = (1..=7)
        .map(|cycle| {
            let reach =
                WarpMemory { shared: &mut reference, scratchpad: None, protection: &machine.protection };
            let retired = warp.step(&machine, reach, cycle).unwrap().retired;
            let trace = TraceCycle { retired: vec![retired], ..TraceCycle::default() };
            checker.cycle(cycle, &trace, &memory, |_| {})
        })
        .collect();
    assert!(results[..6].iter().all(Result::is_ok), "{results:?}");
    let error = results[6].as_ref().unwrap_err().to_string();
    assert!(error.contains("t2, whose late write has not come: expected no write, got a write"), "{error}");
}

/// The CSR 0xccb of an array with a network interface: the lowest lane of each side of a branch.
#[test]
fn the_leader_is_the_lowest_running_lane() {
    let kernel = [
        code(Op::Csrrs, 5, 0, 0, 0xcc1),
        code(Op::Csrrs, 6, 0, 0, 0xccb),
        code(Op::Andi, 15, 5, 0, 1),
        code(Op::Beq, 0, 15, 0, 12),
        code(Op::Csrrs, 7, 0, 0, 0xccb), // odd lanes
        code(Op::Jal, 0, 0, 0, 8),
        code(Op::Csrrs, 7, 0, 0, 0xccb), // even lanes
        code(Op::Jalr, 0, 1, 0, 0),
    ];
    for (network, leaders) in [(true, [[0, 0], [0, 1], [0, 0], [0, 1]]), (false, [[0, 0]; 4])] {
        let mut memory = MemoryImage::new(1 << 16);
        for (address, word) in (0x1000..).step_by(4).zip(kernel) {
            memory.write(address, &word.to_le_bytes()).unwrap();
        }
        let machine = Machine { network, ..machine() };
        let mut warp = Warp::new(WarpStart { core: 0, slot: 0, first_packet: 0, count: 4 });
        for cycle in 0..100 {
            let reach = WarpMemory { shared: &mut memory, scratchpad: None, protection: &machine.protection };
            if warp.step(&machine, reach, cycle).is_none() {
                break;
            }
        }
        let found: Vec<[u32; 2]> = warp.threads.iter().map(|t| [t.hart.x[6], t.hart.x[7]]).collect();
        assert_eq!(found, leaders);
        // Without it the CSR does not exist, and every thread ends with a fault.
        assert!(warp
            .threads
            .iter()
            .all(|t| t.ended && (t.hart.x[10] == crate::verdict::FAULT | 2) != network));
    }
}

/// A branch on a register that holds what the warp before left there is reported as such.
#[test]
fn branches_on_unwritten_registers_are_reported() {
    let mut memory = MemoryImage::new(1 << 16);
    memory.write(0x1000, &code(Op::Beq, 0, 20, 0, 8).to_le_bytes()).unwrap();
    let machine = machine();
    let start = WarpStart { core: 0, slot: 0, first_packet: 0, count: 1 };
    let mut checker = Checker::new(machine.clone(), 1, memory.clone());
    let begin = TraceCycle { starts: vec![start], ..TraceCycle::default() };
    checker.cycle(0, &begin, &memory, |_| {}).unwrap();
    let mut warp = Warp::new(start);
    let mut last = Ok(());
    for cycle in 1..=6 {
        let mut shared = memory.clone();
        let reach = WarpMemory { shared: &mut shared, scratchpad: None, protection: &machine.protection };
        let retired = warp.step(&machine, reach, cycle).unwrap().retired;
        last = checker.cycle(
            cycle,
            &TraceCycle { retired: vec![retired], ..TraceCycle::default() },
            &memory,
            |_| {},
        );
    }
    let error = last.unwrap_err().to_string();
    assert!(error.contains("s4, which no instruction of the warp wrote"), "{error}");
}

/// Whether an `sc.w` stores is up to the array, where the thread has a reservation.
#[test]
fn conditional_stores_are_those_of_the_array() {
    let machine = Machine { isa: Isa { atomics: true, ..Isa::RV32IM_ZBB }, ..machine() };
    let check = |first: Op, told: [u32; 4]| {
        let kernel = [
            code(Op::Csrrs, 5, 0, 0, 0xcc1), // lane
            code(Op::Slli, 6, 5, 0, 6),      // a line each
            code(Op::Add, 6, 6, 12, 0),      //
            code(first, 7, 6, 0, 0),         //
            code(Op::ScW, 8, 6, 5, 0),       //
            code(Op::Jalr, 0, 1, 0, 0),      //
        ];
        let mut memory = MemoryImage::new(1 << 16);
        for (address, word) in (0x1000..).step_by(4).zip(kernel) {
            memory.write(address, &word.to_le_bytes()).unwrap();
        }
        (0..4).for_each(|lane| memory.write(DATA + 64 * lane, &[9]).unwrap());
        let start = WarpStart { core: 0, slot: 0, first_packet: 0, count: 4 };
        let mut checker = Checker::new(machine.clone(), 1, memory.clone());
        let starts = TraceCycle { starts: vec![start], ..TraceCycle::default() };
        checker.cycle(1, &starts, &memory, |_| {}).unwrap();
        let (mut warp, mut shared, mut pad) = (Warp::new(start), memory.clone(), vec![0; 1 << 14]);
        for cycle in 2.. {
            let protection = &machine.protection;
            let reach = WarpMemory { shared: &mut shared, scratchpad: Some(&mut pad), protection };
            let Some(expected) = warp.step(&machine, reach, cycle) else { break };
            let retired = expected.retired.clone();
            let (late, rd) = (retired.late, retired.rd);
            let mut trace = TraceCycle { retired: vec![retired], ..TraceCycle::default() };
            if late {
                let values = if rd == 8 { told.to_vec() } else { expected.results.clone() };
                trace.late_writes.push(LateWrite { core: 0, slot: 0, rd, lanes: 15, values });
            }
            checker.cycle(cycle, &trace, &memory, |_| {}).map_err(|mismatch| mismatch.lane)?;
        }
        checker.finish(100).unwrap();
        Ok([0, 1, 2, 3].map(|lane| checker.memory().read_u32(DATA + 64 * lane).unwrap()))
    };
    assert_eq!(check(Op::LrW, [0, 0, 0, 0]), Ok([0, 1, 2, 3]));
    assert_eq!(check(Op::LrW, [0, 1, 1, 0]), Ok([0, 9, 9, 3]));
    assert_eq!(check(Op::LrW, [0, 1, 2, 0]), Err(Some(2)));
    assert_eq!(check(Op::Lw, [1, 1, 1, 1]), Ok([9, 9, 9, 9]));
    assert_eq!(check(Op::Lw, [1, 0, 1, 1]), Err(Some(1)));
}
