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
    /// packetIdx of the lowest faulting lane; of spawned threads the number of the thread.
    pub packet: u32,
    /// The slot of the job, if it was one of spawned threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<u8>,
    /// The number of the network function of the warp, of an array with network functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<u8>,
}

/// Registers of a fault record, in the order of [`FaultRecord::from_words`]; the last one with a
/// thread spawner only.
const FAULT_REGISTERS: [&str; 5] = ["FAULT_INFO", "FAULT_PC", "FAULT_ADDRESS", "FAULT_PACKET", "FAULT_JOB"];
/// FAULT_JOB: the warp was one of spawned threads.
const SPAWNED: u32 = 1 << 4;

/// The registers of a fault record of an array with a thread spawner or without.
pub(crate) fn fault_registers(spawner: bool) -> &'static [&'static str] {
    &FAULT_REGISTERS[..if spawner { 5 } else { 4 }]
}

impl FaultRecord {
    /// A record by its registers, FAULT_INFO, FAULT_PC, FAULT_ADDRESS, FAULT_PACKET and FAULT_JOB,
    /// of which those that were not read are 0 or left out, of an array with so many network
    /// functions.
    #[must_use]
    pub fn from_words(words: &[u32], functions: u32) -> Self {
        let [info, pc, address, packet, job] =
            std::array::from_fn(|word| words.get(word).copied().unwrap_or(0));
        let field = |low: u32, bits: u32| (info >> low & ((1 << bits) - 1)) as u8;
        let (cause, core, slot, threads) = (field(0, 8), field(8, 5), field(16, 5), field(24, 6));
        let job = (job & SPAWNED != 0).then_some(job as u8 & 15);
        let function = (functions > 0).then_some(field(13, 3));
        Self { cause, core, slot, threads, pc, address, packet, job, function }
    }
}
