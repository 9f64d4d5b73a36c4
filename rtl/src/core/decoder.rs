//! Instruction decoder.

use super::AluOperation;
use crate::prelude::*;

/// Where the second operand of a lane's arithmetic comes from.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum BSource {
    /// Register `rs2` of the lane.
    Register,
    /// The immediate, the same in every lane; of a CSR read the part that all lanes share.
    Immediate,
}

/// Decodes RV32IM_Zbb instructions, CSR reads and, where enabled, Zkne and Zknd for all lanes of a
/// warp.
///
/// Combinational. Fields that an instruction does not have are zero. What the core does not know,
/// including registers above x15 when `small_registers` is on (RV32E), is `illegal`.
#[derive(LogicBlock, Default)]
pub struct Decoder {
    /// The instruction word.
    pub instruction: Signal<In, Bits<32>>,
    /// The warp stands at EXIT: `instruction` is ignored, and the verdict is stored.
    pub exit: Signal<In, Bit>,
    /// The instruction faults as if it were illegal. The `_form` outputs do not depend on it.
    pub voided: Signal<In, Bit>,
    /// The kernel has 16 registers (RV32E).
    pub small_registers: Signal<In, Bit>,
    /// The core has AES units: `aes32esi`, `aes32esmi`, `aes32dsi` and `aes32dsmi` are legal.
    pub aes_enabled: Signal<In, Bit>,
    /// The core has atomic instructions: those of A are legal.
    pub atomics_enabled: Signal<In, Bit>,
    /// First source register; 0 when the instruction has none.
    pub rs1: Signal<Out, Bits<5>>,
    /// Second source register; 0 when the instruction has none.
    pub rs2: Signal<Out, Bits<5>>,
    /// Destination register; 0 when the instruction writes none.
    pub rd: Signal<Out, Bits<5>>,
    /// Arithmetic operation.
    pub operation: Signal<Out, AluOperation>,
    /// The value that all lanes share is the PC.
    pub a_is_pc: Signal<Out, Bit>,
    /// The instruction reads a CSR: the shared value and the lane offset come from `ThreadIndex`.
    pub csr: Signal<Out, Bit>,
    /// Where the second operand comes from.
    pub b_source: Signal<Out, BSource>,
    /// Immediate, sign-extended.
    pub immediate: Signal<Out, Bits<32>>,
    /// `funct3`: branch condition, size and sign of a load or store, which multiplication, division
    /// or count of bits.
    pub funct3: Signal<Out, Bits<3>>,
    /// Conditional branch.
    pub branch: Signal<Out, Bit>,
    /// `jal`.
    pub jump: Signal<Out, Bit>,
    /// `jalr`.
    pub jump_register: Signal<Out, Bit>,
    /// Load.
    pub load: Signal<Out, Bit>,
    /// Store, including the verdict store of EXIT.
    pub store: Signal<Out, Bit>,
    /// Multiplication: `funct3` 0 mul, 1 mulh, 2 mulhsu, 3 mulhu.
    pub multiply: Signal<Out, Bit>,
    /// Division or count of bits: `funct3` 0 clz, 1 ctz, 2 cpop, 4 div, 5 divu, 6 rem, 7 remu.
    pub divide: Signal<Out, Bit>,
    /// `fence`, of any kind.
    pub fence: Signal<Out, Bit>,
    /// An atomic instruction; `load` is high as well, since its result has a long latency.
    pub atomic: Signal<Out, Bit>,
    /// An AES instruction.
    pub aes: Signal<Out, Bit>,
    /// AES: decryption, else encryption.
    pub aes_decrypt: Signal<Out, Bit>,
    /// AES: a middle round, which mixes columns.
    pub aes_middle: Signal<Out, Bit>,
    /// AES: byte of `rs2` that is substituted.
    pub byte_select: Signal<Out, Bits<2>>,
    /// A jump that links to `ra` or `t0`: one level deeper.
    pub call: Signal<Out, Bit>,
    /// A jump through `ra` or `t0` that links to no register: one level up.
    pub ret: Signal<Out, Bit>,
    /// The instruction ends its lanes with a fault.
    pub fault: Signal<Out, Bit>,
    /// Cause of that fault: 2 illegal instruction, 3 breakpoint, 11 environment call.
    pub cause: Signal<Out, Bits<5>>,
    /// Destination register by the form of the word, legal or not. The `_form` outputs are known
    /// earlier than the others.
    pub rd_form: Signal<Out, Bits<5>>,
    /// Load by the form of the word.
    pub load_form: Signal<Out, Bit>,
    /// Store by the form of the word, including that of EXIT.
    pub store_form: Signal<Out, Bit>,
    /// Division or count of bits by the form of the word.
    pub divide_form: Signal<Out, Bit>,
    /// `fence` by the form of the word.
    pub fence_form: Signal<Out, Bit>,
}

