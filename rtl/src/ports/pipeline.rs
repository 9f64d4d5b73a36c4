//! Between the stages of a core: what moves from stage to stage.

use crate::core::{AluControl, BSource, OperandSource};
use crate::types::{CallDepth, FaultCause, LaneMask, PacketIndex, PathKey, Pc, RegisterIndex, WarpSlot};
use hermes_hdl::prelude::*;

/// What the instruction in a stage does, but for the arithmetic of its lanes. It means nothing while
/// `valid` is low.
#[derive(Ports)]
pub struct Controls {
    /// The stage holds an instruction.
    pub valid: Signal<In, Bit>,
    /// Destination register, 0 for none.
    pub rd: Signal<In, RegisterIndex>,
    /// `funct3`.
    pub funct3: Signal<In, Bits<3>>,
    /// Immediate. In stage X what is added to it for all lanes is part of it.
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
    /// Load.
    pub load: Signal<In, Bit>,
    /// Store.
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
    /// PC of the instruction.
    pub pc: Signal<In, Pc>,
}

/// What the hazard check must know of the instruction in a stage.
#[derive(Ports)]
#[part_of(Controls)]
pub struct InFlight {
    /// The stage holds an instruction.
    pub valid: Signal<In, Bit>,
    /// Destination register, 0 for none.
    pub rd: Signal<In, RegisterIndex>,
    /// Load.
    pub load: Signal<In, Bit>,
    /// Store.
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
    /// Load.
    pub load: Signal<In, Bit>,
    /// Store, or the verdict store of EXIT.
    pub store: Signal<In, Bit>,
    /// EXIT.
    pub exit: Signal<In, Bit>,
    /// `fence`.
    pub fence: Signal<In, Bit>,
    /// Division.
    pub divide: Signal<In, Bit>,
    /// Atomic instruction; it counts as a load as well, in all stages.
    pub atomic: Signal<In, Bit>,
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
    /// It is in the boot region, EXIT included: it does not count.
    pub boot: Signal<In, Bit>,
}

/// What the lanes compute in stage X.
#[derive(Ports)]
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

/// Stage R: where the lanes have their operands from.
#[derive(Ports)]
pub struct Operands {
    /// Where the value of `rs1` is.
    pub rs1_source: Signal<In, OperandSource>,
    /// Where the value of `rs2` is.
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
    /// Next PC.
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

/// Stage C looks up an instruction, if the stages advance.
#[derive(Ports)]
pub struct Lookup {
    /// An instruction is looked up. What is in the boot region does not come from the cache, but
    /// that is known too late.
    pub enable: Signal<Out, Bit>,
    /// Its warp slot.
    pub slot: Signal<Out, WarpSlot>,
    /// Its address.
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
    /// Stage X: that sum is 2^32 or more.
    pub carry: Signal<Out, Bit>,
    /// Stage W: arithmetic result, or the address of a load, store or `jalr`.
    pub result: Signal<Out, Bits<32>>,
    /// Stage W: the branch condition holds.
    pub taken: Signal<Out, Bit>,
}

/// A load, a store or an atomic operation of stage W is offered to stage M. Address and data come
/// from the lanes.
#[derive(Ports)]
pub struct MemoryRequest<const LANES: usize> {
    /// An operation is offered.
    pub valid: Signal<In, Bit>,
    /// It is accepted at this edge; a register.
    pub ready: Signal<Out, Bit>,
    /// It goes to the scratchpad, else to shared memory.
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
