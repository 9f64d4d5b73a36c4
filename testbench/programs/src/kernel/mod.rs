//! Packet kernels: building from source, loading from ELF.

mod arch;
mod assembled;
mod build;
pub(crate) mod dependencies;
mod elf;
mod global_pointer;
mod language;
mod prefix;
mod source_map;
mod sources;
mod stack;
mod startup;
mod symbols;
mod tool;

pub use arch::Arch;
pub use assembled::build_words;
pub use build::{
    build, build_source, build_source_with, build_with, BuildError, BuildOptions, Compiler, KERNEL_ADDRESSES,
    WORK_FOLDER,
};
pub(crate) use build::{pass_rules, COMPILER};
pub use elf::{Executable, Kernel, KernelError, RegisterClass, Segment};
pub(crate) use prefix::PrefixMap;
pub use source_map::{base_name, behind, Place, SourceMap};
pub(crate) use sources::{built_in, read_source};
pub use sources::{write_headers, HERMES_H, PACKET_INC};
pub use stack::StackNeed;
pub(crate) use startup::Startup;
pub use symbols::{Binding, Symbol, SymbolError};
pub(crate) use tool::{make_once, write_file, ToolRun};
