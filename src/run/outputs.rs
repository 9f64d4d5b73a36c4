//! The files that a run writes; they appear at its end, or not at all.

use std::path::{Path, PathBuf};

use hermes_testbench::cosim::PacketResult;
use hermes_testbench::metrics::{self, PacketRecord, Report};
use hermes_testbench::output::OutputFile;
use hermes_testbench::slot::SlotPacket;
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

/// The frame that a kernel left of `frame`, which stood in its slot as `before`: its length on the
/// wire is what the descriptor has, and the bytes that were cut.
pub fn left(packet: &PacketResult, frame: &Frame, before: &SlotPacket) -> Frame {
    let cut = match packet.left.cut == before.cut {
        // The descriptor does not count more than 65,535.
        true => frame.wire_length.max(frame.data.len() as u32) - before.frame.len() as u32,
        false => packet.left.cut.into(),
    };
    let wire_length = (packet.bytes.len() as u32).saturating_add(cut);
    Frame { data: packet.bytes.clone(), wire_length, ..frame.clone() }
}

/// Writes to a capture what leaves for a packet: nothing if it is dropped, the frame that its
/// kernel left, or those that it made of it.
pub fn write_left(
    out: &mut CaptureWriter,
    packet: &PacketResult,
    frame: &Frame,
    before: &SlotPacket,
) -> anyhow::Result<()> {
    if !Verdict(packet.verdict).is_forward() {
        return Ok(());
    }
    if packet.egress.is_empty() {
        out.write(&left(packet, frame, before))?;
    }
    for sent in &packet.egress {
        out.write(&Frame { data: sent.clone(), wire_length: sent.len() as u32, ..frame.clone() })?;
    }
    Ok(())
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

    /// Writes what became of `frames`, which stood in slots as `packets`; those of the numbers
    /// `dropped` of the capture found none, and are not among them.
    pub fn write(
        self,
        (frames, packets): (&[Frame], &[SlotPacket]),
        dropped: &[u64],
        results: &[PacketResult],
        records: &[PacketRecord],
        report: &Report,
    ) -> anyhow::Result<()> {
        let Self { mut out, mut json, mut verdicts } = self;
        if let Some(out) = &mut out {
            for ((packet, frame), before) in results.iter().zip(frames).zip(packets) {
                write_left(out, packet, frame, before)?;
            }
        }
        if let Some((json, origin)) = &mut json {
            json.write_json(&origin.with(report))?;
        }
        if let Some(verdicts) = &mut verdicts {
            metrics::write_verdicts(verdicts, records, dropped)?;
        }
        out.map(CaptureWriter::commit).transpose()?;
        json.map(|(json, _)| json.commit()).transpose()?;
        verdicts.map(OutputFile::commit).transpose()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_testbench::cosim::LeftLength;

    /// What a kernel leaves of a frame of 60 bytes, of which `missing` are not there.
    fn wire_length(missing: u32, bytes: usize, cut: Option<u16>) -> u32 {
        let frame = Frame { data: vec![1; 60], wire_length: 60 + missing, timestamp: 7, port: 2 };
        let before = SlotPacket::new(&frame, 7);
        let length = LeftLength { cut: cut.unwrap_or(before.cut), ..LeftLength::whole(bytes) };
        let packet =
            PacketResult { index: 0, verdict: 0, bytes: vec![2; bytes], left: length, egress: Vec::new() };
        let left = left(&packet, &frame, &before);
        assert_eq!((left.data.len(), left.timestamp, left.port), (bytes, 7, 2));
        left.wire_length
    }

    #[test]
    fn the_wire_length_follows_the_kernel() {
        assert_eq!(wire_length(0, 60, None), 60);
        assert_eq!(wire_length(0, 36, None), 36, "shortened");
        assert_eq!(wire_length(0, 84, None), 84, "lengthened");
        assert_eq!(wire_length(1454, 60, None), 1514, "cut by the capture");
        assert_eq!(wire_length(1454, 36, None), 1490);
        assert_eq!(wire_length(1454, 36, Some(0)), 36, "the kernel left the rest away");
        assert_eq!(wire_length(100_000, 36, None), 100_036, "more than the descriptor counts");
    }
}
