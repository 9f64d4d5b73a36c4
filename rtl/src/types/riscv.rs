//! Encodings of RISC-V, under the names of its specification: the unprivileged one, chapter
//! "RV32/64G Instruction Set Listings", and its extensions Zbb, Zacas, Zawrs, Zkne and Zknd; the
//! privileged one, version 1.12, for CSRs and causes. What is not standard says so.

/// Bits 6:0 of an instruction.
pub mod opcode {
    pub const LOAD: u64 = 0x03;
    /// Instructions of user-level interrupts; the standard leaves the opcode to implementations.
    pub const CUSTOM_0: u64 = 0x0b;
    pub const MISC_MEM: u64 = 0x0f;
    pub const OP_IMM: u64 = 0x13;
    pub const AUIPC: u64 = 0x17;
    pub const STORE: u64 = 0x23;
    pub const AMO: u64 = 0x2f;
    pub const OP: u64 = 0x33;
    pub const LUI: u64 = 0x37;
    pub const BRANCH: u64 = 0x63;
    pub const JALR: u64 = 0x67;
    pub const JAL: u64 = 0x6f;
    pub const SYSTEM: u64 = 0x73;
}

/// Bits 14:12 of an instruction; what they mean depends on its opcode and `funct7`.
pub mod funct3 {
    pub const JALR: u64 = 0;

    pub const ADD: u64 = 0;
    pub const SLL: u64 = 1;
    pub const SLT: u64 = 2;
    pub const SLTU: u64 = 3;
    pub const XOR: u64 = 4;
    pub const SRL: u64 = 5;
    pub const OR: u64 = 6;
    pub const AND: u64 = 7;

    pub const SUB: u64 = 0;
    pub const XNOR: u64 = 4;
    pub const SRA: u64 = 5;
    pub const ORN: u64 = 6;
    pub const ANDN: u64 = 7;

    pub const MULHU: u64 = 3;

    pub const ZEXT_H: u64 = 4;
    pub const MIN: u64 = 4;
    pub const MINU: u64 = 5;
    pub const MAX: u64 = 6;
    pub const MAXU: u64 = 7;
    pub const ROL: u64 = 1;
    pub const ROR: u64 = 5;

    /// A store of a word.
    pub const SW: u64 = 2;
    /// The atomic instructions of 32 bits.
    pub const AMO_W: u64 = 2;

    pub const FENCE: u64 = 0;
    pub const FENCE_I: u64 = 1;
    /// The instructions of SYSTEM without a CSR.
    pub const PRIV: u64 = 0;

    /// Of CUSTOM_0, not standard.
    pub const EMONITOR: u64 = 0;
    /// Of CUSTOM_0, not standard.
    pub const ERETURN: u64 = 1;
    /// Of CUSTOM_0, not standard.
    pub const SIGNAL: u64 = 2;
    /// Of CUSTOM_0, not standard.
    pub const SIGNAL_RANGE: u64 = 3;
}

/// What a CSR instruction does to its CSR: bits 13:12.
pub mod csr_access {
    pub const WRITE: u64 = 1;
    pub const SET: u64 = 2;
    pub const CLEAR: u64 = 3;
}

/// Bits 31:25 of an instruction.
pub mod funct7 {
    pub const BASE: u64 = 0x00;
    pub const MULDIV: u64 = 0x01;
    pub const ZEXT_H: u64 = 0x04;
    pub const MINMAX: u64 = 0x05;
    /// `sub`, `sra` and the logical instructions with an inverted operand.
    pub const ALTERNATE: u64 = 0x20;
    /// Rotations; as an immediate also what counts bits and extends signs.
    pub const ROTATE: u64 = 0x30;
    /// The bits by which an AES instruction is known.
    pub const AES_MASK: u64 = 0x19;
    /// What they are in one.
    pub const AES: u64 = 0x11;
}

/// Bits 24:20 of an instruction of Zbb with one operand and `funct7` ROTATE.
pub mod unary {
    pub const CLZ: u64 = 0;
    pub const CTZ: u64 = 1;
    pub const CPOP: u64 = 2;
    pub const SEXT_B: u64 = 4;
    pub const SEXT_H: u64 = 5;
}

/// Bits 31:20 of an instruction of Zbb with one operand and the `funct3` of SRL.
pub mod funct12 {
    pub const ORC_B: u64 = 0x287;
    pub const REV8: u64 = 0x698;
}

/// Bits 31:27 of an atomic instruction. Units that execute one have the operation in this form.
pub mod funct5 {
    pub const AMOADD: u64 = 0x00;
    pub const AMOSWAP: u64 = 0x01;
    pub const LR: u64 = 0x02;
    pub const SC: u64 = 0x03;
    pub const AMOXOR: u64 = 0x04;
    pub const AMOCAS: u64 = 0x05;
    pub const AMOOR: u64 = 0x08;
    pub const AMOAND: u64 = 0x0c;
    pub const AMOMIN: u64 = 0x10;
    pub const AMOMAX: u64 = 0x14;
    pub const AMOMINU: u64 = 0x18;
    pub const AMOMAXU: u64 = 0x1c;
}

