//! Every instruction with corner operands. The expected values are written from the manuals.

use super::*;
use super::{Instruction, Isa};

const ALL: Isa = Isa::EVERYTHING;
const MIN: u32 = 0x8000_0000;
const MAX: u32 = 0x7fff_ffff;
const ONES: u32 = 0xffff_ffff;

fn execute(hart: &mut Hart, shared: &mut MemoryImage, instruction: Instruction) -> Result<Outcome, Fault> {
    let mut memory = CoreMemory { shared, scratchpad: None, protection: &Protection::Off, local: None };
    let word = instruction.encode();
    assert_eq!(Instruction::decode(word, &ALL), Some(instruction), "{word:#010x}");
    hart.execute(instruction, &mut memory, &NoCsrs)
}

/// The value of x7 after `op x7, x5, x6` (or with the immediate) at 0x1000.
fn result(op: Op, a: u32, b: u32, immediate: i32) -> u32 {
    let mut hart = Hart::new(0x1000);
    (hart.x[5], hart.x[6]) = (a, b);
    let rs2 = if matches!(op.encoding().format, Format::Register | Format::Byte) { 6 } else { 0 };
    let rs1 = if op.encoding().format == Format::Upper { 0 } else { 5 };
    let instruction = Instruction { op, rd: 7, rs1, rs2, immediate };
    execute(&mut hart, &mut MemoryImage::new(64), instruction).unwrap();
    assert_eq!(hart.pc, 0x1004, "{}", op.name());
    hart.x[7]
}

fn register(op: Op, cases: &[(u32, u32, u32)]) {
    for &(a, b, expected) in cases {
        assert_eq!(result(op, a, b, 0), expected, "{} {a:#x}, {b:#x}", op.name());
    }
}

fn immediate(op: Op, cases: &[(u32, i32, u32)]) {
    for &(a, value, expected) in cases {
        assert_eq!(result(op, a, 0, value), expected, "{} {a:#x}, {value}", op.name());
    }
}

#[test]
fn arithmetic_and_logic() {
    use Op::*;
    register(Add, &[(1, 2, 3), (ONES, 1, 0), (MAX, 1, MIN), (MIN, MIN, 0)]);
    register(Sub, &[(3, 5, 0xffff_fffe), (MIN, 1, MAX), (0, MIN, MIN), (7, 7, 0)]);
    register(Slt, &[(MIN, 0, 1), (0, MIN, 0), (MIN, MAX, 1), (5, 5, 0), (ONES, 0, 1)]);
    register(Sltu, &[(MIN, 0, 0), (0, MIN, 1), (ONES, 0, 0), (0, ONES, 1), (5, 5, 0)]);
    register(Xor, &[(0xff00_ff00, 0x0ff0_0ff0, 0xf0f0_f0f0), (ONES, ONES, 0)]);
    register(Or, &[(0xff00_ff00, 0x0ff0_0ff0, 0xfff0_fff0), (0, 0, 0)]);
    register(And, &[(0xff00_ff00, 0x0ff0_0ff0, 0x0f00_0f00), (ONES, MIN, MIN)]);
    immediate(Addi, &[(1, -2048, 0xffff_f801), (MAX, 2047, 0x8000_07fe), (ONES, 1, 0)]);
    immediate(Slti, &[(MIN, -1, 1), (ONES, -1, 0), (0, 2047, 1), (5, -2048, 0)]);
    // The immediate is sign-extended first, then compared without sign.
    immediate(Sltiu, &[(0, 1, 1), (1, 1, 0), (5, -1, 1), (ONES, -1, 0), (0xffff_f7ff, -2048, 1)]);
    immediate(Xori, &[(0x1234_5678, -1, 0xedcb_a987), (0xff, 0x0f, 0xf0)]);
    immediate(Ori, &[(0x1234_0000, -2048, 0xffff_f800), (0, 0x7ff, 0x7ff)]);
    immediate(Andi, &[(ONES, -2048, 0xffff_f800), (0x1234_5678, 0xff, 0x78)]);
}

