//! Instruction decoder.

use super::{AluOperation, BSource};
use crate::ports::{DecodedArithmetic, DecodedControls, FormQuery};
use crate::types::riscv::{
    cause, funct12, funct3, funct5, funct7, instruction, opcode, register, size, unary,
};
use hermes_hdl::prelude::*;

/// Decodes RV32IM_Zbb instructions, CSR reads and, where enabled, Zkne and Zknd for all lanes of a
/// warp.
///
/// Combinational. Fields that an instruction does not have are zero. What the core does not know,
/// including registers above x15 when `small_registers` is on (RV32E), is `illegal`.
#[derive(LogicBlock)]
#[new(compares: bool)]
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
    /// To the hazard check.
    pub query: Flipped<FormQuery>,
    /// To stage R.
    pub controls: Flipped<DecodedControls>,
    /// Arithmetic operation.
    pub operation: Signal<Out, AluOperation>,
    /// The value that all lanes share is the PC.
    pub a_is_pc: Signal<Out, Bit>,
    /// The instruction reads a CSR: the shared value and the lane offset come from `ThreadIndex`.
    pub csr: Signal<Out, Bit>,
    /// To stage R, for the lanes.
    pub arithmetic: Flipped<DecodedArithmetic>,
    /// `fence`, of any kind.
    pub fence: Signal<Out, Bit>,
    /// The instruction ends its lanes with a fault.
    pub fault: Signal<Out, Bit>,
    /// Cause of that fault: 2 illegal instruction, 3 breakpoint, 11 environment call.
    pub cause: Signal<Out, Bits<5>>,
    #[init(compares)]
    _compares: bool,
}

impl Default for Decoder {
    /// A decoder without compare-and-swap.
    fn default() -> Self {
        Self::new(false)
    }
}

impl Decoder {
    /// A decoder without or with compare-and-swap: with the atomic instructions, `amocas.w` of
    /// Zacas is legal.
    pub fn new(compares: bool) -> Self {
        Self::wired(compares)
    }
}

impl Decoder {
    /// What an instruction is, as long as nothing says otherwise.
    #[hdl_gen]
    fn begin(&mut self, field_funct3: Bits<3>, immediate_i: Bits<32>) {
        self.query.rs1.next = bits::<5>(0);
        self.query.rs2.next = bits::<5>(0);
        self.query.rd.next = bits::<5>(0);
        self.operation.next = AluOperation::Add;
        self.a_is_pc.next = false;
        self.csr.next = false;
        self.arithmetic.b_source.next = BSource::Immediate;
        self.controls.immediate.next = immediate_i;
        self.controls.funct3.next = field_funct3;
        self.controls.branch.next = false;
        self.controls.jump.next = false;
        self.controls.jump_register.next = false;
        self.query.load.next = false;
        self.query.store.next = false;
        self.controls.multiply.next = false;
        self.query.divide.next = false;
        self.query.fence.next = false;
        self.query.atomic.next = false;
        self.arithmetic.aes.next = false;
        self.arithmetic.aes_decrypt.next = self.instruction.val().get_bit(27);
        self.arithmetic.aes_middle.next = self.instruction.val().get_bit(26);
        self.arithmetic.byte_select.next = self.instruction.val().get_bits::<2>(30);
        self.controls.call.next = false;
        self.controls.ret.next = false;
    }

    /// What is left of an instruction that faults.
    #[hdl_gen]
    fn end(&mut self, illegal: Bit) {
        self.controls.rd.next = self.query.rd.val();
        self.controls.load.next = self.query.load.val();
        self.controls.store.next = self.query.store.val();
        self.controls.divide.next = self.query.divide.val();
        self.fence.next = self.query.fence.val();
        if illegal | self.fault.val() | self.voided.val() {
            self.fault.next = true;
            self.controls.rd.next = bits::<5>(0);
            self.controls.branch.next = false;
            self.controls.jump.next = false;
            self.controls.jump_register.next = false;
            self.controls.load.next = false;
            self.controls.store.next = false;
            self.controls.multiply.next = false;
            self.controls.divide.next = false;
            self.fence.next = false;
            self.query.atomic.next = false;
            self.arithmetic.aes.next = false;
            self.controls.call.next = false;
            self.controls.ret.next = false;
        }
    }
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
        let link = (field_rd == bits::<5>(register::RA)) | (field_rd == bits::<5>(register::T0));

