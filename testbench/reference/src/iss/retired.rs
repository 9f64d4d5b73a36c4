//! What retires in a cycle.

/// A warp was issued to a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpStart {
    /// The core.
    pub core: u8,
    /// The warp slot.
    pub slot: u8,
    /// packetIdx of lane 0.
    pub first_packet: u32,
    /// Threads: lanes 0 to `count - 1` run.
    pub count: u32,
}

/// A warp-instruction left the pipeline. Those of the boot sequence and of EXIT are told as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retired {
    /// The core.
    pub core: u8,
    /// The warp slot.
    pub slot: u8,
    /// Address of the instruction.
    pub pc: u32,
    /// Its word; 0 at EXIT and where it could not be fetched.
    pub instruction: u32,
    /// Lanes that executed it.
    pub active: u32,
    /// Lanes of these that faulted; the others completed it.
    pub faulting: u32,
    /// Cause of the fault, if a lane faulted.
    pub cause: u8,
    /// Destination register; 0: none.
    pub rd: u8,
    /// `rd` is written by [`LateWrite`]s: loads, divisions.
    pub late: bool,
    /// One value a lane: of a load or store its address, of `jalr` its target, at EXIT the address
    /// of the verdict, else the value written to `rd`, if it is not late.
    pub values: Vec<u32>,
    /// One value a lane: `rs2` of a store, at EXIT the verdict.
    pub store_data: Vec<u32>,
}

/// Values reached the registers after their instruction retired. A load may come in several, one a
/// memory line, each lane once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateWrite {
    /// The core.
    pub core: u8,
    /// The warp slot.
    pub slot: u8,
    /// The register.
    pub rd: u8,
    /// Lanes that are written.
    pub lanes: u32,
    /// One value a lane.
    pub values: Vec<u32>,
}

/// Everything of one cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceCycle {
    /// Warps that were issued.
    pub starts: Vec<WarpStart>,
    /// Warp-instructions that retired, at most one a core.
    pub retired: Vec<Retired>,
    /// Late writes, at most one a core.
    pub late_writes: Vec<LateWrite>,
}

impl TraceCycle {
    /// Forgets the cycle, so that the next can be told.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.retired.clear();
        self.late_writes.clear();
    }
}

/// The lanes in `set`, ascending.
pub fn lanes(set: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| set >> lane & 1 != 0)
}
