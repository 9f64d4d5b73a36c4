//! `hermes kernel build`, `hermes kernel info` and `hermes kernel headers`

use std::path::PathBuf;

use hermes_testbench::cosim::ArraySetup;
use hermes_testbench::input::number;
use hermes_testbench::kernel::{self, BuildOptions, Compiler, Kernel, RegisterClass, StackNeed, Symbol};

use crate::compile::CompileArgs;
use crate::files::Files;
use crate::print;

#[derive(clap::Subcommand)]
pub enum Command {
    /// Assemble or compile a kernel and link it for the array
    Build(BuildArgs),
    /// Show entry, size, register class, stack and symbols of a kernel
    Info(InfoArgs),
    /// Write the include files of kernels and the linker script, for editors and other build
    /// systems
    Headers(HeadersArgs),
}

#[derive(clap::Args)]
pub struct BuildArgs {
    /// Sources: .S or .s (GNU as; `.include "packet.inc"`) or .c (`#include <hermes.h>`), of which
    /// one has the function `kernel`
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// ELF file to write
    #[arg(short, long, value_name = "FILE.elf")]
    output: PathBuf,
    /// Use only 16 registers (RV32E): up to 32 warps a core instead of 16
    #[arg(long)]
    rv32e: bool,
    #[command(flatten)]
    compile: CompileArgs,
    /// Allow compare-and-swap, for arrays with --compare-and-swap, and atomic instructions: clang
    /// makes it of the atomic operations of C11, GCC of `hermes_compare_and_swap` alone
    #[arg(long)]
    compare_and_swap: bool,
    /// Allow AES instructions, for arrays with --aes
    #[arg(long)]
    aes: bool,
    /// Address of the kernel's first byte, a multiple of 64, decimal or 0x..., instead of 0x1000:
    /// for kernels that lie in one memory at a time
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    at: Option<u32>,
    /// Compiler of sources in C; clang has RV32E from version 18 on
    #[arg(long, value_enum, value_name = "gcc|clang", default_value = "gcc")]
    compiler: CompilerArg,
}

/// A compiler by its name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum CompilerArg {
    /// GCC for RISC-V.
    Gcc,
    /// Clang.
    Clang,
}

impl BuildArgs {
    fn options(&self) -> BuildOptions {
        let registers = if self.rv32e { RegisterClass::Rv32e } else { RegisterClass::Rv32i };
        BuildOptions {
            include: self.compile.include.clone(),
            defines: self.compile.defines.clone(),
            optimization: self.compile.optimization.clone(),
            atomics: self.compile.atomics,
            compare_and_swap: self.compare_and_swap,
            aes: self.aes,
            compiler: match self.compiler {
                CompilerArg::Gcc => Compiler::Gcc,
                CompilerArg::Clang => Compiler::Clang,
            },
            stack_bytes: Some(1 << ArraySetup::default().stack_bytes_log2),
            address: self.at,
            ..BuildOptions::new(registers)
        }
    }
}

/// An address.
fn address(text: &str) -> Result<u32, String> {
    number(text).ok_or_else(|| "expected an address below 2^32, decimal or 0x...".to_string())
}

#[derive(clap::Args)]
pub struct HeadersArgs {
    /// Folder to write them to; files of the same names are replaced
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

#[derive(clap::Args)]
pub struct InfoArgs {
    /// ELF file of the kernel
    file: PathBuf,
}

impl Command {
    /// What is read and written.
    pub fn files(&self) -> Files {
        match self {
            Self::Build(args) => {
                let files = Files::default().output("-o", Some(&args.output));
                args.sources.iter().fold(files, |files, source| {
                    files.input("SOURCE", Some(source)).file("SOURCE", Some(source))
                })
            }
            Self::Info(args) => Files::default().input("FILE", Some(&args.file)),
            // A folder of its own.
            Self::Headers(_) => Files::default(),
        }
    }
}

pub fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Build(args) => {
            args.compile.check()?;
            Ok(kernel::build_with(&args.sources, &args.options(), &args.output)?)
        }
        Command::Info(args) => print::line(info(&Kernel::read(&args.file)?)),
        Command::Headers(args) => Ok(kernel::write_headers(&args.output)?),
    }
}

/// What is in a kernel, as text.
fn info(kernel: &Kernel) -> String {
    let (name, warps) = match kernel.registers {
        RegisterClass::Rv32e => ("RV32E", 32),
        RegisterClass::Rv32i => ("RV32I", 16),
    };
    let mut lines = vec![
        format!("entry      {:#010x}", kernel.entry),
        format!("size       {} bytes", kernel.size()),
        format!("registers  {} ({name}): at most {warps} warps a core", kernel.registers.registers()),
        format!("stack      {}", stack(&StackNeed::of(kernel))),
    ];
    lines.extend(kernel.arch.as_ref().map(|arch| format!("built for  {arch}")));
    for segment in &kernel.segments {
        lines.push(format!("segment    {:#010x}, {} bytes", segment.address, segment.bytes.len()));
    }
    for Symbol { name, address, .. } in kernel.symbols.iter().filter(|symbol| !symbol.is_absolute) {
        lines.push(format!("symbol     {address:#010x} {name}"));
    }
    lines.join("\n")
}

/// The stack that a thread needs, as text.
fn stack(need: &StackNeed) -> String {
    let usual = 1 << ArraySetup::default().stack_bytes_log2;
    match need.stack_bytes() {
        Some(enough) if enough > usual => {
            format!("{need}, more than the {usual} that a thread gets without --stack-bytes {enough}")
        }
        _ => need.to_string(),
    }
}
