//! `fragment`: the argument block is the MTU and where the egress lists are: address of the first,
//! bytes of each as a power of two, ring slots - 1.

use super::{kernel_source, App, AppEntry, Input, Placement};
use crate::egress::EgressLists;
use crate::golden::{self, Golden};
use crate::slot::SlotPacket;

pub(super) const ENTRY: AppEntry = AppEntry {
    name: "fragment",
    summary: "split packets that are larger than the MTU (RFC 791)",
    inputs: &[Input::Mtu],
    source: kernel_source!("fragment.S", Rv32i),
    aes_source: None,
    load: |inputs| {
        let mtu = inputs.mtu();
        anyhow::ensure!(mtu >= golden::MIN_MTU, "--mtu {mtu}: expected {} to 65535", golden::MIN_MTU);
        Ok(Box::new(Fragment { mtu }))
    },
};

#[derive(Debug)]
struct Fragment {
    mtu: u16,
}

impl App for Fragment {
    fn argument(&self, placement: &Placement) -> Vec<u32> {
        let EgressLists { address, bytes_log2 } = placement.egress;
        vec![u32::from(self.mtu), address, bytes_log2, placement.ring_slots - 1]
    }

    /// As many as the largest payload gives behind the longest header.
    fn egress_entries(&self, frame_bytes: usize) -> usize {
        let smallest = (usize::from(self.mtu) - 60) / 8 * 8;
        if frame_bytes <= usize::from(self.mtu) {
            1
        } else {
            frame_bytes.div_ceil(smallest) + 1
        }
    }

    fn golden(&self, _: u64, packet: &SlotPacket) -> Golden {
        golden::fragment(packet, self.mtu)
    }

    fn check_egress(&self, _: u64, packet: &SlotPacket, frames: &[Vec<u8>]) -> anyhow::Result<()> {
        golden::check_fragments(packet, self.mtu, frames)
    }

    fn notes(&self) -> Vec<String> {
        vec![format!("MTU {}", self.mtu)]
    }
}
