//! `ipsec`: the argument block is the address of the [`SecurityAssociation`]'s table.

use super::{kernel_source, App, AppEntry, Input, Placement};
use crate::golden::{self, Golden, IPSEC_GROWTH};
use crate::slot::{capacity, SlotPacket, MAX_BYTES_LOG2};
use crate::tables::{SecurityAssociation, SECURITY_ASSOCIATION_BYTES};

pub(super) const ENTRY: AppEntry = AppEntry {
    name: "ipsec",
    summary: "ESP tunnel: AES-128-CTR and HMAC-SHA1-96 (RFC 4303, 3686, 2404)",
    inputs: &[Input::Keys],
    source: kernel_source!("c/ipsec.c", Rv32i),
    aes_source: Some(kernel_source!("ipsec.S", Rv32i)),
    load: |inputs| Ok(Box::new(Ipsec { association: SecurityAssociation::read(inputs.keys())? })),
};

/// Bytes of the largest frame that may come out: what the largest slot holds. Smaller slots are
/// chosen so that packets can grow.
const FRAME_BYTES: usize = capacity(MAX_BYTES_LOG2);

#[derive(Debug)]
struct Ipsec {
    association: SecurityAssociation,
}

impl App for Ipsec {
    /// The compiler's kernel uses 304 bytes.
    fn stack_bytes_log2(&self) -> u32 {
        9
    }

    fn growth(&self) -> usize {
        IPSEC_GROWTH
    }

    fn table_bytes(&self) -> usize {
        SECURITY_ASSOCIATION_BYTES
    }

    fn tables(&self, _: u32) -> Vec<u8> {
        self.association.to_bytes(FRAME_BYTES)
    }

    fn argument(&self, placement: &Placement) -> Vec<u32> {
        vec![placement.tables]
    }

    fn golden(&self, index: u64, packet: &SlotPacket) -> Golden {
        golden::ipsec(&self.association, index, packet, FRAME_BYTES)
    }

    fn notes(&self) -> Vec<String> {
        let SecurityAssociation { spi, source, destination, .. } = &self.association;
        vec![format!("tunnel from {source} to {destination}, SPI {spi:#010x}")]
    }
}
