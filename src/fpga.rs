//! `hermes fpga`

use clap::Subcommand;
use hermes_fpga::board::BOARDS;

use crate::files::Files;
use crate::print;

mod build;
mod simulate;
mod target;

#[derive(Subcommand)]
pub enum Command {
    /// List the boards
    Boards,
    /// Make the bitstream of a board: Yosys, nextpnr, ecppack
    Build(build::Args),
    /// Simulate a board: its very top, the pins of its serial line at a pseudo-terminal
    Simulate(simulate::Args),
}

impl Command {
    /// What is read and written.
    pub fn files(&self) -> Files {
        match self {
            // What is written is in a folder.
            Self::Boards | Self::Build(_) | Self::Simulate(_) => Files::default(),
        }
    }
}

pub fn execute(command: Command, quiet: bool) -> anyhow::Result<()> {
    match command {
        Command::Boards => boards(),
        Command::Build(args) => build::execute(&args, quiet),
        Command::Simulate(args) => simulate::execute(&args, quiet),
    }
}

fn boards() -> anyhow::Result<()> {
    let line = |board: &hermes_fpga::board::Board| {
        let config = board.config();
        let array = format!("{} core(s) of {} lanes and {} warps", config.cores, config.lanes, config.warps);
        format!(
            "{:<14} {}\n{:14} {array}, {} KiB of packet memory, {} MHz, {} baud",
            board.name,
            board.title,
            "",
            (1 << board.memory_log2) / 1024,
            f64::from(board.kilohertz) / 1e3,
            board.baud
        )
    };
    print::line(BOARDS.iter().map(line).collect::<Vec<_>>().join("\n"))
}
