//! `dec-ttl`: no inputs, no tables.

use super::{kernel_source, App, AppEntry};
use crate::golden::{self, Golden};
use crate::slot::SlotPacket;

pub(super) const ENTRY: AppEntry = AppEntry {
    name: "dec-ttl",
    summary: "decrement the IPv4 TTL, update the checksum (RFC 1624)",
    inputs: &[],
    source: kernel_source!("dec-ttl.S", Rv32e),
    aes_source: None,
    load: |_| Ok(Box::new(DecTtl)),
};

#[derive(Debug)]
struct DecTtl;

impl App for DecTtl {
    fn golden(&self, _: u64, packet: &SlotPacket) -> Golden {
        golden::dec_ttl(packet)
    }
}
