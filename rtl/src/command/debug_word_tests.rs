//! Words that a stopped hart executes for the host: of all kinds, with exceptions, at the wrong
//! time.

use super::debug_tests::{bench, one, DATA_CSR, FENCE_I};
use super::testing::{atomic, csr, load, m, telling_handler, AnyOrder, Bench, DATA, EBREAK, ENTRY, WFI};
use crate::core::testing::{Program, A0, A1, A2, A3, A4, T0, ZERO};

/// A stopped hart whose PC is ENTRY: a1 is DATA, a2 a place that cannot be read, a3 the registers,
/// local memory at x8.
fn stopped_hart() -> Bench<AnyOrder> {
    let mut bench = bench(1);
    bench.registers.words.insert(16, 3);
    bench.memory.failing.insert((DATA + 0x1000) >> 6);
    bench.memory.contents.set_word(DATA, 77);
    bench.memory.contents.set_word(ENTRY, EBREAK);
    bench.control(0, 0, 1);
    bench.set_run(true);
    bench.until_stopped(1);
    assert!(bench.retired.is_empty() && bench.pc() == ENTRY, "before its first instruction");
    for (number, value) in
        [(A0, 12), (A1, DATA), (A2, DATA + 0x1000), (A3, 0xffff_e000), (A4, 5), (8, 0xfffe_0000), (T0, 0)]
    {
        bench.set_register(number, value);
        assert_eq!(bench.register(number), value);
    }
    bench
}

#[test]
fn a_stopped_hart_executes_words_of_all_kinds() {
    let mut bench = stopped_hart();
    let cases = [
        (one(|p| p.add(T0, A0, A4)), 17),
        (m(0, T0, A0, A4), 60),
        (m(4, T0, A0, A4), 2),
        (m(6, T0, A0, A4), 2),
        (one(|p| p.load(2, T0, A1, 0)), 77),
        (one(|p| p.store(2, A0, A1, 4)), 77),
        (one(|p| p.load(2, T0, A1, 4)), 12),
        (one(|p| p.store(1, A4, 8, 2)), 12),
        (one(|p| p.load(5, T0, 8, 2)), 5),
        (atomic(0, false, T0, A1, A4), 77),
        (atomic(2, true, T0, A1, 0), 82),
        // The words with which the host reads registers write a CSR, which ends the reservation.
        (atomic(3, true, T0, A1, A4), 1),
        (one(|p| p.load(2, T0, A1, 0)), 82),
        (csr(1, T0, 0x340, A4), 0),
        (csr(2, T0, 0x340, ZERO), 5),
        (0x0000_0297, ENTRY), // auipc t0, 0
        (0x0ff0_000f, ENTRY),
        (FENCE_I, ENTRY),
        (WFI, ENTRY),
        (0x0000_0463, ENTRY + 8),               // beqz zero, 8
        (0x0000_1463, ENTRY + 8),               // bnez zero, 8
        (0xfe00_0ce3, ENTRY),                   // beqz zero, -8
        (0xfe00_1ce3, ENTRY),                   // bnez zero, -8
        (0x0100_02ef, ENTRY + 16),              // jal t0, 16
        (one(|p| p.jalr(T0, A1, 4)), DATA + 4), // jalr t0, 4(a1)
    ];
    bench.run_word(csr(1, ZERO, 0x340, ZERO));
    for (i, (word, expected)) in cases.into_iter().enumerate() {
        let before = bench.pc();
        bench.run_word(word);
        let jumps = i >= cases.len() - 6;
        if !jumps {
            assert_eq!(bench.pc(), ENTRY, "{word:#010x}");
            let found = bench.register(T0);
            assert_eq!(found, expected, "{word:#010x}");
        } else {
            assert_eq!(bench.pc(), expected, "{word:#010x} at {before:#x}");
        }
    }
    assert_eq!(bench.register(T0), ENTRY + 20);
    assert!(bench.stopped() && bench.retired.is_empty(), "nothing of it is in the trace");
    // It goes on where the jump led.
    bench.memory.contents.set_word(DATA + 4, EBREAK);
    bench.run_on();
    assert_eq!(bench.retired[0].pc, DATA + 4);
}

