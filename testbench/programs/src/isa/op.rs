//! The instructions: names, encodings, operand formats.
//!
//! Encodings as in the RISC-V unprivileged specification 20240411, chapter "RV32/64G Instruction
//! Set Listings", the chapters "A" and "Zacas", the bit-manipulation extension 1.0.0 (Zbb) and the
//! scalar cryptography extension 1.0.1 (Zknd, Zkne).

/// Which extension brings an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// RV32I or RV32E, with Zicsr reads.
    Base,
    /// Multiplication and division.
    M,
    /// Basic bit manipulation.
    Zbb,
    /// AES rounds: Zkne and Zknd.
    Aes,
    /// Atomic operations.
    A,
    /// Compare-and-swap of words.
    Zacas,
    /// Waits for writes.
    Zawrs,
}

/// Operands of an instruction and where they stand in its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `rd, rs1, rs2`
    Register,
    /// `rd, rs1`
    Unary,
    /// `rd, rs1, immediate`: 12 bits, signed.
    Immediate,
    /// `rd, rs1, amount`: 5 bits.
    Shift,
    /// `rd, offset(rs1)`: loads and `jalr`.
    Indirect,
    /// `rs2, offset(rs1)`
    Store,
    /// `rs1, rs2, target`: offset of 13 bits, even.
    Branch,
    /// `rd, immediate`: the upper 20 bits.
    Upper,
    /// `rd, target`: offset of 21 bits, even.
    Jump,
    /// `rd, csr, x0`
    Csr,
    /// `rd, csr, 0`
    CsrImmediate,
    /// `rd, rs1, rs2, byte`: 2 bits.
    Byte,
    /// `rd, rs2, (rs1)`, with the bits `aq` and `rl`.
    Atomic,
    /// `rd, (rs1)`, with the bits `aq` and `rl`.
    Reserve,
    /// `predecessors, successors`
    Fence,
    /// No operands.
    None,
}

/// Instructions that use the same part of a core; the rows and columns of the hazard coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// One cycle in the lane: arithmetic, logic, shifts, `lui`, `auipc`, bit manipulation but for
    /// counts, AES.
    Alu,
    /// Multiplication.
    Mul,
    /// One lane after the other: division, remainder, count of bits.
    Div,
    /// Load.
    Load,
    /// Store.
    Store,
    /// Atomic operation, `lr.w` and `sc.w` among them.
    Atomic,
    /// Conditional branch.
    Branch,
    /// `jal`.
    Jump,
    /// `jalr`.
    Jalr,
    /// CSR read.
    Csr,
    /// `fence`.
    Fence,
    /// `ecall`, `ebreak`.
    System,
}

impl Class {
    /// The classes that take part in hazards, in the order of the report.
    pub const HAZARDS: [Self; 11] = [
        Self::Alu,
        Self::Mul,
        Self::Div,
        Self::Load,
        Self::Store,
        Self::Atomic,
        Self::Branch,
        Self::Jump,
        Self::Jalr,
        Self::Csr,
        Self::Fence,
    ];

    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alu => "alu",
            Self::Mul => "mul",
            Self::Div => "div",
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic",
            Self::Branch => "branch",
            Self::Jump => "jump",
            Self::Jalr => "jalr",
            Self::Csr => "csr",
            Self::Fence => "fence",
            Self::System => "system",
        }
    }
}

/// A row of the table of instructions.
#[derive(Clone, Copy, Debug)]
pub struct Encoding {
    /// The instruction.
    pub op: Op,
    /// Its name in assembly.
    pub name: &'static str,
    /// The extension that brings it.
    pub extension: Extension,
    /// Its operands.
    pub format: Format,
    /// Bits of the word that are fixed.
    pub mask: u32,
    /// Their values.
    pub value: u32,
}

macro_rules! table {
    ($($op:ident $name:literal $extension:ident $format:ident $mask:literal $value:literal;)*) => {
        /// An instruction, without its operands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Op {
            $(#[doc = concat!("`", $name, "`")] $op,)*
        }

        impl Op {
            /// Every instruction.
            pub const ALL: &'static [Self] = &[$(Self::$op,)*];
        }

        /// The table of instructions, in the order of [`Op::ALL`].
        pub const ENCODINGS: &[Encoding] = &[$(Encoding {
            op: Op::$op,
            name: $name,
            extension: Extension::$extension,
            format: Format::$format,
            mask: $mask,
            value: $value,
        },)*];
    };
}

