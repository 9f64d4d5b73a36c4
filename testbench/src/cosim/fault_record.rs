//! Records of the fault FIFO.

/// A record of the fault FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FaultRecord {
    /// Cause as in the RISC-V privileged specification.
    pub cause: u8,
    /// The core.
    pub core: u8,
    /// Its warp slot.
    pub slot: u8,
    /// Threads of the warp that faulted together.
    pub threads: u8,
    /// Address of the instruction.
    pub pc: u32,
    /// What RISC-V writes to mtval for this cause, of the lowest faulting lane.
    pub address: u32,
    /// packetIdx of the lowest faulting lane.
    pub packet: u32,
}

/// Registers of a fault record, in the order of [`FaultRecord::from_words`].
pub(super) const FAULT_REGISTERS: [&str; 4] = ["FAULT_INFO", "FAULT_PC", "FAULT_ADDRESS", "FAULT_PACKET"];

impl FaultRecord {
    pub(super) fn from_words([info, pc, address, packet]: [u32; 4]) -> Self {
        let field = |low: u32, bits: u32| (info >> low & ((1 << bits) - 1)) as u8;
        let (cause, core, slot, threads) = (field(0, 8), field(8, 5), field(16, 5), field(24, 6));
        Self { cause, core, slot, threads, pc, address, packet }
    }
}
