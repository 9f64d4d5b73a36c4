//! `check-ip-header`: no inputs, no tables.

use super::{kernel_source, App, AppEntry};
use crate::golden::{self, Golden};
use crate::slot::SlotPacket;

pub(super) const ENTRY: AppEntry = AppEntry {
    name: "check-ip-header",
    summary: "the header checks of a router (RFC 1812, section 5.2.2)",
    inputs: &[],
    source: kernel_source!("check-ip-header.S", Rv32e),
    aes_source: None,
    load: |_| Ok(Box::new(CheckIpHeader)),
};

#[derive(Debug)]
struct CheckIpHeader;

impl App for CheckIpHeader {
    fn golden(&self, _: u64, packet: &SlotPacket) -> Golden {
        golden::check_ip_header(packet)
    }
}
