//! `hermes gen-rules`

use std::io::Write;
use std::path::PathBuf;

use hermes_testbench::output::OutputFile;
use hermes_testbench::tables::{generate_filters, FilterKind};

#[derive(clap::Args)]
pub struct Args {
    /// acl, fw or ipc: 5-tuple filters with the statistics of the ClassBench sets of that name
    #[arg(long)]
    kind: FilterKind,
    /// Rules to make
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// Filters that drop their packets, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100))]
    deny: u32,
    /// Seed: the same seed gives the same rules
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let mut file = OutputFile::create(&args.output)?;
    let set = generate_filters(args.kind, args.count as usize, args.deny, args.seed);
    file.write_all(set.to_text().as_bytes())?;
    Ok(file.commit()?)
}
