//! `hermes gen-routes`

use std::io::Write;
use std::path::PathBuf;

use hermes_testbench::output::OutputFile;
use hermes_testbench::tables::{generate_routes, MAX_PORTS};

use crate::files::Files;

#[derive(clap::Args)]
pub struct Args {
    /// Prefixes to make
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=2_000_000))]
    count: u32,
    /// Output ports: next hops are numbers below this
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=MAX_PORTS as i64))]
    ports: u16,
    /// Seed: the same seed gives the same table
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Text file to write: lines `PREFIX PORT`
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default().output("-o", Some(&self.output))
    }
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let mut file = OutputFile::create(&args.output)?;
    let table = generate_routes(args.count as usize, args.ports, args.seed);
    file.write_all(table.to_text().as_bytes())?;
    Ok(file.commit()?)
}
