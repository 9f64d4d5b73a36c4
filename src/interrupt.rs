//! What the command does when it is interrupted (SIGINT, SIGTERM).
//!
//! Programs that it started end. A simulation ends after its cycle, so that traces and waveforms
//! are closed and get their names; the rest of the command ends at once. Nothing is left in folders
//! of temporary files. A second signal does not wait for anything.

use std::ffi::c_int;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use hermes_interrupt as interrupt;
use hermes_testbench::staging::{self, StagingFolder};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use crate::print;

/// Time that the command has to notice that it is to end.
const PATIENCE: Duration = Duration::from_millis(1000);

/// Listens for signals from now on.
pub fn listen() -> io::Result<()> {
    let wanted: Vec<c_int> = [SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal)).collect();
    let mut signals = Signals::new(wanted)?;
    thread::Builder::new().name("signals".to_string()).spawn(move || {
        for signal in signals.forever() {
            let first = interrupt::signal().is_none();
            interrupt::request(signal);
            let began = Instant::now();
            while first && !interrupt::is_acknowledged() && began.elapsed() < PATIENCE {
                thread::sleep(Duration::from_millis(5));
            }
            if !first || !interrupt::is_acknowledged() {
                staging::remove_all();
                print::error(message(signal));
                low_level::exit(i32::from(code(signal)));
            }
        }
    })?;
    Ok(())
}

/// Whether the process was started with this signal ignored, as shells start commands in the
/// background: that stays so.
fn is_ignored(signal: c_int) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 != 0
}

/// Gives this process, and programs that it starts, a folder for temporary files, which goes with
/// it. Without one they are as usual.
pub fn temporary_folder() -> Option<StagingFolder> {
    let folder = StagingFolder::create_in(&std::env::temp_dir()).ok()?;
    let path = std::path::absolute(folder.path()).ok()?;
    std::env::set_var("TMPDIR", path);
    Some(folder)
}

/// What is told of an interruption.
pub fn message(signal: c_int) -> String {
    format!("interrupted by {}", low_level::signal_name(signal).unwrap_or("a signal"))
}

/// The exit code that shells give a command which a signal ended.
pub fn code(signal: c_int) -> u8 {
    u8::try_from(128 + signal).unwrap_or(1)
}
