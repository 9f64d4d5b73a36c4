//! The retire trace of the command processor, for verification.

use hermes_hdl::prelude::*;

/// An instruction that retires or raises an exception in this cycle; names as in the RISC-V Formal
/// Interface.
#[derive(Ports)]
pub struct CommandTrace {
    /// An instruction retires, or raises an exception.
    pub valid: Signal<Out, Bit>,
    /// Hart of the instruction.
    pub hart: Signal<Out, Bits<3>>,
    /// PC of the instruction.
    pub pc_rdata: Signal<Out, Bits<32>>,
    /// PC of the instruction after it; of one that raises an exception the trap handler's.
    pub pc_wdata: Signal<Out, Bits<32>>,
    /// Word of the instruction.
    pub insn: Signal<Out, Bits<32>>,
    /// Destination register, 0 for none.
    pub rd: Signal<Out, Bits<5>>,
    /// Value for it.
    pub rd_wdata: Signal<Out, Bits<32>>,
    /// Address of a load or store.
    pub mem_addr: Signal<Out, Bits<32>>,
    /// The instruction raises an exception.
    pub trap: Signal<Out, Bit>,
    /// The instruction is the first of a trap handler, of an exception or an interrupt.
    pub intr: Signal<Out, Bit>,
    /// The instruction is the first after the hart was made to go on elsewhere between two
    /// instructions.
    pub uli: Signal<Out, Bit>,
}
