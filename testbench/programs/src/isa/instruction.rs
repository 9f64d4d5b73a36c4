//! Instructions with their operands: decoding and encoding.

use std::sync::LazyLock;

use hermes_rtl::config::Config;

use super::op::{Encoding, Extension, Format, Op, ENCODINGS};

/// What a hart can execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa {
    /// Multiplication and division (M).
    pub m: bool,
    /// Basic bit manipulation (Zbb).
    pub zbb: bool,
    /// AES rounds (Zkne, Zknd).
    pub aes: bool,
    /// Atomic operations (A).
    pub atomics: bool,
    /// Compare-and-swap of words (`amocas.w` of Zacas).
    pub compare_and_swap: bool,
    /// Waits for writes (Zawrs), which end at once here: as if the write had come.
    pub zawrs: bool,
    /// Only x0 to x15 (RV32E).
    pub embedded: bool,
}

impl Isa {
    /// RV32I.
    pub const RV32I: Self = Self {
        m: false,
        zbb: false,
        aes: false,
        atomics: false,
        compare_and_swap: false,
        zawrs: false,
        embedded: false,
    };
    /// RV32IM_Zbb.
    pub const RV32IM_ZBB: Self = Self {
        m: true,
        zbb: true,
        aes: false,
        atomics: false,
        compare_and_swap: false,
        zawrs: false,
        embedded: false,
    };
    /// RV32IMA_Zbb: what a hart of the command processor has, without the instructions of machine
    /// mode.
    pub const RV32IMA_ZBB: Self = Self { atomics: true, ..Self::RV32IM_ZBB };
    /// Every instruction that some array has.
    pub const EVERYTHING: Self = Self {
        m: true,
        zbb: true,
        aes: true,
        atomics: true,
        compare_and_swap: true,
        zawrs: true,
        embedded: false,
    };

    /// What the cores of an array execute of a kernel with 16 registers (`embedded`) or 32.
    #[must_use]
    pub fn of(config: &Config, embedded: bool) -> Self {
        Self {
            aes: config.aes,
            atomics: config.atomics,
            compare_and_swap: config.compare_and_swap,
            zawrs: config.network,
            embedded,
            ..Self::RV32IM_ZBB
        }
    }

    /// Whether the instructions of an extension are executed.
    pub const fn has(&self, extension: Extension) -> bool {
        match extension {
            Extension::Base => true,
            Extension::M => self.m,
            Extension::Zbb => self.zbb,
            Extension::Aes => self.aes,
            Extension::A => self.atomics,
            Extension::Zacas => self.compare_and_swap,
            Extension::Zawrs => self.zawrs,
        }
    }

    /// Registers of a hart: 16 or 32.
    pub const fn registers(&self) -> u8 {
        if self.embedded {
            16
        } else {
            32
        }
    }
}

/// An instruction with its operands. Operands that the instruction does not have are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// The instruction.
    pub op: Op,
    /// Destination register.
    pub rd: u8,
    /// First source register.
    pub rs1: u8,
    /// Second source register.
    pub rs2: u8,
    /// Immediate, sign-extended; shift amount; byte number; CSR number; bits `aq` (bit 1) and `rl`
    /// (bit 0); fields of `fence` (bits 31:20 of the word). The upper immediate of `lui` and
    /// `auipc` stands in bits 31:12.
    pub immediate: i32,
}

/// Rows of the table by bits 6:2 of the word.
static ROWS: LazyLock<[Vec<&'static Encoding>; 32]> = LazyLock::new(|| {
    let row = |major: usize| ENCODINGS.iter().filter(move |row| (row.value >> 2 & 31) as usize == major);
    std::array::from_fn(|major| row(major).collect())
});

/// `count` bits of `word` from bit `low` on.
const fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

/// The lowest `count` bits of `value` as a signed number.
const fn signed(value: u32, count: u32) -> i32 {
    (value << (32 - count)) as i32 >> (32 - count)
}

