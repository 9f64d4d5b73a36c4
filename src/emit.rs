//! `hermes emit`

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hermes_rtl::config::Config;
use hermes_rtl::emit::artefacts;
use hermes_rtl::host::registers::REGISTERS;
use hermes_testbench::output::OutputFile;

use crate::array::{self, ArrayArgs};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    array: ArrayArgs,
    /// Folder to write to; made if it does not exist: hermes_top.v, the manifest hermes_top.json, file list, hermes.core, clock
    /// constraints, register map as C header and SystemRDL
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Give the top the ports of the retire trace: every retired warp-instruction with its values, for verification
    #[arg(long)]
    retire_trace: bool,
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let config = Config { trace: args.retire_trace, ..args.array.config()? };
    let design = array::design(&config)?;
    let folder = &args.output;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for (name, text) in artefacts::all(&design, &config, REGISTERS) {
        write(&folder.join(name), &text)?;
    }
    log::info!("{}: {} modules", folder.display(), design.modules.len());
    Ok(())
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(text.as_bytes())?;
    Ok(file.commit()?)
}
