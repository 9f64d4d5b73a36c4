//! The number of the only bit of a set.

use hermes_hdl::prelude::*;

/// Encodes a one-hot set of 32 bits as the index of its bit.
///
/// `index` answers `one_hot` in the same cycle. It is 0 if no bit is set, and of no meaning if
/// several are.
#[derive(Clone, Default, LogicBlock)]
pub struct BinaryEncoder {
    /// The set: at most one bit.
    pub one_hot: Signal<In, Bits<32>>,
    /// Index of the bit.
    pub index: Signal<Out, Bits<5>>,
}

impl Logic for BinaryEncoder {
    #[hdl_gen]
    fn update(&mut self) {
        let mut encoded = bits::<5>(0);
        if (self.one_hot.val() & 0xaaaa_aaaau64).any() {
            encoded = encoded | 1;
        }
        if (self.one_hot.val() & 0xcccc_ccccu64).any() {
            encoded = encoded | 2;
        }
        if (self.one_hot.val() & 0xf0f0_f0f0u64).any() {
            encoded = encoded | 4;
        }
        if (self.one_hot.val() & 0xff00_ff00u64).any() {
            encoded = encoded | 8;
        }
        if (self.one_hot.val() & 0xffff_0000u64).any() {
            encoded = encoded | 16;
        }
        self.index.next = encoded;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::settle;

    #[test]
    fn every_bit_has_its_index() {
        let mut unit = BinaryEncoder::default();
        settle(&mut unit);
        assert_eq!(unit.index.val().index(), 0);
        for index in 0..32 {
            unit.one_hot.next = (1u64 << index).into();
            settle(&mut unit);
            assert_eq!(unit.index.val().index(), index);
        }
    }
}
