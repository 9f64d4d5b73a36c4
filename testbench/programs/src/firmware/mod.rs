//! Firmware of the command processor: building from source, loading from ELF, and what to tell
//! when it fails.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `build` | C and assembly with the library of `kernels-asm/firmware` |
//! | `end` | how it ends |
//! | `program` | programs in C and assembly that have the harts to themselves |
//! | `handlers` | whether what is armed for user-level interrupts ends with ERETURN |
//! | `image` | [`Firmware`]: an ELF file, checked, with functions and lines |

mod build;
mod end;
mod handlers;
mod image;
mod program;

pub use crate::kernel::Place;
pub use build::{build_firmware, build_firmware_with, firmware_registers, FirmwareOptions, HERMES_CP_H};
pub use end::{FirmwareEnd, MESSAGE_WORDS};
pub use image::Firmware;
pub use program::build_program;
