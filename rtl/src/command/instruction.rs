//! What passes between the stages of the command processor.

use crate::types::AluControl;
use hermes_hdl::prelude::*;

/// An instruction from stage D on: what stages R and X make of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct CommandInstruction {
    /// Index of the hart.
    pub hart: Bits<3>,
    /// PC of the instruction, bits 31:2.
    pub pc: Bits<30>,
    /// Word of the instruction.
    pub word: Bits<32>,
    /// The word is one of CP_EXECUTE: the PC stays where it is but for a jump, and an exception
    /// enters no trap.
    pub debug: Bit,
    /// Destination register, 0 for none.
    pub rd: Bits<5>,
    /// Arithmetic operation; that of a branch makes its comparison.
    pub control: AluControl,
    /// The second operand is `immediate`, not `rs2`.
    pub takes_immediate: Bit,
    /// Immediate; of a branch, `jal` and `auipc` PC + immediate.
    pub immediate: Bits<32>,
    /// Conditional branch.
    pub branch: Bit,
    /// Stage D went on at the target: `jal`, or a branch backward.
    pub predicted: Bit,
    /// `jal`.
    pub jump: Bit,
    /// `jalr`.
    pub jump_register: Bit,
    /// The instruction is a load.
    pub load: Bit,
    /// The instruction is a store.
    pub store: Bit,
    /// Atomic operation.
    pub atomic: Bit,
    /// Count of bits.
    pub count: Bit,
    /// Multiplication.
    pub multiply: Bit,
    /// Division or remainder.
    pub divide: Bit,
    /// The result may be there in stage W only: a load, a product, SIGNAL.RANGE.
    pub late: Bit,
    /// The instruction waits until the stores of the hart are acknowledged: `fence` with stores
    /// before it, `fence.i`, SIGNAL, SIGNAL.RANGE, and a read of CSR 0x805.
    pub release: Bit,
    /// Later loads must see what others wrote before: `fence` with reads after it, `fence.i`, an
    /// atomic operation with `aq`.
    pub acquire: Bit,
    /// `fence.i`: the instructions behind it are fetched again.
    pub refetch: Bit,
    /// Reads a CSR.
    pub csr: Bit,
    /// Writes a CSR.
    pub csr_write: Bit,
    /// EMONITOR.
    pub monitor: Bit,
    /// ERETURN.
    pub leave: Bit,
    /// SIGNAL.RANGE.
    pub page: Bit,
    /// `mret`.
    pub trap_return: Bit,
    /// `wfi`.
    pub sleep: Bit,
    /// The instruction raises an exception.
    pub fault: Bit,
    /// Cause of the exception, as in `mcause`.
    pub cause: Bits<5>,
}

/// An instruction in stage W: what it would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct CommandResult {
    /// Index of the hart.
    pub hart: Bits<3>,
    /// PC of the instruction, bits 31:2.
    pub pc: Bits<30>,
    /// PC of the instruction after it, bits 31:2.
    pub next_pc: Bits<30>,
    /// Word of the instruction.
    pub word: Bits<32>,
    /// See [`CommandInstruction::debug`].
    pub debug: Bit,
    /// Destination register, 0 for none.
    pub rd: Bits<5>,
    /// Value for it, but for products and loads from the local memory or the data cache.
    pub value: Bits<32>,
    /// Address of a load, store or atomic operation; dividend; operand of CSR instructions; handler
    /// of EMONITOR, page of SIGNAL.RANGE; target of a jump that is not aligned.
    pub address: Bits<32>,
    /// Bytes of the word that a store writes.
    pub strobe: Bits<4>,
    /// The word that it writes; operand of an atomic operation; divisor; parameter of EMONITOR.
    pub data: Bits<32>,
    /// Load from the L2.
    pub load: Bit,
    /// Load or store of a device.
    pub device: Bit,
    /// Store to a device, or atomic operation other than `lr.w`: if it fails, that is the failure
    /// of a store.
    pub device_write: Bit,
    /// Atomic operation in the L2.
    pub atomic: Bit,
    /// Division or remainder: `address` by `data`.
    pub divide: Bit,
    /// The word is that of the load, access, atomic operation or division whose answer waits:
    /// `value` is that answer.
    pub answered: Bit,
    /// The access failed.
    pub failed: Bit,
    /// Store to the L2.
    pub store: Bit,
    /// Load from the local memory.
    pub local_load: Bit,
    /// Store to the local memory.
    pub local_store: Bit,
    /// Multiplication.
    pub multiply: Bit,
    /// See [`CommandInstruction::release`].
    pub release: Bit,
    /// See [`CommandInstruction::acquire`].
    pub acquire: Bit,
    /// See [`CommandInstruction::refetch`].
    pub refetch: Bit,
    /// Writes a CSR.
    pub csr_write: Bit,
    /// EMONITOR.
    pub monitor: Bit,
    /// ERETURN.
    pub leave: Bit,
    /// SIGNAL.RANGE.
    pub page: Bit,
    /// `mret`.
    pub trap_return: Bit,
    /// `wfi`.
    pub sleep: Bit,
    /// The instruction raises an exception.
    pub fault: Bit,
    /// Cause of the exception, as in `mcause`.
    pub cause: Bits<5>,
}

/// What becomes of the instruction in stage W in this cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct CommandOutcome {
    /// There is an instruction, and its hart runs.
    pub live: Bit,
    /// The instruction retires.
    pub retire: Bit,
    /// The value is written to the destination register.
    pub write: Bit,
    /// The store of the instruction goes to the store buffer.
    pub store: Bit,
    /// The instruction retires and empties the instruction cache.
    pub refetch: Bit,
    /// The instruction retires, and the instructions behind it are fetched again: `fence.i`, a
    /// write of a CSR, EMONITOR, `wfi`.
    pub restart: Bit,
    /// The instruction retires and changes when the hart is interrupted: a write of a CSR,
    /// EMONITOR, ERETURN, `mret`. Nothing is taken at this boundary.
    pub changes: Bit,
    /// The instruction is replayed when no store of its hart is outstanding.
    pub wait_stores: Bit,
    /// The instruction is replayed when the store buffer has a place for its store.
    pub wait_place: Bit,
    /// The instruction is replayed when no access to a device and no atomic operation is
    /// outstanding.
    pub wait_device: Bit,
    /// The instruction is replayed when no division is under way.
    pub wait_divide: Bit,
    /// A load, an access, an atomic operation or a division starts; it is replayed when the answer
    /// is here.
    pub starts: Bit,
    /// The instruction starts a load from the L2.
    pub load: Bit,
    /// The instruction starts an access to a device.
    pub device: Bit,
    /// The instruction starts an atomic operation.
    pub atomic: Bit,
    /// The instruction starts a division.
    pub divide: Bit,
    /// The instruction is a load that retires with a value from the data cache.
    pub cached: Bit,
    /// The instruction writes the local memory.
    pub local_store: Bit,
    /// The instruction raises an exception.
    pub exception: Bit,
    /// The exception is `ebreak`.
    pub breakpoint: Bit,
    /// Cause of the exception.
    pub cause: Bits<5>,
    /// Value for `mtval`, of an instruction that raises an exception.
    pub value: Bits<32>,
    /// Value that is written to a CSR: the operand, or the CSR with bits of it set or cleared.
    pub csr_value: Bits<32>,
}
