//! Golden models: what each app must do to a packet, written from the RFCs on top of a header and checksum library,
//! not from the kernels.

mod check_ip_header;
mod dec_ttl;
mod difference;

pub use check_ip_header::check_ip_header;
pub use dec_ttl::dec_ttl;
pub use difference::Difference;

use crate::verdict::Verdict;

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;

/// What must come out for a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Golden {
    /// The verdict.
    pub verdict: Verdict,
    /// The frame's bytes in the slot afterwards.
    pub frame: Vec<u8>,
}
