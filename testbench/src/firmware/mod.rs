//! Firmware of the command processor: building from source, loading from ELF, running beside
//! packets, and what to tell when it fails.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `build` | C and assembly with the library of `kernels-asm/firmware` |
//! | `code` | [`Code`]: kernel and firmware of a run, for what explains addresses |
//! | `debug` | [`Debugger`]: stop, step, registers, memory, breakpoints |
//! | `handlers` | whether what is armed for user-level interrupts ends with ERETURN |
//! | `image` | [`Firmware`]: an ELF file, checked, with functions and lines |
//! | `session` | the host's side while firmware runs: console, mailbox, how it ended |

mod build;
mod code;
mod debug;
mod handlers;
mod image;
mod session;
#[cfg(test)]
mod tests;

pub use crate::kernel::Place;
pub use build::{build_firmware, build_firmware_with, firmware_registers, FirmwareOptions, HERMES_CP_H};
pub use code::Code;
pub use debug::{DebugError, Debugger, HartsStatus};
pub use image::Firmware;
pub use session::{FirmwareEnd, FirmwareLink};
