//! Caches and memory.

use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// Maintenance of the caches, and what passed between the array and memory.
#[register_block(MemoryRegisters)]
pub struct MemoryControl {
    /// Writing 1 to bit 0 drops every line of the instruction caches, to bit 1 every line of the L1
    /// data caches; write 3 after loading a kernel.
    #[register("INVALIDATE", 0x03c)]
    #[fields(instructions[0], data[1])]
    pub invalidate: WriteOnly<2>,
    /// AXI4 responses other than OKAY since reset, modulo 2^32.
    #[register("BUS_ERRORS", 0x05c)]
    pub bus_errors: ReadOnly<32>,
    /// Writing 1 to bit 0 writes all changed lines of the L2 to memory, to bit 1 also drops all its
    /// lines; bit 0 reads as 1 until the last write is acknowledged.
    #[register("L2_MAINTENANCE", 0x078)]
    #[fields(l2_clean[0], l2_invalidate[1])]
    #[state(l2_busy[0])]
    pub maintenance: Command<2>,
    /// Lines read from memory through all AXI4 channels, modulo 2^32.
    #[register("MEMORY_LINES_READ", 0x0d0)]
    pub lines_read: ReadOnly<32>,
    /// Lines written to memory through all AXI4 channels, wholly or in part, modulo 2^32.
    #[register("MEMORY_LINES_WRITTEN", 0x0d4)]
    pub lines_written: ReadOnly<32>,
}
