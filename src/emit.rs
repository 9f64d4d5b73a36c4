//! `hermes emit`

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hermes_rtl::config::Config;
use hermes_rtl::emit::Port;
use hermes_testbench::output::OutputFile;
use serde::Serialize;

use crate::array::{self, ArrayArgs};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    array: ArrayArgs,
    /// Folder to write hermes_top.v and hermes_top.json to; made if it does not exist
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// What `hermes_top.json` says.
#[derive(Serialize)]
struct Manifest<'a> {
    /// Program that wrote the Verilog.
    generator: &'static str,
    /// Its version.
    version: &'static str,
    /// Parameters of the array.
    configuration: &'a Config,
    /// Name of the top module.
    top: &'a str,
    /// File with the Verilog.
    file: String,
    /// Modules, each after those that it instantiates.
    modules: Vec<&'a str>,
    /// Ports of the top module.
    ports: &'a [Port],
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let config = args.array.config()?;
    let design = array::design(&config)?;
    let file = format!("{}.v", design.top);
    let manifest = Manifest {
        generator: "hermes",
        version: env!("CARGO_PKG_VERSION"),
        configuration: &config,
        top: &design.top,
        file: file.clone(),
        modules: design.modules.iter().map(|module| module.name.as_str()).collect(),
        ports: &design.ports,
    };
    let manifest = serde_json::to_string_pretty(&manifest)? + "\n";
    let folder = &args.output;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    write(&folder.join(&file), &design.verilog())?;
    write(&folder.join(format!("{}.json", design.top)), &manifest)?;
    log::info!("{}: {} modules", folder.join(&file).display(), design.modules.len());
    Ok(())
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(text.as_bytes())?;
    Ok(file.commit()?)
}
