//! Reference simulator of a hart of the command processor in machine mode, instruction by
//! instruction: what the RISC-V privileged specification and docs/command-processor.md say, with
//! user-level interrupts.
//!
//! The array decides *when* an interrupt or a user-level interrupt is taken, and what a counter,
//! the time or a register of the array reads; the simulator says whether that was allowed, and all
//! the rest. [`MachineSystem`] decides these itself: it runs a program without an array.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `hart` | [`MachineHart`]: a step is one instruction |
//! | `csrs` | the CSRs of machine mode |
//! | `channels` | the channels of user-level interrupts |
//! | `memory` | the address map: shared memory, local memory, timer, registers of the array |
//! | `system` | [`MachineSystem`]: harts with memory, timer, mailboxes and console, on their own |
//! | `generate` | random programs in machine mode |

mod channels;
mod csrs;
mod generate;
mod hart;
mod memory;
mod system;
#[cfg(test)]
mod tests;

pub use channels::{Channel, Channels};
pub use csrs::{Csr, MachineCsrs, Volatile, INTERRUPTS};
pub use generate::{machine_program, MachineProgram, Style};
pub use hart::{Abilities, Difference, MachineHart, Retired, State, Taken};
pub use memory::{Registers, Shared, Timer, LOCAL_BYTES, LOCAL_MEMORY, OUTSIDE, REGISTERS_BASE, TIMER_BASE};
pub use system::{Array, MachineSystem, SystemEnd};
