//! How sources are compiled, in `hermes kernel build` and `hermes firmware build`.

use std::path::PathBuf;

use anyhow::{bail, Context as _};

/// What is said to the compiler.
#[derive(clap::Args)]
pub struct CompileArgs {
    /// Folder with include files, which may be given several times
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Macro, which may be given several times; 1 without a value. In a kernel in assembly a
    /// symbol, whose value is a number
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = define)]
    pub defines: Vec<String>,
    /// Level of optimization of sources in C
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2", value_parser = ["0", "1", "2", "3", "s", "z", "g"])]
    pub optimization: String,
    /// Allow atomic instructions, for arrays with --atomics
    #[arg(long)]
    pub atomics: bool,
}

impl CompileArgs {
    /// Makes sure that the folders are there: compilers pass over one that is not.
    ///
    /// # Errors
    /// One is not, or is no folder.
    pub fn check(&self) -> anyhow::Result<()> {
        for folder in &self.include {
            let name = || format!("-I {}", folder.display());
            if !std::fs::metadata(folder).with_context(name)?.is_dir() {
                bail!("{}: expected a folder", name());
            }
        }
        Ok(())
    }
}

/// `NAME` or `NAME=VALUE`.
fn define(text: &str) -> Result<String, String> {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| text.to_string()).ok_or_else(|| "expected NAME or NAME=VALUE".to_string())
}
