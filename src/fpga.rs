//! `hermes fpga`

use clap::Subcommand;

use crate::files::Files;

mod simulate;
mod target;

#[derive(Subcommand)]
pub enum Command {
    /// Simulate a board: its very top, the pins of its serial line at a pseudo-terminal
    Simulate(simulate::Args),
}

impl Command {
    /// What is read and written.
    pub fn files(&self) -> Files {
        match self {
            Self::Simulate(_) => Files::default(),
        }
    }
}

pub fn execute(command: Command, quiet: bool) -> anyhow::Result<()> {
    match command {
        Command::Simulate(args) => simulate::execute(&args, quiet),
    }
}