#[test]
fn shifts_use_five_bits() {
    use Op::*;
    register(Sll, &[(1, 31, MIN), (1, 32, 1), (ONES, 4, 0xffff_fff0), (3, 0xffff_ffff, MIN)]);
    register(Srl, &[(MIN, 31, 1), (MIN, 32, MIN), (ONES, 4, 0x0fff_ffff), (ONES, 0x21, MAX)]);
    register(Sra, &[(MIN, 31, ONES), (MIN, 32, MIN), (0xf000_0000, 4, 0xff00_0000), (MAX, 30, 1)]);
    immediate(Slli, &[(1, 0, 1), (3, 31, MIN), (ONES, 16, 0xffff_0000)]);
    immediate(Srli, &[(ONES, 0, ONES), (MIN, 31, 1), (0x1234_5678, 16, 0x1234)]);
    immediate(Srai, &[(MIN, 31, ONES), (MAX, 31, 0), (0x8765_4321, 16, 0xffff_8765)]);
}

#[test]
fn upper_immediates() {
    assert_eq!(result(Op::Lui, 0, 0, 0x8000_0000_u32 as i32), MIN);
    assert_eq!(result(Op::Auipc, 0, 0, 0xffff_f000_u32 as i32), 0);
    assert_eq!(result(Op::Auipc, 0, 0, 0x7fff_f000), 0x8000_0000);
}

/// The products and the table of division by zero and overflow in chapter "M".
#[test]
fn multiplication_and_division() {
    use Op::*;
    register(Mul, &[(ONES, ONES, 1), (MIN, 2, 0), (0x1_0001, 0x1_0001, 0x2_0001), (MIN, ONES, MIN)]);
    register(Mulh, &[(ONES, ONES, 0), (MIN, MIN, 0x4000_0000), (MIN, MAX, 0xc000_0000), (ONES, 1, ONES)]);
    register(Mulhu, &[(ONES, ONES, 0xffff_fffe), (MIN, MIN, 0x4000_0000), (MIN, 2, 1), (ONES, 1, 0)]);
    register(Mulhsu, &[(ONES, ONES, ONES), (MIN, ONES, MIN), (MAX, ONES, 0x7fff_fffe), (1, ONES, 0)]);
    register(Div, &[(7, 2, 3), (0xffff_fff9, 2, 0xffff_fffd), (7, 0xffff_fffe, 0xffff_fffd)]);
    register(Div, &[(5, 0, ONES), (MIN, 0, ONES), (MIN, ONES, MIN), (0, 5, 0), (MIN, 1, MIN)]);
    register(
        Rem,
        &[(7, 2, 1), (0xffff_fff9, 2, ONES), (7, 0xffff_fffe, 1), (0xffff_fff9, 0xffff_fffe, ONES)],
    );
    register(Rem, &[(5, 0, 5), (MIN, 0, MIN), (MIN, ONES, 0), (MIN, 3, 0xffff_fffe)]);
    register(Divu, &[(ONES, 2, MAX), (5, 0, ONES), (MIN, ONES, 0), (MIN, MIN, 1)]);
    register(Remu, &[(ONES, 2, 1), (5, 0, 5), (MIN, ONES, MIN), (ONES, 10, 5)]);
}

#[test]
fn bit_manipulation() {
    use Op::*;
    register(Andn, &[(0xff00_ff00, 0x0ff0_0ff0, 0xf000_f000), (ONES, 0, ONES)]);
    register(Orn, &[(0xff00_0000, 0x00ff_00ff, 0xff00_ff00), (0, ONES, 0)]);
    register(Xnor, &[(0xff00_ff00, 0x0ff0_0ff0, 0x0f0f_0f0f), (5, 5, ONES)]);
    register(Max, &[(MIN, MAX, MAX), (ONES, 0, 0), (3, 3, 3)]);
    register(Maxu, &[(MIN, MAX, MIN), (ONES, 0, ONES), (0, 0, 0)]);
    register(Min, &[(MIN, MAX, MIN), (ONES, 0, ONES), (3, 3, 3)]);
    register(Minu, &[(MIN, MAX, MAX), (ONES, 0, 0), (0, 0, 0)]);
    register(Rol, &[(0x8000_0001, 1, 3), (0x1234_5678, 8, 0x3456_7812), (0x1234_5678, 32, 0x1234_5678)]);
    register(Ror, &[(0x8000_0001, 1, 0xc000_0000), (0x1234_5678, 8, 0x7812_3456), (7, 0x40, 7)]);
    immediate(Rori, &[(1, 1, MIN), (0x1234_5678, 31, 0x2468_acf0), (9, 0, 9)]);
    let unary = |op, cases: &[(u32, u32)]| {
        cases
            .iter()
            .for_each(|(a, expected)| assert_eq!(result(op, *a, 0, 0), *expected, "{} {a:#x}", op.name()));
    };
    unary(Clz, &[(0, 32), (1, 31), (MIN, 0), (0x0000_8000, 16)]);
    unary(Ctz, &[(0, 32), (1, 0), (MIN, 31), (0x0000_8000, 15)]);
    unary(Cpop, &[(0, 0), (ONES, 32), (0x8000_0001, 2), (0x5555_5555, 16)]);
    unary(SextB, &[(0x80, 0xffff_ff80), (0xff7f, 0x7f), (0xffff_ff00, 0)]);
    unary(SextH, &[(0x8000, 0xffff_8000), (0x1_7fff, 0x7fff), (0xffff_0000, 0)]);
    unary(ZextH, &[(ONES, 0xffff), (0x1_0000, 0), (0x8000_8000, 0x8000)]);
    unary(OrcB, &[(0, 0), (0x0100_8000, 0xff00_ff00), (0x0102_0304, ONES), (1, 0xff)]);
    unary(Rev8, &[(0x1234_5678, 0x7856_3412), (1, 0x0100_0000)]);
}

