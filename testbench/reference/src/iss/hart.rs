//! One hart: program counter, registers, one instruction a step.

use super::memory::Memory;
use super::{aes, Class, Op};
use super::{Instruction, Isa};

/// Bytes that `lr.w` reserves.
const LINE: u32 = hermes_rtl::config::LINE_BYTES as u32;

/// Causes of a fault, numbered as in `mcause` of the RISC-V privileged specification, which leaves
/// 24 to platforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cause {
    /// The target of a jump or taken branch is no multiple of 4.
    InstructionMisaligned = 0,
    /// The instruction cannot be fetched.
    InstructionAccess = 1,
    /// The word is no instruction.
    Illegal = 2,
    /// `ebreak`.
    Breakpoint = 3,
    /// The address of a load or `lr.w` is no multiple of its size.
    LoadMisaligned = 4,
    /// A load outside the read windows.
    LoadAccess = 5,
    /// The address of a store or atomic operation is no multiple of its size.
    StoreMisaligned = 6,
    /// A store outside the write windows.
    StoreAccess = 7,
    /// `ecall`.
    EnvironmentCall = 11,
    /// The warp ran for too long; no instruction does this by itself.
    Watchdog = 24,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Self; 10] = [
        Self::InstructionMisaligned,
        Self::InstructionAccess,
        Self::Illegal,
        Self::Breakpoint,
        Self::LoadMisaligned,
        Self::LoadAccess,
        Self::StoreMisaligned,
        Self::StoreAccess,
        Self::EnvironmentCall,
        Self::Watchdog,
    ];
}

/// Why an instruction could not be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The cause.
    pub cause: Cause,
    /// What RISC-V writes to `mtval`: target, address, instruction word, PC; 0 for `ecall`.
    pub value: u32,
}

/// The CSRs of a hart, which can only be read.
pub trait Csrs {
    /// The value of the CSR with this number (12 bits); `None` if there is none.
    fn read(&self, number: u32) -> Option<u32>;
}

/// No CSRs at all.
pub struct NoCsrs;

impl Csrs for NoCsrs {
    fn read(&self, _: u32) -> Option<u32> {
        None
    }
}

/// What an instruction did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Where the hart goes on.
    pub next_pc: u32,
    /// The value for the destination register.
    pub result: Option<u32>,
    /// Address of a load, store or atomic operation.
    pub address: Option<u32>,
    /// Value of `rs2` of a store or atomic operation.
    pub stored: Option<u32>,
}

/// A hart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hart {
    /// Address of the next instruction.
    pub pc: u32,
    /// The registers; x0 stays 0.
    pub x: [u32; 32],
    /// The line of 64 bytes that `lr.w` reserved.
    pub reservation: Option<u32>,
}

impl Hart {
    /// A hart at `pc` with all registers 0.
    pub const fn new(pc: u32) -> Self {
        Self { pc, x: [0; 32], reservation: None }
    }

    /// Fetches, decodes and executes the next instruction.
    ///
    /// # Errors
    /// [`Fault`]; the hart and the memory are as before.
    pub fn step(
        &mut self,
        isa: &Isa,
        memory: &mut impl Memory,
        csrs: &impl Csrs,
    ) -> Result<(Instruction, Outcome), Fault> {
        let word = memory.fetch(self.pc).map_err(|cause| Fault { cause, value: self.pc })?;
        let instruction =
            Instruction::decode(word, isa).ok_or(Fault { cause: Cause::Illegal, value: word })?;
        Ok((instruction, self.execute(instruction, memory, csrs)?))
    }

