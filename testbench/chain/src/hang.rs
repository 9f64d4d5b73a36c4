//! Functions that hang: when one does, and what then happens.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::placed::Function;

/// Cycles within which the threads are counted that the watchdog ends, at least.
const WINDOW: u64 = 1 << 16;
/// Threads that it must end before a function hangs, unless the operator says how many.
const USUAL_FAULTS: u64 = 64;

/// What the host does when the watchdog ends threads of a function again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnHang {
    /// It tells so.
    Report,
    /// It bends the function to a stub that drops every packet.
    Drop,
    /// It bends the function to a stub that forwards every packet as it came, to port 0.
    Pass,
}

/// When a function hangs, and what then happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hang {
    /// What the host does.
    pub action: OnHang,
    /// Threads that the watchdog must end within the [`window`], if the operator says how many.
    /// Each warp counts with all its lanes: it has a slot for as long, however many threads run.
    pub faults: Option<u32>,
    /// The chain file, and the line that says so.
    pub(super) path: PathBuf,
    pub(super) line: usize,
}

/// Cycles within which the threads of a function are counted that its watchdog ends.
#[must_use]
pub fn window(watchdog: u32) -> u64 {
    WINDOW.max(2 * u64::from(watchdog))
}

impl Function {
    /// Threads with which the function hangs, if the watchdog ends so many within the window: on
    /// warps of `lanes`, of which `limit` are in flight at most (0: any number), where a core may
    /// have as few as `warps`.
    #[must_use]
    pub fn hang_faults(&self, lanes: u32, limit: u32, warps: u32) -> u64 {
        let said = self.on_hang.as_ref().and_then(|hang| hang.faults);
        said.map_or_else(|| USUAL_FAULTS.min(self.most_hang_faults(1, warps, lanes, limit)), u64::from)
    }

    /// Threads that the watchdog surely ends within the window if all warps of the function hang,
    /// on so many cores with so many of them: those of one turn fewer than the window has
    /// watchdogs, since the next warp starts a little later.
    pub(super) fn most_hang_faults(&self, cores: usize, warps: u32, lanes: u32, limit: u32) -> u64 {
        let slots = cores as u64 * u64::from(warps);
        let slots = if limit == 0 { slots } else { slots.min(limit.into()) };
        let turns = window(self.watchdog) / u64::from(self.watchdog.max(1)) - 1;
        slots * u64::from(lanes) * turns
    }
}
