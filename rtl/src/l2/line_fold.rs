//! Eight bits that stand for a line address.

use crate::prelude::*;

/// Folds a line address to eight bits: equal lines have equal folds, and of other lines one in 256 has the same.
///
/// Combinational.
#[derive(Clone, Debug, LogicBlock, Default)]
pub struct LineFold {
    /// Line address.
    pub line: Signal<In, Bits<26>>,
    /// Its fold.
    pub fold: Signal<Out, Bits<8>>,
}

impl Logic for LineFold {
    #[hdl_gen]
    fn update(&mut self) {
        self.fold.next = self.line.val().get_bits::<8>(0)
            ^ self.line.val().get_bits::<8>(8)
            ^ self.line.val().get_bits::<8>(16)
            ^ bit_cast::<8, 2>(self.line.val().get_bits::<2>(24));
    }
}
