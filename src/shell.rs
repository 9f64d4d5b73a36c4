//! `hermes completions` and `hermes man`: what shells and `man` know of the command.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap_complete::Shell;
use clap_mangen::Man;
use hermes_testbench::output;

use crate::files::Files;
use crate::print;

#[derive(clap::Args)]
pub struct CompletionArgs {
    /// The shell
    shell: Shell,
}

#[derive(clap::Args)]
pub struct ManArgs {
    /// Folder to write to; made if it does not exist: a page for each command
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

impl ManArgs {
    /// What is written: a folder.
    pub fn files(&self) -> Files {
        Files::default().folder("-o", Some(&self.output))
    }
}

/// Prints the script that completes the words of a command line.
pub fn completions(args: &CompletionArgs, mut command: clap::Command) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "hermes", &mut script);
    print::bytes(&script)
}

/// Writes the pages.
pub fn man(args: &ManArgs, mut command: clap::Command) -> anyhow::Result<()> {
    let folder = &args.output;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    command.build();
    pages(&command, folder)
}

/// The page of a command, and of those in it.
fn pages(command: &clap::Command, folder: &Path) -> anyhow::Result<()> {
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    output::write(&folder.join(man.get_filename()), &page)?;
    let inside = command.get_subcommands().filter(|inside| inside.get_name() != "help");
    inside.into_iter().try_for_each(|inside| pages(inside, folder))
}
