//! `hermes gen-media`

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::anyhow;
use hermes_testbench::golden::media::{MediaKernel, MediaSize};
use hermes_testbench::output::OutputFile;

use crate::files::Files;

#[derive(clap::Args)]
pub struct Args {
    /// Workload, a program of `kernels-asm/media`: linear, sepia, fgt, bicubic, kmeans or svm
    #[arg(value_name = "NAME", value_parser = kernel)]
    kernel: MediaKernel,
    /// Size: tiny and quick are 1/64 and 1/16 of the paper's (Pangaea, Table 6), second is the
    /// paper's second one of linear and sepia
    #[arg(long, value_name = "tiny|quick|paper|second", value_parser = size, default_value = "quick")]
    size: MediaSize,
    /// Width of the image, or number of points, instead of that of --size
    #[arg(long, value_name = "N")]
    width: Option<u32>,
    /// Height of the image, instead of that of --size
    #[arg(long, value_name = "N")]
    height: Option<u32>,
    /// Seed: the same seed gives the same data
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The table `input` of the program
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// What the table `output` must be at the end, by the golden model: for --expect-dump
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// As many zeros: the table `output` at the beginning
    #[arg(long, value_name = "FILE")]
    blank: Option<PathBuf>,
}

fn kernel(name: &str) -> Result<MediaKernel, String> {
    let found = MediaKernel::ALL.into_iter().find(|kernel| kernel.name() == name);
    found.ok_or_else(|| format!("expected one of {}", MediaKernel::ALL.map(MediaKernel::name).join(", ")))
}

fn size(name: &str) -> Result<MediaSize, String> {
    match name {
        "tiny" => Ok(MediaSize::Tiny),
        "quick" => Ok(MediaSize::Quick),
        "paper" => Ok(MediaSize::Paper),
        "second" => Ok(MediaSize::Second),
        _ => Err("expected tiny, quick, paper or second".to_string()),
    }
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default()
            .output("-o", Some(&self.output))
            .output("--expect", self.expect.as_deref())
            .output("--blank", self.blank.as_deref())
    }
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let [width, height] = args.kernel.size(args.size);
    let size = [args.width.unwrap_or(width), args.height.unwrap_or(height)];
    let data = args.kernel.data(size, args.seed).map_err(|error| anyhow!("--{error}"))?;
    let parts = [
        (Some(&args.output), data.input),
        (args.blank.as_ref(), vec![0; data.output.len()]),
        (args.expect.as_ref(), data.output),
    ];
    // All can be written before one is.
    let mut files = Vec::new();
    for (path, bytes) in parts {
        if let Some(path) = path {
            files.push((OutputFile::create(path)?, bytes));
        }
    }
    for (mut file, bytes) in files {
        file.write_all(&bytes)?;
        file.commit()?;
    }
    Ok(())
}