impl Instruction {
    /// The instruction that `word` stands for; `None` if it is illegal under `isa`.
    pub fn decode(word: u32, isa: &Isa) -> Option<Self> {
        if word & 3 != 3 {
            return None;
        }
        let row = ROWS[bits(word, 2, 5) as usize].iter().find(|row| word & row.mask == row.value)?;
        let register = |low| bits(word, low, 5) as u8;
        let (rd, rs1, rs2) = (register(7), register(15), register(20));
        let upper_12 = bits(word, 20, 12);
        let none = Self { op: row.op, rd: 0, rs1: 0, rs2: 0, immediate: 0 };
        let instruction = match row.format {
            Format::Register => Self { rd, rs1, rs2, ..none },
            Format::Unary => Self { rd, rs1, ..none },
            Format::Immediate | Format::Indirect => Self { rd, rs1, immediate: signed(upper_12, 12), ..none },
            Format::Shift => Self { rd, rs1, immediate: i32::from(rs2), ..none },
            Format::Store => {
                Self { rs1, rs2, immediate: signed(bits(word, 25, 7) << 5 | bits(word, 7, 5), 12), ..none }
            }
            Format::Branch => {
                let offset = bits(word, 31, 1) << 12
                    | bits(word, 7, 1) << 11
                    | bits(word, 25, 6) << 5
                    | bits(word, 8, 4) << 1;
                Self { rs1, rs2, immediate: signed(offset, 13), ..none }
            }
            Format::Upper => Self { rd, immediate: (word & 0xffff_f000) as i32, ..none },
            Format::Jump => {
                let offset = bits(word, 31, 1) << 20
                    | bits(word, 12, 8) << 12
                    | bits(word, 20, 1) << 11
                    | bits(word, 21, 10) << 1;
                Self { rd, immediate: signed(offset, 21), ..none }
            }
            Format::Csr | Format::CsrImmediate => Self { rd, immediate: upper_12 as i32, ..none },
            Format::Byte => Self { rd, rs1, rs2, immediate: bits(word, 30, 2) as i32, ..none },
            Format::Atomic => Self { rd, rs1, rs2, immediate: bits(word, 25, 2) as i32, ..none },
            Format::Reserve => Self { rd, rs1, immediate: bits(word, 25, 2) as i32, ..none },
            Format::Fence => Self { immediate: upper_12 as i32, ..none },
            Format::None => none,
        };
        let fits = [instruction.rd, instruction.rs1, instruction.rs2].iter().all(|r| *r < isa.registers());
        (isa.has(row.extension) && fits).then_some(instruction)
    }

    /// The word that stands for the instruction. Bits of the immediate that its format has no room
    /// for are dropped.
    pub fn encode(&self) -> u32 {
        let row = self.op.encoding();
        let immediate = self.immediate as u32;
        let (rd, rs1, rs2) = (u32::from(self.rd) << 7, u32::from(self.rs1) << 15, u32::from(self.rs2) << 20);
        row.value
            | match row.format {
                Format::Register => rd | rs1 | rs2,
                Format::Unary => rd | rs1,
                Format::Immediate | Format::Indirect => rd | rs1 | bits(immediate, 0, 12) << 20,
                Format::Shift => rd | rs1 | bits(immediate, 0, 5) << 20,
                Format::Store => rs1 | rs2 | bits(immediate, 5, 7) << 25 | bits(immediate, 0, 5) << 7,
                Format::Branch => {
                    rs1 | rs2
                        | bits(immediate, 12, 1) << 31
                        | bits(immediate, 5, 6) << 25
                        | bits(immediate, 1, 4) << 8
                        | bits(immediate, 11, 1) << 7
                }
                Format::Upper => rd | immediate & 0xffff_f000,
                Format::Jump => {
                    rd | bits(immediate, 20, 1) << 31
                        | bits(immediate, 1, 10) << 21
                        | bits(immediate, 11, 1) << 20
                        | bits(immediate, 12, 8) << 12
                }
                Format::Csr | Format::CsrImmediate | Format::Fence => rd | bits(immediate, 0, 12) << 20,
                Format::Byte => rd | rs1 | rs2 | bits(immediate, 0, 2) << 30,
                Format::Atomic => rd | rs1 | rs2 | bits(immediate, 0, 2) << 25,
                Format::Reserve => rd | rs1 | bits(immediate, 0, 2) << 25,
                Format::None => 0,
            }
    }

