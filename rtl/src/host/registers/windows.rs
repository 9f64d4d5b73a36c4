//! The windows of memory that kernels may touch.

use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// The windows of memory that kernels may touch; the ports have addresses and sizes in lines of 64
/// bytes.
#[register_block(WindowRegisters)]
pub struct Windows {
    /// First byte of a window that kernels may load from, 64-byte aligned.
    #[register("READ_WINDOW_0_BASE", 0x100)]
    #[fields(read_0_base[31:6])]
    pub read_0_base: ReadWrite<32>,
    /// Bytes of this window, a multiple of 64; 0 = closed. An access outside all windows is a
    /// fault.
    #[register("READ_WINDOW_0_SIZE", 0x104, reset = 0xffff_ffc0)]
    #[fields(read_0_size[31:6])]
    pub read_0_size: ReadWrite<32>,
    /// First byte of a window that kernels may load from, 64-byte aligned.
    #[register("READ_WINDOW_1_BASE", 0x108)]
    #[fields(read_1_base[31:6])]
    pub read_1_base: ReadWrite<32>,
    /// Bytes of this window, a multiple of 64; 0 = closed. An access outside all windows is a
    /// fault.
    #[register("READ_WINDOW_1_SIZE", 0x10c)]
    #[fields(read_1_size[31:6])]
    pub read_1_size: ReadWrite<32>,
    /// First byte of a window that kernels may store to, 64-byte aligned.
    #[register("WRITE_WINDOW_0_BASE", 0x110)]
    #[fields(write_0_base[31:6])]
    pub write_0_base: ReadWrite<32>,
    /// Bytes of this window, a multiple of 64; 0 = closed. An access outside all windows is a
    /// fault.
    #[register("WRITE_WINDOW_0_SIZE", 0x114, reset = 0xffff_ffc0)]
    #[fields(write_0_size[31:6])]
    pub write_0_size: ReadWrite<32>,
    /// First byte of a window that kernels may store to, 64-byte aligned.
    #[register("WRITE_WINDOW_1_BASE", 0x118)]
    #[fields(write_1_base[31:6])]
    pub write_1_base: ReadWrite<32>,
    /// Bytes of this window, a multiple of 64; 0 = closed. An access outside all windows is a
    /// fault.
    #[register("WRITE_WINDOW_1_SIZE", 0x11c)]
    #[fields(write_1_size[31:6])]
    pub write_1_size: ReadWrite<32>,
}
