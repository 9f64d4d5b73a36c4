//! `hermes fpga`: the array on a board.

mod run;

use anyhow::Context as _;
use hermes_rtl::config::Config;
use sha2::{Digest as _, Sha256};

use crate::files::Files;

#[derive(clap::Subcommand)]
pub enum Command {
    /// Run a capture through the array on a board, over its serial line, and print what came of it
    Run(Box<run::Args>),
}

impl Command {
    /// What is read and written.
    pub fn files(&self) -> Files {
        match self {
            Self::Run(args) => args.files(),
        }
    }
}

pub fn execute(command: &Command, quiet: bool) -> anyhow::Result<()> {
    match command {
        Command::Run(args) => run::execute(args, quiet),
    }
}

/// What a board says of its configuration (`docs/fpga-link.md`): the first 8 bytes, as a little-endian number, of the SHA-256 of the
/// configuration as JSON without spaces, its preset's name left empty.
pub fn configuration_hash(config: &Config) -> anyhow::Result<u64> {
    let nameless = Config { preset: String::new(), ..config.clone() };
    let json = serde_json::to_vec(&nameless).context("the configuration as JSON")?;
    let mut first = [0; 8];
    first.copy_from_slice(&Sha256::digest(json)[..8]);
    Ok(u64::from_le_bytes(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_of_what_the_array_is_and_not_of_its_name() {
        let hash = |config: &Config| configuration_hash(config).unwrap();
        let fpga = Config::preset("fpga").unwrap();
        let named = Config { preset: "mine".to_string(), ..fpga.clone() };
        assert_eq!(hash(&fpga), hash(&named));
        assert_ne!(hash(&fpga), hash(&Config { lanes: 4, ..fpga.clone() }));
        let json = serde_json::to_string(&Config { preset: String::new(), ..fpga.clone() }).unwrap();
        assert!(json.starts_with("{\"preset\":\"\",\"cores\":1,\"lanes\":8,"), "{json}");
        assert_eq!(hash(&fpga).to_le_bytes(), Sha256::digest(json)[..8]);
    }
}
