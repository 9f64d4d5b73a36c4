//! The packets that come out of an array against the golden model of their app.

mod host;
mod ports;

pub use host::check_host;
pub use ports::{check_ports, check_ports_against, NOT_SENT};
