//! The command processor.

use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// Control and state of the harts of the command processor.
#[register_block(CommandRegisters, part = CommandProcessor)]
pub struct CommandControl {
    /// Bit n: hart n runs; else it is held. A hart that is held does nothing more, but for stores
    /// that retired before. When nothing of it is outstanding (CP_QUIET) a hart whose bit is set
    /// starts, always at CP_ENTRY, even if the bit was clear for one write only. Bit 8: `ebreak`
    /// stops its hart, else it is a trap like other exceptions. Bit 10: FAULT_POP is the command
    /// processor's; else it is the host's. The pop of the other one has no effect.
    #[register("CP_CONTROL", 0x300, reserved = 0x200)]
    #[fields(run[7:0], breakpoint_stops[8], firmware_faults[10])]
    pub control: ReadWrite<11>,
    /// Bits 7:0: hart n is stopped, with its PC at the next instruction, until it is held or goes
    /// on (CP_STEP). Bits 15:8: it sleeps in `wfi`. Bits 23:16: it is stopped since its trap
    /// handler cannot run: an exception came before an instruction of the handler retired. Bits
    /// 27:24: harts that are there. Bits 28 and 29: MAILBOX_IN, MAILBOX_OUT is full. Bit 30: an
    /// error of CP_EXECUTE, until the next write to it. Bit 31: a hart executes the word of
    /// CP_EXECUTE.
    #[register("CP_STATUS", 0x304, reset = (config.command_threads as u32) << 24)]
    #[fields(stopped[7:0], waiting[15:8], locked[23:16], harts[27:24], mailbox_in_full[28], mailbox_out_full[29], debug_error[30], debug_busy[31])]
    pub status: ReadOnly<32>,
    /// Address of the first instruction of a hart.
    #[register("CP_ENTRY", 0x308, reset = 0x1_0000)]
    #[fields(entry[31:2])]
    pub start: ReadWrite<32>,
    /// Bit n: nothing of hart n is outstanding: no load, store, fetch, access to a device or
    /// division. Zero for harts that are not there.
    #[register("CP_QUIET", 0x318, reset = (1 << config.command_threads) - 1)]
    pub quiet: ReadOnly<8>,
}
