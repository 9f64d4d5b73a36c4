//! `ipsec`: the argument block is the address of the [`SecurityAssociation`]'s table.

use super::{kernel_source, App, AppEntry, Input, Placement};
use crate::golden::{self, Golden, IPSEC_GROWTH};
use crate::slot::SlotPacket;
use crate::tables::{SecurityAssociation, SECURITY_ASSOCIATION_BYTES};

pub(super) const ENTRY: AppEntry = AppEntry {
    name: "ipsec",
    summary: "ESP tunnel: AES-128-CTR and HMAC-SHA1-96 (RFC 4303, 3686, 2404)",
    inputs: &[Input::Keys],
    source: kernel_source!("c/ipsec.c", Rv32i),
    load: |inputs| Ok(Box::new(Ipsec { association: SecurityAssociation::read(inputs.keys())? })),
};

#[derive(Debug)]
struct Ipsec {
    association: SecurityAssociation,
}

impl App for Ipsec {
    fn growth(&self) -> usize {
        IPSEC_GROWTH
    }

    fn table_bytes(&self) -> usize {
        SECURITY_ASSOCIATION_BYTES
    }

    fn tables(&self, _: u32) -> Vec<u8> {
        self.association.to_bytes()
    }

    fn argument(&self, placement: &Placement) -> Vec<u32> {
        vec![placement.tables, placement.frame_bytes]
    }

    fn golden(&self, index: u64, packet: &SlotPacket) -> Golden {
        golden::ipsec(&self.association, index, packet)
    }

    fn notes(&self) -> Vec<String> {
        let SecurityAssociation { spi, source, destination, .. } = &self.association;
        vec![format!("tunnel from {source} to {destination}, SPI {spi:#010x}")]
    }
}