table! {
    Lui     "lui"     Base Upper        0x0000_007f 0x0000_0037;
    Auipc   "auipc"   Base Upper        0x0000_007f 0x0000_0017;
    Jal     "jal"     Base Jump         0x0000_007f 0x0000_006f;
    Jalr    "jalr"    Base Indirect     0x0000_707f 0x0000_0067;
    Beq     "beq"     Base Branch       0x0000_707f 0x0000_0063;
    Bne     "bne"     Base Branch       0x0000_707f 0x0000_1063;
    Blt     "blt"     Base Branch       0x0000_707f 0x0000_4063;
    Bge     "bge"     Base Branch       0x0000_707f 0x0000_5063;
    Bltu    "bltu"    Base Branch       0x0000_707f 0x0000_6063;
    Bgeu    "bgeu"    Base Branch       0x0000_707f 0x0000_7063;
    Lb      "lb"      Base Indirect     0x0000_707f 0x0000_0003;
    Lh      "lh"      Base Indirect     0x0000_707f 0x0000_1003;
    Lw      "lw"      Base Indirect     0x0000_707f 0x0000_2003;
    Lbu     "lbu"     Base Indirect     0x0000_707f 0x0000_4003;
    Lhu     "lhu"     Base Indirect     0x0000_707f 0x0000_5003;
    Sb      "sb"      Base Store        0x0000_707f 0x0000_0023;
    Sh      "sh"      Base Store        0x0000_707f 0x0000_1023;
    Sw      "sw"      Base Store        0x0000_707f 0x0000_2023;
    Addi    "addi"    Base Immediate    0x0000_707f 0x0000_0013;
    Slti    "slti"    Base Immediate    0x0000_707f 0x0000_2013;
    Sltiu   "sltiu"   Base Immediate    0x0000_707f 0x0000_3013;
    Xori    "xori"    Base Immediate    0x0000_707f 0x0000_4013;
    Ori     "ori"     Base Immediate    0x0000_707f 0x0000_6013;
    Andi    "andi"    Base Immediate    0x0000_707f 0x0000_7013;
    Slli    "slli"    Base Shift        0xfe00_707f 0x0000_1013;
    Srli    "srli"    Base Shift        0xfe00_707f 0x0000_5013;
    Srai    "srai"    Base Shift        0xfe00_707f 0x4000_5013;
    Add     "add"     Base Register     0xfe00_707f 0x0000_0033;
    Sub     "sub"     Base Register     0xfe00_707f 0x4000_0033;
    Sll     "sll"     Base Register     0xfe00_707f 0x0000_1033;
    Slt     "slt"     Base Register     0xfe00_707f 0x0000_2033;
    Sltu    "sltu"    Base Register     0xfe00_707f 0x0000_3033;
    Xor     "xor"     Base Register     0xfe00_707f 0x0000_4033;
    Srl     "srl"     Base Register     0xfe00_707f 0x0000_5033;
    Sra     "sra"     Base Register     0xfe00_707f 0x4000_5033;
    Or      "or"      Base Register     0xfe00_707f 0x0000_6033;
    And     "and"     Base Register     0xfe00_707f 0x0000_7033;
    Fence   "fence"   Base Fence        0x0000_707f 0x0000_000f;
    Ecall   "ecall"   Base None         0xffff_ffff 0x0000_0073;
    Ebreak  "ebreak"  Base None         0xffff_ffff 0x0010_0073;
    WrsNto  "wrs.nto" Zawrs None        0xffff_ffff 0x00d0_0073;
    WrsSto  "wrs.sto" Zawrs None        0xffff_ffff 0x01d0_0073;
    // Reads only: the source must be x0 or 0.
    Csrrs   "csrrs"   Base Csr          0x000f_f07f 0x0000_2073;
    Csrrc   "csrrc"   Base Csr          0x000f_f07f 0x0000_3073;
    Csrrsi  "csrrsi"  Base CsrImmediate 0x000f_f07f 0x0000_6073;
    Csrrci  "csrrci"  Base CsrImmediate 0x000f_f07f 0x0000_7073;
    Mul     "mul"     M    Register     0xfe00_707f 0x0200_0033;
    Mulh    "mulh"    M    Register     0xfe00_707f 0x0200_1033;
    Mulhsu  "mulhsu"  M    Register     0xfe00_707f 0x0200_2033;
    Mulhu   "mulhu"   M    Register     0xfe00_707f 0x0200_3033;
    Div     "div"     M    Register     0xfe00_707f 0x0200_4033;
    Divu    "divu"    M    Register     0xfe00_707f 0x0200_5033;
    Rem     "rem"     M    Register     0xfe00_707f 0x0200_6033;
    Remu    "remu"    M    Register     0xfe00_707f 0x0200_7033;
    Andn    "andn"    Zbb  Register     0xfe00_707f 0x4000_7033;
    Orn     "orn"     Zbb  Register     0xfe00_707f 0x4000_6033;
    Xnor    "xnor"    Zbb  Register     0xfe00_707f 0x4000_4033;
    Clz     "clz"     Zbb  Unary        0xfff0_707f 0x6000_1013;
    Ctz     "ctz"     Zbb  Unary        0xfff0_707f 0x6010_1013;
    Cpop    "cpop"    Zbb  Unary        0xfff0_707f 0x6020_1013;
    SextB   "sext.b"  Zbb  Unary        0xfff0_707f 0x6040_1013;
    SextH   "sext.h"  Zbb  Unary        0xfff0_707f 0x6050_1013;
    ZextH   "zext.h"  Zbb  Unary        0xfff0_707f 0x0800_4033;
    Max     "max"     Zbb  Register     0xfe00_707f 0x0a00_6033;
    Maxu    "maxu"    Zbb  Register     0xfe00_707f 0x0a00_7033;
    Min     "min"     Zbb  Register     0xfe00_707f 0x0a00_4033;
    Minu    "minu"    Zbb  Register     0xfe00_707f 0x0a00_5033;
    Rol     "rol"     Zbb  Register     0xfe00_707f 0x6000_1033;
    Ror     "ror"     Zbb  Register     0xfe00_707f 0x6000_5033;
    Rori    "rori"    Zbb  Shift        0xfe00_707f 0x6000_5013;
    OrcB    "orc.b"   Zbb  Unary        0xfff0_707f 0x2870_5013;
    Rev8    "rev8"    Zbb  Unary        0xfff0_707f 0x6980_5013;
    Aes32Esi  "aes32esi"  Aes Byte      0x3e00_707f 0x2200_0033;
    Aes32Esmi "aes32esmi" Aes Byte      0x3e00_707f 0x2600_0033;
    Aes32Dsi  "aes32dsi"  Aes Byte      0x3e00_707f 0x2a00_0033;
    Aes32Dsmi "aes32dsmi" Aes Byte      0x3e00_707f 0x2e00_0033;

    LrW       "lr.w"      A Reserve     0xf9f0_707f 0x1000_202f;
    ScW       "sc.w"      A Atomic      0xf800_707f 0x1800_202f;
    AmoswapW  "amoswap.w" A Atomic      0xf800_707f 0x0800_202f;
    AmoaddW   "amoadd.w"  A Atomic      0xf800_707f 0x0000_202f;
    AmoxorW   "amoxor.w"  A Atomic      0xf800_707f 0x2000_202f;
    AmoandW   "amoand.w"  A Atomic      0xf800_707f 0x6000_202f;
    AmoorW    "amoor.w"   A Atomic      0xf800_707f 0x4000_202f;
    AmominW   "amomin.w"  A Atomic      0xf800_707f 0x8000_202f;
    AmomaxW   "amomax.w"  A Atomic      0xf800_707f 0xa000_202f;
    AmominuW  "amominu.w" A Atomic      0xf800_707f 0xc000_202f;
    AmomaxuW  "amomaxu.w" A Atomic      0xf800_707f 0xe000_202f;
    AmocasW   "amocas.w" Zacas Atomic   0xf800_707f 0x2800_202f;
}

