//! `hermes gen-rules`

use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;

use hermes_testbench::output::OutputFile;
use hermes_testbench::tables::{generate_filters, generate_rules, FilterKind};

use crate::files::Files;

#[derive(clap::Args)]
pub struct Args {
    /// acl, fw or ipc: 5-tuple filters with the statistics of the ClassBench sets of that name;
    /// snort: rules with the statistics of the Snort community rules
    #[arg(long)]
    kind: Kind,
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

/// What kind of rules.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Filters(FilterKind),
    Snort,
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "snort" => Ok(Self::Snort),
            _ => text.parse().map(Self::Filters).map_err(|error: String| error + ", or snort"),
        }
    }
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default().output("-o", Some(&self.output))
    }
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let mut file = OutputFile::create(&args.output)?;
    let count = args.count as usize;
    let text = match args.kind {
        Kind::Filters(kind) => generate_filters(kind, count, args.deny, args.seed).to_text(),
        Kind::Snort => generate_rules(count, args.seed),
    };
    file.write_all(text.as_bytes())?;
    Ok(file.commit()?)
}
