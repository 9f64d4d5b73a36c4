//! Command queues: what warps write into their rings in memory is noticed, fetched and given to the
//! harts of the command processor, and what becomes of it is written to the control lines
//! (docs/shmem.md).

mod command_queues;
#[cfg(test)]
mod command_queues_tests;
mod look_list;
mod queue_step;
mod queue_watch;
mod stage_buffers;

pub use crate::types::{event, CompletedCommand, QueueEvent, QueueRow, StagedCommand, MOST_QUEUES};
pub use command_queues::CommandQueues;
pub use look_list::LookList;
pub use queue_step::QueueStep;
pub use queue_watch::QueueWatch;
pub use stage_buffers::StageBuffers;
