//! `hermes cache`

use std::time::Duration;

use verilator_sys::Stored;

use crate::print;

/// Seconds of a day.
const DAY: u64 = 24 * 3600;

#[derive(clap::Subcommand)]
pub enum Command {
    /// List the models, that used last first: size, days since it was used, what it is of
    List,
    /// Remove models that were not used for long. Those that other processes build or look for stay
    Clean(CleanArgs),
}

#[derive(clap::Args)]
#[command(next_help_heading = "What is removed")]
pub struct CleanArgs {
    /// Days for which a model was not used
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(..=36_500))]
    older_than: u32,
    /// Remove every model, used or not
    #[arg(long, conflicts_with = "older_than")]
    all: bool,
}

pub fn execute(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::List => {
            let (folder, all) = verilator_sys::list(None)?;
            let rows: String = all.iter().map(row).collect();
            print::line(format!("{rows}{} in {}", total(&all), folder.display()))
        }
        Command::Clean(args) => {
            let days = if args.all { 0 } else { args.older_than };
            let cleaned = verilator_sys::clean(None, Duration::from_secs(u64::from(days) * DAY))?;
            let in_use: String =
                cleaned.in_use.iter().map(|entry| format!("in use: {}\n", entry.path.display())).collect();
            print::line(format!("{in_use}removed {}", total(&cleaned.removed)))
        }
    }
}

/// How many there are, and their size.
fn total(all: &[Stored]) -> String {
    let bytes = all.iter().map(|entry| entry.bytes).sum::<u64>();
    let s = if all.len() == 1 { "" } else { "s" };
    format!("{} file{s}, {}", all.len(), megabytes(bytes))
}

/// A size in MB.
fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn row(entry: &Stored) -> String {
    let name = entry.path.file_name().unwrap_or_default().to_string_lossy();
    let kinds = [("runtime-", "run-time library of Verilator"), ("header-", "header of models, compiled")];
    let kind = kinds.iter().find(|(start, _)| name.starts_with(start)).map(|(_, kind)| *kind);
    let about = entry.about.as_deref().or(kind).unwrap_or("not known");
    let days = entry.unused.as_secs() / DAY;
    format!("{:>10}  {days:>4} days  {about}\n    {}\n", megabytes(entry.bytes), entry.path.display())
}
