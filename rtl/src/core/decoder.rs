//! Instruction decoder.

use super::AluOperation;
use crate::prelude::*;

/// Where the second operand of a lane's arithmetic comes from.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum BSource {
    /// Register `rs2` of the lane.
    Register,
    /// The immediate, the same in every lane.
    Immediate,
    /// The lane's offset from [`ThreadIndex`](super::ThreadIndex).
    LaneOffset,
}

/// Decodes RV32I base instructions (all but `fence.i` and CSR writes) for all lanes of a warp.
///
/// Combinational. Fields that an instruction does not have are zero. What the core does not know, including
/// registers above x15 when `small_registers` is on (RV32E), is `illegal`.
#[derive(LogicBlock, Default)]
pub struct Decoder {
    /// The instruction word.
    pub instruction: Signal<In, Bits<32>>,
    /// The warp stands at EXIT: `instruction` is ignored, and the verdict is stored.
    pub exit: Signal<In, Bit>,
    /// The kernel has 16 registers (RV32E).
    pub small_registers: Signal<In, Bit>,
    /// First source register; 0 when the instruction has none.
    pub rs1: Signal<Out, Bits<5>>,
    /// Second source register; 0 when the instruction has none.
    pub rs2: Signal<Out, Bits<5>>,
    /// Destination register; 0 when the instruction writes none.
    pub rd: Signal<Out, Bits<5>>,
    /// Arithmetic operation.
    pub operation: Signal<Out, AluOperation>,
    /// The first operand is `rs1`, else the value that all lanes share.
    pub a_is_register: Signal<Out, Bit>,
    /// The value that all lanes share is the PC.
    pub a_is_pc: Signal<Out, Bit>,
    /// The instruction reads a CSR: the shared value and the lane offset come from `ThreadIndex`.
    pub csr: Signal<Out, Bit>,
    /// Where the second operand comes from.
    pub b_source: Signal<Out, BSource>,
    /// Immediate, sign-extended.
    pub immediate: Signal<Out, Bits<32>>,
    /// `funct3`: branch condition, size and sign of a load or store.
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
    /// A jump that links to `ra` or `t0`: one level deeper.
    pub call: Signal<Out, Bit>,
    /// A jump through `ra` or `t0` that links to no register: one level up.
    pub ret: Signal<Out, Bit>,
    /// The instruction ends its lanes with a fault.
    pub fault: Signal<Out, Bit>,
    /// Cause of that fault: 2 illegal instruction, 3 breakpoint, 11 environment call.
    pub cause: Signal<Out, Bits<5>>,
    opcode: Signal<Local, Bits<7>>,
    field_rd: Signal<Local, Bits<5>>,
    field_rs1: Signal<Local, Bits<5>>,
    field_rs2: Signal<Local, Bits<5>>,
    field_funct3: Signal<Local, Bits<3>>,
    field_funct7: Signal<Local, Bits<7>>,
    sign: Signal<Local, Bits<32>>,
    immediate_i: Signal<Local, Bits<32>>,
    immediate_s: Signal<Local, Bits<32>>,
    immediate_b: Signal<Local, Bits<32>>,
    immediate_j: Signal<Local, Bits<32>>,
    link: Signal<Local, Bit>,
    illegal: Signal<Local, Bit>,
}

