//! `hermes firmware build` and `hermes firmware info`

use std::path::PathBuf;

use hermes_testbench::firmware::{build_firmware_with, Firmware, FirmwareOptions};
use hermes_testbench::kernel::Symbol;

use crate::compile::CompileArgs;
use crate::files::Files;
use crate::print;

#[derive(clap::Subcommand)]
pub enum Command {
    /// Compile and link firmware for the command processor
    Build(BuildArgs),
    /// Show entry, size, harts, segments and functions of firmware
    Info(InfoArgs),
}

#[derive(clap::Args)]
pub struct BuildArgs {
    /// Sources, one of them with `main`: .c (`#include "hermes_cp.h"`), .S or .s
    #[arg(required = true)]
    sources: Vec<PathBuf>,
    /// ELF file to write
    #[arg(short, long, value_name = "FILE.elf")]
    output: PathBuf,
    /// Use only 16 registers (RV32E), so that its functions can be threads with KERNEL_CLASS 1: up
    /// to 32 warps a core instead of 16
    #[arg(long)]
    rv32e: bool,
    #[command(flatten)]
    compile: CompileArgs,
}

impl BuildArgs {
    fn options(&self) -> FirmwareOptions {
        FirmwareOptions {
            include: self.compile.include.clone(),
            defines: self.compile.defines.clone(),
            optimization: self.compile.optimization.clone(),
            atomics: self.compile.atomics,
            rv32e: self.rv32e,
        }
    }
}

#[derive(clap::Args)]
pub struct InfoArgs {
    /// ELF file of the firmware
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
        }
    }
}

pub fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Build(args) => {
            args.compile.check()?;
            Ok(build_firmware_with(&args.sources, &args.options(), &args.output)?)
        }
        Command::Info(args) => print::line(info(&Firmware::read(&args.file)?)),
    }
}

/// What is in firmware, as text.
fn info(firmware: &Firmware) -> String {
    let executable = &firmware.executable;
    let mut lines = vec![
        format!("entry      {:#010x}", executable.entry),
        format!("size       {} bytes", firmware.size()),
        format!("harts      {}", firmware.harts),
    ];
    for segment in &executable.segments {
        lines.push(format!("segment    {:#010x}, {} bytes", segment.address, segment.bytes.len()));
    }
    for Symbol { name, address, .. } in executable.symbols.iter().filter(|symbol| symbol.is_place()) {
        lines.push(format!("symbol     {address:#010x} {name}"));
    }
    lines.join("\n")
}
