//! `hermes fpga`: the array on a board.

use clap::Subcommand;
use hermes_fpga::board::{Board, BOARDS};
use hermes_testbench::words::number_of;

use crate::files::Files;
use crate::print;

mod build;
mod firmware;
mod report;
mod run;
mod simulate;
mod target;
mod trace;

#[derive(Subcommand)]
pub enum Command {
    /// List the boards
    Boards,
    /// Make the bitstream of a board: Yosys, nextpnr, ecppack
    Build(build::Args),
    /// What the array takes of a board's device, unit by unit, or for several sizes
    Report(report::Args),
    /// Run a capture, or firmware, through the array on a board, over its serial line, and print
    /// what came of it
    Run(Box<run::Args>),
    /// Simulate a board: its very top, the pins of its serial line at a pseudo-terminal
    Simulate(simulate::Args),
}

impl Command {
    /// What is read and written.
    pub fn files(&self) -> Files {
        match self {
            Self::Report(args) => args.files(),
            Self::Run(args) => args.files(),
            Self::Build(args) => args.files(),
            Self::Boards | Self::Simulate(_) => Files::default(),
        }
    }
}

pub fn execute(command: Command, quiet: bool) -> anyhow::Result<()> {
    match command {
        Command::Boards => print::line(BOARDS.iter().map(described).collect::<Vec<_>>().join("\n")),
        Command::Build(args) => build::execute(&args, quiet),
        Command::Report(args) => report::execute(&args, quiet),
        Command::Run(args) => run::execute(&args, quiet),
        Command::Simulate(args) => simulate::execute(&args, quiet),
    }
}

/// A board in two lines.
fn described(board: &Board) -> String {
    let config = board.config();
    let command = match board.command {
        Some(command) => format!(
            ", command processor of {}, {} slots of the thread spawner",
            number_of(command.threads as u64, "hart"),
            command.spawn_slots
        ),
        None => String::new(),
    };
    format!(
        "{:<14} {}\n{:14} {} core of {} lanes and {} warps{command}, {} KiB of packet memory, {} MHz, {} baud",
        board.name,
        board.title,
        "",
        config.cores,
        config.lanes,
        config.warps,
        (1 << board.memory_log2) / 1024,
        f64::from(board.kilohertz) / 1e3,
        board.baud
    )
}
