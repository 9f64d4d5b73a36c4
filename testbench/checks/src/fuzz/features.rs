//! What programs may use.

use crate::iss::Isa;

/// What the array has and what a program may use of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Multiplication and division.
    pub m: bool,
    /// Basic bit manipulation.
    pub zbb: bool,
    /// AES rounds.
    pub aes: bool,
    /// Atomic operations.
    pub atomics: bool,
    /// Compare-and-swap, with atomic operations.
    pub compare_and_swap: bool,
    /// 16 registers instead of 32.
    pub embedded: bool,
    /// The cores have scratchpads.
    pub scratchpad: bool,
    /// Stacks are in the local window.
    pub local_window: bool,
    /// Loads and stores are confined to windows.
    pub windows: bool,
    /// The CSR `instret`.
    pub instret: bool,
    /// The CSR `cycle`, whose value only a trace can tell.
    pub cycle: bool,
    /// What cores have with a network interface: the CSR 0xccb, and waits for writes (Zawrs).
    pub network: bool,
    /// Threads that fault.
    pub faults: bool,
    /// They do so often, in functions too, and alone: what faults goes to a trap entry.
    pub traps: bool,
}

impl Features {
    /// An array that executes RV32I, with faults but no traps.
    pub const RV32I: Self = Self {
        m: false,
        zbb: false,
        aes: false,
        atomics: false,
        compare_and_swap: false,
        embedded: false,
        scratchpad: false,
        local_window: false,
        windows: false,
        instret: false,
        cycle: false,
        network: false,
        faults: true,
        traps: false,
    };
    /// Everything but atomic operations and compare-and-swap, RV32E, the local window and what a
    /// network interface adds.
    pub const ALL: Self = Self {
        m: true,
        zbb: true,
        aes: true,
        atomics: false,
        compare_and_swap: false,
        embedded: false,
        scratchpad: true,
        local_window: false,
        windows: true,
        instret: true,
        cycle: true,
        network: false,
        faults: true,
        traps: false,
    };

    /// The instruction set.
    pub const fn isa(&self) -> Isa {
        Isa {
            m: self.m,
            zbb: self.zbb,
            aes: self.aes,
            atomics: self.atomics,
            compare_and_swap: self.atomics && self.compare_and_swap,
            zawrs: self.network,
            embedded: self.embedded,
        }
    }
}
