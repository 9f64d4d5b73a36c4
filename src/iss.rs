//! `hermes iss`

use std::path::PathBuf;

use anyhow::{bail, ensure, Context};
use hermes_testbench::iss::{register_name, Alone, Disassembly, End, Executed, Isa};
use hermes_testbench::kernel::Executable;

use crate::files::Files;
use crate::print;

#[derive(clap::Args)]
pub struct Args {
    /// Program for bare metal: an ELF executable for 32-bit RISC-V without compressed instructions
    #[arg(value_name = "FILE.elf")]
    file: PathBuf,
    /// Stop after so many instructions
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    max_instructions: u64,
    /// Print every instruction and what it wrote
    #[arg(long)]
    trace: bool,
    /// Know the AES instructions (Zkne, Zknd)
    #[arg(long)]
    aes: bool,
    /// Know the atomic instructions (A)
    #[arg(long)]
    atomics: bool,
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default().input("FILE.elf", Some(&self.file))
    }
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let executable = Executable::read(&args.file)?;
    let isa = Isa { aes: args.aes, atomics: args.atomics, ..Isa::RV32IM_ZBB };
    let mut alone =
        Alone::new(&executable, isa).with_context(|| format!("cannot load {}", args.file.display()))?;
    let end = alone.run(args.max_instructions, |executed| {
        ensure!(!hermes_interrupt::is_requested(), "stopped at {:#010x}", executed.pc);
        match args.trace {
            true => print::line(traced(executed)),
            false => Ok(()),
        }
    })?;
    print::line(summary(&alone, end))?;
    match end {
        End::Exit | End::EnvironmentCall | End::Breakpoint => Ok(()),
        End::Fault(fault) => bail!(
            "{}: fault at {:#010x}: cause {} ({:?}), value {:#010x}",
            args.file.display(),
            alone.hart.pc,
            fault.cause as u8,
            fault.cause,
            fault.value
        ),
        End::Limit => bail!(
            "{}: not at its end after {} instructions, at {:#010x}",
            args.file.display(),
            alone.count,
            alone.hart.pc
        ),
    }
}

/// An instruction and what it wrote.
fn traced(executed: &Executed) -> String {
    let Executed { pc, instruction, outcome } = executed;
    let text = Disassembly { pc: *pc, instruction: *instruction }.to_string();
    let mut line = format!("{pc:08x}  {:08x}  {text:<32}", instruction.encode());
    if let (Some(register), Some(value)) = (instruction.writes(), outcome.result) {
        line += &format!("  {} = {value:#010x}", register_name(register));
    }
    if let Some(address) = outcome.address {
        line += &format!("  [{address:#010x}]");
    }
    if let Some(value) = outcome.stored {
        let bits = 8 * instruction.op.access_bytes();
        line += &format!(" = {:#x}", value & (u32::MAX >> (32 - bits)));
    }
    line.trim_end().to_string()
}

/// How the program ended, and its registers.
fn summary(alone: &Alone, end: End) -> String {
    let how = match end {
        End::Exit => "returned",
        End::EnvironmentCall => "ecall",
        End::Breakpoint => "ebreak",
        End::Fault(_) => "fault",
        End::Limit => "stopped",
    };
    let a0 = alone.hart.x[10];
    let mut lines = vec![
        format!("end           {how} at {:#010x}", alone.hart.pc),
        format!("value         {a0:#010x} ({})", a0 as i32),
        format!("instructions  {}", alone.count),
    ];
    let registers: Vec<u8> = (0..alone.isa.registers()).collect();
    for row in registers.chunks(4) {
        let cell = |register: &u8| {
            format!("{:>4} {:#010x}", register_name(*register), alone.hart.x[usize::from(*register)])
        };
        lines.push(row.iter().map(cell).collect::<Vec<_>>().join("  "));
    }
    lines.join("\n")
}
