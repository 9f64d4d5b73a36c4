//! What the user expects of a run: packets, verdicts, or what a golden model of the user's own
//! tells.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{bail, ensure, Context};
use hermes_testbench::cosim::PacketResult;
use hermes_testbench::golden::read_verdicts;
use hermes_testbench::golden::{run_external, Difference, Golden};
use hermes_testbench::metrics::Report;
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::traffic::{self, Frame};
use hermes_testbench::verdict::Verdict;

use super::outcome::both;
use super::program::{seconds, Program};
use crate::files::Files;

/// What is expected.
#[derive(clap::Args)]
#[command(next_help_heading = "What is expected")]
pub struct ExpectArgs {
    /// Capture that the forwarded packets must equal, byte by byte and in order; its times do not
    /// matter
    #[arg(long, value_name = "OUT.pcap", requires = "pcap")]
    expect: Option<PathBuf>,
    /// Verdicts that the packets must have, as --verdicts writes them; only the columns packetIdx
    /// and verdict are compared
    #[arg(long, value_name = "FILE.csv", requires = "pcap")]
    expect_verdicts: Option<PathBuf>,
    /// Golden model of your own: a command of the shell that reads a pcap file on standard input
    /// and writes one with a frame for each packet, as the kernel must leave it, to standard
    /// output, and lines `packetIdx,verdict` to the file that the environment variable
    /// HERMES_VERDICTS names (docs/kernels.md has an example). With --app it takes the place of the
    /// app's golden model
    #[arg(long, value_name = "COMMAND", requires = "pcap")]
    golden: Option<String>,
    /// Time that it has; then it is ended with all that it has started, and the run fails
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds, requires = "golden")]
    golden_timeout: Duration,
}

impl ExpectArgs {
    /// What is read.
    pub fn files(&self) -> Files {
        Files::default()
            .input("--expect", self.expect.as_deref())
            .input("--expect-verdicts", self.expect_verdicts.as_deref())
    }

    /// Whether there is a golden model of the user's own.
    pub fn has_golden(&self) -> bool {
        self.golden.is_some()
    }

    /// The option that says what comes out of each packet of the capture, if there is one.
    pub fn names_packets(&self) -> Option<&'static str> {
        let verdicts = self.expect_verdicts.as_ref().map(|_| "--expect-verdicts");
        self.expect.as_ref().map(|_| "--expect").or(verdicts)
    }

    /// Reads what is expected, and asks the golden model what must come out for `packets`, the
    /// frames of a capture in slots with room for `capacity` bytes.
    ///
    /// # Errors
    /// A file cannot be used, or the golden model fails or does not tell of every packet.
    pub fn load(
        &self,
        program: &Program,
        packets: &[SlotPacket],
        frames: &[Frame],
        capacity: usize,
    ) -> anyhow::Result<Expected> {
        let forwarded = self.expect.as_ref().map(|path| {
            let capture = traffic::read(path, None)?;
            Ok::<_, anyhow::Error>((path.clone(), capture.frames))
        });
        let verdicts = self
            .expect_verdicts
            .as_ref()
            .map(|path| Ok::<_, anyhow::Error>((path.clone(), read_verdicts(path)?)));
        let (forwarded, verdicts) = (forwarded.transpose()?, verdicts.transpose()?);
        let golden = match &self.golden {
            None => None,
            Some(command) => {
                ensure!(
                    program.app.as_ref().is_none_or(|app| app.egress_entries(1) == 0),
                    "--golden: {} sends other frames than those in the slots, which a program cannot tell; expected another app, or none",
                    program.name
                );
                let told = run_external(command, packets, frames, capacity, self.golden_timeout);
                Some(told.with_context(|| format!("--golden `{command}`"))?)
            }
        };
        Ok(Expected { forwarded, verdicts, golden })
    }
}

