//! `hermes gen-trace`

use std::path::{Path, PathBuf};

use anyhow::ensure;
use hermes_testbench::tables::{FilterSet, InputError, PatternSet, RouteTable};
use hermes_testbench::traffic::{self, Aim, CaptureWriter, Generator, Kind, Traffic};

use crate::files::Files;
use crate::print;

#[derive(clap::Args)]
pub struct Args {
    /// imix (UDP, 64/594/1518 bytes 7:4:1), fixed:BYTES (UDP), bimodal:PERCENT (UDP of 60 bytes, so
    /// many percent of 1514) or tcp-mix; sizes without FCS
    #[arg(long)]
    kind: Kind,
    /// Packets to make
    #[arg(long)]
    packets: u64,
    /// Seed: the same seed gives the same capture
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Share of packets with a bad header, in percent; the kinds of defects take turns
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    bad_share: f64,
    /// Filters in the format of ClassBench: most packets match one of them
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Routing table: most destinations have a route
    #[arg(long, value_name = "FILE")]
    routes: Option<PathBuf>,
    /// Snort rules: half of the payloads hold a pattern of theirs
    #[arg(long, value_name = "FILE")]
    patterns: Option<PathBuf>,
    /// Header trace of ClassBench: the packets have its headers, in turn
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rules", "routes"])]
    headers: Option<PathBuf>,
    /// Line rate of the timestamps in Gbit/s; packets stand back to back
    #[arg(long, value_name = "GBPS", default_value_t = 100.0)]
    line_rate: f64,
    /// Capture to write (pcap, nanoseconds)
    #[arg(short, long, value_name = "OUT.pcap")]
    output: PathBuf,
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default()
            .input("--rules", self.rules.as_deref())
            .input("--routes", self.routes.as_deref())
            .input("--patterns", self.patterns.as_deref())
            .input("--headers", self.headers.as_deref())
            .output("-o", Some(&self.output))
    }

    /// What the packets are aimed at.
    fn aim(&self) -> anyhow::Result<Aim> {
        Ok(Aim {
            headers: self.headers.as_deref().map(traffic::read_headers).transpose()?.unwrap_or_default(),
            filters: self.rules.as_deref().map(FilterSet::read).transpose()?.unwrap_or_default().filters,
            routes: self.routes.as_deref().map(RouteTable::read).transpose()?.unwrap_or_default().routes,
            patterns: self.patterns.as_deref().map(patterns).transpose()?.unwrap_or_default(),
        })
    }
}

/// The patterns of Snort rules.
fn patterns(path: &Path) -> Result<Vec<Vec<u8>>, InputError> {
    Ok(PatternSet::read(path, 1)?.patterns.into_iter().map(|pattern| pattern.bytes).collect())
}

pub fn execute(args: &Args, quiet: bool) -> anyhow::Result<()> {
    ensure!(
        (0.0..=100.0).contains(&args.bad_share),
        "--bad-share {}: expected 0 to 100 percent",
        args.bad_share
    );
    ensure!(
        (0.001..=100_000.0).contains(&args.line_rate),
        "--line-rate {}: expected 0.001 to 100000 Gbit/s",
        args.line_rate
    );
    let traffic =
        Traffic { kind: args.kind, seed: args.seed, bad_share: args.bad_share, rate: args.line_rate };
    let aim = args.aim()?;
    let mut writer = CaptureWriter::create(&args.output)?;
    let bar = print::progress(args.packets, quiet);
    let mut generator = Generator::aimed(traffic, aim);
    for frame in bar.wrap_iter(generator.by_ref().take(usize::try_from(args.packets)?)) {
        ensure!(!hermes_interrupt::is_requested(), "the capture was not written");
        writer.write(&frame)?;
    }
    writer.commit()?;
    log::info!("{}: {} packets, {} with a bad header", args.output.display(), args.packets, generator.bad());
    Ok(())
}
