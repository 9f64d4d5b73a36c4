//! The trace buffer: what happened in the array, kept in block RAM until the host reads it.
//!
//! | unit | what it does |
//! | --- | --- |
//! | [`TraceTrigger`] | what is recorded, and what ends the recording |
//! | [`TraceRing`] | which entry of the ring is written, and when no more |
//! | [`TraceBuffer`] | the entries themselves, and the bytes that the host reads and writes |

mod trace_buffer;
mod trace_ring;
mod trace_trigger;

#[cfg(test)]
mod tests;

pub use trace_buffer::{plane_offset, register, TraceBuffer, CORE_PLANES, HEAD_PLANES};
pub use trace_ring::TraceRing;
pub use trace_trigger::{group, kind, TraceTrigger};
