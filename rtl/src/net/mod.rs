//! The network interface: frames of RoCEv2, and what they do to memory.
//!
//! Sources: InfiniBand Architecture Specification, volume 1 (transport headers, chapter 9; RoCEv2, annex A17); RFC 791, RFC 768.

mod frame_builder;
mod frame_head;
mod header_bytes;
mod icrc;

pub use frame_builder::FrameBuilder;
pub use frame_head::{FrameHead, NetIdentity};
pub use header_bytes::HeaderBytes;
pub use icrc::{Icrc, RESIDUE};

#[cfg(test)]
mod equivalence_tests;
#[cfg(test)]
mod testing;
