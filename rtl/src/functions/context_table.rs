//! The contexts of the network functions.

use crate::host::registers::functions::ContextAccess;
use crate::ports::WrittenContext;
use crate::types::FunctionIndex;
use hermes_hdl::prelude::*;

/// Sixteen words for each of eight network functions, in LUT RAM.
///
/// 1. A write of the registers takes effect at the edge of its cycle; in the cycle itself `written`
///    shows the word as it will be.
/// 2. `access.value` and `copy_data` are, in the same cycle, what stands in the table.
/// 3. Words have no value until they are written.
#[derive(Clone, Default, LogicBlock)]
pub struct ContextTable {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// From and to the registers.
    pub access: ContextAccess,
    /// To the owner of the cores.
    pub written: WrittenContext,
    /// From the owner of the cores: network function whose word is copied.
    pub copy_function: Signal<In, FunctionIndex>,
    /// From the owner of the cores: number of the word.
    pub copy_word: Signal<In, Bits<4>>,
    /// To the owner of the cores: the word.
    pub copy_data: Signal<Out, Bits<32>>,
    words: RamAsync<Bits<32>, 7>,
    /// The same once more, with a read port for copies.
    copies: RamAsync<Bits<32>, 7>,
}

impl Logic for ContextTable {
    #[hdl_gen]
    fn update(&mut self) {
        let place = (bit_cast::<7, 3>(self.access.function.val()) << bits::<3>(4))
            | bit_cast::<7, 4>(self.access.word.val());
        let old = self.words.read_data.val() & !self.access.mask.val();
        let merged = old | (self.access.data.val() & self.access.mask.val());
        self.words.read_address.next = place;
        self.words.write_enable.next = self.access.write.val();
        self.words.write_address.next = place;
        self.words.write_data.next = merged;
        self.access.value.next = self.words.read_data.val();

        self.written.valid.next = self.access.write.val();
        self.written.function.next = self.access.function.val();
        self.written.word.next = self.access.word.val();
        self.written.data.next = merged;

        self.copies.write_enable.next = self.access.write.val();
        self.copies.write_address.next = place;
        self.copies.write_data.next = merged;
        self.copies.read_address.next = (bit_cast::<7, 3>(self.copy_function.val()) << bits::<3>(4))
            | bit_cast::<7, 4>(self.copy_word.val());
        self.copy_data.next = self.copies.read_data.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, settle, tick};
    use rand::Rng;

    #[test]
    fn keeps_every_word_of_every_function() {
        let mut random = random();
        let mut unit = ContextTable::default();
        let mut model = [[0u32; 16]; 8];
        for cycle in 0..20_000usize {
            // First every word, whole.
            let (function, word) = match cycle {
                0..=127 => (cycle / 16, cycle % 16),
                _ => (random.gen_range(0..8), random.gen_range(0..16)),
            };
            let mask: u32 = if cycle < 128 { u32::MAX } else { random.gen() };
            let write = cycle < 128 || random.gen();
            let data: u32 = random.gen();
            let copied: (usize, usize) = (random.gen_range(0..8), random.gen_range(0..16));
            unit.access.function.next = (function as u64).into();
            unit.access.word.next = (word as u64).into();
            unit.access.write.next = write;
            unit.access.data.next = u64::from(data).into();
            unit.access.mask.next = u64::from(mask).into();
            unit.copy_function.next = (copied.0 as u64).into();
            unit.copy_word.next = (copied.1 as u64).into();
            settle(&mut unit);
            let merged = model[function][word] & !mask | data & mask;
            assert_eq!(unit.written.valid.val(), write, "cycle {cycle}");
            if write {
                assert_eq!(unit.written.function.val().index(), function, "cycle {cycle}");
                assert_eq!(unit.written.word.val().index(), word, "cycle {cycle}");
                assert_eq!(unit.written.data.val().to_u64() as u32, merged, "cycle {cycle}");
            }
            if cycle >= 128 {
                let value = unit.access.value.val().to_u64() as u32;
                assert_eq!(value, model[function][word], "cycle {cycle}");
                let copy = unit.copy_data.val().to_u64() as u32;
                assert_eq!(copy, model[copied.0][copied.1], "cycle {cycle}");
            }
            if write {
                model[function][word] = merged;
            }
            tick!(unit);
        }
    }
}
