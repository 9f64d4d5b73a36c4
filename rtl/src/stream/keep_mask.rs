//! The bytes of an AXI4-Stream beat that count.

use hermes_hdl::prelude::*;

/// Makes the bytes of a beat zero that `keep` does not mark, so that nothing but the frame gets
/// into its slot.
///
/// Combinational.
#[derive(Clone, LogicBlock)]
pub struct KeepMask {
    /// TDATA of the beat, byte 0 in bits 7:0.
    pub data: Signal<In, Bits<512>>,
    /// TKEEP of the beat, byte 0 in bit 0.
    pub keep: Signal<In, Bits<64>>,
    /// The bytes, or zeros.
    pub masked: Signal<Out, Bits<512>>,
    #[init(Pack::new(64))]
    bytes: Pack<Bits<8>, 8, 512>,
}

impl Logic for KeepMask {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..64 {
            self.bytes.x[i].next = bits::<8>(0);
            if self.keep.val().get_bit(i) {
                self.bytes.x[i].next = self.data.val().get_bits::<8>(8 * i);
            }
        }
        self.masked.next = self.bytes.y.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{bits_to_line, line_to_bits, random};
    use crate::testing::settle;
    use rand::Rng;

    #[test]
    fn bytes_without_keep_are_zero() {
        let mut rng = random("keep_mask");
        let mut uut = KeepMask::default();
        for _ in 0..50 {
            let data: [u8; 64] = std::array::from_fn(|_| rng.gen_range(1..=255));
            let keep: u64 = rng.gen();
            uut.data.next = line_to_bits(&data);
            uut.keep.next = bits(keep);
            settle(&mut uut);
            let masked = bits_to_line(uut.masked.val());
            for i in 0..64 {
                assert_eq!(masked[i], if keep >> i & 1 == 1 { data[i] } else { 0 });
            }
        }
    }
}
