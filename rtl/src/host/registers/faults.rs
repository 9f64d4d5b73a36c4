//! The faults of the threads.

use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// The faults of the threads, and the oldest record of the fault FIFO.
#[register_block(FaultRegisters)]
pub struct FaultRecords {
    /// Threads ended by a fault since reset, modulo 2^32.
    #[register("FAULTS", 0x058)]
    pub faults: ReadOnly<32>,
    /// Records in the fault FIFO in bits 15:0; records that it could not hold, modulo 2^16, in bits
    /// 31:16.
    #[register("FAULT_LEVEL", 0x060)]
    #[fields(level[15:0], dropped[31:16])]
    pub level: ReadOnly<32>,
    /// Oldest fault record: cause (RISC-V privileged specification; 24: the watchdog) in bits 4:0,
    /// core in bits 12:8, warp slot in bits 20:16, faulting threads of the warp in bits 29:24.
    #[register("FAULT_INFO", 0x064)]
    #[fields(cause[4:0], core[12:8], slot[20:16], threads[29:24])]
    pub info: ReadOnly<32>,
    /// Oldest fault record: address of the instruction.
    #[register("FAULT_PC", 0x068)]
    pub pc: ReadOnly<32>,
    /// Oldest fault record: the value that RISC-V writes to mtval for this cause, of the lowest
    /// faulting lane.
    #[register("FAULT_ADDRESS", 0x06c)]
    pub address: ReadOnly<32>,
    /// Oldest fault record: packetIdx of the lowest faulting lane.
    #[register("FAULT_PACKET", 0x070)]
    pub packet: ReadOnly<32>,
    /// Writing 1 removes the oldest fault record.
    #[register("FAULT_POP", 0x074)]
    pub pop: WriteOnly<1>,
}
