//! What retires in a core: for verification, and for a trace buffer.

use crate::types::{FaultCause, LaneMask, RegisterIndex, WarpSlot};
use hermes_hdl::prelude::*;

/// What a core did in a cycle, in the spirit of the RISC-V Formal Interface.
#[derive(Ports)]
pub struct Trace {
    /// An instruction that is fetched.
    pub fetch: Fetch,
    /// A warp-instruction that retires.
    pub retire: Retire,
    /// Values that are written to registers after their instruction retired.
    pub late: LateWrite,
}

/// An instruction that is looked up in the instruction cache in this cycle (stage C). It may miss,
/// or be flushed later.
#[derive(Ports)]
pub struct Fetch {
    /// An instruction is looked up.
    pub valid: Signal<Out, Bit>,
    /// Warp slot of the instruction.
    pub slot: Signal<Out, Bits<5>>,
    /// PC of the instruction.
    pub pc: Signal<Out, Bits<32>>,
}

/// A warp-instruction that retires in this cycle. The values of the lanes stand side by side, lane
/// 0 in the lowest 32 bits; those of lanes that the core does not have are 0.
#[derive(Ports)]
pub struct Retire {
    /// An instruction retires.
    pub valid: Signal<Out, Bit>,
    /// Warp slot of the instruction.
    pub slot: Signal<Out, Bits<5>>,
    /// PC of the instruction.
    pub pc: Signal<Out, Bits<32>>,
    /// Word of the instruction.
    pub instruction: Signal<Out, Bits<32>>,
    /// Lanes that execute the instruction.
    pub active: Signal<Out, Bits<32>>,
    /// Lanes that execute the instruction and fault.
    pub faulting: Signal<Out, Bits<32>>,
    /// Cause of the fault.
    pub cause: Signal<Out, Bits<5>>,
    /// Destination register, 0 for none.
    pub rd: Signal<Out, Bits<5>>,
    /// The destination is written later.
    pub late: Signal<Out, Bit>,
    /// Values written, addresses of loads and stores, targets of `jalr`.
    pub value: Signal<Out, Bits<1024>>,
    /// Values of `rs2`.
    pub store_data: Signal<Out, Bits<1024>>,
}

/// Values of a load or a division that are written to a register in this cycle; lanes as in
/// [`Retire`].
#[derive(Ports)]
pub struct LateWrite {
    /// Values are written.
    pub valid: Signal<Out, Bit>,
    /// Warp slot of the instruction.
    pub slot: Signal<Out, Bits<5>>,
    /// The register.
    pub rd: Signal<Out, Bits<5>>,
    /// Lanes whose values are written.
    pub lanes: Signal<Out, Bits<32>>,
    /// The values.
    pub value: Signal<Out, Bits<1024>>,
}

/// What retires in a core in a cycle, for a trace buffer: as [`Trace`], without instructions and
/// values.
#[derive(Ports)]
pub struct CoreTrace<const LANES: usize> {
    /// An instruction retires.
    pub valid: Signal<Out, Bit>,
    /// Warp slot of the instruction.
    pub slot: Signal<Out, WarpSlot>,
    /// PC of the instruction, which is a multiple of 4.
    pub pc: Signal<Out, Bits<32>>,
    /// Lanes that execute the instruction.
    pub active: Signal<Out, LaneMask<LANES>>,
    /// Lanes that execute the instruction and fault.
    pub faulting: Signal<Out, LaneMask<LANES>>,
    /// Cause of the fault.
    pub cause: Signal<Out, FaultCause>,
    /// Results of an instruction that retired before are written to a register.
    pub late_valid: Signal<Out, Bit>,
    /// Warp slot of that instruction.
    pub late_slot: Signal<Out, WarpSlot>,
    /// The register.
    pub late_rd: Signal<Out, RegisterIndex>,
    /// Lanes whose results are written.
    pub late_lanes: Signal<Out, LaneMask<LANES>>,
}
