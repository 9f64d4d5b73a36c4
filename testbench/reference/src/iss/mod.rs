//! Reference simulator of the instruction set: plain and scalar, written from the RISC-V manuals.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `hart`, `aes` | one hart: what every instruction does |
//! | `image` | the contents of the shared memory |
//! | `memory` | what a hart sees of memory; windows, scratchpad |
//! | `thread` | a thread of the array: boot sequence, CSRs, faults, EXIT |
//! | `warp` | a warp of threads, executed along the preferred path |
//! | `retired` | what retires in a cycle, as the array tells it and as a warp must |
//! | `alone` | runs an ELF file on a single hart |

mod aes;
mod alone;
mod hart;
#[cfg(test)]
mod hart_tests;
mod image;
mod memory;
#[cfg(test)]
mod program_tests;
mod retired;
mod thread;
mod warp;

pub use crate::isa::{
    csr_name, disassemble, register_name, Class, Disassembly, Encoding, Extension, Format, Instruction, Isa,
    Op, ENCODINGS,
};
pub use alone::{Alone, End, Executed};
pub use hart::{Cause, Csrs, Fault, Hart, NoCsrs, Outcome};
pub use image::{AddressError, MemoryImage, LINE};
pub use memory::{CoreMemory, LocalStack, Memory, Protection, Window, SCRATCHPAD_BASE, SCRATCHPAD_BYTES};
pub use retired::{lanes, LateWrite, Retired, TraceCycle, WarpStart};
pub use thread::{Counters, Machine, Place, Step, Thread, TrapEntry, BOOT_ADDRESS};
pub use warp::{Expected, Warp, WarpMemory};