/// What must come out.
pub struct Expected {
    forwarded: Option<(PathBuf, Vec<Frame>)>,
    verdicts: Option<(PathBuf, Vec<Verdict>)>,
    golden: Option<Vec<Golden>>,
}

impl Expected {
    /// What the golden model of the user's own tells of each packet, if there is one.
    pub fn golden(&self) -> Option<&[Golden]> {
        self.golden.as_deref()
    }

    /// Compares what came out with the golden model, which `report` tells of, and with the files;
    /// with the files only if what left was compared with the golden model already (`checked`).
    ///
    /// # Errors
    /// How many packets differ, with the first in full.
    pub fn compare(
        &self,
        results: &[PacketResult],
        checked: bool,
        report: &mut Report,
    ) -> anyhow::Result<()> {
        let golden = if checked { Ok(()) } else { self.compare_golden(results) };
        report.set_compared(self.golden.is_some(), golden.is_ok());
        both(golden, self.compare_files(results))
    }

    /// Compares what came out with the golden model.
    fn compare_golden(&self, results: &[PacketResult]) -> anyhow::Result<()> {
        if let Some(golden) = &self.golden {
            // There is one for each packet.
            let expected = golden.iter().cloned();
            if let Some(differences) = Differences::find(expected.zip(results.iter().map(left))) {
                bail!("{differences} from the golden model of --golden; the first:\n{}", differences.first);
            }
        }
        Ok(())
    }

    /// Compares what came out with the files.
    fn compare_files(&self, results: &[PacketResult]) -> anyhow::Result<()> {
        if let Some((path, verdicts)) = &self.verdicts {
            let expect = |(verdict, packet): (&Verdict, &PacketResult)| {
                let (index, got) = left(packet);
                (Golden { verdict: *verdict, frame: got.frame.clone() }, (index, got))
            };
            if let Some(differences) = Differences::find(verdicts.iter().zip(results).map(expect)) {
                let path = path.display();
                bail!("{differences} from --expect-verdicts {path}; the first:\n{}", differences.first);
            }
            same_count(
                &format!("--expect-verdicts {}", path.display()),
                "verdicts",
                verdicts.len(),
                "packets were committed",
                results.len(),
            )?;
        }
        if let Some((path, frames)) = &self.forwarded {
            let sent: Vec<_> = results.iter().flat_map(sent).collect();
            let expect = |(frame, (index, got)): (&Frame, &(u64, Golden))| {
                (Golden { verdict: got.verdict, frame: frame.data.clone() }, (*index, got.clone()))
            };
            let path = path.display();
            if let Some(differences) = Differences::find(frames.iter().zip(&sent).map(expect)) {
                bail!(
                    "{differences} from --expect {path} ({} forwarded, {} in the file); the first, packet {} of the file, counted from 0:\n{}",
                    sent.len(),
                    frames.len(),
                    differences.position,
                    differences.first
                );
            }
            same_count(&format!("--expect {path}"), "packets", frames.len(), "were forwarded", sent.len())?;
        }
        Ok(())
    }
}

/// A packet that is equal as far as it goes, but there are more or fewer of them.
fn same_count(option: &str, what: &str, expected: usize, done: &str, got: usize) -> anyhow::Result<()> {
    if expected == got {
        return Ok(());
    }
    bail!("{option}: has {expected} {what}, but {got} {done}; the first {} agree", expected.min(got))
}

/// What is left of a packet in its slot, and its number.
fn left(packet: &PacketResult) -> (u64, Golden) {
    (packet.index, Golden { verdict: Verdict(packet.verdict), frame: packet.bytes.clone() })
}

/// What leaves for a packet, with its number: nothing, its frame, or the frames in its place.
fn sent(packet: &PacketResult) -> Vec<(u64, Golden)> {
    let verdict = Verdict(packet.verdict);
    let frames = match (verdict.is_forward(), packet.egress.is_empty()) {
        (false, _) => Vec::new(),
        (true, true) => vec![packet.bytes.clone()],
        (true, false) => packet.egress.clone(),
    };
    frames.into_iter().map(|frame| (packet.index, Golden { verdict, frame })).collect()
}

