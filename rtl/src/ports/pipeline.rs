//! Between the stages of a core: what moves from stage to stage.

use crate::types::{AluControl, BSource, OperandSource};
use crate::types::{CallDepth, FaultCause, LaneMask, PacketIndex, PathKey, Pc, RegisterIndex, WarpSlot};
use hermes_hdl::prelude::*;

/// What the instruction in a stage does, but for the arithmetic of its lanes. It means nothing
/// while `valid` is low.
#[derive(Ports)]
#[registers(ControlRegisters)]
pub struct Controls {
    /// The stage holds an instruction.
    pub valid: Signal<In, Bit>,
    /// Destination register, 0 for none.
    pub rd: Signal<In, RegisterIndex>,
    /// Field `funct3` of the instruction.
    pub funct3: Signal<In, Bits<3>>,
    /// Immediate of the instruction. In stage X what is added to it for all lanes is part of it.
    pub immediate: Signal<In, Bits<32>>,
    /// Multiplication.
    pub multiply: Signal<In, Bit>,
    /// Division.
    pub divide: Signal<In, Bit>,
    /// The next path depends on the instruction.
    pub control: Signal<In, Bit>,
    /// Conditional branch.
    pub branch: Signal<In, Bit>,
    /// `jal`.
    pub jump: Signal<In, Bit>,
    /// `jalr`.
    pub jump_register: Signal<In, Bit>,
    /// The instruction is a load.
    pub load: Signal<In, Bit>,
    /// The instruction is a store.
    pub store: Signal<In, Bit>,
    /// One call level deeper.
    pub call: Signal<In, Bit>,
    /// One call level up.
    pub ret: Signal<In, Bit>,
    /// EXIT: the lanes end.
    pub exit: Signal<In, Bit>,
    /// The instruction belongs to the boot sequence and is not counted.
    pub boot: Signal<In, Bit>,
    /// Every lane faults.
    pub fault: Signal<In, Bit>,
    /// Cause of that fault.
    pub cause: Signal<In, FaultCause>,
    /// Value of that fault: the instruction word if it is illegal, the PC at a breakpoint or fetch
    /// error.
    pub fault_value: Signal<In, Bits<32>>,
    /// Next PC unless a lane jumps; `jal` takes its target from `immediate`.
    pub next_pc: Signal<In, Pc>,
    /// PC of the instruction, bits 31:2.
    pub pc: Signal<In, Pc>,
}

/// What of the instruction reaches stage W.
#[derive(Ports)]
#[registers(WriteControlRegisters)]
#[part_of(Controls)]
pub struct WriteControls {
    /// The stage holds an instruction.
    pub valid: Signal<In, Bit>,
    /// Destination register, 0 for none.
    pub rd: Signal<In, RegisterIndex>,
    /// Field `funct3` of the instruction.
    pub funct3: Signal<In, Bits<3>>,
    /// Multiplication.
    pub multiply: Signal<In, Bit>,
    /// Division.
    pub divide: Signal<In, Bit>,
    /// The next path depends on the instruction.
    pub control: Signal<In, Bit>,
    /// Conditional branch.
    pub branch: Signal<In, Bit>,
    /// `jal`.
    pub jump: Signal<In, Bit>,
    /// `jalr`.
    pub jump_register: Signal<In, Bit>,
    /// The instruction is a load.
    pub load: Signal<In, Bit>,
    /// The instruction is a store.
    pub store: Signal<In, Bit>,
    /// EXIT: the lanes end.
    pub exit: Signal<In, Bit>,
    /// The instruction belongs to the boot sequence and is not counted.
    pub boot: Signal<In, Bit>,
    /// Every lane faults.
    pub fault: Signal<In, Bit>,
    /// Cause of that fault.
    pub cause: Signal<In, FaultCause>,
    /// Value of that fault: the instruction word if it is illegal, the PC at a breakpoint or fetch
    /// error.
    pub fault_value: Signal<In, Bits<32>>,
    /// Next PC unless a lane jumps, bits 31:2.
    pub next_pc: Signal<In, Pc>,
    /// PC of the instruction, bits 31:2.
    pub pc: Signal<In, Pc>,
}