/// One byte each; the whole cipher is tested beside its code.
#[test]
fn aes_rounds() {
    // S-box of 0x53 is 0xed (FIPS 197, section 5.1.1); 2 * 0xed = 0xc1, 3 * 0xed = 0x2c.
    let (rs1, rs2) = (0x1111_1111, 0x0053_0000);
    assert_eq!(result(Op::Aes32Esi, rs1, rs2, 2), 0x1111_1111 ^ 0x00ed_0000);
    // (2, 1, 1, 3) from byte 2 on: byte 2 = 0xc1, byte 3 = 0xed, byte 0 = 0xed, byte 1 = 0x2c.
    assert_eq!(result(Op::Aes32Esmi, rs1, rs2, 2), 0x1111_1111 ^ 0xedc1_2ced);
    // The inverse S-box of 0xed is 0x53; of 0x00 it is 0x52.
    assert_eq!(result(Op::Aes32Dsi, 0, 0xed00_0000, 3), 0x5300_0000);
    assert_eq!(result(Op::Aes32Dsi, 0, 0, 0), 0x52);
    // S-box inverse of 0x7c is 0x01: the column is (0xe, 0x9, 0xd, 0xb) itself.
    assert_eq!(result(Op::Aes32Dsmi, 0, 0x7c, 0), 0x0b0d_090e);
}

#[test]
fn jumps_and_branches() {
    use Op::*;
    let branch = |op, a, b| {
        let mut hart = Hart::new(0x1000);
        (hart.x[5], hart.x[6]) = (a, b);
        let instruction = Instruction { op, rd: 0, rs1: 5, rs2: 6, immediate: -4096 };
        execute(&mut hart, &mut MemoryImage::new(64), instruction).unwrap();
        assert!(matches!(hart.pc, 0 | 0x1004));
        hart.pc == 0
    };
    for (op, taken, not_taken) in [
        (Beq, [(5, 5), (ONES, ONES)], [(5, 6), (0, MIN)]),
        (Bne, [(5, 6), (0, MIN)], [(5, 5), (ONES, ONES)]),
        (Blt, [(MIN, 0), (ONES, 0)], [(5, 5), (0, MIN)]),
        (Bge, [(5, 5), (0, MIN)], [(MIN, 0), (ONES, 0)]),
        (Bltu, [(0, MIN), (MAX, ONES)], [(5, 5), (ONES, 0)]),
        (Bgeu, [(5, 5), (ONES, 0)], [(0, MIN), (MAX, ONES)]),
    ] {
        taken.iter().for_each(|(a, b)| assert!(branch(op, *a, *b), "{} {a} {b}", op.name()));
        not_taken.iter().for_each(|(a, b)| assert!(!branch(op, *a, *b), "{} {a} {b}", op.name()));
    }
    let mut hart = Hart::new(0x1000);
    let mut memory = MemoryImage::new(64);
    execute(&mut hart, &mut memory, Instruction { op: Jal, rd: 1, rs1: 0, rs2: 0, immediate: -0x800 })
        .unwrap();
    assert_eq!((hart.pc, hart.x[1]), (0x800, 0x1004));
    // The target comes from the old value of the register that gets the return address; bit 0 is
    // cleared.
    hart.x[1] = 0x2000;
    execute(&mut hart, &mut memory, Instruction { op: Jalr, rd: 1, rs1: 1, rs2: 0, immediate: 5 }).unwrap();
    assert_eq!((hart.pc, hart.x[1]), (0x2004, 0x804));
}

