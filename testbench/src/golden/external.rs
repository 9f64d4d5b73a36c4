//! A golden model that is a program: a capture goes in, and a capture and verdicts come out.

use std::fs::File;
use std::io::{self, BufWriter, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

use super::Golden;
use crate::metrics::read_verdicts;
use crate::slot::SlotPacket;
use crate::tables::InputError;
use crate::traffic::{self, Capture, CaptureError, Frame};

/// The environment variable that names the file for the verdicts.
pub const VERDICTS_VARIABLE: &str = "HERMES_VERDICTS";
/// What errors call the program's standard output.
const OUTPUT_NAME: &str = "its standard output";
/// Bytes beside a frame that the program may write for it, and those beside all frames: headers of pcap or pcapng.
const FRAME_OVERHEAD: u64 = 256;
const CAPTURE_OVERHEAD: u64 = 1 << 20;

/// Why a program did not tell what must come out.
#[derive(Debug, thiserror::Error)]
pub enum ExternalError {
    /// The shell could not be started, or a pipe or temporary file was not to be had.
    #[error("cannot be started")]
    Start(#[source] io::Error),
    /// It could not be spoken with.
    #[error("its standard input or output failed")]
    Pipe(#[source] io::Error),
    /// It failed.
    #[error("ended with {0}")]
    Failed(ExitStatus),
    /// It wrote without end.
    #[error(
        "wrote more than {0} bytes to its standard output; expected a capture with a frame for each packet"
    )]
    Endless(u64),
    /// What it wrote is no capture.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// What it wrote to the file with the verdicts is none.
    #[error("the file that {VERDICTS_VARIABLE} names: {0}")]
    Verdicts(InputError),
    /// It told of other packets than it was given.
    #[error("gave {got} {what} for {expected} packets; expected one for each, those that are dropped too")]
    Count {
        /// Frames or verdicts.
        what: &'static str,
        /// So many.
        got: usize,
        /// Packets that it was given.
        expected: usize,
    },
}

/// A process that is ended if it is not waited for.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What must come out for `packets`, as the command `command` tells, which the shell runs.
///
/// It reads a pcap file (Ethernet, nanoseconds) on standard input: the frames of `packets` as they are in their slots, with the times of `frames`. It writes
/// a pcap or pcapng file with a frame for each packet, in the same order, to standard output, and the verdicts to the file that the
/// environment variable [`VERDICTS_VARIABLE`] names, in the form that [`read_verdicts`] reads. `slot_capacity` is the
/// largest frame that it may give, in bytes.
///
/// # Errors
/// [`ExternalError`].
pub fn run_external(
    command: &str,
    packets: &[SlotPacket],
    frames: &[Frame],
    slot_capacity: usize,
) -> Result<Vec<Golden>, ExternalError> {
    let folder = tempfile::Builder::new().prefix("hermes-golden-").tempdir().map_err(ExternalError::Start)?;
    let verdicts = folder.path().join("verdicts.csv");
    File::create(&verdicts).map_err(ExternalError::Start)?;
    let child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .env(VERDICTS_VARIABLE, &verdicts)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut running = Running(child.map_err(ExternalError::Start)?);
    let lost = || ExternalError::Start(io::Error::other("no pipe"));
    let input = running.0.stdin.take().ok_or_else(lost)?;
    let output = running.0.stdout.take().ok_or_else(lost)?;
    let in_slots = |(packet, frame): (&SlotPacket, &Frame)| Frame {
        data: packet.frame.clone(),
        wire_length: packet.wire_length() as u32,
        ..frame.clone()
    };
    let given: Vec<_> = packets.iter().zip(frames).map(in_slots).collect();
    let most = CAPTURE_OVERHEAD + packets.len() as u64 * (slot_capacity as u64 + FRAME_OVERHEAD);
    // It may write before it has read everything: both at the same time, or both would wait for the other.
    let (written, read) = thread::scope(|scope| {
        let writer = scope.spawn(move || traffic::write_to(&mut BufWriter::new(input), &given));
        let mut bytes = Vec::new();
        let read = output.take(most + 1).read_to_end(&mut bytes);
        if read.is_err() || bytes.len() as u64 > most {
            // The writer must not wait for a program that nobody listens to.
            let _ = running.0.kill();
        }
        let written = writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer failed")));
        (written, read.map(|_| bytes))
    });
    let bytes = read.map_err(ExternalError::Pipe)?;
    if bytes.len() as u64 > most {
        return Err(ExternalError::Endless(most));
    }
    let status = running.0.wait().map_err(ExternalError::Pipe)?;
    if !status.success() {
        return Err(ExternalError::Failed(status));
    }
    match written {
        // A program need not read to the end what it does not need; what it gave tells whether it is enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(ExternalError::Pipe(error)),
        _ => {}
    }
    let count = |what, got| match got == packets.len() {
        true => Ok(()),
        false => Err(ExternalError::Count { what, got, expected: packets.len() }),
    };
    let Capture { frames, .. } = traffic::read_from(&bytes[..], Path::new(OUTPUT_NAME), None)?;
    count("frames", frames.len())?;
    let verdicts = read_verdicts(&verdicts)
        .map_err(|error| ExternalError::Verdicts(InputError { path: VERDICTS_VARIABLE.into(), ..error }))?;
    count("verdicts", verdicts.len())?;
    let golden = |(frame, verdict): (Frame, _)| Golden { verdict, frame: frame.data };
    Ok(frames.into_iter().zip(verdicts).map(golden).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{Generator, Traffic};
    use crate::verdict::Verdict;

    fn packets(count: usize) -> (Vec<SlotPacket>, Vec<Frame>) {
        let traffic = Traffic { kind: "imix".parse().unwrap(), seed: 3, bad_share: 0.0, rate: 100.0 };
        let frames: Vec<_> = Generator::new(traffic).take(count).collect();
        (frames.iter().map(|frame| SlotPacket::new(frame, 11)).collect(), frames)
    }

    fn run(command: &str, count: usize) -> Result<Vec<Golden>, String> {
        let (packets, frames) = packets(count);
        run_external(command, &packets, &frames, 2030)
            .map_err(|error| format!("{:#}", anyhow::Error::from(error)))
    }

    /// More than a pipe holds, in both directions.
    #[test]
    fn frames_and_verdicts_come_back() {
        let verdicts = "i=0; while [ $i -lt 900 ]; do echo $i,$i; i=$((i+1)); done > $HERMES_VERDICTS; cat";
        let golden = run(verdicts, 900).unwrap();
        let (packets, _) = packets(900);
        for (number, (golden, packet)) in (0..).zip(golden.iter().zip(&packets)) {
            assert_eq!((golden.verdict, &golden.frame), (Verdict(number), &packet.frame));
        }
        assert_eq!(golden.len(), 900);
        // It reads nothing, and there is nothing to read.
        assert_eq!(run("cat", 0), Ok(Vec::new()));
    }

    #[test]
    fn programs_that_do_not_do_what_they_should() {
        let verdicts = "printf '0,0\\n1,0\\n' > $HERMES_VERDICTS";
        for (command, expected) in [
            ("cat; exit 3", "ended with exit status: 3"),
            ("no-such-program-at-all", "ended with exit status: 127"),
            ("kill -9 $$", "ended with signal: 9"),
            ("true", "its standard output: "),
            ("echo hello", "expected a pcap or pcapng capture"),
            ("cat", "gave 0 verdicts for 2 packets"),
            ("head -c 100", "its standard output: truncated"),
            ("head -c 24", "gave 0 frames for 2 packets"),
            ("cat; echo what > $HERMES_VERDICTS", "the file that HERMES_VERDICTS names: HERMES_VERDICTS:1:"),
            ("cat; echo 0,0 > $HERMES_VERDICTS", "gave 1 verdicts for 2 packets"),
            ("cat; printf '0,0\\n1,0\\n2,0\\n' > $HERMES_VERDICTS", "gave 3 verdicts for 2 packets"),
            ("cat /dev/zero", "wrote more than"),
        ] {
            let error = run(&format!("{verdicts}; {command}"), 2).and_then(|_| run(command, 2)).unwrap_err();
            assert!(error.contains(expected), "{command}: {error}");
        }
    }
}
