//! The options that describe an array on a board.

use anyhow::{anyhow, Context};
use hermes_fpga::board::{Board, BoardError, Settings};

use crate::array::ArrayArgs;

/// A board and its array: what its host has to know.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Board")]
pub struct BoardArgs {
    /// Board: `hermes fpga boards` lists them
    #[arg(long, value_name = "NAME", default_value = "ulx3s")]
    board: String,
    #[command(flatten)]
    array: ArrayArgs,
    /// Bits per second of the serial line, instead of the board's
    #[arg(long, value_name = "N")]
    baud: Option<u32>,
}

impl BoardArgs {
    /// The board with its array and its usual clock; checked.
    pub fn settings(&self) -> anyhow::Result<Settings> {
        self.settings_with(None, None)
    }

    fn settings_with(&self, megahertz: Option<f64>, memory_log2: Option<usize>) -> anyhow::Result<Settings> {
        let board = Board::find(&self.board).map_err(by_option)?;
        let config = self.array.config_from(board.config())?;
        board.settings(config, megahertz, self.baud, memory_log2).map_err(by_option)
    }
}

/// What is wrong with a board, by the names of the options.
fn by_option(error: BoardError) -> anyhow::Error {
    match error {
        BoardError::Unknown(_) | BoardError::Clock(..) | BoardError::Baud(..) | BoardError::Memory(_) => {
            anyhow!("--{error}")
        }
        // None of them is there by itself: an option asks for it, or `--preset node`.
        BoardError::Part { part, board } => anyhow!(
            "--{}: not possible together with --board {board}, which has nothing to connect to it; expected an array without",
            part.replace('_', "-")
        ),
        BoardError::Config(_) => error.into(),
    }
}

/// A board, its array, and what else a bitstream is made of.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Board")]
pub struct TargetArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// Clock of the array in MHz, instead of the board's
    #[arg(long, value_name = "MHZ")]
    clock: Option<f64>,
    /// Bytes of the packet memory, instead of the board's: a power of two, 16384 to 1048576 in
    /// block RAM, 33554432 or 67108864 in the board's SDRAM of this size
    #[arg(long, value_name = "BYTES")]
    memory: Option<usize>,
}

impl TargetArgs {
    /// The board with its array; checked.
    pub fn settings(&self) -> anyhow::Result<Settings> {
        let log2 = |bytes: usize| {
            let log2 = bytes.is_power_of_two().then(|| bytes.ilog2() as usize);
            log2.with_context(|| format!("--memory {bytes}: expected a power of two"))
        };
        let memory_log2 = self.memory.map(log2).transpose()?;
        self.board.settings_with(self.clock, memory_log2)
    }
}
