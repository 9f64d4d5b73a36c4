//! Programs end, make all that they should, and shrink.

use super::*;
use crate::iss::{Class, Instruction, Machine, MemoryImage, Op, Protection, WarpStart, Window};

const LANES_LOG2: u32 = 3;
const PACKETS: u32 = 16;

fn machine(program: &Program) -> Machine {
    let all = Window { base: 0, size: 1 << 20 };
    let closed = Window::default();
    Machine {
        isa: program.features.isa(),
        lanes: 1 << program.lanes_log2,
        kernel_entry: 0x1000,
        ring_base: 0x4_0000,
        ring_slots_log2: 4,
        slot_bytes_log2: 8,
        verdict_base: 0x5_0000,
        argument: 0x6_0000,
        stack_base: 0x8_0000,
        stack_bytes_log2: 10,
        protection: Protection::Windows { read: [all, closed], write: [closed, all] },
        scratchpad: program.features.scratchpad,
        local_window: program.features.local_window,
        instret: program.features.instret,
        network: program.features.network,
        watchdog: false,
        traps: None,
    }
}

/// Runs a case on the reference as two warps; gives the words of the private lines and verdicts
/// too.
fn run(case: &Case) -> (Reference, MemoryImage) {
    let machine = machine(&case.program);
    let mut memory = MemoryImage::new(1 << 20);
    let code: Vec<u8> = assemble(&case.program).iter().flat_map(|w| w.to_le_bytes()).collect();
    assert!(code.len() < 0x3_f000);
    memory.write(0x1000, &code).unwrap();
    memory.write(machine.argument, &case.table).unwrap();
    for (packet, frame) in (0..).zip(&case.frames) {
        memory.write(machine.slot_address(packet) + 18, frame).unwrap();
    }
    let warps: Vec<_> = (0..case.frames.len() as u32)
        .step_by(8)
        .map(|first_packet| {
            let count = (case.frames.len() as u32 - first_packet).min(8);
            WarpStart { core: 0, slot: first_packet as u8 / 8, first_packet, count }
        })
        .collect();
    let reference = Reference::run(&machine, 1, &mut memory, &warps).unwrap();
    (reference, memory)
}

fn make(seed: u64, features: Features) -> Case {
    generate(seed, features, LANES_LOG2, PACKETS, Bench::frame_bytes(), 300)
}

#[test]
fn programs_end_and_cover_what_there_is() {
    let first = crate::test_seed();
    for features in [
        Features::ALL,
        Features::RV32I,
        Features { embedded: true, ..Features::ALL },
        Features { faults: false, ..Features::ALL },
        Features { atomics: true, network: true, local_window: true, ..Features::ALL },
    ] {
        let mut coverage = Coverage::default();
        let mut faults = 0;
        for seed in first..first + 220 {
            let case = make(seed, features);
            let (reference, _) = run(&case);
            assert!(reference.instructions[0] > 20, "seed {seed}");
            coverage.merge(&reference.coverage);
            faults += reference.faults.len();
        }
        let share = coverage.hazard_share(&features);
        assert!(share.covered * 100 >= share.possible * 97, "{}", coverage.table(&features));
        let share = coverage.instruction_share(&features);
        assert!(share.covered * 20 >= share.possible * 19, "{}", coverage.table(&features));
        let share = coverage.fault_share(&features);
        assert_eq!(share.covered, share.possible, "{}", coverage.table(&features));
        assert_eq!(faults > 0, features.faults);
        let json = coverage.to_json(&features);
        assert_eq!(json["summary"]["faults"]["covered"], share.covered);
    }
}

#[test]
fn the_same_seed_gives_the_same_case() {
    assert_eq!(make(7, Features::ALL), make(7, Features::ALL));
    assert_ne!(make(7, Features::ALL).program, make(8, Features::ALL).program);
}

/// What programs leave behind does not depend on the order of lanes and warps: nobody reads what
/// others write.
#[test]
fn threads_do_not_meet() {
    let features = Features { instret: false, cycle: false, atomics: true, ..Features::ALL };
    for seed in 0..60 {
        let case = make(seed, features);
        let (_, together) = run(&case);
        // One warp of one thread a packet, the last packet first, at the same places.
        let machine = machine(&case.program);
        let (_, mut apart) = run(&Case { frames: Vec::new(), ..case.clone() });
        for (packet, frame) in (0..).zip(&case.frames) {
            apart.write(machine.slot_address(packet) + 18, frame).unwrap();
        }
        let mut pads = crate::iss::Warp::scratchpads(&machine, 1);
        for packet in (0..PACKETS).rev() {
            let start =
                WarpStart { core: 0, slot: packet as u8 / 8, first_packet: packet - packet % 8, count: 8 };
            let mut warp = crate::iss::Warp::new(start);
            warp.threads.iter_mut().for_each(|t| t.ended = t.place.packet != packet);
            loop {
                let reach = crate::iss::WarpMemory {
                    shared: &mut apart,
                    scratchpad: Some(&mut pads[0]),
                    protection: &machine.protection,
                };
                if warp.step(&machine, reach, 0).is_none() {
                    break;
                }
            }
        }
        let (mut a, mut b) = (vec![0; 1 << 20], vec![0; 1 << 20]);
        together.read(0, &mut a).unwrap();
        apart.read(0, &mut b).unwrap();
        let difference = (0..a.len()).find(|i| a[*i] != b[*i]);
        assert_eq!(difference, None, "seed {seed}");
    }
}

