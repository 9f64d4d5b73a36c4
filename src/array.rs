//! The options that describe an array.

use hermes_rtl::config::Config;

/// A preset and what differs from it.
#[derive(clap::Args, Debug)]
pub struct ArrayArgs {
    /// Configuration to start from: paper, default or fpga
    #[arg(long, default_value = "default")]
    preset: String,
    /// Shader cores, instead of the preset's: 1 to 32
    #[arg(long)]
    cores: Option<usize>,
    /// Lanes of a core (threads of a warp), instead of the preset's: 1, 2, 4, 8, 16 or 32
    #[arg(long)]
    lanes: Option<usize>,
    /// Warp slots of a core, instead of the preset's: 1 to 32
    #[arg(long)]
    warps: Option<usize>,
}

impl ArrayArgs {
    /// The configuration; checked.
    pub fn config(&self) -> anyhow::Result<Config> {
        let mut config = Config::preset(&self.preset)?;
        config.cores = self.cores.unwrap_or(config.cores);
        config.lanes = self.lanes.unwrap_or(config.lanes);
        config.warps = self.warps.unwrap_or(config.warps);
        config.validate()?;
        Ok(config)
    }
}
