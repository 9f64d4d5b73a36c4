//! Reference simulator of the instruction set: plain and scalar, written from the RISC-V manuals.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `op`, `instruction` | the instructions, their encodings, decoding and encoding |
//! | `disassemble` | instructions as text |
//! | `hart`, `aes` | one hart: what every instruction does |
//! | `memory` | what a hart sees of memory; windows, scratchpad |
//! | `thread` | a thread of the array: boot sequence, CSRs, faults, EXIT |
//! | `alone` | runs an ELF file on a single hart |

mod aes;
mod alone;
mod disassemble;
mod hart;
#[cfg(test)]
mod hart_tests;
mod instruction;
mod memory;
mod op;
#[cfg(test)]
mod program_tests;
mod thread;

pub use alone::{Alone, End, Executed};
pub use disassemble::{csr_name, disassemble, register_name, Disassembly};
pub use hart::{Cause, Csrs, Fault, Hart, NoCsrs, Outcome};
pub use instruction::{Instruction, Isa};
pub use memory::{CoreMemory, LocalStack, Memory, Protection, Window, SCRATCHPAD_BASE, SCRATCHPAD_BYTES};
pub use op::{Class, Encoding, Extension, Format, Op, ENCODINGS};
pub use thread::{Counters, Machine, Place, Step, Thread, TrapEntry, BOOT_ADDRESS};