/// What the decoder finds out about an instruction, but for the arithmetic of its lanes.
#[derive(Ports)]
#[part_of(Controls)]
pub struct DecodedControls {
    /// Destination register; 0 when the instruction writes none.
    pub rd: Signal<In, RegisterIndex>,
    /// `funct3`: branch condition, size and sign of a load or store, which multiplication, division
    /// or count of bits.
    pub funct3: Signal<In, Bits<3>>,
    /// Immediate, sign-extended.
    pub immediate: Signal<In, Bits<32>>,
    /// Multiplication: `funct3` 0 mul, 1 mulh, 2 mulhsu, 3 mulhu.
    pub multiply: Signal<In, Bit>,
    /// Division or count of bits: `funct3` 0 clz, 1 ctz, 2 cpop, 4 div, 5 divu, 6 rem, 7 remu.
    pub divide: Signal<In, Bit>,
    /// Conditional branch.
    pub branch: Signal<In, Bit>,
    /// `jal`.
    pub jump: Signal<In, Bit>,
    /// `jalr`.
    pub jump_register: Signal<In, Bit>,
    /// The instruction is a load.
    pub load: Signal<In, Bit>,
    /// Store, including the verdict store of EXIT.
    pub store: Signal<In, Bit>,
    /// A jump that links to `ra` or `t0`: one level deeper.
    pub call: Signal<In, Bit>,
    /// A jump through `ra` or `t0` that links to no register: one level up.
    pub ret: Signal<In, Bit>,
}

/// What the hazard check must know of the instruction in a stage.
#[derive(Ports)]
#[part_of(Controls)]
#[part_of(WriteControls)]
pub struct InFlight {
    /// The stage holds an instruction.
    pub valid: Signal<In, Bit>,
    /// Destination register, 0 for none.
    pub rd: Signal<In, RegisterIndex>,
    /// The instruction is a load.
    pub load: Signal<In, Bit>,
    /// The instruction is a store.
    pub store: Signal<In, Bit>,
    /// Division.
    pub divide: Signal<In, Bit>,
}

/// Stage D to the hazard check: what the instruction needs. All of it follows from the form of the
/// word: whether it is legal is known too late for the check. A fault waits in stage W for the
/// long-latency results of its warp.
#[derive(Ports)]
pub struct HazardQuery {
    /// First source register, 0 for none.
    pub rs1: Signal<In, RegisterIndex>,
    /// Second source register, 0 for none.
    pub rs2: Signal<In, RegisterIndex>,
    /// Destination register, 0 for none.
    pub rd: Signal<In, RegisterIndex>,
    /// The instruction is a load.
    pub load: Signal<In, Bit>,
    /// Store, or the verdict store of EXIT.
    pub store: Signal<In, Bit>,
    /// The instruction is EXIT.
    pub exit: Signal<In, Bit>,
    /// The instruction is a `fence`.
    pub fence: Signal<In, Bit>,
    /// Division.
    pub divide: Signal<In, Bit>,
    /// Atomic instruction; it counts as a load as well, in all stages.
    pub atomic: Signal<In, Bit>,
}

/// What the instruction in stage D needs, by the form of its word, legal or not. But for `atomic`
/// it is known earlier than the rest of what the decoder tells.
#[derive(Ports)]
#[part_of(HazardQuery)]
pub struct FormQuery {
    /// First source register, 0 for none.
    pub rs1: Signal<In, RegisterIndex>,
    /// Second source register, 0 for none.
    pub rs2: Signal<In, RegisterIndex>,
    /// Destination register, 0 for none.
    pub rd: Signal<In, RegisterIndex>,
    /// The instruction is a load.
    pub load: Signal<In, Bit>,
    /// Store, including that of EXIT.
    pub store: Signal<In, Bit>,
    /// `fence`, of any kind.
    pub fence: Signal<In, Bit>,
    /// Division or count of bits.
    pub divide: Signal<In, Bit>,
    /// A legal atomic instruction that is not voided. `load` is high with it, since its result has
    /// a long latency.
    pub atomic: Signal<In, Bit>,
}

/// How the instruction in stage D accesses memory.
#[derive(Ports)]
#[part_of(HazardQuery)]
pub struct AccessQuery {
    /// The instruction is a load.
    pub load: Signal<In, Bit>,
    /// Store, including that of EXIT.
    pub store: Signal<In, Bit>,
    /// `fence`, of any kind.
    pub fence: Signal<In, Bit>,
    /// A legal atomic instruction; `load` is high with it.
    pub atomic: Signal<In, Bit>,
}

