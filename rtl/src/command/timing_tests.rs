//! How many cycles later the next instruction of a hart retires: the table of
//! docs/command-processor.md, with the array's memory system.

use super::testing::{all_parts, atomic, csr, load, m, Bench, System, DATA, EBREAK, ENTRY};
use crate::config::CommandOptions;
use crate::core::testing::{Program, A0, A1, A2, A4, T0, ZERO};

/// Cycles by which the instruction after the one labelled with the last run of word `marked` is
/// late, in a program that runs its body three times, so that the instruction cache and the L2 have
/// everything.
fn later(marked: u32, body: impl Fn(&mut Program)) -> Vec<u64> {
    later_with(CommandOptions::default(), marked, body)
}

fn later_with(parts: CommandOptions, marked: u32, body: impl Fn(&mut Program)) -> Vec<u64> {
    let mut bench = Bench::with(CommandOptions { uli_channels: 2, ..parts }, System::new(20));
    let mut program = Program::default();
    program.lui(A1, DATA >> 12).addi(A2, ZERO, 3).label("again");
    body(&mut program);
    program.addi(A2, A2, -1).branch(1, A2, ZERO, "again").word(EBREAK);
    load(&mut bench.memory.contents, ENTRY, &program);
    bench.run_to_stop();
    assert_eq!(bench.retired.last().unwrap().word, EBREAK, "{:x?}", bench.retired);
    // The last of the three runs.
    let starts: Vec<usize> = (0..bench.retired.len())
        .filter(|&i| bench.retired[i].word == EBREAK || is_decrement(&bench, i))
        .collect();
    let last_run = &bench.retired[starts[1]..=starts[2]];
    let after_marked = last_run.windows(2).filter(|pair| pair[0].word == marked);
    after_marked.map(|pair| pair[1].cycle - pair[0].cycle - 1).collect()
}

fn is_decrement(bench: &Bench<System>, i: usize) -> bool {
    let mut decrement = Program::default();
    decrement.addi(A2, A2, -1);
    bench.retired[i].word == decrement.assemble()[0]
}

fn word(instruction: impl Fn(&mut Program)) -> u32 {
    let mut program = Program::default();
    instruction(&mut program);
    program.assemble()[0]
}

#[test]
fn arithmetic_and_stores_issue_back_to_back() {
    for instruction in [
        |p: &mut Program| {
            p.addi(A0, A0, 1);
        },
        |p: &mut Program| {
            p.word(0x6025_1513);
        }, // cpop a0, a0
        |p: &mut Program| {
            p.store(2, A0, A1, 0);
        },
        |p: &mut Program| {
            p.word(0x0ff0_000f);
        }, // fence
        |p: &mut Program| {
            p.word(0x0230_000f);
        }, // fence r, rw
    ] {
        let marked = word(instruction);
        let found = later(marked, |p| {
            instruction(p);
            // A user at once.
            p.add(A0, A0, A0);
        });
        assert_eq!(found, [0], "{marked:#010x}");
    }
}

#[test]
fn jumps_and_branches() {
    let jump = |p: &mut Program| {
        p.jal(ZERO, "on").add(A0, A0, A0).label("on").add(A0, A0, A0);
    };
    let marked = 0x0080_006f; // j 8
    assert_eq!(later(marked, jump), [2]);

    // A branch backward that is taken, and one that is not.
    let marked = 0xfe05_1ee3; // bnez a0, -4
    let count = |p: &mut Program| {
        p.addi(A0, ZERO, 3).label("loop").addi(A0, A0, -1).branch(1, A0, ZERO, "loop").add(A0, A0, A0);
    };
    assert_eq!(later(marked, count), [2, 2, 4]);

    // A branch forward that is not taken, and one that is.
    let marked = 0x0000_1463; // bnez zero, 8
    let forward = |p: &mut Program| {
        p.branch(1, ZERO, ZERO, "on").add(A0, A0, A0).label("on");
    };
    assert_eq!(later(marked, forward), [0]);
    let marked = 0x0000_0463; // beqz zero, 8
    let forward = |p: &mut Program| {
        p.branch(0, ZERO, ZERO, "on").add(A0, A0, A0).label("on");
    };
    assert_eq!(later(marked, forward), [4]);

    let marked = word(|p| {
        p.jalr(ZERO, T0, 12);
    });
    let indirect = |p: &mut Program| {
        p.word(0x0000_0297).jalr(ZERO, T0, 12).add(A0, A0, A0).add(A0, A0, A0); // auipc t0, 0
    };
    assert_eq!(later(marked, indirect), [4]);
}

