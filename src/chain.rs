//! `hermes chain`: chains of network functions.

mod array_report;
mod check;
mod plan;
pub mod profiles;
mod report;
mod run;
mod taps;
pub mod test;

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use hermes_testbench::chain::live::Events;
use hermes_testbench::chain::{ChainError, ChainPlan, Function};
use hermes_testbench::verdict::Verdict;

use crate::files::Files;
use crate::print;

#[derive(clap::Subcommand)]
pub enum Command {
    /// Check a chain file, with all that it names, and show where its functions lie and on which
    /// cores they run
    Check(check::Args),
    /// Measure the functions of a chain, or take what was measured before, and give each the cores
    /// with which the chain is fastest
    Plan(Box<plan::Args>),
    /// Run a capture through a chain on an array, cycle by cycle, compare what comes out with the
    /// golden models, and print what became of the packets at each function
    Run(Box<run::Args>),
    /// Run a capture through the kernels of a chain on the reference simulator, without an array,
    /// and compare each function with its golden model
    Test(test::Args),
}

/// A chain file.
#[derive(clap::Args)]
pub struct ChainArg {
    /// Chain file: TOML, a [[function]] for each function (docs/chains.md)
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
}

impl ChainArg {
    fn files(&self) -> Files {
        Files::default().input("FILE.toml", Some(&self.file)).file("FILE.toml", Some(&self.file))
    }

    /// Reads it, and makes sure that nothing that it names is an output of the command, whose
    /// other files are `files`.
    fn read(&self, files: Files) -> anyhow::Result<(ChainPlan, Files)> {
        let plan = ChainPlan::read(&self.file).map_err(each_on_its_line)?;
        let files = self.with_named(files, &plan.files())?;
        Ok((plan, files))
    }

    /// As [`Self::read`], with the file of changes at `events`, which adds functions to the chain.
    fn read_with_events(
        &self,
        files: Files,
        events: Option<&Path>,
    ) -> anyhow::Result<(ChainPlan, Option<Events>, Files)> {
        let mut plan = ChainPlan::read(&self.file).map_err(each_on_its_line)?;
        let events =
            events.map(|path| Events::read(path, &mut plan)).transpose().map_err(each_on_its_line)?;
        let mut named = plan.files();
        named.extend(events.iter().flat_map(|events| &events.files()[1..]).cloned());
        let files = self.with_named(files, &named)?;
        Ok((plan, events, files))
    }

    /// `files` with those that the chain file names, after a check of all of them.
    fn with_named(&self, files: Files, named: &[PathBuf]) -> anyhow::Result<Files> {
        let add = |files: Files, path: &PathBuf| {
            let known = *path == self.file || files.inputs().any(|(_, other)| other == path);
            if known {
                return files;
            }
            files.input("FILE.toml names", Some(path))
        };
        let files = named.iter().fold(files, add);
        files.check()?;
        Ok(files)
    }
}

/// The first faults of functions, in words: one of each instruction and address.
#[derive(Default)]
struct FaultLines(Vec<(String, bool)>);

impl FaultLines {
    /// Most that are told.
    const MOST: usize = 8;

    /// Adds a fault; one that is `allowed` does not fail the command.
    fn add(&mut self, function: &Function, verdict: Verdict, pc: u32, address: u32, allowed: bool) {
        let place = function.kernel.source_map().place(pc);
        let line = format!("`{}`: {verdict} at {place}, address {address:#010x}", function.name);
        let alike = self.0.iter().filter(|(_, other)| *other == allowed).count();
        if alike < Self::MOST && !self.0.iter().any(|(other, _)| *other == line) {
            self.0.push((line, allowed));
        }
    }

    /// Prints each as an error, or a warning if it is allowed.
    fn tell(&self) {
        for (line, allowed) in &self.0 {
            match allowed {
                true => log::warn!("{line}"),
                false => print::error(line),
            }
        }
    }
}

/// Tells all that is wrong with a chain but the last thing, which is the error of the command.
pub fn each_on_its_line(ChainError(problems): ChainError) -> anyhow::Error {
    let Some((last, others)) = problems.split_last() else { return anyhow!("the chain is wrong") };
    others.iter().for_each(print::error);
    anyhow!("{last}")
}

impl Command {
    /// What is read and written, but for what chain files name.
    pub fn files(&self) -> Files {
        match self {
            Self::Check(args) => args.files(),
            Self::Plan(args) => args.files(),
            Self::Run(args) => args.files(),
            Self::Test(args) => args.files(),
        }
    }
}

pub fn execute(command: &Command, quiet: bool) -> anyhow::Result<()> {
    match command {
        Command::Check(args) => check::execute(args),
        Command::Plan(args) => plan::execute(args, quiet),
        Command::Run(args) => run::execute(args, quiet),
        Command::Test(args) => test::execute(args, quiet),
    }
}