    /// The register that the instruction writes, if it is not x0.
    pub fn writes(&self) -> Option<u8> {
        (self.rd != 0).then_some(self.rd)
    }

    /// The registers that the instruction reads, x0 left out.
    pub fn reads(&self) -> impl Iterator<Item = u8> {
        let compared = if self.op == Op::AmocasW { self.rd } else { 0 };
        [self.rs1, self.rs2, compared].into_iter().filter(|register| *register != 0)
    }

    /// A jump that links to `ra` or `t0` (unprivileged specification, table 3 of chapter RV32I):
    /// one call deeper.
    pub fn is_call(&self) -> bool {
        matches!(self.op, Op::Jal | Op::Jalr) && matches!(self.rd, 1 | 5)
    }

    /// A jump through `ra` or `t0` that links to no register: one call back.
    pub fn is_return(&self) -> bool {
        self.op == Op::Jalr && self.rd == 0 && matches!(self.rs1, 1 | 5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    const ALL: Isa = Isa::EVERYTHING;

    #[test]
    fn decoding_and_encoding_are_inverse() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(crate::test_seed());
        for row in ENCODINGS {
            for _ in 0..200 {
                let word = row.value | random.gen::<u32>() & !row.mask;
                let instruction = Instruction::decode(word, &ALL).expect(row.name);
                assert_eq!(instruction.op, row.op, "{word:#010x}");
                // The fields of fence that mean nothing are the only ones that are lost.
                let kept = if row.op == Op::Fence { word & 0xfff0_707f } else { word };
                assert_eq!(instruction.encode(), kept, "{} {word:#010x}", row.name);
            }
        }
    }

    #[test]
    fn words_that_are_illegal() {
        for word in [
            0x0000_0000,
            0xffff_ffff,
            0x0000_0001, // compressed
            0x0000_100f, // fence.i
            0x4000_1033, // sll with funct7 0x20
            0x0000_2063, // branch with funct3 2
            0x0000_3003, // load with funct3 3
            0x0000_6003, // lwu
            0x0000_3023, // store with funct3 3
            0xc000_1073, // csrrw
            0xc000_5073, // csrrwi
            0xc000_a073, // csrrs cycle, ra
            0xc000_e073, // csrrsi cycle, 1
            0x3020_0073, // mret
            0x1050_0073, // wfi
            0x0000_00f3, // ecall with rd
            0x0001_0073, // ecall with rs1
            0x6030_1013, // clz with rs2 field 3
            0x6980_5033, // rev8 in the wrong opcode
            0x0810_4033, // zext.h with rs2
            0x1010_202f, // lr.w with rs2
            0x0000_302f, // amoadd.d
            0x2800_302f, // amocas.d
            0x3000_202f, // no atomic operation
        ] {
            assert_eq!(Instruction::decode(word, &ALL), None, "{word:#010x}");
        }
        for (word, without) in [
            (0x0200_0033, Isa::RV32I),       // mul
            (0x2800_202f, Isa::RV32IMA_ZBB), // amocas.w
        ] {
            assert!(Instruction::decode(word, &ALL).is_some());
            assert_eq!(Instruction::decode(word, &without), None, "{word:#010x}");
        }
    }

    #[test]
    fn registers_above_15_are_illegal_for_rv32e() {
        let embedded = Isa { embedded: true, ..ALL };
        let legal = |word| Instruction::decode(word, &embedded).is_some();
        assert!(!legal(0x0000_8813)); // addi a6, ra, 0
        assert!(!legal(0x0108_0033)); // add x0, a6, a6
        assert!(legal(0x00f7_8733)); // add a4, a5, a5
        assert!(legal(0x0000_0fa3)); // sb zero, 31(zero): the offset is no register
        assert!(legal(0xcff0_2573)); // csrrs a0, 0xcff: neither is the number of a CSR
    }
}