#[test]
fn an_exception_of_a_word_only_sets_the_error() {
    let mut bench = stopped_hart();
    let state = |bench: &mut Bench<AnyOrder>| -> Vec<u32> {
        let csrs = [0x300, 0x341, 0x342, 0x343, 0xb02].map(|number| bench.csr(number));
        let registers = [T0, A0, A1].map(|number| bench.register(number));
        [csrs.to_vec(), registers.to_vec(), vec![bench.pc()]].concat()
    };
    let before = state(&mut bench);
    let words = [
        0,                       // illegal
        csr(2, T0, 0x3a0, ZERO), // a CSR that is not there
        csr(1, T0, 0xf14, A0),   // mhartid is read-only
        0x0000_0073,             // ecall
        EBREAK,
        one(|p| p.load(2, T0, A1, 2)), // misaligned
        one(|p| p.store(2, T0, A1, 1)),
        one(|p| p.load(2, T0, A2, 8)),  // a bus error
        one(|p| p.load(2, T0, A3, 16)), // a register of the array
        one(|p| p.store(2, T0, A3, 16)),
        one(|p| p.jalr(T0, A1, 2)),
    ];
    for word in words {
        assert!(bench.execute(word), "{word:#010x}");
        assert!(bench.cp.registers.debug_error.val() && bench.stopped() && !bench.locked());
        // Until the next word.
        bench.run_word(0x13);
        assert_eq!(state(&mut bench), before, "{word:#010x}");
    }
    assert!(bench.registers.log.is_empty() && bench.retired.is_empty());
}

#[test]
fn the_data_register_is_illegal_for_firmware() {
    for word in [csr(2, A4, DATA_CSR, ZERO), csr(1, ZERO, DATA_CSR, A4)] {
        let mut program = Program::default();
        program.word(word).word(EBREAK);
        let mut bench = bench(1);
        load(&mut bench.memory.contents, ENTRY, &program);
        load(&mut bench.memory.contents, 0, &telling_handler());
        bench.set_data(99);
        bench.run_to_stop();
        assert_eq!([A0, A1, A2].map(|rd| bench.value_of(rd)), [ENTRY, 2, word]);
        assert_eq!(bench.data(), 99);
    }
}

#[test]
fn a_word_for_a_running_hart_is_an_error() {
    let mut program = Program::default();
    program.addi(A0, ZERO, 1).label("loop").addi(A0, A0, 1).branch(1, A0, ZERO, "loop");
    let mut bench = bench(1);
    load(&mut bench.memory.contents, ENTRY, &program);
    assert!(bench.execute(0x13), "it is held");
    bench.set_run(true);
    for _ in 0..100 {
        bench.cycle();
    }
    assert!(bench.execute(one(|p| p.addi(A0, ZERO, 0))), "it runs");
    for _ in 0..100 {
        bench.cycle();
    }
    let adds: Vec<u32> = bench.retired.iter().filter(|r| r.rd == A0).map(|r| r.value).collect();
    assert!(adds.windows(2).all(|pair| pair[1] == pair[0] + 1) && adds.len() > 20);
    assert!(bench.pc() >= ENTRY && bench.pc() < ENTRY + 16, "a running hart shows its PC");
    bench.stop();
    assert!(bench.cp.registers.debug_error.val());
    assert!(!bench.execute(0x13));
    // A second one while a division is under way: the first is executed.
    bench.set_register(A0, 100);
    bench.set_register(A1, 7);
    bench.cp.debugging.value.next = u64::from(m(4, A2, A0, A1)).into();
    bench.cp.debugging.execute.next = true;
    bench.cycle();
    bench.cp.debugging.execute.next = false;
    for _ in 0..10 {
        bench.cycle();
    }
    assert!(bench.execute(one(|p| p.addi(A2, ZERO, 0))));
    assert_eq!(bench.register(A2), 14);
    // A hart that executes a word does not go on.
    let count = bench.retired.len();
    bench.cp.debugging.value.next = u64::from(m(4, A2, A0, A1)).into();
    bench.cp.debugging.execute.next = true;
    bench.cycle();
    bench.cp.debugging.execute.next = false;
    bench.control(1, 1, 0);
    for _ in 0..100 {
        bench.cycle();
    }
    assert!(bench.stopped() && bench.retired.len() == count && !bench.cp.registers.debug_busy.val());
    // Nor does one that is not there.
    bench.cp.debugging.select.next = 5.into();
    assert!(bench.execute(0x13));
    assert_eq!(bench.pc(), 0);
}
