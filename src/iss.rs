//! `hermes iss`

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context};
use hermes_testbench::iss::{register_name, Alone, Disassembly, End, Executed, Isa};
use hermes_testbench::kernel::Executable;

use crate::files::Files;
use crate::print;
use crate::reference::trace::Trace;
use crate::reference::{registers, run_to_the_end, PacketArgs, Prepared};

#[derive(clap::Args)]
pub struct Args {
    /// Program for bare metal, alone on one hart: an ELF executable for 32-bit RISC-V without
    /// compressed instructions
    #[arg(
        value_name = "FILE.elf",
        required_unless_present = "pcap",
        conflicts_with_all = ["pcap", "packet", "app", "kernel", "step", "replay", "out", "tables", "argument", "dumps", "expected_dumps", "print"]
    )]
    file: Option<PathBuf>,
    #[command(flatten)]
    packet: PacketArgs,
    /// Stop after so many instructions; of a warp those of all lanes together count once
    #[arg(long, value_name = "N", default_value_t = 100_000_000, help_heading = "Limits")]
    max_instructions: u64,
    /// Print every instruction and what it wrote; of a warp with the lanes that executed it, and
    /// what the lane of the packet wrote
    #[arg(long, help_heading = "Outputs")]
    trace: bool,
    /// Print every instruction of the packet's lane and what it wrote
    #[arg(long, requires = "pcap", conflicts_with = "trace", help_heading = "Outputs")]
    step: bool,
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default().input("FILE.elf", self.file.as_deref()).and(self.packet.files())
    }
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    match &args.file {
        Some(file) if !args.packet.is_wanted() => run_alone(args, file),
        _ => run_packet(args),
    }
}

/// Runs the warp of a packet.
fn run_packet(args: &Args) -> anyhow::Result<()> {
    let Prepared { mut run, mut rest } = args.packet.prepare(args.max_instructions)?;
    let mut trace = (args.trace || args.step)
        .then(|| Trace::new(rest.program.kernel.source_map(), rest.packet.lane, args.trace));
    let races = &mut rest.races;
    run_to_the_end(&mut run, args.max_instructions, &rest.program, |run, executed| {
        races.retired(&executed.retired);
        trace.as_mut().map_or(Ok(()), |trace| trace.tell(run, executed))
    })?;
    rest.finish(run)
}

/// Runs a program alone.
fn run_alone(args: &Args, file: &Path) -> anyhow::Result<()> {
    let executable = Executable::read(file)?;
    let config = args.packet.array().config()?;
    let isa = Isa {
        aes: config.aes,
        atomics: config.atomics,
        compare_and_swap: config.compare_and_swap,
        ..Isa::RV32IM_ZBB
    };
    let mut alone =
        Alone::new(&executable, isa).with_context(|| format!("cannot load {}", file.display()))?;
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
            file.display(),
            alone.hart.pc,
            fault.cause as u8,
            fault.cause,
            fault.value
        ),
        End::Limit => bail!(
            "{}: not at its end after {} instructions, at {:#010x}",
            file.display(),
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
    lines.push(registers(&alone.hart, alone.isa.registers()));
    lines.join("\n")
}
