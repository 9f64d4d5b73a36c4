//! Golden models: what each app must do to a packet, written from the RFCs on top of header,
//! checksum, prefix and search libraries, not from the kernels.

#[cfg(test)]
mod aim_tests;
mod check_ip_header;
mod classifier;
mod dec_ttl;
mod difference;
mod external;
mod fragment;
mod ipsec;
pub mod media;
mod patterns;
pub mod roce;
mod route_lookup;
mod router;
mod verdicts;

pub use check_ip_header::check_ip_header;
pub use classifier::classify;
pub use dec_ttl::dec_ttl;
pub use difference::Difference;
pub use external::{run_external, ExternalError, VERDICTS_VARIABLE};
pub use fragment::{check_fragments, fragment, MIN_MTU};
pub use ipsec::{ipsec, IPSEC_GROWTH};
pub use patterns::PatternModel;
pub use route_lookup::RouteModel;
pub use router::router;
pub use verdicts::read_verdicts;

use etherparse::{EtherType, Ethernet2HeaderSlice};

use crate::slot::SlotPacket;
use crate::verdict::{Reason, Verdict};

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// Bytes of an IPv4 header without options.
const IPV4_HEADER: usize = 20;

/// What must come out for a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Golden {
    /// The verdict.
    pub verdict: Verdict,
    /// The frame's bytes in the slot afterwards.
    pub frame: Vec<u8>,
}

/// The first 20 bytes of an IPv4 packet's header, of which only the version was checked.
fn ipv4_header(packet: &SlotPacket) -> Result<&[u8], Reason> {
    let ethernet = Ethernet2HeaderSlice::from_slice(&packet.frame).map_err(|_| Reason::Short)?;
    if ethernet.ether_type() != EtherType::IPV4 {
        return Err(Reason::NotIpv4);
    }
    let header = packet.frame.get(ETHERNET..ETHERNET + IPV4_HEADER).ok_or(Reason::Short)?;
    if header[0] >> 4 == 4 {
        Ok(header)
    } else {
        Err(Reason::Version)
    }
}
