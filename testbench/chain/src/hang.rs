//! Functions that hang: when one does, and what then happens.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Cycles within which the threads are counted that the watchdog ends, at least.
const WINDOW: u64 = 1 << 16;

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
