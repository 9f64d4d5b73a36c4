//! The packet ports: frames from AXI4-Stream into the packet ring, and from there to AXI4-Stream.
//!
//! [`PacketPorts`] composes the units; `docs/packet-ports.md` shows them.

mod drop_when_full;
mod egress;
mod frame_sender;
mod ingress;
mod keep_count;
mod keep_mask;
mod line_builder;
mod packet_ports;
mod ring_position;
mod slot_reader;
mod task_merge;
#[cfg(test)]
mod testing;
mod verdict_reader;
mod write_window;

pub use drop_when_full::DropWhenFull;
pub use egress::Egress;
pub use frame_sender::FrameSender;
pub use ingress::Ingress;
pub use keep_count::KeepCount;
pub use keep_mask::KeepMask;
pub use line_builder::{BuildPhase, LineBuilder};
pub use packet_ports::PacketPorts;
pub use ring_position::RingPosition;
pub use slot_reader::SlotReader;
pub use task_merge::TaskMerge;
pub use verdict_reader::VerdictReader;
pub use write_window::WriteWindow;
