//! What the host library is given and what it says of the array: kernel, set-up, layout.

use super::adaptive::AdaptiveTimeout;
use crate::egress::EgressLists;
use crate::iss::{Isa, Machine, Protection};
use crate::kernel::Kernel;

/// A kernel as it goes into the shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelImage {
    /// First address and bytes of each part.
    pub segments: Vec<(u32, Vec<u8>)>,
    /// Address of the first instruction.
    pub entry: u32,
    /// Registers of a thread: 16 or 32.
    pub registers: u32,
}

impl From<&Kernel> for KernelImage {
    fn from(kernel: &Kernel) -> Self {
        Self {
            segments: kernel.segments.iter().map(|s| (s.address, s.bytes.clone())).collect(),
            entry: kernel.entry,
            registers: kernel.registers.registers() as u32,
        }
    }
}

/// How the array is to run a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArraySetup {
    /// Slots of the packet ring, as a power of two; at most 20.
    pub ring_slots_log2: u32,
    /// Bytes of a ring slot, as a power of two; 7 (128 bytes) to 16.
    pub slot_bytes_log2: u32,
    /// Maximally allowed concurrent warps per core.
    pub mcw: u32,
    /// Cycles that the oldest waiting packet waits for a full warp; with `adaptive` until the
    /// array has measured how packets arrive.
    pub timeout: u32,
    /// How this time follows the traffic, if it does.
    pub adaptive: Option<AdaptiveTimeout>,
    /// Whether a partial warp is formed at once when a warp slot is idle.
    pub eager: bool,
    /// Stack bytes of a thread, as a power of two; 4 to 16.
    pub stack_bytes_log2: u32,
    /// Cycles that a warp may be on a core before its lanes end with a fault, below 2^31; 0: any
    /// number.
    pub watchdog: u32,
    /// The kernel's argument block.
    pub argument: Vec<u8>,
    /// Where kernels describe frames that they send instead of those in the slots, if they do.
    pub egress: Option<EgressLists>,
}

impl Default for ArraySetup {
    /// A ring of 4,096 slots of 2 KiB, 4 warps a core, a time-out of 256 cycles, 256 bytes of
    /// stack, no watchdog, no argument.
    fn default() -> Self {
        Self {
            ring_slots_log2: 12,
            slot_bytes_log2: 11,
            mcw: 4,
            timeout: 256,
            adaptive: None,
            eager: false,
            stack_bytes_log2: 8,
            watchdog: 0,
            argument: Vec::new(),
            egress: None,
        }
    }
}

/// Where things are in the shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// First slot of the packet ring.
    pub ring_base: u32,
    /// First word of the verdict array.
    pub verdict_base: u32,
    /// First byte of the stacks.
    pub stack_base: u32,
    /// First byte of the argument block.
    pub argument: u32,
    /// The stacks are in the local window: their words are interleaved by lane.
    pub local_window: bool,
}

impl Layout {
    /// The machine on which `kernel` runs after [`Host::configure`](super::Host::configure):
    /// without windows and scratchpads.
    #[must_use]
    pub fn machine(&self, isa: Isa, lanes: u32, kernel: &KernelImage, setup: &ArraySetup) -> Machine {
        Machine {
            isa,
            lanes,
            kernel_entry: kernel.entry,
            ring_base: self.ring_base,
            ring_slots_log2: setup.ring_slots_log2,
            slot_bytes_log2: setup.slot_bytes_log2,
            verdict_base: self.verdict_base,
            argument: self.argument,
            stack_base: self.stack_base,
            stack_bytes_log2: setup.stack_bytes_log2,
            protection: Protection::Off,
            scratchpad: false,
            local_window: self.local_window,
            instret: false,
            network: false,
            watchdog: false,
            traps: None,
        }
    }
}

/// What the array says of itself in the CONFIG and QOS registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayInfo {
    /// Lanes of a core: threads of a warp.
    pub lanes: u32,
    /// Shader cores.
    pub cores: u32,
    /// Warp slots of a core.
    pub warps: u32,
    /// Stacks are in the local window.
    pub local_window: bool,
    /// There is a thread spawner.
    pub spawner: bool,
    /// There are load counters, as the QOS register says.
    pub load_counters: bool,
    /// Network functions that can share the array, as the NF_CONFIG register says; 0: none.
    pub functions: u32,
    /// Packets can branch by their verdicts, as that register says.
    pub function_branches: bool,
}