#[test]
fn traps_and_csrs() {
    // A write of a CSR.
    let marked = csr(1, ZERO, 0x340, A1);
    let body = |p: &mut Program| {
        p.word(csr(1, ZERO, 0x340, A1)).csrr(A0, 0x340).add(A0, A0, A0);
    };
    assert_eq!(later(marked, body), [5]);
    assert_eq!(later(csr(2, A0, 0x340, ZERO), body), [0]);

    // `ecall` goes to the handler, `mret` back.
    let handled = |p: &mut Program| {
        // auipc t0, 0; addi t0, t0, 28; csrw mtvec, t0; ecall; mret goes on behind the handler.
        p.word(0x0000_0297).addi(T0, T0, 28).word(csr(1, ZERO, 0x305, T0)).word(0x0000_0073);
        p.add(A0, A0, A0).jal(ZERO, "on").add(A0, A0, A0);
        p.csrr(T0, 0x341).addi(T0, T0, 4).word(csr(1, ZERO, 0x341, T0)).word(0x3020_0073).label("on");
    };
    assert_eq!(later(0x0000_0073, handled), [5]);
    assert_eq!(later(0x3020_0073, handled), [4]);
}

#[test]
fn loads_from_the_second_level() {
    // Counted from the first time in stage W: the instruction before it retires one cycle earlier.
    let before = word(|p| {
        p.addi(T0, ZERO, 5);
    });
    let body = |p: &mut Program| {
        p.addi(T0, ZERO, 5).load(2, A0, A1, 0).add(A0, A0, A0);
    };
    assert_eq!(later(before, body), [11]);
    let marked = word(|p| {
        p.load(2, A0, A1, 0);
    });
    // The value is used at once.
    assert_eq!(later(marked, body), [1]);
}

#[test]
fn loads_with_a_data_cache_and_atomic_operations() {
    let marked = word(|p| {
        p.load(2, A0, A1, 0);
    });
    let apart = |p: &mut Program| {
        p.load(2, A0, A1, 0).addi(T0, ZERO, 5).add(A0, A0, A0);
    };
    assert_eq!(later_with(all_parts(), marked, apart), [0]);
    let used = |p: &mut Program| {
        p.load(2, A0, A1, 0).add(A0, A0, A0);
    };
    assert_eq!(later_with(all_parts(), marked, used), [1]);
    let before = word(|p| {
        p.addi(T0, ZERO, 5);
    });
    // The part is emptied, and the L2 has the line: 16 more than without a data cache.
    let missed = |p: &mut Program| {
        p.word(0x0230_000f).addi(T0, ZERO, 5).load(2, A0, A1, 0).add(A0, A0, A0);
    };
    assert_eq!(later_with(all_parts(), before, missed), [11 + 16]);
    let operation = |p: &mut Program| {
        p.addi(T0, ZERO, 5).word(atomic(0, false, A0, A1, T0)).add(A0, A0, A0);
    };
    assert_eq!(later_with(all_parts(), before, operation), [13]);
}

#[test]
fn products_divisions_and_local_memory() {
    // Used at once, by one or the other operand, and one instruction later.
    for used in [
        |p: &mut Program| {
            p.add(A0, T0, ZERO);
        },
        |p: &mut Program| {
            p.add(A0, ZERO, T0);
        },
    ] {
        let marked = m(1, T0, A1, A1);
        let product = |p: &mut Program| {
            p.word(marked);
            used(p);
        };
        assert_eq!(later(marked, product), [1]);
        let marked = word(|p| {
            p.load(1, T0, A4, 6);
        });
        let local = |p: &mut Program| {
            p.lui(A4, 0xfffe0).store(2, A1, A4, 4).word(marked);
            used(p);
        };
        assert_eq!(later(marked, local), [1]);
    }
    let marked = m(0, T0, A1, A1);
    let apart = |p: &mut Program| {
        p.word(marked).addi(A0, A0, 1).add(A0, T0, T0).word(marked).add(A0, A0, A0);
    };
    assert_eq!(later(marked, apart), [0, 0]);
    let marked = word(|p| {
        p.store(2, A1, A4, 4);
    });
    let local = |p: &mut Program| {
        p.lui(A4, 0xfffe0).store(2, A1, A4, 4).load(2, A0, A4, 4);
    };
    assert_eq!(later(marked, local), [0]);

    // Counted from the first time in stage W: the instruction before it retires one cycle earlier.
    let before = word(|p| {
        p.addi(T0, ZERO, 5);
    });
    for funct3 in 4..8 {
        let divide = |p: &mut Program| {
            p.addi(T0, ZERO, 5).word(m(funct3, A0, A1, T0)).add(A0, A0, A0);
        };
        assert_eq!(later(before, divide), [41]);
    }
}

