//! A golden model that is a program: a capture goes in, and a capture and verdicts come out.

use std::fs::File;
use std::io::{self, BufWriter, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use hermes_interrupt::Running;

use super::{read_verdicts, Golden};
use crate::slot::SlotPacket;
use crate::staging::temporary_folder;
use crate::tables::InputError;
use crate::traffic::{self, Capture, CaptureError, Frame};

/// The environment variable that names the file for the verdicts.
pub const VERDICTS_VARIABLE: &str = "HERMES_VERDICTS";
/// What errors call the program's standard output.
const OUTPUT_NAME: &str = "its standard output";
/// Bytes beside a frame that the program may write for it, and those beside all frames: headers of
/// pcap or pcapng.
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
    /// It took too long; it was ended with all that it had started.
    #[error("did not end within {} s; --golden-timeout SECONDS gives it more time", .0.as_secs_f64())]
    TooLong(Duration),
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

/// How often it is looked whether a program that has closed its standard output has ended.
const POLL: Duration = Duration::from_millis(2);

/// What must come out for `packets`, as the command `command` tells, which the shell runs.
///
/// It reads a pcap file (Ethernet, nanoseconds) on standard input: the frames of `packets` as they
/// are in their slots, with the times of `frames`. It writes a pcap or pcapng file with a frame for
/// each packet, in the same order, to standard output, and the verdicts to the file that the
/// environment variable [`VERDICTS_VARIABLE`] names, in the form that [`read_verdicts`] reads.
/// `slot_capacity` is the largest frame that it may give, in bytes. After `limit` it is ended, with
/// all that it has started.
///
/// # Errors
/// [`ExternalError`].
pub fn run_external(
    command: &str,
    packets: &[SlotPacket],
    frames: &[Frame],
    slot_capacity: usize,
    limit: Duration,
) -> Result<Vec<Golden>, ExternalError> {
    let folder = temporary_folder("hermes-golden-").map_err(ExternalError::Start)?;
    let verdicts = folder.path().join("verdicts.csv");
    File::create(&verdicts).map_err(ExternalError::Start)?;
    let deadline = Deadline { limit, end: Instant::now().checked_add(limit) };
    let child = hermes_interrupt::spawn(
        Command::new("sh")
            .arg("-c")
            .arg(command)
            .env(VERDICTS_VARIABLE, &verdicts)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped()),
    );
    let mut running = child.map_err(ExternalError::Start)?;
    let lost = || ExternalError::Start(io::Error::other("no pipe"));
    let input = running.stdin.take().ok_or_else(lost)?;
    let output = running.stdout.take().ok_or_else(lost)?;
    let in_slots = |(packet, frame): (&SlotPacket, &Frame)| Frame {
        data: packet.frame.clone(),
        wire_length: packet.wire_length() as u32,
        ..frame.clone()
    };
    let given: Vec<_> = packets.iter().zip(frames).map(in_slots).collect();
    let most = CAPTURE_OVERHEAD + packets.len() as u64 * (slot_capacity as u64 + FRAME_OVERHEAD);
    // It may write before it has read everything: both at the same time, or both would wait for the
    // other. Nobody waits for these threads if the program does not end in time: something that has
    // left its group may still hold the pipes.
    let written = in_background(move || traffic::write_to(&mut BufWriter::new(input), &given));
    let read = in_background(move || {
        let mut bytes = Vec::new();
        output.take(most + 1).read_to_end(&mut bytes).map(|_| bytes)
    });
    let bytes = deadline.receive(&read)?.map_err(ExternalError::Pipe)?;
    if bytes.len() as u64 > most {
        return Err(ExternalError::Endless(most));
    }
    let status = deadline.wait(&mut running)?;
    if !status.success() {
        return Err(ExternalError::Failed(status));
    }
    let written = deadline.receive(&written)?;
    match written {
        // A program need not read to the end what it does not need; what it gave tells whether it
        // is enough.
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

/// What `work` gives, as soon as it gives it.
fn in_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // Nobody waits for it if there was an error.
        let _ = sender.send(work());
    });
    receiver
}

/// Until when a program may run.
struct Deadline {
    limit: Duration,
    /// None if it is beyond what the clock can tell.
    end: Option<Instant>,
}

impl Deadline {
    fn left(&self) -> Duration {
        self.end.map_or(self.limit, |end| end.saturating_duration_since(Instant::now()))
    }

    fn receive<T>(&self, from: &Receiver<T>) -> Result<T, ExternalError> {
        from.recv_timeout(self.left()).map_err(|error| match error {
            RecvTimeoutError::Timeout => ExternalError::TooLong(self.limit),
            RecvTimeoutError::Disconnected => ExternalError::Pipe(io::Error::other("a thread failed")),
        })
    }

    fn wait(&self, running: &mut Running) -> Result<ExitStatus, ExternalError> {
        loop {
            if let Some(status) = running.try_wait().map_err(ExternalError::Pipe)? {
                return Ok(status);
            }
            if self.left().is_zero() {
                return Err(ExternalError::TooLong(self.limit));
            }
            thread::sleep(POLL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{Generator, Traffic};
    use crate::verdict::Verdict;

    const LIMIT: Duration = Duration::from_secs(100);

    fn packets(count: usize) -> (Vec<SlotPacket>, Vec<Frame>) {
        let traffic = Traffic { kind: "imix".parse().unwrap(), seed: 3, bad_share: 0.0, rate: 100.0 };
        let frames: Vec<_> = Generator::new(traffic).take(count).collect();
        (frames.iter().map(|frame| SlotPacket::new(frame, 11)).collect(), frames)
    }

    fn run(command: &str, count: usize) -> Result<Vec<Golden>, String> {
        let (packets, frames) = packets(count);
        run_external(command, &packets, &frames, 2030, LIMIT)
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

    /// It and what it has started are gone then, whether it still writes or has only not ended.
    #[test]
    fn programs_that_take_too_long() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lives");
        let (packets, frames) = packets(2);
        let limit = Duration::from_millis(300);
        let start = format!("(while :; do echo >> '{}'; sleep 0.01; done) &", file.display());
        for command in [format!("{start} wait"), format!("exec >&-; {start} wait")] {
            let began = Instant::now();
            let error = run_external(&command, &packets, &frames, 2030, limit).unwrap_err().to_string();
            assert_eq!(error, "did not end within 0.3 s; --golden-timeout SECONDS gives it more time");
            assert!(began.elapsed() < Duration::from_secs(30), "{command}");
            let length = || std::fs::metadata(&file).unwrap().len();
            let ended = (0..100).any(|_| {
                let before = length();
                thread::sleep(Duration::from_millis(100));
                before == length()
            });
            assert!(ended, "{command}");
        }
    }
}