#[test]
fn faults_leave_everything_as_it_was() {
    use Op::*;
    let mut hart = Hart::new(0x1000);
    hart.x[5] = 0x11;
    let before = hart.clone();
    let mut memory = MemoryImage::new(64);
    let instruction = |op, rs1, rs2, immediate| Instruction { op, rd: 0, rs1, rs2, immediate };
    for (code, cause, value) in [
        (Instruction { rd: 5, ..instruction(Jal, 0, 0, 2) }, Cause::InstructionMisaligned, 0x1002),
        (Instruction { rd: 5, ..instruction(Jalr, 5, 0, 2) }, Cause::InstructionMisaligned, 0x12),
        (instruction(Beq, 0, 0, 6), Cause::InstructionMisaligned, 0x1006),
        (Instruction { rd: 5, ..instruction(Lh, 5, 0, 0) }, Cause::LoadMisaligned, 0x11),
        (Instruction { rd: 5, ..instruction(Lw, 5, 0, 1) }, Cause::LoadMisaligned, 0x12),
        (Instruction { rd: 5, ..instruction(Lhu, 0, 0, -1) }, Cause::LoadMisaligned, ONES),
        (instruction(Sh, 5, 5, 0), Cause::StoreMisaligned, 0x11),
        (instruction(Sw, 5, 5, 1), Cause::StoreMisaligned, 0x12),
        (instruction(Ecall, 0, 0, 0), Cause::EnvironmentCall, 0),
        (instruction(Ebreak, 0, 0, 0), Cause::Breakpoint, 0x1000),
        (Instruction { rd: 5, ..instruction(Csrrs, 0, 0, 0xc01) }, Cause::Illegal, 0xc010_22f3),
    ] {
        assert_eq!(execute(&mut hart, &mut memory, code), Err(Fault { cause, value }), "{code:?}");
        assert_eq!(hart, before);
        assert_eq!((memory.read_u32(0x10).unwrap(), memory.read_u32(0x14).unwrap()), (0, 0));
    }
    // A branch that is not taken does not mind its target.
    execute(&mut hart, &mut memory, instruction(Bne, 0, 0, 6)).unwrap();
}

#[test]
fn loads_and_stores() {
    use Op::*;
    let mut memory = MemoryImage::new(64);
    let mut hart = Hart::new(0x1000);
    (hart.x[5], hart.x[6]) = (0x20, 0x8091_a2b3);
    let mut store = |op, immediate| {
        let code = Instruction { op, rd: 0, rs1: 5, rs2: 6, immediate };
        execute(&mut hart, &mut memory, code).unwrap();
    };
    store(Sw, -0x10);
    store(Sh, 2);
    store(Sb, 1);
    let words = [0x10, 0x20].map(|address| memory.read_u32(address).unwrap());
    assert_eq!(words, [0x8091_a2b3, 0xa2b3_b300]);
    let mut load = |op, immediate| {
        let code = Instruction { op, rd: 7, rs1: 5, rs2: 0, immediate };
        execute(&mut hart, &mut memory, code).unwrap();
        hart.x[7]
    };
    assert_eq!(load(Lw, -0x10), 0x8091_a2b3);
    assert_eq!((load(Lh, -0x10), load(Lhu, -0x10)), (0xffff_a2b3, 0xa2b3));
    assert_eq!((load(Lh, -0xe), load(Lhu, -0xe)), (0xffff_8091, 0x8091));
    assert_eq!((load(Lb, -0xd), load(Lbu, -0xd)), (0xffff_ff80, 0x80));
    assert_eq!(load(Lb, 0), 0);
}

