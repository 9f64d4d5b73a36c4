//! How a process is ended from outside, in order.
//!
//! A signal [requests](request) the end. Work that looks [whether it is requested](is_requested)
//! stops, [says so](acknowledge) and returns an error, so that what it has written is closed;
//! programs that were started by [`spawn`] or [`output`] end with all that they have started
//! themselves.

use std::io::{self, Read as _};
use std::ops::{Deref, DerefMut};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The signal that asked for the end; 0: none did.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static ACKNOWLEDGED: AtomicBool = AtomicBool::new(false);
/// The programs that run: numbers of processes, and whether they end by themselves when asked.
static RUNNING: Mutex<Vec<(u32, bool)>> = Mutex::new(Vec::new());
/// Time that a program has to end by itself.
const PATIENCE: Duration = Duration::from_secs(3);

/// Asks for the end, because of the signal of this number (above 0), and ends all programs.
pub fn request(signal: i32) {
    SIGNAL.store(signal, Ordering::SeqCst);
    running().drain(..).for_each(|(id, gentle)| end_group(id, gentle));
}

/// Whether the process is to end; cheap enough for every cycle of a simulation.
#[inline]
#[must_use]
pub fn is_requested() -> bool {
    SIGNAL.load(Ordering::Relaxed) != 0
}

/// The signal that asked for the end, if one did.
#[must_use]
pub fn signal() -> Option<i32> {
    Some(SIGNAL.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
}

/// Says that the work ends in order now, and takes as long as it takes.
pub fn acknowledge() {
    ACKNOWLEDGED.store(true, Ordering::SeqCst);
}

/// Whether the work ends in order.
#[must_use]
pub fn is_acknowledged() -> bool {
    ACKNOWLEDGED.load(Ordering::SeqCst)
}

fn running() -> MutexGuard<'static, Vec<(u32, bool)>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends a program and those that it started: it may be a script. With `gentle` it is asked to.
#[cfg(unix)]
fn end_group(id: u32, gentle: bool) {
    use rustix::process::{kill_process_group, Pid, Signal};
    if let Some(group) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // One that has ended cannot be killed.
        let _ = kill_process_group(group, if gentle { Signal::TERM } else { Signal::KILL });
    }
}

#[cfg(not(unix))]
fn end_group(_: u32, _: bool) {}

/// A program that was started. Dropped before its end, it is killed with all that it started.
#[derive(Debug)]
pub struct Running(Child, bool);

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let id = self.0.id();
        running().retain(|(other, _)| *other != id);
        if self.1 && matches!(self.0.try_wait(), Ok(None)) {
            end_group(id, true);
            let asked = Instant::now();
            while asked.elapsed() < PATIENCE && matches!(self.0.try_wait(), Ok(None)) {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        end_group(id, false);
        let _ = self.0.wait();
    }
}

/// Starts a program in a group of processes of its own, which ends when the end of this process is
/// requested.
///
/// # Errors
/// It does not start, or the end is requested already ([`io::ErrorKind::Interrupted`]).
pub fn spawn(command: &mut Command) -> io::Result<Running> {
    start(command, false)
}

/// As [`spawn`], of a program that ends by itself, with all that it has started in groups of their
/// own, when it is asked to (SIGTERM): one of ours. It is killed if it does not within three
/// seconds after [`Running`] is dropped.
///
/// # Errors
/// As [`spawn`].
pub fn spawn_gentle(command: &mut Command) -> io::Result<Running> {
    start(command, true)
}

fn start(command: &mut Command, gentle: bool) -> io::Result<Running> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    // Held meanwhile: a request comes before the start, or finds the program.
    let mut running = running();
    if is_requested() {
        return Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted"));
    }
    let child = command.spawn()?;
    running.push((child.id(), gentle));
    Ok(Running(child, gentle))
}

/// As [`Command::output`], by [`spawn`]; nothing can be typed in.
///
/// # Errors
/// As [`spawn`]; or what the program says cannot be read.
pub fn output(command: &mut Command) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = spawn(command)?;
    let mut errors = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        errors.as_mut().map_or(Ok(0), |errors| errors.read_to_end(&mut bytes)).map(|_| bytes)
    });
    let mut stdout = Vec::new();
    if let Some(mut output) = child.stdout.take() {
        output.read_to_end(&mut stdout)?;
    }
    let stderr = reader.join().unwrap_or_else(|_| Ok(Vec::new()))?;
    let status: ExitStatus = child.wait()?;
    Ok(Output { status, stdout, stderr })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// One test, since a request is for ever.
    #[test]
    fn programs_end_with_the_process_that_started_them() {
        let shell = |script: &str| output(Command::new("sh").args(["-c", script])).unwrap();
        let said = shell("echo out; echo error >&2; exit 3");
        assert_eq!(
            (said.status.code(), &said.stdout[..], &said.stderr[..]),
            (Some(3), &b"out\n"[..], &b"error\n"[..])
        );
        // A script and what it starts
        let script = "sleep 1000 & echo $!; wait";
        let mut child = spawn(Command::new("sh").args(["-c", script]).stdout(Stdio::piped())).unwrap();
        let mut number = String::new();
        let mut lines = io::BufReader::new(child.stdout.take().unwrap());
        io::BufRead::read_line(&mut lines, &mut number).unwrap();
        // One that ends by itself is asked to.
        let script = "trap 'echo asked; exit 5' TERM; echo ready; while :; do sleep 0.02; done";
        let mut gentle =
            spawn_gentle(Command::new("sh").args(["-c", script]).stdout(Stdio::piped())).unwrap();
        let mut said = io::BufReader::new(gentle.stdout.take().unwrap());
        let mut line = String::new();
        io::BufRead::read_line(&mut said, &mut line).unwrap();
        assert!(!is_requested() && signal().is_none());
        request(2);
        said.read_to_string(&mut line).unwrap();
        assert_eq!((line.as_str(), gentle.wait().unwrap().code()), ("ready\nasked\n", Some(5)));
        assert!(is_requested() && signal() == Some(2) && !is_acknowledged());
        assert!(!child.wait().unwrap().success());
        // The pipe is closed when the last of them is gone.
        lines.read_to_end(&mut Vec::new()).unwrap();
        let error = spawn(&mut Command::new("true")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
        acknowledge();
        assert!(is_acknowledged());
    }
}
