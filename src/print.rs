//! Standard output, standard error and progress.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Standard output could not be written.
#[derive(Debug)]
struct OutputError(io::Error);

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "standard output: {}", self.0)
    }
}

impl std::error::Error for OutputError {}

/// Whether an output of the command goes to standard output, by the name `-`.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Leaves standard output to a file of the command: what else would be printed there goes to
/// standard error.
pub fn leave_standard_output() {
    TAKEN.store(true, Ordering::Relaxed);
}

fn is_taken() -> bool {
    TAKEN.load(Ordering::Relaxed)
}

/// Prints a line. A reader that went away (`hermes ... | head`) is an error that [`is_unread`]
/// knows.
pub fn line(text: impl fmt::Display) -> anyhow::Result<()> {
    if is_taken() {
        note(text);
        return Ok(());
    }
    let mut output = io::stdout().lock();
    let written = writeln!(output, "{text}").and_then(|()| output.flush());
    Ok(written.map_err(OutputError)?)
}

/// Writes bytes as they are.
pub fn bytes(bytes: &[u8]) -> anyhow::Result<()> {
    if is_taken() {
        let _ = io::stderr().write_all(bytes);
        return Ok(());
    }
    let mut output = io::stdout().lock();
    let written = output.write_all(bytes).and_then(|()| output.flush());
    Ok(written.map_err(OutputError)?)
}

/// The command did what it should, and ends with this exit code.
#[derive(Debug)]
pub struct Exit(pub u8);

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit code {}", self.0)
    }
}

impl std::error::Error for Exit {}

/// Whether `error` says that nobody reads standard output any more.
pub fn is_unread(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    let output = error.downcast_ref::<OutputError>().map(|OutputError(error)| error);
    // An output by the name `-`.
    let file = error.downcast_ref::<io::Error>().filter(|_| is_taken());
    output.or(file).is_some_and(broken)
}

/// Prints an error. If standard error cannot be written, the exit code has to tell it.
pub fn error(text: impl fmt::Display) {
    // In one piece, so that lines of processes that share it do not mix.
    let _ = io::stderr().write_all(format!("error: {text}\n").as_bytes());
}

/// Prints a line for the user on standard error, where it may be lost.
pub fn note(text: impl fmt::Display) {
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Says on a terminal that something is under way, and for how long; hidden elsewhere and with
/// `quiet`.
pub fn spinner(quiet: bool) -> ProgressBar {
    if quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}");
    let spinner =
        ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner
}

/// A bar for `total` packets on a terminal; hidden elsewhere and with `quiet`.
pub fn progress(total: u64, quiet: bool) -> ProgressBar {
    if quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(
        "{bar:40} {human_pos} of {human_len} packets, {elapsed}, {eta} left {msg}",
    );
    ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// How a bar counts simulated cycles instead of packets.
pub fn cycles_style() -> Option<ProgressStyle> {
    ProgressStyle::with_template("{bar:40} {human_pos} of {human_len} cycles, {elapsed}, {eta} left {msg}")
        .ok()
}
