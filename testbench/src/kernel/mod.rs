//! Packet kernels: building from source, loading from ELF.

mod build;
mod elf;
#[cfg(test)]
pub(crate) mod interpreter;
mod source_map;

#[cfg(test)]
pub(crate) use build::build_words;
pub use build::{build, build_source, BuildError, HERMES_H, PACKET_INC};
pub(crate) use build::{run_tool, write_file, COMPILER};
pub use elf::{Executable, Kernel, KernelError, RegisterClass, Segment};
pub use source_map::{Place, SourceMap};
