//! The lowest bit of a set.

use super::BinaryEncoder;
use hermes_hdl::prelude::*;

/// Finds the lowest of 32 requests.
///
/// The outputs answer `request` in the same cycle; without a request they are zero.
#[derive(Clone, Default, LogicBlock)]
pub struct PriorityEncoder {
    /// The requests; bit 0 comes first.
    pub request: Signal<In, Bits<32>>,
    /// The lowest request alone.
    pub one_hot: Signal<Out, Bits<32>>,
    /// Index of the lowest request.
    pub index: Signal<Out, Bits<5>>,
    encoder: BinaryEncoder,
}

impl Logic for PriorityEncoder {
    #[hdl_gen]
    fn update(&mut self) {
        let lowest = self.request.val() & (bits::<32>(0) - self.request.val());
        self.encoder.one_hot.next = lowest;
        self.one_hot.next = lowest;
        self.index.next = self.encoder.index.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, settle};
    use rand::Rng;

    #[test]
    fn finds_the_lowest_request() {
        let mut random = random();
        let mut unit = PriorityEncoder::default();
        for case in 0..2_000u32 {
            let request: u32 = match case {
                0 => 0,
                1..=32 => 1 << (case - 1),
                _ => random.gen::<u32>() & random.gen::<u32>() << random.gen_range(0..32),
            };
            unit.request.next = u64::from(request).into();
            settle(&mut unit);
            let one_hot = if request == 0 { 0 } else { 1u64 << request.trailing_zeros() };
            let index = request.trailing_zeros() as u64 % 32;
            assert_eq!(unit.one_hot.val().to_u64(), one_hot, "request {request:#x}");
            assert_eq!(unit.index.val().to_u64(), index, "request {request:#x}");
        }
    }
}