/// Packets that came out otherwise than expected: how many of all that were compared, and the
/// first.
struct Differences {
    count: usize,
    compared: usize,
    position: usize,
    first: Difference,
}

impl Differences {
    /// What differs of pairs of what is expected and a packet's number with what came out.
    fn find(pairs: impl Iterator<Item = (Golden, (u64, Golden))>) -> Option<Self> {
        let (mut found, mut compared): (Option<Self>, _) = (None, 0);
        for (expected, (index, got)) in pairs {
            if let Some(first) = Difference::find(index, expected, got) {
                match &mut found {
                    Some(found) => found.count += 1,
                    None => found = Some(Self { count: 1, compared: 0, position: compared, first }),
                }
            }
            compared += 1;
        }
        found.map(|found| Self { compared, ..found })
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} packets differ", self.count, self.compared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_testbench::cosim::LeftLength;

    fn results() -> Vec<PacketResult> {
        let verdicts = [0, 0x8000_0001, 2, 0];
        let result = |(index, verdict): (u64, u32)| PacketResult {
            index,
            verdict,
            bytes: vec![index as u8; 60],
            left: LeftLength::whole(60),
            egress: if index == 3 { vec![vec![7; 60], vec![8; 60]] } else { Vec::new() },
        };
        (0..).zip(verdicts).map(result).collect()
    }

    fn frames(bytes: &[u8]) -> Option<(PathBuf, Vec<Frame>)> {
        let frame = |byte: &u8| Frame { data: vec![*byte; 60], wire_length: 60, timestamp: 9, port: 0 };
        Some(("out.pcap".into(), bytes.iter().map(frame).collect()))
    }

    fn message(expected: &Expected) -> String {
        expected.compare_files(&results()).unwrap_err().to_string()
    }

    #[test]
    fn forwarded_packets() {
        let expected = |bytes: &[u8]| Expected { forwarded: frames(bytes), verdicts: None, golden: None };
        expected(&[0, 2, 7, 8]).compare_files(&results()).unwrap();
        let error = message(&expected(&[0, 1, 7, 9]));
        assert!(error.starts_with("2 of 4 packets differ from --expect out.pcap (4 forwarded, 4 in the file); the first, packet 1 of the file"), "{error}");
        assert!(error.contains("packet 2 of the capture, counted from 0:"), "{error}");
        let error = message(&expected(&[0, 2]));
        assert!(error.contains("has 2 packets, but 4 were forwarded; the first 2 agree"), "{error}");
    }

    #[test]
    fn verdicts_and_golden_models() {
        let verdicts = |words: &[u32]| Expected {
            forwarded: None,
            verdicts: Some(("v.csv".into(), words.iter().copied().map(Verdict).collect())),
            golden: None,
        };
        verdicts(&[0, 0x8000_0001, 2, 0]).compare_files(&results()).unwrap();
        let error = message(&verdicts(&[0, 0, 2, 0]));
        assert!(
            error.contains("1 of 4 packets differ from --expect-verdicts v.csv")
                && error.contains("packet 1 "),
            "{error}"
        );
        assert!(message(&verdicts(&[0])).contains("has 1 verdicts, but 4 packets were committed"));
        let mut golden: Vec<_> = results().iter().map(|packet| left(packet).1).collect();
        let expected =
            |golden: &[Golden]| Expected { forwarded: None, verdicts: None, golden: Some(golden.to_vec()) };
        expected(&golden).compare_golden(&results()).unwrap();
        golden[3].frame[22] = 1;
        let error = expected(&golden).compare_golden(&results()).unwrap_err().to_string();
        assert!(error.contains("1 of 4 packets differ") && error.contains("IPv4 time to live"), "{error}");
    }
}
