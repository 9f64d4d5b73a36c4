//! Tests of the decoder.

use super::*;
use hermes_hdl::prelude::simulate;

fn decode(instruction: u32, small: bool) -> Decoder {
    let mut decoder = Decoder::default();
    decoder.instruction.next = u64::from(instruction).into();
    decoder.small_registers.next = small;
    assert!(simulate(&mut decoder, 10));
    decoder
}

#[test]
fn immediates_of_every_format() {
    let immediate = |instruction| decode(instruction, false).controls.immediate.val().to_u32();
    assert_eq!(immediate(0xffff_f0b7), 0xffff_f000); // lui ra, 0xfffff
    assert_eq!(immediate(0x8000_0013), 0xffff_f800); // addi x0, x0, -2048
    assert_eq!(immediate(0xfea1_2fa3), 0xffff_ffff); // sw a0, -1(sp)
    assert_eq!(immediate(0xfe00_0ee3), 0xffff_fffc); // beq x0, x0, -4
    assert_eq!(immediate(0x7e00_0fe3), 0x0000_0ffe); // beq x0, x0, 4094
    assert_eq!(immediate(0x8000_00ef), 0xfff0_0000); // jal ra, -1048576
    assert_eq!(immediate(0x7fff_f06f), 0x000f_fffe); // jal x0, 1048574
}

#[test]
fn unknown_words_are_illegal() {
    for word in [
        0,
        0xffff_ffff,
        0x0000_100f, // fence.i
        0x4000_1033, // sll with funct7 0x20
        0x0600_0033, // funct7 3
        0x2200_0033, // aes32esi without AES units
        0x0810_4033, // zext.h with rs2 1
        0x0a00_0033, // funct7 5 with funct3 0
        0x6000_0033, // funct7 0x30 with funct3 0
        0x6031_1093, // between cpop and sext.b
        0x2861_5093, // beside orc.b
        0x0000_2063, // branch with funct3 2
        0x0000_3003, // load with funct3 3
        0x0000_3023, // store with funct3 3
        0xc000_1073, // csrw cycle
        0xc000_a073, // csrs cycle, ra
    ] {
        let decoder = decode(word, false);
        assert!(decoder.fault.val(), "{word:#010x}");
        assert_eq!(decoder.cause.val().index(), 2);
    }
    assert_eq!(decode(0x0000_0073, false).cause.val().index(), 11);
    assert_eq!(decode(0x0010_0073, false).cause.val().index(), 3);
}

#[test]
fn registers_above_15_are_illegal_for_rv32e() {
    assert!(!decode(0x0000_8813, false).fault.val()); // addi a6, ra, 0
    assert!(decode(0x0000_8813, true).fault.val());
    assert!(decode(0x0108_0033, true).fault.val()); // add x0, a6, a6
    assert!(!decode(0x00f7_8733, true).fault.val()); // add a4, a5, a5
}

#[test]
fn calls_and_returns() {
    assert!(decode(0x0000_00ef, false).controls.call.val()); // jal ra
    assert!(!decode(0x0000_006f, false).controls.call.val()); // j
    assert!(decode(0x0000_8067, false).controls.ret.val()); // ret
    assert!(decode(0x0005_00e7, false).controls.call.val()); // jalr ra, a0
    assert!(!decode(0x0005_0067, false).controls.ret.val()); // jr a0
}

/// An instruction of the register form.
fn register_form(funct7: u32, rs2: u32, funct3: u32) -> u32 {
    funct7 << 25 | rs2 << 20 | 6 << 15 | funct3 << 12 | 7 << 7 | 0x33
}