impl Logic for Decoder {
    #[hdl_gen]
    fn update(&mut self) {
        self.opcode.next = self.instruction.val().get_bits::<7>(0);
        self.field_rd.next = self.instruction.val().get_bits::<5>(7);
        self.field_funct3.next = self.instruction.val().get_bits::<3>(12);
        self.field_rs1.next = self.instruction.val().get_bits::<5>(15);
        self.field_rs2.next = self.instruction.val().get_bits::<5>(20);
        self.field_funct7.next = self.instruction.val().get_bits::<7>(25);
        self.sign.next = bits::<32>(0);
        if self.instruction.val().get_bit(31) {
            self.sign.next = bits::<32>(0xffff_ffff_u64);
        }
        self.immediate_i.next = (self.sign.val() << bits::<5>(12))
            | bit_cast::<32, 12>(self.instruction.val().get_bits::<12>(20));
        self.immediate_s.next = (self.sign.val() << bits::<5>(12))
            | (bit_cast::<32, 7>(self.field_funct7.val()) << bits::<5>(5))
            | bit_cast::<32, 5>(self.field_rd.val());
        self.immediate_b.next = (self.sign.val() << bits::<5>(12))
            | (bit_cast::<32, 1>(self.instruction.val().get_bits::<1>(7)) << bits::<5>(11))
            | (bit_cast::<32, 6>(self.instruction.val().get_bits::<6>(25)) << bits::<5>(5))
            | (bit_cast::<32, 4>(self.instruction.val().get_bits::<4>(8)) << bits::<5>(1));
        self.immediate_j.next = (self.sign.val() << bits::<5>(20))
            | (bit_cast::<32, 8>(self.instruction.val().get_bits::<8>(12)) << bits::<5>(12))
            | (bit_cast::<32, 1>(self.instruction.val().get_bits::<1>(20)) << bits::<5>(11))
            | (bit_cast::<32, 10>(self.instruction.val().get_bits::<10>(21)) << bits::<5>(1));
        // x1 and x5 hold return addresses (RISC-V unprivileged specification, table 2.1).
        self.link.next = (self.field_rd.val() == bits::<5>(1)) | (self.field_rd.val() == bits::<5>(5));

        self.rs1.next = bits::<5>(0);
        self.rs2.next = bits::<5>(0);
        self.rd.next = bits::<5>(0);
        self.operation.next = AluOperation::Add;
        self.a_is_register.next = false;
        self.a_is_pc.next = false;
        self.csr.next = false;
        self.b_source.next = BSource::Immediate;
        self.immediate.next = self.immediate_i.val();
        self.funct3.next = self.field_funct3.val();
        self.branch.next = false;
        self.jump.next = false;
        self.jump_register.next = false;
        self.load.next = false;
        self.store.next = false;
        self.call.next = false;
        self.ret.next = false;
        self.illegal.next = false;
        self.cause.next = bits::<5>(2);
        self.fault.next = false;

        if self.exit.val() {
            // The verdict: a0 to the verdict array, at the offset of the lane.
            self.rs2.next = bits::<5>(10);
            self.csr.next = true;
            self.b_source.next = BSource::LaneOffset;
            self.funct3.next = bits::<3>(2);
            self.store.next = true;
        } else if self.opcode.val() == bits::<7>(0x37) {
            self.rd.next = self.field_rd.val();
            self.immediate.next = self.instruction.val() & bits::<32>(0xffff_f000_u64);
        } else if self.opcode.val() == bits::<7>(0x17) {
            self.rd.next = self.field_rd.val();
            self.a_is_pc.next = true;
            self.immediate.next = self.instruction.val() & bits::<32>(0xffff_f000_u64);
        } else if self.opcode.val() == bits::<7>(0x6f) {
            self.rd.next = self.field_rd.val();
            self.jump.next = true;
            self.call.next = self.link.val();
            self.immediate.next = self.immediate_j.val();
        } else if self.opcode.val() == bits::<7>(0x67) {
            self.rs1.next = self.field_rs1.val();
            self.rd.next = self.field_rd.val();
            self.a_is_register.next = true;
            self.jump_register.next = true;
            self.call.next = self.link.val();
            self.ret.next = (self.field_rd.val() == bits::<5>(0))
                & ((self.field_rs1.val() == bits::<5>(1)) | (self.field_rs1.val() == bits::<5>(5)));
            self.illegal.next = self.field_funct3.val() != bits::<3>(0);
        } else if self.opcode.val() == bits::<7>(0x63) {
            self.rs1.next = self.field_rs1.val();
            self.rs2.next = self.field_rs2.val();
            self.a_is_register.next = true;
            self.b_source.next = BSource::Register;
            self.branch.next = true;
            self.immediate.next = self.immediate_b.val();
            self.illegal.next = self.field_funct3.val().get_bits::<2>(1) == bits::<2>(1);
        } else if self.opcode.val() == bits::<7>(0x03) {
            self.rs1.next = self.field_rs1.val();
            self.rd.next = self.field_rd.val();
            self.a_is_register.next = true;
            self.load.next = true;
            self.illegal.next = (self.field_funct3.val() == bits::<3>(3))
                | (self.field_funct3.val().get_bits::<2>(1) == bits::<2>(3));
        } else if self.opcode.val() == bits::<7>(0x23) {
            self.rs1.next = self.field_rs1.val();
            self.rs2.next = self.field_rs2.val();
            self.a_is_register.next = true;
            self.store.next = true;
            self.immediate.next = self.immediate_s.val();
            self.illegal.next = self.field_funct3.val() > bits::<3>(2);
        } else if (self.opcode.val() == bits::<7>(0x13)) | (self.opcode.val() == bits::<7>(0x33)) {
            self.rs1.next = self.field_rs1.val();
            self.rd.next = self.field_rd.val();
            self.a_is_register.next = true;
            if self.opcode.val().get_bit(5) {
                self.rs2.next = self.field_rs2.val();
                self.b_source.next = BSource::Register;
            }
            // funct7 is 0 but for subtraction and the signed right shift; immediates have no funct7
            // unless they are shift amounts.
            if self.opcode.val().get_bit(5) | (self.field_funct3.val().get_bits::<2>(0) == bits::<2>(1)) {
                self.illegal.next = self.field_funct7.val() != bits::<7>(0);
            }
            match self.field_funct3.val().index() {
                0 => {
                    if self.opcode.val().get_bit(5) & (self.field_funct7.val() == bits::<7>(0x20)) {
                        self.operation.next = AluOperation::Sub;
                        self.illegal.next = false;
                    }
                }
                1 => self.operation.next = AluOperation::ShiftLeft,
                2 => self.operation.next = AluOperation::LessThan,
                3 => self.operation.next = AluOperation::LessThanUnsigned,
                4 => self.operation.next = AluOperation::Xor,
                5 => {
                    self.operation.next = AluOperation::ShiftRight;
                    if self.field_funct7.val() == bits::<7>(0x20) {
                        self.operation.next = AluOperation::ShiftRightSigned;
                        self.illegal.next = false;
                    }
                }
                6 => self.operation.next = AluOperation::Or,
                _ => self.operation.next = AluOperation::And,
            }
        } else if self.opcode.val() == bits::<7>(0x0f) {
            // fence: every store of a warp is acknowledged before its next instruction.
            self.illegal.next = self.field_funct3.val() != bits::<3>(0);
        } else if self.opcode.val() == bits::<7>(0x73) {
            if self.field_funct3.val() == bits::<3>(0) {
                self.fault.next = true;
                if self.instruction.val() == bits::<32>(0x0000_0073) {
                    self.cause.next = bits::<5>(11);
                }
                if self.instruction.val() == bits::<32>(0x0010_0073) {
                    self.cause.next = bits::<5>(3);
                }
            } else {
                // Reads only: csrrs, csrrc, csrrsi, csrrci with a zero source. ThreadIndex knows the numbers.
                self.rd.next = self.field_rd.val();
                self.csr.next = true;
                self.b_source.next = BSource::LaneOffset;
                self.illegal.next =
                    !self.field_funct3.val().get_bit(1) | (self.field_rs1.val() != bits::<5>(0));
            }
        } else {
            self.illegal.next = true;
        }

        if self.small_registers.val()
            & (self.rs1.val().get_bit(4) | self.rs2.val().get_bit(4) | self.rd.val().get_bit(4))
        {
            self.illegal.next = true;
        }
        if self.illegal.val() | self.fault.val() {
            self.fault.next = true;
            self.rd.next = bits::<5>(0);
            self.branch.next = false;
            self.jump.next = false;
            self.jump_register.next = false;
            self.load.next = false;
            self.store.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_hdl::prelude::simulate;

    fn decode(instruction: u32, small: bool) -> Decoder {
        let mut decoder = Decoder::default();
        decoder.connect_all();
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
            0x0200_0033, // mul
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
}