/// Registers that the instruction in stage D reads and writes.
#[derive(Ports)]
#[part_of(HazardQuery)]
pub struct RegisterUse {
    /// First source register, 0 for none.
    pub rs1: Signal<In, RegisterIndex>,
    /// Second source register, 0 for none.
    pub rs2: Signal<In, RegisterIndex>,
    /// Destination register, 0 for none.
    pub rd: Signal<In, RegisterIndex>,
}

/// The hazard check to stage D: which source registers are results that are still in the pipeline.
#[derive(Ports)]
pub struct Forwards {
    /// `rs1` is the result of the instruction in stage R.
    pub rs1_in_read: Signal<In, Bit>,
    /// `rs2` is the result of the instruction in stage R.
    pub rs2_in_read: Signal<In, Bit>,
    /// `rs1` is the result in stage X now.
    pub rs1_in_execute: Signal<In, Bit>,
    /// `rs1` is the result in stage W now.
    pub rs1_in_write: Signal<In, Bit>,
    /// `rs2` is the result in stage X now.
    pub rs2_in_execute: Signal<In, Bit>,
    /// `rs2` is the result in stage W now.
    pub rs2_in_write: Signal<In, Bit>,
}

/// Whether the instruction in a stage counts.
#[derive(Ports)]
#[part_of(Controls)]
pub struct Counted {
    /// The stage holds an instruction.
    pub valid: Signal<In, Bit>,
    /// The instruction is in the boot region, EXIT included: it does not count.
    pub boot: Signal<In, Bit>,
}

/// What the lanes compute in stage X.
#[derive(Ports)]
#[registers(ArithmeticRegisters)]
pub struct Arithmetic {
    /// Arithmetic operation, decoded.
    pub operation: Signal<In, AluControl>,
    /// Source of the second operand.
    pub b_source: Signal<In, BSource>,
    /// The instruction is an AES step, not `operation`.
    pub aes: Signal<In, Bit>,
    /// Byte of `rs2` that an AES step takes.
    pub byte_select: Signal<In, Bits<2>>,
    /// The AES step decrypts.
    pub aes_decrypt: Signal<In, Bit>,
    /// The AES step mixes columns.
    pub aes_middle: Signal<In, Bit>,
}

/// What the decoder finds out about the arithmetic of the lanes.
#[derive(Ports)]
#[part_of(Arithmetic)]
pub struct DecodedArithmetic {
    /// Source of the second operand.
    pub b_source: Signal<In, BSource>,
    /// An AES instruction.
    pub aes: Signal<In, Bit>,
    /// AES: byte of `rs2` that is substituted.
    pub byte_select: Signal<In, Bits<2>>,
    /// AES: decryption, else encryption.
    pub aes_decrypt: Signal<In, Bit>,
    /// AES: a middle round, which mixes columns.
    pub aes_middle: Signal<In, Bit>,
}

/// Stage R: where the lanes have their operands from.
#[derive(Ports)]
#[registers(OperandRegisters)]
pub struct Operands {
    /// Source of the value of `rs1`.
    pub rs1_source: Signal<In, OperandSource>,
    /// Source of the value of `rs2`.
    pub rs2_source: Signal<In, OperandSource>,
    /// Offset of the lane: bits of the lane index that count. Where there is no register `rs1`, the
    /// offset is the first operand; for this and the next three see
    /// [`ThreadIndex`](crate::core::ThreadIndex).
    pub offset_lanes: Signal<In, Bits<5>>,
    /// Offset of the lane: last lane that does not wrap around.
    pub offset_last: Signal<In, Bits<5>>,
    /// Offset of the lane: distance of two lanes; one bit is set.
    pub offset_step: Signal<In, Bits<32>>,
    /// Offset of the lane: bits of the offset that count.
    pub offset_mask: Signal<In, Bits<32>>,
}

/// Of which warp the instruction in a stage is, and on which path.
#[derive(Ports)]
#[registers(WarpContextRegisters)]
pub struct WarpContext<const LANES: usize> {
    /// Warp slot.
    pub slot: Signal<In, WarpSlot>,
    /// Call depth.
    pub depth: Signal<In, CallDepth>,
    /// Lanes that run the instruction.
    pub active: Signal<In, LaneMask<LANES>>,
    /// Lanes of the warp that have not ended.
    pub alive: Signal<In, LaneMask<LANES>>,
    /// Key of the pending path of the warp with the highest priority; all ones if there is none.
    pub waiting: Signal<In, PathKey>,
    /// packetIdx of lane 0.
    pub packet: Signal<In, PacketIndex>,
}