impl Op {
    /// Its row of the table.
    pub const fn encoding(self) -> &'static Encoding {
        &ENCODINGS[self as usize]
    }

    /// Its name in assembly.
    pub const fn name(self) -> &'static str {
        self.encoding().name
    }

    /// The part of the core that it uses.
    pub const fn class(self) -> Class {
        match self {
            Self::Mul | Self::Mulh | Self::Mulhsu | Self::Mulhu => Class::Mul,
            Self::Div | Self::Divu | Self::Rem | Self::Remu | Self::Clz | Self::Ctz | Self::Cpop => {
                Class::Div
            }
            Self::Lb | Self::Lh | Self::Lw | Self::Lbu | Self::Lhu => Class::Load,
            Self::Sb | Self::Sh | Self::Sw => Class::Store,
            Self::LrW
            | Self::ScW
            | Self::AmoswapW
            | Self::AmoaddW
            | Self::AmoxorW
            | Self::AmoandW
            | Self::AmoorW
            | Self::AmominW
            | Self::AmomaxW
            | Self::AmominuW
            | Self::AmomaxuW
            | Self::AmocasW => Class::Atomic,
            Self::Beq | Self::Bne | Self::Blt | Self::Bge | Self::Bltu | Self::Bgeu => Class::Branch,
            Self::Jal => Class::Jump,
            Self::Jalr => Class::Jalr,
            Self::Csrrs | Self::Csrrc | Self::Csrrsi | Self::Csrrci => Class::Csr,
            Self::Fence | Self::WrsNto | Self::WrsSto => Class::Fence,
            Self::Ecall | Self::Ebreak => Class::System,
            _ => Class::Alu,
        }
    }

    /// Bytes that a load, store or atomic operation moves; 0 for all others.
    pub const fn access_bytes(self) -> u32 {
        if matches!(self.class(), Class::Atomic) {
            return 4;
        }
        match self {
            Self::Lb | Self::Lbu | Self::Sb => 1,
            Self::Lh | Self::Lhu | Self::Sh => 2,
            Self::Lw | Self::Sw => 4,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_belongs_to_two_instructions() {
        for (index, a) in ENCODINGS.iter().enumerate() {
            assert_eq!(a.op as usize, index);
            assert_eq!(a.value & !a.mask, 0, "{}", a.name);
            for b in &ENCODINGS[..index] {
                let common = a.mask & b.mask;
                assert_ne!(a.value & common, b.value & common, "{} and {}", a.name, b.name);
            }
        }
    }
}
