//! How the array is to run a kernel.

use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// How the array is to run a kernel.
#[register_block(ConfigurationRegisters)]
pub struct Configuration {
    /// Bit 0: run (warps are formed and issued). Bit 1: eager (a partial warp is formed at once
    /// when a warp slot is idle).
    #[register("CONTROL", 0x00c)]
    #[fields(run[0], eager[1])]
    pub control: ReadWrite<2>,
    /// Address of the packet ring in bytes, 64-byte aligned.
    #[register("RING_BASE", 0x010)]
    pub ring_base: ReadWrite<32>,
    /// Slots of the packet ring, as a power of two.
    #[register("RING_SLOTS_LOG2", 0x014, reset = 10)]
    pub ring_slots_log2: ReadWrite<5>,
    /// Bytes of a ring slot, as a power of two; at least 7 (128 bytes).
    #[register("SLOT_BYTES_LOG2", 0x018, reset = 11)]
    pub slot_bytes_log2: ReadWrite<5>,
    /// Address of the verdict array in bytes: one word for each ring slot.
    #[register("VERDICT_BASE", 0x01c)]
    pub verdict_base: ReadWrite<32>,
    /// Address of the kernel's first instruction.
    #[register("KERNEL_ENTRY", 0x020)]
    pub kernel_entry: ReadWrite<32>,
    /// Address of the kernel's argument block: a2 of every thread.
    #[register("ARGUMENT", 0x024)]
    pub argument: ReadWrite<32>,
    /// Address of the stack area in bytes: 32 stacks for each lane of each core, whatever the warp
    /// slots. With a local window it is a multiple of the lanes of a core times the bytes of a
    /// stack; lower bits count as 0.
    #[register("STACK_BASE", 0x028)]
    pub stack_base: ReadWrite<32>,
    /// Stack bytes of one thread, as a power of two; with a local window 4 to 16.
    #[register("STACK_BYTES_LOG2", 0x02c, reset = 8)]
    pub stack_bytes_log2: ReadWrite<5>,
    /// Maximally allowed concurrent warps per core; it may change between warps.
    #[register("MCW", 0x030, reset = 4)]
    pub mcw: ReadWrite<6>,
    /// Cycles that the oldest waiting packet waits for a full warp before a partial warp is formed.
    #[register("TIMEOUT", 0x034, reset = 256)]
    pub timeout: ReadWrite<32>,
    /// Registers of the kernel: 0 = 32 (at most 16 warps a core), 1 = 16 (RV32E, at most 32 warps a
    /// core).
    #[register("KERNEL_CLASS", 0x038)]
    pub kernel_class: ReadWrite<1>,
    /// Cycles that a warp may be on a core; 0: any number. The lanes of a warp that has been there
    /// for longer end with fault 24, at the next instruction that each of them would execute. It
    /// holds for warps that run already too.
    #[register("WATCHDOG", 0x07c)]
    pub watchdog: ReadWrite<31>,
    /// Core whose counters stand in the CORE_ registers.
    #[register("CORE_SELECT", 0x088)]
    pub core_select: ReadWrite<5>,
}
