//! `hermes nf`: network functions by themselves.

use std::fmt;
use std::path::PathBuf;

use anyhow::{bail, ensure};
use hermes_testbench::chain::profile::Profile;
use hermes_testbench::chain::{ChainPlan, Surroundings};
use hermes_testbench::output::OutputFile;
use hermes_testbench::traffic;
use serde::Serialize;

use crate::array::ArrayArgs;
use crate::chain::each_on_its_line;
use crate::chain::profiles::{frames, reaching, Measurer, ProfileArgs};
use crate::chain::test;
use crate::files::Files;
use crate::origin::Origin;
use crate::print;
use crate::run::memory_timing::MemoryArgs;
use crate::run::MEMORY_BYTES;

#[derive(clap::Subcommand)]
pub enum Command {
    /// Measure what a function costs by its warps and cores, alone on the array: the profile by
    /// which `hermes chain plan` gives out cores
    Bench(Box<BenchArgs>),
    /// Run a capture through a function on the reference simulator, without an array, kept to its
    /// region and to what its manifest says of packets, and compare it with the golden model of its
    /// app
    Test(Box<KernelArgs>),
}

#[derive(clap::Args)]
pub struct KernelArgs {
    /// Manifest of the function (docs/chains.md)
    #[arg(value_name = "FUNCTION.toml")]
    file: PathBuf,
    #[command(flatten)]
    test: test::TestArgs,
}

#[derive(clap::Args)]
pub struct BenchArgs {
    /// Manifest of the function (docs/chains.md)
    #[arg(value_name = "FUNCTION.toml")]
    file: PathBuf,
    /// Chain in which the function is: it is measured with the packets that reach it there
    #[arg(long, value_name = "CHAIN.toml")]
    chain: Option<PathBuf>,
    /// Its name in the chain, if that is not the one of its manifest
    #[arg(long, value_name = "NAME", requires = "chain")]
    name: Option<String>,
    /// Capture whose packets are measured, instead of packets that are made
    #[arg(long, value_name = "IN", conflicts_with = "bytes")]
    pcap: Option<PathBuf>,
    /// Bytes of the frames that are made, without FCS
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "60,508,1514", value_parser = clap::value_parser!(u16).range(60..=9000))]
    bytes: Vec<u16>,
    #[command(flatten)]
    measurement: ProfileArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Write the profiles as JSON, for `hermes chain plan --profile`
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    array: ArrayArgs,
}

/// Profiles of a function, one for each size of frames.
#[derive(Serialize)]
struct Profiles {
    profiles: Vec<Profile>,
}

impl fmt::Display for Profiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<_> = self.profiles.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("\n\n"))
    }
}

impl Command {
    /// What is read and written.
    pub fn files(&self) -> Files {
        let args = match self {
            Self::Bench(args) => args,
            Self::Test(args) => {
                let files = Files::default().input("FUNCTION.toml", Some(&args.file));
                return files.file("FUNCTION.toml", Some(&args.file)).and(args.test.files());
            }
        };
        Files::default()
            .input("FUNCTION.toml", Some(&args.file))
            .file("FUNCTION.toml", Some(&args.file))
            .input("--chain", args.chain.as_deref())
            .file("--chain", args.chain.as_deref())
            .input("--pcap", args.pcap.as_deref())
            .output("--json", args.json.as_deref())
    }
}

pub fn execute(command: &Command, quiet: bool) -> anyhow::Result<()> {
    match command {
        Command::Bench(args) => bench(args, command.files(), quiet),
        Command::Test(args) => {
            let plan = ChainPlan::of_manifest(&args.file).map_err(each_on_its_line)?;
            let files = with_named(command.files(), &plan)?;
            test::test(&plan, &files, &args.test, None, quiet)
        }
    }
}

/// `files` with those that the functions of `plan` name, after a check of all of them.
fn with_named(files: Files, plan: &ChainPlan) -> anyhow::Result<Files> {
    let add = |files: Files, path: &PathBuf| {
        let known = files.inputs().any(|(_, other)| other == path);
        if known {
            return files;
        }
        files.input("FUNCTION.toml names", Some(path))
    };
    let files = plan.files().iter().fold(files, add);
    files.check()?;
    Ok(files)
}

fn bench(args: &BenchArgs, files: Files, quiet: bool) -> anyhow::Result<()> {
    let own = ChainPlan::of_manifest(&args.file).map_err(each_on_its_line)?;
    let chain = args.chain.as_deref().map(ChainPlan::read).transpose().map_err(each_on_its_line)?;
    let whole = chain.as_ref().unwrap_or(&own);
    let files = with_named(files, whole)?;
    let name = args.name.as_ref().unwrap_or_else(|| own.functions[0].manifest.name.get_ref());
    let Some(number) = whole.functions.iter().position(|function| function.name == *name) else {
        let names: Vec<_> = whole.functions.iter().map(|function| function.name.as_str()).collect();
        bail!(
            "{}: function: none is called `{name}`; expected {} (--name)",
            whole.path().display(),
            names.join(", ")
        );
    };
    let mut config = args.array.config()?;
    if config.network_functions == 0 {
        config.network_functions = whole.functions.len().next_power_of_two().max(2);
        config.function_branches = whole.branching().is_some();
    }
    config.packet_ports = true;
    config.validate()?;
    let json = args.json.as_deref().map(OutputFile::create).transpose()?;
    let latency = args.memory.latency()?;
    let traffic = match &args.pcap {
        Some(path) => vec![traffic::read(path, Some(args.measurement.packets()))?.frames],
        None => {
            let sizes =
                args.bytes.iter().map(|bytes| frames(whole, (*bytes).into(), args.measurement.packets()));
            sizes.collect::<Result<_, _>>()?
        }
    };
    let mut measurer = Measurer::new(&config, &args.measurement, latency, quiet)?;
    let mut profiles = Vec::new();
    for frames in traffic {
        let longest = frames.iter().map(|frame| frame.data.len()).max().unwrap_or(0);
        let frame_bytes = Some(u32::try_from(longest)?);
        let on = Surroundings { config: &config, memory_bytes: MEMORY_BYTES, frame_bytes };
        let placed = whole.place(on).map_err(each_on_its_line)?;
        let mut reaching = reaching(&placed, &config, &frames)?;
        let here = reaching.swap_remove(number);
        ensure!(
            !here.is_empty(),
            "`{name}`: none of {} packets reaches it; expected one or more",
            frames.len()
        );
        profiles.push(measurer.profile(&whole.alone(number), here, &[])?);
    }
    let profiles = Profiles { profiles };
    if let Some(mut json) = json {
        json.write_json(&Origin::of(&files).with(&profiles))?;
        json.commit()?;
    }
    print::line(&profiles)
}
