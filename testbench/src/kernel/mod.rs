//! Packet kernels: the known apps, building from source, loading from ELF.

mod apps;
mod build;
mod elf;
#[cfg(test)]
mod interpreter;

pub use apps::{App, APPS};
pub use build::{build, build_source, BuildError, HERMES_H, PACKET_INC};
pub use elf::{Executable, Kernel, KernelError, RegisterClass, Segment};
