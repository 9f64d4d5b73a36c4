//! `hermes kernel build` and `hermes kernel info`

use std::path::PathBuf;

use hermes_testbench::kernel::{self, Kernel, RegisterClass};

use crate::files::Files;
use crate::print;

#[derive(clap::Subcommand)]
pub enum Command {
    /// Assemble or compile a kernel and link it for the array
    Build(BuildArgs),
    /// Show entry, size, register class and symbols of a kernel
    Info(InfoArgs),
}

#[derive(clap::Args)]
pub struct BuildArgs {
    /// Source: .S or .s (GNU as; `.include "packet.inc"`) or .c (`#include <hermes.h>`)
    source: PathBuf,
    /// ELF file to write
    #[arg(short, long, value_name = "FILE.elf")]
    output: PathBuf,
    /// Use only 16 registers (RV32E): up to 32 warps a core instead of 16
    #[arg(long)]
    rv32e: bool,
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
            Self::Build(args) => Files::default()
                .input("SOURCE", Some(&args.source))
                .file("SOURCE", Some(&args.source))
                .output("-o", Some(&args.output)),
            Self::Info(args) => Files::default().input("FILE", Some(&args.file)),
        }
    }
}

pub fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Build(args) => {
            let registers = if args.rv32e { RegisterClass::Rv32e } else { RegisterClass::Rv32i };
            Ok(kernel::build(&args.source, registers, &args.output)?)
        }
        Command::Info(args) => print::line(info(&Kernel::read(&args.file)?)),
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
    ];
    for segment in &kernel.segments {
        lines.push(format!("segment    {:#010x}, {} bytes", segment.address, segment.bytes.len()));
    }
    for (symbol, address) in &kernel.symbols {
        lines.push(format!("symbol     {address:#010x} {symbol}"));
    }
    lines.join("\n")
}
