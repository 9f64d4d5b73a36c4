//! The CSRs of machine mode.

use super::hart::Abilities;

/// The interrupts of machine mode, the most urgent first: external, software, timer. The numbers
/// are those of `mcause`, and of the bits of `mip` and `mie`.
pub const INTERRUPTS: [u32; 3] = [11, 3, 7];
/// Their bits in `mip` and `mie`.
const INTERRUPT_BITS: u32 = 1 << 11 | 1 << 7 | 1 << 3;
/// `mstatus`: interrupts are enabled.
const MIE: u32 = 1 << 3;
/// `mstatus`: interrupts were enabled before the trap.
const MPIE: u32 = 1 << 7;
/// `mstatus`: the trap came from machine mode, the only one.
const MPP: u32 = 3 << 11;
/// Bits of `mcause` that are there.
const CAUSE: u32 = 1 << 31 | 0x1f;

/// What instructions cannot know: the surroundings of the hart say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volatile {
    /// Bits 31:0 of `mcycle`.
    Cycle,
    /// Bits 63:32 of `mcycle`.
    CycleHigh,
    /// Bits 31:0 of `time`.
    Time,
    /// Bits 63:32 of `time`.
    TimeHigh,
    /// `mip`.
    Pending,
    /// `spawnbusy`.
    SpawnBusy,
}

/// What a CSR number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Csr {
    /// A value that the hart has, or a constant.
    Value(u32),
    /// A value that its surroundings have.
    Volatile(Volatile),
}

/// The CSRs of a hart, but for counters of cycles and pending interrupts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineCsrs {
    /// Number of the hart.
    pub hart: u32,
    /// `mstatus.MIE`.
    pub enabled: bool,
    /// `mstatus.MPIE`.
    pub enabled_before: bool,
    /// `mtvec`.
    pub vector: u32,
    /// `mie`.
    pub enable: u32,
    /// `mscratch`.
    pub scratch: u32,
    /// `mepc`.
    pub pc: u32,
    /// `mcause`.
    pub cause: u32,
    /// `mtval`.
    pub value: u32,
    /// `minstret`.
    pub retired: u64,
    /// `mcycle` less the cycles that the surroundings count.
    pub cycle_offset: u64,
    /// `muncached`, 0x7c0; a plain register here, since the reference has no data cache.
    pub uncached: u32,
}

impl MachineCsrs {
    /// Those of a hart after reset. What reset does not define is 0.
    #[must_use]
    pub fn new(hart: u32) -> Self {
        Self {
            hart,
            enabled: false,
            enabled_before: false,
            vector: 0,
            enable: 0,
            scratch: 0,
            pc: 0,
            cause: 0,
            value: 0,
            retired: 0,
            cycle_offset: 0,
            uncached: 0,
        }
    }

    /// The CSR with this number; `None` if it is illegal to name it.
    #[must_use]
    pub fn read(&self, number: u32, abilities: &Abilities) -> Option<Csr> {
        let value = match number {
            0x300 => MPP | u32::from(self.enabled_before) << 7 | u32::from(self.enabled) << 3,
            0x301 => abilities.misa(),
            0x304 => self.enable,
            0x305 => self.vector,
            0x340 => self.scratch,
            0x341 => self.pc,
            0x342 => self.cause,
            0x343 => self.value,
            0x344 => return Some(Csr::Volatile(Volatile::Pending)),
            // mstatush, mcountinhibit, mhpmevent3 to 31, mhpmcounter3 to 31, mhpmcounter3h to 31h
            0x310 | 0x320 | 0x323..=0x33f | 0xb03..=0xb1f | 0xb83..=0xb9f => 0,
            0x7c0 if abilities.uncached => self.uncached,
            0xb00 | 0xc00 => return Some(Csr::Volatile(Volatile::Cycle)),
            0xb80 | 0xc80 => return Some(Csr::Volatile(Volatile::CycleHigh)),
            0xc01 => return Some(Csr::Volatile(Volatile::Time)),
            0xc81 => return Some(Csr::Volatile(Volatile::TimeHigh)),
            0xb02 | 0xc02 => self.retired as u32,
            0xb82 | 0xc82 => (self.retired >> 32) as u32,
            // mvendorid, marchid, mimpid, mconfigptr
            0xf11..=0xf13 | 0xf15 => 0,
            0xf14 => self.hart,
            _ => return None,
        };
        Some(Csr::Value(value))
    }

    /// Writes the CSR with this number, one of those that [`Self::read`] has and that is no
    /// read-only one. Bits that cannot be written stay as they are. `cycle` is what the
    /// surroundings count. Gives whether `minstret` was written: then the instruction does not
    /// count.
    pub fn write(&mut self, number: u32, value: u32, cycle: u64) -> bool {
        match number {
            0x300 => {
                self.enabled = value & MIE != 0;
                self.enabled_before = value & MPIE != 0;
            }
            0x304 => self.enable = value & INTERRUPT_BITS,
            // Vectored: the base is a multiple of 64.
            0x305 => self.vector = if value & 1 == 0 { value & !3 } else { value & !0x3e },
            0x340 => self.scratch = value,
            0x341 => self.pc = value & !3,
            0x342 => self.cause = value & CAUSE,
            0x343 => self.value = value,
            0x7c0 => self.uncached = value,
            0xb00 => self.set_cycle(self.cycle(cycle) >> 32 << 32 | u64::from(value), cycle),
            0xb80 => self.set_cycle(self.cycle(cycle) & 0xffff_ffff | u64::from(value) << 32, cycle),
            0xb02 => self.retired = self.retired >> 32 << 32 | u64::from(value),
            0xb82 => self.retired = self.retired & 0xffff_ffff | u64::from(value) << 32,
            _ => {}
        }
        matches!(number, 0xb02 | 0xb82)
    }

    /// `mcycle` when the surroundings count `cycle`.
    #[must_use]
    pub fn cycle(&self, cycle: u64) -> u64 {
        cycle.wrapping_add(self.cycle_offset)
    }

    fn set_cycle(&mut self, value: u64, cycle: u64) {
        self.cycle_offset = value.wrapping_sub(cycle);
    }

    /// A trap is entered: gives the PC of its handler.
    pub fn enter(&mut self, pc: u32, cause: u32, value: u32) -> u32 {
        self.pc = pc;
        self.cause = cause;
        self.value = value;
        self.enabled_before = self.enabled;
        self.enabled = false;
        let base = self.vector & !3;
        let vectored = self.vector & 1 != 0 && cause >> 31 != 0;
        if vectored {
            base.wrapping_add(4 * (cause & 0x1f))
        } else {
            base
        }
    }

    /// `mret`: gives the PC at which the interrupted program goes on.
    pub fn leave(&mut self) -> u32 {
        self.enabled = self.enabled_before;
        self.enabled_before = true;
        self.pc
    }

    /// The interrupt that is to be taken if `pending` is `mip`.
    #[must_use]
    pub fn interrupt(&self, pending: u32) -> Option<u32> {
        let wants = pending & self.enable;
        INTERRUPTS.into_iter().find(|interrupt| self.enabled && wants >> interrupt & 1 != 0)
    }
}
