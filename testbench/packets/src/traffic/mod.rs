//! Traffic: captures in and out, generated traffic, arrival schedules.

mod aim;
mod arrivals;
mod capture;
mod generate;
mod packet;
mod source;
mod write;

pub use crate::frame::Frame;
pub use aim::{read_headers, Aim};
pub use arrivals::{wire_bits, ArrivalProcess, RateStep, WIRE_OVERHEAD_BYTES};
pub use capture::{read, read_from, Capture, CaptureError};
pub use generate::{Generator, Kind, Traffic};
pub use packet::{correct_checksum, Defect};
pub use write::{write, write_to, CaptureWriter};
