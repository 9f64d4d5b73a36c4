//! Traffic: captures in and out, generated traffic, arrival schedules.

mod aim;
mod arrivals;
mod capture;
mod generate;
mod packet;

mod source;
mod write;

pub use aim::{read_headers, Aim};
pub use arrivals::{wire_bits, ArrivalProcess, RateStep, WIRE_OVERHEAD_BYTES};
pub use capture::{read, read_from, Capture, CaptureError};
pub use generate::{Generator, Kind, Traffic};
#[cfg(test)]
pub(crate) use packet::correct_checksum;
pub use packet::Defect;
pub use write::{write, write_to, CaptureWriter};

/// An Ethernet frame without preamble and FCS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The captured bytes, from the destination address on.
    pub data: Vec<u8>,
    /// Bytes of the frame on the wire; more than the captured ones when a snap length cut the
    /// frame.
    pub wire_length: u32,
    /// Nanoseconds since 1970.
    pub timestamp: u64,
    /// Input port: the interface of a pcapng file, otherwise 0.
    pub port: u32,
}
