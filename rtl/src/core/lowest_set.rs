//! Find-first-set over 32 requests.

use crate::prelude::*;

/// The lowest set bit of 32, by halving (5 levels).
///
/// Combinational; `index` is 0 when no bit is set.
#[derive(LogicBlock, Default)]
pub struct LowestSet {
    /// The set.
    pub set: Signal<In, Bits<32>>,
    /// At least one bit is set.
    pub any: Signal<Out, Bit>,
    /// Number of the lowest set bit.
    pub index: Signal<Out, Bits<5>>,
    half: Signal<Local, Bits<16>>,
    quarter: Signal<Local, Bits<8>>,
    eighth: Signal<Local, Bits<4>>,
    pair: Signal<Local, Bits<2>>,
    number: Signal<Local, Bits<5>>,
}

impl Logic for LowestSet {
    #[hdl_gen]
    fn update(&mut self) {
        self.any.next = self.set.val().any();
        self.number.next = bits::<5>(0);
        self.half.next = self.set.val().get_bits::<16>(0);
        if !self.half.val().any() {
            self.half.next = self.set.val().get_bits::<16>(16);
            self.number.next = bits::<5>(16);
        }
        self.quarter.next = self.half.val().get_bits::<8>(0);
        if !self.quarter.val().any() {
            self.quarter.next = self.half.val().get_bits::<8>(8);
            self.number.next = self.number.val() | bits::<5>(8);
        }
        self.eighth.next = self.quarter.val().get_bits::<4>(0);
        if !self.eighth.val().any() {
            self.eighth.next = self.quarter.val().get_bits::<4>(4);
            self.number.next = self.number.val() | bits::<5>(4);
        }
        self.pair.next = self.eighth.val().get_bits::<2>(0);
        if !self.pair.val().any() {
            self.pair.next = self.eighth.val().get_bits::<2>(2);
            self.number.next = self.number.val() | bits::<5>(2);
        }
        if !self.pair.val().get_bit(0) {
            self.number.next = self.number.val() | bits::<5>(1);
        }
        self.index.next = bits::<5>(0);
        if self.set.val().any() {
            self.index.next = self.number.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_hdl::prelude::simulate;

    #[test]
    fn finds_the_lowest_of_every_pair_of_bits() {
        let mut unit = LowestSet::default();
        unit.connect_all();
        for low in 0..32 {
            for high in low..32 {
                unit.set.next = ((1u64 << low) | (1u64 << high)).into();
                assert!(simulate(&mut unit, 10));
                assert!(unit.any.val());
                assert_eq!(unit.index.val().index(), low);
            }
        }
        unit.set.next = 0.into();
        assert!(simulate(&mut unit, 10));
        assert!(!unit.any.val());
        assert_eq!(unit.index.val().index(), 0);
    }
}
