//! The network interface: frames of RoCEv2, and what they do to memory.
//!
//! Sources: InfiniBand Architecture Specification, volume 1 (transport headers, chapter 9; RoCEv2, annex A17); RFC 791, RFC 768.

mod acknowledge;
mod byte_rotate;
mod counters;
mod frame_buffer;
mod frame_builder;
mod frame_check;
mod frame_head;
mod frame_turns;
mod header_bytes;
mod icrc;
mod net_interface;
mod payload_writer;
mod put_check;
mod queue_pairs;
mod receiver;
mod requester;
mod retry_timers;
mod work;
mod work_table;

pub use acknowledge::{Acknowledge, AnswerMark};
pub use byte_rotate::ByteRotate;
pub use counters::{counter, NetCounters};
pub use frame_buffer::{FrameBuffer, StoredFrame};
pub use frame_builder::FrameBuilder;
pub use frame_check::{cause, CheckedFrame, FrameCheck};
pub use frame_head::{FrameHead, NetIdentity};
pub use frame_turns::FrameTurns;
pub use header_bytes::HeaderBytes;
pub use icrc::{Icrc, RESIDUE};
pub use net_interface::NetInterface;
pub use payload_writer::{PayloadPlace, PayloadWriter};
pub use put_check::PutCheck;
pub use queue_pairs::{state, word, QueuePairs, SendPair, QUEUE_PAIRS};
pub use receiver::Receiver;
pub use requester::{code, Requester};
pub use retry_timers::RetryTimers;
pub use work::{PeerAnswer, RequestRow, WorkEntry};
pub use work_table::WorkTable;

#[cfg(test)]
mod equivalence_tests;
#[cfg(test)]
mod testing;
