//! Between the registers of the host and whoever runs or feeds kernels: how a kernel is to run.

use crate::host::registers::configuration::Configuration;
use crate::host::registers::windows::Windows;
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// What the threads of a kernel start with, and find in their CSRs.
#[derive(Ports)]
#[part_of(Configuration)]
pub struct KernelSetup {
    /// KERNEL_ENTRY register: address of the first instruction.
    pub kernel_entry: Signal<In, Bits<32>>,
    /// KERNEL_CLASS register: the kernel has 16 registers, not 32.
    pub kernel_class: Signal<In, Bit>,
    /// RING_BASE register: address of the packet ring in bytes.
    pub ring_base: Signal<In, Bits<32>>,
    /// RING_SLOTS_LOG2 register: slots of the ring, as a power of two.
    pub ring_slots_log2: Signal<In, Bits<5>>,
    /// SLOT_BYTES_LOG2 register: bytes of a ring slot, as a power of two.
    pub slot_bytes_log2: Signal<In, Bits<5>>,
    /// VERDICT_BASE register: address of the verdict array in bytes.
    pub verdict_base: Signal<In, Bits<32>>,
    /// ARGUMENT register: address of the argument block.
    pub argument: Signal<In, Bits<32>>,
    /// STACK_BASE register: address of the stack area in bytes.
    pub stack_base: Signal<In, Bits<32>>,
    /// STACK_BYTES_LOG2 register: bytes of a stack, as a power of two.
    pub stack_bytes_log2: Signal<In, Bits<5>>,
}

/// Where what belongs to a thread stands in memory.
#[derive(Ports)]
#[part_of(KernelSetup)]
pub struct ThreadPlaces {
    /// RING_BASE register: address of the packet ring in bytes.
    pub ring_base: Signal<In, Bits<32>>,
    /// RING_SLOTS_LOG2 register: slots of the ring, as a power of two.
    pub ring_slots_log2: Signal<In, Bits<5>>,
    /// SLOT_BYTES_LOG2 register: bytes of a ring slot, as a power of two.
    pub slot_bytes_log2: Signal<In, Bits<5>>,
    /// VERDICT_BASE register: address of the verdict array in bytes.
    pub verdict_base: Signal<In, Bits<32>>,
    /// ARGUMENT register: address of the argument block.
    pub argument: Signal<In, Bits<32>>,
    /// STACK_BASE register: address of the stack area in bytes.
    pub stack_base: Signal<In, Bits<32>>,
    /// STACK_BYTES_LOG2 register: bytes of a stack, as a power of two.
    pub stack_bytes_log2: Signal<In, Bits<5>>,
}

/// Where packets and verdicts stand in memory, for the packet ports.
#[derive(Ports)]
#[part_of(Configuration)]
pub struct PacketRing {
    /// RING_BASE register: address of the packet ring in bytes, a multiple of 64.
    pub ring_base: Signal<In, Bits<32>>,
    /// RING_SLOTS_LOG2 register: slots of the ring, as a power of two; 1 to 20.
    pub ring_slots_log2: Signal<In, Bits<5>>,
    /// SLOT_BYTES_LOG2 register: bytes of a ring slot, as a power of two; 7 to 16.
    pub slot_bytes_log2: Signal<In, Bits<5>>,
    /// VERDICT_BASE register: address of the verdict array in bytes, a multiple of 64.
    pub verdict_base: Signal<In, Bits<32>>,
}

/// Where packets stand in memory.
#[derive(Ports)]
#[part_of(PacketRing)]
pub struct RingPlaces {
    /// RING_BASE register: address of the packet ring in bytes, a multiple of 64.
    pub ring_base: Signal<In, Bits<32>>,
    /// RING_SLOTS_LOG2 register: slots of the ring, as a power of two; 1 to 20.
    pub ring_slots_log2: Signal<In, Bits<5>>,
    /// SLOT_BYTES_LOG2 register: bytes of a ring slot, as a power of two; 7 to 16.
    pub slot_bytes_log2: Signal<In, Bits<5>>,
}

/// Where verdicts stand in memory.
#[derive(Ports)]
#[part_of(PacketRing)]
pub struct VerdictPlaces {
    /// VERDICT_BASE register: address of the verdict array in bytes; bits 5:0 do not count.
    pub verdict_base: Signal<In, Bits<32>>,
    /// RING_SLOTS_LOG2 register: verdicts in the array, as a power of two.
    pub ring_slots_log2: Signal<In, Bits<5>>,
}

/// Where stacks stand in memory.
#[derive(Ports)]
#[part_of(KernelSetup)]
pub struct StackPlaces {
    /// STACK_BASE register: address of the stack area in bytes.
    pub stack_base: Signal<In, Bits<32>>,
    /// STACK_BYTES_LOG2 register: bytes of a stack, as a power of two.
    pub stack_bytes_log2: Signal<In, Bits<5>>,
}

/// How warps are formed and issued.
#[derive(Ports)]
#[part_of(Configuration)]
pub struct IssueControl {
    /// CONTROL register, bit 0: warps are formed and issued.
    pub run: Signal<In, Bit>,
    /// CONTROL register, bit 1: partial warps are formed at once for idle slots.
    pub eager: Signal<In, Bit>,
    /// MCW register: packet warps on a core at a time.
    pub mcw: Signal<In, Bits<6>>,
    /// TIMEOUT register, in cycles.
    pub timeout: Signal<In, Bits<32>>,
    /// KERNEL_CLASS register: the kernel has 16 registers, not 32.
    pub kernel_class: Signal<In, Bit>,
}

/// The windows that kernels may load from, for atomic instructions: in lines of 64 bytes.
#[derive(Ports)]
#[part_of(Windows)]
pub struct ReadWindows {
    /// READ_WINDOW_0_BASE register.
    pub read_0_base: Signal<In, LineAddress>,
    /// READ_WINDOW_0_SIZE register.
    pub read_0_size: Signal<In, Bits<26>>,
    /// READ_WINDOW_1_BASE register.
    pub read_1_base: Signal<In, LineAddress>,
    /// READ_WINDOW_1_SIZE register.
    pub read_1_size: Signal<In, Bits<26>>,
}

/// How warps are formed.
#[derive(Ports)]
#[part_of(IssueControl)]
pub struct FormerControl {
    /// CONTROL register, bit 0: warps are formed.
    pub run: Signal<In, Bit>,
    /// CONTROL register, bit 1: partial warps are formed at once for idle slots.
    pub eager: Signal<In, Bit>,
    /// TIMEOUT register, in cycles.
    pub timeout: Signal<In, Bits<32>>,
}

/// How many warps a core gets.
#[derive(Ports)]
#[part_of(IssueControl)]
pub struct SlotControl {
    /// CONTROL register, bit 0: warps are issued.
    pub run: Signal<In, Bit>,
    /// MCW register: packet warps on a core at a time.
    pub mcw: Signal<In, Bits<6>>,
    /// KERNEL_CLASS register: the kernel has 16 registers, not 32.
    pub kernel_class: Signal<In, Bit>,
}
