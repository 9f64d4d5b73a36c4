//! `hermes emit`

use std::path::PathBuf;

use anyhow::Context;
use hermes_artefacts::FileLayout;
use hermes_rtl::config::Config;
use hermes_rtl::host::registers::registers_of;
use hermes_testbench::metrics::Clock;
use hermes_testbench::output;

use crate::array::{self, ArrayArgs};
use crate::files::Files;
use crate::origin;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    array: ArrayArgs,
    /// Folder to write to; made if it does not exist: hermes_top.v, the manifest hermes_top.json,
    /// file list, hermes.core, a template of the instance, clock constraints, register map as C
    /// header and SystemRDL, a Vivado project with a wrapper
    #[arg(short, long, value_name = "DIR", help_heading = "Outputs")]
    output: PathBuf,
    /// Give the top the ports of the retire trace: every retired warp-instruction with its values,
    /// for verification
    #[arg(long, help_heading = "Verilog")]
    retire_trace: bool,
    /// Begin the names of all modules and files with this, so that several arrays stand in one
    /// design
    #[arg(long, value_name = "P", value_parser = prefix, help_heading = "Verilog")]
    prefix: Option<String>,
    /// Clock of the constraints (.sdc, .xdc); what a core of 8 lanes reaches on an ECP5, unless
    /// given
    #[arg(long, value_name = "MHZ", default_value = "50", help_heading = "Outputs")]
    clock: Clock,
    /// Put a `line directive before every module, which tells lint tools the file name that the
    /// module would have as a file of its own
    #[arg(long, help_heading = "Verilog")]
    line_directives: bool,
    /// Give each module a file of its own, with its name, in place of one hermes_top.v: two
    /// arrays, or two versions of one, are compared file by file
    #[arg(long, conflicts_with = "line_directives", help_heading = "Verilog")]
    split: bool,
}

impl Args {
    /// What is written: a folder.
    pub fn files(&self) -> Files {
        Files::default().folder("-o", Some(&self.output))
    }
}

/// What a Verilog identifier can begin with.
fn prefix(text: &str) -> Result<String, String> {
    let mut chars = text.chars();
    let head = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if head && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Ok(text.to_string())
    } else {
        Err("expected letters, digits and underscores, a letter or underscore first, such as `small_`"
            .to_string())
    }
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let config = Config { trace: args.retire_trace, ..args.array.config()? };
    let design = array::prefixed_design(&config, args.prefix.as_deref().unwrap_or_default())?;
    let layout = match (args.split, args.line_directives) {
        (true, _) => FileLayout::FileEach,
        (false, true) => FileLayout::OneFileWithLines,
        (false, false) => FileLayout::OneFile,
    };
    let folder = &args.output;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let registers = registers_of(&config);
    let files =
        hermes_artefacts::all(&design, &config, &registers, args.clock.megahertz(), layout, origin::commit());
    for (name, text) in files {
        output::write(&folder.join(name), text.as_bytes())?;
    }
    log::info!("{}: {} modules", folder.display(), design.modules.len());
    Ok(())
}