/// Where a warp goes on.
#[derive(Ports)]
pub struct PathContext<const LANES: usize> {
    /// Warp slot.
    pub slot: Signal<In, WarpSlot>,
    /// Next PC, bits 31:2.
    pub pc: Signal<In, Pc>,
    /// Call depth there.
    pub depth: Signal<In, CallDepth>,
    /// Lanes that run.
    pub active: Signal<In, LaneMask<LANES>>,
    /// Lanes that have not ended.
    pub alive: Signal<In, LaneMask<LANES>>,
    /// Key of the pending path with the highest priority, all ones if there is none. See
    /// `Lane::path_key`.
    pub waiting: Signal<In, PathKey>,
}

/// The instruction in stage D, but for its word.
#[derive(Ports)]
pub struct FetchedInstruction {
    /// Stage D holds an instruction that was not flushed.
    pub valid: Signal<In, Bit>,
    /// Warp slot of the instruction.
    pub slot: Signal<In, WarpSlot>,
    /// packetIdx of lane 0.
    pub packet: Signal<In, PacketIndex>,
    /// PC of the instruction, bits 31:2.
    pub pc: Signal<In, Pc>,
    /// The instruction is in the boot region and does not come from the cache.
    pub boot: Signal<In, Bit>,
    /// Lanes of its warp wait at the instruction after it, or may do so behind the boot sequence.
    pub meets: Signal<In, Bit>,
}

/// The instruction in stage I, before its word is known.
#[derive(Ports)]
#[registers(FetchAddressRegisters)]
pub struct FetchAddress {
    /// PC of the instruction, bits 31:2.
    pub pc: Signal<In, Pc>,
    /// The instruction is in the boot region and does not come from the cache.
    pub boot: Signal<In, Bit>,
}

/// Stage I: the instruction cache answers a lookup.
#[derive(Ports)]
pub struct FetchedWord {
    /// The instruction is in the cache.
    pub hit: Signal<In, Bit>,
    /// The instruction; meaningful with `hit`.
    pub word: Signal<In, Bits<32>>,
    /// Memory could not read the line of this instruction; only with `hit`.
    pub error: Signal<In, Bit>,
}

/// Stages that hold an atomic instruction.
#[derive(Ports)]
pub struct AtomicInFlight {
    /// Stage R.
    pub read: Signal<In, Bit>,
    /// Stage X.
    pub execute: Signal<In, Bit>,
    /// Stage W.
    pub write: Signal<In, Bit>,
}

/// Stage C looks up an instruction, if the stages advance.
#[derive(Ports)]
pub struct Lookup {
    /// An instruction is looked up. What is in the boot region does not come from the cache, but
    /// that is known too late.
    pub enable: Signal<Out, Bit>,
    /// Warp slot of the instruction.
    pub slot: Signal<Out, WarpSlot>,
    /// Address of the instruction, bits 31:2.
    pub word: Signal<Out, Pc>,
}

/// Stage W: what all lanes do with the instruction.
#[derive(Ports)]
pub struct LaneOutcome {
    /// The value written is the product.
    pub multiply: Signal<Out, Bit>,
    /// The value written is the return address; a register.
    pub link: Signal<Out, Bit>,
    /// The value written is the result; a register. At most one of this and the two before is high.
    pub plain: Signal<Out, Bit>,
    /// Return address.
    pub link_value: Signal<Out, Bits<32>>,
    /// Verdict of lanes that fault, 0xc000_0000 | cause.
    pub verdict: Signal<Out, Bits<32>>,
    /// Call depth after the instruction.
    pub path_depth: Signal<Out, CallDepth>,
    /// The next PC is the result.
    pub jump_register: Signal<Out, Bit>,
    /// The next PC is `target` in lanes whose condition holds.
    pub branch: Signal<Out, Bit>,
    /// Target of a branch or, of a load, store or fault, its own PC.
    pub target: Signal<Out, Pc>,
    /// Next PC of all other instructions.
    pub next_pc: Signal<Out, Pc>,
}