    /// Executes `instruction` at the present PC.
    ///
    /// # Errors
    /// [`Fault`]; the hart and the memory are as before.
    pub fn execute(
        &mut self,
        instruction: Instruction,
        memory: &mut impl Memory,
        csrs: &impl Csrs,
    ) -> Result<Outcome, Fault> {
        let Instruction { op, rd, rs1, rs2, immediate } = instruction;
        let (a, b) = (self.x[usize::from(rs1)], self.x[usize::from(rs2)]);
        let immediate = immediate as u32;
        let mut outcome =
            Outcome { next_pc: self.pc.wrapping_add(4), result: None, address: None, stored: None };
        let fault = |cause, value| Err(Fault { cause, value });
        match op {
            Op::Lui => outcome.result = Some(immediate),
            Op::Auipc => outcome.result = Some(self.pc.wrapping_add(immediate)),
            Op::Jal => {
                outcome.result = Some(outcome.next_pc);
                outcome.next_pc = self.pc.wrapping_add(immediate);
            }
            Op::Jalr => {
                outcome.result = Some(outcome.next_pc);
                outcome.next_pc = a.wrapping_add(immediate) & !1;
            }
            Op::Beq | Op::Bne | Op::Blt | Op::Bge | Op::Bltu | Op::Bgeu => {
                if taken(op, a, b) {
                    outcome.next_pc = self.pc.wrapping_add(immediate);
                }
            }
            Op::Lb | Op::Lh | Op::Lw | Op::Lbu | Op::Lhu => {
                let address = a.wrapping_add(immediate);
                let bytes = op.access_bytes();
                if address % bytes != 0 {
                    return fault(Cause::LoadMisaligned, address);
                }
                let value = memory.load(address, bytes).map_err(|cause| Fault { cause, value: address })?;
                self.reservation = None;
                outcome.address = Some(address);
                outcome.result = Some(match op {
                    Op::Lb => value as i8 as u32,
                    Op::Lh => value as i16 as u32,
                    _ => value,
                });
            }
            Op::Sb | Op::Sh | Op::Sw => {
                let address = a.wrapping_add(immediate);
                let bytes = op.access_bytes();
                if address % bytes != 0 {
                    return fault(Cause::StoreMisaligned, address);
                }
                memory.store(address, bytes, b).map_err(|cause| Fault { cause, value: address })?;
                self.reservation = None;
                outcome.address = Some(address);
                outcome.stored = Some(b);
            }
            Op::LrW => {
                if a % 4 != 0 {
                    return fault(Cause::LoadMisaligned, a);
                }
                let value = memory.load_reserved(a).map_err(|cause| Fault { cause, value: a })?;
                self.reservation = Some(a / LINE);
                outcome.address = Some(a);
                outcome.result = Some(value);
            }
            _ if op.class() == Class::Atomic => {
                if a % 4 != 0 {
                    return fault(Cause::StoreMisaligned, a);
                }
                let reserved = self.reservation == Some(a / LINE);
                let compared = self.x[usize::from(rd)];
                let change = |old| {
                    let writes = match op {
                        Op::ScW => reserved,
                        Op::AmocasW => old == compared,
                        _ => true,
                    };
                    writes.then(|| exchanged(op, old, b))
                };
                let old = memory.exchange(a, change).map_err(|cause| Fault { cause, value: a })?;
                outcome.address = Some(a);
                outcome.stored = Some(b);
                outcome.result = Some(old);
                self.reservation = None;
                if op == Op::ScW {
                    outcome.result = Some(u32::from(!reserved));
                }
            }
            Op::Csrrs | Op::Csrrc | Op::Csrrsi | Op::Csrrci => match csrs.read(immediate) {
                Some(value) => outcome.result = Some(value),
                None => return fault(Cause::Illegal, instruction.encode()),
            },
            Op::Fence | Op::WrsNto | Op::WrsSto => self.reservation = None,
            Op::Ecall => return fault(Cause::EnvironmentCall, 0),
            Op::Ebreak => return fault(Cause::Breakpoint, self.pc),
            _ => outcome.result = Some(compute(op, a, b, immediate)),
        }
        if outcome.next_pc % 4 != 0 {
            return fault(Cause::InstructionMisaligned, outcome.next_pc);
        }
        if let (Some(value), 1..) = (outcome.result, rd) {
            self.x[usize::from(rd)] = value;
        }
        self.pc = outcome.next_pc;
        Ok(outcome)
    }
}

