//! The options that describe an array on a board.

use anyhow::Context;
use hermes_fpga::board::{Board, Settings};

use crate::array::ArrayArgs;

/// A board, and what differs from its usual settings.
#[derive(clap::Args, Debug)]
pub struct TargetArgs {
    /// Board: ulx3s or colorlight-i5
    #[arg(long, value_name = "NAME", default_value = "ulx3s")]
    board: String,
    #[command(flatten)]
    array: ArrayArgs,
    /// Clock of the array in MHz, instead of the board's
    #[arg(long, value_name = "MHZ")]
    clock: Option<f64>,
    /// Bits a second on the serial line, instead of the board's
    #[arg(long, value_name = "N")]
    baud: Option<u32>,
    /// Bytes of the packet memory, instead of the board's: a power of two, 16384 to 1048576
    #[arg(long, value_name = "BYTES")]
    memory: Option<usize>,
}

impl TargetArgs {
    /// The board with its array; checked.
    pub fn settings(&self) -> anyhow::Result<Settings> {
        let board = Board::find(&self.board)?;
        let config = self.array.config_from(board.config())?;
        let log2 = |bytes: usize| {
            let log2 = bytes.is_power_of_two().then(|| bytes.ilog2() as usize);
            log2.with_context(|| format!("--memory {bytes}: expected a power of two"))
        };
        let memory_log2 = self.memory.map(log2).transpose()?;
        Ok(board.settings(config, self.clock, self.baud, memory_log2)?)
    }
}
