//! Concatenation of equal elements into one vector.

use crate::emit::unit_info::{self, Primitive};
use hermes_hdl_macros::LogicBlock;
use rust_hdl::prelude::*;

/// Packs `count` elements of type `T` into one vector of `N` bits, element 0 in the lowest bits.
///
/// `y` answers `x` in the same cycle. rust-hdl has no concatenation; shifting and or-ing wide
/// vectors costs simulation time, and this is wires only.
#[derive(Clone, LogicBlock)]
#[new(count: usize)]
pub struct Pack<T: Synth + Into<Bits<W>>, const W: usize, const N: usize> {
    /// The elements; all of them together have `N` bits.
    #[count(count)]
    pub x: Vec<Signal<In, T>>,
    /// The concatenation.
    pub y: Signal<Out, Bits<N>>,
}

impl<T: Synth + Into<Bits<W>>, const W: usize, const N: usize> Pack<T, W, N> {
    /// A packer of `count` elements.
    ///
    /// # Panics
    /// If `count` elements of `W` bits are not `N` bits.
    pub fn new(count: usize) -> Self {
        assert_eq!(count * W, N, "Pack: {count} elements of {W} bits are not {N} bits");
        assert_eq!(T::BITS, W, "Pack: the element type has {} bits, not {W}", T::BITS);
        Self::wired(count)
    }
}

impl<T: Synth + Into<Bits<W>>, const W: usize, const N: usize> Logic for Pack<T, W, N> {
    fn update(&mut self) {
        let mut y = Bits::<N>::default();
        for (i, x) in self.x.iter().enumerate() {
            y.set_bits(i * W, x.val().into());
        }
        self.y.next = y;
    }
    fn timing(&self) -> Vec<TimingInfo> {
        Primitive::Pack.into_timing()
    }
}
