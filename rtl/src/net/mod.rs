//! The network interface: frames of RoCEv2, and what they do to memory.
//!
//! Sources: InfiniBand Architecture Specification, volume 1 (transport headers, chapter 9; RoCEv2, annex A17); RFC 791, RFC 768.

mod byte_rotate;
mod counters;
mod frame_buffer;
mod frame_builder;
mod frame_check;
mod frame_head;
mod header_bytes;
mod icrc;
mod inline_put;
mod net_interface;
mod payload_writer;
mod queue_pairs;
mod receiver;

pub use byte_rotate::ByteRotate;
pub use counters::{counter, NetCounters};
pub use frame_buffer::{FrameBuffer, StoredFrame};
pub use frame_builder::FrameBuilder;
pub use frame_check::{cause, CheckedFrame, FrameCheck};
pub use frame_head::{FrameHead, NetIdentity};
pub use header_bytes::HeaderBytes;
pub use icrc::{Icrc, RESIDUE};
pub use inline_put::InlinePut;
pub use net_interface::NetInterface;
pub use payload_writer::{PayloadPlace, PayloadWriter};
pub use queue_pairs::{word, QueuePairs, SendPair, QUEUE_PAIRS};
pub use receiver::Receiver;

#[cfg(test)]
mod equivalence_tests;
#[cfg(test)]
mod testing;