/// Whole instructions.
pub mod instruction {
    pub const NOP: u64 = 0x0000_0013;
    pub const FENCE_I: u64 = 0x0000_100f;
    pub const ECALL: u64 = 0x0000_0073;
    pub const EBREAK: u64 = 0x0010_0073;
    pub const WFI: u64 = 0x1050_0073;
    pub const MRET: u64 = 0x3020_0073;
    /// `wrs.nto` and `wrs.sto`, in the bits of WRS_MASK.
    pub const WRS: u64 = 0x00d0_0073;
    /// The bits by which they are known.
    pub const WRS_MASK: u64 = 0xfeff_ffff;
    /// The end of a handler of a user-level interrupt; not standard.
    pub const ERETURN: u64 = 0x0000_100b;
}

/// Registers by their names in the calling convention.
pub mod register {
    pub const ZERO: u64 = 0;
    /// Link register.
    pub const RA: u64 = 1;
    /// Alternate link register.
    pub const T0: u64 = 5;
    pub const A0: u64 = 10;
}

/// Sizes of an access: bits 13:12 of a load or store.
pub mod size {
    pub const BYTE: u64 = 0;
    pub const HALF: u64 = 1;
    pub const WORD: u64 = 2;
}

/// Causes of exceptions (privileged specification, `mcause`).
pub mod cause {
    pub const INSTRUCTION_ADDRESS_MISALIGNED: u64 = 0;
    pub const INSTRUCTION_ACCESS_FAULT: u64 = 1;
    pub const ILLEGAL_INSTRUCTION: u64 = 2;
    pub const BREAKPOINT: u64 = 3;
    pub const LOAD_ADDRESS_MISALIGNED: u64 = 4;
    pub const LOAD_ACCESS_FAULT: u64 = 5;
    pub const STORE_ADDRESS_MISALIGNED: u64 = 6;
    pub const STORE_ACCESS_FAULT: u64 = 7;
    /// Environment call from machine mode.
    pub const ECALL: u64 = 11;
}

/// Interrupts of machine mode: causes, and bits of `mie` and `mip`.
pub mod interrupt {
    pub const SOFTWARE: u64 = 3;
    pub const TIMER: u64 = 7;
    pub const EXTERNAL: u64 = 11;
}

/// Numbers of CSRs.
pub mod csr {
    pub const MSTATUS: u64 = 0x300;
    pub const MISA: u64 = 0x301;
    pub const MIE: u64 = 0x304;
    pub const MTVEC: u64 = 0x305;
    pub const MSTATUSH: u64 = 0x310;
    pub const MCOUNTINHIBIT: u64 = 0x320;
    pub const MHPMEVENT3: u64 = 0x323;
    pub const MSCRATCH: u64 = 0x340;
    pub const MEPC: u64 = 0x341;
    pub const MCAUSE: u64 = 0x342;
    pub const MTVAL: u64 = 0x343;
    pub const MIP: u64 = 0x344;
    pub const MCYCLE: u64 = 0xb00;
    pub const MINSTRET: u64 = 0xb02;
    pub const MCYCLEH: u64 = 0xb80;
    pub const MINSTRETH: u64 = 0xb82;
    pub const CYCLE: u64 = 0xc00;
    pub const TIME: u64 = 0xc01;
    pub const INSTRET: u64 = 0xc02;
    pub const CYCLEH: u64 = 0xc80;
    pub const TIMEH: u64 = 0xc81;
    pub const INSTRETH: u64 = 0xc82;
    pub const MVENDORID: u64 = 0xf11;
    pub const MARCHID: u64 = 0xf12;
    pub const MIMPID: u64 = 0xf13;
    pub const MHARTID: u64 = 0xf14;
    pub const MCONFIGPTR: u64 = 0xf15;

    /// CP_DATA, for words of CP_EXECUTE; `dscratch0` of the standard.
    pub const CP_DATA: u64 = 0x7b2;
    /// The range that the data cache of the command processor passes by; not standard, as all that
    /// follow.
    pub const MUNCACHED: u64 = 0x7c0;
    /// Where the program goes on that a user-level interrupt stopped.
    pub const ULIEPC: u64 = 0x800;
    /// Block and context of user-level interrupts.
    pub const ULICTL: u64 = 0x801;
    /// Channels with a pending user-level interrupt.
    pub const ULIPEND: u64 = 0x802;
    /// Armed channels.
    pub const ULIARM: u64 = 0x803;
    /// Channel and scenario of the interrupt that is handled.
    pub const ULICAUSE: u64 = 0x804;
    /// Busy slots of the thread spawner.
    pub const SPAWNBUSY: u64 = 0x805;
    /// packetIdx, or the number of a spawned thread.
    pub const PACKET: u64 = 0xcc0;
    /// The lane of the thread.
    pub const LANE: u64 = 0xcc1;
    /// Its warp slot.
    pub const WARP_SLOT: u64 = 0xcc2;
    /// Its core.
    pub const CORE: u64 = 0xcc3;
    /// The address of the packet's ring slot, or ARG0 of a job.
    pub const RING_SLOT: u64 = 0xcc4;
    /// The address of the argument block, or ARG1 of a job.
    pub const ARGUMENT: u64 = 0xcc5;
    /// The top of the thread's stack.
    pub const STACK: u64 = 0xcc6;
    /// The slot of a spawned thread's job.
    pub const JOB: u64 = 0xcc7;
    /// The lowest lane that runs the instruction.
    pub const LOWEST_LANE: u64 = 0xccb;
}