#[test]
fn csrs_fences_and_x0() {
    struct One;
    impl Csrs for One {
        fn read(&self, number: u32) -> Option<u32> {
            (number == 0xc00).then_some(77)
        }
    }
    let mut shared = MemoryImage::new(64);
    let mut memory =
        CoreMemory { shared: &mut shared, scratchpad: None, protection: &Protection::Off, local: None };
    let mut hart = Hart::new(0);
    for op in [Op::Csrrs, Op::Csrrc, Op::Csrrsi, Op::Csrrci] {
        hart.x[7] = 0;
        let code = Instruction { op, rd: 7, rs1: 0, rs2: 0, immediate: 0xc00 };
        hart.execute(code, &mut memory, &One).unwrap();
        assert_eq!(hart.x[7], 77);
    }
    for word in [0x0ff0_000f, 0x8330_000f, 0xfff0_8f8f] {
        let code = Instruction::decode(word, &ALL).unwrap();
        assert_eq!((code.op, code.rd, code.rs1), (Op::Fence, 0, 0));
        hart.execute(code, &mut memory, &NoCsrs).unwrap();
    }
    let code = Instruction { op: Op::Addi, rd: 0, rs1: 7, rs2: 0, immediate: 1 };
    hart.execute(code, &mut memory, &NoCsrs).unwrap();
    assert_eq!(hart.x[0], 0);
}

/// The value in memory after `op x7, x6, (x5)`, and x7.
fn exchange(hart: &mut Hart, memory: &mut MemoryImage, op: Op, operand: u32) -> (u32, u32) {
    hart.x[6] = operand;
    let rs2 = if op == Op::LrW { 0 } else { 6 };
    let outcome = execute(hart, memory, Instruction { op, rd: 7, rs1: 5, rs2, immediate: 3 }).unwrap();
    assert_eq!((outcome.address, outcome.stored), (Some(hart.x[5]), (op != Op::LrW).then_some(operand)));
    (memory.read_u32(hart.x[5]).unwrap(), hart.x[7])
}

#[test]
fn atomic_operations() {
    use Op::*;
    let mut memory = MemoryImage::new(256);
    let mut hart = Hart::new(0x1000);
    hart.x[5] = 0x20;
    for (op, old, operand, new) in [
        (AmoswapW, 5, 7, 7),
        (AmoaddW, ONES, 2, 1),
        (AmoxorW, 0xff00, 0x0ff0, 0xf0f0),
        (AmoandW, 0xff00, 0x0ff0, 0x0f00),
        (AmoorW, 0xff00, 0x0ff0, 0xfff0),
        (AmominW, MIN, 1, MIN),
        (AmominW, 1, MIN, MIN),
        (AmomaxW, MIN, 1, 1),
        (AmomaxW, 1, MIN, 1),
        (AmominuW, MIN, 1, 1),
        (AmominuW, 1, MIN, 1),
        (AmomaxuW, MIN, 1, MIN),
        (AmomaxuW, 1, MIN, MIN),
    ] {
        memory.write(0x20, &old.to_le_bytes()).unwrap();
        assert_eq!(exchange(&mut hart, &mut memory, op, operand), (new, old), "{}", op.name());
    }

    // amocas.w compares with the register that it writes.
    for (old, compared, new) in [(5u32, 5, 7), (5, 4, 5), (0, 0, 7)] {
        memory.write(0x20, &old.to_le_bytes()).unwrap();
        hart.x[7] = compared;
        assert_eq!(exchange(&mut hart, &mut memory, AmocasW, 7), (new, old));
    }
    memory.write(0x20, &MIN.to_le_bytes()).unwrap();

    // sc.w stores once, behind an lr.w of the same line.
    let at = |hart: &mut Hart, address| hart.x[5] = address;
    assert_eq!(exchange(&mut hart, &mut memory, ScW, 8), (MIN, 1));
    assert_eq!(exchange(&mut hart, &mut memory, LrW, 0), (MIN, MIN));
    assert_eq!(exchange(&mut hart, &mut memory, ScW, 8), (8, 0));
    assert_eq!(exchange(&mut hart, &mut memory, ScW, 9), (8, 1));
    exchange(&mut hart, &mut memory, LrW, 0);
    at(&mut hart, 0x40);
    assert_eq!(exchange(&mut hart, &mut memory, ScW, 9), (0, 1));
    at(&mut hart, 0x20);
    assert_eq!(exchange(&mut hart, &mut memory, ScW, 9), (8, 1));

    at(&mut hart, 0x22);
    for (op, rs2, cause) in [
        (LrW, 0, Cause::LoadMisaligned),
        (ScW, 6, Cause::StoreMisaligned),
        (AmoaddW, 6, Cause::StoreMisaligned),
        (AmocasW, 6, Cause::StoreMisaligned),
    ] {
        let code = Instruction { op, rd: 7, rs1: 5, rs2, immediate: 0 };
        assert_eq!(execute(&mut hart, &mut memory, code), Err(Fault { cause, value: 0x22 }));
    }
}