/// The word that an atomic operation writes in the place of `old`.
fn exchanged(op: Op, old: u32, operand: u32) -> u32 {
    match op {
        Op::AmoaddW => old.wrapping_add(operand),
        Op::AmoxorW => old ^ operand,
        Op::AmoandW => old & operand,
        Op::AmoorW => old | operand,
        Op::AmominW => (old as i32).min(operand as i32) as u32,
        Op::AmomaxW => (old as i32).max(operand as i32) as u32,
        Op::AmominuW => old.min(operand),
        Op::AmomaxuW => old.max(operand),
        _ => operand,
    }
}

/// Whether a branch is taken.
fn taken(op: Op, a: u32, b: u32) -> bool {
    match op {
        Op::Beq => a == b,
        Op::Bne => a != b,
        Op::Blt => (a as i32) < b as i32,
        Op::Bge => a as i32 >= b as i32,
        Op::Bltu => a < b,
        _ => a >= b,
    }
}

/// Result of an instruction that only computes. `a` and `b` are the values of `rs1` and `rs2`.
fn compute(op: Op, a: u32, b: u32, immediate: u32) -> u32 {
    let (signed_a, signed_b) = (a as i32, b as i32);
    let wide = i64::from;
    match op {
        Op::Add => a.wrapping_add(b),
        Op::Addi => a.wrapping_add(immediate),
        Op::Sub => a.wrapping_sub(b),
        Op::Slt => u32::from(signed_a < signed_b),
        Op::Slti => u32::from(signed_a < immediate as i32),
        Op::Sltu => u32::from(a < b),
        Op::Sltiu => u32::from(a < immediate),
        Op::Xor => a ^ b,
        Op::Xori => a ^ immediate,
        Op::Or => a | b,
        Op::Ori => a | immediate,
        Op::And => a & b,
        Op::Andi => a & immediate,
        // Shifts and rotations use the low 5 bits of their amount.
        Op::Sll => a << (b & 31),
        Op::Slli => a << immediate,
        Op::Srl => a >> (b & 31),
        Op::Srli => a >> immediate,
        Op::Sra => (signed_a >> (b & 31)) as u32,
        Op::Srai => (signed_a >> immediate) as u32,
        Op::Mul => a.wrapping_mul(b),
        Op::Mulh => ((wide(signed_a) * wide(signed_b)) >> 32) as u32,
        Op::Mulhsu => ((wide(signed_a) * i64::from(b)) >> 32) as u32,
        Op::Mulhu => ((u64::from(a) * u64::from(b)) >> 32) as u32,
        // Division by zero gives all ones, its remainder the dividend; the overflow of the signed
        // division gives the dividend, its remainder 0.
        Op::Div if b == 0 => u32::MAX,
        Op::Div => signed_a.wrapping_div(signed_b) as u32,
        Op::Divu => a.checked_div(b).unwrap_or(u32::MAX),
        Op::Rem if b == 0 => a,
        Op::Rem => signed_a.wrapping_rem(signed_b) as u32,
        Op::Remu => a.checked_rem(b).unwrap_or(a),
        Op::Andn => a & !b,
        Op::Orn => a | !b,
        Op::Xnor => !(a ^ b),
        Op::Clz => a.leading_zeros(),
        Op::Ctz => a.trailing_zeros(),
        Op::Cpop => a.count_ones(),
        Op::SextB => a as i8 as u32,
        Op::SextH => a as i16 as u32,
        Op::ZextH => a & 0xffff,
        Op::Max => signed_a.max(signed_b) as u32,
        Op::Maxu => a.max(b),
        Op::Min => signed_a.min(signed_b) as u32,
        Op::Minu => a.min(b),
        Op::Rol => a.rotate_left(b & 31),
        Op::Ror => a.rotate_right(b & 31),
        Op::Rori => a.rotate_right(immediate),
        Op::OrcB => u32::from_le_bytes(a.to_le_bytes().map(|byte| if byte == 0 { 0 } else { 0xff })),
        Op::Rev8 => a.swap_bytes(),
        Op::Aes32Esi => aes::encrypt_last(a, b, immediate),
        Op::Aes32Esmi => aes::encrypt_middle(a, b, immediate),
        Op::Aes32Dsi => aes::decrypt_last(a, b, immediate),
        Op::Aes32Dsmi => aes::decrypt_middle(a, b, immediate),
        _ => unreachable!("{} is handled by its caller", op.name()),
    }
}