/// A failure that needs one instruction in one branch shrinks to little more than that.
#[test]
fn failures_shrink() {
    let needle = |code: &Instruction| code.op == Op::Sra && code.rd != 0;
    fn contains(block: &Block, needle: &dyn Fn(&Instruction) -> bool) -> bool {
        block.iter().any(|statement| match statement {
            Statement::Run(codes) => codes.iter().any(needle),
            other => other.blocks().any(|inner| contains(inner, needle)),
        })
    }
    // It fails if the instruction is executed, as a wrong result of it would.
    let fails = |case: &Case| {
        let bodies = case.program.functions.iter().map(|function| &function.body);
        let present = std::iter::once(&case.program.main).chain(bodies).any(|b| contains(b, &needle));
        present
            && run(case).0.coverage.to_json(&Features::ALL)["instructions"]
                .as_array()
                .unwrap()
                .iter()
                .any(|row| row["name"] == "sra" && row["converged"].as_u64() != Some(0))
    };
    let mut shrunk = 0;
    for seed in 0..40 {
        let case = make(seed, Features::ALL);
        if !fails(&case) {
            continue;
        }
        let small = shrink(&case, 2000, fails);
        assert!(fails(&small));
        assert!(small.program.size() <= 2, "seed {seed}: {:?}", small.program);
        assert_eq!(small.frames.len(), 1);
        assert!(small.program.registers.len() <= 4 && small.program.functions.len() <= 4);
        shrunk += 1;
    }
    assert!(shrunk > 2);
    // Nothing is lost if the case fails in any form, and little is asked.
    let mut asked = 0;
    let small = shrink(&make(1, Features::ALL), 50, |_| {
        asked += 1;
        false
    });
    assert_eq!((small, asked <= 50), (make(1, Features::ALL), true));
}

/// A structure as it is lowered, executed by the reference: the words say what happened.
#[test]
fn lowering_of_structures() {
    let run_main = |main: Block, functions: Vec<Function>| {
        let program = Program {
            features: Features { m: true, ..Features::RV32I },
            lanes_log2: LANES_LOG2,
            packets: 1,
            registers: vec![10, 14, 15],
            main,
            functions,
        };
        let frame = vec![0; Bench::frame_bytes()];
        let (_, memory) = run(&Case { program, table: vec![0; 1024], frames: vec![frame] });
        // The dump of a0, a4, a5.
        [0, 4, 8].map(|offset| memory.read_u32(0x4_0000 + 64 + 128 + offset).unwrap())
    };
    let add =
        |rd, value| Statement::Run(vec![Instruction { op: Op::Addi, rd, rs1: rd, rs2: 0, immediate: value }]);
    let long = || vec![add(15, 1); 1200];
    for taken in [false, true] {
        let op = if taken { Op::Beq } else { Op::Bne };
        let branch = |then, otherwise| Statement::If { op, rs1: 0, rs2: 0, then, otherwise };
        let expected = if taken { [0, 2, 0] } else { [0, 1, 0] };
        assert_eq!(run_main(vec![branch(vec![add(14, 1)], vec![add(14, 2)])], vec![]), expected);
        let expected = if taken { [0, 0, 1] } else { [0, 0, 1201] };
        assert_eq!(run_main(vec![branch(long(), vec![]), add(15, 1)], vec![]), expected);
    }
    let inner = Statement::Loop { trips: Trips::Masked(14, 3), body: vec![add(15, 1)] };
    let outer = Statement::Loop { trips: Trips::Fixed(5), body: vec![inner, add(14, 1)] };
    assert_eq!(run_main(vec![outer], vec![]), [0, 5, 1 + 2 + 3 + 4 + 1]);
    let outer = Statement::Loop { trips: Trips::Fixed(3), body: long() };
    assert_eq!(run_main(vec![outer], vec![]), [0, 0, 3600]);
    for selector in 0..4 {
        let cases = (1..=4).map(|case| vec![add(15, case); case as usize % 3]).collect();
        let main = vec![add(14, selector), Statement::Switch { selector: 14, cases }];
        let case = selector as u32 + 1;
        assert_eq!(run_main(main, vec![]), [0, selector as u32, case * (case % 3)]);
    }
    for indirect in [false, true] {
        let call = |function| Statement::Call { function, indirect };
        let functions = vec![
            Function { link: 1, body: vec![add(14, 1), call(1), call(1)] },
            Function { link: 5, body: vec![add(14, 16), Statement::Hop { link: 1, indirect }, call(2)] },
            Function { link: 1, body: vec![add(15, 1)] },
        ];
        assert_eq!(run_main(vec![call(0), call(2), add(10, 7)], functions), [7, 33, 3]);
    }
    for via in [Class::Alu, Class::Mul, Class::Div, Class::Load, Class::Csr, Class::Jump, Class::Jalr] {
        for gap in 0..3 {
            let through = |target| Statement::Through { via, gap, target };
            let main = vec![
                add(14, 9),
                through(Target::Store(14, 8)),
                through(Target::Load(15, 8)),
                through(Target::Jump(0)),
            ];
            let [_, a4, a5] = run_main(main, vec![]);
            let code = matches!(via, Class::Jump | Class::Jalr);
            // Of code addresses, the load reads the instruction that makes use of them.
            assert_eq!((a4, a5 == 9), (9, !code), "{via:?} {gap}");
        }
    }
}