#[test]
fn accesses_to_devices() {
    let before = word(|p| {
        p.addi(T0, ZERO, 5);
    });
    // mtimecmp
    for access in [
        |p: &mut Program| {
            p.load(2, A0, A4, 0);
        },
        |p: &mut Program| {
            p.store(2, A0, A4, 0);
        },
    ] {
        let body = |p: &mut Program| {
            p.lui(A4, 0xfff04).addi(T0, ZERO, 5);
            access(p);
            p.add(A0, T0, T0);
        };
        assert_eq!(later(before, body), [7]);
    }
}

#[test]
fn a_load_behind_a_store_waits_for_it() {
    let before = word(|p| {
        p.store(2, A0, A1, 0);
    });
    let body = |p: &mut Program| {
        p.store(2, A0, A1, 0).load(2, A0, A1, 4).add(A0, A0, A0);
    };
    // 9 until it can start, 11 for itself.
    assert_eq!(later(before, body), [20]);
    let body = |p: &mut Program| {
        p.store(2, A0, A1, 0).word(0x0ff0_000f).add(A0, A0, A0);
    };
    assert_eq!(later(before, body), [9]);
}

/// As long as a load waits: SIGNAL, which takes no cycle itself, a device, an atomic operation.
#[test]
fn signals_devices_and_atomic_operations_wait_for_a_store_too() {
    let before = word(|p| {
        p.store(2, A0, A1, 0);
    });
    let signal = |p: &mut Program| {
        p.store(2, A0, A1, 0).word(0x00a5_a00b).add(A0, A0, A0); // signal a0, 0(a1)
    };
    assert_eq!(later(before, signal), [9]);
    let device = |p: &mut Program| {
        p.lui(A4, 0xfff04).store(2, A0, A1, 0).load(2, A0, A4, 0).add(A0, T0, T0);
    };
    assert_eq!(later(before, device), [9 + 7]);
    let operation = |p: &mut Program| {
        p.store(2, A0, A1, 0).word(atomic(0, false, A0, A1, T0)).add(A0, A0, A0);
    };
    assert_eq!(later_with(all_parts(), before, operation), [9 + 13]);
}

#[test]
fn misses_of_both_caches() {
    // A line of instructions that the L2 has and the cache has not: it is 16 lines large, and these
    // are 16 lines apart.
    let mut bench = Bench::new(System::new(20));
    let mut program = Program::default();
    // j 1024: to the same place of the cache, and back.
    program
        .addi(A2, ZERO, 3)
        .label("again")
        .word(0x4000_006f)
        .addi(A2, A2, -1)
        .branch(1, A2, ZERO, "again")
        .word(EBREAK);
    load(&mut bench.memory.contents, ENTRY, &program);
    bench.memory.contents.set_word(ENTRY + 4 + 1024, 0xc05f_f06f); // j -1020
    bench.run_to_stop();
    let far: Vec<_> = bench.retired.windows(2).filter(|pair| pair[0].word == 0x4000_006f).collect();
    assert_eq!(far.len(), 3);
    // The jump itself costs 2, and both lines miss each time.
    assert_eq!(far[2][1].cycle - far[2][0].cycle - 1, 2 + 26);
    let back: Vec<_> = bench.retired.windows(2).filter(|pair| pair[0].word == 0xc05f_f06f).collect();
    assert_eq!(back[2][1].cycle - back[2][0].cycle - 1, 2 + 26);

    // A load that the L2 has not: 13 and what memory takes from its request to its answer.
    let mut bench = Bench::new(System::new(20));
    let mut program = Program::default();
    program.lui(A1, DATA >> 12).addi(T0, ZERO, 5).load(2, A0, A1, 0).word(EBREAK);
    load(&mut bench.memory.contents, ENTRY, &program);
    bench.run_to_stop();
    assert_eq!(bench.retired[2].cycle - bench.retired[1].cycle - 1, 13 + 20);
}
