//! Standard output and progress.

use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};

/// Prints a line. A reader that went away (`hermes ... | head`) is an error that [`is_broken_pipe`] knows.
pub fn line(text: impl std::fmt::Display) -> anyhow::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{text}")?;
    Ok(output.flush()?)
}

/// Whether `error` says that nobody reads standard output any more.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
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
