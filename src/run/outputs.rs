//! The files that a run writes; they appear at its end, or not at all.

use std::path::{Path, PathBuf};

use hermes_testbench::cosim::PacketResult;
use hermes_testbench::metrics::{self, PacketRecord, Report};
use hermes_testbench::output::OutputFile;
use hermes_testbench::traffic::{CaptureWriter, Frame};
use hermes_testbench::verdict::Verdict;

use crate::files::Files;
use crate::origin::Origin;

/// Options of the results.
#[derive(clap::Args, Default)]
#[command(next_help_heading = "Outputs")]
pub struct ResultArgs {
    /// Capture to write: the forwarded packets as the kernel left them, in commit order
    #[arg(short = 'o', visible_alias = "output", long, value_name = "OUT.pcap")]
    pub out: Option<PathBuf>,
    /// Report as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl ResultArgs {
    /// What is written.
    pub fn files(&self) -> Files {
        Files::default().output("--out", self.out.as_deref()).output("--json", self.json.as_deref())
    }
}

/// The files of a run.
pub struct Outputs {
    out: Option<CaptureWriter>,
    json: Option<(OutputFile, Origin)>,
    verdicts: Option<OutputFile>,
}

impl Outputs {
    /// Makes sure that the files can be written: the capture of what is forwarded, the report as
    /// JSON, the verdicts as CSV. `files` are those of the run, which the report names.
    pub fn create(
        out: Option<&Path>,
        json: Option<&Path>,
        verdicts: Option<&Path>,
        files: &Files,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            out: out.map(CaptureWriter::create).transpose()?,
            json: json
                .map(|path| OutputFile::create(path).map(|file| (file, Origin::of(files))))
                .transpose()?,
            verdicts: verdicts.map(OutputFile::create).transpose()?,
        })
    }

    /// Writes what became of `frames`.
    pub fn write(
        self,
        frames: &[Frame],
        results: &[PacketResult],
        records: &[PacketRecord],
        report: &Report,
    ) -> anyhow::Result<()> {
        let Self { mut out, mut json, mut verdicts } = self;
        if let Some(out) = &mut out {
            for (packet, frame) in results.iter().zip(frames) {
                if !Verdict(packet.verdict).is_forward() {
                    continue;
                }
                if packet.egress.is_empty() {
                    out.write(&Frame { data: packet.bytes.clone(), ..frame.clone() })?;
                }
                for sent in &packet.egress {
                    let wire_length = sent.len() as u32;
                    out.write(&Frame { data: sent.clone(), wire_length, ..frame.clone() })?;
                }
            }
        }
        if let Some((json, origin)) = &mut json {
            json.write_json(&origin.with(report))?;
        }
        if let Some(verdicts) = &mut verdicts {
            metrics::write_verdicts(verdicts, records)?;
        }
        out.map(CaptureWriter::commit).transpose()?;
        json.map(|(json, _)| json.commit()).transpose()?;
        verdicts.map(OutputFile::commit).transpose()?;
        Ok(())
    }
}
