//! A counter of each network function.

use crate::types::{FunctionIndex, ThreadCount};
use hermes_hdl::prelude::*;

/// Eight sums in LUT RAM, modulo 2^32, zero after reset.
///
/// `add` adds `amount` to the sum of `function` at its edge; `value` is that of `select` in the
/// same cycle.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct FunctionCounter {
    /// Something is counted.
    pub add: Signal<In, Bit>,
    /// The function of which it is counted.
    pub function: Signal<In, FunctionIndex>,
    /// Amount that is added.
    pub amount: Signal<In, ThreadCount>,
    /// The function whose sum is shown.
    pub select: Signal<In, FunctionIndex>,
    /// Sum of the selected function.
    pub value: Signal<Out, Bits<32>>,
    sums: RamAsync<Bits<32>, 3>,
    /// The same once more, with a read port for `select`.
    shown: RamAsync<Bits<32>, 3>,
    /// Functions of which something was counted since reset: the others have no word in the RAM.
    counted: Register<Bits<8>>,
}

impl Logic for FunctionCounter {
    #[hdl_gen]
    fn update(&mut self) {
        let mut sum = bit_cast::<32, 6>(self.amount.val());
        if self.counted.q.val().get_bit(self.function.val().index()) {
            sum = self.sums.read_data.val() + bit_cast::<32, 6>(self.amount.val());
        }
        self.sums.read_address.next = self.function.val();
        self.sums.write_enable.next = self.add.val();
        self.sums.write_address.next = self.function.val();
        self.sums.write_data.next = sum;
        self.shown.write_enable.next = self.add.val();
        self.shown.write_address.next = self.function.val();
        self.shown.write_data.next = sum;
        self.shown.read_address.next = self.select.val();
        if self.add.val() {
            self.counted.d.next = self.counted.q.val() | (bits::<8>(1) << self.function.val());
        }
        self.value.next = bits::<32>(0);
        if self.counted.q.val().get_bit(self.select.val().index()) {
            self.value.next = self.shown.read_data.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    #[test]
    fn adds_up_for_each_function_and_starts_at_zero() {
        let mut random = random();
        let mut unit = FunctionCounter::default();
        for _ in 0..3 {
            unit.add.next = false;
            reset!(unit);
            let mut sums = [0; 8];
            for cycle in 0..2_000 {
                let (function, select) = (random.gen_range(0..8usize), random.gen_range(0..8usize));
                let (add, amount) = (random.gen_bool(0.3), random.gen_range(0..=32u64));
                unit.add.next = add;
                unit.function.next = (function as u64).into();
                unit.amount.next = amount.into();
                unit.select.next = (select as u64).into();
                settle(&mut unit);
                assert_eq!(unit.value.val().to_u64(), sums[select], "cycle {cycle}");
                if add {
                    sums[function] += amount;
                }
                tick!(unit);
            }
        }
    }
}
