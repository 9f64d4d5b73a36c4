//! The thread spawner: starts warps of threads on the cores that belong to no packet (Pangaea,
//! section 4.2).
//!
//! [`ThreadSpawner`] composes the units; `docs/spawner.md` shows how they work together.

mod completion_writer;
mod spawn_capture;
mod spawn_issue;
mod spawn_jobs;
mod spawn_order;
mod spawn_page;
mod thread_spawner;
mod trap_count;
mod write_merge;

pub use completion_writer::CompletionWriter;
pub use spawn_capture::SpawnCapture;
pub use spawn_issue::SpawnIssue;
pub use spawn_jobs::SpawnJobs;
pub use spawn_order::SpawnOrder;
pub use spawn_page::SpawnPage;
pub use thread_spawner::{ThreadSpawner, COMPLETION_TAG};
pub use trap_count::TrapCount;
pub use write_merge::WriteMerge;