/// What a lane computes.
#[derive(Ports)]
pub struct LaneValues {
    /// Stage X: address of a load, a store or `jalr`.
    pub address: Signal<Out, Bits<32>>,
    /// Stage X: value of `rs1`, to which the immediate is added for the address.
    pub operand: Signal<Out, Bits<32>>,
    /// Stage X: the sum of `operand` and the immediate is 2^32 or more.
    pub carry: Signal<Out, Bit>,
    /// Stage W: arithmetic result, or the address of a load, store or `jalr`.
    pub result: Signal<Out, Bits<32>>,
    /// Stage W: the branch condition holds.
    pub taken: Signal<Out, Bit>,
}

/// What a lane computes, as the check of accesses needs it.
#[derive(Ports)]
#[part_of(LaneValues)]
pub struct CheckedValues {
    /// Stage X: address of a load, a store or `jalr`.
    pub address: Signal<Out, Bits<32>>,
    /// Stage X: value of `rs1`, to which the immediate is added for the address.
    pub operand: Signal<Out, Bits<32>>,
    /// Stage X: the sum of `operand` and the immediate is 2^32 or more.
    pub carry: Signal<Out, Bit>,
    /// Stage W: the branch condition holds.
    pub taken: Signal<Out, Bit>,
}

/// Stage X: how far the immediate is from the ends of an access window. See
/// [`AccessWindow`](crate::core::AccessWindow).
#[derive(Ports)]
pub struct WindowDistance {
    /// The immediate minus the first byte of the window, bits 32:6. Both are unsigned; the topmost
    /// bit is the sign. Bits 5:0 would be those of the immediate.
    pub from_base: Signal<In, Bits<27>>,
    /// The immediate minus the byte after the window, as `from_base`.
    pub from_end: Signal<In, Bits<27>>,
}

/// Stage X: lanes whose address is in the local window.
#[derive(Ports)]
pub struct LocalAccess<const LANES: usize> {
    /// Lanes that access their stack, whatever the windows say.
    pub granted: Signal<In, LaneMask<LANES>>,
    /// Lanes that access its guard, which is in no window.
    pub guarded: Signal<In, LaneMask<LANES>>,
}

/// The division in stage W, or count of bits, is offered to the divider.
#[derive(Ports)]
pub struct DivideStart<const LANES: usize> {
    /// The division is offered.
    pub valid: Signal<In, Bit>,
    /// Warp slot.
    pub slot: Signal<In, WarpSlot>,
    /// Destination register.
    pub rd: Signal<In, RegisterIndex>,
    /// Lanes that take part; at least one.
    pub lanes: Signal<In, LaneMask<LANES>>,
}

/// A load, a store or an atomic operation of stage W is offered to stage M. Address and data come
/// from the lanes.
#[derive(Ports)]
#[held]
pub struct MemoryRequest<const LANES: usize> {
    /// An operation is offered.
    pub valid: Signal<In, Bit>,
    /// The operation is accepted at this edge; a register.
    pub ready: Signal<Out, Bit>,
    /// The operation goes to the scratchpad, else to shared memory.
    pub scratchpad: Signal<In, Bit>,
    /// Warp slot.
    pub slot: Signal<In, WarpSlot>,
    /// Store (else load); of no meaning for an atomic operation.
    pub store: Signal<In, Bit>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub size: Signal<In, Bits<2>>,
    /// Loads: extend by the sign.
    pub signed: Signal<In, Bit>,
    /// Loads and atomic operations: destination register.
    pub rd: Signal<In, RegisterIndex>,
    /// Lanes that take part; at least one.
    pub mask: Signal<In, LaneMask<LANES>>,
}

/// Long-latency results of some lanes. When they are taken, at an edge, is said beside this group.
#[derive(Ports)]
pub struct LateResult<const LANES: usize> {
    /// Values of lanes are here.
    pub valid: Signal<Out, Bit>,
    /// Warp slot.
    pub slot: Signal<Out, WarpSlot>,
    /// Destination register.
    pub rd: Signal<Out, RegisterIndex>,
    /// Lanes whose values are here.
    pub lanes: Signal<Out, LaneMask<LANES>>,
    /// The instruction is complete with them.
    pub last: Signal<Out, Bit>,
}
