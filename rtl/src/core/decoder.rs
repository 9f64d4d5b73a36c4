//! Instruction decoder.

use super::AluOperation;
use hermes_hdl::prelude::*;

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
#[path = "decoder_tests.rs"]
mod tests;