impl Logic for Decoder {
    #[hdl_gen]
    fn update(&mut self) {
        let opcode = self.instruction.val().get_bits::<7>(0);
        let field_rd = self.instruction.val().get_bits::<5>(7);
        let field_funct3 = self.instruction.val().get_bits::<3>(12);
        let field_rs1 = self.instruction.val().get_bits::<5>(15);
        let field_rs2 = self.instruction.val().get_bits::<5>(20);
        let field_funct7 = self.instruction.val().get_bits::<7>(25);
        let mut sign = bits::<32>(0);
        if self.instruction.val().get_bit(31) {
            sign = bits::<32>(0xffff_ffff_u64);
        }
        let immediate_i =
            (sign << bits::<5>(12)) | bit_cast::<32, 12>(self.instruction.val().get_bits::<12>(20));
        let immediate_s = (sign << bits::<5>(12))
            | (bit_cast::<32, 7>(field_funct7) << bits::<5>(5))
            | bit_cast::<32, 5>(field_rd);
        let immediate_b = (sign << bits::<5>(12))
            | (bit_cast::<32, 1>(self.instruction.val().get_bits::<1>(7)) << bits::<5>(11))
            | (bit_cast::<32, 6>(self.instruction.val().get_bits::<6>(25)) << bits::<5>(5))
            | (bit_cast::<32, 4>(self.instruction.val().get_bits::<4>(8)) << bits::<5>(1));
        let immediate_j = (sign << bits::<5>(20))
            | (bit_cast::<32, 8>(self.instruction.val().get_bits::<8>(12)) << bits::<5>(12))
            | (bit_cast::<32, 1>(self.instruction.val().get_bits::<1>(20)) << bits::<5>(11))
            | (bit_cast::<32, 10>(self.instruction.val().get_bits::<10>(21)) << bits::<5>(1));
        // x1 and x5 hold return addresses (RISC-V unprivileged specification, table 2.1).
        let link = (field_rd == bits::<5>(1)) | (field_rd == bits::<5>(5));

        self.rs1.next = bits::<5>(0);
        self.rs2.next = bits::<5>(0);
        self.rd_form.next = bits::<5>(0);
        self.operation.next = AluOperation::Add;
        self.a_is_pc.next = false;
        self.csr.next = false;
        self.b_source.next = BSource::Immediate;
        self.immediate.next = immediate_i;
        self.funct3.next = field_funct3;
        self.branch.next = false;
        self.jump.next = false;
        self.jump_register.next = false;
        self.load_form.next = false;
        self.store_form.next = false;
        self.multiply.next = false;
        self.divide_form.next = false;
        self.fence_form.next = false;
        self.atomic.next = false;
        self.aes.next = false;
        self.aes_decrypt.next = self.instruction.val().get_bit(27);
        self.aes_middle.next = self.instruction.val().get_bit(26);
        self.byte_select.next = self.instruction.val().get_bits::<2>(30);
        self.call.next = false;
        self.ret.next = false;
        let mut illegal = false;
        self.cause.next = bits::<5>(2);
        self.fault.next = false;

        if self.exit.val() {
            // The verdict: a0 to the verdict array, at the offset of the lane.
            self.rs2.next = bits::<5>(10);
            self.csr.next = true;
            self.funct3.next = bits::<3>(2);
            self.store_form.next = true;
        } else if opcode == bits::<7>(0x37) {
            self.rd_form.next = field_rd;
            self.immediate.next = self.instruction.val() & bits::<32>(0xffff_f000_u64);
        } else if opcode == bits::<7>(0x17) {
            self.rd_form.next = field_rd;
            self.a_is_pc.next = true;
            self.immediate.next = self.instruction.val() & bits::<32>(0xffff_f000_u64);
        } else if opcode == bits::<7>(0x6f) {
            self.rd_form.next = field_rd;
            self.jump.next = true;
            self.call.next = link;
            self.immediate.next = immediate_j;
        } else if opcode == bits::<7>(0x67) {
            self.rs1.next = field_rs1;
            self.rd_form.next = field_rd;
            self.jump_register.next = true;
            self.call.next = link;
            self.ret.next =
                (field_rd == bits::<5>(0)) & ((field_rs1 == bits::<5>(1)) | (field_rs1 == bits::<5>(5)));
            illegal = field_funct3 != bits::<3>(0);
        } else if opcode == bits::<7>(0x63) {
            self.rs1.next = field_rs1;
            self.rs2.next = field_rs2;
            self.b_source.next = BSource::Register;
            self.branch.next = true;
            self.immediate.next = immediate_b;
            // The operation that makes the comparison.
            self.operation.next = AluOperation::Xor;
            if field_funct3.get_bit(2) {
                self.operation.next = AluOperation::LessThan;
                if field_funct3.get_bit(1) {
                    self.operation.next = AluOperation::LessThanUnsigned;
                }
            }
            illegal = field_funct3.get_bits::<2>(1) == bits::<2>(1);
        } else if opcode == bits::<7>(0x03) {
            self.rs1.next = field_rs1;
            self.rd_form.next = field_rd;
            self.load_form.next = true;
            illegal = (field_funct3 == bits::<3>(3)) | (field_funct3.get_bits::<2>(1) == bits::<2>(3));
        } else if opcode == bits::<7>(0x23) {
            self.rs1.next = field_rs1;
            self.rs2.next = field_rs2;
            self.store_form.next = true;
            self.immediate.next = immediate_s;
            illegal = field_funct3 > bits::<3>(2);
        } else if opcode == bits::<7>(0x13) {
            self.rs1.next = field_rs1;
            self.rd_form.next = field_rd;
            match field_funct3.index() {
                0 => self.operation.next = AluOperation::Add,
                1 => {
                    illegal = true;
                    if field_funct7 == bits::<7>(0) {
                        self.operation.next = AluOperation::ShiftLeft;
                        illegal = false;
                    } else if field_funct7 == bits::<7>(0x30) {
                        match field_rs2.index() {
                            4 => {
                                // sext.b; the second operand gives the number of bits to fill.
                                self.operation.next = AluOperation::SignExtend;
                                self.immediate.next = bits::<32>(24);
                                illegal = false;
                            }
                            5 => {
                                self.operation.next = AluOperation::SignExtend;
                                self.immediate.next = bits::<32>(16);
                                illegal = false;
                            }
                            _ => {
                                // clz, ctz and cpop use the divide unit, which serves one lane of
                                // each eight after the other.
                                if field_rs2 < bits::<5>(3) {
                                    self.divide_form.next = true;
                                    self.funct3.next = field_rs2.get_bits::<3>(0);
                                    illegal = false;
                                }
                            }
                        }
                    }
                }
                2 => self.operation.next = AluOperation::LessThan,
                3 => self.operation.next = AluOperation::LessThanUnsigned,
                4 => self.operation.next = AluOperation::Xor,
                5 => {
                    self.operation.next = AluOperation::ShiftRight;
                    if field_funct7 == bits::<7>(0x20) {
                        self.operation.next = AluOperation::ShiftRightSigned;
                    } else if field_funct7 == bits::<7>(0x30) {
                        self.operation.next = AluOperation::RotateRight;
                    } else if self.instruction.val().get_bits::<12>(20) == bits::<12>(0x287) {
                        self.operation.next = AluOperation::OrCombine;
                    } else if self.instruction.val().get_bits::<12>(20) == bits::<12>(0x698) {
                        // The low 5 bits of the immediate are the 24 that the ALU wants.
                        self.operation.next = AluOperation::ReverseBytes;
                    } else {
                        illegal = field_funct7 != bits::<7>(0);
                    }
                }
                6 => self.operation.next = AluOperation::Or,
                _ => self.operation.next = AluOperation::And,
            }
        } else if opcode == bits::<7>(0x33) {
            self.rs1.next = field_rs1;
            self.rs2.next = field_rs2;
            self.rd_form.next = field_rd;
            self.b_source.next = BSource::Register;
            if field_funct7 == bits::<7>(0) {
                match field_funct3.index() {
                    0 => self.operation.next = AluOperation::Add,
                    1 => self.operation.next = AluOperation::ShiftLeft,
                    2 => self.operation.next = AluOperation::LessThan,
                    3 => self.operation.next = AluOperation::LessThanUnsigned,
                    4 => self.operation.next = AluOperation::Xor,
                    5 => self.operation.next = AluOperation::ShiftRight,
                    6 => self.operation.next = AluOperation::Or,
                    _ => self.operation.next = AluOperation::And,
                }
            } else if field_funct7 == bits::<7>(1) {
                self.multiply.next = !field_funct3.get_bit(2);
                self.divide_form.next = field_funct3.get_bit(2);
            } else if field_funct7 == bits::<7>(4) {
                // zext.h: the mask is the immediate.
                self.operation.next = AluOperation::And;
                self.b_source.next = BSource::Immediate;
                self.immediate.next = bits::<32>(0xffff);
                illegal = (field_funct3 != bits::<3>(4)) | field_rs2.any();
            } else if field_funct7 == bits::<7>(5) {
                match field_funct3.index() {
                    4 => self.operation.next = AluOperation::Min,
                    5 => self.operation.next = AluOperation::MinUnsigned,
                    6 => self.operation.next = AluOperation::Max,
                    7 => self.operation.next = AluOperation::MaxUnsigned,
                    _ => illegal = true,
                }
            } else if field_funct7 == bits::<7>(0x20) {
                match field_funct3.index() {
                    0 => self.operation.next = AluOperation::Sub,
                    4 => self.operation.next = AluOperation::XorNot,
                    5 => self.operation.next = AluOperation::ShiftRightSigned,
                    6 => self.operation.next = AluOperation::OrNot,
                    7 => self.operation.next = AluOperation::AndNot,
                    _ => illegal = true,
                }
            } else if field_funct7 == bits::<7>(0x30) {
                match field_funct3.index() {
                    1 => self.operation.next = AluOperation::RotateLeft,
                    5 => self.operation.next = AluOperation::RotateRight,
                    _ => illegal = true,
                }
            } else if (field_funct7 & bits::<7>(0x19)) == bits::<7>(0x11) {
                // AES: bits 31:30 select the byte, bit 27 decryption, bit 26 a middle round.
                self.aes.next = true;
                illegal = !self.aes_enabled.val() | field_funct3.any();
            } else {
                illegal = true;
            }
        } else if self.atomics_enabled.val() & (opcode == bits::<7>(0x2f)) {
            // The address is rs1 alone; the word of rs2 goes with it as that of a store.
            self.rs1.next = field_rs1;
            self.rs2.next = field_rs2;
            self.rd_form.next = field_rd;
            self.immediate.next = bits::<32>(0);
            self.load_form.next = true;
            self.atomic.next = true;
            illegal = field_funct3 != bits::<3>(2);
            if field_funct7.get_bit(2) | field_funct7.get_bit(3) {
                // amoswap.w, lr.w without rs2, sc.w
                if field_funct7.get_bits::<5>(2) == bits::<5>(2) {
                    illegal |= field_rs2.any();
                }
                illegal |= field_funct7.get_bits::<3>(4).any();
            }
        } else if opcode == bits::<7>(0x0f) {
            // fence.i is illegal.
            self.fence_form.next = true;
            illegal = field_funct3 != bits::<3>(0);
        } else if opcode == bits::<7>(0x73) {
            if field_funct3 == bits::<3>(0) {
                self.fault.next = true;
                if self.instruction.val() == bits::<32>(0x0000_0073) {
                    self.cause.next = bits::<5>(11);
                }
                if self.instruction.val() == bits::<32>(0x0010_0073) {
                    self.cause.next = bits::<5>(3);
                }
            } else {
                // Reads only: csrrs, csrrc, csrrsi, csrrci with a zero source. ThreadIndex checks
                // the CSR number.
                self.rd_form.next = field_rd;
                self.csr.next = true;
                illegal = !field_funct3.get_bit(1) | (field_rs1 != bits::<5>(0));
            }
        } else {
            illegal = true;
        }

        if self.small_registers.val()
            & (self.rs1.val().get_bit(4) | self.rs2.val().get_bit(4) | self.rd_form.val().get_bit(4))
        {
            illegal = true;
        }
        self.rd.next = self.rd_form.val();
        self.load.next = self.load_form.val();
        self.store.next = self.store_form.val();
        self.divide.next = self.divide_form.val();
        self.fence.next = self.fence_form.val();
        if illegal | self.fault.val() | self.voided.val() {
            self.fault.next = true;
            self.rd.next = bits::<5>(0);
            self.branch.next = false;
            self.jump.next = false;
            self.jump_register.next = false;
            self.load.next = false;
            self.store.next = false;
            self.multiply.next = false;
            self.divide.next = false;
            self.fence.next = false;
            self.atomic.next = false;
            self.aes.next = false;
            self.call.next = false;
            self.ret.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_hdl::prelude::simulate;

    fn decode(instruction: u32, small: bool) -> Decoder {
        let mut decoder = Decoder::default();
        decoder.instruction.next = u64::from(instruction).into();
        decoder.small_registers.next = small;
        assert!(simulate(&mut decoder, 10));
        decoder
    }

    #[test]
    fn immediates_of_every_format() {
        let immediate = |instruction| decode(instruction, false).immediate.val().to_u32();
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
        assert!(decode(0x0000_00ef, false).call.val()); // jal ra
        assert!(!decode(0x0000_006f, false).call.val()); // j
        assert!(decode(0x0000_8067, false).ret.val()); // ret
        assert!(decode(0x0005_00e7, false).call.val()); // jalr ra, a0
        assert!(!decode(0x0005_0067, false).ret.val()); // jr a0
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
            assert_eq!(decoder.b_source.val(), BSource::Register);
            let registers = [decoder.rs1.val(), decoder.rs2.val(), decoder.rd.val()];
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
            assert_eq!(decoder.b_source.val(), BSource::Immediate);
            assert_eq!((decoder.rs1.val().index(), decoder.rd.val().index()), (6, 7));
            if let Some(value) = immediate {
                assert_eq!(decoder.immediate.val().to_u32(), value, "{word:#010x}");
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
            assert!(decoder.branch.val() && !decoder.fault.val());
            assert_eq!(decoder.operation.val(), operation);
        }
    }

    #[test]
    fn multiplications_and_divisions() {
        for funct3 in 0..8 {
            let decoder = decode(register_form(1, 8, funct3), false);
            assert!(!decoder.fault.val());
            assert_eq!((decoder.multiply.val(), decoder.divide.val()), (funct3 < 4, funct3 >= 4));
            assert_eq!(decoder.funct3.val().to_u32(), funct3);
            let registers = [decoder.rs1.val(), decoder.rs2.val(), decoder.rd.val()];
            assert_eq!(registers.map(|r| r.index()), [6, 8, 7]);
        }
        assert!(decode(register_form(1, 16, 0), true).fault.val());
        assert!(!decode(register_form(1, 16, 0), true).multiply.val());
    }

    #[test]
    fn counts_of_bits_go_the_way_of_divisions() {
        for kind in 0..4 {
            let decoder = decode(0x6003_1393 | kind << 20, false);
            let counts = kind < 3;
            assert_eq!((decoder.divide.val(), decoder.fault.val()), (counts, !counts), "kind {kind}");
            if counts {
                assert_eq!(decoder.funct3.val().to_u32(), kind);
                let registers = [decoder.rs1.val(), decoder.rs2.val(), decoder.rd.val()];
                assert_eq!(registers.map(|r| r.index()), [6, 0, 7]);
            }
        }
    }

    #[test]
    fn fences_of_any_kind() {
        for word in [0x0000_000f, 0x0ff0_000f, 0x8330_000f, 0x0ffa_8f8f] {
            let decoder = decode(word, false);
            assert!(decoder.fence.val() && !decoder.fault.val(), "{word:#010x}");
            let registers = [decoder.rs1.val(), decoder.rs2.val(), decoder.rd.val()];
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
                for enabled in [false, true] {
                    let legal = enabled && known && funct3 == 2 && (funct5 != 2 || rs2 == 0);
                    let mut decoder = Decoder::default();
                    decoder.instruction.next = u64::from(word).into();
                    decoder.atomics_enabled.next = enabled;
                    assert!(simulate(&mut decoder, 10));
                    let flags = [decoder.atomic.val(), decoder.load.val(), !decoder.fault.val()];
                    assert_eq!(flags, [legal; 3], "{word:#010x}");
                    if legal {
                        assert!(!decoder.store.val());
                        assert_eq!(decoder.immediate.val().to_u32(), 0);
                        let registers = [decoder.rs1.val(), decoder.rs2.val(), decoder.rd.val()];
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
                    assert_eq!((decoder.aes.val(), decoder.fault.val()), (enabled, !enabled));
                    if enabled {
                        assert_eq!((decoder.aes_decrypt.val(), decoder.aes_middle.val()), (decrypt, middle));
                        assert_eq!(decoder.byte_select.val().to_u32(), byte);
                        let registers = [decoder.rs1.val(), decoder.rs2.val(), decoder.rd.val()];
                        assert_eq!(registers.map(|r| r.index()), [6, 8, 7]);
                    }
                }
            }
        }
    }
}
