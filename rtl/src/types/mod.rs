//! Plain types and constants that several folders use, and names of widths: what a number of so
//! many bits means.

mod alu_control;
mod network;
mod operands;
mod posted_command;
mod queue_row;
pub mod riscv;

pub use alu_control::{AluControl, AluOperation};
pub use network::{
    check_entries, code, command_operation, counter, net_table, NetIdentity, MOST_ENTRIES, QUEUE_PAIRS,
    REGIONS,
};
pub use operands::{BSource, OperandSource};
pub use posted_command::PostedCommand;
pub use queue_row::{event, CompletedCommand, QueueEvent, QueueRow, StagedCommand, MOST_QUEUES};

use hermes_hdl::prelude::Bits;

/// Index of a core in the array.
pub type CoreIndex = Bits<5>;

/// Warp slot of a core.
pub type WarpSlot = Bits<5>;

/// packetIdx: number of a packet since reset, modulo 2^32; in a warp of spawned threads the number
/// of a thread in its job.
pub type PacketIndex = Bits<32>;

/// Threads of a warp, 0 to 32.
pub type ThreadCount = Bits<6>;

/// One bit for each lane, lane 0 in bit 0.
pub type LaneMask<const LANES: usize> = Bits<LANES>;

/// Register of a thread, `x0` to `x31`.
pub type RegisterIndex = Bits<5>;

/// Address of an instruction, bits 31:2.
pub type Pc = Bits<30>;

/// Call depth of a path.
pub type CallDepth = Bits<6>;

/// Key of a path: the lowest is executed first (see `Lane::path_key`). All ones: no path.
pub type PathKey = Bits<36>;

/// Cause of a fault: RISC-V privileged specification, mcause of the exception; 24: the watchdog.
pub type FaultCause = Bits<5>;

/// Slot of a job of the thread spawner.
pub type JobSlot = Bits<4>;

/// Job of a warp: the slot of the job in bits 3:0; bit 4: the warp is one of spawned threads.
pub type WarpJob = Bits<5>;

/// Network function.
pub type FunctionIndex = Bits<3>;

/// Number of a line of 64 bytes: bits 31:6 of its address.
pub type LineAddress = Bits<26>;