#[test]
fn register_operations() {
    for (funct7, funct3, operation) in [
        (0x00, 0, AluOperation::Add),
        (0x00, 1, AluOperation::ShiftLeft),
        (0x00, 2, AluOperation::LessThan),
        (0x00, 3, AluOperation::LessThanUnsigned),
        (0x00, 4, AluOperation::Xor),
        (0x00, 5, AluOperation::ShiftRight),
        (0x00, 6, AluOperation::Or),
        (0x00, 7, AluOperation::And),
        (0x05, 4, AluOperation::Min),
        (0x05, 5, AluOperation::MinUnsigned),
        (0x05, 6, AluOperation::Max),
        (0x05, 7, AluOperation::MaxUnsigned),
        (0x20, 0, AluOperation::Sub),
        (0x20, 4, AluOperation::XorNot),
        (0x20, 5, AluOperation::ShiftRightSigned),
        (0x20, 6, AluOperation::OrNot),
        (0x20, 7, AluOperation::AndNot),
        (0x30, 1, AluOperation::RotateLeft),
        (0x30, 5, AluOperation::RotateRight),
    ] {
        let decoder = decode(register_form(funct7, 8, funct3), false);
        assert!(!decoder.fault.val(), "{operation:?}");
        assert_eq!(decoder.operation.val(), operation);
        assert_eq!(decoder.arithmetic.b_source.val(), BSource::Register);
        let registers = [decoder.query.rs1.val(), decoder.query.rs2.val(), decoder.controls.rd.val()];
        assert_eq!(registers.map(|r| r.index()), [6, 8, 7], "{operation:?}");
    }
}

#[test]
fn immediate_operations() {
    for (word, operation, immediate) in [
        (0x6043_1393, AluOperation::SignExtend, Some(24)), // sext.b t2, t1
        (0x6053_1393, AluOperation::SignExtend, Some(16)), // sext.h t2, t1
        (0x0803_43b3, AluOperation::And, Some(0xffff)),    // zext.h t2, t1
        (0x6053_5393, AluOperation::RotateRight, Some(0x605)), // rori t2, t1, 5
        (0x2873_5393, AluOperation::OrCombine, None),      // orc.b t2, t1
        (0x6983_5393, AluOperation::ReverseBytes, Some(0x698)), // rev8 t2, t1
        (0x0053_1393, AluOperation::ShiftLeft, Some(5)),   // slli t2, t1, 5
        (0x0053_5393, AluOperation::ShiftRight, Some(5)),  // srli t2, t1, 5
        (0x4053_5393, AluOperation::ShiftRightSigned, Some(0x405)), // srai t2, t1, 5
    ] {
        let decoder = decode(word, false);
        assert!(!decoder.fault.val(), "{word:#010x}");
        assert_eq!(decoder.operation.val(), operation, "{word:#010x}");
        assert_eq!(decoder.arithmetic.b_source.val(), BSource::Immediate);
        assert_eq!((decoder.query.rs1.val().index(), decoder.controls.rd.val().index()), (6, 7));
        if let Some(value) = immediate {
            assert_eq!(decoder.controls.immediate.val().to_u32(), value, "{word:#010x}");
        }
    }
}

#[test]
fn branches_compare() {
    for (funct3, operation) in [
        (0, AluOperation::Xor),
        (1, AluOperation::Xor),
        (4, AluOperation::LessThan),
        (5, AluOperation::LessThan),
        (6, AluOperation::LessThanUnsigned),
        (7, AluOperation::LessThanUnsigned),
    ] {
        let decoder = decode(0x0000_0063 | funct3 << 12, false);
        assert!(decoder.controls.branch.val() && !decoder.fault.val());
        assert_eq!(decoder.operation.val(), operation);
    }
}

#[test]
fn multiplications_and_divisions() {
    for funct3 in 0..8 {
        let decoder = decode(register_form(1, 8, funct3), false);
        assert!(!decoder.fault.val());
        assert_eq!(
            (decoder.controls.multiply.val(), decoder.controls.divide.val()),
            (funct3 < 4, funct3 >= 4)
        );
        assert_eq!(decoder.controls.funct3.val().to_u32(), funct3);
        let registers = [decoder.query.rs1.val(), decoder.query.rs2.val(), decoder.controls.rd.val()];
        assert_eq!(registers.map(|r| r.index()), [6, 8, 7]);
    }
    assert!(decode(register_form(1, 16, 0), true).fault.val());
    assert!(!decode(register_form(1, 16, 0), true).controls.multiply.val());
}