        self.begin(field_funct3, immediate_i);
        let mut illegal = false;
        self.cause.next = bits::<5>(cause::ILLEGAL_INSTRUCTION);
        self.fault.next = false;

        if self.exit.val() {
            // The verdict: a0 to the verdict array, at the offset of the lane.
            self.query.rs2.next = bits::<5>(register::A0);
            self.csr.next = true;
            self.controls.funct3.next = bits::<3>(funct3::SW);
            self.query.store.next = true;
        } else if opcode == bits::<7>(opcode::LUI) {
            self.query.rd.next = field_rd;
            self.controls.immediate.next = self.instruction.val() & bits::<32>(0xffff_f000_u64);
        } else if opcode == bits::<7>(opcode::AUIPC) {
            self.query.rd.next = field_rd;
            self.a_is_pc.next = true;
            self.controls.immediate.next = self.instruction.val() & bits::<32>(0xffff_f000_u64);
        } else if opcode == bits::<7>(opcode::JAL) {
            self.query.rd.next = field_rd;
            self.controls.jump.next = true;
            self.controls.call.next = link;
            self.controls.immediate.next = immediate_j;
        } else if opcode == bits::<7>(opcode::JALR) {
            self.query.rs1.next = field_rs1;
            self.query.rd.next = field_rd;
            self.controls.jump_register.next = true;
            self.controls.call.next = link;
            self.controls.ret.next = (field_rd == bits::<5>(register::ZERO))
                & ((field_rs1 == bits::<5>(register::RA)) | (field_rs1 == bits::<5>(register::T0)));
            illegal = field_funct3 != bits::<3>(funct3::JALR);
        } else if opcode == bits::<7>(opcode::BRANCH) {
            self.query.rs1.next = field_rs1;
            self.query.rs2.next = field_rs2;
            self.arithmetic.b_source.next = BSource::Register;
            self.controls.branch.next = true;
            self.controls.immediate.next = immediate_b;
            // The operation that makes the comparison.
            self.operation.next = AluOperation::Xor;
            if field_funct3.get_bit(2) {
                self.operation.next = AluOperation::LessThan;
                if field_funct3.get_bit(1) {
                    self.operation.next = AluOperation::LessThanUnsigned;
                }
            }
            // Neither beq and bne nor a comparison by size.
            illegal = !field_funct3.get_bit(2) & field_funct3.get_bit(1);
        } else if opcode == bits::<7>(opcode::LOAD) {
            self.query.rs1.next = field_rs1;
            self.query.rd.next = field_rd;
            self.query.load.next = true;
            // Bits 13:12 are the size, bit 14 says that zeros extend it.
            illegal = (field_funct3.get_bits::<2>(0) > bits::<2>(size::WORD))
                | (field_funct3.get_bit(2) & (field_funct3.get_bits::<2>(0) == bits::<2>(size::WORD)));
        } else if opcode == bits::<7>(opcode::STORE) {
            self.query.rs1.next = field_rs1;
            self.query.rs2.next = field_rs2;
            self.query.store.next = true;
            self.controls.immediate.next = immediate_s;
            illegal = field_funct3 > bits::<3>(funct3::SW);
        } else if opcode == bits::<7>(opcode::OP_IMM) {
            self.query.rs1.next = field_rs1;
            self.query.rd.next = field_rd;
            match field_funct3.to_u64() {
                funct3::ADD => self.operation.next = AluOperation::Add,
                funct3::SLL => {
                    illegal = true;
                    if field_funct7 == bits::<7>(funct7::BASE) {
                        self.operation.next = AluOperation::ShiftLeft;
                        illegal = false;
                    } else if field_funct7 == bits::<7>(funct7::ROTATE) {
                        match field_rs2.to_u64() {
                            unary::SEXT_B => {
                                // The second operand gives the number of bits to fill.
                                self.operation.next = AluOperation::SignExtend;
                                self.controls.immediate.next = bits::<32>(24);
                                illegal = false;
                            }
                            unary::SEXT_H => {
                                self.operation.next = AluOperation::SignExtend;
                                self.controls.immediate.next = bits::<32>(16);
                                illegal = false;
                            }
                            _ => {
                                // clz, ctz, cpop: the divide unit, one lane of each eight a time.
                                if field_rs2 <= bits::<5>(unary::CPOP) {
                                    self.query.divide.next = true;
                                    self.controls.funct3.next = field_rs2.get_bits::<3>(0);
                                    illegal = false;
                                }
                            }
                        }
                    }
                }
                funct3::SLT => self.operation.next = AluOperation::LessThan,
                funct3::SLTU => self.operation.next = AluOperation::LessThanUnsigned,
                funct3::XOR => self.operation.next = AluOperation::Xor,
                funct3::SRL => {
                    self.operation.next = AluOperation::ShiftRight;
                    if field_funct7 == bits::<7>(funct7::ALTERNATE) {
                        self.operation.next = AluOperation::ShiftRightSigned;
                    } else if field_funct7 == bits::<7>(funct7::ROTATE) {
                        self.operation.next = AluOperation::RotateRight;
                    } else if self.instruction.val().get_bits::<12>(20) == bits::<12>(funct12::ORC_B) {
                        self.operation.next = AluOperation::OrCombine;
                    } else if self.instruction.val().get_bits::<12>(20) == bits::<12>(funct12::REV8) {
                        // The low 5 bits of the immediate are the 24 that the ALU wants.
                        self.operation.next = AluOperation::ReverseBytes;
                    } else {
                        illegal = field_funct7 != bits::<7>(funct7::BASE);
                    }
                }
                funct3::OR => self.operation.next = AluOperation::Or,
                _ => self.operation.next = AluOperation::And,
            }
        } else if opcode == bits::<7>(opcode::OP) {
            self.query.rs1.next = field_rs1;
            self.query.rs2.next = field_rs2;
            self.query.rd.next = field_rd;
            self.arithmetic.b_source.next = BSource::Register;
            if field_funct7 == bits::<7>(funct7::BASE) {
                match field_funct3.to_u64() {
                    funct3::ADD => self.operation.next = AluOperation::Add,
                    funct3::SLL => self.operation.next = AluOperation::ShiftLeft,
                    funct3::SLT => self.operation.next = AluOperation::LessThan,
                    funct3::SLTU => self.operation.next = AluOperation::LessThanUnsigned,
                    funct3::XOR => self.operation.next = AluOperation::Xor,
                    funct3::SRL => self.operation.next = AluOperation::ShiftRight,
                    funct3::OR => self.operation.next = AluOperation::Or,
                    _ => self.operation.next = AluOperation::And,
                }
            } else if field_funct7 == bits::<7>(funct7::MULDIV) {
                self.controls.multiply.next = !field_funct3.get_bit(2);
                self.query.divide.next = field_funct3.get_bit(2);
            } else if field_funct7 == bits::<7>(funct7::ZEXT_H) {
                // zext.h: the mask is the immediate.
                self.operation.next = AluOperation::And;
                self.arithmetic.b_source.next = BSource::Immediate;
                self.controls.immediate.next = bits::<32>(0xffff);
                illegal = (field_funct3 != bits::<3>(funct3::ZEXT_H)) | field_rs2.any();
            } else if field_funct7 == bits::<7>(funct7::MINMAX) {
                match field_funct3.to_u64() {
                    funct3::MIN => self.operation.next = AluOperation::Min,
                    funct3::MINU => self.operation.next = AluOperation::MinUnsigned,
                    funct3::MAX => self.operation.next = AluOperation::Max,
                    funct3::MAXU => self.operation.next = AluOperation::MaxUnsigned,
                    _ => illegal = true,
                }
            } else if field_funct7 == bits::<7>(funct7::ALTERNATE) {
                match field_funct3.to_u64() {
                    funct3::SUB => self.operation.next = AluOperation::Sub,
                    funct3::XNOR => self.operation.next = AluOperation::XorNot,
                    funct3::SRA => self.operation.next = AluOperation::ShiftRightSigned,
                    funct3::ORN => self.operation.next = AluOperation::OrNot,
                    funct3::ANDN => self.operation.next = AluOperation::AndNot,
                    _ => illegal = true,
                }
            } else if field_funct7 == bits::<7>(funct7::ROTATE) {
                match field_funct3.to_u64() {
                    funct3::ROL => self.operation.next = AluOperation::RotateLeft,
                    funct3::ROR => self.operation.next = AluOperation::RotateRight,
                    _ => illegal = true,
                }
            } else if (field_funct7 & bits::<7>(funct7::AES_MASK)) == bits::<7>(funct7::AES) {
                // AES: bits 31:30 select the byte, bit 27 decryption, bit 26 a middle round.
                self.arithmetic.aes.next = true;
                illegal = !self.aes_enabled.val() | field_funct3.any();
            } else {
                illegal = true;
            }
        } else if self.atomics_enabled.val() & (opcode == bits::<7>(opcode::AMO)) {
            // The address is rs1 alone; the word of rs2 goes with it as that of a store.
            self.query.rs1.next = field_rs1;
            self.query.rs2.next = field_rs2;
            self.query.rd.next = field_rd;
            self.controls.immediate.next = bits::<32>(0);
            self.query.load.next = true;
            self.query.atomic.next = true;
            illegal = field_funct3 != bits::<3>(funct3::AMO_W);
            if field_funct7.get_bit(2) | field_funct7.get_bit(3) {
                // amoswap.w, lr.w without rs2, sc.w
                if field_funct7.get_bits::<5>(2) == bits::<5>(funct5::LR) {
                    illegal |= field_rs2.any();
                }
                illegal |= field_funct7.get_bits::<3>(4).any();
            }
            if self._compares {
                if field_funct7.get_bits::<5>(2) == bits::<5>(funct5::AMOCAS) {
                    illegal = field_funct3 != bits::<3>(funct3::AMO_W);
                }
            }
        } else if opcode == bits::<7>(opcode::MISC_MEM) {
            // fence.i is illegal.
            self.query.fence.next = true;
            illegal = field_funct3 != bits::<3>(funct3::FENCE);
        } else if opcode == bits::<7>(opcode::SYSTEM) {
            if field_funct3 == bits::<3>(funct3::PRIV) {
                self.fault.next = true;
                if self.instruction.val() == bits::<32>(instruction::ECALL) {
                    self.cause.next = bits::<5>(cause::ECALL);
                }
                if self.instruction.val() == bits::<32>(instruction::EBREAK) {
                    self.cause.next = bits::<5>(cause::BREAKPOINT);
                }
            } else {
                // Reads only, with a zero source. ThreadIndex checks the CSR number.
                self.query.rd.next = field_rd;
                self.csr.next = true;
                illegal = !field_funct3.get_bit(1) | (field_rs1 != bits::<5>(register::ZERO));
            }
        } else {
            illegal = true;
        }

        if self.small_registers.val()
            & (self.query.rs1.val().get_bit(4)
                | self.query.rs2.val().get_bit(4)
                | self.query.rd.val().get_bit(4))
        {
            illegal = true;
        }
        self.end(illegal);
    }
}

#[cfg(test)]
#[path = "decoder_tests.rs"]
mod tests;
