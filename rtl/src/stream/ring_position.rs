//! The ring slot that a packet stands in.

use crate::host::RingPlaces;
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Follows the line address of the slot of a packet, packet by packet.
///
/// 1. At an edge with `load` high it becomes the slot of packet `index`, at one with `advance` high
///    the slot of the packet that follows; not both at once.
/// 2. The ring's place and sizes may change only when the next edge loads.
#[clocked("packet 0 of a ring at address 0")]
#[derive(Clone, Default, LogicBlock)]
pub struct RingPosition {
    /// From the registers.
    pub ring: RingPlaces,
    /// Goes to packet `index`.
    pub load: Signal<In, Bit>,
    /// packetIdx.
    pub index: Signal<In, Bits<32>>,
    /// Goes to the next packet.
    pub advance: Signal<In, Bit>,
    /// Line address of the packet's slot; from registers.
    pub line: Signal<Out, LineAddress>,
    /// Lines from the start of the ring to the slot.
    offset: Register<Bits<26>>,
}

impl Logic for RingPosition {
    #[hdl_gen]
    fn update(&mut self) {
        let slot_lines_log2 = self.ring.slot_bytes_log2.val() - 6;
        let slot_lines = bits::<26>(1) << slot_lines_log2;
        let mask = (slot_lines << self.ring.ring_slots_log2.val()) - 1;
        if self.load.val() {
            self.offset.d.next = (bit_cast::<26, 32>(self.index.val()) << slot_lines_log2) & mask;
        }
        if self.advance.val() {
            self.offset.d.next = (self.offset.q.val() + slot_lines) & mask;
        }
        self.line.next = self.ring.ring_base.val().get_bits::<26>(6) + self.offset.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    #[test]
    fn follows_the_ring() {
        let mut rng = random("ring_position");
        let mut uut = RingPosition::default();
        reset!(uut);
        for _ in 0..40 {
            let (ring, slot) = (rng.gen_range(1..=10u64), rng.gen_range(7..=16u64));
            let base = rng.gen_range(0..1u64 << 20) * 64;
            let mut index = u64::from(rng.gen::<u32>());
            uut.ring.ring_base.next = bits(base);
            uut.ring.ring_slots_log2.next = bits(ring);
            uut.ring.slot_bytes_log2.next = bits(slot);
            uut.index.next = bits(index);
            uut.load.next = true;
            tick!(uut);
            uut.load.next = false;
            for _ in 0..40 {
                settle(&mut uut);
                let address = base + ((index & ((1 << ring) - 1)) << slot);
                assert_eq!(uut.line.val().to_u64() << 6, address);
                let advance = rng.gen_bool(0.7);
                uut.advance.next = advance;
                index += u64::from(advance);
                tick!(uut);
            }
            uut.advance.next = false;
        }
    }
}