#[test]
fn counts_of_bits_go_the_way_of_divisions() {
    for kind in 0..4 {
        let decoder = decode(0x6003_1393 | kind << 20, false);
        let counts = kind < 3;
        assert_eq!((decoder.controls.divide.val(), decoder.fault.val()), (counts, !counts), "kind {kind}");
        if counts {
            assert_eq!(decoder.controls.funct3.val().to_u32(), kind);
            let registers = [decoder.query.rs1.val(), decoder.query.rs2.val(), decoder.controls.rd.val()];
            assert_eq!(registers.map(|r| r.index()), [6, 0, 7]);
        }
    }
}

#[test]
fn fences_of_any_kind() {
    for word in [0x0000_000f, 0x0ff0_000f, 0x8330_000f, 0x0ffa_8f8f] {
        let decoder = decode(word, false);
        assert!(decoder.fence.val() && !decoder.fault.val(), "{word:#010x}");
        let registers = [decoder.query.rs1.val(), decoder.query.rs2.val(), decoder.controls.rd.val()];
        assert_eq!(registers.map(|r| r.index()), [0; 3]);
    }
    assert!(!decode(0x0000_100f, false).fence.val());
}

#[test]
fn atomics_where_enabled() {
    for funct5 in 0..32 {
        for (rs2, funct3) in [(8, 2), (0, 2), (8, 3), (8, 0)] {
            let word = funct5 << 27 | 3 << 25 | rs2 << 20 | 6 << 15 | funct3 << 12 | 7 << 7 | 0x2f;
            let known = [0, 1, 2, 3, 4, 8, 12, 16, 20, 24, 28].contains(&funct5);
            for (enabled, compares) in [(false, false), (false, true), (true, false), (true, true)] {
                let known = known || (compares && funct5 == 5);
                let legal = enabled && known && funct3 == 2 && (funct5 != 2 || rs2 == 0);
                let mut decoder = Decoder::new(compares);
                decoder.instruction.next = u64::from(word).into();
                decoder.atomics_enabled.next = enabled;
                assert!(simulate(&mut decoder, 10));
                let flags = [decoder.query.atomic.val(), decoder.controls.load.val(), !decoder.fault.val()];
                assert_eq!(flags, [legal; 3], "{word:#010x}");
                if legal {
                    assert!(!decoder.controls.store.val());
                    assert_eq!(decoder.controls.immediate.val().to_u32(), 0);
                    let registers =
                        [decoder.query.rs1.val(), decoder.query.rs2.val(), decoder.controls.rd.val()];
                    assert_eq!(registers.map(|r| r.to_u32()), [6, rs2, 7]);
                }
            }
        }
    }
}

#[test]
fn aes_where_enabled() {
    for byte in 0..4 {
        // esi, esmi, dsi, dsmi
        for (funct5, decrypt, middle) in
            [(0x11, false, false), (0x13, false, true), (0x15, true, false), (0x17, true, true)]
        {
            let word = register_form(byte << 5 | funct5, 8, 0);
            for enabled in [false, true] {
                let mut decoder = Decoder::default();
                decoder.instruction.next = u64::from(word).into();
                decoder.aes_enabled.next = enabled;
                assert!(simulate(&mut decoder, 10));
                assert_eq!((decoder.arithmetic.aes.val(), decoder.fault.val()), (enabled, !enabled));
                if enabled {
                    assert_eq!(
                        (decoder.arithmetic.aes_decrypt.val(), decoder.arithmetic.aes_middle.val()),
                        (decrypt, middle)
                    );
                    assert_eq!(decoder.arithmetic.byte_select.val().to_u32(), byte);
                    let registers =
                        [decoder.query.rs1.val(), decoder.query.rs2.val(), decoder.controls.rd.val()];
                    assert_eq!(registers.map(|r| r.index()), [6, 8, 7]);
                }
            }
        }
    }
}
